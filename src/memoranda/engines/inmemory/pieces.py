"""A book in memory as the pieces that it is made of."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from memoranda.engines.inmemory.tables import Era, Kept, Tables, Version, Work
from memoranda.model.ledger import Entry
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
from memoranda.model.spending import COUNTS, steps_of
from memoranda.model.values import micros
from memoranda.settle.rows import audience_columns, dump_entry


def book_frame(tables: Tables) -> BookFrame:
    """What belongs to no owner."""
    sets = tuple((name, embedding.dimension) for name, embedding in tables.sets.items())
    return BookFrame(sets, _jobs(tables, None), _spent(tables, 0))


def frame(tables: Tables, id: bytes) -> Frame | None:
    """An era's frame."""
    era = tables.eras.get(UUID(bytes=id))
    if era is None:
        return None
    shelves = (
        ShelfPiece(audience_columns(shelf.audience), shelf.mark, shelf.renewed)
        for shelf in era.shelves.values()
    )
    return Frame(
        id,
        None if era.owner is None else era.owner.parts,
        era.digest,
        len(era.ledger),
        era.ended_at,
        tuple(sorted(shelves)),
        _jobs(tables, era),
        _spent(tables, era.number),
    )


def after(tables: Tables, kind: PieceKind, era: bytes, behind: bytes) -> list[Piece]:
    """Pieces behind a key, in the order of their keys."""
    if kind is PieceKind.STONE:
        return [StonePiece(*stone) for stone in sorted(tables.tombstones.items()) if stone[0] > behind]
    of = tables.eras.get(UUID(bytes=era))
    if of is None:
        return []
    if kind is PieceKind.ENTRY:
        return [_entry(entry) for entry in of.ledger[int.from_bytes(behind, "big") :]]
    return [_record(of.records[id]) for id in sorted(of.records) if id.bytes > behind]


def whole(tables: Tables, era: Era) -> OwnerPieces:
    """Return everything of an era's owner."""
    found = frame(tables, era.id.bytes)
    assert found is not None
    return OwnerPieces(
        found, [_record(era.records[id]) for id in sorted(era.records)], [_entry(e) for e in era.ledger]
    )


def _record(kept: Kept) -> RecordPiece:
    row: tuple[Any, ...] = tuple(kept.now.row)
    if kept.now.row.type == "thread":
        row = tuple(kept.now.row._replace(seq=kept.tail))
    use = kept.use
    return RecordPiece(
        row,
        audience_columns(kept.now.audience),
        kept.now.position,
        kept.learnt,
        kept.ended,
        kept.run,
        kept.mark,
        tuple(map(_version, kept.versions[:-1])),
        tuple(sorted(source.bytes for source in kept.sources)),
        None if kept.terms is None else (kept.rule, kept.terms),
        None
        if use is None
        else (use.strength, None if use.used_at is None else micros(use.used_at), use.count),
        tuple(sorted(kept.vectors.items())),
    )


def _version(version: Version) -> VersionPiece:
    row = version.row
    readers = audience_columns(version.audience)
    return VersionPiece(row.version, version.position, row.recorded_at, readers, row.hash, row.body)


def _entry(entry: Entry) -> EntryPiece:
    return EntryPiece(
        entry.position,
        micros(entry.at),
        entry.actor.kind,
        entry.actor.id,
        entry.operation,
        entry.request,
        dump_entry(entry),
    )


def _jobs(tables: Tables, era: Era | None) -> tuple[JobPiece, ...]:
    whose = None if era is None else era.id
    found = (work for work in tables.jobs.values() if work.job.era == whose)
    return tuple(sorted(_job(work) for work in found if era is not None or work.job.kind not in OWN_UPKEEP))


def _job(work: Work) -> JobPiece:
    job = work.job
    about = tuple(sorted(id.bytes for id in work.kept_about))
    return JobPiece(
        job.id.bytes,
        job.kind,
        job.key,
        job_payload(json.dumps(job.payload)),
        tuple(id.bytes for id in job.records),
        job.state.value,
        micros(job.run_at),
        micros(job.first_at),
        job.attempts,
        job.postponed,
        0 if work.not_before is None else micros(work.not_before),
        job.generation,
        work.leased_generation,
        job.worker,
        None if job.leased_until is None else micros(job.leased_until),
        job.error,
        None if work.kept is None else (about, work.kept),
    )


def _spent(tables: Tables, number: int) -> tuple[SpentPiece, ...]:
    found = []
    for row, sums in tables.spent.items():
        if row.era == number:
            counts = tuple(getattr(sums, name) for name in COUNTS)
            place = (row.tenant, row.day.isoformat(), row.agent or "", row.task, row.model)
            found.append((*place, *counts, steps_of(sums.price)))
    return tuple(sorted(found))
