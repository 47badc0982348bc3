"""The SQLite engine passes the suite, and leaves nothing in its tables of an owner that was erased."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.changes import Retract
from memoranda.storage.rows import load_entry_body
from memoranda.testing import StoreSuite
from memoranda.testing.builders import SMALL, Pen, vectors_of


class TestSqlite(StoreSuite):
    async def open_engine(self, folder: Path) -> SqliteEngine:
        return await SqliteEngine.open(folder / "book.db")


async def test_nothing_that_names_or_tells_is_left_of_an_ended_era(tmp_path: Path):
    engine = await SqliteEngine.open(tmp_path / "book.db")
    pen = Pen(engine)
    memory = await pen.remember("likes tea", key="drink")
    await engine.begin_set(SMALL)
    await engine.put_vectors(SMALL, vectors_of(SMALL, memory))
    await pen.write(Retract(memory), operation="one", request=b"x")
    await pen.erase_all()
    await engine.close()
    with closing(sqlite3.connect(tmp_path / "book.db")) as connection:
        assert connection.execute("SELECT tenant, kind, id FROM owners").fetchall() == [(None, None, None)]
        entries = connection.execute("SELECT actor, body FROM ledger ORDER BY position").fetchall()
        assert [actor for actor, _ in entries] == [None] * 3
        lines = [line for _, body in entries for line in load_entry_body(body)[0]]
        assert {(line.hash, line.erased) for line in lines} == {(None, True)}
        # What waits yet is the book's own upkeep, and tells ids only.
        waiting = connection.execute("SELECT owner, payload, records FROM jobs").fetchall()
        assert not [job for job in waiting if job[0] or "ann" in job[1] or "tea" in job[1]]
        emptied = "records versions links terms vectors uses shelves shelf_groups gone"
        for table in emptied.split():
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
