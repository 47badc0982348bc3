"""Rows of any engine's tables as values: the columns in which owners, audiences, records and entries stand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from memoranda.errors import InvalidInput
from memoranda.model.ledger import Actor, Entry, load_entry_body
from memoranda.model.owner import Audience, AudienceKind, Owner
from memoranda.model.records import Record
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
    """The id behind which a page begins; without a cursor, the first or the last that there can be."""
    if cursor is None:
        return _LAST if newest_first else _FIRST
    try:
        return UUID(hex=cursor).bytes
    except ValueError:
        raise InvalidInput("cursor: not one that a page gave; begin without one", field="cursor") from None
