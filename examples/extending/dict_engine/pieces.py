"""A book as pieces, which are equal on every engine: for copies, imports and verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from examples.extending.dict_engine.beside import (
    all_sets,
    job_piece,
    put_job,
    put_set,
    put_spent,
    spent_of,
)
from examples.extending.dict_engine.records import columns_of, put_entry
from examples.extending.dict_engine.tables import KEYS, Row, Session, handles, named, owner_in
from memoranda.model import book_rows as b
from memoranda.model.ledger import Actor, Entry
from memoranda.model.values import micros, moment
from memoranda.storage import conditions as c
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import StoredRow, dump_entry, load_entry_body, owner_of
from memoranda.text.terms import RULE

handles(u.Properties)(lambda on, _: on.properties)


@handles(u.BookRows)
def _book_rows(on: Session, _: u.BookRows) -> b.BookFrame:
    sets = tuple((one.set.name, one.set.dimension) for one in all_sets(on))
    # What an engine does for its own files is not copied.
    jobs = tuple(job for job in _jobs(on, None) if job.kind not in b.OWN_UPKEEP)
    return b.BookFrame(sets, jobs, spent_of(on, None))


@handles(u.EraFrame)
def _era_frame(on: Session, asked: u.EraFrame) -> b.Frame | None:
    row = on.tables["eras"].get(asked.era)
    if row is None:
        return None
    owner = owner_in(row)
    names = None if owner is None else owner.parts
    shelves = on.find("shelves", c.Is("era", asked.era))
    pieces = tuple(
        sorted(b.ShelfPiece(one["readers"], one["mark"], one["renewed"]) for one in shelves)
    )
    first = (asked.era, names, row["digest"], row["position"], row["erased_at"])
    return b.Frame(*first, pieces, _jobs(on, asked.era), spent_of(on, asked.era))


def _jobs(on: Session, era: bytes | None) -> tuple[b.JobPiece, ...]:
    found = [job_piece(on, row) for row in on.find("jobs", c.Is("era", era))]
    return tuple(sorted(job._replace(payload=b.job_payload(job.payload)) for job in found))


@handles(u.PiecesAfter)
def _pieces_after(on: Session, asked: u.PiecesAfter) -> list[b.Piece]:
    found = sorted(_pieces(on, asked.kind, c.Is("era", asked.era)), key=lambda piece: piece.key)
    return [piece for piece in found if piece.key > asked.after][: asked.limit]


def _pieces(on: Session, kind: b.PieceKind, of_era: c.Is) -> Sequence[b.Piece]:
    match kind:
        case b.PieceKind.RECORD:
            return [_record_piece(row) for row in on.find("records", of_era)]
        case b.PieceKind.ENTRY:
            return [_entry_piece(row["entry"]) for row in on.find("ledger", of_era)]
        case b.PieceKind.STONE:
            return [b.StonePiece(**row) for row in on.find("tombstones")]
        case b.PieceKind.READ:
            return [b.ReadPiece(**row) for row in on.find("reads")]


def _record_piece(row: Row) -> b.RecordPiece:
    made = {
        "row": tuple(row[name] for name in StoredRow._fields),
        "use": None if row["strength"] is None else (row["strength"], row["used_at"], row["used"]),
        "vectors": tuple(sorted(row["vectors"].items())),
    }
    return b.RecordPiece._make({**row, **made}[name] for name in b.RecordPiece._fields)


def _entry_piece(entry: Entry) -> b.EntryPiece:
    actor, digests = (entry.actor.kind, entry.actor.id), (entry.operation, entry.request)
    return b.EntryPiece(entry.position, micros(entry.at), *actor, *digests, dump_entry(entry))


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


@handles(w.SetProperty)
def _set_property(on: Session, write: w.SetProperty) -> None:
    on.drop("properties", c.Is("name", write.name))
    if write.value is not None:
        on.put("properties", {"name": write.name, "value": write.value})


handles(w.EmptyBook)(
    lambda on, _: on.tables.update((table, {}) for table in KEYS if table != "properties")
)


@handles(w.PutBook)
def _put_book(on: Session, write: w.PutBook) -> None:
    for number, (name, dimension) in enumerate(write.frame.sets):
        put_set(on, name, dimension, active=number == 0)
    _put_work(on, None, write.frame)


@handles(w.PutFrame)
def _put_frame(on: Session, write: w.PutFrame) -> None:
    era, frame = write.frame.era, write.frame
    if era in on.tables["eras"]:
        return
    owner = named(None if frame.names is None else owner_of(*frame.names))
    columns = {"digest": frame.digest, "position": frame.position, "erased_at": frame.erased_at}
    on.put("eras", {"era": era, **columns, **owner})
    for piece in frame.shelves:
        shelf = on.shelf(era, piece.readers)
        on.put("shelves", {**shelf, "mark": piece.mark, "renewed": piece.renewed})
    _put_work(on, era, frame)


def _put_work(on: Session, era: bytes | None, frame: b.BookFrame | b.Frame) -> None:
    for job in frame.jobs:
        put_job(on, job, era)
        if job.kept is not None:
            records, payload = job.kept
            on.put("kept", {"job": job.id, "records": records, "payload": payload})
    put_spent(on, era, frame.spent)


@handles(w.PutPieces)
def _put_pieces(on: Session, write: w.PutPieces) -> None:
    for piece in write.pieces:
        match piece:
            case b.RecordPiece() if piece.key not in on.tables["records"]:
                _put_record(on, write.era, piece)
            case b.EntryPiece() if (write.era, piece.position) not in on.tables["ledger"]:
                put_entry(on, write.era, _entry(write.era, piece))
            case b.StonePiece() if piece.digest not in on.tables["tombstones"]:
                on.put("tombstones", piece._asdict())
            case b.ReadPiece() if (piece.at, piece.id) not in on.tables["reads"]:
                on.put("reads", piece._asdict())


def _put_record(on: Session, era: bytes, piece: b.RecordPiece) -> None:
    fields = piece._asdict()
    columns = columns_of(StoredRow._make(fields.pop("row")))
    use = dict(
        zip(("strength", "used_at", "used"), fields.pop("use") or (None, None, None), strict=True)
    )
    owner = named(owner_in(on.tables["eras"][era]))
    on.put("records", {**columns, **fields, **use, "era": era, **owner})
    on.change_record(
        piece.key, vectors={name: v for name, v in piece.vectors if name in on.tables["sets"]}
    )


def _entry(era: bytes, piece: b.EntryPiece) -> Entry:
    actor = Actor(piece.actor_kind, piece.actor)  # type: ignore[arg-type] # as it was stored
    first = (None, UUID(bytes=era), piece.position, moment(piece.at), actor)
    return Entry(*first, *load_entry_body(piece.body), piece.operation, piece.request)


# ── verification ──────────────────────────────────────────────────────────────────────────────────


@handles(u.Counts)
def _counts(on: Session, asked: u.Counts) -> u.BookCounts:
    of_tenant = () if asked.tenant is None else (c.Is("tenant", asked.tenant),)
    records = on.find("records", *of_tenant)
    vectors = Counter(name for row in records for name in row["vectors"])
    return u.BookCounts(
        records=dict(sorted(Counter(row["type"] for row in records).items())),
        jobs=dict(sorted(Counter(row["state"] for row in on.find("jobs", *of_tenant)).items())),
        owners=len(
            on.find("eras", c.Is("erased_at", None), c.Than("position", ">", 0), *of_tenant)
        ),
        stale_terms=sum(row["terms"] is not None and row["terms"][0] < RULE for row in records),
        vectors={} if asked.tenant is None else dict(sorted(vectors.items())),
    )


# Its checks are of rows that could disagree. Here all that belongs to a record is in the record's
# row.
handles(u.TableFaults)(lambda on, _: [])


@handles(w.SetDerived)
def _set_derived(on: Session, write: w.SetDerived) -> None:
    for derived in write.rows:
        on.change_record(**derived._asdict())
        row = on.tables["records"][derived.id]
        on.change_record(**columns_of(StoredRow._make(row[name] for name in StoredRow._fields)))


@handles(w.RebuildTables)
def _rebuild_tables(on: Session, _: w.RebuildTables) -> None:
    for row in on.find("records", c.Not(c.Is("terms", None))):
        on.change_record(row["id"], terms=(0, row["terms"][1]))


# Nothing that is counted is stored.
handles(w.Recount)(lambda on, _: None)
