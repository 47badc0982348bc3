"""Turns a model's patches of profiles into changes of those fields that are still as the model saw
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memoranda.formation.schemas.definitions import schema_of
from memoranda.formation.schemas.json_patch import apply_patch, changed_fields, edit_faults
from memoranda.model.changes import PatchProfile
from memoranda.model.drafts import DroppedPart, ProfilePatch, Reading
from memoranda.model.profiles import ProfileDocument, joined
from memoranda.model.records import View
from memoranda.model.values import comparable


class ProfileEditor:
    """Turns patches into changes, given the current documents."""

    def __init__(
        self,
        reading: Reading,
        current: Iterable[ProfileDocument],
        report: Callable[[DroppedPart], None],
        id_of: Callable[[str, int], UUID],
    ) -> None:
        self._reading = reading
        self._thread = reading.thread
        self._current = tuple(current)
        self._report = report
        self._id_of = id_of

    def changes(self, at: str, given: ProfilePatch) -> list[PatchProfile]:
        """Return the change that a patch makes, for fields that are still as the model saw them."""
        schema = next((one for one in self._reading.schemas if one.name == given.schema_name), None)
        if schema is None:
            return self._left_out(at, "unknown", "there is no such schema")
        shown, current = self._reading.profile(schema.name), self._profile(schema.name)
        before: dict[str, Any] = {} if shown is None else shown.body
        now: dict[str, Any] = {} if current is None else current.body
        shape = schema_of(schema).shape
        if current is not None and not current.audience.within(
            self._thread.audience, View(agent=self._thread.agent)
        ):
            return self._left_out(
                at, "audience", "the document has more readers than this conversation"
            )
        operations = _without_repeated_items(given.operations, before)
        pinned = () if current is None else current.pinned
        patched = apply_patch(None if shown is None else before, operations, shape, pinned=pinned)
        for fault in (*patched.faults, *patched.left_out):
            self._left_out(at, "pinned" if fault in patched.left_out else "patch", fault.reason)
        wanted, gone = changed_fields(before, patched.document)
        fields = {
            name: value
            for name, value in wanted.items()
            if self._is_unchanged(at, name, before, now, patched.document)
        }
        unset = tuple(
            name for name in gone if self._is_unchanged(at, name, before, now, patched.document)
        )
        again = {} if current is None else _repeated_values(given, current, fields, pinned)
        if not fields and not unset and not again:
            return []
        faults = edit_faults(now, fields, unset, shape)
        if faults:
            return self._left_out(at, "patch", f"{faults[0].path} {faults[0].reason}")
        return [
            PatchProfile(
                id=self._id_of(f"profile {schema.name}", 0) if current is None else current.id,
                schema_name=schema.name,
                audience=self._thread.audience if current is None else current.audience,
                set=fields,
                unset=unset,
                schema_hash=schema_of(schema).digest,
                sources=given.sources,
                again=again,
                grounds=_grounds(
                    given,
                    {**({} if current is None else current.body), **fields},
                    (*fields, *again),
                ),
            )
        ]

    def _is_unchanged(
        self,
        at: str,
        name: str,
        shown: Mapping[str, Any],
        now: Mapping[str, Any],
        wanted: Mapping[str, Any],
    ) -> bool:
        """True if a field is still as the model saw it and needs the change."""
        if _field(now, name) == _field(wanted, name):
            return False
        if _field(now, name) == _field(shown, name):
            return True
        self._left_out(at, "stale", "somebody else changed this field in the meantime")
        return False

    def _profile(self, schema: str) -> ProfileDocument | None:
        return next((one for one in self._current if one.schema_name == schema), None)

    def _left_out(self, at: str, code: str, reason: str) -> list[PatchProfile]:
        self._report(DroppedPart(part=at, code=code, reason=reason))
        return []


def _field(document: Mapping[str, Any], name: str) -> Any:
    """Return the field in comparable form; a missing field equals no value."""
    return (comparable(document[name]),) if name in document else ()


def _repeated_values(
    given: ProfilePatch,
    current: ProfileDocument,
    fields: Mapping[str, Any],
    pinned: Collection[str],
) -> dict[str, Any]:
    """Return derived values that the patch repeats and that its sources newly support, by field."""
    again: dict[str, Any] = {}
    for operation, sources in given.with_sources():
        token = str(operation.get("path", ""))[1:].removesuffix("/-")
        name = token.replace("~1", "/").replace("~0", "~")
        if "/" in token or operation.get("op") not in ("add", "replace"):
            continue
        if name in pinned or name not in current.grounds:
            continue
        value, entries, said = (
            current.body[name],
            current.grounds[name],
            _said(operation.get("value")),
        )
        if name in fields and not isinstance(value, list):
            continue
        items = value if isinstance(value, list) else [value]
        for item, entry in zip(items, entries, strict=False):
            if entry and _said(item) == said and not set(sources) <= set(entry):
                again.setdefault(name, []).append(item)
    return {
        name: items if isinstance(current.body[name], list) else items[0]
        for name, items in again.items()
    }


def _grounds(
    given: ProfilePatch, body: Mapping[str, Any], names: Iterable[str]
) -> dict[str, tuple[tuple[UUID, ...], ...]]:
    """Return the sources of these fields, of a list for each item: those of the operations that
    write the value.
    """
    found = {}
    for name in dict.fromkeys(names):
        writes = [
            (operation.get("value"), sources)
            for operation, sources in given.with_sources()
            if name in _fields_of(operation) and operation.get("op") != "remove"
        ]
        value = body[name]
        items = value if isinstance(value, list) and value else [value]
        found[name] = tuple(_sources_of(item, writes) or given.sources for item in items)
    return found


def _fields_of(operation: Mapping[str, Any]) -> set[str]:
    """Return the fields of the document that an operation names."""
    pointers = [str(operation.get(word, "")) for word in ("path", "from")]
    return {one[1:].split("/")[0].replace("~1", "/").replace("~0", "~") for one in pointers if one}


def _sources_of(item: Any, writes: Sequence[tuple[Any, tuple[UUID, ...]]]) -> tuple[UUID, ...]:
    """Return the sources of the operations that write a value, whole or as an item; if none does,
    those of all of them.
    """
    said = _said(item)
    found = [
        sources
        for value, sources in writes
        if _said(value) == said or (isinstance(value, list) and said in map(_said, value))
    ]
    return joined(source for sources in found or (each for _, each in writes) for source in sources)


def _without_repeated_items(
    operations: Iterable[Mapping[str, Any]], before: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Leave out each operation that appends an item that the list has, or gets from an earlier
    operation.
    """
    kept: list[dict[str, Any]] = []
    listed: dict[str, list[Any]] = {}
    for operation in operations:
        path = str(operation.get("path", ""))
        if operation.get("op") == "add" and path.endswith("/-"):
            if path not in listed:
                held = before.get(path[1:-2].replace("~1", "/").replace("~0", "~"))
                listed[path] = [_said(one) for one in held] if isinstance(held, list) else []
            if _said(operation.get("value")) in listed[path]:
                continue
            listed[path].append(_said(operation.get("value")))
        kept.append(dict(operation))
    return kept


def _said(value: Any) -> Any:
    """Return a value in the form in which two that say the same are equal."""
    return comparable(_normalised(value))


def _normalised(value: Any) -> Any:
    return " ".join(value.casefold().split()) if isinstance(value, str) else value
