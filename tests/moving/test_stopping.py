"""A copy may be stopped at any call that it makes, or fail there: nothing is lost, and the same
command goes on with it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from memoranda.book.admin import book_copy
from memoranda.book.admin.book_copy import CopyRun, cancel
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.errors import Conflict, MemorandaError, Moved, OutcomeUnknown, StorageError
from memoranda.model.records import WHOLE
from memoranda.ports import Engine
from memoranda_conformance.builders import ANN, BEN, GUIDE, SMALL, Pen, vectors_of
from tests.moving.books import content


class Killed(BaseException):
    """The process of the copy is gone."""


class Met:
    """An engine of one run to which something happens before each call, or after it."""

    def __init__(
        self,
        engine: Engine,
        before: Callable[[str], Awaitable[None]],
        after: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._engine = engine
        self._before, self._after = before, after

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._engine, name)

        async def call(*given: Any, **named: Any) -> Any:
            await self._before(name)
            found = await there(*given, **named)
            if self._after is not None:
                await self._after(name)
            return found

        return call if callable(there) else there


class Life:
    """Ends before one of the calls of a run, by a kill or by an error; a process that was killed
    makes none any more.
    """

    def __init__(self, calls: int, error: Exception | None = None) -> None:
        self.left = calls
        self.error = error

    async def ends(self, name: str) -> None:
        self.left -= 1
        if self.left < 0:
            if self.error is None:
                raise Killed
            error, self.error, self.left = self.error, None, 10**6
            raise error


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_copy, "PAGE", 3)


async def a_book() -> InMemoryEngine:
    engine = InMemoryEngine()
    await engine.begin_set(SMALL)
    for owner in (ANN, BEN, GUIDE):
        pen = Pen(engine, owner)
        thread = await pen.open()
        said = await pen.say(thread, "tea", "cake")
        memory = await pen.remember("likes tea", key="drink", sources=said)
        await pen.remember("likes rum", key="drink")
        await engine.put_vectors(SMALL, vectors_of(SMALL, memory))
    await Pen(engine, BEN).erase_all()
    return engine


async def is_written(engine: Engine) -> bool:
    with suppress(Moved):
        await Pen(engine).remember("goes on")
        return True
    return False


async def finish(source: Engine, target: Engine, *, switch: bool) -> None:
    """Run the same copy again in peace, and hold the two against each other."""
    was_whole = (await target.whereabouts()).made_by is not None
    expected = await content(source)
    report = await CopyRun(source, target, switch=switch).run()
    assert report.switched == switch
    assert report.already == was_whole or switch
    assert await content(target) == expected
    here, there = await source.whereabouts(), await target.whereabouts()
    assert there.arrival is None
    assert (here.departure is not None and here.departure.whole) == switch
    assert await is_written(source) == (not switch)


@pytest.mark.parametrize("switch", [False, True])
async def test_a_copy_that_is_killed_before_any_call_is_finished_by_the_next_run(
    switch: bool,
) -> None:
    calls, marked = 0, 0
    while True:
        source, target = await a_book(), InMemoryEngine()
        life = Life(calls)
        try:
            await CopyRun(Met(source, life.ends), Met(target, life.ends), switch=switch).run()
            break
        except Killed:
            pass
        if await is_written(source):
            await Pen(source, ANN).erase_all()
        else:
            marked += 1
        await finish(source, target, switch=switch)
        calls += 1
    assert calls > 50
    assert marked > 40


@pytest.mark.parametrize("switch", [False, True])
async def test_a_copy_that_fails_at_any_call_leaves_the_source_to_be_written_or_has_moved(
    switch: bool,
) -> None:
    for calls in range(200):
        source, target = await a_book(), InMemoryEngine()
        life = Life(calls, OutcomeUnknown("lost") if calls % 2 else StorageError("refused"))
        with suppress(StorageError):
            await CopyRun(Met(source, life.ends), Met(target, life.ends), switch=switch).run()
        if life.error is not None:
            break
        found = (await source.whereabouts()).departure
        there = await target.whereabouts()
        if found is not None and not found.whole:
            # Only telling the source that the copy is complete can fail so; the next run, or a
            # person, releases it.
            assert there.made_by == found.copy
        elif found is None and await is_written(source):
            await Pen(source, BEN).remember("written since")
        if there.made_by is None or found is not None:
            await finish(source, target, switch=switch)
    else:
        raise AssertionError("the copy makes more calls than this")
    assert calls > 50


async def test_a_stopped_copy_is_cancelled_before_the_book_has_moved_and_not_afterwards() -> None:
    cancelled = moved = 0
    for calls in range(0, 200, 3):
        source, target = await a_book(), InMemoryEngine()
        life = Life(calls)
        with suppress(Killed):
            await CopyRun(Met(source, life.ends), Met(target, life.ends), switch=True).run()
            break
        try:
            await cancel(source, "memory")
        except Moved:
            assert not await is_written(source)
            moved += 1
        except MemorandaError:
            assert await is_written(source)
        else:
            cancelled += 1
            assert (await target.whereabouts()).arrival is not None or not await target.eras(b"", 1)
            assert await is_written(source)
            await finish(source, target, switch=True)
    assert cancelled > 10


@pytest.mark.parametrize("error", [asyncio.CancelledError(), OutcomeUnknown("lost"), SystemExit()])
async def test_a_mark_that_may_have_been_kept_is_removed(error: BaseException) -> None:
    source, target = await a_book(), InMemoryEngine()
    first = [True]

    async def fails(name: str) -> None:
        if name == "depart" and first.pop():
            first.append(False)
            raise error

    async def nothing(name: str) -> None:
        """Happens before each call."""

    with pytest.raises(type(error)):
        await CopyRun(Met(source, nothing, fails), target, switch=True).run()
    assert await is_written(source)
    assert (await CopyRun(source, target, switch=True).run()).switched


@pytest.mark.parametrize("name", ["lay", "facts", "book_frame"])
async def test_a_copy_whose_source_was_released_while_it_ran_does_not_end_as_a_book(
    name: str,
) -> None:
    for switch in (False, True):
        source, target = await a_book(), InMemoryEngine()
        released: list[str] = []

        async def release(
            met: str, source: Engine = source, released: list[str] = released
        ) -> None:
            if met == name and not released:
                released.append(met)
                await cancel(source, "memory")
                await Pen(source).remember("written since")

        with pytest.raises((Conflict, StorageError)):
            await CopyRun(Met(source, release), Met(target, release), switch=switch).run()
        assert released
        assert await is_written(source)
        assert (await target.whereabouts()).arrival is not None
        await finish(source, target, switch=switch)


class Entangled:
    """Runs to two places at once, each of which may fail or be killed, beside somebody who writes
    and somebody who cancels.
    """

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.source = InMemoryEngine()
        self.targets = [InMemoryEngine(), InMemoryEngine()]
        self.acknowledged: list[Any] = []
        self.ended = False

    async def run(self) -> None:
        failing = self.dice.choice((0.0, 0.01, 0.05))

        async def met(name: str) -> None:
            for _ in range(self.dice.randrange(4)):
                await asyncio.sleep(0)
            if self.dice.random() < failing * (
                10 if name in ("arrive", "depart", "end_arrival") else 1
            ):
                raise self.dice.choice((Killed(), StorageError("refused"), OutcomeUnknown("lost")))

        source, target = (
            Met(engine, met, met) for engine in (self.source, self.dice.choice(self.targets))
        )
        with suppress(MemorandaError, Killed):
            await CopyRun(source, target, switch=True).run()

    async def books(self) -> list[InMemoryEngine]:
        """Where the book can be written now."""
        secret = (await self.source.whereabouts()).secret
        found = []
        for engine in (self.source, *self.targets):
            place = await engine.whereabouts()
            if place.departure is None and place.arrival is None and place.secret == secret:
                found.append(engine)
        return found

    async def write(self) -> None:
        """Write wherever the book is, cancel now and then, and watch that the book is at one
        place.
        """
        while not self.ended:
            books = await self.books()
            assert len(books) <= 1
            if books and self.dice.random() < 0.1:
                with suppress(Moved):
                    self.acknowledged.append(await Pen(books[0]).remember("acknowledged"))
            if self.dice.random() < 0.002:
                with suppress(MemorandaError):
                    await cancel(self.source, "memory")
            await asyncio.sleep(0)


async def test_of_runs_at_once_none_splits_the_book_and_nothing_acknowledged_is_lost() -> None:
    switched = 0
    for seed in range(40):
        books = Entangled(seed)
        await Pen(books.source).remember("likes tea")
        writing = asyncio.create_task(books.write())
        for _ in range(2):
            await asyncio.gather(*(books.run() for _ in range(3)))
        books.ended = True
        await writing
        found = await books.books()
        assert len(found) <= 1
        switched += bool(found) and found[0] is not books.source
        for engine in found:
            there = await engine.get(ANN, WHOLE, books.acknowledged)
            assert set(there) == set(books.acknowledged)
    assert switched > 10
