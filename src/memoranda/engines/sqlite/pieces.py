"""A book in SQLite as the pieces that it is made of."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from memoranda.engines.sqlite.rows import fetch_many
from memoranda.engines.sqlite.statements import sql
from memoranda.model.jobs import told
from memoranda.model.moving import (
    OWN_UPKEEP,
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    OwnerPieces,
    Piece,
    PieceKind,
    RecordPiece,
    ShelfPiece,
    SpentPiece,
    StonePiece,
    VersionPiece,
    job_payload,
)
from memoranda.model.records import RecordType

#: A place of a vector is the number of its set and, in so many lower bits, that of its record.
_SET_BITS = 40

_UPKEEP = json.dumps(OWN_UPKEEP)
#: More records than an owner can have.
_ALL = 2**62


def book_frame(connection: sqlite3.Connection) -> BookFrame:
    """What belongs to no owner."""
    sets = connection.execute(sql("vector_sets")).fetchall()
    return BookFrame(
        tuple((name, dimension) for _, name, dimension, _, _ in sets),
        _jobs(connection, 0),
        _spent(connection, 0),
    )


def frame(connection: sqlite3.Connection, era: bytes) -> Frame | None:
    """An era's frame."""
    row = connection.execute(sql("era"), (era,)).fetchone()
    if row is None:
        return None
    no, tenant, kind, id, digest, position, erased_at = row
    shelves = connection.execute(sql("shelves_of_era"), (no,)).fetchall()
    return Frame(
        era,
        None if tenant is None else (tenant, kind, id),
        digest,
        position,
        erased_at,
        tuple(
            ShelfPiece((audience, agent, groups), mark, renewed)
            for _, audience, agent, groups, mark, renewed in shelves
        ),
        _jobs(connection, no),
        _spent(connection, no),
    )


def after(
    connection: sqlite3.Connection, kind: PieceKind, era: bytes, behind: bytes, limit: int
) -> list[Piece]:
    """Pieces behind a key, in the order of their keys."""
    if kind is PieceKind.STONE:
        return [StonePiece(*row) for row in connection.execute(sql("stone_pieces"), (behind, limit))]
    row = connection.execute(sql("era"), (era,)).fetchone()
    if row is None:
        return []
    if kind is PieceKind.ENTRY:
        values = (row[0], int.from_bytes(behind, "big"), limit)
        return [EntryPiece(*entry) for entry in connection.execute(sql("entry_pieces"), values)]
    return list(_records(connection, row[0], _ids_after(connection, row[0], behind, limit)))


def whole(connection: sqlite3.Connection, era: bytes) -> OwnerPieces:
    """Return everything of an era's owner."""
    (no, *_) = connection.execute(sql("era"), (era,)).fetchone()
    found = frame(connection, era)
    assert found is not None
    entries = [EntryPiece(*row) for row in connection.execute(sql("entry_pieces"), (no, 0, -1))]
    return OwnerPieces(found, _records(connection, no, _ids_after(connection, no, b"", _ALL)), entries)


def _ids_after(connection: sqlite3.Connection, owner_no: int, behind: bytes, limit: int) -> list[bytes]:
    """Shelf by shelf and type by type, for so they stand in an index; all of an owner's never come at once."""
    found: list[bytes] = []
    for shelf, *_ in connection.execute(sql("shelves_of_era"), (owner_no,)).fetchall():
        for type_ in RecordType:
            rows = connection.execute(sql("ids_on_shelf_after"), (shelf, type_.value, behind, limit))
            found += (row[0] for row in rows)
    return sorted(found)[:limit]


def _records(connection: sqlite3.Connection, owner_no: int, ids: list[bytes]) -> list[RecordPiece]:
    rows = fetch_many(connection, "record_pieces", ids, owner_no)
    numbers = [row[0] for row in rows]
    versions = _grouped(fetch_many(connection, "version_pieces", numbers))
    links = _grouped(fetch_many(connection, "link_pieces", [row[1] for row in rows]))
    vectors = _vectors(connection, numbers)
    return [
        RecordPiece._make(
            (
                row[1:16],
                row[16:19],
                *row[19:24],
                tuple(VersionPiece._make((*v[:3], v[3:6], *v[6:])) for v in versions[row[0]]),
                tuple(source for (source,) in links[row[1]]),
                None if row[24] is None else row[24:26],
                None if row[26] is None else row[26:29],
                tuple(sorted(vectors[row[0]])),
            )
        )
        for row in rows
    ]


def _grouped(rows: Iterable[tuple[Any, ...]]) -> defaultdict[Any, list[tuple[Any, ...]]]:
    """The rest of each row under its first column."""
    found: defaultdict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(row[1:])
    return found


def _vectors(connection: sqlite3.Connection, numbers: list[int]) -> defaultdict[int, list[tuple[str, bytes]]]:
    found: defaultdict[int, list[tuple[str, bytes]]] = defaultdict(list)
    for set_no, name, *_ in connection.execute(sql("vector_sets")).fetchall():
        base = set_no << _SET_BITS
        places: list[Any] = [base + no for no in numbers]
        for place, packed in fetch_many(connection, "vector_pieces", places):
            found[place - base].append((name, packed))
    return found


def _jobs(connection: sqlite3.Connection, owner_no: int) -> tuple[JobPiece, ...]:
    found = []
    for row in connection.execute(sql("jobs_of_era"), (owner_no, _UPKEEP)).fetchall():
        id, kind, key, payload, records, *rest, error, kept_records, kept = row
        about = () if kept is None else tuple(sorted(_ids(kept_records)))
        # A file of an earlier format has errors in it that not every engine keeps.
        piece = (id, kind, key, job_payload(payload), _ids(records), *rest, told(error))
        found.append(JobPiece._make((*piece, None if kept is None else (about, kept))))
    return tuple(found)


def _ids(listed: str) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(id) for id in json.loads(listed))


def _spent(connection: sqlite3.Connection, owner_no: int) -> tuple[SpentPiece, ...]:
    return tuple(connection.execute(sql("spent_of_era"), (owner_no,)).fetchall())
