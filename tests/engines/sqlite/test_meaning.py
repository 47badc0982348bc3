"""The step to vectors and facets: a book of the first format is brought forward with everything filled in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from uuid import UUID

from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.engines.sqlite.file.migrations import APPLICATION_ID, book_migrations, statements_of
from memoranda.model.changes import Amend, OpenThread, PatchProfile, RecordEpisode, Retract, Undo
from memoranda.model.passages import PassageRow
from memoranda.model.records import EVERYONE, Limits, Trust
from memoranda.model.values import micros, new_id
from memoranda.ports import Engine
from memoranda.testing.builders import ANN, BEN, SMALL, Follower, Pen, a_thread, an_episode, vectors_of
from memoranda.testing.conformance.maintenance import a_full_life, everything
from memoranda.testing.conformance.vectors import without_vectors

STRANGE = 'Ann "B" \\ ☕ ü 👩‍🚀 / \u2028'


def as_of_the_first_format(place: Path, target: Path) -> None:
    """A file that the first version of the schema made, with what a book holds now."""
    first = files("memoranda.engines.sqlite").joinpath("schema", "0001_book.sql").read_text("utf-8")
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        for statement in statements_of(first):
            connection.execute(statement)
        connection.execute("ATTACH ? AS present", (str(place),))
        for (table,) in connection.execute(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table'"
        ).fetchall():
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(f"DELETE FROM main.{table}")
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM present.{table}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")


async def a_long_life(engine: Engine) -> None:
    """Everything that the step has to fill in, in every state."""
    pen, other = Pen(engine, ANN), Pen(engine, BEN)
    await a_full_life(pen, items=False)
    thread = await pen.open(agent="guide", tags=("trip", STRANGE))
    await pen.write(OpenThread(a_thread(pen.owner, title="bare")))
    await pen.say(thread, "hello", speaker=STRANGE, trust=Trust.TOOL)
    await pen.say(thread, "a page", role="tool", native={"trust": "no", "agent": 1, "key": [2]})
    await pen.write(RecordEpisode(an_episode(pen.owner, tags=("ü",)), b""))
    await pen.write(RecordEpisode(an_episode(pen.owner, trust=Trust.OPERATOR), b""))
    undone = await pen.write(RecordEpisode(an_episode(pen.owner, "undone"), b""))
    await pen.write(Undo(undone.position))
    town = await pen.remember("lives in Bonn", key=STRANGE, subject=STRANGE, tags=(STRANGE, "b"))
    await pen.remember("lives in Rome", key=STRANGE, data={"status": "retracted"})
    await pen.write(Amend(town, {"pinned": True}))
    retracted = await pen.remember("is a duke")
    again = await pen.write(Retract(retracted))
    await pen.write(Undo(again.position))
    await pen.write(Retract(retracted))
    made = await other.write(other.remembering("is a count"))
    unmade = await other.write(Undo(made.position))
    await other.write(Undo(unmade.position))
    await other.write(PatchProfile(new_id(), "Profile", EVERYONE, {"name": "Ben"}))
    await other.write(
        other.remembering("x"),
        limits=Limits(memories_per_owner=1, at_capacity="evict_oldest", writes_per_run=9),
    )
    await other.erase(await other.remember("the last record of all"))


async def test_a_book_of_the_first_format_is_filled_in(tmp_path: Path):
    engine = await SqliteEngine.open(tmp_path / "present.book")
    await a_long_life(engine)
    expected = [await everything(engine, owner) for owner in (ANN, BEN)]
    ledgers = [await Pen(engine, owner).ledger() for owner in (ANN, BEN)]
    await engine.close()
    old = tmp_path / "old.book"
    as_of_the_first_format(tmp_path / "present.book", old)

    engine = await SqliteEngine.open(old)
    assert (await engine.facts()).format == book_migrations().latest
    assert (await engine.verify()).faults == ()
    for owner, parts in zip((ANN, BEN), expected, strict=True):
        assert await everything(engine, owner) == parts
    assert [await Pen(engine, owner).ledger() for owner in (ANN, BEN)] == ledgers
    assert len(await engine.known_backups()) == 1
    # It goes on as any other, and no number of a record comes back.
    pen = Pen(engine, BEN)
    pen.now = ledgers[1][-1].at
    new = await pen.remember("anew", key="k")
    await engine.begin_set(SMALL)
    everyone = await without_vectors(engine, SMALL)
    assert everyone[-1] == new
    assert await engine.put_vectors(SMALL, vectors_of(SMALL, *everyone)) == len(everyone)
    assert (await engine.verify()).faults == ()
    await engine.close()
    with closing(sqlite3.connect(old)) as connection:
        number = connection.execute("SELECT no FROM records WHERE id = ?", (new.bytes,)).fetchone()[0]
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        schema = dict(connection.execute("SELECT name, sql FROM sqlite_schema"))
    with closing(sqlite3.connect(tmp_path / "present.book")) as connection:
        last = "SELECT seq FROM sqlite_sequence WHERE name = 'records'"
        assert number > connection.execute(last).fetchone()[0]
        assert dict(connection.execute("SELECT name, sql FROM sqlite_schema")) == schema


async def test_an_emptied_version_does_not_say_that_its_record_was_not_held(tmp_path: Path):
    engine = await SqliteEngine.open(tmp_path / "present.book")
    pen = Pen(engine)
    one, two = await pen.remember("one"), await pen.remember("two")
    both = await pen.remember("both", sources=(one, two))
    await pen.write(Retract(both))
    await pen.erase(one)
    (present,) = await rows_of(engine, both)
    emptied = (await pen.read(both)).recorded_at
    await engine.close()
    as_of_the_first_format(tmp_path / "present.book", tmp_path / "old.book")
    engine = await SqliteEngine.open(tmp_path / "old.book")
    (row,) = await rows_of(engine, both)
    # When it was retracted went with what it said: the first moment that is still known stands for it.
    assert row == present._replace(ended=micros(emptied))
    assert (await engine.verify()).faults == ()
    await engine.close()


async def rows_of(engine: Engine, *ids: UUID) -> list[PassageRow]:
    shelf = (await Follower(engine).follow())[EVERYONE]
    return [shelf[id] for id in ids]


async def test_an_empty_book_of_the_first_format_is_brought_forward(tmp_path: Path):
    engine = await SqliteEngine.open(tmp_path / "present.book")
    await engine.close()
    as_of_the_first_format(tmp_path / "present.book", tmp_path / "old.book")
    engine = await SqliteEngine.open(tmp_path / "old.book")
    await Pen(engine).remember("tea")
    assert (await engine.verify()).faults == ()
    await engine.close()
