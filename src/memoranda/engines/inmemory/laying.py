"""Pieces of another book, laid down in memory as they stood there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date
from uuid import UUID

from memoranda.engines.inmemory.tables import Era, Kept, SpentRow, Tables, Version, Work
from memoranda.model.jobs import Job, JobState
from memoranda.model.ledger import Actor, Entry
from memoranda.model.moving import (
    OWN_UPKEEP,
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    Piece,
    PieceKind,
    RecordPiece,
    SpentPiece,
    StonePiece,
    VersionPiece,
)
from memoranda.model.passages import Use
from memoranda.model.spending import COUNTS, Sums, price_of
from memoranda.model.values import moment
from memoranda.model.vectors import Embedding
from memoranda.settle import StoredRow, decode, encode
from memoranda.settle.rows import audience_of, load_entry_body, owner_of


def lay_book(tables: Tables, frame: BookFrame) -> None:
    """Let this be what belongs to no owner."""
    tables.sets = {name: Embedding.of_name(name) for name, _ in frame.sets}
    for kept in tables.records.values():
        kept.vectors = {name: vector for name, vector in kept.vectors.items() if name in tables.sets}
    _lay_work(tables, None, frame.jobs)
    _lay_spent(tables, 0, frame.spent)


def lay_frame(tables: Tables, frame: Frame) -> None:
    """Let this be an era's frame."""
    id = UUID(bytes=frame.era)
    era = tables.eras.get(id) or Era(len(tables.eras) + 1, id, None, frame.digest)
    tables.eras[id] = era
    if era.owner is not None and tables.living.get(era.owner) is era:
        del tables.living[era.owner]
    era.owner, era.ended_at, era.laid = None, frame.erased_at, frame.position
    if frame.names is not None:
        tenant, kind, name = frame.names
        era.owner = owner_of(tenant, kind, name)
        tables.living[era.owner] = era
    meant = {audience_of(*shelf.readers): shelf for shelf in frame.shelves}
    for audience in [audience for audience in era.shelves if audience not in meant]:
        del era.shelves[audience]
    for audience, shelf in meant.items():
        there = tables.shelf(era, audience)
        there.mark, there.renewed = shelf.mark, shelf.renewed
    _lay_work(tables, era, frame.jobs)
    _lay_spent(tables, era.number, frame.spent)


def lay(tables: Tables, id: bytes, pieces: Sequence[Piece], gone: Sequence[bytes], kind: PieceKind) -> None:
    """Let these be an era's pieces, and those that are gone be none."""
    if kind is PieceKind.STONE:
        for digest in gone:
            tables.tombstones.pop(digest, None)
        tables.tombstones.update(piece for piece in pieces if isinstance(piece, StonePiece))
        return
    era = tables.eras[UUID(bytes=id)]
    for key in gone:
        if kind is PieceKind.ENTRY:
            del era.ledger[int.from_bytes(key, "big") - 1 :]
        else:
            _remove(tables, UUID(bytes=key))
    for piece in pieces:
        if isinstance(piece, EntryPiece):
            _lay_entry(tables, era, piece)
        elif isinstance(piece, RecordPiece):
            _lay_record(tables, era, piece)


def _lay_entry(tables: Tables, era: Era, piece: EntryPiece) -> None:
    lines, ignored, note = load_entry_body(piece.body)
    actor = Actor(piece.actor_kind, piece.actor)  # type: ignore[arg-type] # as it was stored
    entry = Entry(
        None, era.id, piece.position, moment(piece.at), actor, lines, ignored, note, piece.operation, piece.request
    )  # fmt: skip
    if piece.position <= len(era.ledger):
        era.ledger[piece.position - 1] = entry
    else:
        era.ledger.append(entry)
    if entry.operation is not None:
        tables.operations[entry.operation] = (era, entry.position)


def _lay_record(tables: Tables, era: Era, piece: RecordPiece) -> None:
    row = StoredRow(*piece.row)
    id, tail = UUID(bytes=row.id), 0
    if row.type == "thread":
        tail, row = row.seq, row._replace(seq=0)
    there = tables.records.get(id)
    if there is None:
        kept = Kept(era, [], ())
        kept.versions.append(Version(row, audience_of(*piece.readers), piece.position))
        tables.add(kept)
    else:
        kept = there
    current = Version(row, audience_of(*piece.readers), piece.position)
    kept.versions[:] = [*(_earlier(tables, era, piece, row, version) for version in piece.earlier), current]
    tables.rest(kept, tuple(UUID(bytes=source) for source in piece.sources))
    kept.run, kept.mark, kept.tail = piece.run, piece.mark, tail
    if piece.terms is not None:
        kept.rule, kept.terms = piece.terms
    kept.vectors = {name: packed for name, packed in piece.vectors if name in tables.sets}
    kept.use = None
    if piece.use is not None:
        strength, used_at, count = piece.use
        used = None if used_at is None else moment(used_at)
        kept.use = Use(strength=strength, used_at=used, count=count)


def _earlier(tables: Tables, era: Era, piece: RecordPiece, now: StoredRow, version: VersionPiece) -> Version:
    audience = audience_of(*version.readers)
    if version.body:
        assert era.owner is not None
        record = decode(
            now.type,
            UUID(bytes=now.id),
            era.owner,
            audience,
            version.version,
            version.recorded_at,
            version.body,
        )
        return Version(encode(record, tables.secret), audience, version.position)
    # What its status was went with its content; that it had ceased to be held by then is known.
    ended = piece.ended is not None and version.recorded_at >= piece.ended
    row = now._replace(
        version=version.version,
        recorded_at=version.recorded_at,
        status=now.status if ended else None,
        body="",
        hash=b"",
    )
    return Version(row, audience, version.position)


def _remove(tables: Tables, id: UUID) -> None:
    kept = tables.records.pop(id, None)
    if kept is not None:
        tables.rest(kept, ())
        del kept.era.records[id]


def _lay_work(tables: Tables, era: Era | None, pieces: Iterable[JobPiece]) -> None:
    whose = None if era is None else era.id
    for id, work in list(tables.jobs.items()):
        if work.job.era == whose and (era is not None or work.job.kind not in OWN_UPKEEP):
            del tables.jobs[id]
    for piece in pieces:
        job = Job(
            UUID(bytes=piece.id),
            piece.kind,
            piece.key,
            None if era is None else era.owner,
            whose,
            json.loads(piece.payload),
            tuple(UUID(bytes=id) for id in piece.records),
            JobState(piece.state),
            moment(piece.run_at),
            moment(piece.first_at),
            piece.attempts,
            piece.generation,
            piece.worker,
            None if piece.leased_until is None else moment(piece.leased_until),
            piece.error,
            piece.postponed,
        )
        not_before = None if piece.not_before == 0 else moment(piece.not_before)
        about, text = piece.kept or ((), None)
        tables.jobs[job.id] = Work(
            job, piece.leased_generation, not_before, text, frozenset(UUID(bytes=id) for id in about)
        )


def _lay_spent(tables: Tables, number: int, pieces: Iterable[SpentPiece]) -> None:
    for row in [row for row in tables.spent if row.era == number]:
        del tables.spent[row]
    for tenant, day, agent, task, model, *counts, price in pieces:
        row = SpentRow(tenant, number, agent or None, date.fromisoformat(day), task, model)
        sums = {**dict(zip(COUNTS, counts, strict=True)), "price": price_of(price)}
        tables.spent[row] = Sums.model_validate(sums)
