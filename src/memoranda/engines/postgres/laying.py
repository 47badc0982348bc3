"""Pieces of another book, laid down on a server as they stood there: many at a time in each statement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from memoranda.engines.postgres import pieces as standing
from memoranda.engines.postgres.session import Session
from memoranda.engines.postgres.sets import remove
from memoranda.model.moving import (
    OWN_UPKEEP,
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    Piece,
    PieceKind,
    Readers,
    RecordPiece,
    ShelfPiece,
    SpentPiece,
    StonePiece,
    takes_away,
)

#: The mark of a copy in which something was taken away, or replaced.
REPLACED = "replaced"
#: Tables whose rows go with the number of their record.
_BESIDE = ("versions", "terms", "uses", "vectors", "unmade")


async def lay_book(session: Session, frame: BookFrame) -> None:
    """Let this be what belongs to no owner."""
    if takes_away(await standing.book_frame(session), frame):
        await _mark_replaced(session)
    meant = dict(frame.sets)
    for number, name, *_ in await session.all("vector_sets"):
        if name not in meant:
            await remove(session, number, name)
    for name, dimension in frame.sets:
        if await session.run("lay_vector_set", name, dimension):
            await session.run("all_unmade", set=await session.value("vector_set", name))
    await session.run("deactivate_vector_sets")
    for name, _ in frame.sets[:1]:
        await session.run("activate_vector_set", await session.value("vector_set", name))
    await _lay_work(session, 0, frame.jobs, frame.spent)


async def lay_frame(session: Session, frame: Frame) -> None:
    """Let this be an era's frame."""
    if takes_away(await standing.frame(session, frame.era), frame):
        await _mark_replaced(session)
    names = frame.names or (None, None, None)
    if frame.names is not None and await session.run("make_way_for_era", *frame.names, frame.era):
        await _mark_replaced(session)
    no = await session.value("put_era", *names, frame.era, frame.digest, frame.position, frame.erased_at)
    await _lay_shelves(session, no, frame.shelves)
    await _lay_work(session, no, frame.jobs, frame.spent)
    await session.run("recount_held", no)


async def lay(
    session: Session, kind: PieceKind, era: bytes, pieces: Sequence[Piece], gone: Sequence[bytes]
) -> None:
    """Let these be an era's pieces, and those that are gone be none."""
    if kind is PieceKind.STONE:
        await session.run("take_away_stones", list(gone))
        await session.run("lay_stones", *_columns([p for p in pieces if isinstance(p, StonePiece)], 2))
        return
    no = await session.value("era", era)
    if kind is PieceKind.ENTRY:
        entries = [piece for piece in pieces if isinstance(piece, EntryPiece)]
        going = [int.from_bytes(key, "big") for key in gone]
        if await session.value("has_entries", no, [*going, *(entry.position for entry in entries)]):
            await _mark_replaced(session)
        await session.run("take_away_entries", no, going)
        await session.run("lay_entries", no, *_columns(entries, 7))
        return
    await _take_away(session, no, list(gone))
    await session.run("take_away_ids", list(gone))
    await _lay_records(session, no, [piece for piece in pieces if isinstance(piece, RecordPiece)])


async def _lay_shelves(session: Session, owner: int, shelves: Iterable[ShelfPiece]) -> None:
    meant = {shelf.readers: shelf for shelf in shelves}
    for number, *readers, _, _ in await session.all("shelves_of_era", owner):
        # A record without its shelf would not be met again, and never be taken away.
        if tuple(readers) not in meant and await session.value("shelf_is_empty", owner, number):
            await session.run("delete_shelf_groups", owner, number)
            await session.run("delete_shelf", owner, number)
    for shelf in meant.values():
        number = await _shelf_number(session, owner, shelf.readers)
        await session.run("set_shelf", shelf.mark, shelf.renewed, owner, number)


async def _shelf_number(session: Session, owner: int, readers: Readers) -> int:
    """The number of the owner's shelf for an audience; made where there is none."""
    found: int | None = await session.value("shelf", owner, *readers)
    if found is None:
        found = await session.value("add_shelf", owner, *readers)
        await session.run("add_shelf_groups", owner, found, json.loads(readers[2]))
    assert found is not None
    return found


async def _lay_work(
    session: Session, owner: int, work: Iterable[JobPiece], spent: Iterable[SpentPiece]
) -> None:
    await session.run("clear_kept", owner)
    await session.run("clear_jobs", owner, list(OWN_UPKEEP))
    for job in work:
        await session.run("lay_job", owner, *job[:4], list(job.records), *job[5:-1])
        if job.kept is not None:
            await session.run("lay_kept", job.id, list(job.kept[0]), job.kept[1])
    await session.run("delete_spent_of_owner", owner)
    for row in spent:
        await session.run("lay_spent", owner, *row)


async def _mark_replaced(session: Session) -> None:
    """What was replaced may have been erased where it comes from, and lies dead in the server's files."""
    await session.run("set_mark_of_book", REPLACED, b"")


async def _take_away(session: Session, owner: int, ids: list[bytes]) -> dict[bytes, int]:
    """Take records away with everything that stands beside them; returns the numbers that they had."""
    numbers = {row[0]: row[1] for row in await session.all("numbers_of_records", owner, ids)}
    if numbers:
        for table in _BESIDE:
            await session.run(f"take_away_{table}", owner, list(numbers.values()))
        await session.run("take_away_links", owner, ids)
        await session.run("take_away_records", owner, ids)
        await _mark_replaced(session)
    return numbers


async def _lay_records(session: Session, owner: int, pieces: list[RecordPiece]) -> None:
    ids = [piece.key for piece in pieces]
    # They keep the numbers that they have, and so their places in the order of making.
    had = await _take_away(session, owner, ids)
    await session.run("make_way_for_slots", owner, [p.row[4] for p in pieces if p.row[4] is not None])
    readers = {p.readers for p in pieces} | {v.readers for p in pieces for v in p.earlier}
    shelves = {each: await _shelf_number(session, owner, each) for each in sorted(readers)}
    await session.run("claim_ids", ids, owner)
    rows = [(had.get(p.key), *p.row, shelves[p.readers], *p[2:7]) for p in pieces]
    await session.run("lay_records", owner, *_columns(rows, 22))
    found = {row[0]: row[1] for row in await session.all("numbers_of_records", owner, ids)}
    sets = {row[1]: row[0] for row in await session.all("vector_sets")}
    for name, width, beside in (
        ("versions", 8, _versions(pieces, found, shelves)),
        ("links", 2, [(p.key, source) for p in pieces for source in p.sources]),
        ("terms", 3, [(found[p.key], *p.terms) for p in pieces if p.terms is not None]),
        ("uses", 4, [(found[p.key], *p.use) for p in pieces if p.use is not None]),
        ("vectors", 3, [(found[p.key], sets[n], v) for p in pieces for n, v in p.vectors if n in sets]),
    ):
        if beside:
            await session.run(f"lay_{name}", owner, *_columns(beside, width))
    await session.run("lay_unmade", owner, list(found.values()))


def _versions(
    pieces: Iterable[RecordPiece], numbers: dict[bytes, int], shelves: dict[Readers, int]
) -> list[tuple[Any, ...]]:
    rows = []
    for piece in pieces:
        ends = [*(version.recorded_at for version in piece.earlier[1:]), piece.row[3]]
        for v, end in zip(piece.earlier, ends, strict=False):
            place = (numbers[piece.key], v.version, shelves[v.readers], v.position, v.recorded_at, end)
            rows.append((*place, v.body, v.hash))
    return rows


def _columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Rows as columns, of which there are as many where there are no rows."""
    return [[row[place] for row in rows] for place in range(width)]
