"""A book on a server as the pieces that it is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from memoranda.engines.postgres.session import Row, Session
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

_BEHIND = "id > :after ORDER BY id LIMIT :limit"
#: More records than an owner can have.
_ALL = 2**62


async def book_frame(session: Session) -> BookFrame:
    """What belongs to no owner."""
    sets = await session.all("vector_sets")
    return BookFrame(
        tuple((name, dimension) for _, name, dimension, _, _ in sets),
        await _jobs(session, 0),
        await _spent(session, 0),
    )


async def frame(session: Session, era: bytes) -> Frame | None:
    """An era's frame."""
    row = await session.one("era", era)
    if row is None:
        return None
    no, tenant, kind, id, digest, position, erased_at = row
    shelves = await session.all("shelves_of_era", no)
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
        await _jobs(session, no),
        await _spent(session, no),
    )


async def after(session: Session, kind: PieceKind, era: bytes, behind: bytes, limit: int) -> list[Piece]:
    """Pieces behind a key, in the order of their keys."""
    if kind is PieceKind.STONE:
        return [StonePiece._make(row) for row in await session.all("stone_pieces", behind, limit)]
    no = await session.value("era", era)
    if no is None:
        return []
    if kind is PieceKind.ENTRY:
        rows = await session.all("entry_pieces", no, int.from_bytes(behind, "big"), limit)
        return [EntryPiece._make(row) for row in rows]
    rows = await session.all("record_pieces", conditions=_BEHIND, owner=no, after=behind, limit=limit)
    return list(await _records(session, no, rows))


async def whole(session: Session, era: bytes) -> OwnerPieces:
    """Return everything of an era's owner."""
    found = await frame(session, era)
    assert found is not None
    no = await session.value("era", era)
    entries = [EntryPiece._make(row) for row in await session.all("entry_pieces", no, 0, _ALL)]
    rows = await session.all("record_pieces", conditions=_BEHIND, owner=no, after=b"", limit=_ALL)
    return OwnerPieces(found, await _records(session, no, rows), entries)


async def _records(session: Session, owner: int, rows: Sequence[Row]) -> list[RecordPiece]:
    numbers = [row[0] for row in rows]
    versions = _grouped(await session.all("version_pieces", owner, numbers))
    links = _grouped(await session.all("link_pieces", owner, [row[1] for row in rows]))
    vectors = _grouped(await session.all("vector_pieces", owner, numbers))
    return [
        RecordPiece._make(
            (
                tuple(row[1:16]),
                tuple(row[16:19]),
                *row[19:24],
                tuple(VersionPiece._make((*v[:3], tuple(v[3:6]), *v[6:])) for v in versions[row[0]]),
                tuple(source for (source,) in links[row[1]]),
                None if row[24] is None else tuple(row[24:26]),
                None if row[26] is None else tuple(row[26:29]),
                tuple(vectors[row[0]]),
            )
        )
        for row in rows
    ]


def _grouped(rows: Iterable[Row]) -> defaultdict[Any, list[tuple[Any, ...]]]:
    """The rest of each row under its first column."""
    found: defaultdict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(tuple(row[1:]))
    return found


async def _jobs(session: Session, owner: int) -> tuple[JobPiece, ...]:
    found = []
    for row in await session.all("jobs_of_era", owner, list(OWN_UPKEEP)):
        id, kind, key, payload, records, *rest, kept_records, kept = row
        about = () if kept is None else tuple(sorted(kept_records))
        piece = (id, kind, key, job_payload(payload), tuple(records), *rest)
        found.append(JobPiece._make((*piece, None if kept is None else (about, kept))))
    return tuple(found)


async def _spent(session: Session, owner: int) -> tuple[SpentPiece, ...]:
    return tuple(tuple(row) for row in await session.all("spent_of_era", owner))
