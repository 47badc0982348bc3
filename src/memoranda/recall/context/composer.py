"""Composes a context: chooses entries block by block and the newest turns, and reports what was left out and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from itertools import accumulate
from typing import Literal, NamedTuple
from uuid import UUID

from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Thread, native_parts
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import RecordType
from memoranda.recall.context.blocks import LIVELY, STEADY, ContextEntry, EntryWriter, frame, share, take
from memoranda.recall.context.echoes import Echo
from memoranda.text.fence import BLOCKS, PREAMBLE
from memoranda.text.token_count import Count, estimate

#: The position before the first known message.
_BEFORE = -1


@dataclass(frozen=True, slots=True)
class Window:
    """The newest turns of a thread that fit into a budget, after its leading system messages."""

    messages: tuple[Message, ...]
    #: A summary of older turns: the caller's, or the thread's if turns are left out. It is counted in ``tokens`` and
    #: belongs before the messages.
    summary: str
    tokens: int
    counted: Literal["exact", "estimated"]
    #: True if turns before the newest ones are left out.
    has_earlier: bool
    #: Messages left out of the newest run, because it is too long: those between its question and its newest steps.
    skipped: int

    def __repr__(self) -> str:
        earlier = ", earlier ones left out" if self.has_earlier else ""
        return f"<Window of {len(self.messages)} messages, {self.tokens} tokens ({self.counted}){earlier}>"


def turns_since_silence(turns: Sequence[Message], now: datetime, ttl: timedelta | None) -> Sequence[Message]:
    """Return the turns since the last pause longer than ``ttl``, by time of receipt; none if that pause goes on."""
    start, later = len(turns), now
    while ttl is not None and start and later - turns[start - 1].recorded_at <= ttl:
        start -= 1
        later = turns[start].recorded_at
    return turns if ttl is None else turns[start:]


class ChosenTurns(NamedTuple):
    """The messages that fit into a budget: the one at ``start``, and all from ``resumes`` on."""

    start: int
    resumes: int

    def of(self, messages: Sequence[Message]) -> list[Message]:
        """Select the chosen turns from all messages."""
        return [*messages[self.start : self.start + 1], *messages[self.resumes :]]


def choose(
    messages: Sequence[Message],
    budget: int,
    cost: Callable[[Message], int],
    *,
    whole: bool,
    limit: int | None = None,
) -> ChosenTurns | None:
    """Choose as many of a thread's newest messages as fit, at most ``limit``; None if not even one user's turn does.

    ``messages`` are in order and end with the newest. ``whole`` is True if they begin with the thread's first.
    """
    # The place from which on there are not too many messages.
    few = 0 if limit is None else max(len(messages) - limit, 0)
    costs = [cost(message) for message in messages]
    behind = [*accumulate(reversed(costs), initial=0)][::-1]
    clean = clean_places(messages, whole)
    starts = [place for place, message in enumerate(messages) if clean[place] and is_users_turn(message)]
    for start in starts:
        if behind[start] <= budget and start >= few:
            return ChosenTurns(start, start + 1)
    if not starts or costs[starts[-1]] > budget or (limit is not None and limit < 1):
        return None
    start = starts[-1]
    left = budget - costs[start]
    places = range(max(start, few) + 1, len(messages) + 1)
    return ChosenTurns(start, next(place for place in places if clean[place] and behind[place] <= left))


def is_users_turn(message: Message) -> bool:
    """True if a user wrote the message: some frameworks send results of tools with the user's role."""
    return message.role == "user" and not any(part.is_result for part in native_parts(message.native))


def clean_places(messages: Sequence[Message], whole: bool) -> list[bool]:
    """Return for each position, and for the end, whether a window may begin there without separating a tool call."""
    called: dict[str, int] = {}
    separated = [0] * (len(messages) + 2)
    for place, message in enumerate(messages):
        parts = list(native_parts(message.native))
        called |= {part.id: place for part in parts if part.id and not part.is_result}
        results = [part.id for part in parts if part.is_result]
        if message.role == "tool" and not results:
            results = [""]
        for id in results:
            call = called.get(id, _BEFORE if id and not whole else _caller(messages, place))
            # A window that begins after the call, up to the result, would separate them.
            separated[call + 1] += 1
            separated[place + 1] -= 1
    return [depth == 0 for depth in accumulate(separated)][:-1]


def _caller(messages: Sequence[Message], place: int) -> int:
    """Return the nearest earlier message that is not a tool's; results without an id belong to it."""
    before = place - 1
    while before >= 0 and messages[before].role == "tool":
        before -= 1
    return before


Counted = Literal["exact", "estimated"]
#: The reason why something was left out.
Reason = Literal["budget", "in_conversation", "covered_by_memory"] | Echo

#: An entry takes at most this fraction of the budget, or ``_LEAST`` tokens if that is more.
PART = 6
_LEAST = 48
_MEMORIES, _, _EPISODES, _PASSAGES, _CONVERSATION = BLOCKS[2:]


@dataclass(frozen=True, slots=True)
class Placed:
    """A record that is in a context."""

    #: The record's id; for a field of a profile, the document's.
    id: UUID
    type: RecordType
    tokens: int
    #: True if its text was too long and was cut.
    cut: bool


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a context."""

    name: str
    text: str
    tokens: int
    placed: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that was found for a context and is not in it."""

    id: UUID
    type: RecordType
    block: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Context:
    """The text for an agent, and the records that it is made of."""

    text: str
    blocks: tuple[Block, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    #: ``exact`` by the caller's counter; ``estimated`` by an estimate that errs towards more tokens.
    counted: Counted

    def __repr__(self) -> str:
        placed = ", ".join(f"{block.name} {len(block.placed)}" for block in self.blocks) or "empty"
        return f"<Context of {self.tokens} tokens ({self.counted}): {placed}; {len(self.left_out)} left out>"

    @property
    def memories(self) -> tuple[UUID, ...]:
        """The ids of the memories in the context."""
        return tuple(one.id for block in self.blocks for one in block.placed if one.type is RecordType.MEMORY)


@dataclass(frozen=True, slots=True)
class Material:
    """The records that a context may contain; each list begins with the most important."""

    experience: Sequence[ExperienceLine] = ()
    profile: Sequence[ProfileDocument] = ()
    memories: Sequence[Memory] = ()
    #: Memories that belong to the reader's groups.
    group_memories: Sequence[Memory] = ()
    episodes: Sequence[Episode] = ()
    passages: Sequence[Message] = ()
    #: A passage → the memory that says the same and matches better.
    told_by: Mapping[UUID, UUID] = field(default_factory=dict)
    #: A passage that adds nothing → why: it is left out.
    echoes: Mapping[UUID, Echo] = field(default_factory=dict)
    #: The thread's newest turns, oldest first.
    turns: Sequence[Message] = ()
    #: True if these are all the turns of the thread.
    turns_whole: bool = True
    #: The thread; its summary replaces turns that are left out.
    thread: Thread | None = None
    #: A line after the blocks that tells the time; empty for none.
    now: str = ""


@dataclass(slots=True)
class _Draft:
    """A context that is being composed for one budget."""

    taken: dict[str, list[ContextEntry]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def put(self, block: str, entries: Sequence[ContextEntry], taken: Sequence[ContextEntry]) -> None:
        """Put the chosen entries into their block in a stable order, and record all other entries as left out."""
        self.taken[block] = sorted(taken, key=lambda entry: entry.order)
        there = {id(entry) for entry in taken}
        self.leave([entry for entry in entries if id(entry) not in there], block, "budget")

    def leave(self, entries: Sequence[ContextEntry], block: str, reason: Reason) -> None:
        """Record entries as left out of the context."""
        self.left_out += [LeftOut(entry.id, entry.type, block, reason) for entry in entries]


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
        writer = EntryWriter(self._count, max(budget // PART, _LEAST))
        self._turns = material.turns
        self._turns_whole = material.turns_whole
        self._lines = {message.id: writer.message(message) for message in material.turns}
        summed_up = material.thread is not None and material.thread.summary
        self._summary = [writer.summary(material.thread)] if material.thread and summed_up else []
        self._covered_by = material.told_by
        self._echoes = material.echoes
        self._entries: dict[str, list[ContextEntry]] = dict(
            zip(
                BLOCKS,
                (
                    [writer.experience(line) for line in material.experience],
                    writer.profile(material.profile),
                    [writer.memory(memory) for memory in material.memories],
                    [writer.memory(memory) for memory in material.group_memories],
                    [writer.episode(episode) for episode in material.episodes],
                    [writer.message(message) for message in material.passages],
                    [*self._summary, *self._lines.values()],
                ),
                strict=True,
            )
        )
        own = _estimated if count is None else count
        self._frames = {name: own("\n\n" + frame(name, [])) for name in BLOCKS if self._entries[name]}
        self._preamble = own(PREAMBLE)
        self._now = material.now
        self._now_cost = self._count("\n\n" + self._now) if self._now else 0

    def compose(self) -> Context:
        """Make the context; if the text has more tokens than the sum of its parts, make it again a little smaller."""
        budget, around = self._budget, self._preamble + self._now_cost
        while budget > around:
            draft = self._drafted(budget - around)
            context = self._written(draft)
            if context.tokens <= self._budget:
                return context
            budget = min(budget * self._budget // context.tokens, budget - budget // 64 - 1)
        nothing = _Draft()
        for block in BLOCKS:
            nothing.leave(self._entries[block], block, "budget")
        if self._now_cost > self._budget:
            self._now, self._now_cost = "", 0
        return self._written(nothing)

    def _drafted(self, budget: int) -> _Draft:
        draft = _Draft()
        useful = self._entries | {
            _PASSAGES: [entry for entry in self._entries[_PASSAGES] if entry.id not in self._echoes]
        }
        needs = {block: self._need(useful[block], block) for block in BLOCKS}
        grants = share(budget, needs)
        left = 0
        for block in STEADY:
            left += self._fill(draft, block, self._entries[block], grants[block])
        placed = {entry.id for entry in draft.taken[_MEMORIES]}
        left += self._fill(draft, _EPISODES, self._entries[_EPISODES], grants[_EPISODES])
        # The conversation comes first: a message in it is not repeated as a passage.
        left = self._converse(draft, grants[_CONVERSATION] + left)
        spoken = {entry.id for entry in draft.taken[_CONVERSATION]}
        # Where the budget left out a memory or a field, its repetition may be the only one who tells it.
        whole = all(one.reason != "budget" for one in draft.left_out if one.block in STEADY)
        passages, repetitions = [], []
        for entry in self._entries[_PASSAGES]:
            echo = self._echoes.get(entry.id)
            if entry.id in spoken:
                draft.leave([entry], _PASSAGES, "in_conversation")
            elif self._covered_by.get(entry.id) in placed:
                draft.leave([entry], _PASSAGES, "covered_by_memory")
            elif echo is None:
                passages.append(entry)
            elif echo == "repeats_context" and not whole:
                repetitions.append(entry)
            else:
                draft.leave([entry], _PASSAGES, echo)
        self._fill(draft, _PASSAGES, [*passages, *repetitions], grants[_PASSAGES] + left)
        return draft

    def _need(self, entries: Sequence[ContextEntry], block: str) -> int:
        return self._frames[block] + sum(entry.tokens for entry in entries) if entries else 0

    def _fill(self, draft: _Draft, block: str, entries: Sequence[ContextEntry], grant: int) -> int:
        """Fill a block from the first entry on, and return the unused part of its grant."""
        taken = take(entries, grant - self._frames[block]) if entries else []
        draft.put(block, entries, taken)
        return grant - self._need(taken, block)

    def _converse(self, draft: _Draft, grant: int) -> int:
        """Fill the block of the conversation, without separating tool calls from their results."""
        entries = self._entries[_CONVERSATION]
        room = grant - self._frames[_CONVERSATION] if entries else 0
        taken = self._chosen(room)
        if self._turns_whole and len(taken) == len(self._turns):
            # No turn is left out, so no summary is needed.
            entries = entries[len(self._summary) :]
        elif self._summary:
            # The newest turns are more important than the summary.
            left = room - sum(entry.tokens for entry in self._summary)
            beside = self._chosen(left) if left >= 0 else []
            if beside or (left >= 0 and not taken):
                taken = [*self._summary, *beside]
        draft.put(_CONVERSATION, entries, taken)
        return grant - self._need(taken, _CONVERSATION)

    def _chosen(self, room: int) -> list[ContextEntry]:
        """Return the newest turns of the thread that fit into a budget."""
        cost = {id: entry.tokens for id, entry in self._lines.items()}
        chosen = choose(self._turns, room, lambda message: cost[message.id], whole=self._turns_whole)
        return [self._lines[message.id] for message in chosen.of(self._turns)] if chosen else []

    def _written(self, draft: _Draft) -> Context:
        blocks = []
        for name in (*STEADY, *LIVELY):
            taken = draft.taken.get(name)
            if not taken:
                continue
            text = frame(name, [entry.line for entry in taken])
            tokens = self._need(taken, name) if self._exact is None else self._exact(text)
            placed = tuple(Placed(entry.id, entry.type, entry.tokens, entry.cut) for entry in taken)
            blocks.append(Block(name, text, tokens, placed))
        parts = [PREAMBLE, *(block.text for block in blocks)] if blocks else []
        text = "\n\n".join([*parts, self._now] if self._now else parts)
        if self._exact is not None:
            tokens = self._exact(text) if text else 0
        else:
            tokens = self._preamble + sum(block.tokens for block in blocks) if blocks else 0
            tokens += self._now_cost
        counted: Counted = "estimated" if self._exact is None else "exact"
        return Context(text, tuple(blocks), tuple(draft.left_out), tokens, counted)
