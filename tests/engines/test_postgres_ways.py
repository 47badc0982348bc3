"""Each call makes a fixed number of round trips, and every statement has an index, with statistics
and without.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import pytest

from memoranda.model.changes import Confirm
from memoranda.model.query import Filter, Scan
from memoranda.model.records import EVERYONE, WHOLE
from memoranda_conformance.builders import ANN, AT_A, BEN, SMALL, Pen, vectors_of
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server.session import names, statement  # noqa: E402

#: What reads whole tables by its nature, such as an export of everything about a person, or tables
#: with a few rows.
_WHOLE = {
    "vector_sets",
    "shelves_behind",
    "count_indexed",
    "renew_shelves",
    "recount_shelves",
    "recount_held_of_all",
    "recount_vector_sets",
    "tables_of_content",
    "jobs_about",
    "erasures_of",
}
#: What takes all of a table in its order, or its first row, by its nature.
_WALKS = {"all_unmade", "jobs_in_state"}


class Ways:
    """Counts the statements that are sent to the server."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[str] = []
        for name in ("execute", "fetch", "fetchrow"):
            self._count(monkeypatch, name, getattr(asyncpg.Connection, name))

    def _count(self, monkeypatch: pytest.MonkeyPatch, name: str, was: Any) -> None:
        async def counted(connection: Any, text: str, *values: Any, **how: Any) -> Any:
            self.sent.append(text)
            return await was(connection, text, *values, **how)

        monkeypatch.setattr(asyncpg.Connection, name, counted)

    async def of(self, call: Awaitable[Any]) -> int:
        self.sent.clear()
        await call
        return len(self.sent)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    return Ways(monkeypatch)


async def test_a_write_goes_to_the_server_as_often_for_a_hundred_records_as_for_one(
    postgres: Place, ways: Ways
):
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine)
    await pen.remember("likes tea")
    one = await ways.of(pen.remember("likes coffee"))
    # Begin, the owner, everything that is stored, commit; and once the job that makes the first
    # vectors.
    assert one <= 4
    many = await ways.of(pen.write(*(pen.remembering(f"statement {n}") for n in range(100))))
    assert many == one
    assert len(await pen.scan()) == 102
    await engine.close()


async def test_an_erasure_goes_to_the_server_as_often_for_a_hundred_records_as_for_ten(
    postgres: Place, ways: Ways
):
    engine = await PostgresEngine.open(postgres.new_book())
    await engine.begin_set(SMALL)
    sent = []
    for owner, count in ((ANN, 10), (BEN, 100)):
        pen = Pen(engine, owner)
        ids = [await pen.remember(f"statement {n}", agent=f"agent {n % 3}") for n in range(count)]
        await engine.put_vectors(SMALL, vectors_of(SMALL, *ids))
        sent.append(await ways.of(pen.erase(*ids[: count // 2])))
        sent.append(await ways.of(pen.erase_all()))
    assert sent[:2] == sent[2:]
    assert (await engine.verify()).faults == ()
    await engine.close()


async def test_a_read_goes_to_the_server_between_its_begin_and_its_end_once(
    postgres: Place, ways: Ways
):
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine)
    id = await pen.remember("likes tea")
    assert await ways.of(engine.get(ANN, WHOLE, [id])) == 3
    assert await ways.of(engine.scan(ANN, WHOLE, Filter(), None, 10)) == 3
    scan = Scan(ANN, WHOLE, Filter(), None, 10)
    assert await ways.of(engine.scans([scan, scan])) == 4
    marks = {
        shelf.number: delta.mark for shelf, delta in await engine.since(ANN, WHOLE, lambda _: None)
    }
    seen = await ways.of(engine.look(ANN, WHOLE, marks.get, lambda _: [id]))
    assert seen == 4
    await engine.close()


async def test_a_history_goes_to_the_server_as_often_for_twelve_versions_as_for_three(
    postgres: Place, ways: Ways
):
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine, view=AT_A)
    thread = await pen.open(audience=EVERYONE, agent="a")
    sent = []
    for count in (2, 11):
        said = await pen.say(thread, *(f"tea {n}" for n in range(count + 1)), agent="a")
        memory = await pen.remember("likes tea", sources=said[:1], agent="a", audience=EVERYONE)
        for id in said[1:]:
            await pen.write(Confirm(memory, sources=(id,)))
        sent.append(await ways.of(engine.history(ANN, AT_A, memory)))
        steps = await engine.history(ANN, AT_A, memory)
        # Each version names sources that this agent may read.
        assert [len(step.record.rests_on()) for step in steps if step.record is not None][:3] == [
            1,
            2,
            3,
        ]
        assert len(steps) == count + 1
    assert sent[0] == sent[1]
    await engine.close()


async def test_what_a_set_lacks_is_known_without_a_look_at_what_has_its_vector(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine)
    ids = [await pen.remember(f"likes {n}") for n in range(6)]
    await engine.begin_set(SMALL)
    await engine.put_vectors(SMALL, vectors_of(SMALL, *ids[:4]))
    late = await pen.remember("likes more")

    async def waiting(session: Any) -> list[UUID]:
        rows = await session.text(
            "SELECT r.id FROM unmade AS u JOIN records AS r ON r.owner = u.owner AND r.no = u.record ORDER BY r.no"
        )
        return [UUID(bytes=row[0]) for row in rows]

    assert await engine.server.read(waiting, whole=True) == [*ids[4:], late]
    assert [record.id for record in await engine.lacking(SMALL, 10)] == [*ids[4:], late]
    assert (await engine.verify()).faults == ()
    await engine.close()


async def test_a_changed_record_and_a_new_one_of_the_same_key_are_stored_together(postgres: Place):
    engine = await PostgresEngine.open(postgres.new_book())
    pen = Pen(engine)
    for name in ("tea", "coffee", "water"):
        await pen.remember(f"likes {name}", key="drink")
    assert [
        getattr(one, "content", None) for one in await pen.scan(statuses=frozenset({"active"}))
    ] == ["likes water"]
    assert (await engine.verify()).faults == ()
    await engine.close()


@pytest.mark.parametrize("partitions", [0, 3])
async def test_every_statement_has_its_index_on_tables_that_nobody_has_looked_at(
    postgres: Place, partitions: int
):
    address = f"{postgres.new_book()}&partitions={partitions}"
    engine = await PostgresEngine.open(address)

    plans = await engine.server.write(_plans)
    scanned = {
        name: lines
        for name, plan in plans.items()
        if (lines := [line for line in plan if "Seq Scan on" in line])
    }
    assert scanned.keys() <= _WHOLE, scanned
    await engine.close()


async def test_no_statement_walks_an_index_where_it_could_look_up_in_tables_that_are_known(
    postgres: Place,
):
    engine = await PostgresEngine.open(postgres.new_book())

    async def filled(session: Any) -> None:
        await session.run_text("SET LOCAL memoranda.whole = 'on'")
        await session.run_text(
            "INSERT INTO owners (kind, era, digest) SELECT 'user', int4send(n), '' FROM generate_series(1, 500) AS n"
        )
        await session.run_text(
            "INSERT INTO shelves (owner, audience) SELECT no, 'global' FROM owners"
        )
        await session.run_text(
            "INSERT INTO records (owner, id, shelf, type, version, position, recorded_at, seq, at, facets, learnt, mark,"
            " hash, body) SELECT s.owner, int8send(s.no * 100 + n), s.no, 'message', 1, n, n, 0, n, '', n, n, '', ''"
            " FROM shelves AS s, generate_series(1, 20) AS n"
        )
        await session.run_text("INSERT INTO unmade SELECT 1, no, owner FROM records")
        await session.run_text(
            "INSERT INTO terms (owner, record, rule, packed) SELECT owner, no, 1, '' FROM records"
        )
        await session.run_text("ANALYZE owners, shelves, records, unmade, terms")

    await engine.server.write(filled)
    plans = await engine.server.write(_plans)
    await engine.close()
    big = ("records", "shelves", "unmade", "terms", "owners")
    walked = {
        name
        for name, plan in plans.items()
        for line, below in zip(plan, [*plan[1:], ""], strict=True)
        if re.search(rf"Index (Only )?Scan .* on ({'|'.join(big)})\b", line)
        and "Index Cond" not in below
    }
    assert walked <= _WALKS, {name: plans[name] for name in walked - _WALKS}


async def _plans(session: Any) -> dict[str, list[str]]:
    """Return the plan of every statement for any values."""
    found = {}
    for name in names():
        text = statement(name, "true").text
        await session.run_text(f"PREPARE planned_{name} AS {text}")
        count = max([0, *(int(number) for number in re.findall(r"\$(\d+)", text))])
        given = f"({', '.join(['NULL'] * count)})" if count else ""
        found[name] = [
            row[0].strip() for row in await session.text(f"EXPLAIN EXECUTE planned_{name}{given}")
        ]
    return found
