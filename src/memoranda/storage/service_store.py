"""The part of ``Store`` with restricted processing, uses of keys and lines about reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from memoranda.model.book_rows import ReadPiece, RestrictionRow
from memoranda.model.records import Owner
from memoranda.model.service_records import (
    LIBRARY,
    AboutOwner,
    Appends,
    Caller,
    ReadLines,
    ReadNote,
    Restriction,
)
from memoranda.storage.use_case import Deciding
from memoranda.storage.use_cases import read_lines
from memoranda.storage.use_cases import restriction_checks as checks
from memoranda.storage.use_cases.person import about_owner

A = TypeVar("A")


class ServiceStore(ABC):
    """Runs use cases, which an engine carries out, and has ``ServiceRecords`` over them."""

    @abstractmethod
    async def read(
        self,
        make: Callable[[], Deciding[A]],
        *,
        whole: bool = False,
        long: bool = False,
        brief: bool = False,
    ) -> A:
        """Run a use case that writes nothing; every answer is of one moment.

        ``make`` may be called again. ``whole``: it asks about more than one owner. ``long``: it has
        no time limit. ``brief``: it takes so little time that it may run on the thread of the event
        loop.
        """

    @abstractmethod
    async def write(
        self,
        make: Callable[[], Deciding[A]],
        *,
        alone: bool = False,
        long: bool = False,
        repeatable: bool = False,
        guarded: bool = True,
        patience: float | None = None,
    ) -> A:
        """Run a use case, and carry out its writes, all or none; returns after the durable commit.

        ``make`` may be called again. ``alone``: no other write runs beside it. ``long``: it has no
        time limit. ``repeatable``: it recognises what an earlier attempt stored. ``guarded``: it is
        refused if the book is marked as copied, moved or an unfinished copy. ``patience``: seconds
        to wait for each lock.
        """

    async def restrict(
        self,
        owner: Owner,
        appends: Appends,
        at: datetime,
        by: Caller = LIBRARY,
        since: datetime | None = None,
    ) -> Restriction:
        note = read_lines.with_ids(
            [ReadNote(at, owner.tenant, owner, by.name, "restrict", by.surface)]
        )
        # Alone: whoever writes for the owner at this moment is done before, or meets the
        # restriction.
        return await self.write(
            lambda: checks.restrict(owner, appends, note, since), alone=True, repeatable=True
        )

    async def unrestrict(self, owner: Owner, at: datetime, by: Caller = LIBRARY) -> bool:
        note = read_lines.with_ids(
            [ReadNote(at, owner.tenant, owner, by.name, "unrestrict", by.surface)]
        )
        return await self.write(lambda: checks.unrestrict(owner, note), alone=True)

    async def adopt_restrictions(
        self, rows: Sequence[RestrictionRow], lines: Sequence[ReadPiece]
    ) -> None:
        await self.write(
            lambda: checks.adopt_restrictions(rows, lines), alone=True, repeatable=True
        )

    async def restriction(self, owner: Owner) -> Restriction | None:
        return await self.read(lambda: checks.restriction(owner))

    async def restrictions(self, owners: Sequence[Owner]) -> list[Restriction | None]:
        return await self.read(lambda: checks.restrictions(owners))

    async def about_owner(self, owner: Owner) -> AboutOwner:
        return await self.read(lambda: about_owner(owner), whole=True, long=True)

    async def note_key_uses(self, uses: Mapping[UUID, datetime]) -> None:
        await self.write(lambda: read_lines.note_key_uses(uses), repeatable=True)

    async def key_uses(self, ids: Sequence[UUID] | None = None) -> dict[UUID, datetime]:
        return await self.read(lambda: read_lines.key_uses(ids))

    async def note_reads(self, notes: Sequence[ReadNote]) -> None:
        made = read_lines.with_ids(notes)
        await self.write(lambda: read_lines.note_reads(made), repeatable=True)

    async def reads(
        self,
        tenant: str,
        owner: Owner | None = None,
        since: datetime | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> ReadLines:
        return await self.read(lambda: read_lines.reads(tenant, owner, since, limit, cursor))

    async def drop_reads(self, tenant: str, before: datetime) -> int:
        return await self.write(lambda: read_lines.drop_reads(tenant, before))
