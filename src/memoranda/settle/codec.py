"""Records as engines store them: a few columns that queries need, and the rest as one JSON text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from pydantic_core import from_json

from memoranda.errors import Corrupt
from memoranda.model.cited import Cited
from memoranda.model.digests import keyed
from memoranda.model.episodes import Episode, Overflow
from memoranda.model.experience import ExperienceLine
from memoranda.model.memories import Cardinality, Memory, MemoryStatus
from memoranda.model.messages import Message, Thread
from memoranda.model.owner import Audience, Owner
from memoranda.model.profiles import Agent, Key, ProfileDocument, Schema
from memoranda.model.records import Record, RecordType
from memoranda.model.trust import Trust
from memoranda.model.values import canonical, micros, moment

CLASS_OF: dict[str, type[Record]] = {
    cls.type.value: cls
    for cls in (
        Thread,
        Message,
        Episode,
        Overflow,
        Memory,
        ProfileDocument,
        ExperienceLine,
        Agent,
        Schema,
        Key,
    )
}

#: Fields that have their own columns, or that the row's owner and shelf determine.
_OUTSIDE = {"id", "owner", "audience", "version", "recorded_at"}


#: The statuses of records that are not active; every other status, and none, means active.
ENDED = frozenset(
    {
        MemoryStatus.SUPERSEDED.value,
        MemoryStatus.RETRACTED.value,
        MemoryStatus.UNDONE.value,
        MemoryStatus.EVICTED.value,
        "withdrawn",
    }
)
#: The same without superseded records, which were true until they were superseded.
TAKEN_BACK = ENDED - {MemoryStatus.SUPERSEDED.value}


class StoredRow(NamedTuple):
    """One version of a record as engines store it. Times are microseconds since the epoch."""

    id: bytes
    type: str
    version: int
    recorded_at: int
    slot: bytes | None
    thread: bytes | None
    seq: int
    kind: str | None
    status: str | None
    at: int
    valid_from: int | None
    valid_to: int | None
    facets: str
    body: str
    hash: bytes

    @property
    def held(self) -> bool:
        """True if this version is active."""
        return self.status not in ENDED


@dataclass(frozen=True, slots=True)
class _Columns:
    thread: UUID | None
    seq: int
    kind: str | None
    status: str | None
    at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def _columns(record: Record) -> _Columns:
    if isinstance(record, Message):
        return _Columns(record.thread, record.seq, record.role, None, record.observed_at)
    if isinstance(record, Memory):
        held = "withdrawn" if record.withdrawn else record.status.value
        # What took another's place holds from where the other one ended.
        since = record.valid_from or (record.observed_at if record.supersedes else None)
        return _Columns(record.thread, 0, record.kind, held, record.observed_at, since, record.valid_to)
    status = "withdrawn" if record.withdrawn else None
    if isinstance(record, Episode):
        return _Columns(record.thread, 0, record.outcome.value, status, record.started_at)
    if isinstance(record, Thread):
        return _Columns(record.id, 0, record.agent, status or record.status.value, record.started_at)
    return _Columns(None, 0, None, status, record.recorded_at)


_spell = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def facets_of(record: Record) -> str:
    """Return ``[speaker, agent, key, subject, trust, tags]`` as JSON, with ``true`` appended if it is pinned.

    Passages are filtered by them; empty where all are.
    """
    match record:
        case Message():
            return _facets(record.speaker, record.agent, None, None, record.trust.value, ())
        case Memory():
            pinned = (True,) if record.pinned else ()
            trust = record.trust.value
            return _facets(None, record.agent, record.key, record.subject, trust, record.tags, *pinned)
        case Episode():
            return _facets(None, record.agent, None, None, record.trust.value, record.tags)
        case Thread():
            return _facets(None, record.agent, None, None, None, record.tags)
        case _:
            return ""


def _facets(*facets: str | tuple[str, ...] | bool | None) -> str:
    return _spell(facets) if any(facets) else ""


def encode(record: Record, secret: bytes) -> StoredRow:
    """A record as a row, with the keyed digest of its content."""
    columns = _columns(record)
    body = record.model_dump_json(exclude=_OUTSIDE, exclude_defaults=True)
    return StoredRow(
        record.id.bytes,
        record.type.value,
        record.version,
        micros(record.recorded_at),
        record.slot(),
        None if columns.thread is None else columns.thread.bytes,
        columns.seq,
        columns.kind,
        columns.status,
        micros(columns.at),
        None if columns.valid_from is None else micros(columns.valid_from),
        None if columns.valid_to is None else micros(columns.valid_to),
        facets_of(record),
        body,
        content_hash(secret, record.type.value, record.audience, body),
    )


def content_hash(secret: bytes, type_: str, audience: Audience, body: str) -> bytes:
    """Return the keyed digest that the ledger stores of a version's content."""
    return keyed(secret, "content", type_.encode(), _readers(audience), body.encode())


@lru_cache(maxsize=4096)
def _readers(audience: Audience) -> bytes:
    return canonical([audience.kind.value, audience.agent, list(audience.groups)])


def decode(
    type_: str, id: UUID, owner: Owner, audience: Audience, version: int, recorded_at: int, body: str
) -> Record:
    """Build the record of a row.

    What a book wrote was checked when it came in: what is read most is built without being checked again.
    """
    try:
        fields: dict[str, Any] = from_json(body)
        fields["id"] = id
        fields["owner"] = owner
        fields["audience"] = audience
        fields["version"] = version
        fields["recorded_at"] = moment(recorded_at)
        shape = _SHAPES.get(type_)
        return CLASS_OF[type_].model_validate(fields) if shape is None else shape.build(fields)
    except (ValueError, TypeError, LookupError, AttributeError) as exc:
        raise Corrupt(f"record {id} cannot be read, its row is damaged: restore a backup") from exc


_set = object.__setattr__


def _ids(values: list[str]) -> tuple[UUID, ...]:
    return tuple(map(UUID, values))


def _quotes(values: list[Any]) -> tuple[Cited, ...]:
    return tuple(map(Cited.model_validate, values))


class _Shape:
    """How a class of records is built from parsed fields; every field that is no plain JSON has its reader."""

    def __init__(self, of: type[Record], **readers: Callable[[Any], Any]) -> None:
        self._of = of
        self._readers = tuple(readers.items())
        #: In the order of the class, in which a record is also written; required fields are always given.
        self._blank = {
            name: None if field.is_required() else field.get_default(call_default_factory=True)
            for name, field in of.model_fields.items()
        }

    def build(self, fields: dict[str, Any]) -> Record:
        for name, read in self._readers:
            if (value := fields.get(name)) is not None:
                fields[name] = read(value)
        record = self._of.__new__(self._of)
        _set(record, "__dict__", {**self._blank, **fields})
        _set(record, "__pydantic_fields_set__", set(fields))
        _set(record, "__pydantic_extra__", None)
        _set(record, "__pydantic_private__", None)
        return record


_SHAPES = {
    Message.type.value: _Shape(Message, thread=UUID, observed_at=datetime.fromisoformat, trust=Trust),
    Memory.type.value: _Shape(
        Memory,
        cardinality=Cardinality,
        tags=tuple,
        thread=UUID,
        valid_from=datetime.fromisoformat,
        valid_to=datetime.fromisoformat,
        observed_at=datetime.fromisoformat,
        sources=_ids,
        past=_ids,
        quotes=_quotes,
        trust=Trust,
        supersedes=_ids,
        superseded_by=UUID,
        status=MemoryStatus,
    ),
}


def portable(record: Record) -> dict[str, Any]:
    """A record as a JSON-ready line of an export."""
    body: dict[str, Any] = json.loads(record.model_dump_json(exclude={"owner"}, exclude_defaults=True))
    body["id"] = str(record.id)
    body["version"] = record.version
    body["recorded_at"] = record.recorded_at.isoformat()
    return {"type": record.type.value, **body}


def from_portable(line: dict[str, Any], owner: Owner) -> Record:
    """The record of an export's line; raises pydantic's ValidationError where it is none."""
    fields = {name: value for name, value in line.items() if name != "type"}
    return CLASS_OF[RecordType(line.get("type", "")).value].model_validate({**fields, "owner": owner})
