"""Random work during which the book moves from memory to another engine and back, with the same
result everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from memoranda.book.admin import book_copy
from memoranda.book.admin.book_copy import CopyRun
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.errors import StorageError
from memoranda.model.book_rows import Arrival, PieceKind
from memoranda.model.ledger import Actor, Target
from memoranda.model.records import WHOLE
from memoranda.ports import Engine
from memoranda_conformance.suites.copies import of_kind
from proofs._server.agreeing import ENDING, NAMESAKES, among_namesakes, erase, program, seen
from tests.engines.dice import Dice
from tests.engines.pair import Pair
from tests.engines.random_runs import OWNERS
from tests.engines.random_work import VIEWS
from tests.engines.test_engines_agree import Working, scanned
from tests.moving.books import content

_COPY = "by hand"
_SIGNS = ("the copy differs from the book", "UNIQUE constraint failed", "duplicate key")

Mutation = Callable[[], AbstractContextManager[object]]


class Unlike(Exception):
    """The moved book differs from the original."""


async def carried(rng: random.Random, opening: Awaitable[Engine], mutation: Mutation) -> None:
    """Move a book to an engine on which a copy was begun before, and back, with the mutation; raise
    Unlike if anything differs.
    """
    source, back = InMemoryEngine(), InMemoryEngine()
    target = await opening
    try:
        pair = Pair((source, InMemoryEngine()))
        working = Working(pair)
        await working.begin()
        await among_namesakes(pair, working)
        with mutation(), _noticing():
            await _begun(source, target)
        for owner in OWNERS:
            last = (await scanned(source, owner, WHOLE))[-1]
            await pair.same(
                partial(erase, Target(owner, WHOLE, Actor("owner", owner.id), (last.id,)))
            )
        for step, seed in program(rng):
            await working.take(step, Dice(seed))
        ending = Target(ENDING, WHOLE, Actor("owner", ENDING.id), everything=True)
        await pair.same(partial(erase, ending))
        await _move(source, target, mutation)
        _hold(await content(source), await content(target), "moved")
        _hold((), (await target.verify()).faults, "verified")
        _hold(await _shown(source), await _shown(target), "shown")
        await _move(target, back, mutation)
        _hold(await content(target), await content(back), "moved back")
    finally:
        await target.close()


async def _begun(source: Engine, target: Engine) -> None:
    """Copy all of the book, and leave it an unfinished copy."""
    secret = (await source.whereabouts()).secret
    await target.arrive(Arrival("memory", _COPY), secret)
    await target.lay_book(_COPY, await source.book_frame())
    for era in await source.eras(b"", 1000):
        frame = await source.frame(era)
        assert frame is not None
        await target.lay_frame(_COPY, frame)
        for kind in (PieceKind.RECORD, PieceKind.ENTRY):
            await target.lay(_COPY, era, await of_kind(source, kind, era, 100))


async def _move(source: Engine, target: Engine, mutation: Mutation) -> None:
    with mutation(), patch.object(book_copy, "PAGE", 7), _noticing():
        await CopyRun(source, target, switch=True).run()


@contextmanager
def _noticing() -> Iterator[None]:
    """Raise ``Unlike`` if the copy's comparison, or a key of a table, notices rows that are
    another's.
    """
    try:
        yield
    except StorageError as error:
        if not any(sign in str(error) for sign in _SIGNS):
            raise
        raise Unlike(str(error)) from error


async def _shown(engine: Engine) -> list[Any]:
    """Return what each view sees of each owner."""
    return [await seen(owner, view, 0, engine) for owner in (*OWNERS, *NAMESAKES) for view in VIEWS]


def _hold(one: Any, two: Any, when: str) -> None:
    if one != two:
        raise Unlike(f"{when}: {one!r:.200} is not {two!r:.200}")
