"""Windows that also keep how a thread began: its leading system messages, and its first steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import dropwhile, takewhile
from typing import NamedTuple

from memoranda.model.messages import Message, native_parts
from memoranda.recall.context.turns import choose, clean_places, is_users_turn

#: The most system messages at the beginning of a thread that are kept, and the messages read beyond
#: the first steps to find the results of their tool calls.
LEADING, BEYOND = 8, 32


class Fitted(NamedTuple):
    """The messages of a thread that fit into a window."""

    messages: list[Message]
    #: True if turns before the newest ones are left out.
    has_earlier: bool
    #: Messages left out within the newest run, because it is too long.
    skipped: int


class Measure(NamedTuple):
    """Limits of a window: tokens and messages."""

    budget: int
    #: The most messages.
    limit: int
    cost: Callable[[Message], int]

    def fits(self, messages: Sequence[Message]) -> bool:
        """True if these messages are within both limits."""
        return len(messages) <= self.limit and sum(map(self.cost, messages)) <= self.budget

    def without(self, messages: Sequence[Message]) -> Measure:
        """Return what these messages leave over."""
        return Measure(
            self.budget - sum(map(self.cost, messages)), self.limit - len(messages), self.cost
        )


def leading(opening: Sequence[Message], measure: Measure) -> list[Message]:
    """Return the system messages that a thread begins with, as many of the first as fit."""
    kept: list[Message] = []
    for message in _system(opening):
        if not measure.fits([*kept, message]):
            break
        kept.append(message)
    return kept


def fit(
    opening: Sequence[Message],
    turns: Sequence[Message],
    measure: Measure,
    *,
    whole: bool,
    keep_first: int,
) -> Fitted | None:
    """Choose leading system messages, first steps and newest turns; None if not even one user's
    turn fits beside the first.

    ``opening`` are the thread's oldest messages, ``turns`` its newest; both in order. ``whole`` is
    True if ``turns`` are all of them.
    """
    lead = leading(opening, measure)
    left = measure.without(lead)
    later = _after(lead, turns)
    plain = choose(later, left.budget, left.cost, whole=whole, limit=left.limit)
    if plain is None:
        return None
    skipped = plain.resumes - plain.start - 1
    steps = [
        *dropwhile(lambda message: not is_users_turn(message), opening[len(_system(opening)) :])
    ]
    begins = bool(steps) and later[plain.start].seq <= steps[0].seq
    if keep_first and not (begins and not skipped):
        for count in _sizes(steps, keep_first):
            made = _anchored(lead, steps[:count], later, left, whole=whole)
            # The newest run goes first: it is not shortened for them.
            if made is not None and (skipped or not made.skipped):
                return made
    missing = plain.start > 0 or _gap(lead, later, whole=whole)
    return Fitted([*lead, *plain.of(later)], missing, skipped)


def _anchored(
    lead: list[Message],
    first: Sequence[Message],
    later: Sequence[Message],
    left: Measure,
    *,
    whole: bool,
) -> Fitted | None:
    """Choose the newest turns beside these first steps; None if a user's newest turn would not fit
    any more.
    """
    if not left.fits(first):
        return None
    rest, room = _after(first, later), left.without(first)
    missing = _gap(first, rest, whole=whole)
    if any(map(is_users_turn, rest)):
        chosen = choose(rest, room.budget, room.cost, whole=whole, limit=room.limit)
        if chosen is None:
            return None
        skipped = chosen.resumes - chosen.start - 1
        return Fitted([*lead, *first, *chosen.of(rest)], missing or chosen.start > 0, skipped)
    # The newest question is among the first steps: the newest steps of its run follow.
    clean = clean_places(rest, whole)
    place = next(at for at in range(len(rest) + 1) if clean[at] and room.fits(rest[at:]))
    return Fitted([*lead, *first, *rest[place:]], missing, place)


def _sizes(steps: Sequence[Message], wanted: int) -> list[int]:
    """Return how many first steps may be kept without separating a tool call from its result, the
    best number first.
    """
    clean, waiting, closed = clean_places(steps, True), set[str](), list[int]()
    for place, message in enumerate(steps, start=1):
        parts = [*native_parts(message.native)]
        if message.role == "tool" and not any(part.is_result for part in parts):
            # A result without an id belongs to the calls before it.
            waiting.clear()
        for part in parts:
            (waiting.discard if part.is_result else waiting.add)(part.id)
        # After the last message that was read, a result without an id may follow.
        if not waiting - {""} and clean[place] and (place < len(steps) or not waiting):
            closed.append(place)
    more = [size for size in closed if size >= wanted][:1]
    return [*more, *(size for size in reversed(closed) if size < wanted)]


def _system(opening: Sequence[Message]) -> list[Message]:
    return [*takewhile(lambda message: message.role == "system", opening)][:LEADING]


def _after(kept: Sequence[Message], messages: Sequence[Message]) -> Sequence[Message]:
    return [message for message in messages if message.seq > kept[-1].seq] if kept else messages


def _gap(kept: Sequence[Message], rest: Sequence[Message], *, whole: bool) -> bool:
    """True if messages are missing between those that are kept and the rest that was read."""
    if whole:
        return False
    return not kept or not rest or rest[0].seq > kept[-1].seq + 1
