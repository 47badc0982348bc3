"""Exports and imports: a book or some owners as lines of JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from uuid import UUID

from memoranda.book.admin.book_copy import PAGE, pages, pieces_of
from memoranda.book.admin.pending_threads import make_due
from memoranda.book.forming_jobs import Forming
from memoranda.door import Door, pack_terms
from memoranda.errors import (
    Conflict,
    Erased,
    InvalidInput,
    MemorandaError,
    NotAllowed,
    StorageError,
)
from memoranda.model.book_rows import (
    EntryPiece,
    OwnerPieces,
    Piece,
    PieceKind,
    ReadPiece,
    StonePiece,
)
from memoranda.model.changes import Import
from memoranda.model.ledger import Actor
from memoranda.model.query import Progress
from memoranda.model.records import WHOLE, Owner, OwnerKind, RecordType
from memoranda.model.service_records import CALLER, RESTRICTING, Restriction
from memoranda.ports import Engine
from memoranda.secrets.masks import masked_record
from memoranda.storage import export as export_format
from memoranda.storage.export.digests import DIGEST
from memoranda.text.terms import RULE


async def each_line(lines: Iterable[str] | AsyncIterable[str]) -> AsyncIterator[str]:
    """Yield an export's lines from an iterable, asynchronous or not."""
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield line
    elif isinstance(lines, Iterable) and not isinstance(lines, (str, bytes)):
        for line in lines:
            yield line
    else:
        raise InvalidInput("lines: give the lines of an export, one by one", field="lines")


def parsed_line(text: object) -> dict[str, Any] | str:
    """Parse one line of an export; return the parsed line, or a text that says why it is
    invalid.
    """
    if not isinstance(text, str):
        return "no text"
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as exc:
        return f"no JSON: {exc}"
    if not isinstance(line, dict) or not isinstance(line.get("line"), str):
        return "not a line of an export"
    return line


#: What the first line of an export says that it is.
FORMAT = "memoranda export"
FORMAT_VERSION = 1
#: What exports of development builds said.
_DEVELOPMENT_FORMATS = ("memoranda", "commonplace")


#: What the first line of an export says where secrets are masked.
FOR_READING = {
    "masked": True,
    "note": "for reading only: secrets are masked, and it cannot be imported",
}


def refuse_file(reason: str) -> NoReturn:
    """Raise InvalidInput: the file is no export that can be imported."""
    raise InvalidInput(f"file: {reason}", field="file")


def check_head(text: object) -> dict[str, Any]:
    """Return the first line of an export; raise InvalidInput if it is of something else, or was
    made for reading only.
    """
    head = parsed_line(text)
    if isinstance(head, str) or head["line"] != "head":
        refuse_file(
            "its first line is not that of a Memoranda export; give a file that `export` wrote"
        )
    if head.get("format") in _DEVELOPMENT_FORMATS:
        refuse_file("it is an export of a development build, which no release reads")
    if head.get("format") != FORMAT:
        refuse_file(
            "its first line is not that of a Memoranda export; give a file that `export` wrote"
        )
    if head.get("version") != FORMAT_VERSION:
        refuse_file(
            f"export format {head.get('version')}; this program reads up to {FORMAT_VERSION}"
        )
    if head.get("masked"):
        refuse_file(
            "this export is for reading only: masks stand in place of secrets, and an import would store the masks; give an export "
            "that was made without --masked (masked=True)"
        )
    return head


@dataclass(slots=True)
class OwnerPart:
    """The lines of an export about one owner, read so far."""

    number: int
    lines: list[dict[str, Any]]
    #: The number of each line in the file.
    numbers: list[int]
    #: The digest of each line; None if it has none.
    digests: list[str | None]
    #: A line of it could not be read, and was reported: nothing of this owner is taken in.
    refused: bool = False

    def add(self, number: int, line: dict[str, Any]) -> None:
        """Add a line of the export."""
        if not self.refused:
            digest = line.pop(DIGEST, None)
            self.digests.append(digest if isinstance(digest, str) else None)
            self.lines.append(line)
            self.numbers.append(number)

    def refuse(self) -> None:
        """Skip this owner, and free the lines that were read."""
        self.refused = True
        self.lines.clear()
        self.numbers.clear()
        self.digests.clear()

    def fault(self, exc: MemorandaError) -> tuple[int, str]:
        """Return the number of the faulty line in the export, and what is wrong with it."""
        item = exc.item if isinstance(exc, InvalidInput) and exc.item is not None else 0
        return self.numbers[item], str(exc).removeprefix(f"line {item + 1}: ")


#: The order in which records of several types can be taken in, each resting only on what came
#: before.
_ORDER = {
    type_: place
    for place, type_ in enumerate((RecordType.THREAD, RecordType.MESSAGE, RecordType.EPISODE))
}


@dataclass(slots=True)
class ImportReport:
    """The result of an import."""

    owners: int = 0
    #: Owners taken in whole, ledger and all.
    adopted: int = 0
    records: Counter[str] = field(default_factory=Counter)
    #: Why records were left out → how many.
    ignored: Counter[str] = field(default_factory=Counter)
    #: Owners whose lines could not be checked for changes, because the file's key is not known
    #: here.
    unchecked: int = 0
    #: Lines that could not be read, or were changed: line number and reason.
    errors: list[tuple[int, str]] = field(default_factory=list)


class Transfer:
    """Exports and imports of one book."""

    def __init__(self, engine: Engine, door: Door, tenant: str, forming: Forming) -> None:
        self._engine = engine
        self._door = door
        self._tenant = tenant
        self._forming = forming

    async def export(
        self,
        owner: Owner | None = None,
        *,
        masked: bool = False,
        everything: bool = False,
        holds_book: bool = True,
    ) -> AsyncIterator[str]:
        """Yield a book, or one owner's part of it, as JSON Lines; if it is ``masked``, for people
        to read only.

        Without ``holds_book`` a book that other tenants share comes without its own line.
        """
        if owner is not None and owner.tenant != self._tenant:
            raise NotAllowed(
                f"owner: it belongs to another tenant; this book was opened for {self._tenant!r}"
            )
        secret = (await self._engine.whereabouts()).secret
        head = {"line": "head", "format": FORMAT, "version": FORMAT_VERSION, "tenant": self._tenant}
        yield json.dumps(
            {**head, **(FOR_READING if masked else {"key": export_format.key_name(secret)})}
        )
        book = None if owner is not None or masked else await self._book(shared=holds_book)
        if book is not None:
            yield json.dumps(export_format.book_line(book), ensure_ascii=False)
        exported = 0
        for party in [owner] if owner is not None else await self._engine.owners(self._tenant):
            found = await self._engine.about_owner(party) if everything else None
            whole = await self._engine.owner_pieces(party) if found is None else found.own
            if whole is not None:
                exported += 1
                # Read last: what an owner had before a restriction goes with it.
                limit = (
                    await self._engine.restriction(party) if found is None else found.restriction
                )
                for line in self._part_lines(
                    whole, limit, secret, private=book is not None, masked=masked
                ):
                    yield line
            if found is not None:
                showing = masked_record if masked else export_format.unchanged
                for about in export_format.about_lines(found, showing):
                    yield json.dumps(about, ensure_ascii=False)
        yield json.dumps({"line": "last", "owners": exported})

    def _part_lines(
        self,
        whole: OwnerPieces,
        restriction: Restriction | None,
        secret: bytes,
        *,
        private: bool,
        masked: bool,
    ) -> Iterator[str]:
        """Yield the lines of one owner's part; those of an export that can be imported have
        digests.
        """
        if masked:
            for line in export_format.owner_lines(
                whole, restriction, private=False, showing=masked_record
            ):
                yield json.dumps(line, ensure_ascii=False)
            return
        era = str(UUID(bytes=whole.frame.era))
        for line in export_format.owner_lines(whole, restriction, private=private):
            digest = export_format.line_digest(secret, era, json.loads(json.dumps(line)))
            yield json.dumps({**line, export_format.DIGEST: digest}, ensure_ascii=False)

    async def _book(self, *, shared: bool) -> export_format.BookDump | None:
        """Return what belongs to no owner: the key of the digests, ended eras (lives of erased
        owners), and tombstones.

        They are of all tenants, and none of them says of which: unless it may be ``shared``, it is
        None where the book has another tenant.
        """
        engine, ended = self._engine, []
        async for page in pages(lambda after: engine.eras(after, PAGE), lambda era: era):
            for era in page:
                frame = await engine.frame(era)
                names = None if frame is None else frame.names
                if not shared and names is not None and names[0] != self._tenant:
                    return None
                if frame is not None and frame.erased_at is not None:
                    entries = [piece async for piece in self._pieces(PieceKind.ENTRY, era)]
                    keys = [(e.operation, e.request) for e in entries if isinstance(e, EntryPiece)]
                    operations = tuple((id, request) for id, request in keys if id and request)
                    ended.append(
                        export_format.EndedEra(
                            UUID(bytes=era), frame.digest, frame.erased_at, operations
                        )
                    )
        stones = [piece async for piece in self._pieces(PieceKind.STONE, b"")]
        restricting = [
            line
            async for line in self._pieces(PieceKind.READ, b"")
            if isinstance(line, ReadPiece)
            and line.verb in RESTRICTING
            and line.tenant == self._tenant
        ]
        here = {line.owner for line in restricting}
        secret = (await engine.whereabouts()).secret
        return export_format.BookDump(
            secret,
            tuple(ended),
            tuple(s for s in stones if isinstance(s, StonePiece)),
            tuple(row for row in (await engine.book_frame()).restrictions if row[0] in here),
            tuple(restricting),
        )

    async def _pieces(self, kind: PieceKind, era: bytes) -> AsyncIterator[Piece]:
        async for page in pieces_of(self._engine, kind, era):
            for piece in page:
                yield piece

    async def import_(
        self, lines: Iterable[str] | AsyncIterable[str], progress: Progress | None = None
    ) -> ImportReport:
        """Import an export. Each new owner is added whole or not at all; an owner that exists gets
        missing records.

        Imported threads with unformed messages are formed after a pause.
        """
        intake = _Intake(self._engine, self._door, self._tenant)
        number = 0
        async for text in each_line(lines):
            number += 1
            await intake.take(number, text)
            if progress is not None and number % 1000 == 0:
                progress(number, 0)
        intake.finish(number)
        await make_due(self._engine, self._door, self._forming, intake.owners)
        return intake.report


class _Intake:
    """The import of one export, line by line."""

    def __init__(self, engine: Engine, door: Door, tenant: str) -> None:
        self.report = ImportReport()
        self._engine = engine
        self._door = door
        self._tenant = tenant
        self._part: OwnerPart | None = None
        #: The owners whose parts the file holds, whatever became of them.
        self.owners: set[Owner] = set()
        self._parts = 0
        #: The key of the digests in the file; unknown in the export of one owner.
        self._secret = b""
        #: The name of that key.
        self._key: object = None
        self._ended = False
        self._book_seen = False
        self._astray = False

    async def take(self, number: int, text: str) -> None:
        """Process one line of the export."""
        if number == 1:
            self._key = check_head(text).get("key")
            return
        if isinstance(text, str) and not text.strip():
            return
        line = parsed_line(text)
        if isinstance(line, str):
            self._reject(number, line)
        elif self._ended:
            self._error(number, "this line comes after the export's end line: remove it")
        elif line["line"] == "book":
            await self._book(number, line)
        elif line["line"] == "owner":
            self._leave_unended()
            self._astray = False
            self._parts += 1
            self._part = OwnerPart(number, [], [], [])
            self._part.add(number, line)
        elif line["line"] == "last":
            self._leave_unended()
            self._ended = True
            if line.get("owners") != self._parts:
                self._error(
                    number,
                    f"the file should have {line.get('owners')} owners and has {self._parts}: export again",
                )
        elif line["line"] == export_format.ABOUT and self._part is None:
            # It tells the person what else is stored about them; none of it is a record of theirs.
            self.report.ignored["about"] += 1
        elif self._part is None:
            if not self._astray:
                self._error(
                    number, f"a line of kind {line['line']!r:.40} belongs to no owner: export again"
                )
            self._astray = True
        elif line["line"] == "end":
            self._part.add(number, line)
            part, self._part = self._part, None
            if not part.refused:
                await self._owner(part)
        else:
            self._part.add(number, line)

    def finish(self, number: int) -> None:
        """End the import; ``number`` is the number of the export's last line."""
        if number == 0:
            check_head("")
        self._leave_unended()
        if not self._ended:
            self._error(
                number,
                "the file is cut off: its last line, which counts its owners, is missing; export again",
            )

    def _error(self, number: int, reason: str) -> None:
        self.report.errors.append((number, reason))

    def _reject(self, number: int, reason: str) -> None:
        """Report an unreadable line of the export; its owner is not imported."""
        self._error(number, reason)
        if self._part is not None:
            self._part.refuse()

    def _leave_unended(self) -> None:
        if self._part is not None:
            self._error(
                self._part.number,
                "the lines of this owner have no end line, so nothing of this owner was imported: export again",
            )
            self._part = None

    async def _book(self, number: int, line: dict[str, Any]) -> None:
        """Import the book's own line, which has the key of all digests; the file is refused if the
        line is faulty.
        """
        if self._book_seen or self._parts:
            self._reject(number, "the book's own line must come once, before all owners")
            return
        self._book_seen = True
        try:
            book = export_format.parse_book(line, self._tenant)
        except InvalidInput as exc:
            refuse_file(f"line {number}: {str(exc).removeprefix('line 1: ')}")
        self._secret = book.secret
        eras = [era.pieces() for era in book.eras]
        if await self._engine.adopt_book(book.secret, eras, book.tombstones):
            await self._engine.adopt_restrictions(book.restrictions, book.restricting)

    async def _owner(self, part: OwnerPart) -> None:
        try:
            line = export_format.parse_owner_line(part.lines[0])
            # The tenant's own records follow the tenant's name.
            id = self._tenant if line.kind is OwnerKind.TENANT else line.id
            owner = Owner(tenant=self._tenant, kind=line.kind, id=id)
            if owner in self.owners:
                raise export_format.broken(
                    0, "the file has this owner already: give each owner once"
                )
            self.owners.add(owner)
            dump = export_format.parse(owner, part.lines)
            if not CALLER.get().makes_keys and RecordType.KEY.value in dump.counts():
                raise NotAllowed(
                    "a request without a credential brings no key in; import the file beside the book: memoranda import FILE"
                )
            secret = (await self._engine.whereabouts()).secret
            if self._is_changed(part, str(dump.era), secret):
                return
            if line.restriction is not None:
                # First, so that at no moment anything of the owner can be read.
                since, now = line.restriction.at, self._door.clock()
                await self._engine.restrict(
                    owner, line.restriction.appends, now, CALLER.get(), since
                )
            if not await self._adopt(dump, secret):
                await self._merge(dump, part)
            self.report.owners += 1
        except StorageError:
            raise
        except MemorandaError as exc:
            number, reason = part.fault(exc)
            named = f"{part.lines[0].get('kind')} {part.lines[0].get('id')}"
            self._error(number, f"owner {named:.80}: {reason}")

    def _is_changed(self, part: OwnerPart, era: str, own: bytes) -> bool:
        """Report each line that was changed after the export; if the file's key is not known,
        report that instead.
        """
        secret = next(
            (
                key
                for key in (self._secret, own)
                if key and export_format.key_name(key) == self._key
            ),
            None,
        )
        if secret is None:
            self.report.unchecked += 1
            return False
        made = [export_format.line_digest(secret, era, line) for line in part.lines]
        changed = [
            number
            for number, here, there in zip(part.numbers, made, part.digests, strict=True)
            if here != there
        ]
        for number in changed:
            self._error(
                number,
                "this line was changed after the export, so nothing of its owner was imported: export again",
            )
        return bool(changed)

    async def _adopt(self, dump: export_format.OwnerDump, secret: bytes) -> bool:
        """Import an owner whole; False if this book has, or had, the owner or any of the owner's
        records.
        """
        if self._door.secrets == "mask":
            # Whole, its records would come with their secrets; one by one they pass the door.
            return False
        if secret != self._secret:
            dump = dump.without_keys()
        try:
            if not await self._engine.adopt(secret, dump.pieces(secret, RULE, pack_terms)):
                return False
        except (Conflict, Erased):
            return False
        self.report.adopted += 1
        self.report.records.update(dump.counts())
        return True

    async def _merge(self, dump: export_format.OwnerDump, part: OwnerPart) -> None:
        """Import the owner's records that this book does not have, one by one."""
        owner = dump.owner
        found = sorted((each for each in dump.versions if each.current), key=_place)
        size = self._door.limits.batch
        for start in range(0, len(found), size):
            some = found[start : start + size]
            try:
                await self._import(owner, dump.era, some)
            except StorageError:
                raise
            except MemorandaError:
                # One of them is refused here: the others are brought in without it.
                for each in some:
                    await self._import_alone(owner, dump.era, each, part)

    async def _import_alone(
        self, owner: Owner, era: UUID, each: export_format.DumpedVersion, part: OwnerPart
    ) -> None:
        try:
            await self._import(owner, era, [each])
        except StorageError:
            raise
        except MemorandaError as exc:
            self._error(part.numbers[each.item], str(exc))

    async def _import(
        self, owner: Owner, era: UUID, some: Sequence[export_format.DumpedVersion]
    ) -> None:
        changes = [Import(each.record, era=era, unlisted=each.unlisted) for each in some]
        receipt = await self._door.write(owner, WHOLE, Actor("owner"), changes, request=None)
        self.report.records.update(item.type.value for item in receipt.items)
        self.report.ignored.update(ignored.code for ignored in receipt.ignored)


def _place(version: export_format.DumpedVersion) -> tuple[int, UUID]:
    return _ORDER.get(version.record.type, len(_ORDER)), version.record.id
