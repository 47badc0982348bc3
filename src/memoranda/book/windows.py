"""The window of a thread: its newest messages within limits, and the reads that it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Literal
from uuid import UUID

from memoranda.book.services import Services
from memoranda.errors import NotFound
from memoranda.first_use import dataclass
from memoranda.model.messages import Message, Thread
from memoranda.model.query import Filter, Page, Scan
from memoranda.model.records import Owner, Record, RecordType, View, those_of
from memoranda.model.values import canonical
from memoranda.recall.context.first_steps import BEYOND, LEADING, Measure, fit, leading
from memoranda.recall.context.turns import Window, is_users_turn, turns_since_silence
from memoranda.secrets.masks import shown
from memoranda.text.token_count import Count, estimate

#: Turns that are read at a time: one for so many tokens of the budget, so few at least and so many
#: at most.
_TOKENS_A_TURN, _FEWEST_AT_A_TIME, _MOST_AT_A_TIME = 40, 20, 100
#: As far back as a window reaches.
_MOST_TURNS = 2000
#: The most first steps that are kept.
MOST_FIRST = 100
#: What a model's own form costs around every message.
_AROUND = 4


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """The arguments of a window."""

    budget: int
    #: The most messages.
    limit: int = _MOST_TURNS
    #: First steps that are kept beside the newest turns.
    keep_first: int = 0
    summary: str | None = None
    count: Count | None = None
    #: The silence that ends a window.
    max_gap: timedelta | None = None


async def window(
    services: Services, owner: Owner, view: View, thread: UUID, asked: WindowRequest
) -> Window:
    """Return the messages of a thread that fit: leading system messages, first steps if asked for,
    and the newest turns.

    Without a given summary it is the thread's own, where turns are left out.
    """
    counter = estimate if asked.count is None else asked.count
    costs: dict[UUID, int] = {}

    def cost(message: Message) -> int:
        if message.id not in costs:
            own = message.token_count if asked.count is None else None
            costs[message.id] = _AROUND + (
                max(map(counter, _forms(message))) if own is None else own
            )
        return costs[message.id]

    oldest = Filter(types=frozenset({RecordType.MESSAGE}), thread=thread)
    found, opening, first = await services.engine.scans(
        [
            Scan(owner, view, itself(thread), None, 1),
            Scan(
                owner,
                view,
                oldest,
                None,
                LEADING + (asked.keep_first and asked.keep_first + BEYOND),
            ),
            Scan(owner, view, turns_of(thread), None, page_of(asked.budget)),
        ]
    )
    read, whole = await newest_turns(services, owner, view, thread, asked.budget, cost, first=first)
    said = shown(read, services.door.secrets, native=False)
    for stored, one in zip(read, said, strict=True):
        if one is not stored:
            # A mask is longer or shorter than what it hides.
            costs.pop(one.id, None)
    turns = turns_since_silence(said, services.door.clock(), asked.max_gap)
    whole = whole and len(turns) == len(read)
    # After a silence with nothing said since, the window is empty.
    began = (
        shown(those_of(Message, opening.records), services.door.secrets, native=False)
        if turns
        else []
    )

    limits = Measure(asked.budget, asked.limit, cost)
    summary = asked.summary
    if summary is None:
        summary = (
            ""
            if whole and limits.fits(turns)
            else _summary_of(shown(found.records, services.door.secrets))
        )
    spent = counter(summary) if summary else 0
    kept = summary if spent <= asked.budget else ""
    chosen = None
    # What was said last matters more than what was said of it before.
    for beside in ([spent] if kept else []) + [0]:
        room = limits._replace(budget=asked.budget - beside)
        chosen = fit(began, turns, room, whole=whole, keep_first=asked.keep_first)
        if chosen is not None:
            kept = summary if beside else ""
            break
    messages = (
        chosen.messages
        if chosen
        else leading(began, limits._replace(budget=asked.budget - spent if kept else asked.budget))
    )
    tokens = sum(map(cost, messages)) + (spent if kept else 0)
    exact = asked.count is not None or not (
        kept or any(turn.token_count is None for turn in messages)
    )
    counted: Literal["exact", "estimated"] = "exact" if exact else "estimated"
    earlier = chosen.has_earlier if chosen else not whole or len(turns) > len(messages)
    return Window(tuple(messages), kept, tokens, counted, earlier, chosen.skipped if chosen else 0)


def _forms(message: Message) -> list[str]:
    """Return the texts that a model may get for a message: its content, and the JSON of its
    framework's form if stored.
    """
    return (
        [message.content]
        if message.native is None
        else [message.content, canonical(message.native).decode()]
    )


async def newest_turns(
    services: Services,
    owner: Owner,
    view: View,
    thread: UUID,
    budget: int,
    cost: Callable[[Message], int],
    *,
    first: Page | None = None,
) -> tuple[list[Message], bool]:
    """Return a thread's newest messages, oldest first, a few more than fit; and True if these are
    all of them.
    """
    only = turns_of(thread)
    turns: list[Message] = []
    cursor: str | None = None
    spent = 0
    while True:
        page = first or await services.engine.scan(owner, view, only, cursor, page_of(budget))
        first = None
        read = those_of(Message, page.records)
        turns += read
        spent += sum(map(cost, read))
        cursor = page.cursor
        if not turns and thread not in await services.engine.get(owner, view, [thread]):
            raise NotFound(f"no thread {thread} that this view may see")
        # Beyond the budget one reads on only to where a user's turn began what is the newest now.
        enough = spent > budget and any(map(is_users_turn, turns))
        if cursor is None or enough or len(turns) >= _MOST_TURNS:
            return turns[::-1], cursor is None


def page_of(budget: int) -> int:
    return min(max(budget // _TOKENS_A_TURN, _FEWEST_AT_A_TIME), _MOST_AT_A_TIME)


def itself(thread: UUID) -> Filter:
    return Filter(types=frozenset({RecordType.THREAD}), thread=thread)


def _summary_of(records: Sequence[Record]) -> str:
    return next((thread.summary for thread in those_of(Thread, records)), "")


def turns_of(thread: UUID | None) -> Filter:
    return Filter(types=frozenset({RecordType.MESSAGE}), thread=thread, newest_first=True)
