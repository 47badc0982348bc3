"""What leaves a book and comes into it as lines of a file: exports and imports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from commonplace.door import Door, pack_terms
from commonplace.errors import Conflict, Erased, InvalidInput, NotAllowed
from commonplace.model.changes import Import
from commonplace.model.ledger import Actor
from commonplace.model.owner import WHOLE, Owner, OwnerKind
from commonplace.model.records import Record, RecordType
from commonplace.model.values import refused
from commonplace.ports import Engine
from commonplace.settle import dumps

FORMAT = "commonplace"
FORMAT_VERSION = 1

Progress = Callable[[int, int], None]

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

    def __init__(self, engine: Engine, door: Door, tenant: str) -> None:
        self._engine = engine
        self._door = door
        self._tenant = tenant

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
