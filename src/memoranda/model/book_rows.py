"""The contents of a book as rows that are equal on every engine, and the marks of a book that is
copied or has moved.

Times are microseconds since the epoch. Two pieces are equal if the stored rows have the same
content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from memoranda.errors import Conflict, Erased, Moved, UnfinishedCopy
from memoranda.model.changes import FOLLOW

#: Kinds of the book's own jobs that concern one engine's files or tables; they are not copied.
OWN_UPKEEP = ("note", "rewrite", "scrub", FOLLOW)

#: An audience as it is stored: its kind, its agent or an empty text, its groups as JSON.
Readers: TypeAlias = tuple[str, str, str]
#: The digest of an owner, the moment in microseconds, and the text of ``Appends``.
RestrictionRow: TypeAlias = tuple[bytes, int, str]
#: The id of a key, and its last use in microseconds.
KeyUseRow: TypeAlias = tuple[bytes, int]
#: The readers of a damaged record or version that stands on no shelf of its owner, as an engine
#: answers.
NOWHERE: Any = (None, None, None)


class PieceKind(StrEnum):
    """The kinds of pieces (a piece is a row as a copy transfers it) that are read in pages, ordered
    by key.
    """

    RECORD = "record"
    ENTRY = "entry"
    #: A tombstone; it belongs to no owner.
    STONE = "stone"
    #: A line about a read; it belongs to no owner, either.
    READ = "read"


class VersionPiece(NamedTuple):
    """An earlier version of a record; its body is empty if an erasure removed the content."""

    version: int
    position: int
    recorded_at: int
    readers: Readers
    hash: bytes
    body: str


class RecordPiece(NamedTuple):
    """A record with its earlier versions, oldest first, and the rows that belong to it in other
    tables.
    """

    #: The columns of ``StoredRow``; a thread's ``seq`` is the last place that was given to a
    #: message.
    row: tuple[Any, ...]
    readers: Readers
    position: int
    learnt: int
    ended: int | None
    run: bytes | None
    mark: int
    earlier: tuple[VersionPiece, ...]
    sources: tuple[bytes, ...]
    #: The version of the rule that made the terms, and the packed terms.
    terms: tuple[int, bytes] | None
    #: Strength, last use, count.
    use: tuple[float, int | None, int] | None
    #: Pairs of a vector set's name and the packed vector.
    vectors: tuple[tuple[str, bytes], ...]
    #: Pairs of a group of unlisted sources and a source in it, in order.
    unlisted: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def key(self) -> bytes:
        """The key by which records are ordered: the id."""
        key: bytes = self.row[0]
        return key


class EntryPiece(NamedTuple):
    """An entry of an owner's ledger, as a copy transfers it."""

    position: int
    at: int
    actor_kind: str
    actor: str | None
    operation: bytes | None
    request: bytes | None
    body: str

    @property
    def key(self) -> bytes:
        """The key by which entries are ordered: the position."""
        return position_key(self.position)


class StonePiece(NamedTuple):
    """A tombstone: the digest of the id of an erased record, so that it is never imported again."""

    digest: bytes
    at: int

    @property
    def key(self) -> bytes:
        """The key by which tombstones are ordered: the digest."""
        return self.digest


class ReadPiece(NamedTuple):
    """A line about a read: who asked for what kind of thing, about an owner whose digest it has, or
    about nobody.
    """

    at: int
    id: bytes
    tenant: str
    owner: bytes
    principal: str
    verb: str
    surface: str

    @property
    def key(self) -> bytes:
        """The key by which lines are ordered: the moment, then the id."""
        return self.at.to_bytes(8, "big") + self.id


Piece: TypeAlias = RecordPiece | EntryPiece | StonePiece | ReadPiece


class JobPiece(NamedTuple):
    """A job, and the model's answer that is stored with it: its text, and the ids of the records
    that it quotes.
    """

    id: bytes
    kind: str
    key: str
    payload: str
    records: tuple[bytes, ...]
    state: str
    run_at: int
    first_at: int
    attempts: int
    postponed: int
    not_before: int
    generation: int
    leased_generation: int
    worker: str | None
    leased_until: int | None
    error: str
    kept: tuple[tuple[bytes, ...], str] | None


class ShelfPiece(NamedTuple):
    """A shelf (an owner's passages with one audience), and the revisions of its latest and its last
    full change.
    """

    readers: Readers
    mark: int
    renewed: int


#: Tenant, day, agent, task and model, the six counts, and the price in its smallest steps.
SpentPiece: TypeAlias = tuple[str, str, str, str, str, int, int, int, int, int, int, int]


class Frame(NamedTuple):
    """An owner during one era (between erasures of all its records): names, ledger position,
    shelves and jobs.
    """

    era: bytes
    #: Tenant, kind and id; None once everything was erased.
    names: tuple[str, str, str] | None
    digest: bytes
    position: int
    erased_at: int | None
    shelves: tuple[ShelfPiece, ...] = ()
    jobs: tuple[JobPiece, ...] = ()
    spent: tuple[SpentPiece, ...] = ()


class OwnerPieces(NamedTuple):
    """All rows of one owner, read at one moment."""

    frame: Frame
    records: Sequence[RecordPiece]
    entries: Sequence[EntryPiece]


class BookFrame(NamedTuple):
    """The rows that belong to no owner, without the tombstones of erased records and the lines
    about reads.
    """

    #: The name and the dimension of each set of vectors; the active set comes first.
    sets: tuple[tuple[str, int], ...]
    jobs: tuple[JobPiece, ...]
    spent: tuple[SpentPiece, ...]
    #: The stored text of ``WHO_FORMS``; None if nobody is recorded.
    who_forms: bytes | None = None
    restrictions: tuple[RestrictionRow, ...] = ()
    key_uses: tuple[KeyUseRow, ...] = ()


class Departure(NamedTuple):
    """The mark on a book that is being copied, or has moved: nobody may write that book."""

    #: The place of the copy.
    address: str
    #: True once the book has moved for good; False while a copy is being made.
    whole: bool
    #: The id of this copy; each time the book is marked it gets a new one.
    copy: str = ""


class Arrival(NamedTuple):
    """The mark on an unfinished copy: only the copying program may write it, and nobody may open it
    as a book.
    """

    source: str
    #: The id of the copy, which the source's ``Departure`` has as well.
    copy: str = ""


class Whereabouts(NamedTuple):
    """A book's identity, and the marks that say if it is being copied, has moved or is an
    unfinished copy.
    """

    address: str
    #: The key of the book's digests. A copy has the same key, and so has a backup, and a book that
    #: imported a whole export.
    secret: bytes
    departure: Departure | None
    arrival: Arrival | None
    #: The id of the copy that made this book; None if no copy did. Backups of the book keep it,
    #: copies and exports do not.
    made_by: str | None = None
    #: The id of the backup that this book is; None if it is not a backup.
    backup: str | None = None


#: The name under which an engine stores the key of the book's digests.
SECRET = "secret"
#: The names under which an engine stores the marks, as JSON.
DEPARTURE, ARRIVAL = "departure", "arrival"
#: The name under which an engine stores ``Whereabouts.made_by``. It is not a mark and refuses
#: nobody.
MADE_BY = "made_by"
#: The name under which an engine stores ``Whereabouts.backup``. It refuses nobody, either.
BACKUP = "backup"
#: The name under which an engine stores who forms threads: JSON of tenant → agent (empty for all
#: others) → who.
WHO_FORMS = "who_forms"


def position_key(position: int) -> bytes:
    """Return a ledger position as the key of its entry."""
    return position.to_bytes(8, "big")


def mark_text(mark: Departure | Arrival) -> bytes:
    """Return a mark as the text that is stored."""
    return json.dumps(mark).encode()


def marks_of(stored: Mapping[str, bytes]) -> tuple[Departure | None, Arrival | None]:
    """Return the marks from the texts stored under their names."""
    departure, arrival = stored.get(DEPARTURE), stored.get(ARRIVAL)
    return (
        None if departure is None else Departure(*json.loads(departure)),
        None if arrival is None else Arrival(*json.loads(arrival)),
    )


def may_arrive(stored: Mapping[str, bytes], *, same_secret: bool, has_content: bool) -> bool:
    """True if a book may become a copy: it is empty, or an unfinished copy of the same book."""
    departure, arrival = marks_of(stored)
    if departure is not None:
        return False
    return same_secret if arrival is not None else not (same_secret or has_content)


def refuse_marked(stored: Mapping[str, bytes]) -> None:
    """Raise ``Moved`` or ``UnfinishedCopy`` if a book has a mark: it cannot be written."""
    if DEPARTURE in stored or ARRIVAL in stored:
        raise refusal(stored)


def refusal(stored: Mapping[str, bytes]) -> Moved | UnfinishedCopy:
    """Return the error for writing a book that has at least one of the marks."""
    departure, arrival = marks_of(stored)
    if departure is not None:
        return moved(departure)
    assert arrival is not None
    return unfinished(arrival)


def refuse_other_departure(stored: Mapping[str, bytes], expected: Departure | None) -> None:
    """Raise ``Conflict`` unless the stored departure is the expected one."""
    if marks_of(stored)[0] != expected:
        raise Conflict(
            "another run of memoranda copy marked or released this book in the meantime: run yours again"
        )


def refuse_other_copy(stored: Mapping[str, bytes], copy: str) -> None:
    """Raise ``Conflict`` unless the book is the unfinished copy with this id."""
    arrival = marks_of(stored)[1]
    if arrival is None or arrival.copy != copy:
        raise Conflict(
            "another run of memoranda copy finished this copy, or began it anew: run yours again"
        )


def refuse_other_secret(secret: bytes, present: bytes) -> None:
    """Raise ``Conflict`` if an owner's digests were made under another key than the book's."""
    if secret != present:
        raise Conflict("the key of this book changed in the meantime: import again")


def refused_era(*, ended: bool) -> Conflict | Erased:
    """Return the error for adding an owner whose era (time since the last whole erasure) is in this
    book already.
    """
    if ended:
        return Erased(
            "this owner was erased here after the export was made: the records do not come back"
        )
    return Conflict("these records are in this book already, under another owner")


def refused_record(id: UUID) -> Conflict:
    """Return the error for adding an owner if a record of that owner is in this book already."""
    return Conflict(f"record {id} is in this book already, and another owner has it")


def refused_erased(id: UUID) -> Erased:
    """Return the error for adding an owner if a record of that owner was erased from this book."""
    return Erased(f"record {id} was forgotten here, and does not come back")


def refused_operation(position: int) -> Conflict:
    """Return the error for adding an owner if an operation of that owner is in this book
    already.
    """
    return Conflict(f"the operation at position {position} was applied in this book already")


def moved(departure: Departure) -> Moved:
    """Return the error for writing a book that is being copied, or has moved."""
    if departure.whole:
        return Moved(
            f"this book has moved to {departure.address}: open it there", departure.address
        )
    return Moved(
        f"this book is being copied to {departure.address} and cannot be written until that is finished: try again then. "
        f"If the copy was stopped, finish it with: memoranda copy THIS_BOOK {departure.address}, or add --cancel to write the book again",
        departure.address,
    )


def unfinished(arrival: Arrival) -> UnfinishedCopy:
    """Return the error for opening or writing an unfinished copy."""
    return UnfinishedCopy(
        f"this is an unfinished copy of {arrival.source}: run the same copy again to finish it, or delete it"
    )


def job_payload(text: str) -> str:
    """Return a job's payload as JSON, spelled alike on every engine."""
    return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
