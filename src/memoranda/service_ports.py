"""The ports of what a service keeps beside the owners' records: restricted processing, uses of keys, lines about reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from memoranda.model.beside.person_rows import AboutOwner
from memoranda.model.beside.service_records import LIBRARY, Appends, Caller, ReadLines, ReadNote, Restriction
from memoranda.model.book_rows import ReadPiece, RestrictionRow
from memoranda.model.records import Owner


class ServiceRecords(Protocol):
    """Rows outside the owners' records: they name an owner by a keyed digest, and survive the owner's erasure."""

    async def restrict(
        self,
        owner: Owner,
        appends: Appends,
        at: datetime,
        by: Caller = LIBRARY,
        since: datetime | None = None,
    ) -> Restriction:
        """Restrict the processing of an owner's data, or change what happens to new content; returns the restriction.

        A line in the audit names the caller. ``since``: it comes with an import; a restriction that is here stays as it is.
        """

    async def unrestrict(self, owner: Owner, at: datetime, by: Caller = LIBRARY) -> bool:
        """Lift the restriction of an owner; False if there is none. A line in the audit names the caller."""

    async def adopt_restrictions(self, rows: Sequence[RestrictionRow], lines: Sequence[ReadPiece]) -> None:
        """Add the restrictions of another book with the same key, and the lines about them; those that are here stay."""

    async def restriction(self, owner: Owner) -> Restriction | None:
        """Return the restriction of an owner; None if there is none."""

    async def restrictions(self, owners: Sequence[Owner]) -> list[Restriction | None]:
        """Return the restriction of each owner, or None; all read at one moment."""

    async def about_owner(self, owner: Owner) -> AboutOwner:
        """Return everything that is stored about an owner: own rows, and what a whole erasure finds elsewhere; at one moment."""

    async def note_key_uses(self, uses: Mapping[UUID, datetime]) -> None:
        """Store uses of keys by the keys' ids; of each key the latest counts."""

    async def key_uses(self, ids: Sequence[UUID] | None = None) -> dict[UUID, datetime]:
        """Return the last uses of these keys, or of all; keys that were never used are left out."""

    async def note_reads(self, notes: Sequence[ReadNote]) -> None:
        """Append lines about reads, in one commit; owners become keyed digests."""

    async def reads(
        self,
        tenant: str,
        owner: Owner | None = None,
        since: datetime | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> ReadLines:
        """Return a tenant's lines about reads, oldest first: about one owner or about anybody, since a moment."""

    async def drop_reads(self, tenant: str, before: datetime) -> int:
        """Delete a tenant's lines about reads from before a moment; returns how many."""
