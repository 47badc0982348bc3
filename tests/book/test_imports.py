"""Exports come in whole or not at all: edited, cut, shuffled and hostile lines, and what verify
says of a book.
"""

from __future__ import annotations

import asyncio
import copy
import json
import random
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Erased, InvalidInput
from memoranda.engines.inmemory import InMemoryEngine
from memoranda.model.records import Owner
from memoranda.testing.clock import HandClock
from memoranda_conformance.builders import adopted

ANA = Owner(id="ana")
Line = dict[str, Any]


@pytest.fixture(params=["memory", "file"])
async def target(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[memoranda.Book]:
    address = "memory://" if request.param == "memory" else tmp_path / "target.db"
    async with memoranda.open(address) as opened:
        yield opened
        assert (await opened.admin.verify()).faults == ()


async def live(book: memoranda.Book) -> None:
    """Two owners with a bit of everything, and one who was erased."""
    thread = await book.thread("ana", agent="coach", name="order 7")
    said = await thread.append(
        [{"role": "user", "content": f"line {n}"} for n in range(3)], operation="said"
    )
    await book.remember(
        "ana", "Plays the cello", key="music", sources=said.ids("message")[:2], agent="coach"
    )
    await book.remember("ana", "Plays the viola", key="music", agent="coach")
    gone = await book.remember("ana", "Told a secret")
    held = await book.remember("ana", "Lives in Bonn", operation="home")
    await book.memories.mark_used("ana", [held.id])
    await book.memories.retract("ana", held.id, reason="moved")
    await book.forget("ana", [gone.id, said.ids("message")[0]], as_owner=True)
    await book.profiles.patch("ana", {"name": "Ana"}, as_owner=True)
    await book.remember("zoe", "Swims")
    await book.remember("carl", "Runs", operation="ran")
    await book.forget("carl", everything=True, as_owner=True)


async def _exported() -> list[str]:
    async with memoranda.open("memory://", clock=HandClock()) as book:
        await live(book)
        return [line async for line in book.admin.export()]


@pytest.fixture(scope="module")
def made() -> list[str]:
    return asyncio.run(_exported())


@pytest.fixture
def exported(made: list[str]) -> list[str]:
    return list(made)


async def contents(book: memoranda.Book, owner: str) -> list[Any]:
    return list((await book.records.list(owner, as_owner=True, limit=1000)).records)


def find(lines: list[Line], kind: str, **wanted: Any) -> int:
    """The place of the first line of a kind in ana's part."""
    for place, line in enumerate(lines):
        record = line.get("record", {})
        if line["line"] == kind and all(
            record.get(name) == value for name, value in wanted.items()
        ):
            return place
    raise AssertionError(kind)


def setting(kind: str, path: str, value: Any, **wanted: Any) -> Callable[[list[Line]], int]:
    """An edit: one value of one line is another; returns the line's number."""

    def edit(lines: list[Line]) -> int:
        place = find(lines, kind, **wanted)
        inner: Any = lines[place]
        *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        for part in way:
            inner = inner[part]
        inner[last] = value
        return place + 1

    return edit


def twice(kind: str) -> Callable[[list[Line]], int]:
    def edit(lines: list[Line]) -> int:
        place = find(lines, kind)
        lines.insert(place + 1, copy.deepcopy(lines[place]))
        end = next(line for line in lines[place:] if line["line"] == "end")
        end["counts"][kind] += 1
        return place + 2

    return edit


def without(kind: str) -> Callable[[list[Line]], None]:
    def edit(lines: list[Line]) -> None:
        place = find(lines, kind)
        end = next(line for line in lines[place:] if line["line"] == "end")
        end["counts"][kind] -= 1
        del lines[place]

    return edit


EDITS: dict[str, Callable[[list[Line]], int | None]] = {
    "an era that is none": setting("owner", "era", "zz"),
    "an owner of no kind": setting("owner", "kind", "robot"),
    "an owner without a name": setting("owner", "id", ""),
    "a position of zero": setting("entry", "position", 0),
    "a position below zero": setting("entry", "position", -1),
    "a position too large": setting("entry", "position", 10**30),
    "a position that is text": setting("entry", "position", "1"),
    "a position that is true": setting("entry", "position", True),
    "a time that is none": setting("entry", "at", "yesterday"),
    "a time without a zone": setting("entry", "at", "2026-03-02T09:00:00"),
    "a time before the year 1": setting("entry", "at", "0001-01-01T00:00:00+14:00"),
    "an actor of no kind": setting("entry", "actor", ["zz", None]),
    "an actor that is text": setting("entry", "actor", "owner"),
    "a body that is a list": setting("entry", "body", [[1]]),
    "a body without lines": setting("entry", "body", {}),
    "an unknown verb": setting("entry", "body.l.0.0", "sing"),
    "a ledger line of an unknown type": setting("entry", "body.l.0.1", "song"),
    "a ledger line of another type": setting("entry", "body.l.0.1", "memory"),
    "a ledger line with half an id": setting("entry", "body.l.0.2", "12"),
    "a ledger line that goes nowhere": setting("entry", "body.l.0.4", 0),
    "a ledger line with a digest": setting("entry", "body.l.0.5", "00" * 16),
    "a ledger line that is erased": setting("entry", "body.l.0", ["open", "thread", "0" * 32, 0, 1, None, 2]),
    "an unknown reason": setting("entry", "body.i", [[0, "bored", None, None]]),
    "an undo of text": setting("entry", "body.n", {"undoes": "all"}),
    "keys of the wrong size": setting("entry", "keys", ["00", "00"]),
    "half a pair of keys": setting("entry", "keys", ["00" * 16]),
    "a record that is a list": setting("record", "record", [1]),
    "a record of no type": setting("record", "record.type", "zzz"),
    "a record of a type that is a list": setting("record", "record.type", ["memory"]),
    "a record without content": setting("record", "record.content", " ", type="memory"),
    "a record with a strange field": setting("record", "record.mood", "good"),
    "a record of another version": setting("record", "record.version", 9),
    "a version too large": setting("record", "record.version", 2**70),
    "a record at a position that is not there": setting("record", "position", 999),
    "a record at another's position": setting("record", "position", 2),
    "a place too large": setting("record", "record.seq", 2**63, type="message"),
    "a place behind the tail": setting("record", "record.seq", 4, type="message"),
    "a tail of text": setting("record", "tail", "x"),
    "a tail too large": setting("record", "tail", 2**63 - 1),
    "a tail before its messages": setting("record", "tail", 1),
    "a tail of a memory": setting("record", "tail", 3, type="memory"),
    "an earlier version as the record": setting("version", "line", "record"),
    "the record as an earlier version": setting("record", "line", "version", type="memory", content="Lives in Bonn"),
    "a use of nothing": setting("use", "id", "00000000-0000-0000-0000-000000000000"),
    "a use beyond measure": setting("use", "strength", 7.0),
    "a use without end": setting("use", "strength", float("inf")),
    "a use that counts backwards": setting("use", "count", -1),
    "an end that counts otherwise": setting("end", "counts.record", 1),
    "an end that counts text": setting("end", "counts", "many"),
    "an unknown line": setting("use", "line", "music"),
    "an entry twice": twice("entry"),
    "a record twice": twice("record"),
    "a version twice": twice("version"),
    "a use twice": twice("use"),
    "an owner without an entry": without("entry"),
    "an owner without a record": without("record"),
    "an owner without a version": without("version"),
}  # fmt: skip


#: These lines are sound alone, and do not fit another, which may be the one that is named.
AGAINST_ANOTHER = {
    "a ledger line of another type",
    "the record as an earlier version",
    "an earlier version as the record",
}


@pytest.mark.parametrize("name", EDITS)
async def test_an_edited_owner_is_refused_by_line_and_the_others_come(
    name: str, exported: list[str], target: memoranda.Book
) -> None:
    await target.remember("ben", "was here before")
    lines = [json.loads(line) for line in exported]
    number = EDITS[name](lines)
    report = await target.admin.import_(json.dumps(line) for line in lines)
    (error,) = report.errors
    end = next(place for place, line in enumerate(lines, 1) if line["line"] == "end")
    assert 3 <= error[0] <= end
    assert number is None or name in AGAINST_ANOTHER or error[0] in (number, number + 1)
    assert (report.owners, report.adopted) == (1, 1)
    assert [owner.id for owner in await target.admin.owners()] == ["ben", "zoe"]
    assert await contents(target, "ana") == []


async def test_two_holders_of_one_key_are_refused(
    exported: list[str], target: memoranda.Book
) -> None:
    lines = [json.loads(line) for line in exported]
    older = lines[find(lines, "record", content="Plays the cello")]["record"]
    older["status"] = "active"
    del older["superseded_by"]
    report = await target.admin.import_(json.dumps(line) for line in lines)
    assert [reason for _, reason in report.errors if "key" in reason]
    assert await contents(target, "ana") == []


BOOK_EDITS: dict[str, tuple[str, Any]] = {
    "a secret that is long": ("secret", "00" * 65),
    "a secret that is short": ("secret", "00" * 31),
    "no secret": ("secret", ""),
    "a secret with blanks": ("secret", " " * 64),
    "eras that are none": ("erased_eras", [[1]]),
    "an era of the wrong size": ("erased_eras", [["00", "00" * 16, 0, []]]),
    "an era at no time": ("erased_eras", [["00" * 16, "00" * 16, 2**63, []]]),
    "an operation of the wrong size": ("erased_eras", [["00" * 16, "00" * 16, 0, [["00", "00"]]]]),
    "an era twice": ("erased_eras", [["00" * 16, "00" * 16, 0, []]] * 2),
    "tombstones that are none": ("tombstones", ["zz", 1]),
    "a tombstone twice": ("tombstones", [["00" * 16, 1]] * 2),
    "a field more": ("colour", "red"),
}


@pytest.mark.parametrize("name", BOOK_EDITS)
async def test_a_book_line_at_fault_refuses_the_file_and_the_book_stays_usable(
    name: str, exported: list[str], target: memoranda.Book
) -> None:
    field, value = BOOK_EDITS[name]
    line = {**json.loads(exported[1]), field: value}
    with pytest.raises(InvalidInput, match="line 2"):
        await target.admin.import_([exported[0], json.dumps(line), *exported[2:]])
    assert await target.admin.owners() == []
    await target.remember("ana", "goes on", operation="one")
    assert (await target.remember("ana", "goes on", operation="one")).repeated


async def test_a_file_that_is_cut_off_anywhere_says_so_and_brings_whole_owners_only(
    exported: list[str], target: memoranda.Book
) -> None:
    ends = [number for number, line in enumerate(exported, 1) if json.loads(line)["line"] == "end"]
    for length in range(1, len(exported)):
        async with memoranda.open("memory://") as copied:
            report = await copied.admin.import_(exported[:length])
            assert report.adopted == sum(end <= length for end in ends)
            assert report.errors[-1] == (length, report.errors[-1][1])
            assert "cut off" in report.errors[-1][1]
            assert (await copied.admin.verify()).faults == ()
    with pytest.raises(InvalidInput):
        await target.admin.import_([])
    report = await target.admin.import_(exported[: ends[0] - 1])
    assert [number for number, _ in report.errors] == [3, ends[0] - 1]
    assert await target.admin.owners() == []
    assert (await target.admin.import_(exported)).errors == []
    assert [line async for line in target.admin.export()] == exported


async def test_an_owner_whose_part_is_cut_is_not_merged_either(
    exported: list[str], target: memoranda.Book
) -> None:
    await target.remember("ana", "was here before")
    end = next(place for place, line in enumerate(exported) if json.loads(line)["line"] == "end")
    report = await target.admin.import_(exported[: end - 1])
    assert report.records == {}
    assert len(await contents(target, "ana")) == 1
    report = await target.admin.import_(exported)
    assert (report.owners, report.adopted, report.errors) == (2, 1, [])
    assert len(await contents(target, "ana")) > 1


async def test_the_order_of_an_owners_lines_does_not_matter(
    exported: list[str], target: memoranda.Book
) -> None:
    end = next(place for place, line in enumerate(exported) if json.loads(line)["line"] == "end")
    middle = exported[3:end]
    random.Random(7).shuffle(middle)
    report = await target.admin.import_([*exported[:3], *middle, *exported[end:]])
    assert report.errors == []
    assert sorted([line async for line in target.admin.export()]) == sorted(exported)


async def test_a_copy_exports_what_it_was_made_of_and_refuses_what_was_erased(
    book: memoranda.Book, target: memoranda.Book
) -> None:
    await live(book)
    exported = [line async for line in book.admin.export()]
    report = await target.admin.import_(book.admin.export())
    assert (report.owners, report.adopted, report.errors) == (2, 2, [])
    assert [line async for line in target.admin.export()] == exported
    for each in (book, target):
        with pytest.raises(Erased):
            await each.remember("carl", "Runs", operation="ran")
        assert (await each.remember("ana", "Lives in Bonn", operation="home")).repeated


async def test_lines_that_belong_nowhere_are_reported_by_number(
    exported: list[str], target: memoranda.Book
) -> None:
    stray = [
        json.dumps({"line": "music"}),
        "{",
        json.dumps([1]),
        '{"line": "use"}',
        "",
        "[" * 100_000,
    ]
    report = await target.admin.import_(
        [*exported[:2], *stray, *exported[2:], exported[3], *exported[1:2]]
    )
    last = len(exported) + len(stray)
    assert [number for number, _ in report.errors] == [3, 4, 5, 8, last + 1, last + 2]
    assert report.adopted == 2
    with pytest.raises(InvalidInput):
        await target.admin.import_(
            [json.dumps({**json.loads(exported[0]), "line": "owner"}), *exported[1:]]
        )


async def test_an_owner_comes_once_in_a_file(exported: list[str], target: memoranda.Book) -> None:
    report = await target.admin.import_(
        [*exported[:-1], *exported[2:-1], '{"line": "last", "owners": 3}']
    )
    assert report.adopted == 2
    assert [reason for _, reason in report.errors if "has this owner already" in reason]
    assert [reason for _, reason in report.errors if "should have 3 owners" in reason]


def leaves(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a line."""
    if way:
        yield way
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for part, each in inner:
        yield from leaves(each, (*way, part))


ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    2**63,
    10**40,
    1e308,
    "",
    "\ud800",
    "a\0b",
    "é" * 300,
    [],
    [[1]],
    {},
    {"\ud800": 1},
)


async def test_whatever_stands_in_a_line_is_taken_in_soundly_or_refused_by_a_typed_error(
    exported: list[str],
) -> None:
    end = next(place for place, line in enumerate(exported) if json.loads(line)["line"] == "end")
    part = [json.loads(line) for line in exported[2 : end + 1]]
    rng, refused = random.Random(3), 0
    for place, line in enumerate(part):
        for way in leaves(line):
            value = rng.choice(ODD)
            edited = copy.deepcopy(part)
            inner: Any = edited[place]
            for step in way[:-1]:
                inner = inner[step]
            inner[way[-1]] = value
            engine = InMemoryEngine()
            try:
                await adopted(engine, ANA, edited)
            except InvalidInput:
                refused += 1
                assert await engine.owners("default") == []
            else:
                assert (await engine.verify()).faults == (), (place, way, value)
    assert refused > 100


PLANTED = {
    "a record that is gone": ("DELETE FROM records WHERE type = 'message' AND seq = 2", "not in the book"),
    "a version that is gone": ("DELETE FROM versions", "not in the book"),
    "a position of nowhere": ("UPDATE records SET position = 999 WHERE type = 'memory'", "wrote it, and not 999"),
    "a version's position": ("UPDATE versions SET position = 999", "wrote it, and not 999"),
    "a slot that is gone": ("UPDATE records SET slot = NULL WHERE slot IS NOT NULL", "its slot stands otherwise"),
    "another status": ("UPDATE records SET status = 'active' WHERE status = 'retracted'", "its status stands"),
    "another place": ("UPDATE records SET seq = 1 WHERE type = 'message' AND seq = 2", "its seq stands"),
    "a link less": ("DELETE FROM links", "its links are not"),
    "a link more": ("INSERT INTO links (record, source) VALUES (x'00', x'01')", "links of record 00"),
    "a link astray": (
        "INSERT INTO links (record, source) SELECT id, x'01' FROM records WHERE type = 'memory'",
        "its links are not",
    ),
    "another shelf": (
        "UPDATE records SET shelf = (SELECT max(no) FROM shelves) WHERE type = 'thread'",
        "stands on no shelf of its owner",
    ),
    "no shelf": ("UPDATE records SET shelf = 999 WHERE type = 'thread'", "stands on no shelf of its owner"),
    "terms that are gone": ("DELETE FROM terms", "it has no terms"),
    "a mark that is gone": ("UPDATE records SET mark = 0 WHERE type = 'memory'", "it has no terms"),
    "a body that is none": ("UPDATE records SET body = '[' WHERE type = 'thread'", "cannot be read"),
    "a ledger that is none": ("UPDATE ledger SET body = '[' WHERE position = 1", "cannot be read"),
    "a ledger with a hole": ("DELETE FROM ledger WHERE position = 1", "no ledger entry wrote it"),
    "use of nothing": ("INSERT INTO uses (record, strength, count) VALUES (999, 1.0, 1)", "use 999"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
async def test_verify_finds_what_was_done_to_a_file_behind_its_back(
    name: str, tmp_path: Path, clock: HandClock
) -> None:
    path = tmp_path / "planted.db"
    async with memoranda.open(path, clock=clock) as book:
        await live(book)
        assert (await book.admin.verify()).faults == ()
    statement, told = PLANTED[name]
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    async with memoranda.open(path, clock=clock) as book:
        faults = (await book.admin.verify()).faults
        assert [fault for fault in faults if told in fault], faults
