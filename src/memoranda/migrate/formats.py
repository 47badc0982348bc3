"""The documents of other programs, each as writes of a book."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memoranda.migrate.sources import moment

Doc = Mapping[str, Any]
EXPERIENCE = (
    "procedural_knowledge common_scenarios effective_strategies known_pitfalls tool_patterns heuristics user_feedback "
    "improvement_areas"
).split()  # fmt: skip
#: The text of a message that has none, such as one that only calls a tool.
NOTHING_SAID = "(…)"
KINDS = ("preference", "fact", "instruction", "context", "experience")


@dataclass(frozen=True)
class Move:
    """One write of the book, from one document or a part of it."""

    #: Names the document, and the part.
    key: str
    #: A verb of the book, such as ``memories.remember``; a ``thread`` is opened, and gets its
    #: messages.
    verb: str
    #: The user, or the agent, whose it is.
    whose: str
    fields: dict[str, Any]
    messages: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Left:
    """A document, or a part of it, that is left out."""

    key: str
    why: str


@dataclass(frozen=True)
class Format:
    """What a program stores: its collections in the order in which they are read, and the fields
    that are understood.
    """

    collections: dict[str, str]
    moves: Callable[[str, Doc, dict[Any, Any]], Iterator[Move | Left]]
    #: The collection's name after everything arrived, where it may be renamed.
    renamed: str = ""


def _id(value: Any) -> str:
    """Return the id of a document, or of the one to which a value refers."""
    if isinstance(value, Mapping):
        return _id(value.get("$id") or value.get("_id") or value.get("id") or "")
    return "" if value is None else str(value)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def _kind(category: Any) -> dict[str, Any]:
    """Return the kind of a memory; a category that is none becomes its tag."""
    told = str(category or "fact")
    return {"kind": told} if told in KINDS else {"kind": "fact", "tags": [told]}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# ── EDDI ──────────────────────────────────────────────────────────────────────────────────────────


#: The reader of an entry that names none, as for those routes: nobody but the user.
_NO_AGENT = "(no agent)"


def _entry(key: str, user: str, entry: dict[str, Any], created: Any) -> Move:
    """Return an entry in the form in which the routes of EDDI read it."""
    visibility, agent = entry["visibility"], entry["agent"]
    audience = (
        visibility
        if visibility == "global" or (visibility == "group" and entry["groups"])
        else "self"
    )
    category = (
        entry["category"] if entry["category"] in ("preference", "fact", "context") else "fact"
    )
    at = moment(created)
    held = {
        **entry,
        **_given(created_at=at and at.isoformat(timespec="microseconds").replace("+00:00", "Z")),
    }
    fields = _given(
        content=f"{entry['key']}: {_text(entry['value'])[:800]}".strip(), kind=category, data={"entry": held}, key=entry["key"],
        agent=agent if audience == "global" else agent or _NO_AGENT, groups=entry["groups"], observed_at=at,
    )  # fmt: skip
    return Move(key, "memories.remember", user, {**fields, "audience": audience})


def _properties(_: str, doc: Doc, __: dict[str, Any]) -> Iterator[Move | Left]:
    at, user = _id(doc.get("_id")), doc.get("userId")
    if not isinstance(user, str) or not user.strip():
        yield Left(at, "it has no userId")
        return
    inner = doc.get("properties")
    flat = (
        inner
        if isinstance(inner, Mapping)
        else {name: value for name, value in doc.items() if name not in ("_id", "userId")}
    )
    for name, value in flat.items():
        entry = {
            "key": name,
            "value": value,
            "category": "legacy",
            "visibility": "global",
            "agent": None,
            "groups": [],
            "conversation": None,
        }
        yield _entry(f"{at}/{name}", user, entry, None)


def _usermemories(_: str, doc: Doc, __: dict[str, Any]) -> Iterator[Move | Left]:
    at, user, name = _id(doc.get("_id") or doc.get("id")), doc.get("userId"), doc.get("key")
    if (
        not isinstance(user, str)
        or not user.strip()
        or not isinstance(name, str)
        or not name.strip()
    ):
        yield Left(at, "it has no userId, or no key")
        return
    entry = {
        "key": name.strip(), "value": doc.get("value"), "category": doc.get("category"), "visibility": doc.get("visibility") or "self",
        "agent": doc.get("sourceAgentId") or None, "groups": list(doc.get("groupIds") or ()),
        "conversation": doc.get("sourceConversationId") or None,
    }  # fmt: skip
    yield _entry(at, user, entry, doc.get("createdAt"))


# ── users, agents and tasks ───────────────────────────────────────────────────────────────────────


def _beanie(collection: str, doc: Doc, known: dict[Any, Any]) -> Iterator[Move | Left]:
    yield from {"agents": _agent, "users": _user, "tasks": _task}[collection](doc, known)


def _agent(doc: Doc, known: dict[Any, Any]) -> Iterator[Move | Left]:
    at, name = _id(doc.get("_id")), str(doc.get("name") or "")
    if not name:
        yield Left(at, "it has no name")
        return
    known[at] = name
    yield Move(
        at,
        "agents.put",
        name,
        _given(**{one: doc.get(one) for one in ("model", "description", "system_prompt")}),
    )
    for heading in EXPERIENCE:
        told = (doc.get("experience") or {}).get(heading) or []
        for place, line in enumerate([told] if isinstance(told, str) else told):
            yield Move(
                f"{at}/{heading}/{place}",
                "experience.add",
                name,
                {"field": heading, "line": str(line)},
            )


def _user(doc: Doc, _: dict[str, Any]) -> Iterator[Move | Left]:
    user = _id(doc.get("_id"))
    profile = _given(**(doc.get("profile") or {}))
    if profile:
        yield Move(
            f"{user}/profile", "profiles.patch", user, {"set": profile, "audience": "global"}
        )
    there: set[str] = set()
    for one in sorted(doc.get("memories") or (), key=lambda one: str(one.get("created_at"))):
        own = f"beanie:{_id(one.get('id'))}"
        replaced = [
            f"beanie:{_id(old)}"
            for old in one.get("superseded_ids") or ()
            if f"beanie:{_id(old)}" in there
        ]
        fields = _given(
            content=one.get("content"), applies_when=one.get("context"), observed_at=moment(one.get("created_at")), supersedes=replaced,
            **_kind(one.get("category")),
        )  # fmt: skip
        there.add(own)
        yield Move(
            f"{user}/{own}",
            "memories.remember",
            user,
            {**fields, "external_id": own, "audience": "global"},
        )


def _task(doc: Doc, known: dict[Any, Any]) -> Iterator[Move | Left]:
    at, user, named = _id(doc.get("_id")), _id(doc.get("user")), doc.get("agent")
    agent = (
        str(named["name"])
        if isinstance(named, Mapping) and "name" in named
        else known.get(_id(named), _id(named))
    )
    if not user:
        yield Left(at, "it names no user")
        return
    messages = [
        _model_message(one, f"{at}/{place}", moment(doc.get("created_at")))
        for place, one in enumerate(doc.get("message_history") or ())
    ]
    yield Move(
        f"task {at}",
        "thread",
        user,
        _given(name=at, agent=agent, status=doc.get("status")),
        messages,
    )


def _model_message(one: Doc, of: str, created: Any) -> dict[str, Any]:
    """Return a message of PydanticAI, in the form that its adapter reads back."""
    parts = [part for part in one.get("parts") or () if isinstance(part, Mapping)]
    sorts = [str(part.get("part_kind")) for part in parts]
    role = "assistant" if one.get("kind") == "response" else "user"
    if role == "user" and "user-prompt" not in sorts:
        role = "system" if "system-prompt" in sorts else "tool"
    texts = [
        _text(part["content"])
        for part in parts
        if part.get("content") and part.get("part_kind") != "thinking"
    ]
    at = moment(one.get("timestamp")) or next(
        (found for part in parts if (found := moment(part.get("timestamp")))), created
    )
    native = {"pydantic_ai": _json(one), "of": of}
    return _given(
        role=role, content="\n".join(texts) or NOTHING_SAID, observed_at=at, native=native
    )


def _json(value: Any) -> Any:
    return json.loads(
        json.dumps(
            value,
            ensure_ascii=False,
            default=lambda one: one.isoformat() if hasattr(one, "isoformat") else str(one),
        )
    )


# ── three collections of an agent's memory ────────────────────────────────────────────────────────


def _agent_memory(collection: str, doc: Doc, known: dict[Any, Any]) -> Iterator[Move | Left]:
    names = {
        "short_term_memory": "thread_id",
        "episodic_memory": "episode_id",
        "semantic_memory": "memory_id",
    }
    at, user = _id(doc.get(names[collection])) or _id(doc.get("_id")), _id(doc.get("user_id"))
    if not user:
        yield Left(at, "it has no user_id")
        return
    # An id names one record in a book; here each collection has its own ids.
    taken = any((other, at) in known for other in names if other != collection)
    own = known[collection, at] = f"{collection}:{at}" if taken else at
    if collection == "short_term_memory":
        messages = [
            _given(
                role=one.get("role"),
                content=_text(one.get("content") or "") or NOTHING_SAID,
                observed_at=moment(one.get("timestamp") or one.get("created_at") or one.get("at")),
            )
            for one in doc.get("messages") or ()
        ]
        yield Move(
            at,
            "thread",
            user,
            _given(name=own, expires_at=moment(doc.get("expires_at")), agent=doc.get("agent_id")),
            messages,
        )
    elif collection == "episodic_memory":
        calls = [
            _json(
                {
                    name: one.get(name)
                    for name in ("tool", "inputs", "output", "success", "called_at")
                    if name in one
                }
            )
            for one in doc.get("tool_calls") or ()
        ]
        thread = known.get(("short_term_memory", _id(doc.get("thread_id"))))
        fields = _given(
            summary=doc.get("summary"), outcome=doc.get("outcome"), tags=doc.get("tags"), tool_calls=calls,
            started_at=moment(doc.get("started_at")), ended_at=moment(doc.get("ended_at")), external_id=own,
            thread=thread,
        )  # fmt: skip
        yield Move(at, "episodes.record", user, {**fields, "audience": "global"})
    else:
        episode = known.get(("episodic_memory", _id(doc.get("source_episode_id"))))
        fields = _given(
            content=doc.get("content"), observed_at=moment(doc.get("created_at")), external_id=own,
            sources=[episode] if episode else None, **_kind(doc.get("type")),
        )  # fmt: skip
        yield Move(at, "memories.remember", user, {**fields, "audience": "global"})


# ── items of LangGraph's store ────────────────────────────────────────────────────────────────────


def _langgraph(_: str, doc: Doc, known: dict[Any, Any]) -> Iterator[Move | Left]:
    given, name, position = (
        doc.get("namespace") or doc.get("prefix"),
        doc.get("key"),
        known["owner_at"],
    )
    namespace = given.split(".") if isinstance(given, str) else list(given or ())
    at = f"{'.'.join(namespace)}/{name}"
    if len(namespace) <= position or not isinstance(name, str):
        yield Left(
            at, f"its namespace has no label at {position} to be the owner, or it has no key"
        )
        return
    yield Move(
        at,
        "items.put",
        namespace[position],
        {
            "namespace": namespace,
            "name": name,
            "value": _json(doc.get("value")),
            "audience": "global",
        },
    )


#: A format's name → what it reads.
FORMATS = {
    "eddi-properties": Format({"properties": "*"}, _properties, "properties_migrated_v6"),
    "eddi": Format(
        {
            "usermemories": "_id id userId key value category visibility sourceAgentId groupIds sourceConversationId createdAt updatedAt"
        },
        _usermemories,
    ),
    "beanie": Format(
        {
            "agents": "_id name model description system_prompt experience",
            "users": "_id profile memories",
            "tasks": "_id user agent status message_history created_at",
        },
        _beanie,
    ),
    "agent-memory": Format(
        {
            "short_term_memory": "_id thread_id user_id messages expires_at created_at agent_id",
            "episodic_memory": "_id episode_id thread_id user_id summary tool_calls outcome tags started_at ended_at",
            "semantic_memory": "_id memory_id user_id type content source_episode_id created_at",
        },
        _agent_memory,
    ),
    "langgraph": Format(
        {"items": "_id namespace prefix key value", "store": "_id namespace prefix key value"},
        _langgraph,
    ),
}
