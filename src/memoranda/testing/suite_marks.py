"""The marks of books that are copied: all other writes are refused, and only one copy writes its target."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import Conflict, Moved, UnfinishedCopy
from memoranda.model.ids import new_id
from memoranda.model.jobs import JobDraft
from memoranda.model.moving import Arrival, Departure
from memoranda.model.owner import WHOLE
from memoranda.model.passages import Use
from memoranda.model.spending import Spent
from memoranda.ports import Engine
from memoranda.testing.builders import ANN, SMALL, START, Pen
from memoranda.testing.suite import Suite
from memoranda.testing.suite_moving import COPY, arrived, lay_all


class MarkSuite(Suite):
    """Who writes a book that has a mark."""

    async def test_a_book_with_content_does_not_become_a_copy(self, engine: Engine, another: Engine) -> None:
        await Pen(another).remember("here already")
        assert not await arrived(engine, another)
        assert (await another.whereabouts()).arrival is None
        await Pen(another).erase_all()
        assert not await arrived(engine, another)
        await Pen(another).remember("goes on")

    async def test_only_the_copy_that_began_last_writes(self, engine: Engine, another: Engine) -> None:
        await Pen(engine).remember("tea")
        assert await arrived(engine, another)
        assert await arrived(engine, another, "the next copy")
        with pytest.raises(Conflict):
            await lay_all(engine, another)
        with pytest.raises(Conflict):
            await another.end_arrival(COPY)
        assert (await another.whereabouts()).arrival == Arrival("elsewhere", "the next copy")
        await another.end_arrival("the next copy")
        with pytest.raises(Conflict):
            await another.lay_book("the next copy", await engine.book_frame())

    async def test_a_copy_of_one_book_does_not_become_that_of_another(
        self, engine: Engine, another: Engine
    ) -> None:
        assert await arrived(engine, another)
        assert not await another.arrive(Arrival("a third", COPY), b"s" * 32)
        await another.end_arrival(COPY)

    async def test_nobody_else_writes_a_copy_that_is_being_made(
        self, engine: Engine, another: Engine
    ) -> None:
        await arrived(engine, another)
        for write in _writes(another):
            with pytest.raises(UnfinishedCopy, match="elsewhere"):
                await write()
        await another.end_arrival(COPY)
        await Pen(another).remember("a book")

    async def test_a_book_that_moves_is_written_no_more_and_says_where_it_is(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        for whole in (False, True):
            await engine.depart(Departure("there", whole), Departure("there", False) if whole else None)
            for write in _writes(engine):
                with pytest.raises(Moved, match="there") as refused:
                    await write()
                assert refused.value.address == "there"
            assert (await engine.whereabouts()).departure == Departure("there", whole)
        assert [record.id for record in await pen.scan()] == [memory]
        assert len(await pen.ledger()) == 1
        await engine.depart(None, Departure("there", True))
        await pen.remember("coffee")

    async def test_a_departure_is_changed_only_by_who_knows_which_one_stands(self, engine: Engine) -> None:
        here = Departure("here", whole=False, copy="one")
        there = Departure("there", whole=False, copy="two")
        await engine.depart(here, None)
        for new, expected in (
            (there, None),
            (None, there),
            (here, None),
            (there, there._replace(copy="other")),
        ):
            with pytest.raises(Conflict, match="in the meantime"):
                await engine.depart(new, expected)
            assert (await engine.whereabouts()).departure == here
        await engine.depart(there, here)
        with pytest.raises(Conflict):
            await engine.depart(None, here)
        await engine.depart(None, there)
        await Pen(engine).remember("is written again")

    async def test_a_book_that_a_copy_made_whole_does_not_become_that_copy_again(
        self, engine: Engine, another: Engine
    ) -> None:
        assert await arrived(engine, another)
        await another.end_arrival(COPY)
        assert not await arrived(engine, another, "the next copy")
        await Pen(another).remember("a book, though it came empty")

    async def test_a_book_that_moves_does_not_become_a_copy(self, engine: Engine, another: Engine) -> None:
        await another.depart(Departure("there", True), None)
        assert not await arrived(engine, another)

    async def test_a_book_knows_which_copy_made_it(self, engine: Engine, another: Engine) -> None:
        await Pen(engine).remember("tea")
        assert (await engine.whereabouts()).made_by is None
        assert await arrived(engine, another)
        await lay_all(engine, another)
        assert (await another.whereabouts()).made_by is None
        await another.end_arrival(COPY)
        assert (await another.whereabouts()).made_by == COPY
        await Pen(another).remember("is written like any other")
        await another.depart(Departure("there", True), None)
        assert (await another.whereabouts()).made_by == COPY


def _writes(engine: Engine) -> list[Any]:
    """Ways to write a book."""
    pen = Pen(engine)
    return [
        lambda: pen.remember("late"),
        pen.erase_all,
        lambda: engine.put(JobDraft("form", "x"), START),
        lambda: engine.note_use(ANN, WHOLE, {new_id(): Use(strength=0.5, used_at=None, count=1)}),
        lambda: engine.begin_set(SMALL),
        lambda: engine.note_spent(Spent(tenant="default", day=START.date(), task="form", model="m")),
        engine.rebuild,
    ]
