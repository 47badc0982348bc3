"""Merges a model's notes with stored memories: a repeated statement confirms one, a changed one
supersedes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from memoranda.formation.owner_names import owner_names
from memoranda.formation.replacement import reason_against
from memoranda.model.changes import Change, Confirm, Remember, Retract, Supersede
from memoranda.model.drafts import Confirmation, Draft, DroppedPart, Reading, TakenBack
from memoranda.model.memories import Cardinality, Cited, Memory, quotes_of
from memoranda.model.records import (
    COMMITMENT,
    STRANGERS,
    Audience,
    AudienceKind,
    Limits,
    View,
    lowest,
)
from memoranda.model.values import refused
from memoranda.storage.decide.strangers import is_from_strangers
from memoranda.text.scripts import comparable_text
from memoranda.text.similarity import same_statement

#: The beginning of the stored reason of a memory that its user took back in a conversation; the
#: message's id follows.
RETRACT_REASON = "taken back in a conversation"
#: The same of a commitment that was done or dropped.
SETTLED_REASON = "settled in a conversation"


@dataclass(slots=True)
class _MergeState:
    """The decisions of one merge so far, in the order of the conversation."""

    made: dict[UUID, Memory] = field(default_factory=dict)
    #: Existing memory → sources that repeat it.
    again: dict[UUID, list[UUID]] = field(default_factory=dict)
    #: Existing memory → quotes from these sources.
    quoted: dict[UUID, list[Cited]] = field(default_factory=dict)
    #: Existing memory → the existing memory that supersedes it.
    replaced: dict[UUID, UUID] = field(default_factory=dict)
    #: Existing memory that the user took back → the message that says so.
    taken_back: dict[UUID, UUID] = field(default_factory=dict)
    #: New statements that are older than the memory that has their key.
    late: list[Memory] = field(default_factory=list)
    #: Existing memories that this merge makes inactive.
    gone: set[UUID] = field(default_factory=set)


class Merger:
    """Turns notes into changes, given the existing memories."""

    def __init__(
        self,
        reading: Reading,
        existing: Iterable[Memory],
        limits: Limits,
        report: Callable[[DroppedPart], None],
        id_of: Callable[[str, int], UUID],
    ) -> None:
        thread = reading.thread
        self._thread = thread
        self._now = reading.now
        self._owner_names = owner_names(reading)
        self._new_ids = {message.id for message in reading.new}
        self._new_messages = reading.new
        self._view = View(agent=thread.agent, groups=thread.audience.groups if thread.agent else ())
        #: The most trusted first; with equal trust, in the order of creation.
        self._current = sorted(
            (one for one in existing if one.owner == thread.owner), key=_by_trust
        )
        self._ids = {one.id for one in self._current}
        self._limits = limits
        self._report = report
        self._id_of = id_of
        self._state = _MergeState()

    def changes(
        self,
        notes: Iterable[Draft],
        confirmations: Iterable[Confirmation],
        taken_back: Iterable[TakenBack],
        run: str | None,
    ) -> list[Change]:
        """Return the changes to write; empty if there is nothing to change."""
        self._state = found = _MergeState()
        in_order = sorted(enumerate(notes), key=lambda one: (one[1].observed_at, one[0]))
        if any(self._id_of("note", place) in self._ids for place, _ in in_order):
            # They were applied before, all of them in one operation.
            in_order = []
        for place, draft in in_order:
            self._merge(place, draft)
        for one in confirmations:
            memory = next((memory for memory in self._current if memory.id == one.memory), None)
            if memory is not None and memory.active and memory.id not in found.gone:
                self._confirm(memory, one.sources, one.quotes)
        for denied in taken_back:
            self._retract(denied)
        again = [
            Confirm(id, tuple(sources), tuple(found.quoted[id]))
            for id, sources in found.again.items()
        ]
        made = [
            Remember(memory, audience=self._named(memory), run=run)
            for memory in found.made.values()
        ]
        kinds = {one.id: one.kind for one in self._current}
        reasons = {
            id: SETTLED_REASON if kinds[id] == COMMITMENT else RETRACT_REASON
            for id in found.taken_back
        }
        gone = [
            Retract(id, f"{reasons[id]}: message {said}") for id, said in found.taken_back.items()
        ]
        return [
            *again,
            *made,
            *(Supersede(loser, winner) for loser, winner in found.replaced.items()),
            *gone,
        ]

    def _retract(self, one: TakenBack) -> None:
        """Retract a memory that the user took back, unless it was said again later."""
        memory = next((memory for memory in self._active() if memory.id == one.memory), None)
        if memory is None:
            return
        said = max(
            (message for message in self._new_messages if message.id in one.sources),
            key=lambda message: message.observed_at,
        )
        if said.observed_at < memory.observed_at:
            return
        self._state.again.pop(memory.id, None)
        self._state.gone.add(memory.id)
        self._state.taken_back[memory.id] = said.id

    def _merge(self, place: int, draft: Draft) -> None:
        at = f"notes[{place}]"
        try:
            memory = self._memory(place, draft)
        except ValidationError as exc:
            # With its schema's name and its sources around it, a document may be nested too deep or
            # too large.
            self._left_out(at, "invalid", str(refused(exc)))
            return
        if any(_same_memory(memory, late) for late in self._state.late):
            # The same statement without a key is too old as well.
            return
        duplicate = self._duplicate(memory)
        losers = [
            one
            for one in self._active()
            if one.id in draft.supersedes and self._may_replace(at, memory, one)
        ]
        if draft.carries is not None and draft.carries not in {one.id for one in losers}:
            # Beside the statement whose fields it carries on, it would say them twice.
            self._left_out(
                at, "stale", "the memory whose document it changes holds no more, or stays"
            )
            return
        if duplicate is not None and duplicate.id in self._state.made:
            self._replace(_combined(duplicate, memory), losers)
        elif duplicate is not None and lowest((duplicate.trust, memory.trust)) is memory.trust:
            if memory.trust is not duplicate.trust:
                return
            self._confirm(duplicate, memory.sources, memory.quotes)
            for loser in losers:
                if loser.id != duplicate.id:
                    self._state.replaced[loser.id] = duplicate.id
                    self._state.gone.add(loser.id)
        else:
            self._make(at, memory, losers if duplicate is None else [*losers, duplicate])

    def _make(self, at: str, memory: Memory, losers: list[Memory]) -> None:
        """Add a memory that replaces ``losers`` and, if it has a key, the memory with this key,
        unless that was said later.
        """
        for other in [*self._made(), *self._active()] if memory.key is not None else ():
            if other.slot() != memory.slot() or not _same_subject(memory, other):
                continue
            if other.id not in self._state.made and _said_at(memory) <= _said_at(other):
                self._left_out(at, "older", "the memory with this key was said later")
                self._state.late.append(memory)
                return
            if not self._may_replace(at, memory, other, by_key=True):
                memory = memory.changed(key=None, cardinality=Cardinality.MANY)
                break
            losers.append(other)
        # An earlier note of this merge becomes a superseded memory, so that forgetting the fact
        # finds its sentence too.
        self._replace(memory, losers)

    def _replace(self, memory: Memory, losers: Iterable[Memory]) -> None:
        ids = tuple(dict.fromkeys((*memory.supersedes, *(loser.id for loser in losers))))
        self._state.made[memory.id] = memory.changed(supersedes=ids)
        self._state.gone.update(ids)

    def _confirm(self, memory: Memory, sources: Iterable[UUID], quotes: Iterable[Cited]) -> None:
        """Add new sources to a memory, unless it has readers who may not read this conversation."""
        known = {*memory.sources, *self._state.again.get(memory.id, ())}
        added = [source for source in dict.fromkeys(sources) if source not in known]
        if added and memory.audience.within(self._thread.audience, self._view):
            self._state.again.setdefault(memory.id, []).extend(added)
            self._state.quoted.setdefault(memory.id, []).extend(quotes_of(quotes, added))

    def _duplicate(self, memory: Memory) -> Memory | None:
        """Return a memory that says the same; for recurring events, only one with a common
        source.
        """
        for other in (*self._made(), *self._active()):
            if not self._covers_readers(memory, other) or not _same_memory(memory, other):
                continue
            recurs = memory.cardinality is Cardinality.RECURRING
            if recurs is not (other.cardinality is Cardinality.RECURRING):
                continue
            if not recurs or not set(memory.sources).isdisjoint(other.sources):
                return other
        return None

    def _may_replace(self, at: str, memory: Memory, other: Memory, *, by_key: bool = False) -> bool:
        cited = (one.content for one in self._new_messages if one.id in memory.sources)
        said = "\n".join(cited if memory.trust not in STRANGERS else ())
        reason = reason_against(memory, other, self._owner_names, said, by_key=by_key)
        if reason is None and not self._covers_readers(other, memory):
            reason = ("readers", "a memory for fewer readers replaces none for more")
        if reason is not None:
            self._left_out(at, *reason)
        return reason is None

    def _active(self) -> list[Memory]:
        return [one for one in self._current if one.active and one.id not in self._state.gone]

    def _made(self) -> list[Memory]:
        """Return the new memories that no later one supersedes."""
        return [one for one in self._state.made.values() if one.id not in self._state.gone]

    def _covers_readers(self, memory: Memory, other: Memory) -> bool:
        """True if all readers of one memory can read the other one."""
        return memory.audience.within(other.audience, self._view)

    def _audience(self, draft: Draft) -> Audience:
        """Return the thread's audience; the agent's own for statements of strangers in a thread
        that others read.
        """
        thread = self._thread
        if thread.agent is None or thread.audience.kind is AudienceKind.SELF:
            return thread.audience
        said = [message for message in self._new_messages if message.id in draft.sources]
        strange = draft.trust in STRANGERS or any(map(is_from_strangers, said))
        return Audience.of_agent(thread.agent) if strange else thread.audience

    def _named(self, memory: Memory) -> Audience | None:
        """Return the audience to name where it is not that of the thread."""
        return None if memory.audience == self._thread.audience else memory.audience

    def _left_out(self, at: str, code: str, reason: str) -> None:
        self._report(DroppedPart(part=at, code=code, reason=reason))

    def _memory(self, place: int, draft: Draft) -> Memory:
        key = draft.key if draft.cardinality is Cardinality.ONE else None
        if key is not None and draft.subject is not None:
            key = f"{draft.subject}: {key}"
        if key is not None and len(key) > self._limits.key_length:
            key = None
        carried = () if draft.carries is None else (draft.carries,)
        single = draft.cardinality is not Cardinality.ONE or key is not None
        return Memory(
            id=self._id_of("note", place),
            recorded_at=self._now,
            owner=self._thread.owner,
            audience=self._audience(draft),
            kind=draft.kind,
            content=draft.content,
            subject=draft.subject,
            cardinality=draft.cardinality if single else Cardinality.MANY,
            key=key,
            applies_when=draft.applies_when,
            data=_data(draft),
            tags=draft.tags,
            agent=self._thread.agent,
            thread=self._thread.id,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            valid_from_granularity=draft.valid_from_granularity,
            valid_to_granularity=draft.valid_to_granularity,
            happened=draft.happened,
            observed_at=draft.observed_at,
            sources=(*carried, *draft.sources),
            quotes=draft.quotes,
            language=draft.language,
            trust=draft.trust,
        )


def _data(draft: Draft) -> dict[str, Any] | None:
    """Return the data of a statement: the value of its bound field; of one that follows a schema,
    also its document.

    With the document stand the sources of each part, if it carries on another one.
    """
    value = {} if draft.value is None else {"value": draft.value}
    if draft.data is None:
        return value or None
    data = {**value, "schema": draft.schema_name, "document": draft.data}
    if draft.carries is None:
        return data
    parts = ((draft.carries,), *(draft.changed_by or (draft.sources,)))
    return {**data, "grounds": [[str(source) for source in part] for part in parts]}


def _by_trust(memory: Memory) -> tuple[int, UUID]:
    from_best = [*type(memory.trust)]
    return from_best.index(memory.trust), memory.id


def _said_at(memory: Memory) -> tuple[datetime, UUID]:
    """Return a sort key for when a memory was said; at equal times, the later message is
    greater.
    """
    return memory.observed_at, max(memory.sources, default=UUID(int=0))


def _same_subject(one: Memory, other: Memory) -> bool:
    return comparable_text(one.subject or "") == comparable_text(other.subject or "")


def _same_memory(memory: Memory, other: Memory) -> bool:
    """True if two memories say the same about the same subject, for the same occasions and time."""
    if not _same_subject(memory, other) or comparable_text(memory.applies_when) != comparable_text(
        other.applies_when
    ):
        return False
    if memory.valid_to != other.valid_to or (memory.valid_from or other.valid_from) != (
        other.valid_from or memory.valid_from
    ):
        return False
    if memory.happened and other.happened and not memory.happened.meets(other.happened):
        return False
    keys = {key.casefold() for key in (memory.key, other.key) if key is not None}
    if len(keys) > 1 or (memory.data is not None and memory.data != other.data):
        return False
    return same_statement(memory.content, other.content)


def _combined(first: Memory, again: Memory) -> Memory:
    """Combine two memories that say the same; with different trust, keep the sources of the more
    trusted one.
    """
    if first.trust is again.trust:
        sources = tuple(dict.fromkeys((*first.sources, *again.sources)))
        quotes = quotes_of((*first.quotes, *again.quotes), sources)
        joined: Memory = first.changed(sources=sources, quotes=quotes)
        return joined
    best = first if lowest((first.trust, again.trust)) is again.trust else again
    believed: Memory = first.changed(
        sources=best.sources, quotes=best.quotes, trust=best.trust, observed_at=best.observed_at
    )
    return believed
