"""Views for people at a shell: the records of a book in the shapes of documents that they know. No
answer of the book reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pymongo.errors import PyMongoError

from memoranda.engines.mongo.server.faults import from_server
from memoranda.engines.mongo.server.session import NAMES, Document
from memoranda.engines.mongo.server.transactions import Transactions
from memoranda.model.server_facts import ViewsMade

#: So many elements of an array, and characters of a text in it, are shown: a whole thread would be
#: more than a document may hold.
NEWEST, _CHARACTERS, _NATIVE_BYTES = 200, 7_000, 40_000
_PASSED: Document = {"$expr": {"$gt": [{"$ifNull": ["$until", {"$add": ["$$NOW", 1]}]}, "$$NOW"]}}
_ACTIVE: Document = {"status": "active"}
_USERS: Document = {"owner_kind": "user"}
#: A filter on a field uses an index of the book if the view only gives it another name.
_ALWAYS: Document = {"tenant": 1, "readers": 1, "status": 1, "expires_at": "$until"}
_OWNER: Document = {"owner_id": 1, "owner_kind": 1, **_ALWAYS}
_USER: Document = {"user_id": "$owner_id", **_ALWAYS}


def _of(type: str, **more: Any) -> list[Document]:
    """Return the stages for the records of a type that are neither withdrawn nor expired."""
    return [
        {"$match": {"type": type, "status": {"$ne": "withdrawn"}, **_PASSED}},
        *([{"$match": more}] if more else []),
    ]


def _body(names: str, **absent: Any) -> Document:
    """Return fields of the content; a record leaves out what is as usual."""
    return {name: f"$body.{name}" for name in names.split()} | {
        name: {"$ifNull": [f"$body.{name}", usual]} for name, usual in absent.items()
    }


def _date(field: str) -> Document:
    return {"$convert": {"input": f"$body.{field}", "to": "date", "onError": None, "onNull": None}}


def _moment(field: str) -> Document:
    """Return microseconds as a date."""
    return {"$toDate": {"$toLong": {"$divide": [f"${field}", 1000]}}}


def _text(field: str) -> Document:
    return {"$substrCP": [{"$ifNull": [f"$body.{field}", ""]}, 0, _CHARACTERS]}


def _newest(
    into: str,
    match: Document,
    by: str,
    fields: Document,
    names: Iterable[str] = NAMES,
    **equal: str,
) -> list[Document]:
    """Return the stages that add an array of an owner's newest records, oldest first."""
    owned = {name: f"${name}" for name in names} | equal
    same = [{"$eq": [f"${field}", f"$$v_{field}"]} for field in owned]
    found = {
        **match,
        "status": match.get("status", {"$ne": "withdrawn"}),
        "$expr": {"$and": [*same, _PASSED["$expr"]]},
    }
    inner = [
        {"$match": found},
        {"$sort": {by: -1}},
        {"$limit": NEWEST},
        {"$sort": {by: 1}},
        {"$project": fields},
    ]
    variables = {f"v_{field}": value for field, value in owned.items()}
    return [{"$lookup": {"from": "records", "let": variables, "pipeline": inner, "as": into}}]


_SMALL: Document = {"$lt": [{"$bsonSize": {"native": "$body.native"}}, _NATIVE_BYTES]}
_MESSAGE: Document = {
    "_id": 0, "seq": 1, "role": "$kind", "speaker": 1, "content": _text("content"), "at": "$date",
    "native": {"$cond": [_SMALL, "$body.native", "$$REMOVE"]},
}  # fmt: skip
_MESSAGES = _newest(
    "messages", {"type": "message", "thread": {"$exists": True}}, "seq", _MESSAGE, thread="$_id"
)
_MEMORY = {
    "_id": 0, "id": "$_id", "created_at": "$date", "category": "$kind", "content": _text("content"),
    "context": {"$ifNull": ["$body.data.document.context", _text("applies_when")]},
}  # fmt: skip
#: The content leaves out the name of the schema of this name.
_OF_PROFILE: Document = {"body.schema_name": {"$exists": False}}
#: Memories that hold its fields.
_BOUND: Document = {
    "type": "memory", "readers.0": "global", **_ACTIVE, "body.data.value": {"$exists": True},
    "key": {"$in": "name age interests home occupation conversation_preferences".split()},
}  # fmt: skip
_SERVES: Document = {"body.retired_at": {"$exists": False}}
_EXPERIENCE = (
    "procedural_knowledge common_scenarios effective_strategies known_pitfalls tool_patterns heuristics user_feedback "
    "improvement_areas"
).split()  # fmt: skip


def _lines(field: str) -> Document:
    own = {"$filter": {"input": "$lines", "cond": {"$eq": ["$$this.field", field]}}}
    return {"$map": {"input": own, "in": "$$this.line"}}


#: A view → what it reads, and its stages.
VIEWS: dict[str, tuple[str, list[Document]]] = {
    "threads": ("records", [
        *_of("thread"), *_MESSAGES,
        {"$project": {**_OWNER, "name": 1, **_body("title state result summary formed_through"), "agent": 1, "tags": 1, "started_at": "$date",
                      "ended_at": _date("ended_at"), "messages": 1, "total": "$seq"}},
    ]),
    "messages": ("records", [
        *_of("message"),
        {"$project": {**_OWNER, **_body("content speaker native feedback", trust="user"), "thread_id": "$thread", "seq": 1,
                      "role": "$kind", "agent": 1, "observed_at": "$date"}},
    ]),
    "episodes": ("records", [
        *_of("episode"),
        {"$project": {**_OWNER, **_body("goal summary tool_calls sources"), "thread_id": "$thread", "agent": 1, "outcome": "$kind", "tags": 1,
                      "started_at": "$date", "ended_at": _date("ended_at")}},
    ]),
    "memories": ("records", [
        *_of("memory"),
        {"$project": {**_OWNER, **_body("content applies_when data sources supersedes superseded_by", trust="user", confirmations=0),
                      "thread_id": "$thread", "agent": 1, "key": 1, "subject": 1, "tags": 1, "kind": 1, "observed_at": "$date",
                      "valid_from": _moment("valid_from"), "valid_to": _moment("valid_to"), "used": "$use.count"}},
    ]),
    "profiles": ("records", [*_of("profile"), {"$project": {**_OWNER, **_body("body pinned", schema_name="Profile"), "updated_at": "$date"}}]),
    "experience": ("records", [
        *_of("experience", **_SERVES), {"$project": {**_OWNER, **_body("field line"), "agent": "$owner_id", "updated_at": "$date"}},
    ]),
    "short_term_memory": ("records", [
        *_of("thread", **_USERS), *_MESSAGES,
        {"$project": {**_USER, "thread_id": "$_id", "name": 1, "messages": 1, "total": "$seq", "summary": "$body.summary",
                      "created_at": "$date"}},
    ]),
    "episodic_memory": ("records", [
        *_of("episode", **_USERS),
        {"$project": {**_USER, **_body("summary goal tool_calls"), "episode_id": "$_id", "thread_id": "$thread", "outcome": "$kind", "tags": 1,
                      "started_at": "$date", "ended_at": _date("ended_at")}},
    ]),
    "semantic_memory": ("records", [
        *_of("memory", **_USERS, **_ACTIVE),
        {"$project": {**_USER, **_body("content"), "memory_id": "$_id", "type": "$kind", "embedding": "$vector", "scale": 1,
                      "source_ids": "$body.sources", "strength": "$use.strength", "last_accessed_at": _moment("use.used_at"),
                      "created_at": "$date"}},
    ]),
    "users": ("owners", [
        {"$match": {**_USERS, "erased_at": {"$exists": False}}},
        *_newest("found", {"type": "profile", "readers.0": "global", **_OF_PROFILE}, "at", {"_id": 0, "body": "$body.body"}),
        *_newest("memories", {"type": "memory", **_ACTIVE}, "at", _MEMORY),
        *_newest("bound", _BOUND, "at", {"_id": 0, "k": "$key", "v": "$body.data.value"}),
        {"$project": {
            "_id": "$owner_id", "tenant": 1, "memories": 1, "total": "$held",
            "profile": {"$mergeObjects": [{"$first": "$found.body"}, {"$arrayToObject": "$bound"}]},
        }},
    ]),
    "agents": ("records", [
        *_of("agent"),
        *_newest("lines", {"type": "experience", "owner_kind": "agent", **_SERVES}, "at",
                 {"_id": 0, "field": "$body.field", "line": "$body.line"}, ("tenant",), owner_id="$name"),
        {"$project": {"name": 1, **_body("model", description="", system_prompt=""), "tenant": 1,
                      "experience": {name: _lines(name) for name in _EXPERIENCE}}},
    ]),
    "tasks": ("records", [
        *_of("thread", **_USERS), *_MESSAGES,
        {"$project": {**_USER, "user": {"_id": "$owner_id"}, "agent": {"name": "$agent"}, "agent_name": "$agent",
                      "message_history": {"$map": {"input": "$messages", "in": {"$ifNull": ["$$this.native.pydantic_ai", "$$this.native", "$$this"]}}},
                      "total": "$seq", "created_at": "$date", "updated_at": _moment("recorded_at")}},
    ]),
    "usermemories": ("records", [
        *_of("memory", **_ACTIVE),
        {"$project": {
            "userId": "$owner_id", "tenant": 1, "readers": 1, "key": {"$ifNull": ["$body.data.entry.key", "$key"]},
            "value": {"$ifNull": ["$body.data.entry.value", "$body.content"]}, "category": {"$ifNull": ["$body.data.entry.category", "$kind"]},
            "visibility": {"$arrayElemAt": ["$readers", 0]}, "sourceAgentId": "$agent", "sourceConversationId": "$thread",
            "accessCount": {"$ifNull": ["$use.count", 0]}, "createdAt": "$date", "updatedAt": _moment("recorded_at")}},
    ]),
}  # fmt: skip
#: The name of a set of views → its views; those of no name are the book's own.
SETS = {
    "": "threads messages episodes memories profiles experience".split(),
    "000": "users agents tasks".split(),
    "002": "short_term_memory episodic_memory semantic_memory".split(),
    "003": ["usermemories"],
}


async def create(book: Transactions, set: str, prefix: str) -> ViewsMade:
    """Make the views of a set that are missing; what else has one of their names is left alone."""
    made: list[str] = []
    there: list[str] = []
    taken: list[str] = []
    try:
        found = {one["name"]: one async for one in await book.db.list_collections()}
        for name in SETS[set]:
            source, stages = VIEWS[name]
            if prefix + name not in found:
                await book.db.create_collection(
                    prefix + name, viewOn=source, pipeline=stages, check_exists=False
                )
                made.append(prefix + name)
            else:
                (there if is_ours(found[prefix + name], name) else taken).append(prefix + name)
    except PyMongoError as exc:
        raise from_server(exc, book.place) from exc
    return ViewsMade(tuple(made), tuple(there), tuple(taken))


def is_ours(listed: Document, name: str) -> bool:
    """True if a listed collection is the view of this name."""
    source, stages = VIEWS[name]
    how = listed.get("options", {})
    return (how.get("viewOn"), how.get("pipeline")) == (source, stages)
