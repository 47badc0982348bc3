"""Valid requests: every verb of the table with arguments that name things of one owner."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any
from uuid import uuid4

from memoranda.book.all_operations import OPERATIONS
from memoranda.wire.routes import path_of
from proofs._service.asking import Ask
from proofs._service.population import AGENT, Own

#: Verbs whose arguments say who reads.
_READER = {"agent": AGENT}
#: A verb of an administrator that would end the world of this proof.
UNTRIED = frozenset({"admin.import_", "keys.revoke", "keys.rotate"})


def own_call(name: str, owner: str, own: Own, rng: Random) -> dict[str, Any]:
    """Return the arguments with which a verb succeeds about this owner's own things."""
    verb = OPERATIONS[name]
    ids = {word: str(id) for word, id in own.ids.items()}
    memory = ids[f"memory{rng.randrange(6)}"]
    given: dict[str, Any] = {}
    if "owner" in verb.in_path:
        given["owner"] = owner
        if not name.startswith(("experience", "agents")):
            given |= _READER
    if verb.of_thread:
        given["thread"] = ids["thread"]
    make = _ARGUMENTS.get(name)
    return given | (make(ids, memory, rng) if make else {})


def request_of(name: str, given: Mapping[str, Any]) -> Ask:
    """Return the request for a verb with these arguments."""
    verb = OPERATIONS[name]
    path = path_of(verb, given)
    rest = {word: value for word, value in given.items() if word not in verb.in_path}
    if verb.method != "GET":
        return Ask(verb.method, path, body=rest)
    return Ask("GET", path, query=tuple(_pairs(rest)))


def _pairs(rest: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for word, value in rest.items():
        for one in value if isinstance(value, list) else [value]:
            found.append((word, one if isinstance(one, str) else json.dumps(one)))
    return found


def _text(rng: Random) -> str:
    return f"a statement {rng.getrandbits(40):x}"


_Make = Callable[[Mapping[str, str], str, Random], dict[str, Any]]
_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
_ARGUMENTS: dict[str, _Make] = {
    "thread": lambda ids, memory, rng: {"name": _text(rng)},
    "thread.set": lambda ids, memory, rng: {"title": _text(rng)},
    "thread.append": lambda ids, memory, rng: {
        "messages": [{"role": "user", "content": _text(rng)}]
    },
    "thread.messages": lambda ids, memory, rng: {"limit": rng.choice([1, 10])},
    "thread.window": lambda ids, memory, rng: {"budget": 500},
    "thread.feedback": lambda ids, memory, rng: {"text": "good", "rating": 1},
    "thread.remember": lambda ids, memory, rng: {"content": _text(rng)},
    "thread.operation": lambda ids, memory, rng: {"operation": ids["operation"]},
    "thread.schedule": lambda ids, memory, rng: {"after": 3600},
    "remember": lambda ids, memory, rng: {"content": _text(rng)},
    "memories.remember_all": lambda ids, memory, rng: {"statements": [{"content": _text(rng)}]},
    "memories.mark_used": lambda ids, memory, rng: {"ids": [memory]},
    "update": lambda ids, memory, rng: {"id": memory, "content": _text(rng)},
    "memories.amend": lambda ids, memory, rng: {"id": memory, "fields": {"tags": ["t"]}},
    "memories.retract": lambda ids, memory, rng: {"id": memory},
    "memories.confirm": lambda ids, memory, rng: {"id": memory},
    "memories.restore": lambda ids, memory, rng: {"id": memory},
    "dreams.run": lambda ids, memory, rng: {"dry_run": rng.random() < 0.5},
    "memories.share": lambda ids, memory, rng: {
        "id": memory,
        "audience": {"kind": "self", "agent": AGENT},
    },
    "memories.supersede": lambda ids, memory, rng: {
        "loser": ids["memory0"],
        "winner": ids["memory1"],
    },
    "memories.retract_source": lambda ids, memory, rng: {"source": ids["message"], "dry_run": True},
    "undo": lambda ids, memory, rng: {"position": 6},
    "recall": lambda ids, memory, rng: {"query": "who likes tea?", "explain": rng.random() < 0.3},
    "context": lambda ids, memory, rng: {"query": "who likes tea?", "budget": 500},
    "records.save": lambda ids, memory, rng: {
        "profile": {"interests": [_text(rng)]},
        "memories": [{"content": _text(rng)}],
    },
    "records.list": lambda ids, memory, rng: {"limit": rng.choice([2, 50])},
    "records.get": lambda ids, memory, rng: {"id": memory},
    "why": lambda ids, memory, rng: {"id": memory},
    "records.history": lambda ids, memory, rng: {"id": memory},
    "records.readers": lambda ids, memory, rng: {"as_owner": True},
    "records.ledger": lambda ids, memory, rng: {"as_owner": True},
    "records.operation": lambda ids, memory, rng: {"operation": ids["operation"]},
    "forgetting.find_traces": lambda ids, memory, rng: {"id": memory},
    "forget": lambda ids, memory, rng: {"ids": [memory], "dry_run": rng.random() < 0.8},
    "forgetting.forget_all": lambda ids, memory, rng: {"kind": "fact", "dry_run": True},
    "forgetting.hide": lambda ids, memory, rng: {"ids": [memory]},
    "forgetting.finish": lambda ids, memory, rng: {"receipt": 6},
    "forgetting.redact": lambda ids, memory, rng: {"message": ids["message"], "start": 0, "end": 2},
    "profiles.get": lambda ids, memory, rng: {"schema": "Profile"},
    "profiles.put": lambda ids, memory, rng: {"schema": "Profile", "body": {"name": "Ann"}},
    "profiles.patch": lambda ids, memory, rng: {"schema": "Profile", "set": {"name": "Ann"}},
    "profiles.documents": lambda ids, memory, rng: {"schema": "Profile"},
    "profiles.report": lambda ids, memory, rng: {"schema": "Profile"},
    "episodes.search": lambda ids, memory, rng: {"like": "goal"},
    "episodes.record": lambda ids, memory, rng: {"goal": _text(rng), "outcome": "succeeded"},
    "episodes.overflow": lambda ids, memory, rng: {"id": ids["episode"]},
    "items.list": lambda ids, memory, rng: {"namespace": ["notes"]},
    "items.write": lambda ids, memory, rng: {
        "puts": [{"namespace": ["notes"], "name": "w", "value": {"a": 1}}]
    },
    "items.get_many": lambda ids, memory, rng: {"names": [{"namespace": ["notes"], "name": "x"}]},
    "items.search": lambda ids, memory, rng: {"query": "item"},
    "items.put": lambda ids, memory, rng: {"namespace": ["notes"], "name": "y", "value": {"a": 1}},
    "items.get": lambda ids, memory, rng: {"namespace": ["notes"], "name": "x"},
    "items.delete": lambda ids, memory, rng: {"namespace": ["notes"], "name": "z"},
    "agents.get": lambda ids, memory, rng: {"name": AGENT},
    "agents.limits": lambda ids, memory, rng: {"name": AGENT},
    "agents.put": lambda ids, memory, rng: {"name": "another", "description": "d"},
    "experience.list": lambda ids, memory, rng: {"agent": AGENT, "for_user": ids["owner"]},
    "experience.add": lambda ids, memory, rng: {
        "agent": AGENT,
        "field": "heuristics",
        "line": _text(rng),
    },
    "experience.retire": lambda ids, memory, rng: {"agent": AGENT, "line": ids["lesson"]},
    "experience.add_evidence": lambda ids, memory, rng: {
        "agent": AGENT,
        "line": ids["lesson"],
        "evidence": {ids["owner"]: [memory]},
    },
    "experience.check_privacy": lambda ids, memory, rng: {"agent": AGENT, "line": ids["lesson"]},
    "experience.approve": lambda ids, memory, rng: {"agent": AGENT, "line": ids["lesson"]},
    "schemas.get": lambda ids, memory, rng: {"name": "Own"},
    "schemas.put": lambda ids, memory, rng: {"name": "Own", "parameters": _SCHEMA},
    "schemas.records": lambda ids, memory, rng: {"name": "Own"},
    "admin.usage": lambda ids, memory, rng: {"owner": ids["owner"]},
    "admin.export": lambda ids, memory, rng: {
        "owner": ids["owner"],
        "everything": rng.random() < 0.7,
    },
    "jobs.form_with": lambda ids, memory, rng: {"who": "rules"},
    "jobs.retry": lambda ids, memory, rng: {"id": str(uuid4())},
    "jobs.drop": lambda ids, memory, rng: {"id": str(uuid4())},
    "keys.get": lambda ids, memory, rng: {"name": "editor"},
    "keys.put": lambda ids, memory, rng: {
        "name": _text(rng),
        "role": "viewer",
        "digest": uuid4().hex * 2,
    },
    "keys.create": lambda ids, memory, rng: {"name": _text(rng), "role": "viewer"},
    "keys.rotate": lambda ids, memory, rng: {"name": "twin"},
    "keys.revoke": lambda ids, memory, rng: {"id": "twin"},
}
TRIED = tuple(verb.name for verb in OPERATIONS.values() if verb.name not in UNTRIED)
