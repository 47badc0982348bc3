"""Conversions between rows of any engine and values: owners, audiences, records and ledger entries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from memoranda.errors import Corrupt, InvalidInput
from memoranda.model.ledger import STORED_VERBS, Actor, Entry, Ignored, Line, Verb
from memoranda.model.owner import Audience, AudienceKind, Owner
from memoranda.model.records import Record, RecordType
from memoranda.model.values import moment
from memoranda.settle.codec import decode

_FIRST, _LAST = bytes(16), b"\xff" * 16


@lru_cache(maxsize=4096)
def owner_of(tenant: str, kind: str, id: str) -> Owner:
    """The owner of three columns."""
    return Owner.model_validate({"tenant": tenant, "kind": kind, "id": id})


@lru_cache(maxsize=4096)
def audience_of(kind: str, agent: str, groups: str) -> Audience:
    """The audience of three columns."""
    return Audience(kind=AudienceKind(kind), agent=agent or None, groups=tuple(json.loads(groups)))


@lru_cache(maxsize=4096)
def audience_columns(audience: Audience) -> tuple[str, str, str]:
    """An audience as three columns."""
    return (audience.kind.value, audience.agent or "", json.dumps(list(audience.groups), ensure_ascii=False))


def record_of(row: Sequence[Any]) -> Record:
    """A record of a row that carries its owner and audience."""
    type_, id_, tenant, kind, owner_id, audience, agent, groups, version, recorded_at, body = row[:11]
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
    """A ledger entry of a row."""
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


def cursor_of(cursor: str | None, newest_first: bool) -> bytes:
    """Return the id after which a page begins; without a cursor, the lowest or highest possible id."""
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
    """The part of an entry that engines store as one text."""
    body: dict[str, Any] = {
        "l": [
            [
                STORED_VERBS.get(line.verb, line.verb),
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
    """Lines, ignored parts and note of what ``dump_entry`` wrote."""
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
        raise Corrupt("an entry of a ledger cannot be read, its row is damaged: restore a backup") from exc


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
