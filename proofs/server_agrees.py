"""The agreement proof on a server: the same random work as in memory, and each condition that says whose a row is, is needed."""

from __future__ import annotations

import asyncio
import random

from commonplace.errors import Busy
from proofs._server.agreeing import carry_out, program
from proofs._server.mutants import Mutant
from proofs._server.own import OwnServer
from proofs._server.superfluous import needed, superfluous

ABOUT = "random work leaves the same on a server as in memory, and does not without any condition that says whose a row is"
#: Programs, every other one in partitions; up to this count some mutants stand for all of them.
CI_COUNT = 8
FULL_COUNT = 200

_PARTITIONS = 3
_SOME_MUTANTS = 8
#: A mutant must be noticed within so many programs, and ends one that takes so long.
_MUTANT_PROGRAMS, _MUTANT_SECONDS = 30, 120.0


class Disagreement(Exception):
    """The two engines do not say or hold the same."""


class Undetected(Exception):
    """A condition was left out, and nothing was noticed: it is not needed, or this proof would not notice such a hole."""


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    with OwnServer(fsync="off") as server:
        for number in range(count):
            steps = program(rng)
            address = server.new_book(**({"partitions": _PARTITIONS} if number % 2 else {}))
            try:
                asyncio.run(carry_out(steps, address))
            except AssertionError as difference:
                raise Disagreement(f"program {number}, {steps}: {difference}") from difference
        # Whoever may do anything passes the wall by rows: what is left out here is the engine's own filter.
        server.url = server.administrator
        mutants = needed()
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


def _noticed(server: OwnServer, mutant: Mutant, rng: random.Random) -> bool:
    for _ in range(_MUTANT_PROGRAMS):
        try:
            with mutant.apply():
                asyncio.run(asyncio.wait_for(carry_out(program(rng), server.new_book()), _MUTANT_SECONDS))
        except Busy:
            raise  # the server is away: that says nothing of the mutant
        except Exception:  # noqa: BLE001 - any way in which it goes wrong is one in which it is noticed
            return True
    return False
