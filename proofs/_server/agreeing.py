"""The same random work for a book on a server and for the one in memory, among owners who have almost the same names."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

from commonplace.engines.inmemory import InMemoryEngine
from commonplace.engines.postgres.engine import PostgresEngine
from commonplace.model import changes as c
from commonplace.model.ledger import Actor
from commonplace.model.owner import WHOLE, Audience, Owner, OwnerKind
from commonplace.model.spending import ALL_SPENT, Spent, SpentFilter
from commonplace.ports import Engine
from commonplace.testing.builders import ANN, BEN, ROOMY, START, a_memory
from tests.engines.dice import Dice
from tests.engines.pair import Pair
from tests.engines.random_runs import OWNERS
from tests.engines.random_work import VIEWS
from tests.engines.test_engines_agree import STEPS, Working, apply, scanned

Steps = list[tuple[str, int]]

#: Whoever is taken for one of these owners by a part of their name alone.
_NAMESAKES = (
    Owner(tenant="other", id=ANN.id),
    Owner(kind=OwnerKind.AGENT, id=ANN.id),
    Owner(kind=OwnerKind.GROUP, id=BEN.id),
    Owner(id="anna"),
)
_FEWEST, _MOST = 20, 60


def program(rng: random.Random) -> Steps:
    """Some steps, each with the seed that decides its details."""
    return [(rng.choice(STEPS), rng.getrandbits(32)) for _ in range(rng.randint(_FEWEST, _MOST))]


async def carry_out(steps: Steps, address: str) -> None:
    """Do the same on both engines and compare after each step; raises where they differ."""
    engine = await PostgresEngine.open(address)
    try:
        pair = Pair((InMemoryEngine(), engine))
        working = Working(pair)
        await working.begin()
        await _namesakes(pair, working)
        for step, seed in steps:
            await working.take(step, Dice(seed))
        await working.compare_all()
        await _compare_namesakes(pair)
    finally:
        await engine.close()


async def _namesakes(pair: Pair, working: Working) -> None:
    for owner in _NAMESAKES:
        await pair.same(partial(apply, working._world.first(owner)))
    for groups in (["g2"], ["g1", "g3"]):
        # Whoever is in one group of the owner's is not in another.
        memory = a_memory(BEN, f"for {groups[-1]} alone", START, id=working._world.fresh())
        change = c.Remember(memory, b"", Audience.of_groups(groups))
        await pair.same(partial(apply, c.Batch(BEN, WHOLE, Actor(), START, (change,), ROOMY)))
    for place, owner in enumerate((*OWNERS, *_NAMESAKES)):
        agent, price = ("a", None)[place % 2], Decimal(place + 1).scaleb(-9)
        spent = Spent(
            tenant=owner.tenant, owner=owner, agent=agent, day=date(2025, 3, 1), task="form", model="p:m", price=price
        )  # fmt: skip
        await pair.same(partial(_note, spent))


async def _note(spent: Spent, number: int, engine: Engine) -> None:
    await engine.note_spent(spent)


async def _compare_namesakes(pair: Pair) -> None:
    for owner in (*_NAMESAKES, *OWNERS):
        for view in VIEWS:
            await pair.same(partial(_seen, owner, view))
    for tenant in ("default", "other"):
        for only in (ALL_SPENT, *(SpentFilter(owner=owner) for owner in (*OWNERS, *_NAMESAKES))):
            await pair.same(partial(_spent, tenant, only))


async def _seen(owner: Owner, view: Any, number: int, engine: Engine) -> Any:
    found = await scanned(engine, owner, view)
    ids = [record.id for record in await scanned(engine, owner, WHOLE)]
    return found, await engine.get(owner, view, ids), await engine.uses(owner, view, ids)


async def _spent(tenant: str, only: SpentFilter, number: int, engine: Engine) -> Any:
    return await engine.spent(tenant, only), await engine.spent_in_all(tenant, only)
