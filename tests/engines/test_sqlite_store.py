"""The SQLite engine passes the suite, and leaves nothing in its tables of an owner that was
erased.
"""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.changes import Retract
from memoranda.ports import Engine
from memoranda.storage.rows import load_entry_body
from memoranda_conformance import StoreSuite
from memoranda_conformance.builders import SMALL, Pen, vectors_of


class TestSqlite(StoreSuite):
    async def open_engine(self, folder: Path) -> SqliteEngine:
        return await SqliteEngine.open(folder / "book.db")

    def read_elsewhere(self, engine: Engine) -> AbstractContextManager[object]:
        assert isinstance(engine, SqliteEngine)
        return reading(engine.path)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Read a book as another program would, until the block ends."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM records").fetchone()
        yield


def has_bytes(path: Path, words: bytes) -> bool:
    """True if the files of a book contain these bytes."""
    return any(words in part.read_bytes() for part in path.parent.glob(f"{path.name}*"))


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
        assert connection.execute("SELECT tenant, kind, id FROM owners").fetchall() == [
            (None, None, None)
        ]
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


#: Forgets a record, and is killed after the commit, before the file is cleared.
_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from uuid import UUID
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda_conformance.builders import Pen

async def main():
    engine = await SqliteEngine.open(Path(sys.argv[1]))
    async def die():
        os.kill(os.getpid(), signal.SIGKILL)
    engine._clear = die
    await Pen(engine).erase(UUID(sys.argv[2]))

asyncio.run(main())
"""


async def test_forgetting_again_after_a_kill_says_pending_while_somebody_reads_and_then_clears(
    tmp_path: Path,
):
    path = tmp_path / "book.db"
    engine = await SqliteEngine.open(path)
    pen = Pen(engine)
    memory = await pen.remember("qzcanary")
    with reading(path):
        killed = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", _KILLED, str(path), str(memory)],
            check=False,
            timeout=60,
        )
        assert killed.returncode == -signal.SIGKILL
        again = await pen.erase(memory)
        assert (again.state, dict(again.removed)) == ("pending", {})
    assert has_bytes(path, b"qzcanary")
    assert (await pen.erase(memory)).state == "complete"
    assert not has_bytes(path, b"qzcanary")
    await engine.close()


async def test_forgetting_again_after_a_cancelled_clearing_clears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "book.db"
    engine = await SqliteEngine.open(path)
    pen = Pen(engine)
    memory = await pen.remember("qzcanary")
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(engine.file, "rewrite", hang)
        forgetting = asyncio.create_task(pen.erase(memory))
        await reached.wait()
        forgetting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await forgetting
    with reading(path):
        assert (await pen.erase(memory)).state == "pending"
    assert (await pen.erase(memory)).state == "complete"
    assert not has_bytes(path, b"qzcanary")
    await engine.close()


async def test_a_clearing_does_not_strike_off_what_another_process_has_to_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "book.db"
    one, other = await SqliteEngine.open(path), await SqliteEngine.open(path)
    first, second = await Pen(one).remember("tea"), await Pen(one).remember("qzcanary")
    checkpoint, done = one.file.checkpoint, 0

    async def then_another_forgets() -> bool:
        nonlocal done
        emptied = await checkpoint()
        done += 1
        if done == 2:
            with reading(path):
                assert (await Pen(other).erase(second)).state == "pending"
        return emptied

    monkeypatch.setattr(one.file, "checkpoint", then_another_forgets)
    assert (await Pen(one).erase(first)).state == "complete"
    assert done == 2
    assert [job.kind for job in await one.jobs(None, 10) if job.kind == "scrub"] == ["scrub"]
    assert (await Pen(other).erase(second)).state == "complete"
    assert not has_bytes(path, b"qzcanary")
    assert [job.kind for job in await one.jobs(None, 10) if job.kind == "scrub"] == []
    await one.close()
    await other.close()
