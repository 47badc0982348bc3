"""Dumps: everything of one owner as JSON-ready lines, the same from every engine and for every engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple, TypeVar
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from commonplace.errors import InvalidInput
from commonplace.model.digests import SIZE
from commonplace.model.ledger import IGNORED, Actor, Entry, Ignored, Line, Verb, dump_entry
from commonplace.model.memories import Use
from commonplace.model.messages import Message
from commonplace.model.owner import Owner, OwnerKind
from commonplace.model.records import Record, RecordType
from commonplace.model.values import Document, Moment, Name, Text, Value, micros, moment, refused
from commonplace.settle.codec import CLASS_OF, from_portable, portable

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


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def owner_line(owner: Owner, era: UUID) -> dict[str, Any]:
    """The first line of a dump."""
    return {
        "line": "owner",
        "tenant": owner.tenant,
        "kind": owner.kind.value,
        "id": owner.id,
        "era": str(era),
    }


def version_line(record: Record, position: int, *, current: bool, tail: int | None = None) -> dict[str, Any]:
    """A version of a record, with the ledger position that wrote it."""
    line = {"line": "record" if current else "version", "position": position, "record": portable(record)}
    return line if tail is None else {**line, "tail": tail}


def use_line(id: UUID, use: Use) -> dict[str, Any]:
    """How a memory has served."""
    used_at = None if use.used_at is None else use.used_at.isoformat()
    return {"line": "use", "id": str(id), "strength": use.strength, "used_at": used_at, "count": use.count}


def entry_line(entry: Entry, *, private: bool = False) -> dict[str, Any]:
    """A ledger entry without its digests, which are keyed with this book's secret; ``private`` keeps the operation's."""
    bare = replace(entry, lines=tuple(replace(line, hash=None) for line in entry.lines))
    line = {
        "line": "entry",
        "position": entry.position,
        "at": entry.at.isoformat(),
        "actor": [entry.actor.kind, entry.actor.id],
        "body": json.loads(dump_entry(bare)),
    }
    if private and entry.operation is not None and entry.request is not None:
        line["keys"] = [entry.operation.hex(), entry.request.hex()]
    return line


def ended(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines of a dump, and after them the one that counts them by kind."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts[line["line"]] += 1
        yield line
    if counts:
        yield {"line": "end", "counts": dict(sorted(counts.items()))}


def book_line(book: BookDump) -> dict[str, Any]:
    """What belongs to no owner, as a line."""
    return {
        "line": "book",
        "secret": book.secret.hex(),
        "erased_eras": [
            [
                each.era.hex,
                each.digest.hex(),
                each.at,
                [[id.hex(), request.hex()] for id, request in each.operations],
            ]
            for each in book.eras
        ],
        "tombstones": [[digest.hex(), at] for digest, at in book.tombstones],
    }


# ── the form of each line ────────────────────────────────────────────────────────────────────────────────────────


def _of_hex(size: int) -> BeforeValidator:
    def read(value: object) -> bytes:
        if not isinstance(value, str) or len(value) != 2 * size:
            raise ValueError(f"is no hexadecimal text of {size} bytes")
        found = bytes.fromhex(value)
        if len(found) != size:
            raise ValueError(f"is no hexadecimal text of {size} bytes")
        return found

    return BeforeValidator(read)


def _known_reason(code: str) -> str:
    if code not in IGNORED:
        raise ValueError(f"no reason is called {code!r}")
    return code


def _filled_up(part: object) -> object:
    """A ledger line says that it is erased by a seventh part, and nothing where it is not."""
    return [*part, None] if isinstance(part, list) and len(part) == 6 else part


def _with_positions(note: dict[str, Any]) -> dict[str, Any]:
    undoes = note.get("undoes", [])
    if not isinstance(undoes, list) or not all(type(each) is int and 0 < each < LARGEST for each in undoes):
        raise ValueError("'undoes' is a list of positions")
    return note


_Count = Annotated[int, Field(strict=True, ge=0, lt=LARGEST)]
_Number = Annotated[int, Field(strict=True, ge=1, lt=LARGEST)]
_Digest = Annotated[bytes, _of_hex(SIZE)]
_Micros = Annotated[
    int,
    Field(
        strict=True,
        ge=micros(datetime(1, 1, 1, tzinfo=UTC)),
        le=micros(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ),
]
_Told = Annotated[
    tuple[Verb, RecordType, UUID, _Count, _Count, None, Literal[1] | None], BeforeValidator(_filled_up)
]
_Left = tuple[_Count, Annotated[str, AfterValidator(_known_reason)], UUID | None, Text | None]


class OwnerLine(Value):
    """The form of an owner's first line."""

    line: Literal["owner"]
    tenant: Name
    kind: OwnerKind
    id: Name
    era: UUID


class _EntryBody(Value):
    lines: tuple[_Told, ...] = Field(alias="l")
    ignored: tuple[_Left, ...] = Field(default=(), alias="i")
    note: Annotated[Document, AfterValidator(_with_positions)] = Field(default_factory=dict, alias="n")


class _EntryLine(Value):
    line: Literal["entry"]
    position: _Number
    at: Moment
    actor: tuple[Literal["owner", "agent", "application", "system"], Text | None]
    body: _EntryBody
    keys: tuple[_Digest, _Digest] | None = None

    def entry(self, era: UUID) -> Entry:
        """The entry that the line tells of."""
        lines = tuple(Line(*part[:6], erased=part[6] is not None) for part in self.body.lines)
        ignored = tuple(Ignored(*part) for part in self.body.ignored)
        operation, request = self.keys or (None, None)
        return Entry(
            None,
            era,
            self.position,
            self.at,
            Actor(*self.actor),
            lines,
            ignored,
            self.body.note,
            operation,
            request,
        )


class _VersionLine(Value):
    line: Literal["version", "record"]
    position: _Number
    record: dict[str, Any]
    tail: _Count | None = None


class _UseLine(Value):
    line: Literal["use"]
    id: UUID
    strength: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
    used_at: Moment | None
    count: _Count


class _EndLine(Value):
    line: Literal["end"]
    counts: dict[str, _Count]


class _BookLine(Value):
    line: Literal["book"]
    secret: Annotated[bytes, _of_hex(SECRET_SIZE)]
    erased_eras: tuple[tuple[_Digest, _Digest, _Micros, tuple[tuple[_Digest, _Digest], ...]], ...]
    tombstones: tuple[tuple[_Digest, _Micros], ...]


_Form = TypeVar("_Form", bound=Value)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_owner_line(line: Mapping[str, Any]) -> OwnerLine:
    """An owner's first line; raises InvalidInput where it is none."""
    return _read(OwnerLine, line, 0)


def parse_book(line: Mapping[str, Any]) -> BookDump:
    """What belongs to no owner; raises InvalidInput where the line does not hold it."""
    read = _read(_BookLine, line, 0)
    eras = tuple(EndedEra(UUID(bytes=era), digest, at, ids) for era, digest, at, ids in read.erased_eras)
    operations = [id for each in eras for id, _ in each.operations]
    stones = [digest for digest, _ in read.tombstones]
    for name, digests in (
        ("erased_eras", [each.era for each in eras]),
        ("erased_eras", operations),
        ("tombstones", stones),
    ):
        if len(set(digests)) < len(digests):
            raise broken(0, f"{name}: one of them is given twice", name)
    return BookDump(read.secret, eras, read.tombstones)


def parse(owner: Owner, lines: Sequence[Mapping[str, Any]]) -> OwnerDump:
    """A whole dump, for an owner of this book; raises InvalidInput that names the line and the part at fault."""
    return _Parsing(owner, lines).parsed()


def with_digests(entry: Entry, digests: Mapping[tuple[UUID, int], bytes]) -> Entry:
    """An entry of a dump with the digests that its versions have in this book."""
    return replace(
        entry, lines=tuple(replace(line, hash=digests.get((line.id, line.after))) for line in entry.lines)
    )


def broken(item: int, reason: str, part: str = "") -> InvalidInput:
    """The error of a line: ``item`` is its place in the dump, from 0."""
    return InvalidInput(f"line {item + 1}: {reason}", field=f"lines[{item}].{part}".rstrip("."), item=item)


def _read(form: type[_Form], line: object, item: int) -> _Form:
    try:
        return form.model_validate(line)
    except ValidationError as exc:
        error = refused(exc)
        raise broken(item, str(error), error.field or "") from None


class _Parsing:
    """Reads the lines of one owner, then holds them against each other."""

    def __init__(self, owner: Owner, lines: Sequence[Mapping[str, Any]]) -> None:
        self._owner = owner
        self._lines = lines
        #: Position → the place of its line, and the entry.
        self._entries: dict[int, tuple[int, Entry]] = {}
        self._versions: dict[UUID, dict[int, DumpedVersion]] = {}
        self._tails: dict[UUID, int] = {}
        self._uses: dict[UUID, tuple[int, Use]] = {}
        #: What the ledger says was written and is not erased: id and version → position and line.
        self._told: dict[tuple[UUID, int], tuple[int, Line]] = {}
        #: Record → the last version that an erasure of its grounds made; earlier ones were emptied then.
        self._unsourced: dict[UUID, int] = {}

    def parsed(self) -> OwnerDump:
        """Everything, where nothing is at fault."""
        if not self._lines:
            raise broken(0, "line: a dump begins with its owner", "line")
        head = _read(OwnerLine, self._lines[0], 0)
        if not isinstance(self._lines[-1], dict) or self._lines[-1].get("line") != "end":
            raise broken(0, "this owner's part has no end: the rest of it is missing")
        for item, line in enumerate(self._lines[1:-1], 1):
            self._take(item, line, head.era)
        self._check_counts()
        self._check_ledger()
        for versions in self._versions.values():
            self._check_record(versions)
        self._check_slots()
        self._check_seats()
        self._check_uses()
        return OwnerDump(
            self._owner,
            head.era,
            tuple(self._entries[position][1] for position in sorted(self._entries)),
            tuple(each for found in self._versions.values() for _, each in sorted(found.items())),
            tuple(self._blanks()),
            {id: use for id, (_, use) in self._uses.items()},
            self._tails,
        )

    def _take(self, item: int, line: object, era: UUID) -> None:
        kind = line.get("line") if isinstance(line, dict) else None
        if kind == "entry":
            self._entry(item, _read(_EntryLine, line, item).entry(era))
        elif kind in ("version", "record"):
            self._version(item, _read(_VersionLine, line, item))
        elif kind == "use":
            self._use(item, _read(_UseLine, line, item))
        else:
            raise broken(item, f"line: an owner's part holds no line of kind {kind!r:.40}", "line")

    def _entry(self, item: int, entry: Entry) -> None:
        if entry.position in self._entries:
            raise broken(item, f"position: {entry.position} is given twice", "position")
        self._entries[entry.position] = (item, entry)

    def _version(self, item: int, line: _VersionLine) -> None:
        if line.record.get("type") not in list(CLASS_OF):
            raise broken(item, "record.type: no record is of this type", "record.type")
        try:
            record = from_portable(line.record, self._owner)
        except ValidationError as exc:
            error = refused(exc, at="record")
            raise broken(item, str(error), error.field or "record") from None
        if record.version >= LARGEST or (isinstance(record, Message) and record.seq >= LARGEST):
            raise broken(item, f"record: its version and its place lie below {LARGEST}", "record")
        found = self._versions.setdefault(record.id, {})
        if record.version in found:
            raise broken(item, f"record: version {record.version} of {record.id} is given twice", "record")
        current = line.line == "record"
        found[record.version] = DumpedVersion(record, line.position, current, item)
        if (line.tail is not None) != (current and record.type is RecordType.THREAD):
            raise broken(item, "tail: a thread as it stands has one, and nothing else", "tail")
        if line.tail is not None:
            self._tails[record.id] = line.tail

    def _use(self, item: int, line: _UseLine) -> None:
        if line.id in self._uses:
            raise broken(item, f"id: the use of {line.id} is given twice", "id")
        self._uses[line.id] = (item, Use(strength=line.strength, used_at=line.used_at, count=line.count))

    def _check_counts(self) -> None:
        item = len(self._lines) - 1
        told = {
            kind: count for kind, count in _read(_EndLine, self._lines[item], item).counts.items() if count
        }
        counted = Counter(line["line"] for line in self._lines[:-1])
        if told != counted:
            raise broken(
                item, f"counts: the part holds {dict(counted)}, and its end tells of {told}", "counts"
            )

    def _check_ledger(self) -> None:
        standing: dict[UUID, int] = {}
        operations: set[bytes] = set()
        for place, position in enumerate(sorted(self._entries), 1):
            item, entry = self._entries[position]
            if position != place:
                raise broken(item, f"position: {position} comes where {place} is missing", "position")
            if entry.operation in operations:
                raise broken(item, "keys: an earlier entry has the same operation", "keys")
            if entry.operation is not None:
                operations.add(entry.operation)
            for line in entry.lines:
                if line.before != standing.get(line.id, 0) or not _steps(line):
                    raise broken(item, f"body.l: {line.id} does not go on from the version before", "body.l")
                standing[line.id] = line.after
                self._expect(position, line)

    def _expect(self, position: int, line: Line) -> None:
        if line.erased:
            return
        self._told[line.id, line.after] = (position, line)
        if line.verb is Verb.UNSOURCE:
            self._unsourced[line.id] = line.after

    def _check_record(self, versions: dict[int, DumpedVersion]) -> None:
        last = versions[max(versions)]
        for each in versions.values():
            record, item = each.record, each.item
            if each.current != (each is last):
                raise broken(
                    item, f"line: of {record.id} the last version is the record, and no other", "line"
                )
            position, line = self._told.get((record.id, record.version), (0, None))
            if line is None or position != each.position or line.type is not record.type:
                raise broken(
                    item,
                    f"position: entry {each.position} did not write version {record.version} of {record.id}",
                    "position",
                )

    def _blanks(self) -> Iterator[Blank]:
        for (id, version), (position, _) in self._told.items():
            if version in self._versions.get(id, ()):
                continue
            item, entry = self._entries[position]
            if id not in self._versions or version >= self._unsourced.get(id, 0):
                raise broken(item, f"body.l: version {version} of {id} is not in this part", "body.l")
            yield Blank(id, version, position, entry.at)

    def _current(self) -> Iterator[DumpedVersion]:
        return (each for found in self._versions.values() for each in found.values() if each.current)

    def _check_slots(self) -> None:
        held: set[bytes] = set()
        for each in self._current():
            slot = each.record.slot()
            if slot in held:
                raise broken(each.item, "record: another record of this part holds its key or name", "record")
            if slot is not None:
                held.add(slot)

    def _check_seats(self) -> None:
        for each in self._current():
            message = each.record
            if isinstance(message, Message) and message.seq > self._tails.get(message.thread, LARGEST):
                raise broken(each.item, "record.seq: the place lies behind its thread's tail", "record.seq")

    def _check_uses(self) -> None:
        memories = {each.record.id for each in self._current() if each.record.type is RecordType.MEMORY}
        for id, (item, _) in self._uses.items():
            if id not in memories:
                raise broken(item, f"id: this part has no memory {id}", "id")


def _steps(line: Line) -> bool:
    """Whether a ledger line's versions can follow each other so."""
    if line.verb is Verb.ERASE:
        return line.erased and line.after == 0
    if line.verb is Verb.IMPORT and line.before == 0:
        return line.after > 0
    return line.after == line.before + 1
