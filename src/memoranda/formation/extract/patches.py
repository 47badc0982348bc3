"""Reads the patches in a model's answer: each operation has its own sources, and one that cannot be kept costs no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from memoranda.formation.extract.attribution import Attribution
from memoranda.formation.extract.citations import (
    Citations,
    Problems,
    Report,
    Sourced,
    from_user,
)
from memoranda.formation.extract.notes import requested_schema
from memoranda.formation.extract.prompt import Prompt
from memoranda.formation.schemas.definitions import schema_of
from memoranda.formation.schemas.json_patch import OPERATIONS, apply_patch
from memoranda.formation.schemas.json_values import InvalidJson, printable, read_json
from memoranda.formation.schemas.validation import Shape
from memoranda.model.drafts import ProfilePatch, WantedSchema
from memoranda.model.memories import Cited
from memoranda.storage.decide.strangers import other_speaker
from memoranda.text.similarity import coverage

#: A message bears what an operation writes if it covers at least this share of it.
_BEARS: Final = 0.5
#: The most messages that all operations of a patch cite.
_MOST_CITED: Final = 100


@dataclass(slots=True)
class _Patch:
    """The operations on one document that were read so far, with the sources of each."""

    schema: WantedSchema
    operations: list[dict[str, Any]] = field(default_factory=list)
    sources: list[tuple[UUID, ...]] = field(default_factory=list)
    cited: dict[tuple[UUID, str], Cited] = field(default_factory=dict)

    def add(self, operation: dict[str, Any], cited: Sourced) -> None:
        self.operations.append(operation)
        self.sources.append(tuple(dict.fromkeys(one.message for _, one in cited)))
        self.cited.update({(one.message, one.quote): one for _, one in cited})


class PatchReader:
    """Reads patches of documents."""

    def __init__(
        self, prompt: Prompt, citations: Citations, attribution: Attribution, problems: Problems
    ) -> None:
        self._prompt = prompt
        self._citations = citations
        self._attribution = attribution
        self._problems = problems

    def read(self, entries: Iterable[tuple[str, dict[str, Any]]]) -> tuple[ProfilePatch, ...]:
        """Return one patch for each document, from any number of them in the answer; report what is left out."""
        made: dict[str, _Patch] = {}
        for at, given in entries:
            name = given.get("schema")
            schema = requested_schema(self._prompt, name, "patch")
            if schema is None:
                reason = (
                    f"{printable(name)} is not a document that was asked for" if name else "it has no schema"
                )
                self._problems.add(at, "unknown", reason, mendable=not name)
                continue
            patch = made.get(schema.name, _Patch(schema))
            kept = [*self._operations(at, given, schema)]
            if kept and self._applies(at, patch, kept):
                made[schema.name] = patch
                for _, operation, cited in kept:
                    patch.add(operation, cited)
        return tuple(
            ProfilePatch(
                schema_name=one.schema.name,
                operations=tuple(one.operations),
                cited=tuple(one.cited.values()),
                sources_of=tuple(one.sources),
            )
            for one in made.values()
        )

    def _operations(
        self, at: str, given: Mapping[str, Any], schema: WantedSchema
    ) -> Iterator[tuple[int, dict[str, Any], Sourced]]:
        """Yield the operations that the user's own words bear, with their places and sources."""
        operations = given.get("operations")
        if isinstance(operations, str):
            try:
                operations = read_json(operations)
            except InvalidJson as exc:
                self._problems.add(at, "patch", f"operations {exc}", mendable=True)
                return
        if operations in (None, []):
            return
        if not isinstance(operations, list) or len(operations) > OPERATIONS:
            reason = f"operations is not a list of at most {OPERATIONS}"
            self._problems.add(at, "patch", reason, mendable=True)
            return
        report = self._problems.reporter(at)
        alone = all(isinstance(one, dict) and one.get("sources") for one in operations)
        common = [] if alone else self._said(given.get("sources"), report)
        if not common and not any(isinstance(one, dict) and one.get("sources") for one in operations):
            return
        shape = schema_of(schema).shape
        # An unknown field beside right ones costs no second question.
        alone = not any(isinstance(one, dict) and fitted(one, shape) for one in operations)
        for place, one in enumerate(operations):
            operation = self._operation(f"{at}.operations[{place}]", one, schema, common, mendable=alone)
            if operation is not None:
                yield place, *operation

    def _said(self, sources: Any, report: Report) -> Sourced:
        """Return the citations of the owner's own new messages; report it if there are none."""
        said = from_user(self._citations.read(sources, report))
        cited = [(message, one) for message, one in said if other_speaker(message) is None]
        if not cited:
            report("claimed", "only the user's own new words change a document")
        return cited

    def _operation(
        self, at: str, given: Any, schema: WantedSchema, common: Sourced, *, mendable: bool
    ) -> tuple[dict[str, Any], Sourced] | None:
        report = self._problems.reporter(at)
        if not isinstance(given, dict):
            report("patch", "is not an operation; give an object with op, path and value", mendable=True)
            return None
        own = given.get("sources")
        cited = self._said(own, report) if own else common
        if not cited:
            return None
        operation = fitted(
            {name: inner for name, inner in given.items() if name != "sources"}, schema_of(schema).shape
        )
        if operation is None:
            reason = f"{printable(given.get('path'))} is not a field of {schema.name}"
            report("patch", reason, mendable=mendable)
            return None
        texts = [*_written_values(operation)]
        for text in texts:
            verdict = self._attribution.judge(text, [message for message, _ in cited], kind="instruction")
            if verdict.code:
                report(verdict.code, verdict.reason)
                return None
        return operation, cited if own else bearing(texts, cited)

    def _applies(self, at: str, patch: _Patch, kept: Sequence[tuple[int, dict[str, Any], Sourced]]) -> bool:
        """True if the operations can be applied to the document that the model saw, after those before them."""
        document = self._prompt.reading.profile(patch.schema.name)
        body, pinned = (None, ()) if document is None else (document.body, document.pinned)
        earlier = len(patch.operations)
        operations = [*patch.operations, *(operation for _, operation, _ in kept)]
        messages = {one.message for _, _, cited in kept for _, one in cited} | {
            message for message, _ in patch.cited
        }
        if len(messages) > _MOST_CITED:
            self._problems.add(at, "many", f"the patches of a document cite at most {_MOST_CITED} messages")
            return False
        patched = apply_patch(body, operations, schema_of(patch.schema).shape, pinned=pinned)
        for mendable, fault in (
            *((True, one) for one in patched.faults),
            *((False, one) for one in patched.left_out),
        ):
            ours = None if fault.index is None or fault.index < earlier else kept[fault.index - earlier][0]
            place = at if ours is None else f"{at}.operations[{ours}]"
            reason = f"{fault.path} {fault.reason}" if mendable else fault.reason
            self._problems.add(place, "patch" if mendable else "pinned", reason, mendable=mendable)
        return not patched.faults and patched.changed


def fitted(operation: dict[str, Any], shape: Shape) -> dict[str, Any] | None:
    """Return an operation that fits a document in form: its field by its own name, one value as the item of a list.

    None if the document can have no field of that name.
    """
    path = operation.get("path")
    if not isinstance(path, str) or not path.startswith("/"):
        return operation
    first, *rest = path[1:].split("/")
    name = shape.field_named(first.replace("~1", "/").replace("~0", "~"))
    if name is None:
        return None
    path = "/" + "/".join((name.replace("~", "~0").replace("/", "~1"), *rest))
    value = operation.get("value")
    if not rest and shape.types_at((name,)) - {"null"} == {"array"} and isinstance(value, (str, int, float)):
        if operation.get("op") == "add":
            path += "/-"
        elif operation.get("op") == "replace":
            return {**operation, "path": path, "value": [value]}
    return {**operation, "path": path}


def bearing(texts: Sequence[str], cited: Sourced) -> Sourced:
    """Return those citations whose quotes or messages bear what an operation writes; all of them if none does."""
    written = " ".join(texts)
    for words in ([one.quote for _, one in cited], [message.content for message, _ in cited]):
        found = [
            source
            for source, said in zip(cited, words, strict=True)
            if said and coverage(written, said) >= _BEARS
        ]
        if found:
            return found
    return cited


def _written_values(operation: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts and numbers that an operation writes."""
    pending: list[Any] = [operation.get("value")]
    while pending:
        inner = pending.pop()
        if isinstance(inner, dict):
            pending.extend(inner.values())
        elif isinstance(inner, Sequence) and not isinstance(inner, str):
            pending.extend(inner)
        elif isinstance(inner, str):
            yield inner
        elif inner is not None and not isinstance(inner, bool):
            yield str(inner)
