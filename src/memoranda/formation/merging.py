"""Merging: notes held against memories, so that what is said again confirms and what changed takes its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from memoranda.formation.alike import same
from memoranda.model.changes import Change, Confirm, Remember, Retract, Supersede
from memoranda.model.cited import Cited, quotes_of
from memoranda.model.forming import Confirmation, Draft, LeftOut, Reading, TakenBack
from memoranda.model.memories import Cardinality, Memory
from memoranda.model.owner import View
from memoranda.model.trust import Limits, lowest
from memoranda.text.scripts import comparable_text

#: Why a memory is no longer held, where its user said so in a conversation.
TAKEN_BACK = "taken back in a conversation"


@dataclass(slots=True)
class _Pass:
    """What one pass has decided so far, in the order in which it was said."""

    made: dict[UUID, Memory] = field(default_factory=dict)
    #: Held memory → sources that say it again.
    again: dict[UUID, list[UUID]] = field(default_factory=dict)
    #: Held memory → what was quoted of them.
    quoted: dict[UUID, list[Cited]] = field(default_factory=dict)
    #: Held memory → the held memory that takes its place.
    replaced: dict[UUID, UUID] = field(default_factory=dict)
    #: Held memories that the user took back.
    taken_back: list[UUID] = field(default_factory=list)
    #: Statements of this pass that came too late to hold their key.
    late: list[Memory] = field(default_factory=list)
    #: Held memories that are not held any more after this pass.
    gone: set[UUID] = field(default_factory=set)


class Merger:
    """Decides what becomes of notes, given the memories that are held."""

    def __init__(
        self,
        reading: Reading,
        held: Iterable[Memory],
        limits: Limits,
        tell: Callable[[LeftOut], None],
        id_of: Callable[[str, int], UUID],
    ) -> None:
        thread = reading.thread
        self._thread = thread
        self._now = reading.now
        self._read = {message.id for message in reading.new}
        self._reading_of = reading.new
        self._view = View(agent=thread.agent)
        #: The most trusted first; among equals, in the order of their making.
        self._held = sorted((one for one in held if one.owner == thread.owner), key=_believed)
        self._ids = {one.id for one in self._held}
        self._limits = limits
        self._tell = tell
        self._id_of = id_of
        self._pass = _Pass()

    def changes(
        self,
        notes: Iterable[Draft],
        confirmations: Iterable[Confirmation],
        taken_back: Iterable[TakenBack],
        run: str | None,
    ) -> list[Change]:
        """What is to be written; nothing where nothing changes."""
        self._pass = found = _Pass()
        in_order = sorted(enumerate(notes), key=lambda one: (one[1].observed_at, one[0]))
        for place, draft in in_order:
            self._merge(place, draft)
        for one in confirmations:
            memory = next((held for held in self._held if held.id == one.memory), None)
            if memory is not None and memory.active and memory.id not in found.gone:
                self._confirm(memory, one.sources, one.quotes)
        for denied in taken_back:
            self._take_back(denied)
        again = [Confirm(id, tuple(sources), tuple(found.quoted[id])) for id, sources in found.again.items()]
        made = [Remember(memory, run=run) for memory in found.made.values()]
        gone = [Retract(id, TAKEN_BACK) for id in found.taken_back]
        return [*again, *made, *(Supersede(loser, winner) for loser, winner in found.replaced.items()), *gone]

    def _take_back(self, one: TakenBack) -> None:
        """Let go of a memory that the user took back after it was learnt, and of nothing that was said since."""
        memory = next((held for held in self._standing() if held.id == one.memory), None)
        if memory is None:
            return
        said = [message.observed_at for message in self._reading_of if message.id in one.sources]
        if max(said) < memory.observed_at:
            return
        self._pass.again.pop(memory.id, None)
        self._pass.gone.add(memory.id)
        self._pass.taken_back.append(memory.id)

    def _merge(self, place: int, draft: Draft) -> None:
        at = f"notes[{place}]"
        memory = self._memory(place, draft)
        if memory.id in self._ids or self._told_before(memory):
            return
        if any(_alike(memory, late) for late in self._pass.late):
            # The same without its key comes too late like it.
            return
        twin = self._twin(memory)
        losers = [
            one
            for one in self._standing()
            if one.id in draft.supersedes and self._may_replace(at, memory, one)
        ]
        if twin is not None and twin.id in self._pass.made:
            self._replace(_joined(twin, memory), losers)
        elif twin is not None and lowest((twin.trust, memory.trust)) is memory.trust:
            if memory.trust is not twin.trust:
                return
            self._confirm(twin, memory.sources, memory.quotes)
            for loser in losers:
                if loser.id != twin.id:
                    self._pass.replaced[loser.id] = twin.id
                    self._pass.gone.add(loser.id)
        else:
            self._make(at, memory, losers if twin is None else [*losers, twin])

    def _make(self, at: str, memory: Memory, losers: list[Memory]) -> None:
        """Keep a new statement; where it has a key, in the place of what its key held."""
        for other in [*self._pass.made.values(), *self._standing()] if memory.key is not None else ():
            if other.slot() != memory.slot() or not _same_subject(memory, other):
                continue
            if other.id not in self._pass.made and _said_at(memory) <= _said_at(other):
                self._left_out(at, "older", "what is held under its key was said later")
                self._pass.late.append(memory)
                return
            if not self._may_replace(at, memory, other, by_key=True):
                memory = memory.changed(key=None, cardinality=Cardinality.MANY)
                break
            losers.append(other)
        for other in losers:
            earlier = self._pass.made.pop(other.id, None)
            if earlier is not None:
                self._left_out(at, "at_once", "it takes the place of another note of the same answer")
                losers = [*losers, *(one for one in self._held if one.id in earlier.supersedes)]
        self._pass.made[memory.id] = memory
        self._replace(memory, [one for one in losers if one.id in self._ids])

    def _replace(self, memory: Memory, losers: Iterable[Memory]) -> None:
        ids = tuple(dict.fromkeys((*memory.supersedes, *(loser.id for loser in losers))))
        self._pass.made[memory.id] = memory.changed(supersedes=ids)
        self._pass.gone.update(ids)

    def _confirm(self, memory: Memory, sources: Iterable[UUID], quotes: Iterable[Cited]) -> None:
        """Say it again, unless the same was said before, or the memory is read more widely than its new source."""
        known = {*memory.sources, *self._pass.again.get(memory.id, ())}
        added = [source for source in dict.fromkeys(sources) if source not in known]
        if added and memory.audience.within(self._thread.audience, self._view):
            self._pass.again.setdefault(memory.id, []).extend(added)
            self._pass.quoted.setdefault(memory.id, []).extend(quotes_of(quotes, added))

    def _told_before(self, memory: Memory) -> bool:
        """Whether what says the same is not held any more, and rests on the same or gave way to what was said here."""
        return any(
            not other.active
            and _same_subject(memory, other)
            and (set(memory.sources) <= set(other.sources) or self._gave_way_here(other))
            and same(memory.content, other.content)
            for other in self._held
        )

    def _gave_way_here(self, other: Memory) -> bool:
        winner = next((one for one in self._held if one.id == other.superseded_by), None)
        return winner is not None and not self._read.isdisjoint(winner.sources)

    def _twin(self, memory: Memory) -> Memory | None:
        """What says the same already; of what recurs, only what tells the same event."""
        for other in (*self._pass.made.values(), *self._standing()):
            if not self._readable(other) or not _alike(memory, other):
                continue
            recurs = memory.cardinality is Cardinality.RECURRING
            if recurs is not (other.cardinality is Cardinality.RECURRING):
                continue
            if not recurs or not set(memory.sources).isdisjoint(other.sources):
                return other
        return None

    def _may_replace(self, at: str, memory: Memory, other: Memory, *, by_key: bool = False) -> bool:
        reason = None
        if memory.cardinality is Cardinality.RECURRING:
            reason = ("recurring", "what happens again takes no other's place")
        elif memory.observed_at < other.observed_at:
            reason = ("older", "what it would replace was said later")
        elif memory.trust is not other.trust and lowest((memory.trust, other.trust)) is memory.trust:
            reason = ("trust", "what it would replace is to be believed more")
        elif memory.valid_to is not None and other.valid_to is None:
            reason = ("bounded", "what holds for a while does not end what holds without an end")
        elif comparable_text(memory.applies_when) != comparable_text(other.applies_when) and (
            by_key or memory.applies_when
        ):
            reason = ("partial", "what holds sometimes does not replace what holds at other times")
        if reason is not None:
            self._left_out(at, *reason)
        return reason is None

    def _standing(self) -> list[Memory]:
        return [one for one in self._held if one.active and one.id not in self._pass.gone]

    def _readable(self, other: Memory) -> bool:
        """Whether all who would read the new one read the other already."""
        return self._thread.audience.within(other.audience, self._view)

    def _left_out(self, at: str, code: str, reason: str) -> None:
        self._tell(LeftOut(part=at, code=code, reason=reason))

    def _memory(self, place: int, draft: Draft) -> Memory:
        key = draft.key if draft.cardinality is Cardinality.ONE else None
        if key is not None and draft.subject is not None:
            key = f"{draft.subject}: {key}"
        if key is not None and len(key) > self._limits.key_length:
            key = None
        single = draft.cardinality is not Cardinality.ONE or key is not None
        return Memory(
            id=self._id_of("note", place),
            recorded_at=self._now,
            owner=self._thread.owner,
            audience=self._thread.audience,
            kind=draft.kind,
            content=draft.content,
            subject=draft.subject,
            cardinality=draft.cardinality if single else Cardinality.MANY,
            key=key,
            applies_when=draft.applies_when,
            data=None if draft.data is None else {"schema": draft.schema_name, "document": draft.data},
            tags=draft.tags,
            agent=self._thread.agent,
            thread=self._thread.id,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            observed_at=draft.observed_at,
            sources=draft.sources,
            quotes=draft.quotes,
            language=draft.language,
            trust=draft.trust,
        )


def _believed(memory: Memory) -> tuple[int, UUID]:
    from_best = [*type(memory.trust)]
    return from_best.index(memory.trust), memory.id


def _said_at(memory: Memory) -> tuple[datetime, UUID]:
    """When it was said; of one moment, the message counts that was made later."""
    return memory.observed_at, max(memory.sources, default=UUID(int=0))


def _same_subject(one: Memory, other: Memory) -> bool:
    return comparable_text(one.subject or "") == comparable_text(other.subject or "")


def _alike(memory: Memory, other: Memory) -> bool:
    """Whether two memories are one statement: about the same, when the same, and for as long."""
    if not _same_subject(memory, other) or comparable_text(memory.applies_when) != comparable_text(
        other.applies_when
    ):
        return False
    if memory.valid_to != other.valid_to or (memory.valid_from or other.valid_from) != (
        other.valid_from or memory.valid_from
    ):
        return False
    keys = {key.casefold() for key in (memory.key, other.key) if key is not None}
    if len(keys) > 1 or (memory.data is not None and memory.data != other.data):
        return False
    return same(memory.content, other.content)


def _joined(first: Memory, again: Memory) -> Memory:
    """One memory of what was said twice; of two that are not believed alike, the one that is believed more."""
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
