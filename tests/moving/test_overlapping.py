"""Several runs at once, to one place or to several: the book is at one place in the end, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from memoranda.book.elsewhere import give_up
from memoranda.book.moving import Moving
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.errors import Conflict, Moved, OutcomeUnknown, StorageError
from memoranda.model.moving import Departure
from memoranda.ports import Engine
from memoranda.testing.builders import Pen
from tests.moving.books import content

Step = Callable[[], Awaitable[Any]]


class Met:
    """An engine of one run to which something happens just before, or just after, the first call of a name."""

    def __init__(
        self, engine: Engine, name: str, *, before: Step | None = None, after: Step | None = None
    ) -> None:
        self._engine = engine
        self._name: str | None = name
        self._before, self._after = before, after

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._engine, name)

        async def call(*given: Any, **named: Any) -> Any:
            meant = name == self._name
            if meant:
                self._name = None
                if self._before is not None:
                    await self._before()
            found = await there(*given, **named)
            if meant and self._after is not None:
                await self._after()
            return found

        return call if callable(there) else there


def raising(error: BaseException) -> Step:
    async def step() -> None:
        raise error

    return step


async def a_book() -> InMemoryEngine:
    engine = InMemoryEngine()
    await Pen(engine).remember("likes tea")
    return engine


async def is_whole(engine: Engine) -> bool:
    found = await engine.whereabouts()
    return found.arrival is None and bool(await engine.eras(b"", 1))


async def is_written(engine: Engine) -> bool:
    with suppress(Moved):
        await Pen(engine).remember("goes on")
        return True
    return False


async def test_a_book_moves_to_one_of_two_places_and_not_to_both() -> None:
    source, one, two = await a_book(), InMemoryEngine(), InMemoryEngine()

    async def first() -> None:
        await Moving(source, one, switch=True).run()

    with pytest.raises((Conflict, Moved)):
        await Moving(Met(source, "depart", before=first), two, switch=True).run()
    assert (await is_whole(one), await is_whole(two), await is_written(source)) == (True, False, False)


async def test_a_move_that_fails_does_not_take_back_the_departure_of_another() -> None:
    source, one, two = await a_book(), InMemoryEngine(), InMemoryEngine()
    acknowledged: list[bool] = []

    async def fails() -> None:
        with pytest.raises((Conflict, StorageError)):
            await Moving(
                Met(source, "depart", after=other_departs),
                Met(one, "end_arrival", before=raising(StorageError("no room"))),
                switch=True,
            ).run()
        acknowledged.append(await is_written(source))

    departed, failed = asyncio.Event(), asyncio.Event()

    async def other_departs() -> None:
        departed.set()
        await asyncio.wait({asyncio.create_task(failed.wait()), other}, return_when=asyncio.FIRST_COMPLETED)

    async def other_run() -> None:
        await departed.wait()
        await Moving(source, Met(two, "end_arrival", before=other_goes_on), switch=True).run()

    async def other_goes_on() -> None:
        failed.set()
        await first

    other = asyncio.create_task(other_run())
    first = asyncio.create_task(fails())
    await asyncio.gather(first, other, return_exceptions=True)
    at = [await is_whole(two), await is_written(source)]
    assert at.count(True) == 1
    if at[0]:
        assert acknowledged == [False]
    assert not await is_whole(one)


async def test_a_run_that_does_not_switch_leaves_the_book_where_it_says_that_it_is() -> None:
    source, target = await a_book(), InMemoryEngine()

    async def without() -> None:
        assert not (await Moving(source, target).run()).switched
        assert await is_written(source)

    with pytest.raises(Conflict, match="another copy"):
        await Moving(Met(source, "depart", before=without), target, switch=True).run()
    assert await is_written(source)
    assert (await Moving(source, target, switch=True).run()).switched
    assert await content(source) == await content(target)


async def test_a_run_that_does_not_switch_takes_back_a_departure_that_came_while_it_copied() -> None:
    source, target = await a_book(), InMemoryEngine()

    async def departs() -> None:
        there = await target.whereabouts()
        assert there.arrival is not None
        gone = Departure("memory", whole=False, copy=there.arrival.copy, run="another, that was killed")
        await source.depart(gone, None)

    await Moving(Met(source, "facts", after=departs), target).run()
    assert await is_written(source)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), OutcomeUnknown("lost"), SystemExit()])
async def test_a_departure_that_may_have_been_kept_is_taken_back(error: BaseException) -> None:
    source, target = await a_book(), InMemoryEngine()
    with pytest.raises(type(error)):
        await Moving(Met(source, "depart", after=raising(error)), target, switch=True).run()
    assert await is_written(source)
    assert (await Moving(source, target, switch=True).run()).switched


async def test_a_target_that_is_lost_before_it_is_asked_to_be_the_book_leaves_the_source_the_book() -> None:
    source, target = await a_book(), InMemoryEngine()

    class Lost(Met):
        def __getattr__(self, name: str) -> Any:
            if (source._tables.marks) and name != "whereabouts":
                raise StorageError("the target is gone")
            return super().__getattr__(name)

    with pytest.raises(StorageError, match="is gone"):
        await Moving(source, Lost(target, ""), switch=True).run()
    assert await is_written(source)


async def test_an_empty_book_that_is_whole_does_not_become_a_copy_again() -> None:
    source, target = InMemoryEngine(), InMemoryEngine()

    async def first() -> None:
        assert (await Moving(source, target, switch=True).run()).switched

    with pytest.raises(Conflict, match="run this one again"):
        await Moving(source, Met(target, "arrive", before=first)).run()
    assert (await Moving(source, target).run()).already
    here, there = await source.whereabouts(), await target.whereabouts()
    assert here.departure is not None and here.departure.whole
    assert there.arrival is None
    await Pen(target).remember("the book is here")


async def test_what_fails_after_the_book_has_moved_does_not_look_as_if_it_had_not() -> None:
    source, target = await a_book(), InMemoryEngine()

    async def departed() -> None:
        raise StorageError("no jobs are told")

    class Mute(Met):
        def __getattr__(self, name: str) -> Any:
            if name == "jobs":
                return raising_always
            return super().__getattr__(name)

    async def raising_always(*given: Any) -> Any:
        await departed()

    report = await Moving(source, Mute(target, ""), switch=True).run()
    assert report.switched
    assert await is_whole(target)


async def test_another_place_under_the_same_name_is_not_taken_for_the_copy_that_was_begun() -> None:
    source, one, two = await a_book(), InMemoryEngine(), InMemoryEngine()
    await Moving(source, two).run()
    lost = Met(one, "end_arrival", after=raising(OutcomeUnknown("lost")))
    with pytest.raises(OutcomeUnknown):
        await Moving(source, lost, switch=True).run()
    assert not await is_written(source)
    for target in (two, InMemoryEngine()):
        for switch in (False, True):
            with pytest.raises(Conflict, match="--give-up"):
                await Moving(source, target, switch=switch).run()
    assert not await is_written(source)
    assert (await Moving(source, one, switch=True).run()).already


async def test_a_move_that_is_given_up_while_both_are_compared_does_not_end_in_two_books() -> None:
    source, target = await a_book(), InMemoryEngine()

    async def given_up() -> None:
        await give_up(source, "memory")
        assert await is_written(source)

    with pytest.raises(Conflict, match="meanwhile"):
        await Moving(Met(source, "jobs", after=given_up), target, switch=True).run()
    assert (await target.whereabouts()).arrival is not None
    assert await is_written(source)
    assert (await Moving(source, target, switch=True).run()).switched
    assert await content(source) == await content(target)


async def test_a_move_that_is_given_up_as_it_ends_says_that_the_book_is_there() -> None:
    source, target = await a_book(), InMemoryEngine()

    async def given_up() -> None:
        await give_up(source, "memory")

    with pytest.raises(Conflict, match=r"the book is at memory now.*two books"):
        await Moving(source, Met(target, "end_arrival", after=given_up), switch=True).run()
    assert (await is_whole(target), await is_written(source)) == (True, True)


async def test_a_book_that_only_shares_the_secret_is_not_taken_for_the_whole_copy() -> None:
    source, target = await a_book(), InMemoryEngine()
    await Moving(source, target).run()
    there = await target.whereabouts()
    assert there.arrival is not None
    await source.depart(Departure("memory", whole=False, copy=there.arrival.copy, run="killed"), None)
    older = InMemoryEngine(there.secret)
    await Pen(older).remember("of an older backup")
    for switch in (False, True):
        with pytest.raises(Conflict, match="--give-up"):
            await Moving(source, older, switch=switch).run()
    assert (await Moving(source, target, switch=True).run()).switched
    with pytest.raises(Moved):
        await Moving(source, older, switch=True).run()


async def test_which_run_made_a_book_whole_is_brought_by_no_copy_and_no_export_of_it() -> None:
    source, target, third, adopting = await a_book(), InMemoryEngine(), InMemoryEngine(), InMemoryEngine()
    await Moving(source, target, switch=True).run()
    made, gone = await target.whereabouts(), await source.whereabouts()
    assert gone.departure is not None and made.made_by == gone.departure.run
    await Moving(target, third).run()
    assert (await third.whereabouts()).made_by is None
    await Moving(target, third, switch=True).run()
    assert (await third.whereabouts()).made_by not in (None, made.made_by)
    async for line in target.dump_book():
        assert await adopting.adopt_book(line)
    found = await adopting.whereabouts()
    assert (found.secret, found.made_by) == (made.secret, None)


@pytest.mark.parametrize("between", ["before", "after"])
async def test_a_run_that_comes_as_another_ends_does_not_take_the_copy_for_another_one(between: str) -> None:
    source, target = await a_book(), InMemoryEngine()
    await Moving(source, target).run()
    there = await target.whereabouts()
    assert there.arrival is not None
    await source.depart(Departure("memory", whole=False, copy=there.arrival.copy, run="killed"), None)

    async def ends() -> None:
        assert (await Moving(source, target, switch=True).run()).switched

    late = Moving(source, Met(target, "whereabouts", **{between: ends}), switch=True)
    if between == "before":
        assert (await late.run()).already
    else:
        with pytest.raises(Moved, match="has moved to memory"):
            await late.run()
