"""Random work during which the book moves from memory to another engine and back, with the same result everywhere."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from unittest.mock import patch

from memoranda.book import bringing
from memoranda.book.moving import Moving
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.errors import Conflict, StorageError
from memoranda.model.erasure import Target
from memoranda.model.ledger import Actor
from memoranda.model.moving import Arrival, Frame, PieceKind, ShelfPiece
from memoranda.model.owner import WHOLE
from memoranda.ports import Engine
from memoranda.settle.rows import owner_of
from memoranda.testing.suite_moving import of_kind
from proofs._server.agreeing import ENDING, NAMESAKES, among_namesakes, erase, program, seen
from tests.engines.dice import Dice
from tests.engines.pair import Pair
from tests.engines.random_runs import OWNERS
from tests.engines.random_work import VIEWS
from tests.engines.test_engines_agree import Working, scanned
from tests.moving.books import content

_RUN = "by hand"
#: A shelf that nobody has anything on.
_EMPTY_SHELF = ShelfPiece(("group", "", '["nobody"]'), 0, 0)

Mutation = Callable[[], AbstractContextManager[object]]


class Unlike(Exception):
    """The moved book differs from the original."""


async def carried(rng: random.Random, opening: Awaitable[Engine], mutation: Mutation) -> None:
    """Move to an engine, remove something there by hand, move on and back, all of it mutated; raise if anything differs."""
    source, back = InMemoryEngine(), InMemoryEngine()
    target = await opening
    try:
        pair = Pair((source, InMemoryEngine()))
        working = Working(pair)
        await working.begin()
        await among_namesakes(pair, working)
        for owner in OWNERS:
            last = (await scanned(source, owner, WHOLE))[-1]
            await pair.same(partial(erase, Target(owner, WHOLE, Actor("owner", owner.id), (last.id,))))
        await _move(source, target, mutation, switch=False)
        _hold(await content(source), await content(target), "copied")
        await _by_hand(rng, source, target, mutation)
        for step, seed in program(rng):
            await working.take(step, Dice(seed))
        ending = Target(ENDING, WHOLE, Actor("owner", ENDING.id), everything=True)
        await pair.same(partial(erase, ending))
        await _move(source, target, mutation, switch=True)
        _hold(await content(source), await content(target), "moved")
        _hold((), (await target.verify()).faults, "verified")
        _hold(await _shown(source), await _shown(target), "shown")
        await _move(target, back, mutation, switch=True)
        _hold(await content(target), await content(back), "moved back")
    finally:
        await target.close()


async def _move(source: Engine, target: Engine, mutation: Mutation, *, switch: bool) -> None:
    with mutation(), patch.object(bringing, "PAGE", 7):
        try:
            await Moving(source, target, switch=switch).run()
        except Conflict as error:
            # It knows of more than the book: a run refuses to go on with such a copy.
            raise Unlike(str(error)) from error
        except StorageError as error:
            if "the copy stays unlike the book" not in str(error):
                raise
            raise Unlike(str(error)) from error


async def _by_hand(rng: random.Random, source: Engine, target: Engine, mutation: Mutation) -> None:
    """Remove and restore a tombstone, and a shelf, an entry and a record of two eras; check that nothing else changes."""
    await target.arrive(Arrival("memory", _RUN), (await source.whereabouts()).secret)
    frames = [await target.frame(era) for era, position in await target.eras(b"", 1000) if position]
    there = [frame for frame in frames if frame is not None]
    stones = await of_kind(target, PieceKind.STONE, b"", 100)
    with mutation():
        await target.lay(_RUN, PieceKind.STONE, b"", [], [stones[-1].key])
    _hold(stones[:-1], await of_kind(target, PieceKind.STONE, b"", 100), "a tombstone taken away")
    await target.lay(_RUN, PieceKind.STONE, b"", stones[-1:])
    for frame in (rng.choice(there), max(there, key=lambda frame: len(frame.shelves))):
        era, before = frame.era, await _by_era(target)
        ids = [
            piece.key for each, parts in before.items() if each != era for piece in parts[PieceKind.RECORD]
        ]
        with mutation():
            _hold([], await target.records_at(era, ids), "records of others")
        before_shown = await _shown(target, frame)
        with mutation():
            await target.lay_frame(_RUN, frame._replace(shelves=(*frame.shelves, _EMPTY_SHELF)))
            await target.lay_frame(_RUN, frame)
        _hold(before, await _by_era(target), "a shelf taken away")
        _hold(before_shown, await _shown(target, frame), "shown without a shelf")
        for kind in (PieceKind.ENTRY, PieceKind.RECORD):
            if last := before[era][kind][-1:]:
                with mutation():
                    await target.lay(_RUN, kind, era, [], [last[0].key])
                left = {**before, era: {**before[era], kind: before[era][kind][:-1]}}
                _hold(left, await _by_era(target), f"a {kind} taken away")
                await target.lay(_RUN, kind, era, last)
        _hold(before, await _by_era(target), "laid down again")


async def _by_era(engine: Engine) -> dict[bytes, dict[Any, Any]]:
    return {
        era: {
            "frame": await engine.frame(era),
            **{kind: await of_kind(engine, kind, era, 100) for kind in (PieceKind.RECORD, PieceKind.ENTRY)},
        }
        for era, _ in await engine.eras(b"", 1000)
    }


async def _shown(engine: Engine, frame: Frame | None = None) -> list[Any]:
    """Return what each view sees of each owner's data, or of an era's."""
    owners = (*OWNERS, *NAMESAKES) if frame is None else [owner_of(*frame.names)] if frame.names else []
    return [await seen(owner, view, 0, engine) for owner in owners for view in VIEWS]


def _hold(one: Any, two: Any, when: str) -> None:
    if one != two:
        raise Unlike(f"{when}: {one!r:.200} is not {two!r:.200}")
