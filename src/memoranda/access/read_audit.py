"""The audit of reads: who asked what kind of thing about whom, by which surface and when; never
what was answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from memoranda.access.principal import Principal
from memoranda.book import Book
from memoranda.errors import MemorandaError
from memoranda.model.records import Owner, OwnerKind
from memoranda.model.service_records import ReadNote

_log = logging.getLogger("memoranda.access")

#: Lines wait so long for others, so that they are stored together: a process that is killed loses
#: those, and no more.
BATCH_SECONDS = 0.5
#: Lines that wait while the book takes no writes; the oldest are given up beyond them, and counted.
MOST_WAITING = 100_000
#: Lines that are past their days are deleted when the service starts, and then so often.
_RETENTION_SECONDS = 3600.0

#: Everything of a line but its time.
_What = tuple[str, Owner, str, str]


class ReadAudit:
    """Notes reads in batches while a service runs: ``async with ReadAudit(book, days)``.

    What one principal asks several times within one batch becomes one line. Owners are stored as
    keyed digests.
    """

    def __init__(self, book: Book, days: int = 0) -> None:
        self._book = book
        self._days = days
        self._tenant = Owner(tenant=book.tenant, kind=OwnerKind.TENANT, id=book.tenant)
        self._waiting: dict[_What, datetime] = {}
        self._noted = asyncio.Event()
        self._storing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        #: Lines that were given up, because the book took no writes for too long.
        self.lost = 0

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def note(self, principal: Principal, verb: str, owner: Owner | None, surface: str) -> None:
        """Note that a principal asked this about an owner; without one, it was about the whole
        tenant.
        """
        about = self._tenant if owner is None else owner
        what = (principal.noted_as(owner), about, verb, surface)
        self._waiting.setdefault(what, self._book.door.clock())
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
            self.lost += 1
        self._noted.set()

    async def flush(self) -> None:
        """Store what was noted; if the book takes no writes now, keep it for the next time."""
        async with self._storing:
            self._noted.clear()
            batch, self._waiting = self._waiting, {}
            if not batch:
                return
            lines = [
                ReadNote(
                    at,
                    self._book.tenant,
                    None if about == self._tenant else about,
                    name,
                    verb,
                    surface,
                )
                for (name, about, verb, surface), at in batch.items()
            ]
            try:
                await self._book.engine.note_reads(lines)
            except BaseException as exc:
                self._waiting = {**batch, **self._waiting}
                if not isinstance(exc, MemorandaError):
                    raise
                _log.warning("%d lines about reads are stored later: %s", len(batch), exc)

    async def close(self) -> None:
        """Store what was noted, and stop."""
        task, self._task = self._task, None
        try:
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        finally:
            await self.flush()
        if self._waiting or self.lost:
            _log.error(
                "%d lines about reads were lost: the book took no writes",
                len(self._waiting) + self.lost,
            )

    async def drop_old(self) -> int:
        """Delete the lines that are past their days; return how many."""
        if not self._days:
            return 0
        before = self._book.door.clock() - timedelta(days=self._days)
        return await self._book.engine.drop_reads(self._book.tenant, before)

    async def _run(self) -> None:
        while True:
            try:
                await self.drop_old()
            except MemorandaError as exc:
                _log.warning(
                    "lines about reads that are past their days are deleted later: %s", exc
                )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_RETENTION_SECONDS):
                    await self._store_batches()

    async def _store_batches(self) -> None:
        while True:
            await self._noted.wait()
            await asyncio.sleep(BATCH_SECONDS)
            await self.flush()
