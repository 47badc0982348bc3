"""Several processes on one book: they take turns, and none depends on another's staying alive."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from memoranda.engines.sqlite.file.writer import Turnstile
from memoranda.errors import Busy, VersionMismatch
from tests.engines.sqlite.companion import (
    Task,
    bring_forward,
    hold,
    make,
    run,
    write_for,
    write_times,
)
from tests.engines.sqlite.notes import V1, V2, bodies, open_notes, put

#: A clean process that has everything imported, and of which the others are forks.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["__main__", "tests.engines.sqlite.companion"])


@pytest.fixture(autouse=True)
def _paths_of_other_processes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


@contextmanager
def running(
    task: Task, place: Path, argument: object = None
) -> Iterator[tuple[BaseProcess, Connection]]:
    """A process that is ready, and the line to it."""
    line, other_end = processes.Pipe()
    process = processes.Process(target=run, args=(task, place, argument, other_end))
    process.start()
    other_end.close()
    try:
        assert line.recv() == "ready"
        yield process, line
    finally:
        process.kill()
        process.join()
        line.close()


def together(task: Task, place: Path, argument: object = None, *, times: int) -> list[Any]:
    """Start several processes at the same moment; return what each printed."""
    with ExitStack() as all_of_them:
        started = [all_of_them.enter_context(running(task, place, argument)) for _ in range(times)]
        for _, line in started:
            line.send("go")
        said = [line.recv() for _, line in started]
        for process, _ in started:
            process.join()
            assert process.exitcode == 0
    return said


async def made(place: Path) -> None:
    await (await open_notes(place)).close()


async def test_processes_get_equal_shares_of_the_writing(place: Path):
    await made(place)
    shares = await asyncio.to_thread(together, write_for, place, 1.5, times=8)
    assert min(shares) >= max(shares) / 2, shares


async def test_no_update_is_lost_between_processes(place: Path):
    await made(place)
    await asyncio.to_thread(together, write_times, place, 100, times=4)
    file = await open_notes(place)
    assert await file.read(bodies) == ["400"]
    await file.close()


async def test_a_process_killed_in_the_middle_of_a_write_blocks_nobody(place: Path):
    await made(place)
    with running(hold, place) as (holder, _):
        file = await open_notes(place)
        writing = asyncio.create_task(file.write(put("after the kill")))
        await asyncio.sleep(0)
        holder.kill()
        await writing
        assert await file.read(bodies) == ["after the kill"]
        await file.close()


async def test_a_process_that_hangs_makes_others_busy_and_not_hang(place: Path):
    await made(place)
    with running(hold, place) as (holder, _):
        file = await open_notes(place, busy_seconds=0.2)
        for _ in range(2):
            with pytest.raises(Busy, match="end the program that holds it"):
                await file.write(put("no"))
        holder.kill()
        holder.join()
        assert await file.write(put("yes")) == 1
        await file.close()


async def test_two_processes_bring_a_book_forward_once(place: Path):
    older = await open_notes(place, V1)
    await older.write(put("old"))
    said = await asyncio.to_thread(together, bring_forward, place, times=3)
    assert sorted(said) == [2, 3, 4]
    assert len(list(place.parent.glob("*.backup"))) == 1
    with pytest.raises(VersionMismatch):
        await older.write(put("from an older program"))
    await older.close()
    file = await open_notes(place, V2)
    assert await file.read(bodies) == ["old"] + ["in the new format"] * 3
    await file.close()


async def test_processes_that_make_the_same_book_at_once_all_write_to_it(place: Path):
    await asyncio.to_thread(together, make, place, times=4)
    file = await open_notes(place)
    assert await file.read(bodies) == ["from one of many"] * 4
    await file.close()


async def test_a_turn_that_did_not_come_in_time_is_passed_on(place: Path):
    holder, latecomer, third = Turnstile(place), Turnstile(place), Turnstile(place)
    assert holder.take(1)
    assert not await asyncio.to_thread(latecomer.take, 0.01)
    assert not await asyncio.to_thread(latecomer.take, 0.01)
    holder.release()
    assert await asyncio.to_thread(third.take, 30)
    third.release()
    assert await asyncio.to_thread(latecomer.take, 30)
    latecomer.release()
    assert holder.take(1)
    for turnstile in (holder, latecomer, third):
        turnstile.close()


async def test_where_locks_fail_processes_wait_as_sqlite_does(
    place: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("memoranda.engines.sqlite.file.writer.fcntl.flock", refuse)
    first, second = await open_notes(place), await open_notes(place)
    await asyncio.gather(*(file.write(put("one")) for file in (first, second) for _ in range(20)))
    assert len(await first.read(bodies)) == 40
    await first.close()
    await second.close()
