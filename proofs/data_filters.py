"""Agreement of filters over data: random filters choose the same records everywhere, and a second
evaluator chooses these too.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from bisect import bisect_right
from pathlib import Path

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.postgres.engine import PostgresEngine
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.ports import Engine
from memoranda.recall.arrays import data_columns
from proofs._server.own import OwnServer
from tests.engines.filters.random_filters import Disagreement, Library, compare

ABOUT = "random filters over random data choose the same in memory, in SQLite and on a server, from an index and without one"
#: Filters; half of them in memory and in SQLite, and half on a server, where every other library is
#: not cached.
CI_COUNT = 1200
FULL_COUNT = 20_000
COVERS = "model storage door.py engines recall language"

#: Filters on one library, and its records.
_FILTERS, _RECORDS = 200, 120
#: A comparison that is wrong must be noticed within so many filters.
_CONTROL = 1000


class Undetected(Exception):
    """A wrong comparison was not noticed."""


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    some = total = done = 0
    with OwnServer(fsync="off") as server, tempfile.TemporaryDirectory(prefix="filters-") as folder:
        for number in range(-(-count // _FILTERS)):
            address = server.new_book() if number % 2 else str(Path(folder, f"{number}.db"))
            size = min(_FILTERS, count - done)
            chose, records = asyncio.run(_compared(rng, address, size, large=number % 4 == 3))
            some, total, done = some + chose, total + records, done + size
    asyncio.run(_control(rng))
    return f"{done} filters agree, of which {some} chose something, {total} records in all; wrong comparisons were noticed"


async def _compared(
    rng: random.Random, address: str, filters: int, *, large: bool
) -> tuple[int, int]:
    """Compare filters on one library, in the engines that an address means."""
    library = Library(rng, _RECORDS)
    engines: list[Engine] = []
    if address.startswith("postgres"):
        server = await PostgresEngine.open(address)
        engines.append(server)
        if large:
            server.large_shelves.threshold = 1
    else:
        engines += [InMemoryEngine(), await SqliteEngine.open(Path(address))]
    try:
        shelves = [await library.fill(engine) for engine in engines]
        if large:
            await server.large_shelves.update()
        return await compare(library, shelves, filters)
    finally:
        for engine in engines:
            await engine.close()


async def _control(rng: random.Random) -> None:
    """Check that three wrong ways to compare are noticed."""
    library, engine = Library(rng, _RECORDS), InMemoryEngine()
    shelves = await library.fill(engine)
    for name, wrong in (
        ("number_key", float),
        ("json_key", repr),
        ("bisect_left", bisect_right),
    ):
        right = getattr(data_columns, name)
        setattr(data_columns, name, wrong)
        try:
            shelves.forget()
            await compare(library, [shelves], _CONTROL)
        except (Disagreement, OverflowError, TypeError):
            continue
        finally:
            setattr(data_columns, name, right)
        raise Undetected(f"{name}: nothing was noticed in {_CONTROL} filters")
