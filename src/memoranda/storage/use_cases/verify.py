"""Verifies a book: compares every version with the ledger line that wrote it, and derived rows with
their records.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from memoranda.errors import Corrupt
from memoranda.model.book_rows import EntryPiece, PieceKind, RecordPiece, VersionPiece
from memoranda.model.ledger import Line
from memoranda.model.messages import Message
from memoranda.model.query import Findings, Progress
from memoranda.model.records import PASSAGE_TYPES, Audience, Owner, Record
from memoranda.model.unlisted import are_counted
from memoranda.model.values import moment
from memoranda.storage.questions import FindOwner
from memoranda.storage.rows import (
    CLASS_OF,
    StoredRow,
    audience_of,
    content_hash,
    encode,
    load_entry_body,
)
from memoranda.storage.upkeep_questions import (
    Counts,
    ErasAfter,
    FindEra,
    OwnersOf,
    PiecesAfter,
    TableFaults,
)
from memoranda.storage.use_case import Deciding, OwnerBase, ask

#: Rows, or eras, that are read at a time.
PAGE = 500

#: The checks of whole tables that engines make with statements of their own, each with the fault
#: that it finds.
TABLE_FAULTS = {
    "ledger_without_owner": "owner {0}: there is a ledger of it, and no owner",
    "record_without_shelf": "record {0}: it stands on no shelf of its owner",
    "slot_taken": "record {0}: another record holds the same key or name",
    "id_of_another": "record {0}: its id is said to be another owner's",
    "id_without_record": "id {0}: its record is not there",
    "versions_without_record": "versions of record {0}: it is not there",
    "links_without_record": "links of record {0}: it is not there",
    "links_back": "links to record {0}: they are not those of the records that rest on it",
    "terms_without_record": "terms {0}: their passage is not there",
    "use_without_memory": "use {0}: its memory is not there",
    "vector_astray": "vector of record {0}: its set or its passage is not there",
    "vector_length": "vector of record {0}: its length is not that of its set",
    "vector_not_lacking": "record {0}: a set has no vector of it, and does not know that it lacks one",
    "vector_lacking": "record {0}: it is said to lack a vector, and has it, or can have none",
    "vector_count": "vectors {0}: they are not as many as their set says",
    "shelf_count": "shelf {0}: its passages are not as many as it says",
    "words_not_indexed": "record {0}: its large shelf is indexed, and the index does not contain the record",
    "vector_not_indexed": "vector of record {0}: its large shelf is indexed, and the index does not contain the vector",
}


class Written(NamedTuple):
    """A stored version, with the ledger position that wrote it."""

    id: UUID
    type: str
    version: int
    #: The ledger position that is said to have written it.
    position: int
    audience: Audience
    #: Empty where the content went with one of its sources.
    body: str
    hash: bytes


class _Told(NamedTuple):
    position: int
    type: str
    hash: bytes | None


class Proof:
    """Verifies one owner: give it the whole ledger, then every version; then it reports the missing
    versions.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._told: dict[tuple[UUID, int], _Told] = {}

    def expect(self, position: int, lines: Iterable[Line]) -> None:
        """Add the lines of a ledger entry."""
        for line in lines:
            if not line.erased:
                self._told[line.id, line.after] = _Told(position, line.type, line.hash)

    def check(self, written: Written) -> Iterator[str]:
        """Compare a version with the ledger."""
        name = f"{written.type} {written.id}, version {written.version}"
        if written.body and self._hash(written) != written.hash:
            yield f"{name}: its content is not what was written"
        told = self._told.pop((written.id, written.version), None)
        if told is None or told.type != written.type:
            yield f"{name}: no ledger entry wrote it"
        elif told.position != written.position:
            yield f"{name}: ledger position {told.position} wrote it, and not {written.position}"
        elif told.hash != (written.hash if written.body else None):
            yield f"{name}: the ledger tells of another content"

    def missing(self) -> Iterator[str]:
        """Yield a fault for each version that the ledger lists and ``check`` was not given."""
        for id, version in self._told:
            yield f"record {id}: version {version} is in the ledger and not in the book"

    def _hash(self, written: Written) -> bytes:
        return content_hash(self._secret, written.type, written.audience, written.body)


def checked(
    type_: str,
    id: UUID,
    owner: Owner,
    audience: Audience,
    version: int,
    recorded_at: int,
    body: str,
) -> Record:
    """Return the record of a row with every field checked; raise ValueError if the row is no
    record.
    """
    fields = json.loads(body)
    if type_ not in CLASS_OF or not isinstance(fields, dict):
        raise ValueError(f"the type {type_} is unknown, or the content is no JSON object")
    known = {
        "id": id,
        "owner": owner,
        "audience": audience,
        "version": version,
        "recorded_at": moment(recorded_at),
    }
    return CLASS_OF[type_].model_validate({**fields, **known})


def misplaced(row: StoredRow, record: Record, secret: bytes) -> Iterator[str]:
    """Yield the columns of a row that differ from the record's content."""
    meant = encode(record, secret)
    columns = ["slot", "kind", "status", "at", "valid_from", "valid_to", "facets"]
    if isinstance(record, Message):
        columns += ["thread", "seq"]
    for column in columns:
        if getattr(row, column) != getattr(meant, column):
            yield f"{row.type} {record.id}: its {column} stands otherwise than its content says"


class Steps:
    """Reports progress about every 1,000 versions or records."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def add(self, count: int) -> None:
        """Count what was done since the last call."""
        before, self._done = self._done, self._done + count
        if self._progress is not None and self._done // 1000 > before // 1000:
            self._progress(self._done, self._total)


class OwnerCheck:
    """Verifies one owner's rows: give it all pieces of the ledger, then all records; then ask for
    the faults.
    """

    def __init__(self, base: OwnerBase) -> None:
        self._base = base
        self._proof = Proof(base.secret)
        self._faults: list[str] = []
        self._unread: list[str] = []
        self._has_gaps = False
        self._held = self._items = 0
        #: Thread → the last place given out; and the farthest message, with its place.
        self._tails: dict[bytes | None, int] = {}
        self._farthest: dict[bytes | None, tuple[int, bytes]] = {}
        self.records = self.versions = self.entries = 0

    def add_entry(self, piece: EntryPiece) -> None:
        """Add an entry of the ledger; they come in the order of their positions."""
        self.entries += 1
        self._has_gaps |= piece.position != self.entries
        try:
            self._proof.expect(piece.position, load_entry_body(piece.body)[0])
        except Corrupt:
            self._unread.append(
                f"owner {self._base.no}: ledger position {piece.position} cannot be read"
            )

    def add_record(self, piece: RecordPiece) -> None:
        """Compare a record and its earlier versions with the ledger, and its derived rows with its
        content.
        """
        row = StoredRow(*piece.row)
        self.records += 1
        self.versions += len(piece.earlier)
        if piece.readers[0] is None:
            return  # The record stands on no shelf of its owner; a check of the tables finds it.
        if row.type == "memory" and row.status == "active":
            self._held += 1
        if row.type == "item" and row.status is None:
            self._items += 1
        if row.type == "thread":
            self._tails[row.id] = row.seq
        if row.type == "message":
            self._farthest[row.thread] = max(
                (row.seq, row.id), self._farthest.get(row.thread, (0, b""))
            )
        self._faults += self._check_record(row, piece)
        for version in piece.earlier:
            self._faults += self._check_version(row, version)

    def faults(self) -> Iterator[str]:
        """Yield what was found, and a fault for each version that the ledger lists and the book
        does not have.
        """
        yield from self._faults
        yield from self._unread
        yield from self._proof.missing()
        if self._has_gaps or self.entries != self._base.position:
            yield f"owner {self._base.no}: its ledger has gaps"
        if self._base.owner is not None and self._held != self._base.held:
            yield f"owner {self._base.no}: its count of held memories is wrong"
        if self._base.owner is not None and self._items != self._base.items:
            yield f"owner {self._base.no}: its count of items is wrong"
        for thread, (seq, id) in self._farthest.items():
            if thread is not None and self._tails.get(thread, seq) < seq:
                yield f"thread {UUID(bytes=thread)}: message {UUID(bytes=id)} lies behind its tail"

    def _check_record(self, row: StoredRow, piece: RecordPiece) -> Iterator[str]:
        id = UUID(bytes=row.id)
        name = f"{row.type} {id}"
        assert self._base.owner is not None
        try:
            readers = audience_of(*piece.readers)
            record = checked(
                row.type, id, self._base.owner, readers, row.version, row.recorded_at, row.body
            )
        except (Corrupt, ValueError, TypeError, OverflowError):
            yield f"{name}: what is stored of it cannot be read"
            return
        yield from self._proof.check(
            Written(id, row.type, row.version, piece.position, readers, row.body, row.hash)
        )
        yield from misplaced(row, record, self._base.secret)
        if set(piece.sources) != {source.bytes for source in record.links()}:
            yield f"{name}: its links are not what it rests on"
        if not are_counted(record, _members(piece)):
            yield f"{name}: its unlisted sources are not those that it counts"
        has_terms = piece.terms is not None and piece.mark > 0
        if has_terms != (record.type in PASSAGE_TYPES):
            yield (
                f"{name}: it has no terms"
                if not has_terms
                else f"{name}: it has terms and is no passage"
            )
        if piece.learnt != first_recorded(piece):
            yield f"{name}: its first version was not recorded when it is said to have been learnt"
        if (piece.ended is None) != row.held:
            yield f"{name}: when it ceased to be held does not fit its status"

    def _check_version(self, row: StoredRow, version: VersionPiece) -> Iterator[str]:
        name = f"{row.type} {UUID(bytes=row.id)}, version {version.version}"
        if version.version >= row.version:
            yield f"{name}: it stands behind a version that is older"
        try:
            readers = audience_of(*version.readers)
        except (ValueError, TypeError):
            yield f"{name}: its shelf is not its owner's"
            return
        id, position = UUID(bytes=row.id), version.position
        yield from self._proof.check(
            Written(id, row.type, version.version, position, readers, version.body, version.hash)
        )


def _members(piece: RecordPiece) -> dict[UUID, list[UUID]]:
    """Return the unlisted sources of a record by group, as the links have them."""
    found: dict[UUID, list[UUID]] = {}
    for group, source in piece.unlisted:
        found.setdefault(UUID(bytes=group), []).append(UUID(bytes=source))
    return found


def first_recorded(piece: RecordPiece) -> int:
    """Return the time at which the first of a record's stored versions was recorded."""
    return piece.earlier[0].recorded_at if piece.earlier else StoredRow(*piece.row).recorded_at


def verify(progress: Progress | None, tenant: str | None = None) -> Deciding[Findings]:
    """Verify the whole book or one tenant's part, owner by owner, so that only one ledger's lines
    are in memory at a time.
    """
    counts = yield from ask(Counts(tenant))
    steps = Steps(progress, sum(counts.records.values()))
    faults: list[str] = []
    versions = entries = 0
    after = b""
    while eras := (yield from _eras_after(after, tenant)):
        for era in eras:
            check = yield from _check_owner(era, steps)
            if check is not None:
                faults += check.faults()
                versions += check.versions
                entries += check.entries
        after = eras[-1]
    # Last: a server then plans for whole tables to the end of the transaction. Faults of tables
    # belong to no tenant.
    faults += [TABLE_FAULTS[name].format(row) for name, row in (yield from ask(TableFaults()))]
    return Findings(sum(counts.records.values()), versions, entries, tuple(faults))


def _eras_after(after: bytes, tenant: str | None) -> Deciding[list[bytes]]:
    """Return the next eras of the book; or at once those of all owners of a tenant."""
    if tenant is None:
        return (yield from ask(ErasAfter(after, PAGE)))
    if after:
        return []
    eras: list[bytes] = []
    for owner in (yield from ask(OwnersOf(tenant))):
        base = yield from ask(FindOwner(owner))
        eras += [] if base.era is None else [base.era.bytes]
    return eras


def _check_owner(era: bytes, steps: Steps) -> Deciding[OwnerCheck | None]:
    base = yield from ask(FindEra(era))
    if base is None:
        return None
    check = OwnerCheck(base)
    # An ended era has no records: a check of the tables finds those that stand in it.
    for kind in (PieceKind.ENTRY,) if base.owner is None else (PieceKind.ENTRY, PieceKind.RECORD):
        after, is_full = b"", True
        while is_full:
            pieces = yield from ask(PiecesAfter(kind, era, after, PAGE))
            is_full = len(pieces) == PAGE
            for piece in pieces:
                if isinstance(piece, RecordPiece):
                    check.add_record(piece)
                    steps.add(1)
                elif isinstance(piece, EntryPiece):
                    check.add_entry(piece)
            after = pieces[-1].key if pieces else after
    return check
