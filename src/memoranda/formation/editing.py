"""Editing: patches of profiles held against the documents, so that only fields that still are as they were shown change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from memoranda.formation.patching import edit_faults, fields_between, patch
from memoranda.formation.schemas import known
from memoranda.model.changes import PatchProfile
from memoranda.model.forming import LeftOut, ProfilePatch, Reading
from memoranda.model.owner import View
from memoranda.model.profiles import ProfileDocument
from memoranda.model.values import comparable


class Editor:
    """Decides what becomes of patches, given the documents that are held."""

    def __init__(
        self,
        reading: Reading,
        held: Iterable[ProfileDocument],
        tell: Callable[[LeftOut], None],
        id_of: Callable[[str, int], UUID],
    ) -> None:
        self._reading = reading
        self._thread = reading.thread
        self._held = tuple(held)
        self._tell = tell
        self._id_of = id_of

    def changes(self, at: str, given: ProfilePatch) -> list[PatchProfile]:
        """The fields that a patch changes, where they still are as the model was shown them."""
        schema = next((one for one in self._reading.schemas if one.name == given.schema_name), None)
        if schema is None:
            return self._left_out(at, "unknown", "there is no such schema")
        shown, held = self._reading.profile(schema.name), self._profile(schema.name)
        before: dict[str, Any] = {} if shown is None else shown.body
        now: dict[str, Any] = {} if held is None else held.body
        shape = known(schema).shape
        if held is not None and not held.audience.within(
            self._thread.audience, View(agent=self._thread.agent)
        ):
            return self._left_out(at, "audience", "the document is read more widely than this conversation")
        operations = [dict(one) for one in given.operations if not _there_already(one, before)]
        pinned = () if held is None else held.pinned
        patched = patch(None if shown is None else before, operations, shape, pinned=pinned)
        for fault in (*patched.faults, *patched.left_out):
            self._left_out(at, "pinned" if fault in patched.left_out else "patch", fault.reason)
        wanted, gone = fields_between(before, patched.document)
        fields = {
            name: value
            for name, value in wanted.items()
            if self._still(at, name, before, now, patched.document)
        }
        unset = tuple(name for name in gone if self._still(at, name, before, now, patched.document))
        again = {} if held is None else _said_again(given, held, fields, pinned)
        if not fields and not unset and not again:
            return []
        faults = edit_faults(now, fields, unset, shape)
        if faults:
            return self._left_out(at, "patch", f"{faults[0].path} {faults[0].reason}")
        return [
            PatchProfile(
                id=self._id_of(f"profile {schema.name}", 0) if held is None else held.id,
                schema_name=schema.name,
                audience=self._thread.audience if held is None else held.audience,
                set=fields,
                unset=unset,
                schema_hash=known(schema).digest,
                sources=given.sources,
                again=again,
            )
        ]

    def _still(
        self, at: str, name: str, shown: Mapping[str, Any], now: Mapping[str, Any], wanted: Mapping[str, Any]
    ) -> bool:
        """Whether a field is as it was shown; one that is already as it should be needs nothing."""
        if _field(now, name) == _field(wanted, name):
            return False
        if _field(now, name) == _field(shown, name):
            return True
        self._left_out(at, "stale", "somebody else changed this field meanwhile")
        return False

    def _profile(self, schema: str) -> ProfileDocument | None:
        return next((one for one in self._held if one.schema_name == schema), None)

    def _left_out(self, at: str, code: str, reason: str) -> list[PatchProfile]:
        self._tell(LeftOut(part=at, code=code, reason=reason))
        return []


def _field(document: Mapping[str, Any], name: str) -> Any:
    """A field so that it can be compared; one that is not there is like no value."""
    return (comparable(document[name]),) if name in document else ()


def _said_again(
    given: ProfilePatch, held: ProfileDocument, fields: Mapping[str, Any], pinned: Collection[str]
) -> dict[str, Any]:
    """What a patch says that was derived before and is there already, as far as its sources are new grounds for it."""
    again: dict[str, Any] = {}
    for operation in given.operations:
        token = str(operation.get("path", ""))[1:].removesuffix("/-")
        name = token.replace("~1", "/").replace("~0", "~")
        if "/" in token or operation.get("op") not in ("add", "replace"):
            continue
        if name in pinned or name not in held.grounds:
            continue
        value, entries, said = held.body[name], held.grounds[name], comparable(_small(operation.get("value")))
        if name in fields and not isinstance(value, list):
            continue
        items = value if isinstance(value, list) else [value]
        for item, entry in zip(items, entries, strict=False):
            if entry and comparable(_small(item)) == said and not set(given.sources) <= set(entry):
                again.setdefault(name, []).append(item)
    return {name: items if isinstance(held.body[name], list) else items[0] for name, items in again.items()}


def _there_already(operation: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether an operation would append to a list of the document what the list has."""
    path = str(operation.get("path", ""))
    listed = before.get(path[1:-2].replace("~1", "/").replace("~0", "~")) if path.endswith("/-") else None
    if operation.get("op") != "add" or not isinstance(listed, list):
        return False
    wanted = operation.get("value")
    return any(comparable(_small(one)) == comparable(_small(wanted)) for one in listed)


def _small(value: Any) -> Any:
    return " ".join(value.casefold().split()) if isinstance(value, str) else value
