"""What leaves a book and comes into it whole: exports, imports, backups, and forgetting that reaches the backups."""

from __future__ import annotations

import asyncio
import glob
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from commonplace.door import Door, pack_terms
from commonplace.errors import CommonplaceError, Conflict, Erased, InvalidInput, NotAllowed, StorageError
from commonplace.model.changes import Import
from commonplace.model.ledger import Actor
from commonplace.model.owner import WHOLE, Owner, OwnerKind
from commonplace.model.records import Record, RecordType
from commonplace.model.values import refused
from commonplace.ports import CopiesItself, Engine, ErasureReceipt, Erasures, Findings, Target
from commonplace.settle import dumps

FORMAT = "commonplace"
FORMAT_VERSION = 1

Progress = Callable[[int, int], None]

#: Opens the engine of a copy of a book.
OpenCopy = Callable[[Path], Awaitable[Engine]]

#: The order in which records of several types can be taken in, each resting only on what came before.
_ORDER = {
    type_: place for place, type_ in enumerate((RecordType.THREAD, RecordType.MESSAGE, RecordType.EPISODE))
}


@dataclass(slots=True)
class ImportReport:
    """What an import brought, line by line."""

    owners: int = 0
    #: Owners taken in whole, ledger and all.
    adopted: int = 0
    records: Counter[str] = field(default_factory=Counter)
    #: Why records were left out → how many.
    ignored: Counter[str] = field(default_factory=Counter)
    #: Lines that could not be read: line number and reason.
    errors: list[tuple[int, str]] = field(default_factory=list)


class Transfer:
    """Exports and imports over one engine."""

    def __init__(self, engine: Engine, door: Door, tenant: str, open_copy: OpenCopy) -> None:
        self._engine = engine
        self._door = door
        self._tenant = tenant
        self._open_copy = open_copy

    async def export(self, owner: Owner | None = None) -> AsyncIterator[str]:
        """A book, or one owner's part of it, as JSON Lines."""
        if owner is not None and owner.tenant != self._tenant:
            raise NotAllowed(
                f"owner: it belongs to another tenant; this book was opened for {self._tenant!r}"
            )
        head = {"line": "head", "format": FORMAT, "version": FORMAT_VERSION, "tenant": self._tenant}
        yield json.dumps(head)
        if owner is None:
            async for line in self._engine.dump_book():
                yield json.dumps(line, ensure_ascii=False)
        owners = [owner] if owner is not None else await self._engine.owners(self._tenant)
        for party in owners:
            async for line in self._engine.dump(party, private=owner is None):
                yield json.dumps(line, ensure_ascii=False)

    async def import_(self, lines: Iterable[str], progress: Progress | None = None) -> ImportReport:
        """Take in an export. Each owner comes whole or not at all; one that is here already gets what it lacks."""
        report = ImportReport()
        part: list[dict[str, Any]] = []
        numbered = enumerate(lines, 1)
        self._check_head(numbered)
        for number, text in numbered:
            if not text.strip():
                continue
            line = _parsed(number, text, report)
            if line is None:
                continue
            if line["line"] == "book":
                await self._engine.adopt_book(line)
                continue
            if line["line"] == "owner" and part:
                await self._take_in(part, report)
                part = []
            part.append(line)
            if progress is not None and number % 1000 == 0:
                progress(number, 0)
        if part:
            await self._take_in(part, report)
        return report

    def _check_head(self, numbered: Iterable[tuple[int, str]]) -> None:
        first = next(iter(numbered), (0, ""))[1]
        try:
            head = json.loads(first)
        except ValueError:
            head = None
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise InvalidInput("file: its first line is not that of a Commonplace export", field="file")
        if head.get("version") != FORMAT_VERSION:
            raise InvalidInput(
                f"file: export format {head.get('version')}; this program reads {FORMAT_VERSION}",
                field="file",
            )

    async def _take_in(self, lines: Sequence[dict[str, Any]], report: ImportReport) -> None:
        head = lines[0]
        if head["line"] != "owner":
            report.errors.append((0, "records before any owner line were left out"))
            return
        try:
            owner = Owner(tenant=self._tenant, kind=OwnerKind(head["kind"]), id=_renamed(head, self._tenant))
        except (ValidationError, ValueError, KeyError) as exc:
            report.errors.append((0, f"an owner line could not be read: {exc}"))
            return
        report.owners += 1
        try:
            done = await self._engine.adopt(owner, lines, pack_terms)
        except (Conflict, Erased):
            done = None
        except (KeyError, TypeError, ValidationError) as exc:
            report.errors.append((0, f"owner {owner}: {exc}"))
            return
        if done is not None:
            report.adopted += 1
            report.records.update(done)
        else:
            await self._merge(owner, head, lines, report)

    async def _merge(
        self, owner: Owner, head: dict[str, Any], lines: Sequence[dict[str, Any]], report: ImportReport
    ) -> None:
        era = UUID(head["era"]) if head.get("era") else None
        records = _records(owner, lines, report)
        for start in range(0, len(records), self._door.limits.batch):
            part = records[start : start + self._door.limits.batch]
            try:
                await self._import(owner, era, part, report)
            except Conflict:
                # One of them stands under another owner here: the others are brought in without it.
                for record in part:
                    try:
                        await self._import(owner, era, [record], report)
                    except Conflict as exc:
                        report.errors.append((0, str(exc)))

    async def _import(
        self, owner: Owner, era: UUID | None, records: Sequence[Record], report: ImportReport
    ) -> None:
        changes = [Import(record, era=era) for record in records]
        receipt = await self._door.write(owner, WHOLE, Actor("owner"), changes, request=None)
        report.records.update(item.type.value for item in receipt.items)
        report.ignored.update(ignored.code for ignored in receipt.ignored)

    # ── backups ──────────────────────────────────────────────────────────────────────────────────────────────────

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
        receipt = await self._engine.erase(target, self._door.clock())
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


def _parsed(number: int, text: str, report: ImportReport) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError as exc:
        report.errors.append((number, f"no JSON: {exc}"))
        return None
    if not isinstance(line, dict) or not isinstance(line.get("line"), str):
        report.errors.append((number, "not a line of an export"))
        return None
    return line


def _renamed(head: Mapping[str, Any], tenant: str) -> str:
    """The owner's id in this book: the tenant's own records follow the tenant's name."""
    return tenant if head["kind"] == OwnerKind.TENANT.value else str(head["id"])


def _records(owner: Owner, lines: Sequence[dict[str, Any]], report: ImportReport) -> list[Record]:
    found: list[Record] = []
    for line in lines:
        if line["line"] == "record":
            try:
                found.append(dumps.dumped_version(line, owner).record)
            except (KeyError, TypeError, ValueError) as exc:
                reason = refused(exc) if isinstance(exc, ValidationError) else exc
                report.errors.append((0, f"a record of owner {owner} could not be read: {reason}"))
    return sorted(found, key=lambda record: (_ORDER.get(record.type, len(_ORDER)), record.id))


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
