"""Requests by which a credential would end what the person or an operator said, state their trust,
or read of whom agents learnt.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from proofs._service.asking import Ask
from proofs._service.own_calls import request_of
from proofs._service.population import AGENT, GROUP, HIDDEN_AGENT, OWN, VICTIM, Population

#: The rules that a verb would end, if nothing but one check kept it from that; other verbs end any
#: of them.
_RULES = ("persons", "operators", "marked", "kept", "teams")
_RULES_OF = {
    "memories.supersede": ("kept", "persons"),
    "memories.share": ("teams", "persons"),
    "forget": ("marked", "persons"),
    "forgetting.hide": ("marked", "persons"),
    "undo": ("refuted", "marked", "operators", "persons"),
}


def _ruled(population: Population, rng: Random) -> tuple[str, str, Ask]:
    """End or replace what the person or an operator said, with an agent named or not."""
    verb = rng.choice(
        (
            "memories.retract",
            "memories.amend",
            "update",
            "remember",
            "memories.remember_all",
            *_RULES_OF,
        )
    )
    name = rng.choice(_RULES_OF.get(verb, _RULES))
    # A program without an agent speaks for the user, whom the other rules do not bind.
    who = rng.choice(
        ("editor", "viewer", "app", "app")
        if name in ("persons", "operators")
        else ("editor", "editor", "viewer")
    )
    own = {word: str(one) for word, one in population.owners[OWN].ids.items()}
    rule = own[name]
    trust: dict[str, Any] = rng.choice(
        (
            {},
            {"trust": "operator"},
            {"trust": "user"},
            {"trust": "user", "sources": [own["message"]]},
        )
    )
    statement = {"content": "something else", "supersedes": [rule], **trust}
    readers = {"kind": "global"} if name == "teams" else {"kind": "self", "agent": AGENT}
    made: dict[str, dict[str, Any]] = {
        "memories.retract": {"id": rule, "reason": "x"},
        "memories.amend": {"id": rule, "fields": rng.choice(({"pinned": False}, {"tags": ["t"]}))},
        "update": {"id": rule, "content": "something else", **trust},
        "remember": statement,
        "memories.remember_all": {"statements": [statement]},
        "memories.supersede": {"loser": rule, "winner": own["passed"]},
        "memories.share": {"id": rule, "audience": readers},
        "forget": {"ids": [rule], "what": "record"},
        "forgetting.hide": {"ids": [rule]},
        "undo": {"position": int(own[f"{name}_at"]), "with_dependents": rng.random() < 0.5},
    }
    given = {"owner": OWN, **made[verb]}
    if who != "app" and (verb == "memories.share" or rng.random() < 0.7):
        given |= {"agent": AGENT, "groups": [GROUP]}
    return who, verb, request_of(verb, given)


def _trust(population: Population, rng: Random) -> tuple[str, str, Ask]:
    """State the operator's trust."""
    who = rng.choice(("editor", "viewer", "app"))
    own = population.owners[OWN].ids
    told = {"content": _TOLD, "trust": "operator"}
    made: dict[str, dict[str, Any]] = {
        "remember": told,
        "memories.remember_all": {"statements": [{"content": _TOLD}, told]},
        "thread.remember": told,
        "thread.append": {
            "messages": [{"role": rng.choice(("user", "assistant", "system")), **told}]
        },
        "items.put": {"namespace": ["notes"], "name": "trusted", "value": 1, "trust": "operator"},
        "items.write": {
            "puts": [{"namespace": ["notes"], "name": "w", "value": 1}],
            "trust": "operator",
        },
        "episodes.record": {"goal": _TOLD, "outcome": "succeeded", "trust": "operator"},
    }
    verb = rng.choice([*made])
    given = {"owner": OWN, "agent": AGENT, "thread": str(own["thread"]), **made[verb]}
    if not verb.startswith("thread."):
        given.pop("thread")
    return who, verb, request_of(verb, given)


_TOLD = "a statement of the operator"


def _unnamed(population: Population, rng: Random) -> tuple[str, str, Ask]:
    """Write as the credential's only agent without naming it."""
    given = {"owner": OWN, "content": f"a statement {rng.getrandbits(40):x}"}
    return "editor", "remember", request_of("remember", given)


def _prompts(population: Population, rng: Random) -> tuple[str, str, Ask]:
    """Read the prompts of agents that the credential does not name."""
    verb = rng.choice(("agents.list", "agents.get"))
    given = {"name": HIDDEN_AGENT} if verb == "agents.get" else {}
    return "app", verb, request_of(verb, given)


def _lines(population: Population, rng: Random) -> tuple[str, str, Ask]:
    """Read from whom an agent learnt, by both doors."""
    verb = rng.choice(("experience.list", "records.list", "records.get", "why", "records.history"))
    line = str(population.owners[VICTIM].ids["lesson"])
    if verb == "experience.list":
        return "learner", verb, request_of(verb, {"agent": AGENT})
    given = {"owner": AGENT, "id": line, "agent": AGENT}
    if verb == "records.list":
        given.pop("id")
    request = request_of(verb, given)
    query = (*request.query, ("owner_kind", "agent"))
    return "learner", verb, replace(request, query=query)


#: The kinds of these requests: who asks, by which verb, and the request.
RULE_ATTACKS = {
    "ruled": _ruled,
    "trust": _trust,
    "unnamed": _unnamed,
    "prompts": _prompts,
    "lines": _lines,
}
