"""Routes over users, agents and tasks, for clients of an agent with PydanticAI and MongoDB."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple, get_args

from fastapi import APIRouter, Request
from fastapi.responses import Response

from memoranda.access.guard import Guard
from memoranda.access.sealing import sealed, unsealed
from memoranda.compatible.langgraph_routes import answer_error
from memoranda.compatible.operations import (
    TEXT,
    TEXTS,
    Schema,
    Unreadable,
    described,
    guard_of,
    json_answer,
    json_body,
    object_of,
    route_class,
)
from memoranda.errors import InvalidInput, NotFound
from memoranda.model.experience_lines import ExperienceField
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, TaskSummary
from memoranda.model.records import Owner, OwnerKind
from memoranda.model.values import new_id

#: The field of experience that is one text; the others are lists.
_TEXT_FIELD: Final = "procedural_knowledge"
_EMPTY: Final[Mapping[str, Any]] = {
    "name": "",
    "age": None,
    "interests": [],
    "home": "",
    "occupation": "",
    "conversation_preferences": [],
}
#: Fields of a profile that memories with these keys hold: they are no memories of the user's list.
_HELD: Final = frozenset({"name", "age", "home", "occupation"})
_KINDS: Final = frozenset({"preference", "fact", "instruction", "context", "experience", "note"})
#: Of so many messages, or fewer, a task has no summary.
_TOO_SHORT: Final = 10
_PAGE: Final = 1000
_ROLES: Final = {"system": "system", "user": "user", "ai": "assistant"}
_PARTS: Final = {"system": "system-prompt", "user": "user-prompt", "assistant": "text"}


class _Call(NamedTuple):
    """One request."""

    guard: Guard
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]

    def given(self, name: str) -> Any:
        """Return a value of the query or of the body; raise InvalidInput if it is missing."""
        found = self.query.get(name, self.body.get(name))
        if found is None:
            raise InvalidInput(f"{name}: it is missing", field=name)
        return found

    async def all(self, verb: str, **about: Any) -> list[Any]:
        """Return all records of a list."""
        page = await self.guard.call(verb, limit=_PAGE, **about)
        found = list(page)
        while page.cursor is not None:
            page = await self.guard.call(verb, limit=_PAGE, cursor=page.cursor, **about)
            found += page
        return found

    async def known_user(self) -> str:
        """Return the user of the request; raise NotFound if nothing is stored of them."""
        user: str = self.path.get("user_id") or self.given("user_id")
        if not await self.guard.call("records.count", owner=user):
            raise NotFound("User not found")
        return user

    async def known_agent(self) -> Any:
        """Return the agent of the request; raise NotFound if there is none."""
        name = self.path.get("name") or self.given("agent_name")
        found = await self.guard.call("agents.get", name=name)
        if found is None:
            raise NotFound("Agent not found")
        return found

    def task(self) -> dict[str, Any]:
        """Return the arguments that name the task of the request."""
        text = unsealed(self.guard.principal, "task", None, self.path["task_id"])
        if text is None:
            raise NotFound("Task not found")
        return dict(zip(("owner", "agent", "thread"), json.loads(text), strict=True))


# ── users ─────────────────────────────────────────────────────────────────────────────────────────


async def _user(on: _Call, user: str) -> dict[str, Any]:
    memories: list[Memory] = await on.all(
        "records.list", owner=user, types="memory", only={"statuses": "active"}
    )
    return {
        "_id": user,
        "profile": {**_EMPTY, **await on.guard.call("profiles.get", owner=user)},
        "memories": [
            {
                "id": str(one.id),
                "created_at": _moment(one.observed_at),
                "context": one.applies_when,
                "category": one.tags[0] if one.tags and one.kind == "fact" else one.kind,
                "content": one.content,
            }
            for one in memories
            if one.key not in _HELD
        ],
    }


async def _make_user(on: _Call) -> Any:
    """Begin a user, with a profile if one is given."""
    principal = on.guard.principal
    only = {principal.person} if principal.person else principal.owners
    # A credential of one user begins that one.
    user = next(iter(only)) if only and len(only) == 1 else new_id().hex
    await on.guard.call("profiles.patch", owner=user, set=on.body, audience="global")
    return await _user(on, user)


async def _get_user(on: _Call) -> Any:
    """Get a user: the profile and the memories that all agents read."""
    return await _user(on, await on.known_user())


async def _put_profile(on: _Call) -> Any:
    """Replace a user's profile."""
    user = await on.known_user()
    await on.guard.call("profiles.put", owner=user, body=on.body, audience="global")
    return await _user(on, user)


async def _add_memory(on: _Call) -> Any:
    """Store a memory of a user that all agents read; it supersedes those that it names."""
    user, category = await on.known_user(), str(on.given("category"))
    kind = {"kind": category} if category in _KINDS else {"kind": "fact", "tags": [category]}
    await on.guard.call(
        "remember",
        owner=user,
        content=on.given("content"),
        applies_when=on.given("context"),
        supersedes=on.body.get("superseded_ids") or [],
        audience="global",
        **kind,
    )
    return await _user(on, user)


# ── agents ────────────────────────────────────────────────────────────────────────────────────────


async def _agent(on: _Call, agent: Any) -> dict[str, Any]:
    lines = await on.guard.call("experience.list", agent=agent.name)
    by_field: dict[str, Any] = {field: [] for field in get_args(ExperienceField)}
    for one in lines:
        by_field[one.field].append(one.line)
    by_field[_TEXT_FIELD] = "\n".join(by_field[_TEXT_FIELD])
    named = {one: getattr(agent, one) for one in ("name", "model", "description", "system_prompt")}
    return {"_id": str(agent.id), **named, "experience": by_field}


def _learnt(given: Any) -> list[tuple[str, str]]:
    """Return the lines of an experience, each with its field; raise InvalidInput for another form,
    before anything is stored.
    """
    known = get_args(ExperienceField)
    if not isinstance(given, Mapping) or any(field not in known for field in given):
        raise InvalidInput(
            f"experience: give an object with these fields: {', '.join(known)}", field="experience"
        )
    found = []
    for field, told in given.items():
        lines = [told] if isinstance(told, str) else told
        if not (isinstance(lines, list) and all(isinstance(line, str) for line in lines)):
            raise InvalidInput(
                f"experience.{field}: give a text, or a list of texts", field=f"experience.{field}"
            )
        found += [(field, line) for line in lines if line]
    return found


async def _make_agent(on: _Call) -> Any:
    """Store an agent, with the experience that is given."""
    name, fields = on.given("name"), dict(on.body)
    learnt = _learnt(fields.pop("experience", None) or {})
    del fields["name"]
    await on.guard.call("agents.put", **{**fields, "name": name, "new": True})
    for field, line in learnt:
        await on.guard.call("experience.add", agent=name, field=field, line=line)
    return await _agent(on, await on.guard.call("agents.get", name=name))


async def _get_agent(on: _Call) -> Any:
    """Get an agent with its experience."""
    return await _agent(on, await on.known_agent())


async def _add_experience(on: _Call) -> Any:
    """Add a line to an agent's experience."""
    agent = await on.known_agent()
    line = {"field": on.given("field"), "line": on.given("value")}
    await on.guard.call("experience.add", agent=agent.name, **line)
    return await _agent(on, agent)


# ── tasks ─────────────────────────────────────────────────────────────────────────────────────────


async def _task(on: _Call, of: Mapping[str, Any]) -> dict[str, Any]:
    thread = await on.guard.call("thread.get", **of)
    said: list[Message] = await on.all("thread.messages", **of)
    text = json.dumps([of["owner"], of["agent"], str(of["thread"])])
    return {
        "_id": sealed(on.guard.principal, "task", None, text),
        "user": {"id": of["owner"], "collection": "users"},
        "agent": {"id": of["agent"], "collection": "agents"},
        "status": str(thread.status),
        "message_history": list(map(_model_message, said)),
        "intermediate_results": thread.state,
        "result": thread.result,
        "created_at": _moment(thread.started_at),
        "updated_at": _moment(max([thread.recorded_at, *(one.recorded_at for one in said)])),
    }


async def _begin_task(on: _Call) -> Any:
    """Begin a task of a user with an agent."""
    of = {"owner": await on.known_user(), "agent": (await on.known_agent()).name}
    thread = await on.guard.call("thread", status="created", **of)
    return await _task(on, {**of, "thread": thread.id})


async def _get_task(on: _Call) -> Any:
    """Get a task with its messages."""
    return await _task(on, on.task())


async def _say(on: _Call, messages: list[dict[str, Any]]) -> Any:
    of = on.task()
    await on.guard.call("thread.append", role_or_messages=messages, **of)
    return await _task(on, of)


async def _add_message(on: _Call) -> Any:
    """Add a message to a task."""
    return await _say(on, [_message(on.given("content"), on.body.get("role", "user"))])


async def _add_feedback(on: _Call) -> Any:
    """Add what the agent said, what the user answered, and what the agent said then."""
    said = [(on.given("ai_content"), "ai"), (on.given("user_feedback"), "user")]
    said += [(on.body["ai_response"], "ai")] if on.body.get("ai_response") else []
    return await _say(on, [_message(*one) for one in said])


async def _set_status(on: _Call) -> Any:
    """Set the status of a task; one that has ended is formed."""
    of = on.task()
    await on.guard.call("thread.set", status=on.given("status"), **of)
    return await _task(on, of)


async def _summarise(on: _Call) -> Any:
    """Summarise a task by the language model; empty for ten messages or fewer."""
    of = on.task()
    if len(await on.all("thread.messages", **of)) <= _TOO_SHORT:
        return ""
    made: TaskSummary = await on.guard.call("thread.summarise", **of)
    lists = {"main_points": made.main_points, "takeaways": made.takeaways}
    blocks = {
        "summary": made.summary,
        **{
            name: "\n".join(f"{n}. {one}" for n, one in enumerate(found, 1))
            for name, found in lists.items()
        },
    }
    return "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in blocks.items())


# ── from a history ────────────────────────────────────────────────────────────────────────────────


async def _form(on: _Call, owner: str | Owner, **who: Any) -> dict[str, Any]:
    """Form a history as a conversation of its own, once however often it is sent; tell who formed
    it.
    """
    given = on.given("message_history")
    if not isinstance(given, list):
        raise InvalidInput("message_history: give a list of messages", field="message_history")
    if messages := [_message(one, "user") for one in given]:
        name = "history " + sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
        thread = await on.guard.call("thread", owner=owner, name=name, audience="global", **who)
        of = {"owner": owner, "thread": thread.id, **who}
        await on.guard.call("thread.append", role_or_messages=messages, operation=name, **of)
        await on.guard.call("thread.form", **of)
    return {"generated_by": "model" if on.guard.book.forms_by_model else "rules"}


async def _learn_user(on: _Call) -> Any:
    """Form a history into a user's profile and memories, and tell whether a model or rules did."""
    user = await on.known_user()
    return {**await _form(on, user), **await _user(on, user)}


async def _learn_agent(on: _Call) -> Any:
    """Form a history into an agent's experience, and tell whether a model did; rules learn none."""
    agent = await on.known_agent()
    owner = Owner(tenant=on.guard.book.tenant, kind=OwnerKind.AGENT, id=agent.name)
    return {**await _form(on, owner, agent=agent.name), **await _agent(on, agent)}


# ── messages ──────────────────────────────────────────────────────────────────────────────────────


def _message(given: Any, role: str) -> dict[str, Any]:
    """Return a message for the book of a text, or of a message of PydanticAI, which is kept."""
    if not isinstance(role, str) or role not in _ROLES:
        raise InvalidInput(f"role: {role!r} is none of {', '.join(_ROLES)}", field="role")
    if not isinstance(given, Mapping):
        return {"role": _ROLES[role], "content": given}
    parts = given.get("parts") or []
    if not (isinstance(parts, list) and all(isinstance(one, Mapping) for one in parts)):
        raise InvalidInput("parts: give a list of a message's parts", field="parts")
    sorts = [one.get("part_kind") for one in parts]
    said = "\n".join(str(one["content"]) for one in parts if one.get("content"))
    if given.get("kind") == "response":
        role = "assistant"
    elif "user-prompt" in sorts:
        role = "user"
    else:
        role = "system" if "system-prompt" in sorts else "tool"
    return {"role": role, "content": said or "(no text)", "native": dict(given)}


def _model_message(said: Message) -> Any:
    """Return a message as PydanticAI has it."""
    if isinstance(said.native, Mapping) and "parts" in said.native:
        return said.native
    part = {"part_kind": _PARTS.get(said.role, "user-prompt"), "content": said.content}
    if said.role == "assistant":
        return {"kind": "response", "parts": [part], "timestamp": _moment(said.observed_at)}
    return {"kind": "request", "parts": [{**part, "timestamp": _moment(said.observed_at)}]}


def _moment(at: Any) -> str:
    return str(at.isoformat().replace("+00:00", "Z"))


# ── routes ────────────────────────────────────────────────────────────────────────────────────────

_Answering = Callable[[_Call], Coroutine[Any, Any, Any]]
_OBJECT: Final[Schema] = {"type": "object"}
_HISTORY: Final[Schema] = {"type": "array", "items": _OBJECT}
_CONTENT: Final[Schema] = {"anyOf": [TEXT, _OBJECT]}


def _body(needed: Mapping[str, Schema], **more: Schema) -> Schema:
    return object_of({**needed, **more}, *needed)


_MEMORY: Final = _body(
    dict.fromkeys(("context", "category", "content"), TEXT), superseded_ids=TEXTS
)
_AGENT: Final = _body(
    {"name": TEXT}, model=TEXT, description=TEXT, system_prompt=TEXT, experience=_OBJECT
)
_LEARNT: Final = _body({"message_history": _HISTORY}, agent_name=TEXT)
_LINE: Final = _body({"field": TEXT, "value": TEXT})
_SAID: Final = _body({"content": _CONTENT}, role=TEXT)
_FEEDBACK: Final = _body({"ai_content": TEXT, "user_feedback": TEXT}, ai_response=TEXT)
#: Each route: its method and path, what answers it, its body, and the names in its query.
_ROUTES: Final[tuple[tuple[str, _Answering, Schema | None, str], ...]] = (
    ("POST /users/", _make_user, _OBJECT, ""),
    ("GET /users/{user_id}", _get_user, None, ""),
    ("PUT /users/{user_id}", _put_profile, _OBJECT, ""),
    ("POST /users/{user_id}/memories", _add_memory, _MEMORY, ""),
    ("POST /users/{user_id}/experience/generate", _learn_user, _LEARNT, ""),
    ("POST /agents/", _make_agent, _AGENT, ""),
    ("GET /agents/{name}", _get_agent, None, ""),
    ("POST /agents/{name}/experience", _add_experience, _LINE, ""),
    ("POST /agents/{name}/experience/generate", _learn_agent, _LEARNT, ""),
    ("POST /tasks/", _begin_task, None, "user_id agent_name"),
    ("GET /tasks/{task_id}", _get_task, None, ""),
    ("POST /tasks/{task_id}/message", _add_message, _SAID, ""),
    ("POST /tasks/{task_id}/feedback", _add_feedback, _FEEDBACK, ""),
    ("PUT /tasks/{task_id}/status", _set_status, None, "status"),
    ("GET /tasks/{task_id}/summary", _summarise, None, ""),
)


def _endpoint(answering: _Answering) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            body = await json_body(request)
        except Unreadable as exc:
            raise InvalidInput(str(exc)) from None
        if not isinstance(body, dict | None):
            raise InvalidInput("the body is no JSON object")
        call = _Call(guard_of(request), request.path_params, request.query_params, body or {})
        return json_answer(await answering(call))

    endpoint.__doc__ = answering.__doc__
    return endpoint


knowledge_routes = APIRouter(
    prefix="/api", tags=["knowledge"], route_class=route_class(answer_error)
)
for _route, _answering, _taken, _query in _ROUTES:
    _method, _, _path = _route.partition(" ")
    _told = described(
        f"knowledge{_answering.__name__}",
        answers={200: TEXT if _answering is _summarise else _OBJECT},
        path=[part[1:-1] for part in _path.split("/") if part.startswith("{")],
        query=dict.fromkeys(_query.split(), TEXT),
        body=_taken,
        failure=object_of({"detail": TEXT}),
        writes=_method != "GET",
    )
    # The documentation writes a collection without a slash at the end, and clients do either.
    for _written in dict.fromkeys((_path, _path.rstrip("/"))):
        knowledge_routes.add_api_route(
            _written,
            _endpoint(_answering),
            methods=[_method],
            include_in_schema=_written == _path,
            **_told,
        )
