"""Isolation over HTTP: answers reveal no other owner's records, and removing any check is
noticed.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path
from random import Random

from memoranda.book.all_operations import OPERATIONS
from proofs._book.opening import without_syncs, without_threads
from proofs._service.judging import Leak, World
from proofs._service.omitted_checks import MUTANTS, Mutant
from proofs._service.population import Population, populate

ABOUT = "no answer of the service tells a credential of another's record; with any one check removed, an answer does"
CI_COUNT = 6_000
FULL_COUNT = 100_000
COVERS = "access service compatible mcp_server wire book paging.py"

#: Requests in one book before a new one begins, and between two looks at what must not change.
_WORLD, _WINDOW = 1_000, 100
#: A removed check is looked for more often, and must be noticed within so many requests. The rarest
#: one takes 200 on average, so that a thousand miss it in one run of a hundred.
_MUTANT_REQUESTS, _MUTANT_WINDOW = 3_000, 50


class Unnoticed(Exception):
    """A check was removed, and this proof did not notice."""


def run(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory() as folder, without_syncs(rewriting=False):
        return asyncio.run(_prove(Path(folder), count, seed))


async def _prove(folder: Path, count: int, seed: int) -> str:
    population = await populate(folder / "original.db")
    done, worlds = 0, 0
    succeeded: set[str] = set()
    refused = 0
    while done < count:
        some = min(_WORLD, count - done)
        # Only the first book uses the product's own threads, and is asked as its administrator:
        # threads only cost time.
        with without_threads() if done else nullcontext():
            world = await _asked(
                folder, population, some, _WINDOW, Random(f"{seed} {worlds}"), is_first=not done
            )
        succeeded |= world.succeeded
        refused += world.refused
        done += some
        worlds += 1
    with without_threads():
        slowest = await _control(folder, population, seed)
    return (
        f"{count} requests, {refused} of them refused, 0 answers that tell of another's record; {len(succeeded)} of "
        f"{len(OPERATIONS.values())} verbs succeeded about one's own; {slowest}"
    )


async def _asked(
    folder: Path,
    population: Population,
    count: int,
    window: int,
    rng: Random,
    mutant: Mutant | None = None,
    *,
    is_first: bool = False,
) -> World:
    """Send so many requests to a service over a copy of the book; raise Leak at the first answer
    that tells.
    """
    path = folder / "world.db"
    shutil.copy(folder / "original.db", path)
    try:
        with nullcontext() if mutant is None else mutant.removed():
            world = World(population, rng)
            async with world.opened(path):
                if is_first:
                    await world.ask_own()
                    await world.ask_of_every_owner()
                await world.ask(count, window, mutant.kinds if mutant is not None else ())
        return world
    finally:
        for beside in folder.glob("world.db*"):
            beside.unlink()


async def _control(folder: Path, population: Population, seed: int) -> str:
    """Remove each check in turn."""
    after: dict[str, int] = {}
    unnoticed = []
    for mutant in MUTANTS:
        rng = Random(f"{seed} {mutant.name}")
        try:
            await _asked(folder, population, _MUTANT_REQUESTS, _MUTANT_WINDOW, rng, mutant)
        except Leak as leak:
            after[mutant.name] = leak.requests
        else:
            unnoticed.append(mutant.name)
    if unnoticed:
        raise Unnoticed(
            f"removed, and nothing was noticed in {_MUTANT_REQUESTS} requests: {'; '.join(unnoticed)}"
        )
    last = max(after, key=after.__getitem__)
    return f"all {len(after)} checks removed in turn were missed, the last after {after[last]} requests ({last})"
