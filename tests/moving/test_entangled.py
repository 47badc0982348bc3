"""Runs to two places, entangled call by call and failing anywhere: at every moment one place at most is the book."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import Any

import pytest

from memoranda.book.moving import Moving
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.errors import MemorandaError, Moved, OutcomeUnknown, StorageError
from memoranda.model.owner import WHOLE
from memoranda.ports import Engine
from memoranda.testing.builders import ANN, Pen

#: Where it matters most what fails.
_MARKING = ("arrive", "depart", "end_arrival", "end_arrival")


class Killed(BaseException):
    """The process of one run is gone."""


class Entangled:
    """An engine of one run, which lets others go on before each call and after, and sometimes fails."""

    def __init__(self, engine: Engine, dice: random.Random, life: list[bool], failing: float) -> None:
        self._engine = engine
        self._dice = dice
        self._life = life
        self._failing = failing
        self._weak = dice.choice(_MARKING)

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._engine, name)

        async def call(*given: Any, **named: Any) -> Any:
            failing = self._failing if name == self._weak else self._failing / 50
            await self._meet(StorageError("refused"), failing)
            found = await there(*given, **named)
            await self._meet(OutcomeUnknown("lost"), failing)
            return found

        return call if callable(there) else there

    async def _meet(self, error: StorageError, failing: float) -> None:
        for _ in range(self._dice.randrange(8)):
            await asyncio.sleep(0)
        if self._dice.random() < failing:
            self._life[0] = self._life[0] and self._dice.random() < 0.8
            if self._life[0]:
                raise error
        if not self._life[0]:
            raise Killed


class Books:
    """A source, and two places to which it may move."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.source = InMemoryEngine()
        self.targets = [InMemoryEngine(), InMemoryEngine()]
        self.acknowledged: list[Any] = []
        self.ended = False

    async def run(self) -> None:
        failing = self.dice.choice((0.0, 0.2, 0.6))
        life = [True]
        source, target = (
            Entangled(engine, self.dice, life, failing)
            for engine in (self.source, self.dice.choice(self.targets))
        )
        with suppress(MemorandaError, Killed):
            report = await Moving(source, target, switch=self.dice.random() < 0.7).run()
            if not report.switched:
                assert report.records >= 0

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
        """Somebody who writes wherever the book is, and watches that it is at one place."""
        while not self.ended:
            books = await self.books()
            assert len(books) <= 1
            if books and self.dice.random() < 0.1:
                with suppress(Moved):
                    self.acknowledged.append(await Pen(books[0]).remember("acknowledged"))
            await asyncio.sleep(0)


@pytest.mark.parametrize("first", range(0, 120, 30))
async def test_of_entangled_runs_none_splits_the_book_and_nothing_acknowledged_is_lost(first: int) -> None:
    switched = 0
    for seed in range(first, first + 30):
        books = Books(seed)
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
    assert switched
