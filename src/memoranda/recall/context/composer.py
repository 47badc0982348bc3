"""Composes a context: chooses entries block by block and the newest turns, and reports what was
left out and why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final
from uuid import UUID

from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Hit
from memoranda.recall.context.blocks import (
    LIVELY,
    STEADY,
    ContextEntry,
    EntryWriter,
    frame,
    share,
    take,
)
from memoranda.recall.context.echoes import Echoes, Shown
from memoranda.recall.context.passage_parts import PassageParts
from memoranda.recall.context.repetitions import Key, Repetitions, key_of, statements_of
from memoranda.recall.context.result import Block, Context, Counted, LeftOut, Placed, Reason
from memoranda.recall.context.same_statements import Statement, without_told
from memoranda.recall.context.turns import choose
from memoranda.text.fence import BLOCKS, PREAMBLE
from memoranda.text.token_count import Count, estimate

#: An entry takes at most this fraction of the budget, or ``_LEAST`` tokens if that is more.
PART = 6
_LEAST = 48
#: Standing instructions take at most this fraction of the budget before anything else does.
STANDING_PART = 4
#: Turns of other conversations take at most this fraction of the budget.
OTHERS_PART = 4
_EXPERIENCE, _PROFILE, _MEMORIES, _GROUP_MEMORIES, _EPISODES, _OTHERS, _PASSAGES, _CONVERSATION = (
    BLOCKS
)
#: The blocks to which unused tokens go, in this order.
_REFILLED: Final = (_MEMORIES, _GROUP_MEMORIES, _EPISODES, _PROFILE, _EXPERIENCE)


@dataclass(frozen=True, slots=True)
class Material:
    """The records that a context may contain; each list begins with the most important."""

    experience: Sequence[ExperienceLine] = ()
    profile: Sequence[ProfileDocument] = ()
    memories: Sequence[Memory] = ()
    #: Memories that belong to the reader's groups.
    group_memories: Sequence[Memory] = ()
    #: Those of both that are instructions whatever is asked, the strongest first.
    standing: Sequence[UUID] = ()
    #: Memories whose time is over.
    expired: Sequence[Memory] = ()
    #: Disputed memories.
    disputed: Sequence[Memory] = ()
    #: Memories that no longer hold and cite one of the passages.
    ended: Sequence[Memory] = ()
    episodes: Sequence[Episode] = ()
    #: What the user said in other threads and is not formed yet, as far as it is no passage.
    unformed: Sequence[Message] = ()
    passages: Sequence[Message] = ()
    #: The hit by which each record was found; a passage or episode too long is cut to its part with
    #: the hit's words.
    hits: Mapping[UUID, Hit] = field(default_factory=dict)
    #: The thread's newest turns, oldest first.
    turns: Sequence[Message] = ()
    #: True if these are all the turns of the thread.
    turns_whole: bool = True
    #: The thread; its summary replaces turns that are left out.
    thread: Thread | None = None
    question: str | None = None
    #: Judges which passages only repeat; made of what is here where it is not given.
    echoes: Echoes | None = None
    #: A line after the blocks that tells the time; empty for none.
    now: str = ""


@dataclass(slots=True)
class _Draft:
    """A context that is being composed for one budget."""

    #: Block → its entries, in the order of the text.
    taken: dict[str, list[ContextEntry]] = field(default_factory=dict)
    #: Entries that only unused tokens let in, at the end of their blocks.
    more: dict[str, list[ContextEntry]] = field(default_factory=dict)
    #: Entries ruled out, by their identity as objects, with the reason.
    ruled_out: dict[int, Reason] = field(default_factory=dict)

    def put(self, block: str, taken: Iterable[ContextEntry]) -> None:
        """Put the chosen entries into their block in a stable order."""
        self.taken[block] = sorted(taken, key=lambda entry: entry.order, reverse=block == _OTHERS)

    def add(self, block: str, taken: Iterable[ContextEntry]) -> None:
        """Put further entries at the end of their block, where they change least of the text before
        them.
        """
        there = [*self.more.get(block, ()), *taken]
        self.more[block] = sorted(there, key=lambda entry: entry.order)

    def of(self, block: str) -> list[ContextEntry]:
        """Return the entries of a block."""
        return [*self.taken.get(block, ()), *self.more.get(block, ())]

    def rule_out(self, entry: ContextEntry, reason: Reason) -> None:
        """Leave an entry out, whatever room there is."""
        self.ruled_out[id(entry)] = reason

    def waiting(self, block: str, entries: Sequence[ContextEntry]) -> list[ContextEntry]:
        """Return the entries of a block that are neither placed nor ruled out."""
        there = {id(entry) for entry in self.of(block)}
        return [
            entry for entry in entries if id(entry) not in there and id(entry) not in self.ruled_out
        ]

    def placed(self) -> set[UUID]:
        """Return the ids of everything placed."""
        return {entry.id for block in BLOCKS for entry in self.of(block)}


@cache
def _estimated(own: str) -> int:
    """Count our own constant text. Stored text must not be cached here."""
    return estimate(own)


class Composer:
    """Makes one context. Every entry is counted once, however often the budget is divided."""

    def __init__(self, material: Material, budget: int, count: Count | None = None) -> None:
        self._budget = budget
        self._exact = count
        self._count = estimate if count is None else count
        self._writer = EntryWriter(self._count, max(budget // PART, _LEAST))
        writer, self._material = self._writer, material
        memories = [*material.memories, *material.group_memories]
        said = [*material.unformed, *material.passages]
        known = [*memories, *material.profile, *material.experience, *said]
        self._echoes = material.echoes or Echoes(known, material.question)
        self._parts = PassageParts(material.question, memories, material.ended)
        self._messages = {message.id: message for message in said}
        self._repetitions = Repetitions(
            material.experience, material.profile, memories, material.standing
        )
        self._lines = {message.id: writer.message(message) for message in material.turns}
        thread = material.thread
        self._summary = (
            [] if thread is None or not thread.summary else [writer.summary(thread, thread.summary)]
        )
        self._statements: Mapping[Key, Collection[Statement]] | None = None
        self._entries: dict[str, list[ContextEntry]] = {
            _EXPERIENCE: [writer.experience(line) for line in material.experience],
            _PROFILE: writer.profile(material.profile, self._repetitions.items),
            _MEMORIES: [writer.memory(memory) for memory in material.memories],
            _GROUP_MEMORIES: [writer.memory(memory) for memory in material.group_memories],
            _EPISODES: [
                writer.episode(episode, material.hits.get(episode.id))
                for episode in material.episodes
            ],
            **{
                block: [
                    writer.message(
                        message, self._parts.mark(message), material.hits.get(message.id)
                    )
                    for message in messages
                ]
                for block, messages in (
                    (_OTHERS, material.unformed),
                    (_PASSAGES, material.passages),
                )
            },
            _CONVERSATION: [*self._summary, *self._lines.values()],
        }
        own = _estimated if count is None else count
        self._frames = {
            name: own("\n\n" + frame(name, [])) for name in BLOCKS if self._entries[name]
        }
        self._preamble = own(PREAMBLE)
        self._now = material.now
        self._now_cost = self._count("\n\n" + self._now) if self._now else 0

    def compose(self) -> Context:
        """Make the context; if the text has more tokens than the sum of its parts, make it again a
        little smaller.
        """
        budget, around = self._budget, self._preamble + self._now_cost
        while budget > around:
            draft = self._drafted(budget - around)
            context = self._written(draft)
            if context.tokens <= self._budget:
                return context
            budget = min(budget * self._budget // context.tokens, budget - budget // 64 - 1)
        if self._now_cost > self._budget:
            self._now, self._now_cost = "", 0
        return self._written(_Draft())

    def _drafted(self, budget: int) -> _Draft:
        """Divide a budget: standing instructions first, then shares, and at last what is unused."""
        draft = _Draft()
        useful = self._useful(draft, budget // OTHERS_PART)
        standing = self._standing(budget // STANDING_PART, useful)
        reserved = {block: self._need(entries, block) for block, entries in standing.items()}
        needs = {
            block: self._need(useful[block], block) - reserved.get(block, 0) for block in BLOCKS
        }
        grants = share(budget - sum(reserved.values()), needs)
        left = 0
        for block in STEADY:
            first = standing.get(block, [])
            there = {id(entry) for entry in first}
            rest = [entry for entry in useful[block] if id(entry) not in there]
            left += self._fill(
                draft, block, [*first, *rest], grants[block] + reserved.get(block, 0)
            )
        for block in (_EPISODES, _OTHERS):
            left += self._fill(draft, block, useful[block], grants[block])
        # The conversation comes first: a message in it is not repeated as a passage.
        spare = self._converse(draft, grants[_CONVERSATION] + left)
        self._quote(draft, useful[_PASSAGES], budget - self._used(draft))
        if (free := budget - self._used(draft)) > 0 and draft.waiting(
            _CONVERSATION, [*self._lines.values()]
        ):
            self._converse(draft, grants[_CONVERSATION] + left - spare + free)
            self._quote(draft, useful[_PASSAGES], budget - self._used(draft, _PASSAGES))
        # A memory that gets unused tokens may tell what a passage does.
        while self._refill(draft, budget - self._used(draft)):
            self._quote(draft, useful[_PASSAGES], budget - self._used(draft, _PASSAGES))
        return draft

    def _useful(self, draft: _Draft, quarter: int) -> dict[str, list[ContextEntry]]:
        """Return the entries that a context may hold in its first pass; rule out what none should
        hold.
        """
        useful = {
            block: [entry for entry in entries if key_of(entry) not in self._repetitions.told_by]
            for block, entries in self._entries.items()
        }
        for entry in [*self._entries[_OTHERS], *self._entries[_PASSAGES]]:
            message = self._messages[entry.id]
            if (empty := self._echoes.empty(message)) is not None:
                draft.rule_out(entry, empty)
            elif self._parts.outdated(message):
                draft.rule_out(entry, "outdated")
        for block in (_OTHERS, _PASSAGES):
            useful[block] = draft.waiting(block, useful[block])
        if useful[_OTHERS]:
            taken = take(useful[_OTHERS], quarter - self._frames[_OTHERS])
            for entry in useful[_OTHERS]:
                if entry not in taken:
                    draft.rule_out(entry, "beyond_a_quarter")
            useful[_OTHERS] = taken
        return useful

    def _standing(
        self, budget: int, useful: Mapping[str, Sequence[ContextEntry]]
    ) -> dict[str, list[ContextEntry]]:
        """Return the standing instructions that fit into a part of the budget, by block."""
        found: dict[str, list[ContextEntry]] = {}
        places = {
            entry.id: (block, entry)
            for block in (_MEMORIES, _GROUP_MEMORIES)
            for entry in useful[block]
        }
        for id in self._material.standing:
            block, entry = places.get(id, ("", None))
            if entry is None:
                continue
            cost = entry.tokens + (0 if block in found else self._frames[block])
            if cost <= budget:
                found.setdefault(block, []).append(entry)
                budget -= cost
        return found

    def _used(self, draft: _Draft, *but: str) -> int:
        return sum(self._need(draft.of(block), block) for block in BLOCKS if block not in but)

    def _need(self, entries: Sequence[ContextEntry], block: str) -> int:
        return self._frames[block] + sum(entry.tokens for entry in entries) if entries else 0

    def _fill(self, draft: _Draft, block: str, entries: Sequence[ContextEntry], grant: int) -> int:
        """Fill a block from the first entry on, and return the unused part of its grant."""
        taken = take(entries, grant - self._frames[block]) if entries else []
        draft.put(block, taken)
        return grant - self._need(taken, block)

    def _quote(self, draft: _Draft, entries: Sequence[ContextEntry], grant: int) -> None:
        """Fill the block of passages with those that add something to what is placed by now."""
        spoken = {entry.id for entry in draft.of(_CONVERSATION)}
        for entry in entries:
            if entry.id in spoken:
                draft.rule_out(entry, "in_conversation")
        draft.put(_PASSAGES, ())
        placed = draft.placed()
        shown = placed - {entry.id for entry in draft.waiting(_PROFILE, self._entries[_PROFILE])}
        while True:
            pool = draft.waiting(_PASSAGES, entries)
            taken = take(pool, grant - self._frames[_PASSAGES]) if pool else []
            among = self._echoes.shown(shown | {entry.id for entry in taken})
            useless = [
                (entry, why) for entry in taken if (why := self._adds_nothing(entry, placed, among))
            ]
            if not useless:
                return draft.put(_PASSAGES, taken)
            for entry, why in useless:
                draft.rule_out(entry, why)

    def _adds_nothing(
        self, entry: ContextEntry, placed: Collection[UUID], among: Shown
    ) -> Reason | None:
        """Return why a passage adds nothing beside placed memories, and beside all that is shown;
        None if it may.
        """
        message = self._messages[entry.id]
        if self._parts.covered(message, placed):
            return "covered_by_memory"
        return self._echoes.reason(message, among)

    def _refill(self, draft: _Draft, free: int) -> bool:
        """Give unused tokens to blocks that they complete, then to single entries; return if any
        came in.
        """
        before = free
        for whole in (True, False):
            for block in _REFILLED:
                waiting = self._waiting(draft, block)
                frame_cost = 0 if draft.of(block) else self._frames.get(block, 0)
                if not waiting or free <= frame_cost:
                    continue
                taken = take(waiting, free - frame_cost)
                if taken and (len(taken) == len(waiting) or not whole):
                    draft.add(block, taken)
                    free -= frame_cost + sum(entry.tokens for entry in taken)
        return free < before

    def _waiting(self, draft: _Draft, block: str) -> list[ContextEntry]:
        """Return the entries of a block that may still come in; rule out those that a placed one
        tells.
        """
        if told_by := self._repetitions.told_by:
            placed = {key_of(entry) for other in BLOCKS for entry in draft.of(other)}
            for entry in draft.waiting(block, self._entries[block]):
                if told_by.get(key_of(entry)) in placed:
                    draft.rule_out(entry, "told_twice")
        return draft.waiting(block, self._entries[block])

    def _converse(self, draft: _Draft, grant: int) -> int:
        """Fill the block of the conversation, without separating tool calls from their results."""
        entries = self._entries[_CONVERSATION]
        room = grant - self._frames[_CONVERSATION] if entries else 0
        taken = self._chosen(room)
        if not (self._material.turns_whole and len(taken) == len(self._lines)):
            # The newest turns are more important than the summary.
            summary = self._summed_up(draft)
            left = room - sum(entry.tokens for entry in summary)
            beside = self._chosen(left) if left >= 0 else []
            if summary and (beside or (left >= 0 and not taken)):
                taken = [*summary, *beside]
        draft.put(_CONVERSATION, taken)
        return grant - self._need(taken, _CONVERSATION)

    def _summed_up(self, draft: _Draft) -> list[ContextEntry]:
        """Return the entry of the thread's summary, without the sentences that placed entries
        say.
        """
        thread = self._material.thread
        if not self._summary or thread is None:
            return []
        told = [one for block in STEADY for entry in draft.of(block) for one in self._told(entry)]
        text = without_told(thread.summary, told)
        if text == thread.summary:
            return self._summary
        return [self._writer.summary(thread, text)] if text else []

    def _told(self, entry: ContextEntry) -> Collection[Statement]:
        """Return the statements of an entry."""
        if self._statements is None:
            known = self._material
            self._statements = statements_of(known.memories, known.experience, known.profile)
        return self._statements.get(key_of(entry), ())

    def _chosen(self, room: int) -> list[ContextEntry]:
        """Return the newest turns of the thread that fit into a budget."""
        cost = {id: entry.tokens for id, entry in self._lines.items()}
        turns = self._material.turns
        chosen = choose(
            turns, room, lambda message: cost[message.id], whole=self._material.turns_whole
        )
        return [self._lines[message.id] for message in chosen.of(turns)] if chosen else []

    def _written(self, draft: _Draft) -> Context:
        blocks = []
        for name in (*STEADY, *LIVELY):
            taken = draft.of(name)
            if not taken:
                continue
            text = frame(name, [entry.line for entry in taken])
            tokens = self._need(taken, name) if self._exact is None else self._exact(text)
            blocks.append(Block(name, text, tokens, tuple(map(_placed, taken))))
        parts = [PREAMBLE, *(block.text for block in blocks)] if blocks else []
        text = "\n\n".join([*parts, self._now] if self._now else parts)
        if self._exact is not None:
            tokens = self._exact(text) if text else 0
        else:
            tokens = self._preamble + sum(block.tokens for block in blocks) if blocks else 0
            tokens += self._now_cost
        counted: Counted = "estimated" if self._exact is None else "exact"
        return Context(
            text, tuple(blocks), tuple(self._left_out(draft)), tokens, counted, self._now
        )

    def _left_out(self, draft: _Draft) -> Iterator[LeftOut]:
        for block in BLOCKS:
            there = {id(entry) for entry in draft.of(block)}
            turns = len(self._lines) if block == _CONVERSATION else 0
            whole = self._material.turns_whole and turns and len(there) == turns
            for entry in self._entries[block]:
                # Where no turn is left out, no summary is needed.
                if id(entry) in there or (
                    block == _CONVERSATION and (whole or self._is_told(entry, draft))
                ):
                    continue
                yield LeftOut(entry.id, entry.type, block, draft.ruled_out.get(id(entry), "budget"))
        for memory in self._material.expired:
            yield LeftOut(memory.id, memory.type, _MEMORIES, "expired")
        for memory in self._material.disputed:
            yield LeftOut(memory.id, memory.type, _MEMORIES, "disputed")

    def _is_told(self, entry: ContextEntry, draft: _Draft) -> bool:
        """True if a shorter entry of the same summary is placed."""
        return any(one.id == entry.id for one in draft.of(_CONVERSATION))


def _placed(entry: ContextEntry) -> Placed:
    return Placed(
        entry.id, entry.type, entry.tokens, entry.cut, entry.label, entry.text, entry.role
    )
