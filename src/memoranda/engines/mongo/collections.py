"""The collections of a book, with their indexes and validators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymongo import ASCENDING as UP
from pymongo import IndexModel

from memoranda.engines.mongo.server.session import NAMES

_TEXT, _INT, _ID, _BYTES = (
    {"bsonType": "string"},
    {"bsonType": ["int", "long"]},
    {"bsonType": "binData"},
    {"bsonType": "binData"},
)
_TEXTS = {"bsonType": "array", "items": _TEXT}
_OWNED = dict.fromkeys(NAMES, _TEXT)
_BODY = {"body": {"bsonType": ["object", "string"]}}


def _index(*keys: str, unique: bool = False, only: Mapping[str, Any] | None = None) -> IndexModel:
    given = {} if only is None else {"partialFilterExpression": only}
    return IndexModel([(key, UP) for key in keys], unique=unique, **given)


def _has(*fields: str) -> dict[str, Any]:
    return {field: {"$exists": True} for field in fields}


def _shape(needed: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """Return a validator: it refuses documents that another program stores by mistake."""
    properties = {**needed, **optional}
    return {
        "$jsonSchema": {"bsonType": "object", "required": list(needed), "properties": properties}
    }


#: Every collection with its indexes and its validator. A record is one document, whatever its type:
#: a transaction may not use ``$unionWith``, so ids of unknown types would cost a command for each
#: collection. An index without an owner serves a command that names none; docs/decisions/mongodb.md
#: lists those commands.
COLLECTIONS: dict[str, tuple[list[IndexModel], dict[str, Any]]] = {
    "book": ([], {}),
    "gates": ([], {}),
    "owners": (
        [
            _index(*NAMES, unique=True, only=_has("owner_id")),
            _index("digest"),
            _index("restricted", only=_has("restricted")),
            _index("erased_at", only=_has("erased_at")),
        ],
        _shape(
            {"_id": _ID, "digest": _BYTES, "position": _INT, "held": _INT, "items": _INT, "shelves": {"bsonType": "array"}},
            **_OWNED,
        ),
    ),
    "records": (
        [
            _index(*NAMES, "shelf", "type", "_id"),
            _index(*NAMES, "shelf", "mark", only={"mark": {"$gt": 0}}),
            _index(*NAMES, "thread", "seq", only=_has("thread")),
            _index(*NAMES, "slot", unique=True, only=_has("slot")),
            _index(*NAMES, "type", "status", "recorded_at"),
            _index(*NAMES, "run", only=_has("run")),
            _index(*NAMES, "type", "at", "_id"),
            _index(*NAMES, "tags", "at", only=_has("tags")),
            # For people at a shell.
            _index("owner_id", "kind", only={"type": "memory"}),
            _index("name", only={"type": "agent"}),
            _index("sources"),
            _index("unlisted.source", only=_has("unlisted")),
            _index("rule", only=_has("rule")),
            _index("lacks", "_id", only=_has("lacks")),
        ],
        _shape(
            {
                "_id": _ID, **_OWNED, "era": _ID, "type": _TEXT, "version": _INT, "recorded_at": _INT, "at": _INT, "seq": _INT,
                "shelf": _INT, "mark": _INT, "position": _INT, "learnt": _INT, "readers": _TEXTS, "hash": _BYTES, **_BODY,
            },
            status=_TEXT, key=_TEXT, thread=_ID, slot=_BYTES, run=_BYTES, terms=_BYTES, vector=_BYTES,
        ),
    ),
    "versions": (
        [_index(*NAMES, "id", "version", unique=True)],
        _shape({"id": _ID, "era": _ID, "version": _INT, "position": _INT, "readers": _TEXTS, "hash": _BYTES, **_BODY}, **_OWNED),
    ),
    "gone": (
        [_index(*NAMES, "shelf", "mark"), _index("era")],
        _shape({"era": _ID, "shelf": _INT, "mark": _INT, "id": _ID, **_OWNED}),
    ),
    "ledger": (
        [
            _index(*NAMES, "era", "position", unique=True),
            _index("era", "position"),
            _index("erases", only={"erases": True}),
        ],
        _shape({"era": _ID, "position": _INT, "at": _INT, "actor_kind": _TEXT, **_BODY}, **_OWNED),
    ),
    # The digest of an operation's id → its entry.
    "operations": ([_index("era")], _shape({"_id": _BYTES, "era": _ID, "position": _INT})),
    "jobs": (
        [
            _index("era", "kind", "key", unique=True),
            _index("kind", "due"),
            _index("state", "leased_until"),
            _index("run_at"),
            _index("records"),
            _index(*NAMES, only=_has("owner_id")),
        ],
        _shape({"_id": _ID, "kind": _TEXT, "key": _TEXT, "payload": _TEXT, "state": _TEXT, "run_at": _INT}, **_OWNED),
    ),
    "answers": ([_index("records")], _shape({"_id": _ID, "payload": _TEXT})),
    "usage": ([_index("owner", "tenant", "day", "agent", "task", "model", unique=True), _index("tenant", "day")], _shape({"owner": _ID, "tenant": _TEXT, "day": _TEXT})),
    "vector_sets": ([], _shape({"_id": _TEXT, "no": _INT, "dimension": _INT})),
    "restrictions": ([], _shape({"_id": _BYTES, "at": _INT, "mode": _TEXT})),
    "key_uses": ([], _shape({"_id": _BYTES, "at": _INT})),
    "audit": ([_index("tenant", "at", "id"), _index("at", "id")], _shape({"at": _INT, "id": _BYTES, "tenant": _TEXT, "verb": _TEXT})),
    "tombstones": ([], _shape({"_id": _BYTES, "at": _INT})),
}  # fmt: skip
