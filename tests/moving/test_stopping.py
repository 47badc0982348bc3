"""A copy may be stopped at any call that it makes: the same command goes on with it, and nothing is lost or by half."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import pytest

from memoranda.book import bringing, moving
from memoranda.book.moving import Moving
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.errors import Conflict, Moved
from memoranda.model.owner import Owner
from memoranda.ports import Engine
from memoranda.testing.builders import ANN, BEN, GUIDE, SMALL, Pen, vectors_of
from tests.moving.books import content


class Killed(BaseException):
    """The process of the copy is gone."""


class Mortal:
    """An engine of a process that is killed: from one call on none is made any more."""

    def __init__(self, engine: Engine, dies: Callable[[str], bool]) -> None:
        self._engine = engine
        self._dies = dies

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._engine, name)

        async def call(*given: Any, **named: Any) -> Any:
            if self._dies(name):
                raise Killed
            return await there(*given, **named)

        return call if callable(there) else there


class Life:
    """Counts the calls of a copy, and ends it before one of them."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def ends(self, name: str) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringing, "PAGE", 3)
    monkeypatch.setattr(moving, "SMALL", 1)


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


async def write_something(engine: Engine, rng: random.Random, step: int) -> None:
    """What goes on at the source meanwhile; refused where the book is moving."""
    pen = Pen(engine, rng.choice((ANN, BEN, Owner(id=f"new {step}"))))
    try:
        await pen.remember(f"step {step}", key=rng.choice((None, "drink")))
        there = [record.id for record in await pen.scan()]
        if rng.random() < 0.3:
            await pen.erase(rng.choice(there))
        elif rng.random() < 0.1:
            await pen.erase_all()
    except Moved:
        return


@pytest.mark.parametrize("switch", [False, True])
async def test_a_copy_that_is_stopped_before_any_call_is_gone_on_with(switch: bool) -> None:
    calls = 0
    while True:
        source, target = await a_book(), InMemoryEngine()
        life = Life(calls)
        try:
            await Moving(
                Mortal(source, life.ends),
                Mortal(target, life.ends),
                switch=switch,
            ).run()
            break
        except Killed:
            pass
        await write_something(source, random.Random(calls), calls)
        report = await Moving(source, target, switch=switch).run()
        assert report.switched == switch
        assert await content(source) == await content(target)
        here, there = await source.whereabouts(), await target.whereabouts()
        assert (here.departure is not None, there.arrival is None) == (switch, switch)
        calls += 1
    assert calls > 50


async def test_a_copy_that_is_stopped_again_and_again_while_the_book_lives_comes_to_its_end() -> None:
    for seed in range(25):
        rng = random.Random(seed)
        source, target = await a_book(), InMemoryEngine()
        for step in range(12):
            life = Life(rng.randrange(150))
            mortal = [Mortal(engine, life.ends) for engine in (source, target)]
            with contextlib.suppress(Killed):
                await Moving(*mortal, switch=rng.random() < 0.3).run()
            await write_something(source, rng, step)
        assert (await Moving(source, target, switch=True).run()).switched
        assert await content(source) == await content(target)
        assert (await target.verify()).faults == ()


async def test_of_two_copies_to_one_place_the_later_goes_on() -> None:
    source, target = await a_book(), InMemoryEngine()
    calls = 0

    async def second() -> None:
        await Moving(source, target, switch=True).run()
        await Pen(target).remember("written at the target")

    class Overtaken(Mortal):
        def __getattr__(self, name: str) -> Any:
            call = super().__getattr__(name)

            async def overtaken(*given: Any, **named: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls == 30:
                    await second()
                return await call(*given, **named)

            return overtaken

    with pytest.raises(Conflict, match="another copy"):
        await Moving(source, Overtaken(target, lambda name: False), switch=True).run()
    with pytest.raises(Moved):
        await Pen(source).remember("the source is not taken back")
    assert len(await Pen(target).scan()) == len(await Pen(source).scan()) + 1
