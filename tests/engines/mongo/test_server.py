"""What a book asks of its server and its address, and what many programs may do at once."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from pymongo import MongoClient
from pymongo.errors import WriteError

import memoranda
from memoranda.engines.mongo.engine import MongoEngine
from memoranda.engines.mongo.server import opening
from memoranda.engines.mongo.server.address import parse
from memoranda.engines.mongo.server.session import Session
from memoranda.engines.mongo.server.transactions import _Attempt
from memoranda.errors import (
    InvalidInput,
    LimitReached,
    NotABook,
    ReadOnly,
    StorageError,
    VersionMismatch,
)
from memoranda.model.changes import JobDraft, JobState
from memoranda.model.messages import Message
from memoranda.model.values import utc_now
from memoranda.model.vectors import EMBED
from memoranda_conformance.builders import ANN, BEN, SMALL, Pen
from memoranda_conformance.suites.background.formation import started_call
from tests.engines.mongo.listening import counted, listening
from tests.engines.mongo_server import MongoPlace
from tools.mongod import Mongod

#: With every change of storage or engines.
pytestmark = pytest.mark.again


@pytest.fixture(autouse=True)
async def _nothing_hangs() -> AsyncIterator[None]:
    async with asyncio.timeout(120):
        yield


@pytest.fixture
async def engine(mongo: MongoPlace) -> AsyncIterator[MongoEngine]:
    opened = await MongoEngine.open(mongo.new_book())
    yield opened
    await opened.close()


@pytest.fixture
def own(mongo: MongoPlace) -> Mongod:
    if mongo.own is None:
        pytest.skip("only on a server of the tests' own")
    return mongo.own


def client_of(place: MongoPlace) -> MongoClient[dict[str, Any]]:
    """Return a client of another program."""
    return MongoClient(place.url)


# ── addresses ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mongodb://host", "names no database"),
        ("mongodb+srv://ann:hush@cluster0.example.net/?retryWrites=true&w=majority&appName=Cluster0", "names no database"),
        ("mongodb://host/admin", "cannot be the name"),
        ("mongodb://host/book?w=1", "w=1 weakens"),
        ("mongodb://host/book?journal=false", "journal=false weakens"),
        ("mongodb://host/book?readPreference=secondary", "readPreference=secondary weakens"),
        ("mongodb://host/book?readConcernLevel=local", "sets readConcernLevel itself"),
        ("mongodb://host/book?retryWrites=false", "retryWrites=false weakens"),
        ("mongodb://ann:hu@sh@host/book", "%40"),
        ("mongodb://ann:hush/x@host/book", "%2F|cannot be the name"),
    ],
)  # fmt: skip
async def test_an_address_that_weakens_a_promise_or_names_no_database_is_refused(
    address: str, said: str
):
    with pytest.raises(InvalidInput, match=said) as refused:
        await memoranda.open(address)
    assert "hush" not in str(refused.value)


async def test_a_copied_line_of_a_cluster_names_its_place_once_a_database_is_added():
    line = "mongodb+srv://ann:hush@Cluster0.example.net/memory?retryWrites=true&w=majority&appName=Cluster0"
    assert parse(line).name == "mongodb+srv://cluster0.example.net/memory"


async def test_a_book_is_opened_by_its_address(mongo: MongoPlace):
    async with memoranda.open(mongo.new_book(), worker=False) as book:
        thread = await book.thread("ann")
        await thread.append("user", "I moved to Lisbon")
        (hit, *_) = await book.recall("ann", "where did she move?")
        assert "Lisbon" in str(hit)


_NOWHERE = """
import asyncio
from memoranda.engines.mongo.engine import MongoEngine
from memoranda.engines.mongo.server import opening
opening.PATIENCE = 0.3
asyncio.run(MongoEngine.open("mongodb://ann:hush@127.0.0.1:1/book"))
"""


async def test_a_server_that_is_not_there_is_told():
    # In a program of its own: the driver leaves the socket of a refused connection to the garbage
    # collector.
    told = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", _NOWHERE], capture_output=True, text=True
    )
    assert re.search(
        r"Busy: mongodb://127.0.0.1:1/book (cannot be reached|did not finish)", told.stderr
    )
    assert "hush" not in told.stderr.rpartition("Busy")[2]


# ── servers ───────────────────────────────────────────────────────────────────────────────────────


async def test_a_server_without_a_replica_set_is_refused_with_what_makes_it_one():
    with (
        Mongod(alone=True) as server,
        pytest.raises(StorageError, match=r"--replSet rs0(.|\n)*rs\.initiate"),
    ):
        await MongoEngine.open(f"mongodb://127.0.0.1:{server.port}/book")


async def test_an_older_server_is_refused_by_its_number(
    mongo: MongoPlace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(opening, "_OLDEST_WIRE", 1000)
    with pytest.raises(StorageError, match=r"is MongoDB \d+\.\d+\.\d+: Memoranda needs 6.0"):
        await MongoEngine.open(mongo.at("too_old"))


async def test_a_look_alike_that_stores_a_write_twice_is_refused_and_one_that_was_probed_is_not_probed_again(
    mongo: MongoPlace, monkeypatch: pytest.MonkeyPatch
):
    address = mongo.new_book()
    with counted() as first:
        await (await MongoEngine.open(address)).close()
    with counted() as second:
        await (await MongoEngine.open(address)).close()
    with counted() as third:
        await (await MongoEngine.open(address, read_only=True)).close()
    assert "abortTransaction" in first and "abortTransaction" not in [*second, *third]

    def twice(event: Any) -> None:
        if (
            event.command_name == "update"
            and "txnNumber" in event.command
            and "upsert" in event.command["updates"][0]
        ):
            (probe,) = event.command["updates"]
            with client_of(mongo) as other:
                other["never_a_book"].gates.update_one(probe["q"], probe["u"], upsert=True)

    with listening(twice), pytest.raises(StorageError, match="one write twice"):
        await MongoEngine.open(mongo.at("never_a_book"))
    with pytest.raises(NotABook):
        await MongoEngine.open(mongo.at("never_a_book"), create=False)


async def test_a_database_of_another_program_is_left_alone(mongo: MongoPlace):
    with client_of(mongo) as other:
        other["theirs"].jobs.insert_one({"their": "job"})
        with pytest.raises(NotABook, match=r"another program.*jobs"):
            await MongoEngine.open(mongo.at("theirs"))
        assert other["theirs"].list_collection_names() == ["jobs"]
        other.drop_database("theirs")


async def test_a_book_of_a_later_format_is_refused(mongo: MongoPlace):
    with client_of(mongo) as other:
        other["later"].book.insert_one({"_id": "book", "format": 99, "secret": b"x"})
        with pytest.raises(VersionMismatch, match="99"):
            await MongoEngine.open(mongo.at("later"))
        other.drop_database("later")


async def test_a_book_that_is_only_read_refuses_writes(mongo: MongoPlace):
    address = mongo.new_book()
    with pytest.raises(NotABook):
        await MongoEngine.open(mongo.at("none"), create=False)
    engine = await MongoEngine.open(address)
    await Pen(engine).remember("tea")
    await engine.close()
    engine = await MongoEngine.open(address, read_only=True)
    assert len(await Pen(engine).scan()) == 1
    with pytest.raises(ReadOnly):
        await Pen(engine).remember("coffee")
    await engine.close()


async def test_a_document_that_another_program_stores_by_mistake_is_refused(engine: MongoEngine):
    with pytest.raises(WriteError, match="validation"):
        await engine.server.db.records.insert_one({"user_id": "ann", "content": "likes tea"})


async def test_a_server_tells_of_itself_what_a_books_safety_hangs_on(
    engine: MongoEngine, own: Mongod
):
    facts = await engine.examine()
    assert (facts.set, facts.members, facts.arbiters) == ("rs0", 1, 0)
    assert facts.version.startswith("6.0") and facts.oplog_hours is not None


async def test_doctor_checks_a_book_on_mongodb(mongo: MongoPlace):
    address = mongo.new_book()
    await (await MongoEngine.open(address)).close()
    run = [sys.executable, "-m", "memoranda", "doctor", "--book", address]
    told = await asyncio.to_thread(subprocess.run, run, capture_output=True, text=True)
    assert "MongoDB" in told.stdout and "members" in told.stdout and "w: majority" in told.stdout, (
        told
    )


# ── many at once ──────────────────────────────────────────────────────────────────────────────────


async def test_many_may_make_the_same_book_at_once(mongo: MongoPlace):
    address = mongo.new_book()
    engines = await asyncio.gather(*(MongoEngine.open(address) for _ in range(6)))
    await asyncio.gather(*(Pen(engine).remember(str(n)) for n, engine in enumerate(engines)))
    assert len(await Pen(engines[0]).scan()) == 6
    for engine in engines:
        await engine.close()


async def test_one_operation_that_many_bring_is_applied_once(mongo: MongoPlace):
    address = mongo.new_book()
    engines = [await MongoEngine.open(address) for _ in range(4)]
    pens = [Pen(engine) for engine in engines]
    id = UUID(int=7)
    at_once = [
        pen.write(pen.remembering("tea", id=id), operation="one", request=b"x") for pen in pens * 4
    ]
    receipts = await asyncio.gather(*at_once)
    assert [receipt.repeated for receipt in receipts].count(False) == 1
    assert len(await pens[0].ledger()) == 1
    for engine in engines:
        await engine.close()


async def test_writers_of_different_owners_never_meet_and_one_owners_wait_in_line(
    engine: MongoEngine,
):
    pens = [Pen(engine, BEN.model_copy(update={"id": f"of {n}"})) for n in range(8)]
    for pen in pens:
        await pen.remember("here")
    # Programs that make their gates at the same time meet.
    engine.server._free += [await engine.server._make_gate() for _ in pens]
    with counted() as names:
        await asyncio.gather(*(pen.remember(f"{n}") for pen in pens for n in range(10)))
    assert names.count("commitTransaction") == 80 and "abortTransaction" not in names


async def test_a_write_that_is_alone_gets_its_turn_among_writers_who_never_stop(mongo: MongoPlace):
    address = mongo.new_book()
    engines = [await MongoEngine.open(address) for _ in range(3)]
    stop = asyncio.Event()

    async def write_on(engine: MongoEngine, n: int) -> int:
        pen, written = Pen(engine, BEN.model_copy(update={"id": f"of {n}"})), 0
        while not stop.is_set():
            await pen.remember("tea")
            written += 1
        return written

    writing = [asyncio.create_task(write_on(engines[n % 2], n)) for n in range(6)]
    pen = Pen(engines[2])
    for _ in range(5):
        memory = await pen.remember("forgets this")
        await pen.erase(memory)
    stop.set()
    written = await asyncio.gather(*writing)
    counts = await engines[2].counts()
    assert counts.records["memory"] == sum(written)
    for engine in engines:
        await engine.close()


async def test_a_write_that_began_before_another_was_alone_is_run_again_with_what_that_one_changed(
    engine: MongoEngine, monkeypatch: pytest.MonkeyPatch
):
    pen = Pen(engine)
    await pen.remember("has a gate now")
    reached, go_on = asyncio.Event(), asyncio.Event()
    passing = _Attempt._pass_gate

    async def late(self: Any, on: Session) -> None:
        if not go_on.is_set():
            reached.set()
            await go_on.wait()
        await passing(self, on)

    monkeypatch.setattr(_Attempt, "_pass_gate", late)
    writing = asyncio.create_task(pen.remember("tea"))
    await reached.wait()
    await engine.begin_set(SMALL)
    go_on.set()
    memory = await writing
    assert memory in [record.id for record in await engine.lacking(SMALL, 10)]


async def test_spending_that_many_programs_note_at_once_is_added_up(mongo: MongoPlace):
    address = mongo.new_book()
    engines = [await MongoEngine.open(address) for _ in range(3)]
    spent = started_call(None, tokens_in=7)
    await asyncio.gather(*(engine.note_spent(spent) for engine in engines for _ in range(15)))
    (found,) = await engines[0].spent("default")
    assert (found.calls, found.tokens_in) == (45, 315)
    for engine in engines:
        await engine.close()


async def test_a_gate_that_vanished_is_made_again(engine: MongoEngine):
    pen = Pen(engine)
    await pen.remember("tea")
    await engine.server.db.gates.delete_many({})
    await pen.remember("coffee")
    assert len(await pen.scan()) == 2


async def test_gates_that_a_killed_program_closed_open_again(engine: MongoEngine):
    pen = Pen(engine)
    await pen.remember("tea")
    await engine.server.close_gates()
    soon: Any = [{"$set": {"closed": {"$add": ["$$NOW", 300]}}}]
    await engine.server.db.gates.update_many({}, soon)
    await pen.remember("coffee")
    assert len(await pen.scan()) == 2


async def test_a_long_write_that_thinks_between_its_commands_is_not_taken_for_abandoned(
    mongo: MongoPlace,
):
    address = mongo.new_book()
    engine, other = [await MongoEngine.open(address) for _ in range(2)]
    await Pen(other).remember("has a gate now")
    reached, begun = asyncio.Event(), 0

    async def think(on: Session) -> None:
        nonlocal begun
        begun += 1
        reached.set()
        await on.lock("book", {"_id": "book"})
        # Longer than it takes until a writer that waits for it suspects it.
        await asyncio.sleep(8)
        await on.lock("book", {"_id": "book"})

    thinking = asyncio.create_task(engine.server.write(think, alone=True))
    await reached.wait()
    await Pen(other).remember("waits for it")
    await thinking
    assert begun == 1
    for one in (engine, other):
        await one.close()


async def test_a_write_that_is_given_up_leaves_nothing(engine: MongoEngine):
    reached = asyncio.Event()

    async def slow(on: Session) -> None:
        await on.lock("book", {"_id": "book"})
        reached.set()
        await asyncio.sleep(3600)

    task = asyncio.create_task(engine.server.write(slow))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await engine.server.write(lambda on: on.lock("book", {"_id": "book"}), patience=5)


_KILLED = """
import asyncio, os, signal, sys
from memoranda.engines.mongo.engine import MongoEngine
from memoranda.engines.mongo.server.transactions import _Attempt
from memoranda_conformance.builders import Pen

async def die(self, session):
    os.kill(os.getpid(), signal.SIGKILL)

_Attempt._commit = die

async def main():
    await Pen(await MongoEngine.open(sys.argv[1])).remember("coffee")

asyncio.run(main())
"""


async def test_a_program_that_is_killed_in_a_write_keeps_its_owner_from_nobody_for_long(
    mongo: MongoPlace,
):
    address = mongo.new_book()
    engine = await MongoEngine.open(address)
    pen = Pen(engine)
    await pen.remember("tea")
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", _KILLED, address])
    assert killed.returncode == -signal.SIGKILL
    async with asyncio.timeout(20):
        memory = await pen.remember("milk")
        await pen.erase(memory)
    assert [record.content for record in await pen.scan()] == ["tea"]
    await engine.close()


# ── jobs ──────────────────────────────────────────────────────────────────────────────────────────


async def test_an_owners_jobs_are_leased_one_at_a_time_by_workers_that_ask_at_once(
    engine: MongoEngine,
):
    now = utc_now()
    for owner in (ANN, BEN):
        drafts = tuple(JobDraft(kind="form", key=str(n)) for n in range(3))
        await Pen(engine, owner).write(jobs=drafts)
    leased = await asyncio.gather(
        *(engine.lease(["form"], f"worker {n}", now, 60) for n in range(8))
    )
    assert sorted(job.owner.id for job in leased if job is not None and job.owner) == ["ann", "ben"]


async def test_leases_are_counted_by_the_servers_clock(engine: MongoEngine):
    await Pen(engine).write(jobs=(JobDraft(kind="form", key="one"),))
    slow = utc_now() - timedelta(minutes=30)
    job = await engine.lease(["form"], "a worker whose clock is late", slow, 60)
    assert job is not None and job.leased_until is not None
    assert job.leased_until > utc_now()


async def test_who_leases_the_making_of_vectors_sees_all_that_relied_on_the_job(
    engine: MongoEngine,
):
    await engine.begin_set(SMALL)
    pen = Pen(engine)
    await pen.remember("tea")
    due = utc_now() + timedelta(hours=2)
    writing = [asyncio.create_task(Pen(engine, BEN).remember(str(n))) for n in range(5)]
    job = None
    while job is None:
        job = await engine.lease([EMBED], "worker", due, 60)
    lacking = {record.id for record in await engine.lacking(SMALL, 100)}
    ids = {await one for one in writing}
    waits = [left.kind for left in await engine.jobs(JobState.WAITING, 10)]
    assert ids <= lacking or (
        await engine.finish(job)
        and [left.kind for left in await engine.jobs(JobState.WAITING, 10)] == [EMBED]
    ), waits


async def test_a_worker_is_woken_when_another_program_makes_a_job_due(mongo: MongoPlace):
    address = mongo.new_book()
    worker, other = [await MongoEngine.open(address) for _ in range(2)]
    woken: asyncio.Queue[None] = asyncio.Queue()
    leave = worker.when_due(lambda: woken.put_nowait(None))
    async with asyncio.timeout(20):
        await woken.get()
        await Pen(other).write(jobs=(JobDraft(kind="form", key="one"),))
        await woken.get()
    leave()
    for engine in (worker, other):
        await engine.close()


async def test_what_is_larger_than_a_document_is_refused_as_a_limit_and_nothing_of_it_is_stored(
    mongo: MongoPlace,
):
    largest = 16_777_216
    limits = memoranda.Limits(message_length=largest, item_size=largest)
    async with memoranda.open(mongo.new_book(), embed=None, worker=False, limits=limits) as book:
        thread = await book.thread("ann")
        await thread.append("user", "x" * 15_000_000)
        with pytest.raises(LimitReached):
            await thread.append(
                [{"role": "user", "content": "small"}, {"role": "user", "content": "y" * largest}]
            )
        with pytest.raises(LimitReached):
            await thread.append("user", "y" * (largest + 1))
        await book.items.put("ann", ["shelf"], "large", "x" * 15_000_000)
        with pytest.raises(LimitReached):
            await book.items.put("ann", ["shelf"], "large", "y" * (largest - 10))
        (said,) = (await thread.messages()).records
        assert isinstance(said, Message) and len(said.content) == 15_000_000
        held = await book.items.get("ann", ["shelf"], "large")
        assert held is not None and held.version == 1
        await thread.append("user", "goes on")
        assert (await book.admin.verify(whole=True)).faults == ()
