"""Agreement on MongoDB: random work gives the same result as in memory, and each part of a filter
that says whose a document is, is needed.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
from collections import Counter

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.mongo.engine import MongoEngine
from memoranda.model.records import Record
from memoranda.model.vectors import Embedding
from proofs._mongo.filters import Part, left_out, sent, why_implied
from proofs._mongo.own import OwnMongo
from proofs._server.agreeing import Steps, carry_out, program

ABOUT = "random work gives the same on MongoDB as in memory; without any part of a filter that says whose a document is, it does not"
#: Programs; up to this count some parts, drawn by the seed, stand for all of them.
CI_COUNT = 4
FULL_COUNT = 100
COVERS = "model storage text engines/inmemory engines/mongo"

_SOME_PARTS = 4
#: A part that is left out must be noticed within so many programs, and ends one that takes so long.
#: Some are noticed by one program in twelve, so that thirty miss them in one run of fifteen.
_PROGRAMS, _SECONDS = 100, 120.0


class _Reference(InMemoryEngine):
    """The engine in memory, which lists missing vectors as MongoDB does: by the ids of passages,
    not as they arrived.
    """

    async def lacking(self, embedding: Embedding, limit: int) -> list[Record]:
        found = await super().lacking(embedding, sys.maxsize)
        return sorted(found, key=lambda record: record.id)[:limit]


class Disagreement(Exception):
    """The two engines differ in their answers or data."""


class Undetected(Exception):
    """A part of a filter was left out, and no check noticed: it is not needed, or this proof misses
    such a hole.
    """


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)
    rng = random.Random(seed)
    found: Counter[Part] = Counter()
    with OwnMongo() as server:
        for number in range(count):
            steps = program(rng)
            try:
                with sent(found):
                    asyncio.run(_carry_out(server, steps))
            except AssertionError as difference:
                raise Disagreement(f"program {number}, {steps}: {difference}") from difference
        parts = sorted(part for part in found if not why_implied(part))
        implied = len(found) - len(parts)
        chosen = parts if count > CI_COUNT else rng.sample(parts, _SOME_PARTS)
        missed = [part for part in chosen if not _noticed(server, part, rng)]
    if missed:
        raise Undetected(
            f"left out, and nothing was noticed in {_PROGRAMS} programs: {'; '.join(map(str, missed))}"
        )
    return (
        f"{count} programs agree, which sent {found.total()} parts of filters that say whose a document is; of "
        f"{len(parts)} such parts {len(chosen)} were left out in turn, and each was missed; {implied} more bind what an id does already"
    )


async def _carry_out(server: OwnMongo, steps: Steps) -> None:
    await carry_out(steps, MongoEngine.open(server.new_book()), _Reference)


def _noticed(server: OwnMongo, part: Part, rng: random.Random) -> bool:
    """Return True if the results differ, or the work fails."""
    for _ in range(_PROGRAMS):
        try:
            with left_out(part):
                asyncio.run(asyncio.wait_for(_carry_out(server, program(rng)), _SECONDS))
        except TimeoutError:
            raise
        except Exception:  # noqa: BLE001 - work that fails differs, too
            return True
    return False
