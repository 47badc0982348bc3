"""Verification finds what was done to a file behind its back, and a rebuild mends what can be
recomputed.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memoranda.engines.sqlite import engine as engines
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.engines.sqlite.file.connections import Session, upkeep
from memoranda.errors import StorageError
from memoranda.storage.use_case import Deciding, run
from memoranda.storage.use_cases.rebuild import Place, rebuild_some, rebuild_tables
from memoranda.storage.use_cases.verify import TABLE_FAULTS, verify
from memoranda_conformance.builders import Pen
from tests.engines.planted import PLANTED, Fault, Tried, fill, missed

OWN = {
    "a vector's length": Fault("UPDATE vectors SET packed = zeroblob(9)", "vector_length"),
    "a link of nothing": Fault("INSERT INTO links (record, source) VALUES (x'00', x'01')", "links_without_record"),
    "a link more": Fault("INSERT INTO links (record, source) SELECT id, x'01' FROM records", "its links are not what it rests on"),
    "terms of nothing": Fault("INSERT INTO terms VALUES (999, 1, x'')", "terms_without_record"),
    "use of nothing": Fault("INSERT INTO uses (record, strength, count) VALUES (999, 1.0, 1)", "use_without_memory"),
    "a vector of no set": Fault("INSERT INTO vectors SELECT (9 << 40) + record, x'00' FROM terms", "vector_astray"),
    "another shelf": Fault("UPDATE records SET shelf = (SELECT max(no) FROM shelves)", "record_without_shelf", False),
}  # fmt: skip


def tried(connection: sqlite3.Connection, statement: str) -> Tried:
    """Plant a fault in a transaction that is rolled back."""
    on = Session(connection)

    def done(deciding: Deciding[Any]) -> Any:
        found, writes = run(deciding, partial(engines._answer, on))
        for write in writes:
            engines._WRITES[type(write)](on, write)
        return found

    connection.execute("BEGIN IMMEDIATE")
    try:
        assert connection.execute(statement).rowcount > 0
        before = done(verify(None)).faults
        place: Place | None = Place()
        while place is not None and "cannot be read" not in str(before):
            place, _ = done(rebuild_some(place))
        done(rebuild_tables())
        return Tried(before, done(verify(None)).faults)
    finally:
        connection.execute("ROLLBACK")


async def test_verify_finds_every_fault_and_a_rebuild_mends_what_it_can(tmp_path: Path):
    engine = await SqliteEngine.open(tmp_path / "one.book")
    await fill(engine)
    assert (await engine.verify()).faults == ()
    await engine.close()
    planted = PLANTED | OWN
    with closing(sqlite3.connect(tmp_path / "one.book", isolation_level=None)) as connection:
        results = {name: tried(connection, fault.statement) for name, fault in planted.items()}
    assert missed(planted, results) == {}
    assert {name for name in upkeep() if name in TABLE_FAULTS} <= {
        fault.told for fault in planted.values()
    }


async def test_a_rebuild_that_is_interrupted_loses_nothing_and_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    engine = await SqliteEngine.open(tmp_path / "one.book")
    await fill(engine)
    with closing(sqlite3.connect(tmp_path / "one.book")) as connection, connection:
        connection.execute("UPDATE records SET facets = 'x'")
        connection.execute(
            "UPDATE links SET source = x'01' WHERE source = (SELECT min(source) FROM links)"
        )
    faults = len((await engine.verify()).faults)
    monkeypatch.setattr("memoranda.storage.use_cases.rebuild.PAGE", 2)
    write, pages = engine.write, iter(range(2))

    async def interrupted(*args: Any, **options: Any) -> Any:
        if next(pages, None) is None:
            raise StorageError("the disk is full")
        return await write(*args, **options)

    monkeypatch.setattr(engine, "write", interrupted)
    with pytest.raises(StorageError):
        await engine.rebuild()
    monkeypatch.undo()
    assert 0 < len((await engine.verify()).faults) < faults
    done = await engine.rebuild()
    assert (done["records"], done["links"], done["owners"]) == (20, 11, 2)
    assert (await engine.verify()).faults == ()
    await engine.close()


async def test_verify_and_rebuild_report_progress(tmp_path: Path):
    engine = await SqliteEngine.open(tmp_path / "one.book")
    pen = Pen(engine)
    for _ in range(3):
        await pen.write(*(pen.remembering(f"statement {number}") for number in range(700)))
    told: list[tuple[int, int]] = []
    await engine.verify(lambda done, total: told.append((done, total)))
    assert told == [(1000, 2100), (2000, 2100)]
    told.clear()
    await engine.rebuild(lambda done, total: told.append((done, total)))
    assert [total for _, total in told] == [2100, 2100]
    await engine.close()
