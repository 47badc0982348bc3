"""Isolation: nobody sees, changes or notices data that they may not see, and each condition for it
is needed.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from memoranda.engines.sqlite.engine import SqliteEngine
from proofs._book import isolating
from proofs._book.accounts import ACCOUNTS
from proofs._book.arrivals import ARRIVALS
from proofs._book.building import build, copied, kept
from proofs._book.conversing import CONVERSING
from proofs._book.isolating import Try
from proofs._book.labours import LABOURS
from proofs._book.mutants import Mutant, both
from proofs._book.opening import without_syncs, without_threads
from proofs._book.reads import READS
from proofs._book.recalls import RECALLS
from proofs._book.session import Session
from proofs._book.storing import STORING
from proofs._book.works import WORKS
from proofs._book.writes import WRITES
from proofs._moving.carrying import Unlike, carried

ABOUT = "no call of one owner, audience or tenant reaches another's data; with any one condition removed, a call does"
CI_COUNT = 100_000
FULL_COUNT = 2_000_000
COVERS = "model storage paging.py door.py engines/sqlite recall formation language book"

#: Tries in one world before a new one begins.
_WORLD = 5_000
#: Tries between two looks at everyone who did nothing.
_WINDOW = 400
#: A mutant is looked at more often, and must be caught within so many tries.
_MUTANT_WINDOW, _MUTANT_TRIES = 25, 40_000
#: One by which only a moving book asks, within so many moves.
_MUTANT_MOVES = 20

_TRIES: dict[Try, float] = {
    **READS,
    **RECALLS,
    **WRITES,
    **CONVERSING,
    **WORKS,
    **LABOURS,
    **ARRIVALS,
    **ACCOUNTS,
    **STORING,
}


class Undetected(Exception):
    """A mutant was not noticed: this proof misses such a hole, or the condition is not needed."""


def run(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        original = folder / "original.db"
        with without_syncs(rewriting=False):
            notes = kept(asyncio.run(build(original)))
        _try_worlds(folder, original, notes, count, seed)
        with without_syncs(rewriting=False), without_threads():
            worst = asyncio.run(_control(folder, _Worlds(folder, original, notes), seed))
    return f"{count} tries, 0 leaks; {worst}"


def _try_worlds(folder: Path, original: Path, notes: bytes, count: int, seed: int) -> None:
    """Try calls on as many worlds as the count needs, on all cores at the same time."""
    try_world = partial(_try_world, folder, original, notes, count, seed)
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for _ in pool.map(try_world, range(0, count, _WORLD)):
            pass


def _try_world(
    folder: Path, original: Path, notes: bytes, count: int, seed: int, done: int
) -> None:
    # Only the first world uses the product's own threads: callers wait for each answer, so
    # threads only cost time.
    threads = without_threads() if done else nullcontext()
    own = folder / str(done)
    own.mkdir()
    with without_syncs(rewriting=False), threads:
        trying = _Worlds(own, original, notes).tried(
            min(_WORLD, count - done), _WINDOW, random.Random(f"{seed} {done}")
        )
        asyncio.run(trying)


class _Worlds:
    """Makes worlds that begin alike, and tries calls on them."""

    def __init__(self, folder: Path, original: Path, notes: bytes) -> None:
        self._folder = folder
        self._original = original
        self._notes = notes
        self._made = 0

    async def tried(
        self,
        tries: int,
        window: int,
        rng: random.Random,
        mutation: AbstractContextManager[object] | None = None,
        weights: Mapping[Try, float] = _TRIES,
    ) -> int:
        """Make this many tries on a world; raise Found with the number of tries until then."""
        self._made += 1
        path, notes = copied(self._original, self._notes, self._folder / f"world-{self._made}.db")
        session = await Session.open(path, notes, rng)
        done = 0
        try:
            with mutation or nullcontext():
                while done < tries:
                    picked = rng.choices(
                        [*weights], [*weights.values()], k=min(window, tries - done)
                    )
                    done += len(picked)
                    await session.window(picked)
        except Exception as found:
            found.add_note(f"after {done} tries")
            raise Found(done, f"{type(found).__name__}: {found}") from found
        finally:
            await session.close()
            for beside in self._folder.glob(f"{path.name}*"):
                beside.unlink()
        return done


class Found(Exception):
    """A leak, or a fault of the product, and after how many tries."""

    def __init__(self, tries: int, what: str) -> None:
        super().__init__(tries, what)
        self.tries, self.what = tries, what

    def __str__(self) -> str:
        return f"after {self.tries} tries: {self.what}"


async def _control(folder: Path, worlds: _Worlds, seed: int) -> str:
    """Leave out each condition in turn: each must be noticed, alone or together with the condition
    that implies it.
    """
    mutants = [
        m for m in isolating.mutants() if not {m.name, m.place} & isolating.OFF_THE_PATH.keys()
    ]
    moving = [mutant for mutant in mutants if mutant.place in isolating.MOVING]
    caught: dict[str, int] = {}
    missed = [
        mutant.name
        for mutant in moving
        if not await _unlike(folder, mutant, f"{seed} {mutant.name}")
    ]
    if missed:
        raise Undetected(
            f"left out, and nothing was noticed in {_MUTANT_MOVES} moves: {'; '.join(missed)}"
        )
    for mutant in mutants:
        if mutant in moving:
            continue
        mutation = mutant.apply
        if mutant.name in isolating.COVERED:
            by = isolating.COVERED[mutant.name].by
            cover = next(other for other in (*mutants, *isolating.COVERS) if other.name == by)
            mutation = partial(both, mutant.apply, cover.apply)
        try:
            caught[mutant.name] = await _caught(worlds, mutant, mutation, f"{seed} {mutant.name}")
        except Undetected:
            missed.append(mutant.name)
    if missed:
        raise Undetected(
            f"left out, and nothing was noticed in {_MUTANT_TRIES} tries: {'; '.join(missed)}"
        )
    worst = max(caught, key=caught.__getitem__)
    return (
        f"all {len(caught)} conditions left out in turn were missed, {len(isolating.COVERED)} of them with the one "
        f"that covers them, the last after {caught[worst]} tries ({worst}), and {len(moving)} by which a moving book asks"
    )


async def _unlike(folder: Path, mutant: Mutant, seed: str) -> bool:
    """Return True if a book changes when it is moved to a file and from there."""
    rng = random.Random(seed)
    for number in range(_MUTANT_MOVES):
        path = folder / f"moving-{number}.db"
        try:
            await carried(rng, SqliteEngine.open(path, synchronous="OFF"), mutant.apply)
        except Unlike:
            return True
        except isolating.TRIPS.get(mutant.name, ()):
            return True
        finally:
            for beside in folder.glob(f"{path.name}*"):
                beside.unlink()
    return False


async def _caught(
    worlds: _Worlds,
    mutant: Mutant,
    mutation: Callable[[], AbstractContextManager[object]],
    seed: str,
) -> int:
    weights = isolating.focus(mutant, _TRIES)
    try:
        await worlds.tried(_MUTANT_TRIES, _MUTANT_WINDOW, random.Random(seed), mutation(), weights)
    except Found as found:
        return found.tries
    raise Undetected(f"{mutant.name}: left out, and nothing was noticed in {_MUTANT_TRIES} tries")
