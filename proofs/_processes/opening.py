"""Several processes create or migrate the same file at the same moment; an older program is
refused.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import memoranda
from memoranda import VersionMismatch
from memoranda.engines.sqlite.file.migrations import (
    APPLICATION_ID,
    Migration,
    Migrations,
    book_migrations,
)
from proofs._kill.writer import opened
from proofs._processes.together import AGENT, OWNER, Wrong, at_once, check_whole, made_thread

OPENINGS = 30


def newer() -> Migrations:
    """Pretend to be a program with a newer schema."""
    steps = book_migrations().after(0)
    following = Migration(
        len(steps) + 1,
        "marks",
        "CREATE TABLE trial (a INTEGER) STRICT; INSERT INTO trial VALUES (1);",
    )
    return Migrations([*steps, following], application_id=APPLICATION_ID)


def openings(folder: Path, seed: int) -> str:
    """Let several processes create or migrate the same file at the same moment."""
    rng = random.Random(seed)
    for number in range(OPENINGS):
        count = rng.choice((2, 2, 3))
        path = folder / f"fresh{number}.db"
        at_once(_open_and_write, count, path, False)
        asyncio.run(_check_openings(path, count))
        at_once(_open_and_write, count, path, True)
        kept = len(list(folder.glob(f"fresh{number}.db.v*.backup")))
        with closing(sqlite3.connect(path)) as connection:
            trials = connection.execute("SELECT count(*) FROM trial").fetchone()[0]
        if (kept, trials) != (1, 1):
            raise Wrong(
                f"{count} processes brought a book forward {trials} times and kept {kept} copies"
            )
    return f"{OPENINGS} files made, then brought forward, by two or three processes at once"


async def _open_and_write(barrier: Barrier, number: int, path: Path, forward: bool) -> None:
    options: dict[str, Any] = {"migrations": newer()} if forward else {}
    barrier.wait()
    async with opened(path, **options) as book:
        await book.remember(OWNER, f"from {number}, {forward}", agent=AGENT)


async def _check_openings(path: Path, count: int) -> None:
    async with memoranda.open(path, create=False) as book:
        if (held := await book.records.count(OWNER, types="memory", as_owner=True)) != count:
            raise Wrong(f"{held} statements of {count} processes that made the same book")
        await check_whole(book)


def older_version(path: Path) -> str:
    """Check that a process that had the book open when another one migrated it is refused."""
    asyncio.run(made_thread(path))
    codes = at_once(_old_and_new, 2, path)
    if codes[0] != ["version", "version", "version"] or codes[1] != []:
        raise Wrong(f"a process of an older version was told {codes[0]}")
    return "a process of an older version is refused at its next write"


async def _old_and_new(barrier: Barrier, number: int, path: Path) -> list[str]:
    """Let the first process have the book open while the second migrates it."""
    told: list[str] = []
    if number == 1:
        barrier.wait()
        async with opened(path, migrations=newer()) as book:
            await book.remember(OWNER, "in the new format", agent=AGENT)
        barrier.wait()
        return told
    async with opened(path) as book:
        await book.remember(OWNER, "in the old format", agent=AGENT)
        barrier.wait()
        barrier.wait()
        attempts = (
            book.remember(OWNER, "in the old format still", agent=AGENT),
            book.remember(OWNER, "and again", agent=AGENT),
            book.recall(OWNER, "format", agent=AGENT),
        )
        for attempt in attempts:
            try:
                await attempt
            except VersionMismatch as refusal:
                told.append(refusal.code)
    return told
