"""The writes of use cases: rows to be stored, changed or deleted, which an engine carries out in
one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.book_rows import BookFrame, Frame, Piece, SpentPiece
from memoranda.model.changes import JobDraft
from memoranda.model.ledger import Entry
from memoranda.model.passages import Use
from memoranda.model.records import Audience, Owner, RecordType
from memoranda.model.values import new_id
from memoranda.model.vectors import Embedding
from memoranda.storage.decide.state import Put
from memoranda.storage.rows import StoredRow
from memoranda.storage.upkeep_questions import JobRow, StoredSet
from memoranda.storage.use_case import OwnerBase, Write


@dataclass(frozen=True, slots=True)
class StoreRecords(Write):
    """Store records of one owner with their ledger entry, which becomes the owner's last one.

    The revision of each changed shelf increases once. If passages came, the job that makes vectors
    is added to every set where none waits.
    """

    base: OwnerBase
    puts: Sequence[Put]
    #: The row of each of ``puts``.
    rows: Sequence[StoredRow]
    entry: Entry
    #: Thread → the last place given out in it.
    tails: Mapping[UUID, int] = field(default_factory=dict)
    #: The differences that it makes to the owner's counts of active memories and of items.
    gain: int = 0
    items: int = 0
    #: True if all links to sources are written again, also where a record's sources seem unchanged.
    relink: bool = False


@dataclass(frozen=True, slots=True)
class PutJob(Write):
    """Add a job, or postpone the waiting one of that owner, kind and key, which gets the new
    payload and records.
    """

    #: None: the job is the book's own upkeep.
    base: OwnerBase | None
    draft: JobDraft
    at: datetime
    #: The job's id, if it is a new one.
    id: UUID = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class Reserve(Write):
    """Note with an owner that records of another owner are going to name it, so that its erasure
    looks there, too.

    It comes before those records. Engines whose transactions exclude each other have nothing to do.
    """

    owner: Owner
    #: The owner of the records.
    base: OwnerBase


# ── pieces ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SetProperty(Write):
    """Set one of the book's named values, or remove it."""

    name: str
    value: bytes | None


@dataclass(frozen=True, slots=True)
class EmptyBook(Write):
    """Delete every row of the book except its named values, and what the engine stores about its
    own files.
    """


@dataclass(frozen=True, slots=True)
class PutBook(Write):
    """Store the rows that belong to no owner, unless the book has them already."""

    frame: BookFrame


@dataclass(frozen=True, slots=True)
class PutFrame(Write):
    """Store an era's owner, shelves, jobs and spending, unless the book has the era already."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class PutPieces(Write):
    """Store an era's pieces, or tombstones. Skip pieces that the book has and vectors of unknown
    sets.
    """

    era: bytes
    pieces: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Recount(Write):
    """Count the rows of one era or of the whole book again, and store the counts."""

    #: None: the whole book.
    era: bytes | None


# ── spending ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class AddSpent(Write):
    """Add to an owner's sums of spending, each of which may be there already. No two of the rows
    are of the same sum.
    """

    #: None: the sums that name nobody.
    base: OwnerBase | None
    rows: Sequence[SpentPiece]


@dataclass(frozen=True, slots=True)
class DropSpent(Write):
    """Delete an owner's sums of spending."""

    base: OwnerBase


# ── jobs ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SaveJob(Write):
    """Store a job's state, times, counts, lease and error; its payload, its records and its answer
    stay as they are.
    """

    row: JobRow
    #: True if waiting workers are told that it is due.
    wakes: bool = False


@dataclass(frozen=True, slots=True)
class DropJobs(Write):
    """Delete jobs with their answers."""

    ids: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class SilenceJobs(Write):
    """Delete the error texts of jobs."""

    ids: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class KeepAnswer(Write):
    """Store a model's answer with a job; it replaces an earlier one."""

    job: bytes
    #: The ids of all records that it quotes.
    about: Sequence[bytes]
    text: str


@dataclass(frozen=True, slots=True)
class ForgetKept(Write):
    """Delete the answers that are stored with jobs."""

    ids: Sequence[bytes]


# ── verification and upkeep ───────────────────────────────────────────────────────────────────────


class Derived(NamedTuple):
    """The columns and links of a record that are computed from its content and its earlier
    versions.
    """

    id: bytes
    slot: bytes | None
    kind: str | None
    status: str | None
    at: int
    valid_from: int | None
    valid_to: int | None
    facets: str
    learnt: int
    ended: int | None
    #: In order.
    sources: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class SetDerived(Write):
    """Set computed columns of some of an owner's records, and replace their links; content and
    versions stay unchanged.
    """

    base: OwnerBase
    rows: Sequence[Derived]


@dataclass(frozen=True, slots=True)
class RebuildTables(Write):
    """Mark all terms as made by an old rule, and delete rows that fit no record."""


# ── uses, terms and vectors; their keys are those that ``MemoriesInView``, ``PassagesAmong`` and ``Sets`` return ─────


@dataclass(frozen=True, slots=True)
class PutUses(Write):
    """Store the use of memories."""

    uses: Sequence[tuple[Any, Use]]


@dataclass(frozen=True, slots=True)
class PutTerms(Write):
    """Store the terms of passages, made by this rule, and raise the revisions of their shelves."""

    rule: int
    terms: Sequence[tuple[Any, bytes]]


@dataclass(frozen=True, slots=True)
class Reword(Write):
    """Store the terms of passages whose text changed, made by this rule, and delete their vectors
    in every set.

    The revisions of their shelves increase, and the job that makes vectors is added to every set
    where none waits.
    """

    rule: int
    terms: Sequence[tuple[Any, bytes]]
    at: datetime


@dataclass(frozen=True, slots=True)
class AddSet(Write):
    """Add an empty set of vectors."""

    embedding: Embedding
    is_active: bool


@dataclass(frozen=True, slots=True)
class PutVectors(Write):
    """Store packed vectors of passages in a set; if it is the active one, raise the revisions of
    their shelves.
    """

    set: StoredSet
    vectors: Sequence[tuple[Any, bytes]]


@dataclass(frozen=True, slots=True)
class RemoveSet(Write):
    """Delete a set with its vectors and its job."""

    set: StoredSet


@dataclass(frozen=True, slots=True)
class ActivateSet(Write):
    """Make a set the active one, and renew all shelves: every cache of an earlier revision becomes
    invalid.
    """

    set: StoredSet


# ── erasure ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ScrubDigests(Write):
    """Remove the digests of erased and stripped records from an owner's ledger; lines of erased
    ones say so.
    """

    base: OwnerBase
    erased: Sequence[UUID]
    #: Records that stay, and whose versions up to now lose their content.
    stripped: Sequence[UUID]
    #: The entries that changed any of these records.
    positions: Sequence[int]
    #: Those of ``stripped`` that lose words of their own, which the requests that wrote them held.
    redacted: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class ScrubLedger(Write):
    """Remove all digests, and the names of all actors, from an owner's ledger."""

    base: OwnerBase


@dataclass(frozen=True, slots=True)
class BlankVersions(Write):
    """Remove the content of all earlier versions of these records of an owner; the versions
    themselves stay.
    """

    base: OwnerBase
    ids: Sequence[UUID]


class Leaving(NamedTuple):
    """A record that is removed, as it is now."""

    id: UUID
    type: RecordType
    version: int
    audience: Audience


@dataclass(frozen=True, slots=True)
class RemoveRecords(Write):
    """Delete records of one owner with their versions, terms, uses, links, and vectors in every
    set.

    Links of other records to these stay: whatever rests on them is removed, or stored with all its
    links anew, beside this. The revision of each shelf that loses passages increases once.
    """

    base: OwnerBase
    records: Sequence[Leaving]
    #: The differences that it makes to the owner's counts of active memories and of items.
    gain: int
    items: int = 0


@dataclass(frozen=True, slots=True)
class Bury(Write):
    """Store digests of the ids of erased records, so that these are never imported again."""

    digests: Sequence[bytes]
    at: datetime


@dataclass(frozen=True, slots=True)
class EndEra(Write):
    """End an owner's era: the owner's jobs, shelves and names are deleted; the ledger stays."""

    base: OwnerBase
    at: datetime
