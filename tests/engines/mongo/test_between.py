"""Whatever another program does to the same owner between two commands of a write, that write is
there whole or not at all.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from pymongo import UpdateOne

import memoranda
from memoranda.engines.mongo import engine as engines
from memoranda.engines.mongo.engine import MongoEngine
from memoranda.engines.mongo.server import transactions
from memoranda.engines.mongo.server.session import Session
from memoranda.engines.mongo.server.transactions import _Attempt
from memoranda.errors import MemorandaError
from memoranda.model.changes import JobDraft
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner
from memoranda.storage.writes import Reserve
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
        assert there in (
            set(),
            {"both one", "both two"},
            {"both two"} if coming == "write" else set(),
        )
        assert there or coming == "erase"
    assert at > 8
    assert (await engine.verify()).faults == ()
    for one in (engine, other):
        await one.close()


async def nothing(*_: Any, **__: Any) -> None:
    """Stand in for a command that a wrong build leaves out."""


@pytest.mark.parametrize(
    "left_out",
    [
        (),
        ("the other owner's document",),
        ("the gate",),
        ("the other owner's document", "the gate"),
    ],
)
async def test_who_cites_an_owner_who_is_erased_between_its_commands_is_refused_or_goes_too(
    mongo: MongoPlace, monkeypatch: pytest.MonkeyPatch, left_out: tuple[str, ...]
):
    """Either the cited owner's document or the gate is enough; a build with neither is noticed."""
    address = mongo.new_book()
    place, number, missed = 0, 0, 0
    begun: list[asyncio.Task[Any]] = []
    async with (
        memoranda.open(address, embed=None, worker=False) as book,
        memoranda.open(address, embed=None, worker=False) as other,
    ):
        mine: Any = book.engine

        def interrupted(call: Any) -> Any:
            async def wait(self: Session, *values: Any, **named: Any) -> Any:
                nonlocal number
                if self.writes and self.db is mine.server.db:
                    number += 1
                    if number == place:
                        begun.append(
                            asyncio.create_task(other.forget(owner, everything=True, as_owner=True))
                        )
                        await asyncio.wait(begun, timeout=_BRIEFLY)
                return await call(self, *values, **named)

            return wait

        if "the gate" in left_out:
            monkeypatch.setattr(_Attempt, "_pass_gate", nothing)
        if "the other owner's document" in left_out:
            monkeypatch.setitem(engines._WRITES, Reserve, nothing)
        for name in ("find", "bulk", "lock"):
            monkeypatch.setattr(Session, name, interrupted(getattr(Session, name)))
        for at in itertools.count(1):
            owner = f"taught at {at}"
            taught = await book.remember(owner, "likes tea")
            place, number = at, 0
            with suppress(MemorandaError):
                await book.experience.add(
                    "chef", "heuristics", f"line {at}", evidence={owner: [taught.id]}
                )
            place = 0
            if not begun:
                break
            await begun.pop()
            missed += any(
                part.owner.id == owner
                for line in await book.experience.list("chef")
                for part in line.evidence
            )
    assert at > 8
    assert bool(missed) == (len(left_out) == 2)


@pytest.mark.parametrize("last", ["read first, and written last", "never written"])
async def test_two_writers_of_an_owner_meet_at_its_document_and_a_build_that_does_not_write_it_is_noticed(
    mongo: MongoPlace, monkeypatch: pytest.MonkeyPatch, last: str
):
    address = mongo.new_book()
    writers = [await MongoEngine.open(address) for _ in range(4)]
    owner = Owner(id="ann")
    await Pen(writers[0], owner).remember("is here")

    async def first(self: Session, name: str, filter: Any) -> Any:
        return await self.first(name, filter)

    monkeypatch.setattr(Session, "lock", first)
    if last == "never written":
        monkeypatch.setattr(transactions, "PATIENCE", 2.0)
        monkeypatch.setattr(
            transactions,
            "_stored",
            lambda head: UpdateOne({"_id": head["_id"]}, {"$max": {"position": 0}}),
        )
    tasks = [
        Pen(one, owner).remember(f"{place} of {number}")
        for place in range(4)
        for number, one in enumerate(writers)
    ]
    told = await asyncio.gather(*tasks, return_exceptions=True)
    positions = [entry.position for entry in await writers[0].entries(owner, 0, 100)]
    stored = len(await writers[0].get(owner, WHOLE, [one for one in told if isinstance(one, UUID)]))
    is_whole = (
        stored == 16 and positions == list(range(1, 18)) and not (await writers[0].verify()).faults
    )
    # Its write at the end makes two of them meet as well, only later.
    assert is_whole == (last != "never written")
    for one in writers:
        await one.close()
