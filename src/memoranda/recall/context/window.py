"""The window on a thread: its newest turns, from a user's turn on, with every tool call beside its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Literal, NamedTuple

from memoranda.model.messages import Message
from memoranda.model.native import native_parts

#: Before the first message that is known.
_BEFORE = -1


@dataclass(frozen=True, slots=True)
class Window:
    """The newest turns of a thread that fit into a budget."""

    messages: tuple[Message, ...]
    #: What older turns come to: the caller's, or the thread's where turns are left out. It is counted, and belongs
    #: before the messages.
    summary: str
    tokens: int
    counted: Literal["exact", "estimated"]
    #: Whether the thread has older messages than these.
    has_earlier: bool
    #: How many messages are left out behind the first one: the middle of a run too long for the budget.
    skipped: int


def turns_since_silence(turns: Sequence[Message], now: datetime, ttl: timedelta | None) -> Sequence[Message]:
    """The turns since the last silence of more than ``ttl``, by receipt; none where it lasts."""
    start, later = len(turns), now
    while ttl is not None and start and later - turns[start - 1].recorded_at <= ttl:
        start -= 1
        later = turns[start].recorded_at
    return turns if ttl is None else turns[start:]


class ChosenTurns(NamedTuple):
    """Messages that fit: those from ``start`` on, but for the ones between ``start`` and ``resumes``."""

    start: int
    resumes: int

    def of(self, messages: Sequence[Message]) -> list[Message]:
        """The messages."""
        return [*messages[self.start : self.start + 1], *messages[self.resumes :]]


def choose(
    messages: Sequence[Message], budget: int, cost: Callable[[Message], int], *, whole: bool
) -> ChosenTurns | None:
    """As many of a thread's newest messages as fit; None where not even one user's turn does.

    ``messages`` are in order and end with the newest; ``whole`` says that they begin with the first.
    """
    costs = [cost(message) for message in messages]
    behind = [*accumulate(reversed(costs), initial=0)][::-1]
    clean = _clean(messages, whole)
    starts = [place for place, message in enumerate(messages) if clean[place] and is_users_turn(message)]
    for start in starts:
        if behind[start] <= budget:
            return ChosenTurns(start, start + 1)
    if not starts or costs[starts[-1]] > budget:
        return None
    start = starts[-1]
    left = budget - costs[start]
    places = range(start + 1, len(messages) + 1)
    return ChosenTurns(start, next(place for place in places if clean[place] and behind[place] <= left))


def is_users_turn(message: Message) -> bool:
    """Whether a user speaks in it, and no tool: some frameworks hand results over in the user's name."""
    return message.role == "user" and not any(part.is_result for part in native_parts(message.native))


def _clean(messages: Sequence[Message], whole: bool) -> list[bool]:
    """Where one may begin without parting a result from its call; a place more than there are messages."""
    called: dict[str, int] = {}
    parted = [0] * (len(messages) + 2)
    for place, message in enumerate(messages):
        parts = list(native_parts(message.native))
        called |= {part.id: place for part in parts if part.id and not part.is_result}
        results = [part.id for part in parts if part.is_result]
        if message.role == "tool" and not results:
            results = [""]
        for id in results:
            call = called.get(id, _BEFORE if id and not whole else _speaker(messages, place))
            # Beginning anywhere behind the call, up to the result, would part them.
            parted[call + 1] += 1
            parted[place + 1] -= 1
    return [depth == 0 for depth in accumulate(parted)][:-1]


def _speaker(messages: Sequence[Message], place: int) -> int:
    """The nearest message before a tool's that is none; results without an id belong to it."""
    before = place - 1
    while before >= 0 and messages[before].role == "tool":
        before -= 1
    return before
