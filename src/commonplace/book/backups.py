"""Copies of a whole book: backups, forgetting that reaches them, and restoring without what was erased since."""

from __future__ import annotations

import asyncio
import glob
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

from commonplace.errors import CommonplaceError, InvalidInput, StorageError
from commonplace.ports import Clock, CopiesItself, Engine, ErasureReceipt, Erasures, Findings, Target

Progress = Callable[[int, int], None]

#: Opens the engine of a copy of a book.
OpenCopy = Callable[[Path], Awaitable[Engine]]


class Backups:
    """The book's own copies."""

    def __init__(self, engine: Engine, clock: Clock, open_copy: OpenCopy) -> None:
        self._engine = engine
        self._clock = clock
        self._open_copy = open_copy

    async def backup(self, target: Path, progress: Progress | None = None) -> Findings:
        """Write a copy while the book is in use; open it and prove it before it counts as one."""
        engine = self._engine
        if not isinstance(engine, CopiesItself):
            raise StorageError(
                f"the {engine.name} engine makes no backups of its own; export the book instead"
            )
        if target.exists():
            raise InvalidInput(f"target: {target} is there already; name a new file", field="target")
        await engine.backup(target, progress)
        return await self.prove(target)

    async def prove(self, copy: Path) -> Findings:
        """Open a copy and hold it against its ledger."""
        engine = await self._open_copy(copy)
        try:
            findings = await engine.verify()
        finally:
            await engine.close()
        if findings.faults:
            raise StorageError(f"the copy {copy} does not hold what its ledger says: {findings.faults[0]}")
        return findings

    async def forget(self, target: Target, *, backups: bool) -> ErasureReceipt:
        """Erase, and on request rewrite each of the book's own backups without it."""
        receipt = await self._engine.erase(target, self._clock())
        for path in receipt.held_by:
            _clear(_rewriting(Path(path)))
            await asyncio.to_thread(note_erasure, Path(path), receipt)
        if not backups or not receipt.held_by:
            return receipt
        left = [path for path in receipt.held_by if not await self._rewrite(Path(path), target, receipt)]
        return replace(receipt, held_by=tuple(left))

    async def _rewrite(self, backup: Path, target: Target, receipt: ErasureReceipt) -> bool:
        """Put a backup without the target in the backup's place; False where that did not succeed."""
        fresh = _rewriting(backup)
        try:
            await asyncio.to_thread(_copy, backup, fresh)
            engine = await self._open_copy(fresh)
            try:
                done = await engine.erase(replace(target, ids=receipt.ids or target.ids), receipt.at)
            finally:
                await engine.close()
            await self.prove(fresh)
            if done.state != "complete":
                return False
            await asyncio.to_thread(_swap, fresh, backup)
        except (CommonplaceError, OSError):
            return False
        finally:
            _clear(fresh)
        return True


async def restore(
    open_copy: OpenCopy,
    backup: Path,
    target: Path,
    *,
    erasures: Sequence[Erasures] = (),
    at: datetime,
) -> int:
    """Put a backup to a new place and take out of it what was erased since; returns how many records that were."""
    if target.exists():
        raise InvalidInput(f"target: {target} is there already; restore to a new place", field="target")
    log = Path(f"{backup}-wal")
    if log.exists() and log.stat().st_size:
        raise InvalidInput(
            f"backup: {backup} is a book in use, not a backup; back it up first", field="backup"
        )
    fresh = target.with_name(target.name + ".restoring")
    try:
        await asyncio.to_thread(_copy, backup, fresh)
        engine = await open_copy(fresh)
        try:
            assert isinstance(engine, CopiesItself)
            removed = 0
            for past in (noted_erasures(backup), *erasures):
                removed += await engine.reapply(past, at)
            findings = await engine.verify()
        finally:
            await engine.close()
        if findings.faults:
            raise StorageError(
                f"the backup {backup} does not hold what its ledger says: {findings.faults[0]}"
            )
        await asyncio.to_thread(_place, fresh, target)
    finally:
        _clear(fresh)
    return removed


def _rewriting(backup: Path) -> Path:
    """Where a backup is rewritten; a killed rewriting leaves it behind, and the next forgetting clears it."""
    return backup.with_name(backup.name + ".rewriting")


def _notes_of(backup: Path) -> Path:
    return backup.with_name(backup.name + ".erasures")


def note_erasure(backup: Path, receipt: ErasureReceipt) -> None:
    """Note beside a backup what was erased since it was made, by ids that tell nothing."""
    note = {"era": str(receipt.era)} if receipt.era else {"records": [str(id) for id in receipt.ids]}
    notes = _notes_of(backup)
    before = notes.read_text("utf-8") if notes.exists() else ""
    fresh = notes.with_name(notes.name + ".new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(before + json.dumps(note) + "\n")
        file.flush()
        os.fsync(file.fileno())
    _swap(fresh, notes)


def noted_erasures(backup: Path) -> Erasures:
    """What was noted beside a backup."""
    eras: list[UUID] = []
    records: list[UUID] = []
    if _notes_of(backup).exists():
        for line in _notes_of(backup).read_text("utf-8").splitlines():
            note = json.loads(line)
            eras += [UUID(note["era"])] if "era" in note else []
            records += [UUID(id) for id in note.get("records", ())]
    return Erasures(tuple(eras), tuple(records))


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as reading, target.open("xb") as writing:
        while part := reading.read(1 << 20):
            writing.write(part)
        writing.flush()
        os.fsync(writing.fileno())


def _swap(fresh: Path, old: Path) -> None:
    os.replace(fresh, old)
    _sync_folder(old.parent)


def _place(fresh: Path, target: Path) -> None:
    """Like a swap, but never over a file that came there meanwhile."""
    try:
        os.link(fresh, target)
    except FileExistsError:
        raise InvalidInput(
            f"target: {target} is there already; restore to a new place", field="target"
        ) from None
    os.unlink(fresh)
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _clear(path: Path) -> None:
    """Remove a half-made book with what SQLite keeps beside it."""
    for beside in path.parent.glob(f"{glob.escape(path.name)}*"):
        with suppress(FileNotFoundError):
            os.unlink(beside)
