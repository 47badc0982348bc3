"""What was erased is in no document of the database, and after a scrub in no file of the book."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from bson import CodecOptions, encode
from bson.binary import UuidRepresentation

import memoranda
from memoranda.engines.mongo import engine as engines
from memoranda.engines.mongo.engine import MongoEngine
from memoranda.engines.mongo.scrub import is_needed
from memoranda.engines.mongo.server.rewriting import begin
from memoranda.errors import Busy, NotAllowed
from memoranda.model.changes import JobDraft, Retract
from memoranda_conformance.builders import BEN, SMALL, Pen, vectors_of
from tests.engines.mongo_server import MongoPlace
from tools.mongod import Mongod

#: With every change of storage or engines.
pytestmark = pytest.mark.again

CANARY = "quetzalcoatlus"
_OPTIONS: CodecOptions[Any] = CodecOptions(uuid_representation=UuidRepresentation.STANDARD)


@pytest.fixture
async def engine(mongo: MongoPlace) -> AsyncIterator[MongoEngine]:
    opened = await MongoEngine.open(mongo.new_book())
    yield opened
    await opened.close()


async def everything(engine: MongoEngine) -> bytes:
    """Return all documents of a book's database."""
    found = b""
    for name in await engine.server.db.list_collection_names():
        async for doc in engine.server.db[name].find():
            found += encode(doc, codec_options=_OPTIONS)
    return found


async def write_about(pen: Pen) -> None:
    """Write the canary in every way into a book."""
    memory = await pen.remember(f"saw a {CANARY}", key="bird", tags=(CANARY,), agent=CANARY)
    thread = await pen.open()
    await pen.say(thread, f"a {CANARY}!")
    await pen.engine.put_vectors(SMALL, vectors_of(SMALL, memory))
    draft = JobDraft("form", "one", {"about": CANARY})
    await pen.write(Retract(memory), operation=CANARY, request=CANARY.encode(), jobs=(draft,))
    job = await pen.engine.lease(["form"], "one", pen.now, 60)
    assert job is not None and await pen.engine.keep(job, {"text": CANARY}, ())


async def test_nothing_that_names_or_tells_is_left_of_an_ended_era(engine: MongoEngine):
    owner = BEN.model_copy(update={"id": CANARY})
    pen = Pen(engine, owner)
    await engine.begin_set(SMALL)
    await write_about(pen)
    assert CANARY.encode() in await everything(engine)
    receipt = await pen.erase_all()
    assert receipt.state == "pending" and "free blocks" in receipt.pending_because
    assert CANARY.encode() not in await everything(engine)
    left = {
        name: await engine.server.db[name].count_documents({})
        for name in ("records", "versions", "gone", "jobs")
    }
    assert left == {"records": 0, "versions": 0, "gone": 0, "jobs": 1}, (
        "the job that makes vectors stays"
    )


async def test_after_a_scrub_the_files_of_the_book_hold_nothing_that_was_erased():
    at_once = ("--directoryperdb", "--setParameter", "minSnapshotHistoryWindowInSeconds=0")
    with Mongod(*at_once) as server:
        engine = await MongoEngine.open(server.at("book"))
        await engine.begin_set(SMALL)
        pen = Pen(engine)
        await write_about(pen)
        kept = await Pen(engine, BEN).remember("keeps this")
        admin: Any = engine.server.client.admin
        await admin.command("fsync")

        def held() -> int:
            found = 0
            for path in Path(server.folder, "data", "book").rglob("*.wt"):
                # The server drops files meanwhile.
                with contextlib.suppress(FileNotFoundError):
                    found += path.read_bytes().count(CANARY.encode())
            return found

        assert held()
        await pen.erase_all()
        assert "checkpoint" in (await engine.scrub()).pending_because
        # Files of dropped collections go with a checkpoint.
        async with asyncio.timeout(60):
            while held():
                await Pen(engine, BEN).remember("goes on")
                await admin.command("fsync")
        assert await Pen(engine, BEN).find(kept) is not None
        assert (await engine.verify()).faults == ()
        indexes = await engine.server.db.records.index_information()
        assert len(indexes) > 10
        await engine.server.db.book.update_one(
            {"_id": "book"}, [{"$set": {"scrubbed_at": {"$subtract": ["$$NOW", 3_600_000]}}}]
        )
        assert await is_needed(engine.server) == ""
        await engine.close()


async def test_writers_wait_while_the_collections_are_written_anew_and_lose_nothing(
    engine: MongoEngine,
):
    pens = [Pen(engine, BEN.model_copy(update={"id": f"of {n}"})) for n in range(4)]
    stop = asyncio.Event()
    told: asyncio.Queue[UUID] = asyncio.Queue()

    async def go_on(pen: Pen) -> None:
        while not stop.is_set():
            told.put_nowait(await pen.remember("tea"))

    writing = [asyncio.create_task(go_on(pen)) for pen in pens]
    stored = []
    for _ in range(3):
        stored += [await told.get() for _ in pens]
        assert "checkpoint" in (await engine.scrub()).pending_because
    stop.set()
    await asyncio.gather(*writing)
    stored += [told.get_nowait() for _ in range(told.qsize())]
    found = [record.id for pen in pens for record in await pen.scan()]
    assert sorted(found) == sorted(stored)


async def test_a_rewriting_that_was_killed_keeps_nobody_out_for_long(engine: MongoEngine):
    pen = Pen(engine)
    await pen.remember("tea")
    await engine.server.write(lambda on: begin(on, "killed"), alone=True)
    await engine.server.db.create_collection("records_anew_killed")
    with pytest.raises(Busy):
        await engine.server.write(lambda on: on.standing(), patience=0.3)
    past: Any = {"$subtract": ["$$NOW", 1000]}
    await engine.server.db.book.update_one({"_id": "book"}, [{"$set": {"rewriting.until": past}}])
    await pen.remember("coffee")
    assert "records_anew_killed" not in await engine.server.db.list_collection_names()


_KILLED = """
import asyncio, os, signal, sys
import memoranda
from memoranda.engines.mongo import engine as engines
from memoranda.storage.store import Store

engines.PART, engines._RESUMED_SECONDS = 20, 0.0
erase, done = Store.erase, []

async def killed_in_the_third(self, target, at):
    done.append(target)
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return await erase(self, target, at)

Store.erase = killed_in_the_third

async def main():
    async with memoranda.open(sys.argv[1], embed=None, worker=False) as book:
        await book.forget("ann", everything=True, as_owner=True)

asyncio.run(main())
"""


async def test_a_large_owner_goes_in_parts_and_another_program_goes_on_after_a_kill(
    mongo: MongoPlace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engines, "PART", 20)
    at = mongo.new_book()
    async with memoranda.open(at, embed=None, worker=False) as book:
        for owner in ("ann", "ben"):
            thread = await book.thread(owner)
            said = await thread.append(
                [{"role": "user", "content": f"{owner} {CANARY} {place}"} for place in range(90)]
            )
            await book.remember(
                owner, f"{owner} saw a {CANARY}", sources=[item.id for item in said.items[:50]]
            )
        killed = await asyncio.create_subprocess_exec(sys.executable, "-c", _KILLED, at)
        assert await killed.wait() == -9
        left = await book.records.count("ann", as_owner=True)
        assert 40 < left < 90
        await book.jobs.run()
        assert await book.records.count("ann", as_owner=True) == 0
        engine: Any = book.engine
        assert f"ann {CANARY}".encode() not in await everything(engine)
        # Who is not killed is told of all parts.
        receipt = await book.forget("ben", everything=True, as_owner=True)
        assert (receipt.removed["message"], len(receipt.ids)) == (90, 92)
        assert CANARY.encode() not in await everything(engine)
        assert await engine.jobs(None, 10) == []
        assert (await book.admin.verify(whole=True)).faults == ()


async def test_a_refused_erasure_of_everything_removes_no_part(
    mongo: MongoPlace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engines, "PART", 3)
    async with memoranda.open(mongo.new_book(), embed=None, worker=False) as book:
        facts = [{"content": f"fact {number}"} for number in range(10)]
        await book.memories.remember_all("ann", facts, agent="a", audience="global")
        for agent in (None, "a"):
            with pytest.raises(NotAllowed):
                await book.forget("ann", everything=True, agent=agent)
        assert await book.engine.jobs(None, 10) == []
        assert await book.records.count("ann", as_owner=True) == 10
