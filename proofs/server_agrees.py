"""Agreement on a server: random work gives the same result as in memory, and each condition on a
row's owner is needed.
"""

from __future__ import annotations

import asyncio
import random

from memoranda.engines.postgres.engine import PostgresEngine
from proofs._moving.carrying import Unlike, carried
from proofs._server.agreeing import carry_out, program
from proofs._server.mutants import Mutant, check_all
from proofs._server.own import OwnServer
from proofs._server.superfluous import MOVING, TRIPS, needed, superfluous

ABOUT = "random work gives the same on a server as in memory; with any condition on a row's owner removed, it does not"
#: Programs, every other one in partitions; up to this count some mutants, drawn by the seed, stand
#: for all of them.
CI_COUNT = 8
FULL_COUNT = 200
COVERS = "model storage text engines/inmemory engines/postgres book/admin/book_copy.py"

_PARTITIONS = 3
_SOME_MUTANTS = 8
#: A mutant must be noticed within so many programs, and ends one that takes so long.
_MUTANT_PROGRAMS, _MUTANT_SECONDS = 30, 120.0


class Disagreement(Exception):
    """The two engines differ in their answers or data."""


class Undetected(Exception):
    """A condition was left out, and no check noticed: it is not needed, or this proof misses such a
    hole.
    """


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    with OwnServer(fsync="off") as server:
        for number in range(count):
            steps = program(rng)
            address = server.new_book(**({"partitions": _PARTITIONS} if number % 2 else {}))
            try:
                asyncio.run(carry_out(steps, PostgresEngine.open(address)))
            except AssertionError as difference:
                raise Disagreement(f"program {number}, {steps}: {difference}") from difference
        # A superuser bypasses row-level security, so that only the engine's own condition is
        # missing.
        server.url = server.administrator
        mutants = needed()
        asyncio.run(_check(server, mutants))
        chosen = mutants if count > CI_COUNT else rng.sample(mutants, _SOME_MUTANTS)
        missed = [mutant.name for mutant in chosen if not _noticed(server, mutant, rng)]
    if missed:
        raise Undetected(
            f"left out, and nothing was noticed in {_MUTANT_PROGRAMS} programs: {'; '.join(missed)}"
        )
    return (
        f"{count} programs agree; of {len(mutants)} conditions {len(chosen)} were left out in turn, with the wall by rows "
        f"off, and each was missed; {len(superfluous())} more bound what a number or an id does already"
    )


async def _check(server: OwnServer, mutants: list[Mutant]) -> None:
    engine = await PostgresEngine.open(server.new_book())
    try:
        await check_all(mutants, server.administrator, engine.server.schema)
    finally:
        await engine.close()


def _noticed(server: OwnServer, mutant: Mutant, rng: random.Random) -> bool:
    """Return True if the compared results differ; any other failure says nothing about that, and is
    raised.
    """
    for _ in range(_MUTANT_PROGRAMS):
        try:
            asyncio.run(asyncio.wait_for(_tried(server, mutant, rng), _MUTANT_SECONDS))
        except (AssertionError, Unlike):
            return True
        except TRIPS.get(mutant.name, ()):
            return True
        except Exception as problem:
            problem.add_note(f"without {mutant.name}")
            raise
    return False


async def _tried(server: OwnServer, mutant: Mutant, rng: random.Random) -> None:
    if mutant.statement in MOVING:
        await carried(rng, PostgresEngine.open(server.new_book()), mutant.apply)
        return
    with mutant.apply():
        await carry_out(program(rng), PostgresEngine.open(server.new_book()))
