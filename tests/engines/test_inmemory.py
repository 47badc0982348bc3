"""The in-memory engine passes the suite, finds what is planted in its tables, and may be used from
several threads.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.model.changes import Retract
from memoranda_conformance import StoreSuite
from memoranda_conformance.builders import SMALL, Pen, vectors_of
from tests.engines.rehearsal import RehearsingEngine


class TestInMemory(StoreSuite):
    async def open_engine(self, folder: Path) -> InMemoryEngine:
        return InMemoryEngine()


@pytest.mark.again
class TestRehearsed(StoreSuite):
    """The same suite, as an engine without transactions over many statements would run it."""

    # One owner's writes are committed before the other's, and an id that is taken is found then.
    test_nothing_is_stored_if_the_owners_own_part_is_refused = None  # type: ignore[assignment]

    async def open_engine(self, folder: Path) -> InMemoryEngine:
        return RehearsingEngine()


async def test_verify_finds_what_is_planted():
    engine = InMemoryEngine()
    pen = Pen(engine)
    thread = await pen.open()
    (said,) = await pen.say(thread, "tea")
    memory = await pen.remember("likes tea", sources=(said,))
    await pen.write(Retract(memory))
    tables = engine._tables
    kept = tables.records[memory]
    first, second = kept.versions
    other = second.row._replace(body=second.row.body.replace("tea", "gin"))

    async def faults() -> list[str]:
        return [fault.split(": ", 1)[1] for fault in (await engine.verify()).faults]

    kept.versions[1] = replace(second, row=other)
    assert await faults() == ["its content is not what was written"]
    kept.versions[1] = replace(second, row=other._replace(hash=first.row.hash))
    assert "the ledger tells of another content" in await faults()
    kept.versions[:] = [first]
    assert await faults() == ["version 2 is in the ledger and not in the book"]
    kept.versions[:] = [first, second, replace(second, row=second.row._replace(version=3))]
    assert await faults() == ["no ledger entry wrote it"]
    kept.versions[:] = [first, second]
    tables.records[thread].tail = 0
    assert await faults() == [f"message {said} lies behind its tail"]
    tables.records[thread].tail = 1
    kept.sources = ()
    assert len(await faults()) == 2
    await engine.rebuild()
    assert await faults() == []


async def test_verify_finds_what_fits_no_other_table_and_a_rebuild_mends_it():
    engine = InMemoryEngine()
    pen = Pen(engine)
    (said,) = await pen.say(await pen.open(), "tea")
    memory = await pen.remember("likes tea", key="drink", sources=(said,))
    other = await pen.remember("likes rum", key="other")
    tables = engine._tables
    kept, row = tables.records[other], tables.records[other].now.row
    kept.versions[0] = replace(kept.now, row=row._replace(slot=tables.records[memory].now.row.slot))
    tables.resting[said].add(other)
    await engine.begin_set(SMALL)
    await engine.put_vectors(SMALL, vectors_of(SMALL, said, memory))
    tables.records[said].vectors["unknown"] = b""
    tables.records[memory].vectors[SMALL.name] += b"x"
    assert sorted((await engine.verify()).faults) == sorted(
        [
            f"memory {other}: its slot stands otherwise than its content says",
            f"record {other}: another record holds the same key or name",
            f"links to record {said}: they are not those of the records that rest on it",
            f"vector of record {said}: its set or its passage is not there",
            f"vector of record {memory}: its length is not that of its set",
        ]
    )
    await engine.rebuild()
    assert (await engine.verify()).faults == ()


async def test_nothing_that_names_or_tells_is_left_of_an_ended_era():
    engine = InMemoryEngine()
    pen = Pen(engine)
    memory = await pen.remember("likes tea", key="drink")
    await pen.write(Retract(memory), operation="one", request=b"x")
    await pen.erase_all()
    (era,) = engine._tables.eras.values()
    assert [(entry.actor.id, entry.owner) for entry in era.ledger] == [(None, None)] * 3
    assert {(line.hash, line.erased) for entry in era.ledger for line in entry.lines} == {
        (None, True)
    }
    assert "ann" not in repr(engine._tables)
    assert "tea" not in repr(engine._tables)


def test_several_threads_may_write_to_one_book():
    engine = InMemoryEngine()
    pen = Pen(engine)
    refused: list[BaseException] = []

    async def write() -> None:
        for number in range(50):
            await pen.remember(str(number))

    def run() -> None:
        try:
            asyncio.run(write())
        except BaseException as exc:
            refused.append(exc)
            raise

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == []
    assert [entry.position for entry in asyncio.run(pen.ledger())] == list(range(1, 401))


async def test_two_books_digest_nothing_alike():
    digests = []
    for engine in (
        InMemoryEngine(),
        InMemoryEngine(),
        InMemoryEngine(b"same"),
        InMemoryEngine(b"same"),
    ):
        pen = Pen(engine)
        await pen.write(pen.remembering("tea", id=UUID(int=7)), operation="one", request=b"x")
        (entry,) = await pen.ledger()
        digests.append((entry.operation, entry.request, entry.lines[0].hash))
    assert digests[2] == digests[3]
    assert len({digest for three in digests[:3] for digest in three}) == 9
