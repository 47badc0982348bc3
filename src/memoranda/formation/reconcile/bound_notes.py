"""Patches of bound fields as notes: one statement that has the field's key and its value, instead
of a field of a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from memoranda.formation.schemas.bound_fields import sentence_of
from memoranda.formation.schemas.definitions import schema_of
from memoranda.formation.schemas.json_patch import apply_patch, changed_fields
from memoranda.model.drafts import Confirmation, Draft, Formed, ProfilePatch, Reading, TakenBack
from memoranda.model.memories import Cardinality, Cited
from memoranda.model.records import Limits, lowest

_KIND: Final = "fact"


def with_bound_notes(formed: Formed, reading: Reading, limits: Limits) -> Formed:
    """Return the results with a note, a confirmation or a withdrawal for each operation on a bound
    field.
    """
    binder = _Binder(formed, reading, limits)
    patches = [left for patch in formed.patches if (left := binder.left_of(patch)) is not None]
    if len(patches) == len(formed.patches) and not binder.bound:
        return formed
    return formed.model_copy(
        update={
            "patches": tuple(patches),
            "notes": tuple(binder.notes),
            "confirmations": (*formed.confirmations, *binder.confirmed),
            "taken_back": (*formed.taken_back, *binder.taken_back),
        }
    )


class _Binder:
    """Turns the operations of an answer on bound fields into notes."""

    def __init__(self, formed: Formed, reading: Reading, limits: Limits) -> None:
        self._reading = reading
        self._limits = limits
        self.notes = list(formed.notes)
        self.confirmed: list[Confirmation] = []
        self.taken_back: list[TakenBack] = []
        #: True if the answer has an operation on a bound field.
        self.bound = False
        self._ended = {one.memory for one in formed.taken_back} | {
            id for note in formed.notes for id in note.supersedes
        }
        self._said = {message.id: message for message in reading.new}

    def left_of(self, patch: ProfilePatch) -> ProfilePatch | None:
        """Return the operations of a patch on fields that are not bound; None if there are none."""
        wanted = next((one for one in self._reading.schemas if one.name == patch.schema_name), None)
        shown = self._reading.profile(patch.schema_name)
        before: dict[str, Any] = {} if shown is None else shown.body
        grounds = {} if shown is None else shown.grounds
        # A document keeps a field that it had before the field was bound; only one that a memory
        # holds has a source here.
        keys = {
            field: key
            for field, key in ({} if wanted is None else schema_of(wanted).keys).items()
            if field not in before or field in grounds
        }
        bound = [one for one in patch.with_sources() if _field(one[0]) in keys]
        if wanted is None or not bound:
            return patch
        self.bound = True
        pinned = () if shown is None else shown.pinned
        operations = [operation for operation, _ in patch.with_sources()]
        shape = schema_of(wanted).shape
        patched = apply_patch(None if shown is None else before, operations, shape, pinned=pinned)
        after = before if patched.faults or patched.document is None else patched.document
        changed, gone = changed_fields(before, after)
        for field in dict.fromkeys(_field(operation) for operation, _ in bound):
            sources = [id for operation, some in bound if _field(operation) == field for id in some]
            cited = tuple(one for one in patch.cited if one.message in sources)
            held = _only(grounds.get(field, ()))
            if field in gone:
                if held is not None and held not in self._ended and cited:
                    self.taken_back.append(TakenBack(memory=held, cited=cited))
            elif field not in pinned and after.get(field) is not None and cited:
                again = held if field not in changed else None
                self._say(field, keys[field], after[field], cited, again)
        return _without(patch, keys)

    def _say(
        self, field: str, key: str, value: Any, cited: tuple[Cited, ...], again: UUID | None
    ) -> None:
        """Give a value to the last note with the key, make one, or confirm the memory that has the
        value.
        """
        keyed = [at for at, one in enumerate(self.notes) if one.key == key and one.subject is None]
        if keyed:
            found = {"value": value, "cardinality": Cardinality.ONE}
            self.notes[keyed[-1]] = self.notes[keyed[-1]].model_copy(update=found)
        elif again is not None:
            self.confirmed.append(Confirmation(memory=again, cited=cited))
        else:
            said = [self._said[one.message] for one in cited if one.message in self._said]
            if said:
                self.notes.append(
                    Draft(
                        content=sentence_of(field, value)[: self._limits.content_length],
                        kind=_KIND if _KIND in self._limits.kinds else self._limits.kinds[0],
                        key=key,
                        cardinality=Cardinality.ONE,
                        value=value,
                        cited=cited,
                        trust=lowest(message.trust for message in said),
                        observed_at=max(message.observed_at for message in said),
                    )
                )


def _field(operation: Mapping[str, Any]) -> str:
    """Return the field of the document that an operation changes."""
    return str(operation.get("path", ""))[1:].split("/")[0].replace("~1", "/").replace("~0", "~")


def _only(grounds: Sequence[Sequence[UUID]]) -> UUID | None:
    """Return the memory that holds a field, its only source; None without one."""
    found = [id for entry in grounds for id in entry]
    return found[0] if len(found) == 1 else None


def _without(patch: ProfilePatch, fields: Iterable[str]) -> ProfilePatch | None:
    """Return a patch without its operations on some fields; None if no operation is left."""
    gone = set(fields)
    left = [one for one in patch.with_sources() if _field(one[0]) not in gone]
    if not left:
        return None
    used = {id for _, sources in left for id in sources}
    return patch.model_copy(
        update={
            "operations": tuple(operation for operation, _ in left),
            "sources_of": tuple(sources for _, sources in left),
            "cited": tuple(one for one in patch.cited if one.message in used) or patch.cited,
        }
    )
