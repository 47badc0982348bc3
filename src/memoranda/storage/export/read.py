"""Reads exports: checks the fields of each line, then all lines of an owner against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from pydantic import ValidationError

from memoranda.errors import InvalidInput
from memoranda.model.book_rows import ReadPiece, StonePiece
from memoranda.model.ledger import OPERATION, Entry, Line, Verb
from memoranda.model.messages import Message
from memoranda.model.passages import Use
from memoranda.model.records import Owner, Record, RecordType
from memoranda.model.unlisted import are_counted
from memoranda.model.values import Value, refused
from memoranda.storage.decide.protection import external_id_of
from memoranda.storage.export.forms import (
    BookLine,
    EndLine,
    EntryLine,
    OwnerLine,
    UseLine,
    VersionLine,
)
from memoranda.storage.export.owner_data import (
    LARGEST,
    Blank,
    BookDump,
    DumpedVersion,
    EndedEra,
    OwnerDump,
)
from memoranda.storage.rows import CLASS_OF

_Form = TypeVar("_Form", bound=Value)
#: An erasure with one of these verbs empties the earlier versions of the record.
_BLANKS_EARLIER = frozenset({Verb.UNSOURCE, Verb.REDACT})


def parse_owner_line(line: Mapping[str, Any]) -> OwnerLine:
    """Parse the first line of an owner's part in an export; raise InvalidInput if it is faulty."""
    return _read(OwnerLine, line, 0)


def parse_book(line: Mapping[str, Any], tenant: str) -> BookDump:
    """Parse the line with the data that belong to no owner, for a tenant; raise InvalidInput if it
    is faulty.
    """
    read = _read(BookLine, line, 0)
    eras = tuple(
        EndedEra(UUID(bytes=era), digest, at, ids) for era, digest, at, ids in read.erased_eras
    )
    operations = [id for each in eras for id, _ in each.operations]
    stones = [digest for digest, _ in read.tombstones]
    for name, digests in (
        ("erased_eras", [each.era for each in eras]),
        ("erased_eras", operations),
        ("tombstones", stones),
        ("restrictions", [digest for digest, _, _ in read.restrictions]),
    ):
        if len(set(digests)) < len(digests):
            raise broken(0, f"{name}: one of them is given twice", name)
    return BookDump(
        read.secret,
        eras,
        tuple(StonePiece(*stone) for stone in read.tombstones),
        tuple((digest, at, appends.value) for digest, at, appends in read.restrictions),
        tuple(
            ReadPiece(at, id.bytes, tenant, owner, who, verb, surface)
            for at, id, owner, who, verb, surface in read.restricting
        ),
    )


def parse(owner: Owner, lines: Sequence[Mapping[str, Any]]) -> OwnerDump:
    """Parse one owner's part of an export; raise InvalidInput that names the faulty line and
    field.
    """
    return _Parsing(owner, lines).parsed()


def broken(item: int, reason: str, part: str = "") -> InvalidInput:
    """Return the error about a line of an export; ``item`` counts the lines of the owner's part
    from 0.
    """
    return InvalidInput(
        f"line {item + 1}: {reason}", field=f"lines[{item}].{part}".rstrip("."), item=item
    )


def _read(form: type[_Form], line: object, item: int) -> _Form:
    try:
        return form.model_validate(line)
    except ValidationError as exc:
        error = refused(exc)
        raise broken(item, str(error), error.field or "") from None


class _Parsing:
    """Reads the lines of one owner's part, then compares them with each other."""

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
        #: Record → the last version that an erasure of its grounds made; earlier ones were emptied
        #: then.
        self._unsourced: dict[UUID, int] = {}

    def parsed(self) -> OwnerDump:
        """Return the owner's data; raises InvalidInput if a line is faulty or contradicts
        another.
        """
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
            self._entry(item, _read(EntryLine, line, item).entry(era))
        elif kind in ("version", "record"):
            self._version(item, _read(VersionLine, line, item))
        elif kind == "use":
            self._use(item, _read(UseLine, line, item))
        else:
            raise broken(item, f"line: an owner's part holds no line of kind {kind!r:.40}", "line")

    def _entry(self, item: int, entry: Entry) -> None:
        if entry.position in self._entries:
            raise broken(item, f"position: {entry.position} is given twice", "position")
        self._entries[entry.position] = (item, entry)

    def _version(self, item: int, line: VersionLine) -> None:
        if line.record.get("type") not in list(CLASS_OF):
            raise broken(item, "record.type: no record is of this type", "record.type")
        try:
            record = _from_portable(line.record, self._owner)
        except ValidationError as exc:
            error = refused(exc, at="record")
            raise broken(item, str(error), error.field or "record") from None
        if record.version >= LARGEST or (isinstance(record, Message) and record.seq >= LARGEST):
            raise broken(item, f"record: its version and its place lie below {LARGEST}", "record")
        found = self._versions.setdefault(record.id, {})
        if record.version in found:
            raise broken(
                item, f"record: version {record.version} of {record.id} is given twice", "record"
            )
        current = line.line == "record"
        _check_unlisted(record, line, item)
        found[record.version] = DumpedVersion(record, line.position, current, item, line.unlisted)
        if (line.tail is not None) != (current and record.type is RecordType.THREAD):
            raise broken(item, "tail: a thread as it stands has one, and nothing else", "tail")
        if line.tail is not None:
            self._tails[record.id] = line.tail

    def _use(self, item: int, line: UseLine) -> None:
        if line.id in self._uses:
            raise broken(item, f"id: the use of {line.id} is given twice", "id")
        self._uses[line.id] = (
            item,
            Use(strength=line.strength, used_at=line.used_at, count=line.count),
        )

    def _check_counts(self) -> None:
        item = len(self._lines) - 1
        told = {
            kind: count
            for kind, count in _read(EndLine, self._lines[item], item).counts.items()
            if count
        }
        counted = Counter(line["line"] for line in self._lines[:-1])
        if told != counted:
            raise broken(
                item,
                f"counts: the part holds {dict(counted)}, and its end tells of {told}",
                "counts",
            )

    def _check_ledger(self) -> None:
        standing: dict[UUID, int] = {}
        operations: set[bytes | str] = set()
        for place, position in enumerate(sorted(self._entries), 1):
            item, entry = self._entries[position]
            if position != place:
                raise broken(
                    item, f"position: {position} comes where {place} is missing", "position"
                )
            same = {
                each
                for each in (entry.operation, *entry.note.get(OPERATION, ())[:1])
                if each is not None
            }
            if not same.isdisjoint(operations):
                raise broken(item, "keys: an earlier entry has the same operation", "keys")
            operations |= same
            for line in entry.lines:
                if line.before != standing.get(line.id, 0) or not _steps(line):
                    raise broken(
                        item, f"body.l: {line.id} does not go on from the version before", "body.l"
                    )
                standing[line.id] = line.after
                self._expect(position, line)

    def _expect(self, position: int, line: Line) -> None:
        if line.erased:
            return
        self._told[line.id, line.after] = (position, line)
        if line.verb in _BLANKS_EARLIER:
            self._unsourced[line.id] = line.after

    def _check_record(self, versions: dict[int, DumpedVersion]) -> None:
        last = versions[max(versions)]
        for each in versions.values():
            record, item = each.record, each.item
            if each.current != (each is last):
                raise broken(
                    item,
                    f"line: of {record.id} the last version is the record, and no other",
                    "line",
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
                raise broken(
                    item, f"body.l: version {version} of {id} is not in this part", "body.l"
                )
            yield Blank(id, version, position, entry.at)

    def _current(self) -> Iterator[DumpedVersion]:
        return (
            each for found in self._versions.values() for each in found.values() if each.current
        )

    def _check_slots(self) -> None:
        held: set[bytes] = set()
        for each in self._current():
            slot = each.record.slot()
            if slot in held:
                raise broken(
                    each.item, "record: another record of this part holds its key or name", "record"
                )
            if slot is not None:
                held.add(slot)
        named = [each for each in self._current() if external_id_of(each.record) is not None]
        taken: set[object] = set()
        for each in named:
            record = each.record
            if (own := (record.type, external_id_of(record), record.audience)) in taken:
                raise broken(
                    each.item,
                    "record: another record of this part has its external id",
                    "record.external_id",
                )
            taken.add(own)

    def _check_seats(self) -> None:
        for each in self._current():
            message = each.record
            if isinstance(message, Message) and message.seq > self._tails.get(
                message.thread, LARGEST
            ):
                raise broken(
                    each.item, "record.seq: the place lies behind its thread's tail", "record.seq"
                )

    def _check_uses(self) -> None:
        memories = {
            each.record.id for each in self._current() if each.record.type is RecordType.MEMORY
        }
        for id, (item, _) in self._uses.items():
            if id not in memories:
                raise broken(item, f"id: this part has no memory {id}", "id")


def _check_unlisted(record: Record, line: VersionLine, item: int) -> None:
    """Raise an error unless the line has exactly the unlisted sources that the current version of a
    record counts.
    """
    given = {id: frozenset(sources) for id, sources in line.unlisted.items()}
    if given if line.line != "record" else not are_counted(record, given):
        raise broken(item, "unlisted: these are not the sources that the record counts", "unlisted")


def _steps(line: Line) -> bool:
    """True if a ledger line of this kind may have its versions before and after."""
    if line.verb in (Verb.ERASE, Verb.AGE):
        return line.erased and line.after == 0
    if line.verb is Verb.IMPORT and line.before == 0:
        return line.after > 0
    return line.after == line.before + 1


def _from_portable(line: dict[str, Any], owner: Owner) -> Record:
    """Build a record from the object in a line of an export; raise pydantic's ValidationError if it
    is invalid.
    """
    # The episode of a memory follows from the episodes of the file, and is never stored.
    fields = {name: value for name, value in line.items() if name not in ("type", "source_episode")}
    return CLASS_OF[RecordType(line.get("type", "")).value].model_validate(
        {**fields, "owner": owner}
    )
