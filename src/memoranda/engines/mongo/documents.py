"""Conversions between rows, as use cases know them, and the documents of a book."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import bson
from bson.binary import VECTOR_SUBTYPE, Binary
from pydantic_core import from_json, to_json

from memoranda.engines.mongo.server.session import Document
from memoranda.model.ledger import Entry
from memoranda.model.records import Owner, Record
from memoranda.model.values import micros
from memoranda.storage.conditions import FACETS
from memoranda.storage.damaged import erasable_entry, erasable_of
from memoranda.storage.rows import StoredRow, audience_of, decode, dump_entry, entry_of, owner_of

#: Fields with ids, which a shell shows as UUIDs; other bytes are plain binary, digests of sixteen
#: bytes among them.
_IDS = frozenset(
    {
        "_id",
        "id",
        "thread",
        "era",
        "job",
        "record",
        "source",
        "group",
        "sources",
        "links",
        "records",
    }
)


def names_of(owner: Owner) -> Document:
    """Return the fields that name an owner."""
    return {"owner_id": owner.id, "owner_kind": owner.kind.value, "tenant": owner.tenant}


def owner_in(doc: Mapping[str, Any]) -> Owner:
    """Return the owner that a document names."""
    return owner_of(doc["tenant"], doc["owner_kind"], doc["owner_id"])


def value_in(field: str, value: Any) -> Any:
    """Return a value of a row as a document has it."""
    if type(value) is bytes and len(value) == 16 and field in _IDS:
        return UUID(bytes=value)
    if type(value) is tuple or type(value) is list:
        return [value_in(field, one) for one in value]
    return value


def value_out(value: Any) -> Any:
    """Return a value of a document as a row has it."""
    if type(value) is UUID:
        return value.bytes
    if type(value) is list:
        return tuple(value_out(one) for one in value)
    return value


def values_of(doc: Mapping[str, Any], fields: Sequence[str]) -> tuple[Any, ...]:
    """Return the values of fields, some of which may be inside another."""
    found = []
    for field in fields:
        value: Any = doc
        for part in field.split("."):
            value = None if value is None else value.get(part)
        found.append(value_out(value))
    return tuple(found)


#: The server refuses documents that are nested deeper than 180 levels.
_DEEPEST = 150

# ── content ───────────────────────────────────────────────────────────────────────────────────────


def body_in(text: str) -> Any:
    """Return a body as a document that readers know, if it can be turned back to the same text;
    else the text.
    """
    # The driver reads an object with both as a reference to another document.
    if not text or ('"$ref"' in text and '"$id"' in text):
        return text
    try:
        parsed = from_json(text)
        is_shallow = text.count("{") + text.count("[") < _DEEPEST
        if (
            isinstance(parsed, dict)
            and (is_shallow or _depth(parsed) < _DEEPEST)
            and to_json(parsed).decode() == text
        ):
            bson.encode(parsed)
            return parsed
    except (ValueError, OverflowError, bson.errors.BSONError, RecursionError):
        pass
    return text


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def body_out(stored: Any) -> str:
    """Return a body's text."""
    return stored if isinstance(stored, str) else to_json(stored).decode()


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MOMENT, _LAST_MOMENT = -62_135_596_800_000_000, 253_402_300_800_000_000


def date_of(at: int | None) -> datetime | None:
    """Return a moment for readers: whole milliseconds; the microseconds beside it decide."""
    if at is None or not _FIRST_MOMENT <= at < _LAST_MOMENT:
        return None
    return _EPOCH + timedelta(milliseconds=at // 1000)


# ── records ───────────────────────────────────────────────────────────────────────────────────────

_ALWAYS = ("type", "version", "recorded_at", "seq", "at", "facets", "hash")
_OPTIONAL = ("slot", "thread", "valid_from", "valid_to", "kind", "status")
#: The fields that ``row_in`` may leave out: an update removes them.
MAY_LACK = frozenset({*_OPTIONAL, *FACETS, "until", "name"})


def row_in(row: StoredRow) -> Document:
    """Return a record's own fields; what it does not have is left out."""
    found: Document = {"_id": UUID(bytes=row.id)}
    found |= {name: getattr(row, name) for name in _ALWAYS}
    found["body"] = body_in(row.body)
    for name in _OPTIONAL:
        if (value := getattr(row, name)) is not None:
            found[name] = value_in(name, value)
    for name, value in zip(FACETS, json.loads(row.facets) if row.facets else (), strict=False):
        if value is not None and value != []:
            found[name] = value
    if isinstance(found["body"], dict) and "name" in found["body"]:
        found["name"] = found["body"]["name"]
    found["date"] = date_of(row.at)
    ends = found.get("expires") if row.type == "memory" else row.valid_to
    if ends is not None:
        found["until"] = date_of(ends)
    return found


def row_out(doc: Mapping[str, Any]) -> StoredRow:
    """Return a record's row."""
    get = doc.get
    return StoredRow(
        doc["_id"].bytes, doc["type"], doc["version"], doc["recorded_at"], get("slot"), value_out(get("thread")), doc["seq"],
        get("kind"), get("status"), doc["at"], get("valid_from"), get("valid_to"), doc["facets"], body_out(doc["body"]),
        doc["hash"],
    )  # fmt: skip


def record_out(doc: Mapping[str, Any], damaged: bool = False) -> Record:
    """Return the record of a document; with ``damaged`` a stand-in for one that cannot be read."""
    names = doc["tenant"], doc["owner_kind"], doc["owner_id"]
    if damaged:
        row = (
            doc["type"],
            doc["_id"].bytes,
            *names,
            *doc["readers"],
            doc["version"],
            doc["recorded_at"],
            body_out(doc["body"]),
        )
        return erasable_of((*row, value_out(doc.get("thread")), doc["seq"], doc.get("status")))
    return decode(
        doc["type"], doc["_id"], owner_of(*names), audience_of(*doc["readers"]), doc["version"], doc["recorded_at"],
        body_out(doc["body"]),
    )  # fmt: skip


def shelf_number(era: UUID, readers: Sequence[str]) -> int:
    """Return the number of a shelf: 62 bits of a digest, so that no counter is shared by all
    owners.
    """
    digest = hashlib.blake2b(era.bytes + "\0".join(readers).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 2


# ── the ledger ────────────────────────────────────────────────────────────────────────────────────


def entry_body_in(text: str) -> Document:
    """Return the fields with a ledger entry's lines; those that tell of an erasure are found by a
    field of their own.
    """
    erases = '"erase"' in text or '"redacted"' in text
    return {"body": body_in(text), **({"erases": True} if erases else {})}


def entry_in(head: Mapping[str, Any], entry: Entry) -> Document:
    """Return an entry's document."""
    names = {name: head[name] for name in ("owner_id", "owner_kind", "tenant") if name in head}
    doc = {
        **names, "era": head["_id"], "position": entry.position, "at": micros(entry.at), "actor_kind": entry.actor.kind,
        "actor": entry.actor.id, **entry_body_in(dump_entry(entry)),
    }  # fmt: skip
    digests = {"operation": entry.operation, "request": entry.request}
    return {**doc, **{name: value for name, value in digests.items() if value is not None}}


def entry_out(doc: Mapping[str, Any], damaged: bool = False) -> Entry:
    """Return the entry of a document."""
    get = doc.get
    row = (
        None, doc["position"], doc["at"], doc["actor_kind"], get("actor"), get("operation"), get("request"),
        body_out(doc["body"]), doc["era"].bytes, None,
    )  # fmt: skip
    return erasable_entry(row) if damaged else entry_of(row, None)


# ── vectors ───────────────────────────────────────────────────────────────────────────────────────

_INT8 = b"\x03\x00"


def vector_in(packed: bytes) -> tuple[Binary, float]:
    """Return a packed vector as BSON has one, and its scale: each number times the scale is the
    vector's.
    """
    (scale,) = struct.unpack_from("<f", packed)
    return Binary(_INT8 + packed[4:], VECTOR_SUBTYPE), scale


def vector_out(vector: bytes | None, scale: float | None) -> bytes | None:
    """Return a packed vector."""
    return None if vector is None or scale is None else struct.pack("<f", scale) + bytes(vector[2:])


def vector_fields(set: Mapping[str, Any]) -> tuple[str, str]:
    """Return the fields of a set's vectors and of their scales; the active set's have the same
    names in every book.
    """
    return ("vector", "scale") if set["active"] else (f"vectors.{set['no']}", f"scales.{set['no']}")
