"""Two engines that receive the same calls, answers and erasures report the same sums, in any
order.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.changes import Job, JobDraft
from memoranda.model.language_models import ALL_SPENT, Spent, SpentFilter, total
from memoranda.model.records import Owner, OwnerKind
from memoranda.ports import Engine
from memoranda_conformance.builders import Pen
from tests.engines.test_engines_agree import EXAMPLES

OWNERS = (Owner(id="ann"), Owner(kind=OwnerKind.AGENT, id="ann"), Owner(tenant="Default", id="ann"))
DAYS = (date(2025, 2, 28), date(2025, 3, 1), date(2025, 12, 31))
STEPS = st.one_of(
    st.tuples(st.sampled_from(["note", "keep"]), st.integers(0, 2), st.integers(0, 17), st.integers(0, 10**17)),
    st.tuples(st.sampled_from(["erase", "write", "lease"]), st.integers(0, 2), st.just(0), st.just(0)),
)  # fmt: skip
ASKED = (
    ALL_SPENT,
    *(SpentFilter(owner=owner) for owner in OWNERS),
    SpentFilter(agent="a"),
    SpentFilter(owner=OWNERS[0], since=DAYS[1], until=DAYS[2]),
)


def spent(owner: Owner, which: int, steps: int) -> Spent:
    agent, task, day = ("a", None)[which % 2], ("form", "again", "x")[which % 3], DAYS[which % 3]
    price = Decimal(steps).scaleb(-12)
    return Spent(
        tenant=owner.tenant, owner=owner, agent=agent, day=day, task=task, model="p:m", calls=which, answers=1, price=price
    )  # fmt: skip


async def take(engine: Engine, jobs: dict[Owner, Job], step: tuple[str, int, int, int]) -> Any:
    kind, number, which, steps = step
    owner, pen = OWNERS[number], Pen(engine, OWNERS[number])
    match kind:
        case "note":
            await engine.note_spent(spent(owner, which, steps))
        case "keep" if owner in jobs:
            return await engine.keep(jobs[owner], {"n": which}, (), spent(owner, which, steps))
        case "erase":
            return (await pen.erase_all()).removed.get("names on spending", 0)
        case "write":
            await pen.write(pen.remembering("tea"), jobs=(JobDraft(f"form {number}", "thread"),))
        case "lease":
            job = await engine.lease([f"form {number}"], "one", pen.tick(10**6), 1)
            if job is not None:
                jobs[owner] = job
    return None


async def work(steps: list[tuple[str, int, int, int]], folder: Path) -> None:
    sqlite = await SqliteEngine.open(folder / "book.db", synchronous="OFF")
    engines: tuple[Engine, Engine] = (InMemoryEngine(), sqlite)
    leased: tuple[dict[Owner, Job], dict[Owner, Job]] = ({}, {})
    try:
        for step in steps:
            one, two = [
                await take(each, jobs, step) for each, jobs in zip(engines, leased, strict=True)
            ]
            assert one == two
            for tenant in ("default", "Default"):
                for only in ASKED:
                    one, two = [await each.spent(tenant, only) for each in engines]
                    assert one == two
                    assert [await each.spent_in_all(tenant, only) for each in engines] == [
                        total(one)
                    ] * 2
    finally:
        await sqlite.close()


@settings(max_examples=EXAMPLES, deadline=None, derandomize="HYPOTHESIS_EXAMPLES" not in os.environ)
@given(st.lists(STEPS, min_size=1, max_size=30))
def test_two_engines_told_of_the_same_spending_tell_the_same(
    steps: list[tuple[str, int, int, int]],
) -> None:
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    ) as folder:
        asyncio.run(work(steps, Path(folder)))
