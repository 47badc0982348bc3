"""The turns of a thread: the newest that fit into a budget, never separating a tool call from its
result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Literal, NamedTuple

from memoranda.first_use import dataclass
from memoranda.model.messages import Message, native_parts

#: The position before the first known message.
_BEFORE = -1


@dataclass(frozen=True, slots=True)
class Window:
    """The newest turns of a thread that fit into a budget, after its leading system messages."""

    messages: tuple[Message, ...]
    #: A summary of older turns: the caller's, or the thread's if turns are left out. It is counted
    #: in ``tokens`` and belongs before the messages.
    summary: str
    tokens: int
    counted: Literal["exact", "estimated"]
    #: True if turns before the newest ones are left out.
    has_earlier: bool
    #: Messages left out of the newest run, because it is too long: those between its question and
    #: its newest steps.
    skipped: int

    def __repr__(self) -> str:
        earlier = ", earlier ones left out" if self.has_earlier else ""
        return f"<Window of {len(self.messages)} messages, {self.tokens} tokens ({self.counted}){earlier}>"


def turns_since_silence(
    turns: Sequence[Message], now: datetime, ttl: timedelta | None
) -> Sequence[Message]:
    """Return the turns since the last pause longer than ``ttl``, by time of receipt; none if that
    pause goes on.
    """
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
    """Choose as many of a thread's newest messages as fit, at most ``limit``; None if not even one
    user's turn does.

    ``messages`` are in order and end with the newest. ``whole`` is True if they begin with the
    thread's first.
    """
    # The place from which on there are not too many messages.
    few = 0 if limit is None else max(len(messages) - limit, 0)
    costs = [cost(message) for message in messages]
    behind = [*accumulate(reversed(costs), initial=0)][::-1]
    clean = clean_places(messages, whole)
    starts = [
        place for place, message in enumerate(messages) if clean[place] and is_users_turn(message)
    ]
    for start in starts:
        if behind[start] <= budget and start >= few:
            return ChosenTurns(start, start + 1)
    if not starts or costs[starts[-1]] > budget or (limit is not None and limit < 1):
        return None
    start = starts[-1]
    left = budget - costs[start]
    places = range(max(start, few) + 1, len(messages) + 1)
    return ChosenTurns(
        start, next(place for place in places if clean[place] and behind[place] <= left)
    )


def is_users_turn(message: Message) -> bool:
    """True if a user wrote the message: some frameworks send results of tools with the user's
    role.
    """
    return message.role == "user" and not any(
        part.is_result for part in native_parts(message.native)
    )


def clean_places(messages: Sequence[Message], whole: bool) -> list[bool]:
    """Return for each position, and for the end, whether a window may begin there without
    separating a tool call.
    """
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
    """Return the nearest earlier message that is not a tool's; results without an id belong to
    it.
    """
    before = place - 1
    while before >= 0 and messages[before].role == "tool":
        before -= 1
    return before
