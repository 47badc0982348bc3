"""Copies, imports and exports of books: the marks of a source and its copy, and the pieces that are
read and written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from uuid import UUID

from memoranda.model.book_rows import (
    ARRIVAL,
    BACKUP,
    DEPARTURE,
    MADE_BY,
    NOWHERE,
    SECRET,
    WHO_FORMS,
    Arrival,
    BookFrame,
    Departure,
    EntryPiece,
    OwnerPieces,
    Piece,
    PieceKind,
    RecordPiece,
    StonePiece,
    Whereabouts,
    mark_text,
    marks_of,
    may_arrive,
    refuse_other_copy,
    refuse_other_departure,
    refuse_other_secret,
    refused_era,
    refused_erased,
    refused_operation,
    refused_record,
)
from memoranda.model.changes import JobState
from memoranda.model.records import Owner
from memoranda.model.values import moment
from memoranda.model.vectors import EMBED, embed_job
from memoranda.storage.questions import Base, ByOperation, ErasedAmong, FindOwner
from memoranda.storage.rows import owner_of
from memoranda.storage.service_questions import PutKeyUses, PutRestrictions, RestrictionRows
from memoranda.storage.upkeep_questions import (
    BookRows,
    EraFrame,
    ErasAfter,
    OwnersOfRecords,
    PiecesAfter,
    Properties,
)
from memoranda.storage.use_case import Deciding, Write, ask
from memoranda.storage.writes import (
    EmptyBook,
    PutBook,
    PutFrame,
    PutJob,
    PutPieces,
    Recount,
    SetProperty,
)

#: Pieces of one answer where all of an owner are read.
_PAGE = 5000


# ── marks ─────────────────────────────────────────────────────────────────────────────────────────


def whereabouts(address: str) -> Deciding[Whereabouts]:
    """Return which book this is, and its marks."""
    found = yield from ask(Properties())
    made_by, backup = (
        found[name].decode() if name in found else None for name in (MADE_BY, BACKUP)
    )
    return Whereabouts(address, found.get(SECRET, b""), *marks_of(found), made_by, backup)


def mark_backup(id: str | None) -> Deciding[None]:
    """Store that this book is the backup with this id, or that it is none."""
    yield SetProperty(BACKUP, None if id is None else id.encode())


def depart(departure: Departure | None, expected: Departure | None) -> Deciding[None]:
    """Set or remove the mark that refuses all writes."""
    refuse_other_departure((yield from ask(Properties())), expected)
    yield SetProperty(DEPARTURE, None if departure is None else mark_text(departure))


def arrive(arrival: Arrival, secret: bytes) -> Deciding[bool]:
    """Become an empty, unfinished copy, or stay the copy with this id; False if this book may
    not.
    """
    found = yield from ask(Properties())
    book = yield from ask(BookRows())
    content = bool(book.spent) or (yield from _has_owners())
    if not may_arrive(found, same_secret=found.get(SECRET) == secret, has_content=content):
        return False
    earlier = marks_of(found)[1]
    if earlier is None or earlier.copy != arrival.copy:
        yield EmptyBook()
        for name in (WHO_FORMS, BACKUP):
            if name in found:
                yield SetProperty(name, None)
        yield SetProperty(SECRET, secret)
        yield SetProperty(ARRIVAL, mark_text(arrival))
    return True


def lay(copy: str, *writes: Write) -> Deciding[None]:
    """Write to the unfinished copy with this id; refuse any other book."""
    refuse_other_copy((yield from ask(Properties())), copy)
    yield from writes


def lay_book(copy: str, frame: BookFrame) -> Deciding[None]:
    """Write the rows that belong to no owner to the unfinished copy with this id."""
    named = [] if frame.who_forms is None else [SetProperty(WHO_FORMS, frame.who_forms)]
    beside = (PutRestrictions(frame.restrictions), PutKeyUses(frame.key_uses))
    return lay(copy, PutBook(frame), *named, *beside)


def end_arrival(copy: str) -> Deciding[None]:
    """End the copy: count what is derived, and replace its mark by a note of the copy that made
    this book.
    """
    return lay(copy, Recount(None), SetProperty(ARRIVAL, None), SetProperty(MADE_BY, copy.encode()))


def _has_owners() -> Deciding[bool]:
    """Return True if the book has, or ever had, an owner or a record, or the processing of an
    owner's data is restricted.
    """
    if (yield from ask(ErasAfter(b"", 1))) or (yield from ask(RestrictionRows(None))):
        return True
    return bool((yield from ask(PiecesAfter(PieceKind.STONE, b"", b"", 1))))


# ── pieces ────────────────────────────────────────────────────────────────────────────────────────


def pieces(kind: PieceKind, era: bytes, after: bytes, limit: int) -> Deciding[list[Piece]]:
    """Return an era's next pieces. Skip pieces on no shelf: ``verify`` reports them."""
    while page := (yield from ask(PiecesAfter(kind, era, after, limit))):
        if found := [
            _on_shelves(piece) for piece in page if getattr(piece, "readers", None) != NOWHERE
        ]:
            return found
        after = page[-1].key
    return []


def _on_shelves(piece: Piece) -> Piece:
    """Return a piece without its versions on no shelf."""
    if not isinstance(piece, RecordPiece) or all(
        version.readers != NOWHERE for version in piece.earlier
    ):
        return piece
    return piece._replace(
        earlier=tuple(version for version in piece.earlier if version.readers != NOWHERE)
    )


def owner_pieces(owner: Owner) -> Deciding[OwnerPieces | None]:
    """Return all pieces of an owner; None if the owner has no era."""
    base = yield from ask(FindOwner(owner))
    if base.era is None:
        return None
    era = base.era.bytes
    frame = yield from ask(EraFrame(era))
    assert frame is not None
    records = cast(Sequence[RecordPiece], (yield from _all(PieceKind.RECORD, era)))
    return OwnerPieces(
        frame, records, cast(Sequence[EntryPiece], (yield from _all(PieceKind.ENTRY, era)))
    )


def _all(kind: PieceKind, era: bytes) -> Deciding[list[Piece]]:
    found: list[Piece] = []
    while page := (yield from pieces(kind, era, found[-1].key if found else b"", _PAGE)):
        found += page
    return found


# ── imports ───────────────────────────────────────────────────────────────────────────────────────


def adopt_book(
    secret: bytes, ended: Sequence[OwnerPieces], tombstones: Sequence[StonePiece]
) -> Deciding[bool]:
    """Take the key, ended eras and tombstones of another book; False if this book is not empty."""
    if (yield from _has_owners()):
        return False
    yield SetProperty(SECRET, secret)
    for era in ended:
        yield PutFrame(era.frame)
        yield PutPieces(era.frame.era, era.entries)
    yield PutPieces(b"", tombstones)
    return True


def adopt(secret: bytes, whole: OwnerPieces) -> Deciding[bool]:
    """Add an owner with all records and the ledger; False if the owner is in this book already."""
    assert whole.frame.names is not None
    base = yield from ask(Base(owner_of(*whole.frame.names)))
    if base.era is not None:
        return False
    refuse_other_secret(secret, base.secret)
    yield from _refuse_known(whole)
    book = yield from ask(BookRows())
    yield PutFrame(whole.frame)
    yield PutPieces(whole.frame.era, [*whole.records, *whole.entries])
    yield Recount(whole.frame.era)
    if any(piece.terms is not None for piece in whole.records):
        waiting = {
            job.key for job in book.jobs if (job.kind, job.state) == (EMBED, JobState.WAITING.value)
        }
        for name in (name for name, _ in book.sets if name not in waiting):
            yield PutJob(None, embed_job(name), moment(whole.entries[-1].at))
    return True


def _refuse_known(whole: OwnerPieces) -> Deciding[None]:
    """Raise if the era, a record or an operation is here, or was erased here."""
    stored = yield from ask(EraFrame(whole.frame.era))
    if stored is not None:
        raise refused_era(ended=stored.erased_at is not None)
    ids = tuple(UUID(bytes=piece.key) for piece in whole.records)
    erased = yield from ask(ErasedAmong(ids))
    known = yield from ask(OwnersOfRecords(ids))
    for id in ids:
        if id in erased:
            raise refused_erased(id)
        if id in known:
            raise refused_record(id)
    for entry in whole.entries:
        if entry.operation and (yield from ask(ByOperation(entry.operation))) is not None:
            raise refused_operation(entry.position)
