"""Writes pieces of another book into the tables in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date
from uuid import UUID

from memoranda.engines.inmemory.tables import Era, Kept, SpentRow, Tables, Version, Work
from memoranda.model.jobs import Job, JobState
from memoranda.model.ledger import Actor, Entry
from memoranda.model.moving import (
    BookFrame,
    EntryPiece,
    Frame,
    JobPiece,
    Piece,
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
    """Write the rows that belong to no owner."""
    tables.sets = {name: Embedding.of_name(name) for name, _ in frame.sets}
    _lay_work(tables, None, frame.jobs)
    _lay_spent(tables, 0, frame.spent)


def lay_frame(tables: Tables, frame: Frame) -> None:
    """Write an era's frame, unless the era is here."""
    id = UUID(bytes=frame.era)
    if id in tables.eras:
        return
    owner = None if frame.names is None else owner_of(*frame.names)
    era = tables.eras[id] = Era(len(tables.eras) + 1, id, owner, frame.digest, frame.erased_at)
    if owner is not None:
        tables.living[owner] = era
    for piece in frame.shelves:
        shelf = tables.shelf(era, audience_of(*piece.readers))
        shelf.mark, shelf.renewed = piece.mark, piece.renewed
    _lay_work(tables, era, frame.jobs)
    _lay_spent(tables, era.number, frame.spent)


def lay(tables: Tables, id: bytes, pieces: Sequence[Piece]) -> None:
    """Write pieces of an era, except those that are here."""
    for piece in pieces:
        if isinstance(piece, StonePiece):
            tables.tombstones[piece.digest] = piece.at
        elif isinstance(piece, EntryPiece):
            _lay_entry(tables, tables.eras[UUID(bytes=id)], piece)
        elif UUID(bytes=piece.key) not in tables.records:
            _lay_record(tables, tables.eras[UUID(bytes=id)], piece)


def _lay_entry(tables: Tables, era: Era, piece: EntryPiece) -> None:
    lines, ignored, note = load_entry_body(piece.body)
    actor = Actor(piece.actor_kind, piece.actor)  # type: ignore[arg-type] # as it was stored
    entry = Entry(
        None, era.id, piece.position, moment(piece.at), actor, lines, ignored, note, piece.operation, piece.request
    )  # fmt: skip
    if piece.position > len(era.ledger):
        tables.write(era, entry)


def _lay_record(tables: Tables, era: Era, piece: RecordPiece) -> None:
    row = StoredRow(*piece.row)
    tail = 0
    if row.type == "thread":
        tail, row = row.seq, row._replace(seq=0)
    current = Version(row, audience_of(*piece.readers), piece.position)
    earlier = [_earlier(tables, era, piece, row, version) for version in piece.earlier]
    kept = Kept(era, [*earlier, current], tuple(UUID(bytes=source) for source in piece.sources))
    tables.add(kept)
    kept.run, kept.mark, kept.tail = piece.run, piece.mark, tail
    if piece.terms is not None:
        kept.rule, kept.terms = piece.terms
    kept.vectors = {name: packed for name, packed in piece.vectors if name in tables.sets}
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


def _lay_work(tables: Tables, era: Era | None, pieces: Iterable[JobPiece]) -> None:
    for piece in pieces:
        job = Job(
            UUID(bytes=piece.id),
            piece.kind,
            piece.key,
            None if era is None else era.owner,
            None if era is None else era.id,
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
    for tenant, day, agent, task, model, *counts, price in pieces:
        row = SpentRow(tenant, number, agent or None, date.fromisoformat(day), task, model)
        sums = {**dict(zip(COUNTS, counts, strict=True)), "price": price_of(price)}
        tables.spent[row] = Sums.model_validate(sums)
