"""Reads the patches in a model's answer: each operation has its own sources, and one that cannot be
kept costs no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from memoranda.formation.extract.answer import Report
from memoranda.formation.extract.attribution import Attribution
from memoranda.formation.extract.citations import (
    Citations,
    Problems,
    Sourced,
    from_user,
)
from memoranda.formation.extract.notes import requested_schema
from memoranda.formation.extract.prompt import Prompt, document_of, own_key
from memoranda.formation.schemas.definitions import schema_of
from memoranda.formation.schemas.json_patch import OPERATIONS, apply_patch
from memoranda.formation.schemas.json_values import printable
from memoranda.formation.schemas.validation import Shape
from memoranda.model.drafts import Draft, ProfilePatch, WantedSchema
from memoranda.model.memories import Cited, Memory
from memoranda.model.records import Limits, lowest
from memoranda.model.values import comparable
from memoranda.storage.decide.strangers import other_speaker
from memoranda.text.similarity import coverage

#: A message bears what an operation writes if it covers at least this share of it.
_BEARS: Final = 0.5
#: The most quotes and messages that all operations of a patch cite.
_MOST_CITED: Final = 100


@dataclass(slots=True)
class _Patch:
    """The operations on one document that were read so far, with the sources of each."""

    schema: WantedSchema
    #: The memory whose document it is; None for a profile document.
    memory: Memory | None = None
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
        self,
        prompt: Prompt,
        limits: Limits,
        citations: Citations,
        attribution: Attribution,
        problems: Problems,
    ) -> None:
        self._prompt = prompt
        self._limits = limits
        self._citations = citations
        self._attribution = attribution
        self._problems = problems

    def read(
        self, entries: Iterable[tuple[str, dict[str, Any]]]
    ) -> tuple[tuple[ProfilePatch, ...], tuple[Draft, ...]]:
        """Return one patch for each profile document, and a note for each memory whose document
        changes.

        An answer may have any number of patches of a document; what is left out is reported.
        """
        made: dict[str | UUID, _Patch] = {}
        for at, given in entries:
            target = self._target(at, given)
            if target is None:
                continue
            schema, memory = target
            document: str | UUID = schema.name if memory is None else memory.id
            patch = made.get(document) or _Patch(schema, memory)
            kept = [*self._operations(at, given, schema)]
            if kept and self._applies(at, patch, kept):
                made[document] = patch
                for _, operation, cited in kept:
                    patch.add(operation, cited)
        profiles = tuple(_profile_patch(one) for one in made.values() if one.memory is None)
        return profiles, tuple(self._note(one, one.memory) for one in made.values() if one.memory)

    def _target(
        self, at: str, given: Mapping[str, Any]
    ) -> tuple[WantedSchema, Memory | None] | None:
        """Return the schema that a patch follows, and the memory if it changes the document of
        one.
        """
        report, name = self._problems.reporter(at), given.get("schema")
        if not given.get("memory"):
            schema = requested_schema(self._prompt, name, "patch")
            if schema is None:
                other = name is not None and requested_schema(self._prompt, name, "insert") is None
                reason = (
                    "is not a document that was asked for"
                    if other
                    else "names neither memory nor document"
                )
                report("unknown", f"{printable(name or 'it')} {reason}", mendable=not other)
            return None if schema is None else (schema, None)
        named = self._citations.candidates([given["memory"]], report)
        memory = self._prompt.candidates[named[0]] if named else None
        schema = None
        if memory is not None and document_of(memory) is not None:
            schema = requested_schema(self._prompt, memory.data["schema"], "insert")
        if memory is None or schema is None or name not in (None, schema.name):
            reason = f"no memory with a document of {printable(name or 'a schema')} was shown under that name"
            report("unknown", reason, mendable=True)
            return None
        return schema, memory

    def _note(self, patch: _Patch, memory: Memory) -> Draft:
        """Return the statement that replaces one whose document was patched."""
        shape, before = schema_of(patch.schema).shape, document_of(memory) or {}
        document = shape.completed(apply_patch(before, patch.operations, shape).document)
        messages = {message.id: message for message in self._prompt.messages.values()}
        said = [messages[one.message] for one in patch.cited.values()]
        return Draft(
            content=reworded(memory.content, before, document)[: self._limits.content_length],
            kind=memory.kind,
            key=own_key(memory),
            subject=memory.subject,
            cardinality=memory.cardinality,
            applies_when=memory.applies_when,
            tags=memory.tags,
            valid_to=memory.valid_to,
            valid_to_granularity=memory.valid_to_granularity,
            happened=memory.happened,
            supersedes=(memory.id,),
            schema_name=patch.schema.name,
            data=document,
            carries=memory.id,
            changed_by=tuple(dict.fromkeys(patch.sources)),
            trust=lowest(message.trust for message in said),
            observed_at=max(message.observed_at for message in said),
            language=memory.language,
            cited=tuple(patch.cited.values()),
        )

    def _operations(
        self, at: str, given: Mapping[str, Any], schema: WantedSchema
    ) -> Iterator[tuple[int, dict[str, Any], Sourced]]:
        """Yield the operations that the user's own words bear, with their places and sources."""
        operations = given["operations"]
        if len(operations) > OPERATIONS:
            self._problems.add(
                at, "patch", f"it has more than {OPERATIONS} operations", mendable=True
            )
            return
        report = self._problems.reporter(at)
        alone = all(one.get("sources") for one in operations)
        common = [] if alone else self._said(given.get("sources"), report)
        if not common and not any(one.get("sources") for one in operations):
            return
        shape = schema_of(schema).shape
        # An unknown field beside right ones costs no second question.
        alone = not any(_is_field(one, shape) for one in operations)
        for place, one in enumerate(operations):
            operation = self._operation(
                f"{at}.operations[{place}]", one, schema, common, mendable=alone
            )
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
        self,
        at: str,
        given: Mapping[str, Any],
        schema: WantedSchema,
        common: Sourced,
        *,
        mendable: bool,
    ) -> tuple[dict[str, Any], Sourced] | None:
        report = self._problems.reporter(at)
        own = given.get("sources")
        cited = self._said(own, report) if own else common
        if not cited:
            return None
        operation = {name: inner for name, inner in given.items() if name != "sources"}
        if not _is_field(operation, schema_of(schema).shape):
            reason = f"{printable(given.get('path'))} is not a field of {schema.name}"
            report("patch", reason, mendable=mendable)
            return None
        texts = [*_written_values(operation)]
        for text in texts:
            verdict = self._attribution.judge(
                text, [message for message, _ in cited], kind="instruction"
            )
            if verdict.code:
                report(verdict.code, verdict.reason)
                return None
        return operation, cited if own else bearing(texts, cited)

    def _applies(
        self, at: str, patch: _Patch, kept: Sequence[tuple[int, dict[str, Any], Sourced]]
    ) -> bool:
        """True if the operations can be applied to the document that the model saw, after those
        before them.
        """
        body, pinned = self._shown(patch)
        earlier = len(patch.operations)
        operations = [*patch.operations, *(operation for _, operation, _ in kept)]
        cited = {(one.message, one.quote) for _, _, sourced in kept for _, one in sourced}
        if len(cited | patch.cited.keys()) > _MOST_CITED:
            self._problems.add(
                at, "many", f"the patches of a document cite at most {_MOST_CITED} sources"
            )
            return False
        patched = apply_patch(body, operations, schema_of(patch.schema).shape, pinned=pinned)
        for mendable, fault in (
            *((True, one) for one in patched.faults),
            *((False, one) for one in patched.left_out),
        ):
            ours = (
                None
                if fault.index is None or fault.index < earlier
                else kept[fault.index - earlier][0]
            )
            place = at if ours is None else f"{at}.operations[{ours}]"
            reason = f"{fault.path} {fault.reason}" if mendable else fault.reason
            self._problems.add(place, "patch" if mendable else "pinned", reason, mendable=mendable)
        return not patched.faults and patched.changed

    def _shown(self, patch: _Patch) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
        """Return the document that the model saw, and its pinned fields."""
        if patch.memory is not None:
            return document_of(patch.memory), ()
        document = self._prompt.reading.profile(patch.schema.name)
        return (None, ()) if document is None else (document.body, document.pinned)


def _profile_patch(patch: _Patch) -> ProfilePatch:
    return ProfilePatch(
        schema_name=patch.schema.name,
        operations=tuple(patch.operations),
        cited=tuple(patch.cited.values()),
        sources_of=tuple(patch.sources),
    )


def reworded(content: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the words of a statement after a change of its document: each changed text or number
    is replaced or added.
    """
    for name, value in after.items():
        was = before.get(name)
        if (
            comparable(was) == comparable(value)
            or isinstance(value, (dict, bool))
            or value in (None, [])
        ):
            continue
        said = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        old = (
            re.escape(str(was)) if isinstance(was, (str, int, float)) and str(was).strip() else None
        )
        found, times = content, 0
        if old is not None:
            found, times = re.subn(rf"(?<!\w){old}(?!\w)", said.replace("\\", r"\\"), content)
        content = found if times else f"{content.rstrip('.')}; {name.replace('_', ' ')}: {said}"
    for name in before:
        if name not in after:
            content = f"{content.rstrip('.')}; no {name.replace('_', ' ')}"
    return content


def _is_field(operation: Mapping[str, Any], shape: Shape) -> bool:
    """True if the document may have the field that an operation changes."""
    first = str(operation["path"]).removeprefix("/").partition("/")[0]
    name = first.replace("~1", "/").replace("~0", "~")
    return not name or shape.allows(name)


def bearing(texts: Sequence[str], cited: Sourced) -> Sourced:
    """Return those citations whose quotes or messages bear what an operation writes; all of them if
    none does.
    """
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
