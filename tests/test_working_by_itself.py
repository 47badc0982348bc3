"""Tests that an open book does background jobs by itself unless ``worker=False``, and prints
nothing when its program ends.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import worker
from memoranda.book import Book
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.model.changes import Job, JobDraft, JobState
from memoranda.model.values import utc_now
from memoranda.worker import Worker
from tests.embedding.topics import Topics

pytestmark = pytest.mark.works_by_itself

SAID = "I live in Boston and I like jazz."


@pytest.fixture(autouse=True)
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_FORMING_IDLE_SECONDS", "0")


async def said(book: Book, owner: str = "ana") -> None:
    await (await book.thread(owner, agent="helper")).append("user", SAID)


async def forming_jobs(book: Book) -> list[Job]:
    return [job for job in await book.engine.jobs(None, 100) if job.kind == "form"]


async def until(found: Callable[[], Any], seconds: float = 30) -> Any:
    async with asyncio.timeout(seconds):
        while not (result := await found()):  # noqa: ASYNC110 - the book is what is waited for
            await asyncio.sleep(0.02)
    return result


async def test_what_is_said_is_formed_while_the_book_is_open(tmp_path: Path):
    async with memoranda.open(tmp_path / "book.db", models=None) as book:
        await said(book)
        found = await until(lambda: book.recall("ana", "jazz", types="memory", agent="helper"))
        assert "jazz" in found[0].record.content
        assert await book.jobs.who_forms() == "rules"


@pytest.mark.parametrize("wait", [0, 0.001, 0.003, 0.01, 0.03])
async def test_what_is_drained_is_done_whoever_in_this_program_began_it(
    tmp_path: Path, wait: float
):
    async with memoranda.open(tmp_path / "book.db", models=None, worker=True) as book:
        for place in range(6):
            thread = await book.thread("ana", agent="helper")
            await thread.append("user", f"I like jazz and tea number {place}.")
            await asyncio.sleep(wait)
            await book.form("ana", agent="helper")
            await book.jobs.run()
            assert await _jobs(book, 0)
            assert await book.recall("ana", f"tea number {place}", types="memory", agent="helper")


def test_so_it_is_without_an_event_loop(tmp_path: Path):
    with memoranda.open_sync(tmp_path / "book.db", models=None) as book:
        book.thread("ana", agent="helper").append("user", SAID)
        ended = time.monotonic() + 30
        while not book.recall("ana", "jazz", types="memory", agent="helper"):
            assert time.monotonic() < ended
            time.sleep(0.02)


async def test_it_does_the_jobs_of_its_own_tenant_only(tmp_path: Path):
    path = tmp_path / "book.db"
    async with memoranda.open(path, tenant="acme", models=None, worker=False) as theirs:
        await said(theirs)
    async with memoranda.open(path, models=None) as book:
        await said(book)
        await until(lambda: book.recall("ana", "jazz", types="memory", agent="helper"))
        await until(lambda: _jobs(book, 1))
        (left,) = await forming_jobs(book)
        assert left.owner is not None and left.owner.tenant == "acme"
    async with memoranda.open(path, models=None, worker=True) as book:
        await until(lambda: _jobs(book, 0))


async def _jobs(book: Book, count: int) -> bool:
    return len(await forming_jobs(book)) == count


@pytest.mark.parametrize("how", [{"worker": False}, {"read_only": True}])
async def test_a_book_that_is_told_not_to_leaves_what_is_due(tmp_path: Path, how: dict[str, Any]):
    path = tmp_path / "book.db"
    async with memoranda.open(path, models=None, worker=False) as book:
        await said(book)
    async with memoranda.open(path, models=None, **how) as book:
        await asyncio.sleep(0.3)
        (job,) = await forming_jobs(book)
        assert (job.state, job.attempts) == (JobState.WAITING, 0)


@pytest.mark.parametrize("words", [("list", "ana"), ("doctor",), ("remember", "ana", "Likes tea")])
async def test_no_command_of_the_command_line_works_beside_what_it_does(
    tmp_path: Path, words: tuple[str, ...]
):
    path = tmp_path / "book.db"
    async with memoranda.open(path, models=None, worker=False) as book:
        await said(book)
    run([sys.executable, "-m", "memoranda", *words, "--book", str(path)], codes=(0, 1))
    async with memoranda.open(path, models=None, worker=False) as book:
        (job,) = await forming_jobs(book)
        assert (job.state, job.attempts) == (JobState.WAITING, 0)


async def test_a_short_program_leaves_the_rest_to_the_next_opening_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("MEMORANDA_FORMING_IDLE_SECONDS", "30")
    path = tmp_path / "book.db"
    with caplog.at_level(logging.INFO, "memoranda.worker"):
        async with memoranda.open(path, models=None) as book:
            await said(book)
            await said(book)
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "2 threads wait to be formed; the next open book or memoranda worker forms them"
    ]
    later = utc_now().timestamp() + 60
    async with memoranda.open(
        path, models=None, clock=lambda: utc_now().fromtimestamp(later, tz=utc_now().tzinfo)
    ) as book:
        await until(lambda: book.recall("ana", "jazz", types="memory", agent="helper"))


async def test_closing_an_idle_book_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pausing, waited = asyncio.Event(), worker._waited

    async def endless(stop: asyncio.Event, woken: asyncio.Event | None, seconds: float) -> None:
        pausing.set()
        # The pause ends only where something wakes the worker.
        await waited(stop, woken, 3600)

    book = await memoranda.open(tmp_path / "book.db", models=None, worker=False)
    monkeypatch.setattr(worker, "_waited", endless)
    book.start_worker()
    working = book.own_work.task
    assert working is not None
    await pausing.wait()
    await book.close()
    # It ended by itself, so nobody waited for the end of its pause.
    assert working.done() and not working.cancelled()


async def test_an_idle_worker_looks_once_in_a_pause_however_much_it_may_do_at_once(
    monkeypatch: pytest.MonkeyPatch,
):
    done: list[str] = []

    class Counting(InMemoryEngine):
        async def lease(self, *given: Any) -> Job | None:
            done.append("look")
            return await super().lease(*given)

    async def pause(stop: asyncio.Event, woken: asyncio.Event | None, seconds: float) -> None:
        done.append("pause")
        await asyncio.sleep(0)
        if done.count("pause") == 5:
            stop.set()

    stop = asyncio.Event()
    monkeypatch.setattr(worker, "_waited", pause)
    async with asyncio.timeout(60):
        await Worker(Counting(), {"work": asyncio.sleep}, utc_now).run(stop, 0.2, 4)  # type: ignore[dict-item]
    assert done == ["look", "pause"] * 5


@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_book_that_is_gone_without_being_closed_works_no_more(tmp_path: Path):
    path = tmp_path / "book.db"
    book = await memoranda.open(path, models=None)
    working = book.own_work.task
    assert working is not None
    del book
    gc.collect()
    async with asyncio.timeout(10):
        await working


@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_book_with_an_embedder_that_is_gone_without_being_closed_leaves_no_task(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    before = asyncio.all_tasks()
    book = await memoranda.open(tmp_path / "book.db", models=None, embed=Topics())
    await book.remember("ana", "Drinks tea", agent="helper", wait_for="embedded")
    works = [book.own_work.task, book.embeddings.working]
    assert None not in works
    del book
    gc.collect()
    async with asyncio.timeout(10):
        await asyncio.gather(*works)  # type: ignore[arg-type]
        while asyncio.all_tasks() != before:  # noqa: ASYNC110 - tasks that are over leave at the loop's next turn
            await asyncio.sleep(0)
    assert caplog.messages == []


async def test_a_drain_with_a_limit_counts_what_the_books_own_worker_does_meanwhile():
    begun, go = asyncio.Event(), asyncio.Event()
    async with memoranda.open("memory://", models=None, worker=False) as book:

        async def put(*keys: str) -> None:
            for key in keys:
                await book.engine.put(JobDraft(kind="work", key=key), utc_now())

        async def held(_: Job) -> None:
            begun.set()
            await go.wait()
            await put("three", "four", "five")
            # It begins no other one.
            book.own_work.stopping.set()

        async def done(_: Job) -> None:
            pass

        class Beside(Worker):
            async def settled(self) -> bool:
                # From here on the drain waits for what this worker has begun.
                go.set()
                return await super().settled()

        await put("one", "two")
        book.own_work.worker = Worker(book.engine, {"work": done}, utc_now)
        book.own_work.start(Beside(book.engine, {"work": held}, utc_now))
        await begun.wait()
        assert await book.jobs.run(3) == 3
        assert len(await book.engine.jobs(None, 10)) == 2


def run(words: list[str], codes: tuple[int, ...] = (0,)) -> str:
    folder = str(Path(__file__).parent.parent)
    environment = {**os.environ, "MEMORANDA_EMBEDDING_USE": "none", "PYTHONPATH": folder}
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in codes, done.stderr
    assert codes != (0,) or done.stderr == ""
    return done.stdout


_BEFORE = """
import asyncio, gc, os, sys, time
import memoranda
path, wait = sys.argv[1], float(sys.argv[2])
async def begun(**given):
    book = await memoranda.open(path, models=None, **given)
    await (await book.thread("ana", agent="h")).append("user", "I live in Boston and I like jazz.")
    await asyncio.sleep(wait)
    return book
"""

ENDINGS = {
    "asyncio.run without close": "asyncio.run(begun())",
    "a loop that is closed early": """
loop = asyncio.new_event_loop()
book = loop.run_until_complete(begun())
loop.close()
del book
gc.collect()
""",
    "a loop that is closed early, with an embedder": """
from tests.embedding.topics import Topics
loop = asyncio.new_event_loop()
book = loop.run_until_complete(begun(embed=Topics()))
loop.close()
del book
gc.collect()
""",
    "exit from within": """
async def main():
    await begun()
    sys.exit(0)
asyncio.run(main())
""",
    "no close without an event loop": """
book = memoranda.open_sync(path, models=None)
book.thread("ana", agent="h").append("user", "I live in Boston and I like jazz.")
time.sleep(wait)
""",
    "a child that was forked": """
book = memoranda.open_sync(path, models=None)
book.thread("ana", agent="h").append("user", "I live in Boston and I like jazz.")
import warnings
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    time.sleep(wait)
    book.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
time.sleep(wait)
book.close()
""",
}


@pytest.mark.parametrize("wait", ["0", "1.1"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_ends_without_a_word_however_it_leaves_its_book(
    tmp_path: Path, ending: str, wait: str
):
    path = tmp_path / "book.db"
    program = tmp_path / "program.py"
    program.write_text(_BEFORE + ENDINGS[ending])
    run([sys.executable, str(program), str(path), wait])
    # Whether it was formed in time or waits, it is formed once; a job in hand is free when its
    # lease is over.
    later = utc_now() + timedelta(minutes=5)
    with memoranda.open_sync(path, models=None, worker=False, clock=lambda: later) as book:
        assert book.admin.verify().faults == ()
        book.jobs.run()
        assert book.run(forming_jobs(book.book)) == []
        memories = [
            record.passage_text()
            for record in book.records.list("ana", types="memory", agent="h").records
        ]
        assert len(memories) == 2 and {"Boston" in str(text) for text in memories} == {
            True,
            False,
        }, memories
