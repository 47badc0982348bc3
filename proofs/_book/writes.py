"""Attempts to change another owner's data, or to use it as a source, by every verb that writes."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any
from uuid import UUID

from memoranda import Receipt
from memoranda.errors import InvalidInput, LimitReached, MemorandaError, NotFound, Stale
from memoranda.model.records import EVERYONE, Audience, AudienceKind, Owner, View
from memoranda.model.values import new_id
from proofs._book import world
from proofs._book.oracle import Leak, may_read
from proofs._book.session import Session, who


async def remember(s: Session) -> None:
    """A statement with sources, a thread, losers and expectations that may be another's."""
    party, view = s.someone()
    view = View() if view.whole else view
    chance = s.rng.random
    sources = [s.pick(party, view) for _ in range(s.rng.randint(1, 2))] if chance() < 0.4 else []
    thread = s.pick(party, view, "thread", strange=0.3) if chance() < 0.2 else None
    losers = [s.pick(party, view, "memory")] if chance() < 0.2 else []
    expected = s.pick(party, view) if chance() < 0.1 else None
    run = s.rng.choice(("r", "r%")) if chance() < 0.3 else None
    audience = s.audience(view) if chance() < 0.7 else None
    grounds = sources or ([thread] if thread else [])
    problems: set[type[MemorandaError]] = set()
    if expected is not None and not s.oracle.sees(party, view, expected):
        problems.add(Stale)
    if not all(s.oracle.sees(party, view, id) for id in (*sources, *([thread] if thread else []))):
        problems.add(NotFound)
    own = None if view.agent is None else Audience.of_agent(view.agent)
    born = born_as(s, grounds, audience or own, view)
    if born is None:
        problems.add(InvalidInput)
    mates = [k for k in s.oracle.of.get(party, {}).values() if run is not None and k.run == run]
    if run is not None and len(mates) >= world.LIMITS.writes_per_run:
        problems.add(LimitReached)
    text = f"the garden had {s.word(party, born or EVERYONE)} this spring"
    key = s.rng.choice((None, None, *world.KEYS))
    operation = f"op {new_id()}"
    answer = await s.told(
        s.book(party).remember(
            party, text, audience=audience, sources=sources, thread=thread, supersedes=losers, run=run, key=key,
            expect=None if expected is None else {expected: _version(s, expected)}, operation=operation, **as_agent(view),
        ),
        party, view, "remember",
    )  # fmt: skip
    if isinstance(answer, MemorandaError):
        _expected_refusal(s, answer, problems, party, thread)
        return
    if problems:
        raise Leak(f"remember by {party.parts} as {view} passed in spite of {problems}")
    s.absorb(answer, party, view, born=born, run=run, asked=losers)
    _losers_unseen(s, answer, losers, party, view)
    if answer.items:
        s.operations.append((party, operation, text, answer.id))


async def remember_for_another(s: Session) -> None:
    """Check that an agent cannot write its conclusions for readers who could not read their
    sources.
    """
    party, view = (
        s.rng.choice(s.actors),
        s.rng.choice([view for view in world.VIEWS if view.agent is not None]),
    )
    shared = [
        known.id
        for known in s.oracle.visible(party, view)
        if known.audience.kind is AudienceKind.GROUP and known.type in ("memory", "message")
    ]
    others = [agent for agent in world.AGENTS if agent != view.agent]
    if shared and others:
        source, readers = s.rng.choice(shared), Audience.of_agent(s.rng.choice(others))
        answer = await s.told(
            s.book(party).remember(
                party, "the garden is shared", audience=readers, sources=[source], **as_agent(view)
            ),
            party,
            view,
            "remember for another",
        )
        if not isinstance(answer, InvalidInput):
            raise Leak(
                f"{party.parts} as {view} wrote for {readers}, resting on {source}: {answer}"
            )


def born_as(
    s: Session, grounds: Sequence[UUID], audience: Audience | None, view: View
) -> Audience | None:
    """Return the audience of a record with these sources: the requested one, if all its readers may
    read the sources.
    """
    bearing = [s.oracle.records[id].audience for id in grounds]
    if audience is not None and not may_read(audience, view):
        return None
    if audience is not None:
        return audience if all(s.oracle.within(audience, each, view) for each in bearing) else None
    if not bearing:
        return EVERYONE if view.agent is None else Audience.of_agent(view.agent)
    narrow = [a for a in bearing if all(s.oracle.within(a, each, view) for each in bearing)]
    return narrow[0] if narrow else None


def _expected_refusal(
    s: Session,
    answer: MemorandaError,
    problems: set[type[MemorandaError]],
    party: Owner,
    thread: UUID | None,
) -> None:
    told = sum(
        k.type == "memory" and k.thread == thread and k.run is None
        for k in s.oracle.of[party].values()
    )
    if s.held(party) >= world.MEMORIES or (thread and told >= world.LIMITS.writes_per_run):
        problems = problems | {LimitReached}
    if not any(isinstance(answer, problem) for problem in problems):
        raise Leak(f"remember by {party.parts} was refused: {answer}")


def _losers_unseen(
    s: Session, receipt: Receipt, losers: Sequence[UUID], party: Owner, view: View
) -> None:
    """Check that a view cannot supersede what it does not see; the receipt says that there is no
    such memory.
    """
    for id in losers:
        known = s.oracle.records[id]
        touched = any(item.id == id and item.verb == "supersede" for item in receipt.items)
        if touched and not may_read(known.audience, view) and known.key is None:
            raise Leak(f"{id} was superseded by {party.parts} as {view}, who does not see it")


def _version(s: Session, id: UUID) -> int:
    return s.oracle.records[id].version


def as_agent(view: View) -> dict[str, Any]:
    return {"agent": view.agent, "groups": view.groups}


async def upon(
    s: Session,
    id: UUID,
    asking: Awaitable[Receipt],
    party: Owner,
    view: View,
    what: str,
    **absorbing: Any,
) -> Receipt | None:
    """A change to one record: refused as not found where the view does not see it."""
    seen = s.oracle.sees(party, view, id)
    answer = await s.told(asking, party, view, what)
    if isinstance(answer, MemorandaError):
        if seen == isinstance(answer, NotFound):
            raise Leak(f"{what} of {id} by {party.parts} as {view}: {answer}")
        return None
    if not seen:
        raise Leak(f"{what} of {id} by {party.parts} as {view} went through")
    s.absorb(answer, party, view, **absorbing)
    return answer


async def retract(s: Session) -> None:
    party, view = s.someone()
    id = s.pick(party, view, "memory")
    await upon(
        s,
        id,
        s.book(party).memories.retract(party, id, reason="enough", **who(view)),
        party,
        view,
        "retract",
        asked=[id],
    )


async def amend(s: Session) -> None:
    party, view = s.someone()
    id = s.pick(party, view, "memory")
    word = s.word(party, s.oracle.records[id].audience)
    fields = {"tags": [word]} if s.rng.random() < 0.7 else {"pinned": s.rng.random() < 0.3}
    await upon(
        s,
        id,
        s.book(party).memories.amend(party, id, fields, **who(view)),
        party,
        view,
        "amend",
        asked=[id],
    )


async def update(s: Session) -> None:
    """Correct a memory by its id: the newer one has its readers and its key."""
    party, view = s.someone()
    view = View() if view.whole else view
    id = s.pick(party, view, "memory")
    known = s.oracle.records[id]
    text = f"the garden had {s.word(party, known.audience)} this autumn"
    await upon(
        s, id, s.book(party).update(party, id, text, **as_agent(view)), party, view, "update", born=known.audience, asked=[id]
    )  # fmt: skip


async def share(s: Session) -> None:
    party, view = s.someone()
    id = s.pick(party, view, "memory")
    resting = [
        known.id
        for known in s.oracle.visible(party, view)
        if known.type == "memory" and known.grounds
    ]
    id = s.rng.choice(resting) if resting and s.rng.random() < 0.3 else id
    audience = s.audience(view)
    grounds = [s.oracle.records[g] for g in s.oracle.records[id].grounds if g in s.oracle.records]
    done = await upon(
        s, id, s.book(party).memories.share(party, id, audience, **who(view)), party, view, "share", moved=audience,
        # What rests on it alone loses the same readers.
        asked=s.oracle.citing(party, id),
    )  # fmt: skip
    if done is None or not done.items:
        return
    if not all(s.oracle.within(audience, ground.audience, view) for ground in grounds):
        raise Leak(f"{id} was shared more widely than what it rests on may be read")
    if not may_read(audience, view):
        raise Leak(f"{id} was given away by {party.parts} as {view} to {audience}")


async def confirm(s: Session) -> None:
    party, view = s.someone()
    id, source = s.pick(party, view, "memory", strange=0.25), s.pick(party, view)
    seen = s.oracle.sees(party, view, id) and s.oracle.sees(party, view, source)
    known, ground = s.oracle.records[id], s.oracle.records[source]
    already = source in known.sources and s.oracle.sees(party, view, id)
    answer = await s.told(
        s.book(party).memories.confirm(party, id, sources=[source], **who(view)),
        party,
        view,
        "confirm",
    )
    if isinstance(answer, MemorandaError):
        if (seen or already) and isinstance(answer, NotFound):
            raise Leak(f"confirm of {id} by {source}: {answer}")
    elif not seen and not already:
        raise Leak(f"confirm of {id} by {source} for {party.parts} as {view} went through")
    else:
        if (
            answer.items
            and not already
            and not s.oracle.within(known.audience, ground.audience, view)
        ):
            raise Leak(f"{id} rests on a source that not all its readers may read")
        s.absorb(answer, party, view, asked=[id])


async def supersede(s: Session) -> None:
    party, view = s.someone()
    loser, winner = s.pick(party, view, "memory"), s.pick(party, view, "memory", strange=0.25)
    seen = s.oracle.sees(party, view, loser) and s.oracle.sees(party, view, winner)
    answer = await s.told(
        s.book(party).memories.supersede(party, loser, winner, **who(view)),
        party,
        view,
        "supersede",
    )
    if isinstance(answer, MemorandaError):
        raise Leak(f"supersede by {party.parts} as {view}: {answer}")
    # Of a winner that it sees, and that is no longer held, a view is told so first.
    codes = {"unknown", "self"} | (
        {"retracted", "cycle"} if s.oracle.sees(party, view, winner) else set()
    )
    if not seen and (answer.items or not codes.issuperset(part.code for part in answer.ignored)):
        raise Leak(f"supersede by {party.parts} as {view} of what it does not see: {answer}")
    s.absorb(answer, party, view, asked=[loser, winner])


WRITES = {remember: 10, update: 2, remember_for_another: 0.5, retract: 2, amend: 4, share: 2.5, confirm: 2.5, supersede: 2.5}  # fmt: skip
