"""Maintenance of a whole book in memory: verification, rebuilding, counts, and imports of whole owners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from memoranda.engines.inmemory import book_rows, jobs
from memoranda.engines.inmemory.tables import Kept, Tables, Version
from memoranda.model.book_facts import BookFacts, Findings
from memoranda.model.book_rows import (
    OwnerPieces,
    StonePiece,
    refuse_other_secret,
    refused_era,
    refused_erased,
    refused_operation,
    refused_record,
)
from memoranda.model.ledger import Entry
from memoranda.model.records import PASSAGE_TYPES
from memoranda.model.values import moment
from memoranda.storage import encode
from memoranda.storage.rows import owner_of
from memoranda.storage.verify import Proof, Written, misplaced
from memoranda.text.terms import RULE

Progress = Callable[[int, int], None]


def verify(tables: Tables, progress: Progress | None) -> Findings:
    """Compare every version with the ledger, and the ledger with the versions."""
    faults: list[str] = []
    total = sum(len(kept.versions) for kept in tables.records.values())
    done = 0
    for era in tables.eras.values():
        faults += _unproven(tables.secret, era.ledger, era.records.values())
        done += sum(len(kept.versions) for kept in era.records.values())
        if progress is not None:
            progress(done, total)
    faults += _check_tables(tables)
    entries = sum(len(era.ledger) for era in tables.eras.values())
    return Findings(len(tables.records), total - len(tables.records), entries, tuple(faults))


def _unproven(secret: bytes, ledger: Iterable[Entry], records: Iterable[Kept]) -> Iterator[str]:
    """Yield the differences between one owner's records and ledger."""
    proof = Proof(secret)
    slots: set[bytes] = set()
    for entry in ledger:
        proof.expect(entry.position, entry.lines)
    for kept in records:
        for version in kept.versions:
            row = version.row
            yield from proof.check(
                Written(
                    kept.id, row.type, row.version, version.position, version.audience, row.body, row.hash
                )
            )
        yield from misplaced(kept.now.row, kept.record(), secret)
        if kept.now.row.slot in slots:
            yield f"{kept.now.row.type} {kept.id}: another record holds the same key or name"
        if kept.now.row.slot is not None:
            slots.add(kept.now.row.slot)
        if (kept.terms is not None) != (kept.now.row.type in PASSAGE_TYPES):
            yield f"{kept.now.row.type} {kept.id}: its terms do not fit what it is"
    yield from proof.missing()


def _check_tables(tables: Tables) -> Iterator[str]:
    for kept in tables.records.values():
        thread = kept.now.row.thread
        if kept.now.row.type == "message" and thread is not None:
            opened = kept.era.records.get(UUID(bytes=thread))
            if opened is not None and opened.tail < kept.now.row.seq:
                yield f"thread {opened.id}: message {kept.id} lies behind its tail"
        if set(kept.sources) != set(kept.record().rests_on()):
            yield f"{kept.now.row.type} {kept.id}: its links are not what it rests on"
        for name, vector in kept.vectors.items():
            if name not in tables.sets or kept.terms is None:
                yield f"{kept.now.row.type} {kept.id}: it has a vector of no set, or is no passage"
            elif len(vector) != tables.sets[name].packed_bytes:
                yield f"{kept.now.row.type} {kept.id}: its vector of {name} has another length"
    for source, resting in tables.resting.items():
        for id in resting:
            if id not in tables.records or source not in tables.records[id].sources:
                yield f"record {id}: something is said to rest on {source}, and does not"


def rebuild(tables: Tables) -> Mapping[str, int]:
    """Recompute rows and links from the records' content."""
    done: Counter[str] = Counter()
    tables.resting.clear()
    for kept in tables.records.values():
        record = kept.record()
        kept.versions[-1] = Version(encode(record, tables.secret), kept.now.audience, kept.now.position)
        kept.sources = ()
        tables.rest(kept, record.rests_on())
        kept.vectors = {
            name: vector
            for name, vector in kept.vectors.items()
            if kept.terms is not None
            and name in tables.sets
            and len(vector) == tables.sets[name].packed_bytes
        }
        done["links"] += len(kept.sources)
        done["records"] += 1
    done["owners"] = len(tables.living)
    return done


def facts(tables: Tables, name: str) -> BookFacts:
    """Return the book's engine, format and counts."""
    return BookFacts(
        engine=name,
        address="memory",
        format=1,
        owners=sum(1 for era in tables.living.values() if era.ledger),
        records=dict(sorted(Counter(kept.now.row.type for kept in tables.records.values()).items())),
        jobs=dict(sorted(Counter(row.piece.state for row in tables.jobs.values()).items())),
        bytes=sum(len(version.row.body) for _, version in tables.all_versions()),
        stale_terms=sum(1 for k in tables.records.values() if k.terms is not None and k.rule < RULE),
    )


def adopt_book(
    tables: Tables, secret: bytes, ended: Sequence[OwnerPieces], tombstones: Sequence[StonePiece]
) -> bool:
    """Take over another book's key, ended eras and tombstones of erased records; False if this book is not empty."""
    if tables.eras or tables.tombstones:
        return False
    tables.secret = secret
    for era in ended:
        book_rows.lay_frame(tables, era.frame)
        book_rows.lay(tables, era.frame.era, era.entries)
    book_rows.lay(tables, b"", tombstones)
    return True


def adopt(tables: Tables, secret: bytes, whole: OwnerPieces) -> bool:
    """Add an owner from an export, with all records and the ledger; False if this book has the owner already."""
    frame = whole.frame
    assert frame.names is not None
    if owner_of(*frame.names) in tables.living:
        return False
    refuse_other_secret(secret, tables.secret)
    stored = tables.eras.get(UUID(bytes=frame.era))
    if stored is not None:
        raise refused_era(ended=stored.ended)
    for id in (UUID(bytes=piece.key) for piece in whole.records):
        if tables.buried(id):
            raise refused_erased(id)
        if id in tables.records:
            raise refused_record(id)
    for entry in whole.entries:
        if entry.operation in tables.operations:
            raise refused_operation(entry.position)
    book_rows.lay_frame(tables, frame)
    book_rows.lay(tables, frame.era, [*whole.records, *whole.entries])
    if any(piece.terms is not None for piece in whole.records):
        jobs.make_embedding_due(tables, moment(whole.entries[-1].at))
    return True
