"""Builds pieces of a book from the rows of an engine that stores them in SQL tables, and such rows
from pieces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from memoranda.model.book_rows import (
    Frame,
    JobPiece,
    RecordPiece,
    ShelfPiece,
    SpentPiece,
    VersionPiece,
    job_payload,
)

Row = Sequence[Any]


def frame_of(
    era: bytes,
    row: Row,
    shelves: Iterable[Row],
    jobs: tuple[JobPiece, ...],
    spent: tuple[SpentPiece, ...],
) -> Frame:
    """Build a frame from the rows of an era and of its shelves."""
    tenant, kind, id, digest, position, erased_at = row
    return Frame(
        era,
        None if tenant is None else (tenant, kind, id),
        digest,
        position,
        erased_at,
        tuple(ShelfPiece(tuple(shelf[1:4]), *shelf[4:]) for shelf in shelves),
        jobs,
        spent,
    )


def job_of(piece: JobPiece, quoted: Iterable[bytes] | None, text: str | None) -> JobPiece:
    """Return a job as copies transfer it, with the model's answer that is stored with it."""
    kept = None if text is None else (tuple(sorted(quoted or ())), text)
    return piece._replace(payload=job_payload(piece.payload), kept=kept)


def records_of(
    rows: Sequence[Row], versions: Iterable[Row], links: Iterable[Row], vectors: Iterable[Row]
) -> list[RecordPiece]:
    """Build records from their rows and those of the tables beside, which begin with the record's
    number or id.
    """
    of_versions, of_links, of_vectors = map(_grouped, (versions, links, vectors))
    return [
        RecordPiece._make(
            (
                tuple(row[1:16]),
                tuple(row[16:19]),
                *row[19:24],
                tuple(
                    VersionPiece._make((*v[:3], tuple(v[3:6]), *v[6:])) for v in of_versions[row[0]]
                ),
                tuple(source for part, source in of_links[row[1]] if not part),
                None if row[24] is None else tuple(row[24:26]),
                None if row[26] is None else tuple(row[26:29]),
                tuple(of_vectors[row[0]]),
                tuple((bytes(part), bytes(source)) for part, source in of_links[row[1]] if part),
            )
        )
        for row in rows
    ]


def _grouped(rows: Iterable[Row]) -> defaultdict[Any, list[tuple[Any, ...]]]:
    """Group the rest of each row by its first column."""
    found: defaultdict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(tuple(row[1:]))
    return found


def rows_of_versions(
    pieces: Iterable[RecordPiece], numbers: dict[bytes, int], shelves: dict[Any, int]
) -> list[tuple[Any, ...]]:
    """Return the rows of the earlier versions of records; each ends when the next one was
    recorded.
    """
    found = []
    for piece in pieces:
        ends = [*(version.recorded_at for version in piece.earlier[1:]), piece.row[3]]
        for v, end in zip(piece.earlier, ends, strict=False):
            place = (
                numbers[piece.key],
                v.version,
                shelves[v.readers],
                v.position,
                v.recorded_at,
                end,
            )
            found.append((*place, v.body, v.hash))
    return found
