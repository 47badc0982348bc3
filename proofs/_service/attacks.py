"""Requests that ask for what is another's: each as a change of a valid request, with a twin that
names nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from uuid import UUID

from memoranda.book.all_operations import OPERATIONS
from proofs._service.asking import Ask
from proofs._service.forged_words import FORGED, FORGED_HEADERS, LOOK_ALIKES, PATHS
from proofs._service.mcp_attacks import mcp_pair
from proofs._service.own_calls import TRIED, own_call, request_of
from proofs._service.population import (
    AGENT,
    GROUP,
    HIDDEN_AGENT,
    HIDDEN_GROUP,
    NOBODY,
    OWN,
    PERSON,
    VICTIM,
    Population,
)
from proofs._service.rule_attacks import RULE_ATTACKS

#: An agent and a group that do not exist, with names as long as those that do.
_NO_AGENT, _NO_GROUP = "wardem", "circlf"


@dataclass(frozen=True)
class Attack:
    """A request of one credential, what it was meant to reach, and the same for what does not
    exist.
    """

    who: str
    verb: str
    kind: str
    request: Ask
    twin: Ask | None = None
    #: Words of the request, and what stands for them in the twin.
    names: tuple[tuple[str, str], ...] = ()

    @property
    def is_forbidden(self) -> bool:
        """True if a limited credential may not succeed with it, whatever is stored."""
        body, query = self.request.body or {}, dict(self.request.query)
        match self.kind:
            case "spoken" | "audience" | "trust" | "kind_of_owner" | "taught":
                return True
            case "unowned":
                return not OPERATIONS[self.verb].safe and "for_user" not in query
            case "whole":
                beyond = self.who != "person" and bool(
                    body.get("everything") or body.get("backups")
                )
                return beyond or (
                    self.verb in ("admin.usage", "admin.export") and "owner" not in query
                )
        return False

    @property
    def is_due(self) -> bool:
        """True if it must succeed."""
        return self.kind == "unnamed"


#: Who asks, and how often.
_WHO = {
    "editor": 10,
    "viewer": 5,
    "person": 3,
    "rival": 1,
    "stray": 1,
    "expired": 1,
    "revoked": 1,
    "unknown": 1,
}
_Kind = Callable[[Population, Random, str, str], Attack]


def attack(population: Population, rng: Random) -> Attack:
    """Return the next request."""
    who = rng.choices([*_WHO], [*_WHO.values()])[0]
    # MCP is a surface of its own, so that it gets a larger share.
    kinds = [*KINDS, "mcp", "mcp"]
    return KINDS[rng.choice(kinds)](population, rng, who, rng.choice(TRIED))


def _owner(who: str) -> str:
    return {"person": PERSON, "rival": VICTIM}.get(who, OWN)


def _given(population: Population, rng: Random, who: str, verb: str) -> dict[str, Any]:
    owner = _owner(who)
    return own_call(verb, owner, population.owners[owner], rng)


def _own(population: Population, rng: Random, who: str, verb: str) -> Attack:
    return Attack(who, verb, "own", request_of(verb, _given(population, rng, who, verb)))


def _paged(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Read a small page of one's own, whose cursor others then try."""
    verb = rng.choice(("records.list", "thread.messages", "records.ledger"))
    given = _given(population, rng, who, verb) | {"limit": 1}
    return Attack(who, verb, "paged", request_of(verb, given))


def _pair(
    who: str, verb: str, kind: str, given: dict[str, Any], names: dict[str, str], query: Any = ()
) -> Attack:
    """Return the attack with these arguments, and its twin, in which each name is another one."""

    def made(arguments: dict[str, Any]) -> Ask:
        request = request_of(verb, arguments)
        return replace(request, query=(*request.query, *query))

    asked, twin = made(given), made(_renamed(given, names))
    # A request that names nothing of the victim's asks for one's own: asked twice, it may be
    # answered in two ways.
    return Attack(who, verb, kind, asked, None if twin == asked else twin, tuple(names.items()))


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {_renamed(word, names): _renamed(one, names) for word, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def _others_owner(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Name the victim as the owner, with the victim's ids or one's own."""
    if "owner" not in OPERATIONS[verb].in_path and verb not in ("admin.usage", "admin.export"):
        verb = rng.choice(
            ("recall", "records.list", "admin.export", "admin.usage", "records.count")
        )
    source = VICTIM if rng.random() < 0.5 else _owner(who)
    given = own_call(verb, VICTIM, population.owners[source], rng)
    given["owner"] = VICTIM
    return _pair(who, verb, "others_owner", given, {VICTIM: NOBODY})


def _others_ids(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Name the victim's ids under one's own name."""
    owner = _owner(who)
    given = own_call(verb, owner, population.owners[VICTIM], rng)
    if "owner" in given:
        given["owner"] = owner
    if verb in ("remember", "thread.remember", "memories.confirm") and rng.random() < 0.7:
        given["sources"] = [str(population.owners[VICTIM].ids["memory0"])]
    names = {str(one): _nobodys_id(rng) for one in population.secret_ids}
    used = {word: names[word] for word in _texts(given) if word in names}
    return _pair(who, verb, "others_ids", given, {**used, "bobop": "bubop", VICTIM: NOBODY})


def _nobodys_id(rng: Random) -> str:
    """Return the id of no record."""
    drawn = f"{rng.getrandbits(128):032x}"
    return str(UUID(f"01a2{drawn[4:12]}7{drawn[13:16]}8{drawn[17:]}"))


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def _hidden_ids(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Name a record of one's own owner that this credential's agents may not read."""
    verb = rng.choice(
        (
            "records.get",
            "why",
            "records.history",
            "update",
            "memories.amend",
            "memories.retract",
            "forget",
            "memories.share",
            "memories.mark_used",
        )
    )
    given = _given(population, rng, who, verb)
    hidden = rng.choice(sorted(population.secret_ids))
    given |= {"ids": [hidden]} if "ids" in given else {"id": hidden}
    return _pair(who, verb, "hidden_ids", given, {hidden: _nobodys_id(rng)})


def _look_alike(population: Population, rng: Random, who: str, verb: str) -> Attack:
    given = _given(population, rng, who, verb)
    places = [word for word in OPERATIONS[verb].in_path if word in given] or ["agent"]
    given[rng.choice(places)] = rng.choice(LOOK_ALIKES)
    return Attack(who, verb, "look_alike", request_of(verb, given))


def _view(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Ask for everything of an owner."""
    verb = rng.choice(
        (
            "recall",
            "records.list",
            "records.count",
            "records.get",
            "records.ledger",
            "records.readers",
            "items.list",
            "about",
            verb,
        )
    )
    given = _given(population, rng, who, verb) | {"as_owner": True}
    if "agent" not in OPERATIONS[verb].in_path:
        given.pop("agent", None)
    return Attack(who, verb, "view", request_of(verb, given))


def _agent(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Ask as another agent, or about it."""
    verb = rng.choice(
        (
            "recall",
            "records.list",
            "agents.get",
            "agents.limits",
            "experience.list",
            "agents.list",
            verb,
        )
    )
    given = _given(population, rng, who, verb)
    word = "name" if verb.startswith("agents.") else "agent"
    given[word] = HIDDEN_AGENT
    if verb == "agents.list":
        return Attack(who, verb, "agent", request_of(verb, {}))
    return _pair(who, verb, "agent", given, {HIDDEN_AGENT: _NO_AGENT})


def _spoken(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Write messages in the name of another agent."""
    given = _given(population, rng, who, "thread.append")
    given["messages"] = [{"role": "assistant", "content": "forged", "agent": HIDDEN_AGENT}]
    return _pair(who, "thread.append", "spoken", given, {HIDDEN_AGENT: _NO_AGENT})


def _groups(population: Population, rng: Random, who: str, verb: str) -> Attack:
    verb = rng.choice(("recall", "records.list", "items.list", "context", verb))
    given = _given(population, rng, who, verb) | {"agent": AGENT}
    given["groups"] = rng.choice(([HIDDEN_GROUP], [GROUP, HIDDEN_GROUP]))
    return _pair(who, verb, "groups", given, {HIDDEN_GROUP: _NO_GROUP})


def _audience(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Write for readers that this credential may not name."""
    verb = rng.choice(
        (
            "remember",
            "items.put",
            "profiles.put",
            "memories.share",
            "memories.remember_all",
            "episodes.record",
        )
    )
    given = _given(population, rng, who, verb)
    if rng.random() < 0.5:
        # The book itself refuses readers that would leave out who writes.
        given |= {"groups": [GROUP], "audience": {"kind": "group", "groups": [HIDDEN_GROUP, GROUP]}}
    else:
        given["audience"] = {"kind": "self", "agent": HIDDEN_AGENT}
    return _pair(who, verb, "audience", given, {HIDDEN_GROUP: _NO_GROUP, HIDDEN_AGENT: _NO_AGENT})


_OWNED = (
    *(verb for verb in TRIED if "owner" in OPERATIONS[verb].in_path),
    "admin.usage",
    "admin.export",
)
_UNOWNED = tuple(verb for verb in TRIED if "owner" not in OPERATIONS[verb].in_path)


#: Owners that the limited credentials do not open, and ones of the same kind that do not exist.
_STRANGE_OWNERS = (
    ("user", VICTIM, NOBODY),
    ("group", HIDDEN_GROUP, _NO_GROUP),
    ("agent", HIDDEN_AGENT, _NO_AGENT),
    ("agent", AGENT, _NO_AGENT),
    ("tenant", "default", None),
)


def _kind_of_owner(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Name an owner of some kind that the credential does not open."""
    verb = verb if verb in _OWNED and rng.random() < 0.6 else rng.choice(_OWNED)
    return _of_strange(population, rng, who, verb, rng.choice(_STRANGE_OWNERS))


def _of_strange(
    population: Population, rng: Random, who: str, verb: str, owner: tuple[str, str, str | None]
) -> Attack:
    given = _given(population, rng, who, verb)
    kind, name, other = owner
    if rng.random() < 0.5:
        given.pop("agent", None)
        given |= {"as_owner": True} if rng.random() < 0.5 else {}

    def made(named: str) -> Ask:
        # Only the owner's name is another one in the twin: the agent as which it is asked stays.
        request = request_of(verb, {**given, "owner": named})
        return replace(request, query=(*request.query, ("owner_kind", kind)))

    twin = None if other is None else made(other)
    return Attack(
        who, verb, "kind_of_owner", made(name), twin, () if other is None else ((name, other),)
    )


def every_owner(population: Population, rng: Random, who: str) -> Iterator[Attack]:
    """Yield a request of each verb for each kind of owner, and of those without an owner."""
    for verb in _OWNED:
        for owner in _STRANGE_OWNERS:
            yield _of_strange(population, rng, who, verb, owner)
    for verb in _UNOWNED:
        yield _without_owner(population, rng, who, verb)


def _unowned(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Ask a verb without an owner, or for what agents learnt of another user."""
    if rng.random() < 0.1:
        given = own_call("experience.list", VICTIM, population.owners[VICTIM], rng)
        return _pair(who, "experience.list", "unowned", given, {VICTIM: NOBODY})
    return _without_owner(population, rng, who, rng.choice(_UNOWNED))


def _without_owner(population: Population, rng: Random, who: str, verb: str) -> Attack:
    source = VICTIM if rng.random() < 0.5 else _owner(who)
    given = own_call(verb, source, population.owners[source], rng)
    given = {word: value for word, value in given.items() if word not in ("owner", "for_user")}
    return Attack(who, verb, "unowned", request_of(verb, given))


def _whole(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Erase everything, or ask about the whole book."""
    verb = rng.choice(
        (
            "forget",
            "admin.usage",
            "admin.export",
            "forgetting.hide",
            "forgetting.forget_all",
            "form",
        )
    )
    given = _given(population, rng, who, verb)
    if verb == "forget" or verb == "forgetting.forget_all":
        given[rng.choice(("everything", "backups") if verb == "forget" else ("backups",))] = True
        given["dry_run"] = False
        if "everything" in given:
            given.pop("ids", None)
    elif verb in ("admin.usage", "admin.export") and rng.random() < 0.5:
        given.pop("owner")
    return Attack(who, verb, "whole", request_of(verb, given))


def _forged(population: Population, rng: Random, who: str, verb: str) -> Attack:
    request = request_of(verb, _given(population, rng, who, verb))
    if rng.random() < 0.4:
        return Attack(who, verb, "forged", request.with_header(*rng.choice(FORGED_HEADERS)))
    more = rng.choice(FORGED)
    if request.method == "GET" or rng.random() < 0.3:
        pairs = tuple((word, str(value)) for word, value in more.items())
        return Attack(who, verb, "forged", replace(request, query=(*request.query, *pairs)))
    return Attack(who, verb, "forged", replace(request, body={**(request.body or {}), **more}))


def _replayed(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Send the victim's operation id, as a header or in the path."""
    verb = rng.choice(
        ("remember", "thread.append", "items.put", "records.operation", "thread.operation")
    )
    given = _given(population, rng, who, verb)
    if "operation" in given:
        given["operation"] = "bobop"
        return _pair(who, verb, "replayed", given, {"bobop": "bubop"})
    # Another id than above: a write that succeeds makes it the name of one's own operation, which
    # is there for a read.
    return Attack(
        who, verb, "replayed", request_of(verb, given).with_header("Idempotency-Key", "bobputx")
    )


def _path(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Ask by odd paths, and by those of other products."""
    form = rng.choice(PATHS)
    method = rng.choice(("GET", "GET", "DELETE")) if "store/" in form or "gdpr" in form else "GET"
    path, _, query = form.partition("?")
    pairs = ((query, ""),) if query else ()
    there, nowhere = (Ask(method, path.format(name), pairs) for name in (VICTIM, NOBODY))
    twin = nowhere if "{0}" in form else None
    return Attack(who, "", "path", there, twin, ((VICTIM, NOBODY),))


def _store(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Ask by the routes of LangGraph's and EDDI's clients."""

    def made(name: str, id: str) -> Ask:
        place = [name, "notes"]
        return (
            Ask("GET", "/store/items", (("namespace", f"{name}.notes"), ("key", "x"))),
            Ask("PUT", "/store/items", body={"namespace": place, "key": "x", "value": {"a": 1}}),
            Ask("DELETE", "/store/items", body={"namespace": place, "key": "x"}),
            Ask("POST", "/store/items/search", body={"namespace_prefix": [name], "query": "tea"}),
            Ask("POST", "/store/namespaces", body={"prefix": [name]}),
            Ask(
                "PUT", "/usermemorystore/memories", body={"userId": name, "key": "k", "value": "v"}
            ),
            Ask("DELETE", f"/usermemorystore/memories/entry/{id}"),
            Ask("POST", f"/propertiesstore/properties/{name}", body={"a": 1}),
            Ask("PUT", f"/api/users/{name}", body={"name": "forged"}),
            Ask("POST", f"/api/users/{name}/memories", body=_FORGED_MEMORY),
            Ask("POST", f"/api/users/{name}/experience/generate", body=_FORGED_HISTORY),
            Ask("POST", "/api/tasks/", (("user_id", name), ("agent_name", AGENT))),
        )[number]

    number = rng.randrange(12)
    id, other = str(population.owners[VICTIM].ids["memory2"]), _nobodys_id(rng)
    return Attack(
        who, "", "store", made(VICTIM, id), made(NOBODY, other), ((VICTIM, NOBODY), (id, other))
    )


def _tasks(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Begin a task of one's own, whose id others then try."""
    query = (("user_id", _owner(who)), ("agent_name", AGENT))
    return Attack(who, "thread", "tasks", Ask("POST", "/api/tasks/", query))


def _hidden_agent(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Name an agent that this credential may not, or teach one that serves all users."""

    def made(name: str) -> Ask:
        of_agent = f"/api/agents/{name}"
        return (
            Ask("GET", of_agent),
            Ask("POST", f"{of_agent}/experience", body=_LINE),
            Ask("POST", f"{of_agent}/experience/generate", body=_FORGED_HISTORY),
            Ask("POST", "/api/tasks/", (("user_id", _owner(who)), ("agent_name", name))),
        )[number]

    number = rng.randrange(4)
    names = ((HIDDEN_AGENT, _NO_AGENT),)
    return Attack(who, "", "hidden_agent", made(HIDDEN_AGENT), made(_NO_AGENT), names)


def _taught(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Teach an agent, which serves all users, together with what is stored of one's own."""
    given = _given(population, rng, who, "records.save")
    line = {"field": "heuristics", "line": f"forged {rng.getrandbits(40):x}"}
    given |= {"experience": [line]}
    return Attack(who, "records.save", "taught", request_of("records.save", given))


_LINE = {"field": "heuristics", "value": "forged"}
_FORGED_HISTORY = {"message_history": ["I live in Lyon."]}
_FORGED_MEMORY = {"context": "", "category": "fact", "content": "forged"}


def _mcp(population: Population, rng: Random, who: str, verb: str) -> Attack:
    """Name the victim to the tools, resources and prompts of MCP."""
    there, nowhere, verb, names = mcp_pair(
        rng, _owner(who), population.owners[VICTIM], _nobodys_id(rng)
    )
    twin = None if nowhere == there else nowhere
    return Attack(who, verb, "mcp", there, twin, tuple(names.items()))


def _written(kind: str, make: Callable[[Population, Random], tuple[str, str, Ask]]) -> _Kind:
    """Return the kind of attacks that one function writes, whoever was to ask."""

    def attack(population: Population, rng: Random, _who: str, _verb: str) -> Attack:
        who, verb, request = make(population, rng)
        return Attack(who, verb, kind, request)

    return attack


KINDS: dict[str, _Kind] = {
    "own": _own,
    "paged": _paged,
    "others_owner": _others_owner,
    "others_ids": _others_ids,
    "hidden_ids": _hidden_ids,
    "look_alike": _look_alike,
    "view": _view,
    "agent": _agent,
    "spoken": _spoken,
    "groups": _groups,
    "audience": _audience,
    "kind_of_owner": _kind_of_owner,
    "unowned": _unowned,
    **{kind: _written(kind, make) for kind, make in RULE_ATTACKS.items()},
    "whole": _whole,
    "forged": _forged,
    "replayed": _replayed,
    "path": _path,
    "store": _store,
    "tasks": _tasks,
    "hidden_agent": _hidden_agent,
    "taught": _taught,
    "mcp": _mcp,
}
