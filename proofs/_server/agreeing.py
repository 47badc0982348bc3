"""The same random work on any engine and in memory, for owners with almost the same names."""

from __future__ import annotations

import random
from collections.abc import Awaitable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.model import changes as c
from memoranda.model.book_rows import EntryPiece, PieceKind
from memoranda.model.items import Item, PutItem, expiry_of
from memoranda.model.language_models import ALL_SPENT, Spent, SpentFilter
from memoranda.model.ledger import Actor, Target
from memoranda.model.passages import Use
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Audience, Owner, OwnerKind, RecordType, View
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    BEN,
    FOR_A,
    FOR_B,
    ROOMY,
    START,
    a_memory,
    a_message,
    a_thread,
    exported,
)
from tests.engines.dice import Dice
from tests.engines.pair import Pair
from tests.engines.random_runs import OWNERS
from tests.engines.random_work import VIEWS
from tests.engines.shapes import erasure
from tests.engines.test_engines_agree import STEPS, Working, apply, scanned, upkeep_aside

Steps = list[tuple[str, int]]

#: Whoever is taken for one of these owners by a part of their name alone.
NAMESAKES = (
    Owner(tenant="other", id=ANN.id),
    Owner(kind=OwnerKind.AGENT, id=ANN.id),
    Owner(kind=OwnerKind.GROUP, id=BEN.id),
    Owner(id="anna"),
    Owner(tenant="other", id="annabel"),
    Owner(kind=OwnerKind.GROUP, id="annabel"),
)
#: Whoever is erased in the end, and nobody else with them.
ENDING = Owner(id="annabel")
#: Whoever has one of each that a limit counts, and may have no more.
FULL = Owner(id="full")
_FEWEST, _MOST = 20, 60
_MEMORIES, _MESSAGES = frozenset({RecordType.MEMORY}), frozenset({RecordType.MESSAGE})


def program(rng: random.Random) -> Steps:
    """Return some steps, each with the seed that decides its details."""
    return [(rng.choice(STEPS), rng.getrandbits(32)) for _ in range(rng.randint(_FEWEST, _MOST))]


async def carry_out(
    steps: Steps, opening: Awaitable[Engine], reference: type[InMemoryEngine] = InMemoryEngine
) -> None:
    """Do the same on an engine and in memory, and compare after each step; raise if they differ."""
    engine = await opening
    try:
        await _compared(steps, Pair((reference(), engine)))
    finally:
        await engine.close()


async def _compared(steps: Steps, pair: Pair) -> None:
    working = Working(pair)
    await working.begin()
    await among_namesakes(pair, working)
    for step, seed in steps:
        await working.take(step, Dice(seed))
    await working.compare_all()
    await _trespass(pair, working)
    ending = Target(ENDING, WHOLE, Actor("owner", ENDING.id), everything=True)
    await pair.same(partial(erase, ending))
    await _compare_namesakes(pair)


async def among_namesakes(pair: Pair, working: Working) -> None:
    """Open books of owners, some of whom have almost the same names."""
    for owner in NAMESAKES:
        await pair.same(partial(apply, working._world.first(owner)))
    for groups in (["g2"], ["g1", "g3"]):
        # Whoever is in one group of the owner's is not in another.
        memory = a_memory(
            BEN, f"for {groups[-1]} alone", START, id=working._world.fresh(), pinned=True
        )
        await _write(pair, BEN, c.Remember(memory, b"", Audience.of_groups(groups)))
        thread = a_thread(
            BEN, START, id=working._world.fresh(), audience=Audience.of_groups(groups)
        )
        said = a_message(BEN, thread.id, "tea", START, id=working._world.fresh())
        await _write(pair, BEN, c.OpenThread(thread), c.Append(thread.id, (said,), (b"",)))
    for audience in (FOR_A, FOR_B):
        # What moves to one agent's shelf is not on another's.
        moved = a_memory(BEN, f"for {audience.agent}", START, id=working._world.fresh())
        await _write(pair, BEN, c.Remember(moved, b""))
        await _write(pair, BEN, c.ChangeAudience(moved.id, audience))
    await _at_limits(pair, working)
    # It was removed by age; nobody else may forget it again.
    await _write(pair, BEN, c.MarkFormed(thread.id, 1, None))
    await pair.same(partial(erase, Target(BEN, WHOLE, Actor(), (said.id,), ageing=True)))
    await pair.same(partial(erase, Target(ANN, WHOLE, Actor("owner", ANN.id), (said.id,))))
    for owner in (*OWNERS, *NAMESAKES):
        uses = dict.fromkeys(working._world.ids_of(owner), Use(strength=0.5, count=3))
        await pair.same(partial(_use, owner, WHOLE, uses))
    await pair.same(
        partial(apply, replace(working._world.first(ENDING), operation="one", request=b"x"))
    )
    for place, owner in enumerate((ENDING, *OWNERS, *NAMESAKES)):
        agent, price = ("a", None)[place % 2], Decimal(place + 1).scaleb(-9)
        spent = Spent(
            tenant=owner.tenant, owner=owner, agent=agent, day=date(2025, 3, 1), task="form", model="p:m", price=price
        )  # fmt: skip
        await pair.same(partial(_note, spent))


async def _at_limits(pair: Pair, working: Working) -> None:
    """Fill an owner to limits that would give way, or would be reached, if another's records counted."""

    def memory(owner: Owner, text: str, **fields: Any) -> c.Remember:
        return c.Remember(a_memory(owner, text, START, id=working._world.fresh(), **fields), b"")

    def item(owner: Owner, name: str, ttl: float | None = None) -> PutItem:
        made = Item(
            id=working._world.fresh(),
            owner=owner,
            namespace=("a",),
            name=name,
            value="tea",
            created_at=START,
            updated_at=START,
            ttl=ttl,
            expires_at=expiry_of(ttl, START),
        )
        return PutItem(made, b"", None)

    later = START + timedelta(minutes=1)
    put_away = memory(ANN, "put away")
    brief: list[c.Change] = [
        memory(ANN, "for a moment", expires_at=START + timedelta(seconds=1)),
        item(ANN, "x", 1.0),
    ]
    await _write(pair, ANN, put_away, *brief)
    await _write(pair, ANN, c.Archive(put_away.memory.id, 1, "so"))
    one_each = ROOMY.model_copy(
        update={
            "memories_per_owner": 1,
            "items_per_owner": 1,
            "archived_per_owner": 1,
            "at_capacity": "reject",
        }
    )
    for owner in (Owner(tenant="other", id=FULL.id), Owner(kind=OwnerKind.GROUP, id=FULL.id)):
        put_away, by_agent = memory(owner, "put away"), memory(owner, "own", agent="a")
        passed = memory(owner, "for a moment", expires_at=START + timedelta(seconds=1))
        await _write(pair, owner, put_away, by_agent, passed, item(owner, "z", 1.0))
        await _write(pair, owner, c.Archive(put_away.memory.id, 1, "so"))
    own = memory(FULL, "own")
    first = (own, item(FULL, "x"))
    one_of_an_agent = ROOMY.model_copy(update={"memories_per_agent": 1, "at_capacity": "reject"})
    by_agent = memory(FULL, "by an agent", agent="a")
    for changes, limits in (
        (first, one_each),
        ((memory(FULL, "one more"),), one_each),
        ((item(FULL, "y"),), one_each),
        ((by_agent,), one_of_an_agent),
        ((c.Archive(own.memory.id, 1, "so"),), one_each),
    ):
        batch = c.Batch(FULL, WHOLE, Actor(), later, changes, limits)
        await pair.same(partial(apply, batch))
    # From here on each new memory of the agent puts the one before it away.
    for text, actor, how in (
        ("second", Actor(), "evict_oldest"),
        ("third", Actor("system"), "evict_weakest"),
    ):
        limits = one_of_an_agent.model_copy(update={"at_capacity": how})
        one_more = (memory(FULL, text, agent="a"),)
        batch = c.Batch(FULL, View(agent="a"), actor, later, one_more, limits)
        await pair.same(partial(apply, batch))


async def _use(owner: Owner, view: View, uses: dict[UUID, Use], number: int, engine: Engine) -> int:
    return await engine.note_use(owner, view, uses)


async def erase(target: Target, number: int, engine: Engine) -> Any:
    """Erase, and return the part of the receipt that both engines share."""
    return erasure(await engine.erase(target, START))


async def _trespass(pair: Pair, working: Working) -> None:
    """Append to every thread as another owner; both engines must refuse alike."""
    for owner in (*OWNERS, *NAMESAKES):
        for thread in await _threads(pair.engines[0], owner):
            other = BEN if owner == ANN else ANN
            said = a_message(other, thread, "here?", START, id=working._world.fresh())
            await _write(pair, other, c.Append(thread, (said,), (b"",)))


async def _write(pair: Pair, owner: Owner, *changes: c.Change) -> None:
    await pair.same(partial(apply, c.Batch(owner, WHOLE, Actor(), START, changes, ROOMY)))


async def _threads(engine: Engine, owner: Owner) -> list[UUID]:
    return [
        record.id
        for record in await scanned(engine, owner, WHOLE)
        if record.type is RecordType.THREAD
    ]


async def _note(spent: Spent, number: int, engine: Engine) -> None:
    await engine.note_spent(spent)


async def _compare_namesakes(pair: Pair) -> None:
    for owner in (*NAMESAKES, *OWNERS):
        for view in VIEWS:
            await pair.same(partial(seen, owner, view))
            await pair.same(partial(_used, owner, view))
            await pair.same(partial(_left, owner, view))
        await pair.same(partial(_dumped, owner))
    await pair.same(_book)
    await pair.same(_jobs)
    for tenant in ("default", "other"):
        for only in (ALL_SPENT, *(SpentFilter(owner=owner) for owner in (*OWNERS, *NAMESAKES))):
            await pair.same(partial(_spent, tenant, only))


async def seen(owner: Owner, view: Any, number: int, engine: Engine) -> Any:
    """Return what a view sees of an owner's data."""
    found = await scanned(engine, owner, view)
    ids = [record.id for record in await scanned(engine, owner, WHOLE)]
    for order in (False, True):
        asked = [Filter(types=_MEMORIES, pinned=True, newest_first=order)]
        for thread in await _threads(engine, owner):
            asked += [
                Filter(thread=thread, types=types, newest_first=order)
                for types in (None, _MESSAGES)
            ]
        found += tuple(
            [(await engine.scan(owner, view, each, None, 999)).records for each in asked]
        )
    lists = (
        await engine.newest(owner, view, Filter(), 999),
        await engine.kinds(owner, view, Filter()),
    )
    return found, lists, await engine.get(owner, view, ids), await engine.uses(owner, view, ids)


async def _used(owner: Owner, view: View, number: int, engine: Engine) -> Any:
    """Return the most used records, and the use that this view may report."""
    uses = {record.id: Use(count=1) for record in await scanned(engine, owner, WHOLE)}
    most = await engine.most_used(owner, view, Filter(), 999)
    return sorted(most), await engine.note_use(owner, view, uses)


async def _left(owner: Owner, view: View, number: int, engine: Engine) -> Any:
    """Return the ids of records that left each shelf, as this view reads them; what left twice may
    be there twice.
    """
    deltas = await engine.since(owner, view, lambda shelf: 0)
    return sorted(
        (repr(shelf.audience), sorted(set(delta.gone))) for shelf, delta in deltas if delta.gone
    )


async def _dumped(owner: Owner, number: int, engine: Engine) -> int:
    return len(await exported(engine, owner, private=True))


async def _jobs(number: int, engine: Engine) -> Any:
    return await upkeep_aside(engine)


async def _book(number: int, engine: Engine) -> list[int]:
    """Return how many operations each ended era has had."""
    frames = [await engine.frame(era) for era in await engine.eras(b"", 9999)]
    ended = [frame.era for frame in frames if frame is not None and frame.erased_at is not None]
    entries = [await engine.pieces(PieceKind.ENTRY, era, b"", 9999) for era in ended]
    return sorted(
        sum(isinstance(e, EntryPiece) and e.operation is not None for e in part) for part in entries
    )


async def _spent(tenant: str, only: SpentFilter, number: int, engine: Engine) -> Any:
    return await engine.spent(tenant, only), await engine.spent_in_all(tenant, only)
