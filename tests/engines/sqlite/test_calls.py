"""Calls that wait for a thread: none is lost, none is kept waiting."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from queue import Empty

import pytest

from memoranda import tasks
from memoranda.engines.sqlite.file import calls
from memoranda.engines.sqlite.file.calls import Call, Intake
from memoranda.errors import StorageError


async def test_waiting_for_next_to_no_time_ends() -> None:
    intake, gone, call = Intake(Path("book.db")), [], Call.of(lambda c: None)

    def wait() -> None:
        for _ in range(20_000):
            intake.put(call)
            assert intake.take(0) is call
            with pytest.raises(Empty):
                intake.take(1e-7)
        gone.append(True)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(60)
    assert gone


async def test_what_waits_is_taken_before_the_end_and_what_comes_later_is_refused() -> None:
    intake = Intake(Path("book.db"))
    first, late = Call.of(lambda c: None), Call.of(lambda c: None)
    intake.put(first)
    intake.end()
    intake.put(late)
    assert intake.take() is first
    assert intake.take() is None
    assert intake.take(0) is None
    with pytest.raises(StorageError, match="closed"):
        await asyncio.wait_for(late.answer, 5)


async def test_what_nobody_took_is_refused_when_it_is_shut() -> None:
    intake = Intake(Path("book.db"))
    waiting = Call.of(lambda c: None)
    intake.put(waiting)
    intake.shut()
    with pytest.raises(StorageError, match="closed"):
        await asyncio.wait_for(waiting.answer, 5)
    assert intake.take() is None


async def test_every_thread_that_waits_learns_of_the_end() -> None:
    intake, told = Intake(Path("book.db")), []
    threads = [
        threading.Thread(target=lambda: told.append(intake.take()), daemon=True) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    intake.end()
    for thread in threads:
        thread.join(10)
    assert told == [None, None, None]


async def test_the_next_call_is_that_of_the_oldest_request_and_a_request_is_not_old_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(tasks, "monotonic", lambda: now)
    monkeypatch.setattr(calls, "monotonic", lambda: now)
    intake = Intake(Path("book.db"))

    async def asked(begun: float, at: float) -> Call:
        nonlocal now
        now = begun
        tasks.begin_request()
        now = at
        intake.put(call := Call.of(lambda c: None))
        return call

    young = await asyncio.create_task(asked(100.2, 100.3))
    old = await asyncio.create_task(asked(100.0, 100.4))
    now = 100.5
    outside = [Call.of(lambda c: None) for _ in range(2)]
    for call in outside:
        intake.put(call)
    ancient = await asyncio.create_task(asked(50.0, 101.4))
    assert [intake.take(0) for _ in range(5)] == [old, young, ancient, *outside]
