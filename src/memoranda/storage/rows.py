"""Conversions between records and the rows that engines store."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from pydantic_core import from_json

from memoranda.errors import Corrupt, InvalidInput
from memoranda.first_use import dataclass
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.items import Item, namespace_text
from memoranda.model.ledger import Actor, Entry, Ignored, Line, Verb
from memoranda.model.memories import (
    ARCHIVED,
    Cardinality,
    Cited,
    DaySpan,
    Granularity,
    Memory,
    MemoryStatus,
)
from memoranda.model.messages import Episode, Feedback, Message, Overflow, Thread
from memoranda.model.profiles import Agent, Key, ProfileDocument, Schema
from memoranda.model.records import Audience, AudienceKind, Owner, Record, RecordType, Trust, View
from memoranda.model.unlisted import Unlisted
from memoranda.model.values import Span, canonical, keyed, micros, moment

CLASS_OF: dict[str, type[Record]] = {
    cls.type.value: cls
    for cls in (
        Thread,
        Message,
        Episode,
        Overflow,
        Memory,
        Item,
        ProfileDocument,
        ExperienceLine,
        Agent,
        Schema,
        Key,
    )
}

#: Fields that have their own columns, that the row's owner and shelf determine, or that reads look
#: up.
_OUTSIDE = {"id", "owner", "audience", "version", "recorded_at", "source_episode"}


#: The statuses of records that are not active; every other status, and none, means active.
ENDED = frozenset(
    {status.value for status in MemoryStatus if status is not MemoryStatus.ACTIVE} | {"withdrawn"}
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
    if isinstance(record, Memory):
        held = "withdrawn" if record.withdrawn else record.status.value
        if record.active and record.archived:
            held = ARCHIVED
        # What took another's place holds from where the other one ended.
        since = record.valid_from or (record.observed_at if record.supersedes else None)
        return _Columns(
            record.thread, 0, record.kind, held, record.observed_at, since, record.ends_at
        )
    status = "withdrawn" if record.withdrawn else None
    ends = getattr(record, "expires_at", None)
    if isinstance(record, Message):
        return _Columns(
            record.thread, record.seq, record.role, status, record.observed_at, None, ends
        )
    if isinstance(record, Episode):
        return _Columns(
            record.thread, 0, record.outcome.value, status, record.started_at, None, ends
        )
    if isinstance(record, Thread):
        status = status or record.status.value
        return _Columns(record.id, 0, record.agent, status, record.started_at, None, ends)
    if isinstance(record, Item):
        return _Columns(
            None, 0, namespace_text(record.namespace), status, record.updated_at, None, ends
        )
    return _Columns(None, 0, None, status, record.recorded_at)


_spell = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def facets_of(record: Record) -> str:
    """Return ``[speaker, agent, key, subject, trust, tags]`` as JSON: passages are filtered by
    them; empty where all are.

    ``true`` is appended if it is pinned. A memory that expires has the moment after that, and null
    if it is not pinned.
    """
    match record:
        case Message():
            return _facets(record.speaker, record.agent, None, None, record.trust.value, ())
        case Memory():
            last: tuple[int | None, ...] = (record.pinned,) * record.pinned
            if record.expires_at is not None:
                last = (record.pinned or None, micros(record.expires_at))
            trust = record.trust.value
            return _facets(
                None, record.agent, record.key, record.subject, trust, record.tags, *last
            )
        case Episode():
            return _facets(None, record.agent, None, None, record.trust.value, record.tags)
        case Item():
            return _facets(None, record.agent, record.name, None, record.trust.value, ())
        case Thread():
            return _facets(None, record.agent, None, None, None, record.tags)
        case _:
            return ""


def _facets(*facets: str | tuple[str, ...] | int | None) -> str:
    return _spell(facets) if any(facets) else ""


def encode(record: Record, secret: bytes) -> StoredRow:
    """Convert a record to a row, with the keyed digest of its content."""
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
    type_: str,
    id: UUID,
    owner: Owner,
    audience: Audience,
    version: int,
    recorded_at: int,
    body: str,
) -> Record:
    """Build the record of a row; what is read most is not checked again, since it was when it came
    in.
    """
    try:
        fields: dict[str, Any] = from_json(body)
        fields["id"], fields["owner"], fields["audience"] = id, owner, audience
        fields["version"], fields["recorded_at"] = version, moment(recorded_at)
        shape = _SHAPES.get(type_)
        return CLASS_OF[type_].model_validate(fields) if shape is None else shape.build(fields)
    except (ValueError, TypeError, LookupError, AttributeError):
        # "from None": the cause may quote the content.
        raise Corrupt(f"record {id} cannot be read, its row is damaged: restore a backup") from None


_set = object.__setattr__
_thread = lru_cache(maxsize=1024)(UUID)
_trust = {trust.value: trust for trust in Trust}.__getitem__


def _ids(values: list[str]) -> tuple[UUID, ...]:
    return tuple(map(UUID, values))


def _values(of: type[Cited | Span | Unlisted]) -> Callable[[list[Any]], tuple[Any, ...]]:
    return lambda values: tuple(map(of.model_validate, values))


class _Shape:
    """The rules for building records of one class from JSON: one reader for each field that is not
    plain JSON.
    """

    def __init__(self, of: type[Record], **readers: Callable[[Any], Any]) -> None:
        self._of = of
        self._readers = tuple(readers.items())
        #: In the order of the class, in which a record is also written; required fields are always
        #: given.
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


_time, _judged, _cut = datetime.fromisoformat, Feedback.model_validate, _values(Span)
_SHAPES = {
    "message": _Shape(
        Message,
        **dict.fromkeys(("observed_at", "expires_at"), _time),
        thread=_thread,
        trust=_trust,
        feedback=_judged,
        removed=_cut,
    ),
    "memory": _Shape(
        Memory,
        cardinality=Cardinality,
        tags=tuple,
        removed=_cut,
        thread=_thread,
        **dict.fromkeys(("valid_from", "valid_to", "expires_at", "observed_at"), _time),
        **dict.fromkeys(("valid_from_granularity", "valid_to_granularity"), Granularity),
        happened=DaySpan.model_validate,
        sources=_ids,
        unlisted=_values(Unlisted),
        past=_ids,
        quotes=_values(Cited),
        trust=_trust,
        supersedes=_ids,
        superseded_by=UUID,
        disputes=UUID,
        status=MemoryStatus,
    ),
    "item": _Shape(
        Item,
        namespace=tuple,
        removed=_cut,
        index=tuple,
        trust=_trust,
        **dict.fromkeys(("created_at", "updated_at", "expires_at"), _time),
    ),
}


_FIRST, _LAST = bytes(16), b"\xff" * 16


@lru_cache(maxsize=4096)
def owner_of(tenant: str, kind: str, id: str) -> Owner:
    """Build an owner from its three columns."""
    return Owner.model_validate({"tenant": tenant, "kind": kind, "id": id})


@lru_cache(maxsize=4096)
def audience_of(kind: str, agent: str, groups: str) -> Audience:
    """Build an audience from its three columns."""
    return Audience(kind=AudienceKind(kind), agent=agent or None, groups=tuple(json.loads(groups)))


@lru_cache(maxsize=4096)
def audience_columns(audience: Audience) -> tuple[str, str, str]:
    """Return an audience as three columns."""
    return (
        audience.kind.value,
        audience.agent or "",
        json.dumps(list(audience.groups), ensure_ascii=False),
    )


def record_of(row: Sequence[Any]) -> Record:
    """Build a record from a row that includes its owner and audience."""
    type_, id_, tenant, kind, owner_id, audience, agent, groups, version, recorded_at, body = row[
        :11
    ]
    return decode(
        type_,
        UUID(bytes=id_),
        owner_of(tenant, kind, owner_id),
        audience_of(audience, agent, groups),
        version,
        recorded_at,
        body,
    )


def entry_of(row: Sequence[Any], owner: Owner | None) -> Entry:
    """Build a ledger entry from a row."""
    _, position, at, actor_kind, actor, operation, request, body, era, _ = row
    lines, ignored, note = load_entry_body(body)
    return Entry(
        owner,
        UUID(bytes=era),
        position,
        moment(at),
        Actor(actor_kind, actor),
        lines,
        ignored,
        note,
        operation,
        request,
    )


def view_parameters(owner: Owner, view: View, groups: Any) -> dict[str, Any]:
    """Return the parameters of the statement ``visible_shelves``, with the view's groups as the
    database takes a list.
    """
    return {
        "tenant": owner.tenant,
        "kind": owner.kind.value,
        "id": owner.id,
        "whole": view.whole,
        "agent": view.agent,
        "groups": groups,
    }


def cursor_of(cursor: str | None, newest_first: bool) -> bytes:
    """Return the id after which a page begins; without a cursor, the lowest or highest possible
    id.
    """
    if cursor is None:
        return _LAST if newest_first else _FIRST
    try:
        return UUID(hex=cursor).bytes
    except ValueError:
        raise InvalidInput(
            "cursor: it was not returned by a page; begin without a cursor", field="cursor"
        ) from None


#: Made once: it writes each entry of the ledger.
_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def dump_entry(entry: Entry) -> str:
    """Return the part of a ledger entry that engines store as one JSON text."""
    body: dict[str, Any] = {
        "l": [
            [
                line.verb,
                line.type,
                line.id.hex,
                line.before,
                line.after,
                _hex(line.hash),
                *([1] if line.erased else []),
            ]
            for line in entry.lines
        ]
    }
    if entry.ignored:
        body["i"] = [
            [part.item, part.code, None if part.id is None else part.id.hex, part.field]
            for part in entry.ignored
        ]
    if entry.note:
        body["n"] = entry.note
    return _compact(body)


def load_entry_body(body: str) -> tuple[tuple[Line, ...], tuple[Ignored, ...], dict[str, Any]]:
    """Return the lines, ignored parts and note from a text that ``dump_entry`` wrote."""
    try:
        loaded = json.loads(body)
        lines = tuple(
            Line(
                Verb(part[0]),
                RecordType(part[1]),
                UUID(hex=part[2]),
                part[3],
                part[4],
                None if part[5] is None else bytes.fromhex(part[5]),
                len(part) > 6,
            )
            for part in loaded["l"]
        )
        ignored = tuple(
            Ignored(part[0], part[1], None if part[2] is None else UUID(hex=part[2]), part[3])
            for part in loaded.get("i", ())
        )
        return lines, ignored, loaded.get("n", {})
    except (ValueError, TypeError, LookupError, AttributeError) as exc:
        raise Corrupt(
            "an entry of a ledger cannot be read, its row is damaged: restore a backup"
        ) from exc


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
