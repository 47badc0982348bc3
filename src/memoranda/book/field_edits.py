"""Edits of a profile: fields that are bound to a key are written to the memories that hold them,
others to the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memoranda.formation.schemas.bound_fields import sentence_of, with_bound_fields
from memoranda.formation.schemas.definitions import FormationSchema, schema_from_record
from memoranda.model.changes import Change, PatchProfile, Remember, Retract
from memoranda.model.memories import Cardinality, Memory
from memoranda.model.profiles import ProfileDocument, Schema
from memoranda.model.records import AudienceKind, Limits, Trust, View
from memoranda.model.values import new_id

#: As many memories may one statement replace.
_MOST_REPLACED = 100
_KIND = "fact"
_REMOVED = "removed from the profile"


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """An edit of a profile: of the stored document, and of memories for bound fields."""

    #: A document that has only the fields to set.
    edit: ProfileDocument
    #: The stored document of the same audience.
    stored: ProfileDocument | None
    #: The active memories with the keys of bound fields that the view sees.
    memories: Sequence[Memory]
    known: Schema | None
    #: The schema, if fields of it are bound.
    bound: FormationSchema | None
    view: View
    now: datetime

    @property
    def body(self) -> dict[str, Any]:
        """The fields as the readers of the document see them, from it and from memories for the
        same readers.
        """
        stored = [] if self.stored is None else [self.stored]
        if self.bound is None:
            return stored[0].body if stored else {}
        own = [memory for memory in self.memories if memory.audience == self.edit.audience]
        found = with_bound_fields(
            self.edit.owner, stored, own, [self.bound], self.now, into=self.edit.audience
        )
        return found[0].body if found else {}

    def changes(self, leaving: Sequence[str], limits: Limits) -> list[Change]:
        """Return the changes that set the fields of the edit and remove those that leave it."""
        to_document, gone = {}, []
        made: list[Change] = []
        for field, value in self.edit.body.items():
            if self._is_bound(field) and value is not None:
                made.append(self._remember(field, value, limits))
                gone += [field] if self._is_stored(field) else []
            elif self._is_bound(field):
                made += self._retract(field)
                gone += [field] if self._is_stored(field) else []
            else:
                to_document[field] = value
        for field in leaving:
            if self._is_bound(field):
                made += self._retract(field)
            if not self._is_bound(field) or self._is_stored(field):
                gone.append(field)
        if to_document or gone or not made:
            made.insert(0, self._patch(to_document, gone))
        return made

    def _patch(self, fields: dict[str, Any], leaving: Sequence[str]) -> PatchProfile:
        edit, known = self.edit, self.known
        digest = "" if known is None else schema_from_record(known).digest
        return PatchProfile(
            edit.id,
            edit.schema_name,
            edit.audience,
            fields,
            tuple(leaving),
            pin=self.view.whole,
            schema_hash=digest,
        )

    def _is_bound(self, field: str) -> bool:
        """True if memories hold a field; a field that a person pinned in the document before it was
        bound stays there.
        """
        if self.bound is None or field not in self.bound.keys:
            return False
        return self.view.whole or self.stored is None or field not in self.stored.pinned

    def _is_stored(self, field: str) -> bool:
        return self.stored is not None and field in self.stored.body

    def _keyed(self, field: str) -> list[Memory]:
        """Return the memories that hold a field for the readers of the edit; a person's edit also
        takes those for fewer.
        """
        assert self.bound is not None
        readers, key = self.edit.audience, self.bound.keys[field]
        return [
            memory
            for memory in self.memories
            if memory.key == key
            and memory.subject is None
            and (
                memory.audience == readers
                or (self.view.whole and memory.audience.within(readers, self.view))
            )
        ]

    def _remember(self, field: str, value: Any, limits: Limits) -> Remember:
        assert self.bound is not None
        edit, own = self.edit, self.edit.audience.kind is AudienceKind.SELF
        trust = Trust.USER if self.view.agent is None else Trust.ASSISTANT
        memory = Memory(
            id=new_id(),
            owner=edit.owner,
            audience=edit.audience,
            kind=_KIND if _KIND in limits.kinds else limits.kinds[0],
            content=self._words(field, value)[: limits.content_length],
            key=self.bound.keys[field],
            cardinality=Cardinality.ONE,
            data={"value": value},
            agent=edit.audience.agent if own else self.view.agent,
            observed_at=self.now,
            trust=trust,
            pinned=self.view.whole,
            supersedes=tuple(one.id for one in self._keyed(field))[:_MOST_REPLACED],
        )
        # Each field is a run of its own: an edit may set more fields than one run may write
        # statements.
        return Remember(memory, audience=edit.audience, run=str(memory.id), field=field)

    def _words(self, field: str, value: Any) -> str:
        """Return a value as a statement: in the words of a memory that says it now, if there is
        one.
        """
        said = str(value).casefold()
        for memory in self._keyed(field):
            same = (
                memory.data["value"] == value
                if memory.has_value
                else said in memory.content.casefold()
            )
            if same and not memory.applies_when:
                return memory.content
        return sentence_of(field, value)

    def _retract(self, field: str) -> list[Change]:
        return [Retract(memory.id, _REMOVED) for memory in self._keyed(field)]
