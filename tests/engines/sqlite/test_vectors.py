"""Vectors in one file: seen by every process at once, made by several, and held against their
passages.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda_conformance.builders import LARGE, SMALL, Follower, Pen, vectors_of
from memoranda_conformance.suites.vectors import embed_jobs, without_vectors
from tests.engines.sqlite.companion import embed
from tests.engines.sqlite.test_processes import together


async def test_what_one_process_puts_another_reads_at_once(tmp_path: Path):
    one = await SqliteEngine.open(tmp_path / "one.book")
    two = await SqliteEngine.open(tmp_path / "one.book")
    tea = await Pen(one).remember("tea")
    follower = Follower(two)
    await follower.follow()
    await one.begin_set(SMALL)
    await one.put_vectors(SMALL, vectors_of(SMALL, tea))
    (shelf,) = (await follower.follow()).values()
    assert shelf[tea].vector == vectors_of(SMALL, tea)[tea]
    await two.begin_set(LARGE)
    await two.put_vectors(LARGE, vectors_of(LARGE, tea))
    await two.switch_set(LARGE)
    # The other did not hear of it, and goes on as it was.
    assert await one.put_vectors(SMALL, vectors_of(SMALL, tea)) == 0
    (shelf,) = (await Follower(one).follow()).values()
    assert shelf[tea].vector == vectors_of(LARGE, tea)[tea]
    await Pen(one).erase(tea)
    assert await two.put_vectors(LARGE, vectors_of(LARGE, tea)) == 0
    assert (await two.verify()).faults == ()
    await one.close()
    await two.close()


async def test_processes_that_make_vectors_together_leave_none_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    place = tmp_path / "one.book"
    engine = await SqliteEngine.open(place)
    pen = Pen(engine)
    await engine.begin_set(SMALL)
    thread = await pen.open()
    said = await pen.say(thread, *(f"message {number}" for number in range(200)))
    shares = await asyncio.to_thread(together, embed, place, times=3)
    assert sum(shares) >= len(said)
    (shelf,) = (await Follower(engine).follow()).values()
    assert {id: row.vector for id, row in shelf.items()} == vectors_of(SMALL, *said)
    assert await without_vectors(engine, SMALL) == []
    assert (await engine.verify()).faults == ()
    assert len(await embed_jobs(engine)) == 1
    await engine.close()


FAULTS = {
    "a vector without its passage": (
        "INSERT INTO vectors SELECT (no << 40) + 99, zeroblob(8) FROM vector_sets",
        "its set or its passage is not there",
    ),
    "a vector without its set": (
        "INSERT INTO vectors SELECT (9 << 40) + record, zeroblob(8) FROM terms",
        "its set or its passage is not there",
    ),
    "a vector of another length": (
        "UPDATE vectors SET packed = zeroblob(9)",
        "its length is not that of its set",
    ),
    "a vector too few": ("DELETE FROM vectors", "not as many as their set says"),
    "facets of another": ("UPDATE records SET facets = ''", "its facets stands otherwise"),
    "learnt at another time": (
        "UPDATE records SET learnt = learnt - 1",
        "its first version was not recorded",
    ),
    "ended and still held": ("UPDATE records SET ended = recorded_at", "does not fit its status"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_verify_finds_what_does_not_fit_and_rebuilding_puts_it_right(
    tmp_path: Path, fault: str
):
    engine = await SqliteEngine.open(tmp_path / "one.book")
    tea = await Pen(engine).remember("tea")
    await engine.begin_set(SMALL)
    await engine.put_vectors(SMALL, vectors_of(SMALL, tea))
    statement, complaint = FAULTS[fault]
    with closing(sqlite3.connect(tmp_path / "one.book")) as connection, connection:
        connection.execute(statement)
    assert complaint in "; ".join((await engine.verify()).faults)
    await engine.rebuild()
    assert (await engine.verify()).faults == ()
    # What was lost with it is lacking again.
    await engine.put_vectors(SMALL, vectors_of(SMALL, *await without_vectors(engine, SMALL)))
    assert [found.count for found in await engine.vector_sets()] == [1]
    await engine.close()


async def test_what_was_passed_is_not_looked_at_again(tmp_path: Path):
    engine = await SqliteEngine.open(tmp_path / "one.book")
    pen = Pen(engine)
    await engine.begin_set(SMALL)
    thread = await pen.open()
    said = await pen.say(thread, *map(str, range(20)))

    async def through() -> int:
        return await engine.file.read(
            lambda c: c.execute("SELECT through FROM vector_sets").fetchone()[0]
        )

    first = await through()
    await engine.put_vectors(SMALL, vectors_of(SMALL, *said[10:]))
    assert await through() - first == 1  # the thread itself, which is no passage
    await engine.put_vectors(SMALL, vectors_of(SMALL, *said[:9]))
    middle = await through()
    await engine.put_vectors(SMALL, vectors_of(SMALL, said[9]))
    assert await through() - middle == 11
    await engine.close()
