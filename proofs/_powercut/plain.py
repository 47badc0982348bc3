"""A workload on bare SQLite, which tests these tools themselves."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path

from proofs._powercut.acknowledge import Acknowledgements
from proofs._powercut.drive import Lost, Missing

_GROUPS = 150


def workload(folder: Path, synchronous: str, seed: str) -> None:
    """Groups of rows, each in one transaction, acknowledged after its commit; checkpoints in
    between.
    """
    rng = random.Random(seed)
    acknowledgements = Acknowledgements(folder)
    number = 0
    connection = _opened(folder / "plain.sqlite", synchronous)
    for group in range(_GROUPS):
        size = rng.randint(1, 6)
        connection.execute("BEGIN IMMEDIATE")
        for _ in range(size):
            text = rng.choice("abcdef") * rng.randint(1, 3000)
            connection.execute("INSERT INTO line VALUES (?, ?, ?, ?)", (number, group, size, text))
            number += 1
        connection.execute("COMMIT")
        acknowledgements.mark(f"{group} {size}")
        chance = rng.random()
        if chance < 0.05:
            connection.execute(
                f"PRAGMA wal_checkpoint({rng.choice(['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'])})"
            )
        elif chance < 0.07:
            connection.close()
            connection = _opened(folder / "plain.sqlite", synchronous)
    connection.close()


def _opened(path: Path, synchronous: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA wal_autocheckpoint = 60")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS line (number INTEGER PRIMARY KEY, part INT, size INT, text TEXT)"
    )
    return connection


def check(folder: Path, acknowledged: tuple[str, ...]) -> None:
    """The file opens and is whole, every acknowledged group is there, and no group is there in
    part.
    """
    try:
        with contextlib.closing(_opened(folder / "plain.sqlite", "FULL")) as connection:
            verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
            counted = connection.execute(
                "SELECT part, size, count(*) FROM line GROUP BY part"
            ).fetchall()
    except sqlite3.Error as error:
        raise Lost(f"it does not open: {error}") from error
    if verdict != "ok":
        raise Lost(f"the integrity check says: {verdict}")
    if partial := [group for group, size, present in counted if size != present]:
        raise Lost(f"groups half applied: {partial}")
    present = {f"{group} {size}" for group, size, _ in counted}
    if missing := [mark for mark in acknowledged if mark not in present]:
        raise Missing(f"acknowledged and not there: {len(missing)}, first {missing[0]}")
