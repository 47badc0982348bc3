"""An open file: what is written is there, together or not at all, and what is read belongs
together.
"""

from __future__ import annotations

import asyncio
import random
import re
import sqlite3
import threading
from pathlib import Path

import pytest

from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.errors import InvalidInput, ReadOnly, Stale, StorageError
from tests.engines.sqlite.notes import bodies, open_notes, put


async def test_what_was_written_is_read_and_is_there_after_opening_again(
    notes: SqliteFile, place: Path
):
    assert await notes.write(put("one")) == 1
    assert await notes.read(bodies) == ["one"]
    await notes.close()
    again = await open_notes(place)
    assert await again.read(bodies) == ["one"]
    await again.close()


async def test_sixteen_writers_share_their_commits(notes: SqliteFile):
    async def write_many(writer: int) -> None:
        for number in range(50):
            await notes.write(put(f"{writer}-{number}"))

    await asyncio.gather(*(write_many(writer) for writer in range(16)))

    counters = notes.counters
    assert counters.writes == 800
    assert counters.commits <= 0.15 * counters.writes
    assert len(await notes.read(bodies)) == 800


async def test_a_write_that_fails_in_a_group_fails_alone(notes: SqliteFile):
    def refuse(connection: sqlite3.Connection) -> None:
        put("half done")(connection)
        raise Stale("moved on")

    works = [refuse if number == 7 else put(str(number)) for number in range(16)]
    answers = await asyncio.gather(*(notes.write(work) for work in works), return_exceptions=True)

    assert isinstance(answers[7], Stale)
    assert [type(answer) for answer in answers].count(int) == 15
    assert "half done" not in await notes.read(bodies)
    assert len(await notes.read(bodies)) == 15
    assert notes.counters.rolled_back == 1


async def test_a_write_that_fails_by_itself_leaves_nothing(notes: SqliteFile):
    def refuse(connection: sqlite3.Connection) -> None:
        put("half done")(connection)
        raise Stale("moved on")

    with pytest.raises(Stale, match="moved on"):
        await notes.write(refuse)
    assert await notes.write(put("after")) == 1
    assert await notes.read(bodies) == ["after"]
    assert notes.counters.rolled_back == 1


@pytest.mark.parametrize("others", [0, 3])
async def test_a_write_that_reads_damaged_text_is_taken_back_before_it_is_done_again(
    notes: SqliteFile, others: int
):
    runs: list[str] = []

    def meet(connection: sqlite3.Connection) -> None:
        runs.append("run")
        put("met")(connection)
        connection.execute("SELECT CAST(x'ff' AS TEXT)").fetchone()

    await asyncio.gather(notes.write(meet), *(notes.write(put("other")) for _ in range(others)))
    assert len(runs) == 2
    assert sorted(await notes.read(bodies)) == ["met"] + ["other"] * others


async def test_a_statement_that_fails_is_a_storage_error_with_its_cause(notes: SqliteFile):
    with pytest.raises(StorageError, match="no such table: nowhere") as caught:
        await notes.write(lambda c: c.execute("INSERT INTO nowhere VALUES (1)"))
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    with pytest.raises(StorageError, match="no such table: nowhere"):
        await notes.read(lambda c: c.execute("SELECT * FROM nowhere"))
    assert await notes.write(put("after")) == 1


@pytest.mark.parametrize("kind", ["write", "read"])
async def test_work_that_runs_out_of_an_iterator_does_not_hang_its_caller(
    notes: SqliteFile, kind: str
):
    with pytest.raises(RuntimeError, match="StopIteration"):
        await getattr(notes, kind)(lambda c: next(iter([])))


async def test_a_write_cancelled_before_it_started_is_not_done(notes: SqliteFile):
    entered, free = threading.Event(), threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        entered.set()
        free.wait()

    first = asyncio.create_task(notes.write(hold))
    await asyncio.to_thread(entered.wait)
    second = asyncio.create_task(notes.write(put("cancelled")))
    third = asyncio.create_task(notes.write(put("kept")))
    await asyncio.sleep(0)
    second.cancel()
    free.set()
    await asyncio.gather(first, third)

    assert second.cancelled()
    assert await notes.read(bodies) == ["kept"]


async def test_a_write_cancelled_while_it_runs_is_whole_and_leaves_no_transaction(
    notes: SqliteFile,
):
    entered, free = threading.Event(), threading.Event()

    def write_slowly(connection: sqlite3.Connection) -> None:
        put("first half")(connection)
        entered.set()
        free.wait()
        put("second half")(connection)

    task = asyncio.create_task(notes.write(write_slowly))
    await asyncio.to_thread(entered.wait)
    task.cancel()
    free.set()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await notes.write(put("next")) == 3
    assert await notes.read(bodies) == ["first half", "second half", "next"]


async def test_writers_from_several_event_loops_are_all_answered(notes: SqliteFile):
    def in_a_loop_of_its_own(name: str) -> None:
        async def write_some() -> None:
            await asyncio.gather(*(notes.write(put(f"{name}-{number}")) for number in range(25)))

        asyncio.run(write_some())

    await asyncio.gather(*(asyncio.to_thread(in_a_loop_of_its_own, name) for name in "abcd"))
    assert len(set(await notes.read(bodies))) == 100


async def test_a_read_sees_one_state_however_much_is_written_meanwhile(notes: SqliteFile):
    await notes.write(put("before"))
    looked, written = threading.Event(), threading.Event()

    def look_twice(connection: sqlite3.Connection) -> tuple[list[str], list[str]]:
        first = bodies(connection)
        looked.set()
        written.wait()
        return first, bodies(connection)

    reading = asyncio.create_task(notes.read(look_twice))
    await asyncio.to_thread(looked.wait)
    await notes.write(put("meanwhile"))
    written.set()

    assert await reading == (["before"], ["before"])
    assert await notes.read(bodies) == ["before", "meanwhile"]


async def test_a_reader_cannot_write(notes: SqliteFile):
    with pytest.raises(ReadOnly):
        await notes.read(put("smuggled"))
    assert await notes.read(bodies) == []


async def test_a_checkpoint_empties_the_log(notes: SqliteFile, place: Path):
    await notes.write(put("one"))
    log = place.with_name("notes.book-wal")
    assert log.stat().st_size > 0
    assert await notes.checkpoint() is True
    assert log.stat().st_size == 0


async def test_a_checkpoint_says_so_when_a_reader_holds_the_log(
    notes: SqliteFile, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memoranda.engines.sqlite.file.sqlite_file.CHECKPOINT_WAIT_SECONDS", 0.01)
    entered, free = threading.Event(), threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        bodies(connection)
        entered.set()
        free.wait()

    await notes.write(put("one"))
    reading = asyncio.create_task(notes.read(hold))
    await asyncio.to_thread(entered.wait)
    await notes.write(put("two"))
    assert await notes.checkpoint() is False
    free.set()
    await reading
    assert await notes.checkpoint() is True


async def test_rewriting_leaves_no_copy_of_what_was_deleted(notes: SqliteFile, place: Path):
    chance = random.Random(5)

    def churn(connection: sqlite3.Connection) -> None:
        for number in range(6000):
            put(f"canary-{number:06};" * chance.randint(1, 60))(connection)
            if number % 3:
                connection.execute(
                    "DELETE FROM notes WHERE id = ?", (chance.randint(1, number + 1),)
                )

    await notes.write(churn)
    await notes.write(lambda c: c.execute("DELETE FROM notes WHERE id % 3 = 0"))
    left = {body[:14].encode() for body in await notes.read(bodies)}
    await notes.rewrite()
    assert await notes.checkpoint() is True
    await notes.close()

    assert set(re.findall(rb"canary-\d{6};", place.read_bytes())) == left


async def test_closing_finishes_what_waits_and_may_be_repeated(notes: SqliteFile, place: Path):
    writing = [asyncio.create_task(notes.write(put(str(number)))) for number in range(20)]
    await asyncio.sleep(0)
    await asyncio.gather(notes.close(), notes.close())
    assert sorted(await asyncio.gather(*writing)) == list(range(1, 21))
    await notes.close()
    assert sorted(path.name for path in place.parent.glob("*-wal")) == []


async def test_a_closed_file_refuses_work_instead_of_keeping_it(notes: SqliteFile):
    await notes.close()
    with pytest.raises(StorageError, match="closed: open the book again"):
        await notes.write(put("late"))
    with pytest.raises(StorageError, match="closed: open the book again"):
        await notes.read(bodies)


async def test_a_file_opened_to_read_refuses_writes_and_sees_those_of_others(
    notes: SqliteFile, place: Path
):
    reader = await open_notes(place, read_only=True)
    await notes.write(put("from the writer"))
    assert await reader.read(bodies) == ["from the writer"]
    for refused in (reader.write(put("no")), reader.checkpoint(), reader.rewrite()):
        with pytest.raises(ReadOnly, match="open it without read_only"):
            await refused
    await reader.close()


async def test_a_misspelt_durability_is_refused(place: Path):
    with pytest.raises(InvalidInput) as caught:
        await open_notes(place, synchronous="FUL; DROP")
    assert caught.value.field == "synchronous"
    assert not place.exists()


async def test_the_connections_are_set_for_durability_and_erasure(notes: SqliteFile):
    def settings(*names: str):
        return lambda c: [c.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    common = settings(
        "journal_mode", "temp_store", "mmap_size", "cell_size_check", "trusted_schema"
    )
    assert await notes.write(common) == await notes.read(common) == ["wal", 2, 0, 1, 0]
    assert await notes.write(settings("synchronous", "secure_delete", "foreign_keys")) == [2, 1, 1]
    assert await notes.read(settings("query_only")) == [1]
