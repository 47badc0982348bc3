"""Backups of a whole book, erasure in backups, and restoring a backup without what was erased
since.
"""

from __future__ import annotations

import asyncio
import glob
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType

from memoranda.book.admin.book_copy import copy_unchanging
from memoranda.book.admin.erasure_notes import (
    NOTE,
    Notes,
    begin_notes,
    note_erasure,
    private,
    read_notes,
    sync_folder,
)
from memoranda.errors import (
    Corrupt,
    InvalidInput,
    MemorandaError,
    Moved,
    NotABook,
    StorageError,
    VersionMismatch,
)
from memoranda.model.changes import JobDraft
from memoranda.model.ledger import Actor, ErasureReceipt, Erasures, Target
from memoranda.model.query import Findings, Progress
from memoranda.model.records import WHOLE
from memoranda.model.redactions import joined
from memoranda.model.values import new_id
from memoranda.ports import Clock, CopiesItself, Engine, ReadsOneMoment

fcntl: ModuleType | None
try:
    import fcntl
except (
    ImportError
):  # Windows has no such locks: there, two processes may rewrite one backup at a time.
    fcntl = None

#: Opens the engine of a copy of a book; with ``create=True`` it creates the file.
OpenCopy = Callable[..., Awaitable[Engine]]


#: The kind of the job that stands while a process rewrites backups; if that process is killed, a
#: worker clears what it left.
REWRITE = "rewrite"
_LEASE_SECONDS = 60.0


class Backups:
    """The backups that a book made of itself."""

    def __init__(
        self, engine: Engine, clock: Clock, open_copy: OpenCopy, on_erased: Callable[[], None]
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._open_copy = open_copy
        self._on_erased = on_erased

    async def backup(self, target: Path, progress: Progress | None = None) -> Findings:
        """Write a backup while the book is in use; it is verified before it gets its name, and
        cancelled it has none.
        """
        if target.exists():
            raise InvalidInput(
                f"target: {target} is there already; name a new file", field="target"
            )
        proven: list[os.stat_result] = []
        try:
            return await self._backup(target, progress, proven)
        except asyncio.CancelledError:
            # It may have got its name just before; a file of somebody else's stays.
            if proven and target.exists() and os.path.samestat(proven[0], target.stat()):
                target.unlink()
            raise

    async def _backup(
        self, target: Path, progress: Progress | None, proven: list[os.stat_result]
    ) -> Findings:
        engine = self._engine
        if isinstance(engine, ReadsOneMoment):
            return await self._backup_server(engine, target, progress, proven)
        if not isinstance(engine, CopiesItself):
            raise StorageError(
                f"the {engine.name} engine makes no backups; export the book instead"
            )
        found: list[Findings] = []
        id = new_id().hex

        async def prove(copy: Path) -> None:
            found.append(await self.prove(copy))
            await self._mark(copy, id)
            await asyncio.to_thread(begin_notes, target, id)
            proven.append(copy.stat())

        await engine.backup(target, progress, prove)
        return found[0]

    async def _backup_server(
        self,
        engine: ReadsOneMoment,
        target: Path,
        progress: Progress | None,
        proven: list[os.stat_result],
    ) -> Findings:
        """Write a book in a file, as the book on the server is at one moment, or each owner at
        one.
        """
        if not target.parent.is_dir():
            raise InvalidInput(
                f"target: there is no folder {target.parent}; make it first", field="target"
            )
        id, place = new_id().hex, (await self._engine.whereabouts()).address
        partial = target.with_name(f"{target.name}.{id[-12:]}.partial")

        async def copy_to_file(moment: Engine) -> None:
            # If the server was lost and asked again, this is another moment.
            _clear(partial)
            file = await self._open_copy(partial, create=True)
            try:
                await copy_unchanging(moment, file, progress, compares=not engine.takes_moments)
                if engine.takes_moments and isinstance(file, CopiesItself):
                    # Who was copied first may have been erased, or a part of theirs, while others
                    # were.
                    await file.reapply(await self._engine.erasures(), self._clock())
            finally:
                await file.close()

        try:
            await engine.at_one_moment(copy_to_file)
            findings = await self.prove(partial)
            await self._mark(partial, id)
            await asyncio.to_thread(begin_notes, target, id, server=place)
            proven.append(partial.stat())
            placing = asyncio.ensure_future(asyncio.to_thread(_place, partial, target))
            try:
                await asyncio.shield(placing)
            except asyncio.CancelledError:
                await asyncio.wait([placing])
                raise
        finally:
            _clear(partial)
        return findings

    async def _mark(self, copy: Path, id: str) -> None:
        engine = await self._open_copy(copy)
        try:
            await engine.mark_backup(id)
        finally:
            await engine.close()

    async def prove(self, copy: Path) -> Findings:
        """Open a copy and verify it against its ledger."""
        engine = await self._open_copy(copy)
        try:
            findings = await engine.verify()
        finally:
            await engine.close()
        if findings.faults:
            raise StorageError(
                f"the copy {copy} differs from its ledger: {findings.faults[0]}; verify the book"
            )
        return findings

    async def forget(self, target: Target, *, backups: bool) -> ErasureReceipt:
        """Erase, and if asked also rewrite each of the book's backups without what was erased."""
        receipt = await self._engine.erase(target, self._clock())
        # From here on it is committed: nothing in this process may remember it, and what fails is
        # said in the receipt.
        self._on_erased()
        try:
            # If the book was marked for a copy just now, that copy notes the erasure.
            with suppress(Moved):
                await self._note_now()
            for path in receipt.still_in:
                await _clear_leftover(Path(path))
        except (MemorandaError, OSError) as exc:
            left = f"the notes beside the backups are not complete ({exc}); a worker completes them, or the next forget"
            receipt = replace(
                receipt, left_to_do="; ".join(filter(None, (receipt.left_to_do, left)))
            )
        if not backups or not receipt.still_in:
            return receipt.as_seen()
        async with self._rewriting_noted():
            kept = [
                path
                for path in receipt.still_in
                if not await self._rewrite(Path(path), target, receipt)
            ]
        return replace(receipt.as_seen(), still_in=tuple(kept))

    @asynccontextmanager
    async def _rewriting_noted(self) -> AsyncIterator[None]:
        """Lease a job of its own while backups are rewritten: if this process is killed, a worker
        gets it.
        """
        draft, job = JobDraft(kind=REWRITE, key=new_id().hex), None
        # Without the job, only the next forgetting clears what a killed rewriting leaves.
        with suppress(MemorandaError):
            await self._engine.put(draft, self._clock())
            while job is None or job.key != draft.key:
                # One of another process, which may be gone, is due again when this lease ends.
                job = await self._engine.lease((REWRITE,), draft.key, self._clock(), _LEASE_SECONDS)
                if job is None:
                    break
        yield
        with suppress(MemorandaError):
            if job is not None:
                await self._engine.finish(job)

    async def _note_now(self) -> None:
        """Do the job that notes an erasure beside the backups; a worker retries it if it fails."""
        name = f"forgetting-{new_id()}"
        while (
            job := await self._engine.lease((NOTE,), name, self._clock(), _LEASE_SECONDS)
        ) is not None:
            try:
                await note_erasure(self._engine, job)
            except OSError as exc:
                now = self._clock()
                await self._engine.fail(
                    job, type(exc).__name__, now, now + timedelta(seconds=_LEASE_SECONDS)
                )
                raise
            await self._engine.finish(job)

    async def _rewrite(self, backup: Path, target: Target, receipt: ErasureReceipt) -> bool:
        """Replace a backup by one without what was erased; False if that failed."""
        try:
            async with _alone_with(backup):
                await self._rewrite_alone(backup, target, receipt)
        except (MemorandaError, OSError):
            return False
        return True

    async def _rewrite_alone(self, backup: Path, target: Target, receipt: ErasureReceipt) -> None:
        fresh = _rewriting(backup)
        # A killed rewriting leaves a file behind.
        _clear(fresh)
        try:
            await asyncio.to_thread(_copy, backup, fresh)
            engine = await self._open_copy(fresh)
            try:
                assert isinstance(engine, CopiesItself)
                if target.everything:
                    await engine.erase(
                        replace(target, view=WHOLE, actor=Actor("system")), receipt.at
                    )
                noted = await self._erased_since(backup, (await engine.whereabouts()).backup)
                gone = replace(
                    noted,
                    records=(*noted.records, *receipt.ids, *receipt.repeated),
                    redactions=joined((*noted.redactions, *receipt.redacted)),
                )
                await engine.reapply(gone, receipt.at)
            finally:
                await engine.close()
            await self.prove(fresh)
            id = new_id().hex
            await self._mark(fresh, id)
            await asyncio.to_thread(begin_notes, backup, id)
            await asyncio.to_thread(_swap, fresh, backup)
        finally:
            _clear(fresh)

    async def _erased_since(self, backup: Path, id: str | None) -> Erasures:
        """Return what was forgotten since a backup was made: from its notes, or from the book if
        they may have gaps.
        """
        notes = read_notes(backup, id)
        if id is not None and not notes.damage:
            return notes.erasures
        assert isinstance(self._engine, CopiesItself)
        return await self._engine.erasures()


async def clear_leftovers(engine: Engine) -> bool:
    """Delete what killed processes left of backups that they rewrote; False if a living one is
    still at it.
    """
    cleared = True
    if isinstance(engine, CopiesItself):
        for path in await engine.known_backups():
            try:
                await _clear_leftover(Path(path), wait=False)
            except BlockingIOError:
                cleared = False
    return cleared


def _rewriting(backup: Path) -> Path:
    return backup.with_name(f"{backup.name}.rewriting")


async def _clear_leftover(backup: Path, *, wait: bool = True) -> None:
    """Delete the file that an interrupted rewrite of a backup left; it has content that was
    forgotten since.
    """
    if _rewriting(backup).exists():
        async with _alone_with(backup, wait=wait):
            _clear(_rewriting(backup))


@asynccontextmanager
async def _alone_with(backup: Path, *, wait: bool = True) -> AsyncIterator[None]:
    """Hold a file lock, so that only one process rewrites a backup at a time; without ``wait``
    raise ``BlockingIOError``.
    """
    if fcntl is None:
        yield
        return
    path = backup.with_name(f"{backup.name}.lock")
    file = private(str(path), os.O_RDWR | os.O_CREAT)
    try:
        await asyncio.to_thread(fcntl.flock, file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(file)


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of restoring a backup."""

    #: Records that were in the backup, and were forgotten since.
    removed: int
    #: Why something may be back that was forgotten since; empty if nothing can be.
    warning: str


async def restore(
    open_copy: OpenCopy,
    backup: Path,
    target: Path,
    *,
    books: Sequence[Engine] = (),
    without_erasures: bool = False,
    at: datetime,
) -> Restored:
    """Copy a backup to a new place and remove what was erased since: what its notes say, and what
    ``books`` have erased.

    Raises ``InvalidInput`` if the notes are lost or damaged, unless ``books`` has the book of the
    backup, or ``without_erasures`` accepts that something forgotten may come back.
    """
    if target.exists():
        raise InvalidInput(
            f"target: {target} is there already; restore to a new place", field="target"
        )
    log = Path(f"{backup}-wal")
    if log.exists() and log.stat().st_size:
        raise InvalidInput(
            f"backup: {backup} is a book in use, not a backup; back it up first", field="backup"
        )
    fresh = target.with_name(target.name + ".restoring")
    try:
        await asyncio.to_thread(_copy, backup, fresh)
        engine = await _open_restoring(open_copy, fresh, backup)
        try:
            assert isinstance(engine, CopiesItself)
            here = await engine.whereabouts()
            notes = read_notes(backup, here.backup)
            known = [(await book.whereabouts()).secret for book in books]
            warning = _doubt(backup, here.backup, notes, known=here.secret in known)
            if warning and here.backup is not None and not without_erasures:
                raise InvalidInput(
                    f"backup: {warning}; bring the notes back, give the book that the backup was made of (--erasures BOOK), or say "
                    "that what was forgotten may come back (--without-erasures)",
                    field="backup",
                )
            removed = 0
            for past in (notes.erasures, *[await book.erasures() for book in books]):
                removed += await engine.reapply(past, at)
            await engine.mark_backup(None)
            findings = await engine.verify()
        finally:
            await engine.close()
        if findings.faults:
            raise StorageError(
                f"the backup {backup} differs from its ledger: {findings.faults[0]}; restore another backup"
            )
        await asyncio.to_thread(_place, fresh, target)
    finally:
        _clear(fresh)
    return Restored(removed, warning)


def _doubt(backup: Path, id: str | None, notes: Notes, *, known: bool) -> str:
    """Say why what was forgotten since a backup was made may not be known; an empty text if it
    is.
    """
    if known:
        return ""
    if notes.damage:
        return f"what was forgotten since {backup} was made is not known, for {notes.damage}"
    if id is None:
        return (
            f"{backup} does not say if there were notes beside it, for `backup` did not make it: if notes were lost, "
            "what was forgotten since is back"
        )
    return ""


async def _open_restoring(open_copy: OpenCopy, fresh: Path, backup: Path) -> Engine:
    """Open the copy of a backup; an error about its content names the backup."""
    try:
        return await open_copy(fresh)
    except (Corrupt, NotABook, VersionMismatch) as exc:
        raise type(exc)(str(exc).replace(str(fresh), str(backup))) from exc


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as reading, open(target, "xb", opener=private) as writing:
        while part := reading.read(1 << 20):
            writing.write(part)
        # With the permissions of the old file, also while it is being written.
        os.chmod(target, source.stat().st_mode & 0o777 | 0o600)
        writing.flush()
        os.fsync(writing.fileno())


def _swap(fresh: Path, old: Path) -> None:
    os.replace(fresh, old)
    sync_folder(old.parent)


def _place(fresh: Path, target: Path) -> None:
    """Move the finished file to its name; raise an error if another file has appeared there."""
    try:
        os.link(fresh, target)
    except FileExistsError:
        raise InvalidInput(
            f"target: {target} is there already; give a new place", field="target"
        ) from None
    os.unlink(fresh)
    sync_folder(target.parent)


def _clear(path: Path) -> None:
    """Delete an incomplete book and SQLite's files beside it."""
    for beside in path.parent.glob(f"{glob.escape(path.name)}*"):
        with suppress(FileNotFoundError):
            os.unlink(beside)
