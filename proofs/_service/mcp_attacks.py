"""Requests to MCP over HTTP that ask for what is another's, and their answers in the form of
REST's.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from memoranda.mcp_server.agent_tools import short
from proofs._service.asking import Answer, Ask
from proofs._service.population import AGENT, GROUP, HIDDEN_AGENT, HIDDEN_GROUP, NOBODY, VICTIM, Own

#: The verb that decides which role may call a tool.
VERB_OF = {
    "remember": "remember",
    "recall": "recall",
    "context": "context",
    "why": "why",
    "forget": "forgetting.hide",
}
_CONFIRM = {"confirmation": "CONFIRM"}
_ADMIN_TOOLS: dict[str, dict[str, Any]] = {
    "list_user_memories": {},
    "get_visible_memories": {"agentId": HIDDEN_AGENT},
    "search_user_memories": {"query": "tea"},
    "get_memory_by_key": {"key": "color"},
    "count_user_memories": {},
    "upsert_user_memory": {"key": "color", "value": "blue", "agentId": AGENT},
    "delete_all_user_memories": _CONFIRM,
    "delete_user_data": _CONFIRM,
    "export_user_data": {},
    "finish_forgetting": {"position": 6, **_CONFIRM},
}
_HEADERS = (("accept", "application/json, text/event-stream"),)


def mcp_pair(
    rng: Random, owner: str, theirs: Own, no_id: str
) -> tuple[Ask, Ask, str, dict[str, str]]:
    """Return a request that names the victim, its twin that names nobody, the verb behind it, and
    the names.
    """
    id = str(theirs.ids[f"memory{rng.randrange(6)}"])
    shorten = rng.random() < 0.5
    named, nobody = (
        (short(theirs.ids[word]), no_id[-8:])
        if shorten and (word := _word(theirs, id))
        else (id, no_id)
    )
    names = {
        VICTIM: NOBODY,
        id: no_id,
        named: nobody,
        HIDDEN_AGENT: "wardem",
        HIDDEN_GROUP: "circlf",
    }
    kind = rng.choice(("owner", "ids", "agent", "group", "admin", "resource"))
    if kind == "admin":
        tool = rng.choice([*_ADMIN_TOOLS])
        given = {"userId": VICTIM, **_ADMIN_TOOLS[tool]}
        return *_twins("/mcp/admin", {"owner": owner}, _call(tool, given), names), "", names
    whose = {"owner": owner, "agent": AGENT, "group": GROUP}
    if kind != "ids":
        word, other = {"agent": ("agent", HIDDEN_AGENT), "group": ("group", HIDDEN_GROUP)}.get(
            kind, ("owner", VICTIM)
        )
        whose[word] = other
    if kind == "resource":
        asked = rng.choice(
            (
                ("resources/read", {"uri": "memoranda://profile"}),
                ("resources/read", {"uri": "memoranda://memories"}),
                ("prompts/get", {"name": "what_do_you_know_about_me"}),
            )
        )
        return *_twins("/mcp", whose, asked, names), "", names
    tool = rng.choice(("why", "forget", "remember") if kind == "ids" else [*VERB_OF])
    given = {
        "remember": {
            "content": f"a statement {rng.getrandbits(40):x}",
            **({"replaces": named} if kind == "ids" else {}),
        },
        "recall": {"query": "who likes tea?"},
        "context": {"query": "who likes tea?"},
    }.get(tool, {"id": named})
    return *_twins("/mcp", whose, _call(tool, given), names), VERB_OF[tool], names


def _word(theirs: Own, id: str) -> str:
    return next(word for word, one in theirs.ids.items() if str(one) == id)


def _call(tool: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": tool, "arguments": given}


def _twins(
    path: str, whose: dict[str, str], asked: tuple[str, dict[str, Any]], names: dict[str, str]
) -> tuple[Ask, Ask]:
    def made(renamed: dict[str, str]) -> Ask:
        query = tuple((word, renamed.get(value, value)) for word, value in whose.items())
        text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": asked[0], "params": asked[1]})
        for name, other in renamed.items():
            text = text.replace(json.dumps(name), json.dumps(other))
        return Ask("POST", path, query, json.loads(text), _HEADERS)

    return made({}), made(names)


def as_rest(answer: Answer) -> Answer:
    """Return an answer of MCP with a refusal's status where a tool refused, and the result as the
    body.
    """
    lines = answer.body.splitlines()
    events = [line.removeprefix(b"data:") for line in lines if line.startswith(b"data:")]
    if answer.status != 200 or not events:
        return answer
    told = json.loads(events[-1])
    result = told.get("result", {})
    is_refused = "error" in told or result.get("isError", False)
    return Answer(404 if is_refused else 200, json.dumps(told).encode(), answer.headers)
