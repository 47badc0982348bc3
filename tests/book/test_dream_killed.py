"""A process that is killed at any step of the nights of several owners: each night is whole, and
done once.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.book import Book
from tests.engines.conftest import mongo as mongo
from tests.engines.conftest import postgres as postgres

_START = datetime(2027, 1, 1, 12, tzinfo=UTC)
_LATER = _START + timedelta(days=100)
_OWNERS = ("ana", "ben")
#: What a worker asks the engine for while it does a night, and that changes the book.
_STEPS = ("lease", "apply", "put", "finish")


def _opened(place: Path | str, tenant: str, clock: Callable[[], datetime]) -> Any:
    return memoranda.open(place, tenant=tenant, clock=clock, embed=None, worker=False)


async def _prepared(place: Path | str, tenant: str) -> None:
    async with _opened(place, tenant, lambda: _START) as book:
        await book.agents.put("a", settings={"dream": {"enabled": True}})
        for owner in _OWNERS:
            for number in range(3):
                await book.remember(owner, f"Fact {number}", agent="a")


def _work(place: Path | str, tenant: str, killed_at: int) -> None:
    """Do what is due, and die before the step of this number, or after it if the number is odd."""

    async def work() -> None:
        async with _opened(place, tenant, lambda: _LATER) as book:
            done = 0

            def dying(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
                async def step(*args: Any, **given: Any) -> Any:
                    nonlocal done
                    for after in (False, True):
                        result = await call(*args, **given) if after else None
                        if done == killed_at:
                            os.kill(os.getpid(), signal.SIGKILL)
                        done += 1
                    return result

                return step

            for name in _STEPS:
                setattr(book.engine, name, dying(getattr(book.engine, name)))
            await book.worker.drain()

    asyncio.run(work())


async def _held(book: Book) -> dict[str, tuple[int, int]]:
    """Return how many memories of each owner are archived, and how many entries of nights the
    ledger has.
    """
    found = {}
    for owner in _OWNERS:
        entries = await book.records.ledger(owner, as_owner=True)
        archived = await book.records.count(owner, only={"statuses": ["archived"]}, as_owner=True)
        found[owner] = archived, sum("dream" in entry.note for entry in entries)
    return found


@pytest.fixture(params=["file", "postgres", "mongo"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """The address of a new book on each engine."""
    if request.param == "file":
        return tmp_path / "b.db"
    made: str = request.getfixturevalue(request.param).new_book()
    return made


def test_a_night_killed_at_any_step_is_whole_and_done_once(place: Path | str) -> None:
    fork = multiprocessing.get_context("fork")

    async def end(tenant: str) -> None:
        now = _LATER
        async with _opened(place, tenant, lambda: now) as book:
            assert set((await _held(book)).values()) <= {(0, 0), (3, 1)}
            now += timedelta(minutes=5)  # its leases have run out
            await book.worker.drain()
            assert await _held(book) == dict.fromkeys(_OWNERS, (3, 1))
            (one,) = await book.dreams.schedules()
            assert one.state == "PENDING" and one.next_at > now

    async def verify() -> None:
        async with _opened(place, "verified", lambda: _LATER) as book:
            found = await book.admin.verify(whole=True)
            assert found.faults == () and found.records > 0

    for killed_at in range(100):
        # A tenant of its own for each kill: to make a book takes longer than a night.
        tenant = f"killed at {killed_at}"
        asyncio.run(_prepared(place, tenant))
        process = fork.Process(target=_work, args=(place, tenant, killed_at))
        process.start()
        process.join()
        asyncio.run(end(tenant))
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
    assert killed_at > 12
    asyncio.run(verify())
