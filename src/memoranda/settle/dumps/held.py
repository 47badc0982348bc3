"""What a dump holds, read and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memoranda.model.ledger import Actor, Entry
from memoranda.model.owner import Owner
from memoranda.model.passages import Use
from memoranda.model.records import Record
from memoranda.model.values import moment

#: Counts, places and versions lie below this: every JSON reader keeps them exact, and there is room to count on.
LARGEST = 2**53
#: How many bytes a book's secret has.
SECRET_SIZE = 32


class DumpedVersion(NamedTuple):
    """One version of a record as a line brought it."""

    record: Record
    position: int
    #: The record stands so now; earlier versions of it came before.
    current: bool
    #: The place of its line in the dump, from 0.
    item: int


class Blank(NamedTuple):
    """A version that was emptied where it was dumped: its ledger line is there, and no content."""

    id: UUID
    version: int
    position: int
    at: datetime


class OwnerDump(NamedTuple):
    """All of an owner, checked: what is in it fits together."""

    owner: Owner
    era: UUID
    #: By position, without digests, which each book makes under its own secret.
    entries: tuple[Entry, ...]
    #: Record by record in the order of their making, the versions of each by number, the current one last.
    versions: tuple[DumpedVersion, ...]
    blanks: tuple[Blank, ...]
    uses: Mapping[UUID, Use]
    #: Thread → the last place given out in it.
    tails: Mapping[UUID, int]

    @property
    def current(self) -> dict[UUID, Record]:
        """Every record as it stands."""
        return {version.record.id: version.record for version in self.versions if version.current}


class EndedEra(NamedTuple):
    """What stays of an owner whose every record was erased."""

    era: UUID
    #: Keyed digest of the owner's name.
    digest: bytes
    #: Microseconds since the epoch.
    at: int
    #: Keyed digests of the ids and requests of its operations, so that none is applied again.
    operations: tuple[tuple[bytes, bytes], ...]

    def entries(self) -> Iterator[Entry]:
        """What is left of the ledger: its operations, that they may be known again."""
        for position, (id, request) in enumerate(self.operations, 1):
            yield Entry(
                None, self.era, position, moment(self.at), Actor("system"), (), operation=id, request=request
            )


class BookDump(NamedTuple):
    """What belongs to no owner."""

    secret: bytes
    eras: tuple[EndedEra, ...]
    #: Keyed digests of records that were erased one by one, each with its moment in microseconds.
    tombstones: tuple[tuple[bytes, int], ...]
