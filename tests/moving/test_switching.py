"""After the switch the copy is the book: nothing that was acknowledged is missing, and everything
goes on there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import InvalidInput, Moved, OperationReused, StorageError, worker
from memoranda.assembly import open_engine
from memoranda.book.admin.book_copy import CopyRun
from memoranda.book.admin.erasure_notes import NOTE, read_notes
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.model.book_rows import Departure, Piece
from memoranda.model.changes import Job, JobDraft
from memoranda.model.ledger import Target
from memoranda.model.values import utc_now
from memoranda_conformance.builders import ANN, START, Pen
from tests.moving.books import assert_same, make_book, said


async def move(source: str | Path, target: str | Path) -> memoranda.CopyReport:
    return await memoranda.copy(source, target, switch=True)


@pytest.fixture
async def place(tmp_path: Path) -> Path:
    """A book with a life behind it."""
    await make_book(tmp_path / "book.db")
    return tmp_path / "book.db"


async def test_the_copy_is_the_book_and_proves_itself(place: Path, tmp_path: Path) -> None:
    report = await move(place, tmp_path / "there.db")
    await assert_same(place, tmp_path / "there.db")
    assert (report.switched, report.already) == (True, False)
    async with memoranda.open(tmp_path / "there.db") as book:
        found = await book.admin.verify()
        assert (found.faults, found.records, found.versions) == (
            (),
            report.records,
            report.versions,
        )
        await book.remember("ann", "goes on there")


async def test_who_had_the_book_open_is_told_where_it_is_and_still_reads(
    place: Path, tmp_path: Path
) -> None:
    async with memoranda.open(place, worker=False) as book:
        told = await book.remember("ann", "before")
        await move(place, tmp_path / "there.db")
        for write in (
            lambda: book.remember("ann", "after"),
            lambda: book.forget("ann", told.id, as_owner=True),
            lambda: book.thread("ann", name="new"),
            lambda: book.memories.mark_used("ann", [told.id]),
        ):
            with pytest.raises(Moved, match=r"moved to .*there\.db") as refused:
                await write()
            assert refused.value.address == str(tmp_path / "there.db")
        assert (await book.records.get("ann", told.id)).id == told.id
        assert await book.recall("ann", "before")


async def test_a_worker_rests_while_the_book_moves_and_goes_on_if_it_is_taken_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker, "MOVED_SECONDS", 0.01)
    told = asyncio.Event()
    monkeypatch.setattr(worker._log, "warning", lambda *_: told.set())
    engine, stop, done = InMemoryEngine(), asyncio.Event(), asyncio.Event()

    async def work(job: Job) -> None:
        done.set()

    await engine.put(JobDraft("form", "x"), START)
    await engine.depart(Departure("there", whole=False), None)
    working = asyncio.create_task(worker.Worker(engine, {"form": work}, utc_now).run(stop))
    await told.wait()
    assert caplog.text == ""  # no error with its origin, again and again
    await engine.depart(None, Departure("there", whole=False))
    await done.wait()
    stop.set()
    await working


async def test_a_book_that_moved_opens_to_be_read(place: Path, tmp_path: Path) -> None:
    await move(place, tmp_path / "there.db")
    async with memoranda.open(place, worker=True) as book:
        assert await book.records.count("ann", types="memory", as_owner=True)
        with pytest.raises(Moved):
            await book.remember("ann", "after")


async def test_what_was_done_before_is_repeated_and_undone_there(
    place: Path, tmp_path: Path
) -> None:
    async with memoranda.open(place, worker=False) as book:
        first = await book.remember("ann", "likes rye", key="bread", operation="rye")
        second = await book.remember("ann", "likes spelt", key="bread", operation="spelt")
        history = await book.records.history("ann", first.id)
        why = await book.why("ann", second.id)
        thread = await book.thread("ann", name="bakery")
        appended = await thread.append("user", "two rolls", operation="rolls")
    await move(place, tmp_path / "there.db")
    async with memoranda.open(tmp_path / "there.db", worker=False) as book:
        assert await book.records.history("ann", first.id) == history
        assert await book.why("ann", second.id) == why
        again = await book.remember("ann", "likes spelt", key="bread", operation="spelt")
        assert (again.repeated, again.id, again.position) == (True, second.id, second.position)
        with pytest.raises(OperationReused):
            await book.remember("ann", "likes oats", operation="spelt")
        thread = await book.thread("ann", name="bakery")
        assert (await thread.append("user", "two rolls", operation="rolls")).id == appended.id
        last = await thread.append("user", "and a cake")
        assert (await book.records.get("ann", last.id)).seq == 2  # type: ignore[attr-defined]
        await book.undo("ann", second.position)
        assert (await book.records.get("ann", first.id)).active  # type: ignore[attr-defined]
        assert (await book.admin.verify()).faults == ()


async def test_what_was_forgotten_before_does_not_come_back_there(
    place: Path, tmp_path: Path
) -> None:
    async with memoranda.open(place, worker=False) as book:
        told = await book.remember("ann", "has a blue canary")
        lines = [line async for line in book.admin.export()]
        await book.forget("ann", told.id, as_owner=True)
    await move(place, tmp_path / "there.db")
    async with memoranda.open(tmp_path / "there.db", worker=False) as book:
        report = await book.admin.import_(lines)
        assert report.ignored["erased"] == 1


async def test_nothing_that_was_acknowledged_while_it_moved_is_missing(
    place: Path, tmp_path: Path
) -> None:
    acknowledged: list[Any] = []
    begun = asyncio.Event()

    async def write(number: int) -> None:
        async with memoranda.open(place, worker=False) as book:
            while True:
                try:
                    receipt = await book.remember(
                        f"owner {number % 2}", f"{number} says {len(acknowledged)}"
                    )
                except Moved:
                    return
                acknowledged.append((f"owner {number % 2}", receipt.id))
                if len(acknowledged) > 20:
                    begun.set()

    writers = [asyncio.create_task(write(number)) for number in range(3)]
    await begun.wait()
    await move(place, tmp_path / "there.db")
    await asyncio.gather(*writers)
    await assert_same(place, tmp_path / "there.db")
    async with memoranda.open(tmp_path / "there.db", worker=False) as book:
        for owner, id in acknowledged:
            assert (await book.records.get(owner, id)).id == id


async def test_a_move_that_is_asked_for_again_is_done_already(place: Path, tmp_path: Path) -> None:
    await move(place, tmp_path / "there.db")
    await said(tmp_path / "there.db", "goes on there")
    for switch in (True, False):
        report = await memoranda.copy(place, tmp_path / "there.db", switch=switch)
        assert (report.switched, report.already) == (True, True)
    with pytest.raises(Moved):
        await said(place, "still refused")


async def test_a_book_that_moved_is_copied_from_where_it_is(place: Path, tmp_path: Path) -> None:
    await move(place, tmp_path / "there.db")
    with pytest.raises(Moved, match=r"there\.db"):
        await move(place, tmp_path / "elsewhere.db")
    with pytest.raises(InvalidInput, match="this very book"):
        await move(tmp_path / "there.db", place)
    await move(tmp_path / "there.db", tmp_path / "elsewhere.db")
    await said(tmp_path / "elsewhere.db", "at last")


async def test_a_copy_that_differs_from_the_book_is_not_switched_to(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = await open_engine(tmp_path / "there.db", unfinished=True)
    lay = there.lay

    async def forgetful(copy: str, era: bytes, pieces: Sequence[Piece]) -> None:
        await lay(copy, era, pieces[1:])

    monkeypatch.setattr(there, "lay", forgetful)
    here = await open_engine(place)
    with pytest.raises(StorageError, match="differs from the book"):
        await CopyRun(here, there, switch=True).run()
    await Pen(here, ANN).remember("the book goes on")
    assert (await there.whereabouts()).arrival is not None
    for engine in (here, there):
        await engine.close()


async def test_an_empty_book_can_move(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db", worker=False):
        pass
    report = await move(tmp_path / "book.db", tmp_path / "there.db")
    assert (report.switched, report.owners) == (True, 0)
    await said(tmp_path / "there.db", "first")
    assert (await move(tmp_path / "book.db", tmp_path / "there.db")).already


async def test_a_file_that_is_another_by_now_is_not_made_the_book(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there.db"
    source, target = await open_engine(place), await open_engine(there, unfinished=True)
    eras = target.eras

    async def then_moved(after: bytes, limit: int) -> list[bytes]:
        if there.exists():
            there.rename(tmp_path / "aside.db")
        return await eras(after, limit)

    with monkeypatch.context() as patched:
        patched.setattr(target, "eras", then_moved)
        with pytest.raises(StorageError, match="moved, replaced or removed"):
            await CopyRun(source, target, switch=True).run()
    assert (await source.whereabouts()).departure is None
    (tmp_path / "aside.db").rename(there)
    assert (await CopyRun(source, target, switch=True).run()).switched
    for engine in (source, target):
        await engine.close()


async def test_an_erasure_that_waits_to_be_noted_beside_backups_is_noted_before_the_switch(
    place: Path, tmp_path: Path
) -> None:
    async with memoranda.open(place, worker=False) as book:
        told = await book.remember("ann", "has a blue canary")
        await book.admin.backup(tmp_path / "backup.db")
    engine = await open_engine(place)
    await Pen(engine, ANN).erase(told.id)
    assert NOTE in {job.kind for job in await engine.jobs(None, 10)}
    await engine.close()
    assert read_notes(tmp_path / "backup.db").erasures.records == ()
    await move(place, tmp_path / "there.db")
    assert told.id in read_notes(tmp_path / "backup.db").erasures.records


async def test_what_is_forgotten_as_the_book_begins_to_move_is_told_as_forgotten(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memoranda.open(place, worker=False) as book:
        told = await book.remember("ann", "has a blue canary")
        await book.admin.backup(tmp_path / "backup.db")
        departure = Departure(str(tmp_path / "there.db"), whole=False, copy="stopped")
        erase = book.engine.erase

        async def just_in_time(target: Target, at: datetime) -> Any:
            receipt = await erase(target, at)
            if target.dry_run:
                return receipt
            await book.engine.depart(departure, None)
            return receipt

        monkeypatch.setattr(book.engine, "erase", just_in_time)
        assert (await book.forget("ann", told.id, as_owner=True)).ids == (told.id,)
    await move(place, tmp_path / "there.db")
    assert told.id in read_notes(tmp_path / "backup.db").erasures.records
