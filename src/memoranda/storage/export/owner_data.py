"""The content of an export after its checks, and its conversion to the rows (pieces) that an engine
writes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from memoranda.model.book_rows import (
    EntryPiece,
    Frame,
    OwnerPieces,
    ReadPiece,
    RecordPiece,
    RestrictionRow,
    ShelfPiece,
    StonePiece,
    VersionPiece,
)
from memoranda.model.ledger import OPERATION, Actor, Entry
from memoranda.model.passages import Use
from memoranda.model.records import (
    PASSAGE_TYPES,
    Audience,
    Owner,
    Record,
    RecordType,
    owner_digest_parts,
)
from memoranda.model.values import keyed, micros, moment
from memoranda.storage.decide.state import brought
from memoranda.storage.rows import StoredRow, audience_columns, dump_entry, encode

#: Makes the packed terms of a passage; None for other records.
TermsOf = Callable[[Record], bytes | None]

#: Counts, places and versions lie below this: every JSON reader keeps them exact, and there is room
#: to count on.
LARGEST = 2**53
#: How many bytes a book's secret has.
SECRET_SIZE = 32


class DumpedVersion(NamedTuple):
    """One record version, read from an export's line."""

    record: Record
    position: int
    #: The record stands so now; earlier versions of it came before.
    current: bool
    #: The place of its line in the dump, from 0.
    item: int
    #: The sources of each group of unlisted ones; of the current version only.
    unlisted: Mapping[UUID, Sequence[UUID]]


class Blank(NamedTuple):
    """A version whose content an erasure removed in the exported book; its ledger line is still
    there.
    """

    id: UUID
    version: int
    position: int
    at: datetime


class OwnerDump(NamedTuple):
    """All data of one owner in an export, checked for contradictions."""

    owner: Owner
    era: UUID
    #: By position, without digests, which each book makes under its own secret.
    entries: tuple[Entry, ...]
    #: Record by record in the order of their making, the versions of each by number, the current
    #: one last.
    versions: tuple[DumpedVersion, ...]
    blanks: tuple[Blank, ...]
    uses: Mapping[UUID, Use]
    #: Thread → the last place given out in it.
    tails: Mapping[UUID, int]

    @property
    def current(self) -> dict[UUID, Record]:
        """The current version of every record, by id."""
        return {version.record.id: version.record for version in self.versions if version.current}

    def counts(self) -> Counter[str]:
        """Return how many records of each type there are, and how many earlier versions, uses and
        entries.
        """
        found = Counter(record.type.value for record in self.current.values())
        found["versions"] = len(self.versions) - found.total()
        found["uses"], found["entries"] = len(self.uses), len(self.entries)
        return +found

    def without_keys(self) -> OwnerDump:
        """Return the data without digests that another book's key made."""
        bare = (replace(entry, operation=None, request=None) for entry in self.entries)
        return self._replace(entries=tuple(bare))

    def pieces(self, secret: bytes, rule: int, terms: TermsOf) -> OwnerPieces:
        """Return the owner's rows, with digests made with the book's key, and search terms made by
        this rule.
        """
        return _Pieces(self, secret, rule, terms).made()


class _Pieces:
    """Converts one owner's part of an export to the rows that an engine writes."""

    def __init__(self, dump: OwnerDump, secret: bytes, rule: int, terms: TermsOf) -> None:
        self._dump = dump
        self._secret = secret
        self._rule = rule
        self._terms = terms
        self._blanks: defaultdict[UUID, list[Blank]] = defaultdict(list)
        for blank in dump.blanks:
            self._blanks[blank.id].append(blank)
        #: The digest of each version's content, by record and version.
        self._digests: dict[tuple[UUID, int], bytes] = {}
        #: How many passages each shelf has; a passage's revision is its place on the shelf.
        self._shelves: Counter[Audience] = Counter()

    def made(self) -> OwnerPieces:
        dump = self._dump
        records = [
            self._record(list(versions))
            for _, versions in groupby(dump.versions, key=lambda version: version.record.id)
        ]
        entries = [
            _entry(self._with_digests(self._with_operation(entry))) for entry in dump.entries
        ]
        shelves = sorted(
            ShelfPiece(audience_columns(each), mark, 0) for each, mark in self._shelves.items()
        )
        digest = keyed(self._secret, "owner", owner_digest_parts(dump.owner))
        frame = Frame(dump.era.bytes, dump.owner.parts, digest, len(entries), None, tuple(shelves))
        return OwnerPieces(frame, records, entries)

    def _record(self, versions: list[DumpedVersion]) -> RecordPiece:
        *earlier, current = versions
        record = current.record
        rows = [self._row(version.record) for version in versions]
        ended: int | None = None
        for row in rows:
            ended = None if row.held else row.recorded_at if ended is None else ended
        pieces = sorted(
            [
                VersionPiece(
                    row.version,
                    version.position,
                    row.recorded_at,
                    audience_columns(version.record.audience),
                    row.hash,
                    row.body,
                )
                for row, version in zip(rows, earlier, strict=False)
            ]
            + [
                VersionPiece(
                    blank.version,
                    blank.position,
                    micros(blank.at),
                    audience_columns(record.audience),
                    b"",
                    "",
                )
                for blank in self._blanks[record.id]
            ]
        )
        passage = record.type in PASSAGE_TYPES
        self._shelves[record.audience] += passage
        packed = self._terms(record) if passage else None
        use = self._dump.uses.get(record.id)
        row = rows[-1]
        if record.type is RecordType.THREAD:
            row = row._replace(seq=self._dump.tails[record.id])
        return RecordPiece(
            tuple(row),
            audience_columns(record.audience),
            current.position,
            pieces[0].recorded_at if pieces else row.recorded_at,
            ended,
            None,
            self._shelves[record.audience] if passage else 0,
            tuple(pieces),
            tuple(sorted({source.bytes for source in record.links()})),
            None if packed is None else (self._rule, packed),
            None
            if use is None
            else (use.strength, None if use.used_at is None else micros(use.used_at), use.count),
            (),
            tuple(
                sorted({(g.bytes, id.bytes) for g, ids in current.unlisted.items() for id in ids})
            ),
        )

    def _row(self, record: Record) -> StoredRow:
        self._shelves[record.audience] += 0
        row = encode(record, self._secret)
        self._digests[record.id, record.version] = row.hash
        return row

    def _with_operation(self, entry: Entry) -> Entry:
        """Return the entry with digests by which this book recognises an operation of another
        one.
        """
        portable = entry.note.get(OPERATION)
        if entry.operation is not None or portable is None:
            return entry
        id, request = map(bytes.fromhex, portable)
        operation, asked = brought(self._secret, self._dump.owner, (id, request))
        return replace(entry, operation=operation, request=asked)

    def _with_digests(self, entry: Entry) -> Entry:
        lines = (
            replace(line, hash=self._digests.get((line.id, line.after))) for line in entry.lines
        )
        return replace(entry, lines=tuple(lines))


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


class EndedEra(NamedTuple):
    """The rest of an owner whose records were all erased: the ledger of the ended era, without the
    name.
    """

    era: UUID
    #: Keyed digest of the owner's name.
    digest: bytes
    #: Microseconds since the epoch.
    at: int
    #: Keyed digests of the ids and requests of its operations, so that none is applied again.
    operations: tuple[tuple[bytes, bytes], ...]

    def pieces(self) -> OwnerPieces:
        """Return the rows of the ended era: its ledger, so that its operations are not applied
        again.
        """
        entries = [
            _entry(
                Entry(
                    None,
                    self.era,
                    place,
                    moment(self.at),
                    Actor("system"),
                    (),
                    operation=id,
                    request=request,
                )
            )
            for place, (id, request) in enumerate(self.operations, 1)
        ]
        return OwnerPieces(
            Frame(self.era.bytes, None, self.digest, len(entries), self.at), (), entries
        )


class BookDump(NamedTuple):
    """Return the rows that belong to no owner, without the tombstones of erased records."""

    secret: bytes
    eras: tuple[EndedEra, ...]
    #: Keyed digests of records that were erased one by one, each with its moment in microseconds.
    tombstones: tuple[StonePiece, ...]
    #: By digest, so that also owners without records stay restricted; and the lines about who
    #: restricted them.
    restrictions: tuple[RestrictionRow, ...]
    restricting: tuple[ReadPiece, ...]
