"""Whatever another program does to the same owner between two commands of a write, that write is there whole or not at all."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from memoranda.engines.mongo.engine import MongoEngine
from memoranda.engines.mongo.server.session import Session
from memoranda.errors import MemorandaError
from memoranda.model.changes import JobDraft
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner
from memoranda_conformance.builders import Pen
from tests.engines.mongo_server import MongoPlace

#: With every change of storage or engines.
pytestmark = pytest.mark.again

#: Seconds that whoever comes between gets before the write goes on; most wait for it.
_BRIEFLY = 0.15


@pytest.fixture(autouse=True)
async def _nothing_hangs() -> AsyncIterator[None]:
    async with asyncio.timeout(240):
        yield


async def found(engine: MongoEngine, owner: Owner) -> set[str]:
    """Return the words that the batch under test wrote, as one read sees them."""
    page = await engine.scan(owner, WHOLE, Filter(), None, 1000)
    texts = [str(getattr(record, "content", "")) for record in page.records]
    return {text for text in texts if text.startswith("both")}


async def write(pen: Pen) -> None:
    await pen.remember("comes between", key="drink")


async def read(pen: Pen) -> None:
    assert isinstance(pen.engine, MongoEngine)
    seen = await found(pen.engine, pen.owner)
    assert seen in (set(), {"both one", "both two"})


async def erase(pen: Pen) -> None:
    await pen.erase_all()


async def lease(pen: Pen) -> None:
    job = await pen.engine.lease(["form"], "another", pen.now, 60)
    if job is not None:
        await pen.engine.finish(job)


BETWEEN: dict[str, Callable[[Pen], Coroutine[Any, Any, None]]] = {
    "write": write,
    "read": read,
    "erase": erase,
    "lease": lease,
}


@pytest.mark.parametrize("coming", BETWEEN)
async def test_a_write_is_whole_whatever_comes_between_its_commands(
    mongo: MongoPlace, monkeypatch: pytest.MonkeyPatch, coming: str
):
    address = mongo.new_book()
    engine, other = [await MongoEngine.open(address) for _ in range(2)]
    place, number = 0, 0
    begun: list[asyncio.Task[None]] = []

    def interrupted(call: Any) -> Any:
        async def wait(self: Session, *values: Any, **named: Any) -> Any:
            nonlocal number
            if self.writes and self.db is engine.server.db:
                number += 1
                if number == place:
                    task = asyncio.create_task(BETWEEN[coming](Pen(other, owner)))
                    begun.append(task)
                    await asyncio.wait([task], timeout=_BRIEFLY)
            return await call(self, *values, **named)

        return wait

    for name in ("find", "bulk", "lock"):
        monkeypatch.setattr(Session, name, interrupted(getattr(Session, name)))
    for at in itertools.count(1):
        owner = Owner(id=f"interrupted at {at}")
        pen = Pen(engine, owner)
        await pen.remember("likes tea", key="drink")
        place, number = at, 0
        changes = [pen.remembering("both one", key="drink"), pen.remembering("both two")]
        job = JobDraft("form", "one")
        try:
            await pen.write(*changes, operation=f"at {at}", request=b"x", jobs=(job,))
        except MemorandaError:
            # It was refused because of what came between, as a later one would be.
            assert coming == "erase"
        place = 0
        if not begun:
            break
        await begun.pop()
        there = await found(engine, owner)
        # What came between may have taken the key after it.
        assert there in (set(), {"both one", "both two"}, {"both two"} if coming == "write" else set())
        assert there or coming == "erase"
    assert at > 8
    assert (await engine.verify()).faults == ()
    for one in (engine, other):
        await one.close()
