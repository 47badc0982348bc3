"""Builds of the service that lack one check each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from memoranda.access import guard, key_check, sealing
from memoranda.compatible import knowledge_routes
from memoranda.mcp_server import http_mount
from memoranda.service import gate, v1_requests
from memoranda.storage.decide import (
    erasure_plan,
    item_changes,
    memory_changes,
    protection,
    thread_changes,
    undo,
)
from proofs._service import judging


@dataclass(frozen=True)
class Mutant:
    """A build without one check: the text that it replaces in a module, and the new text."""

    name: str
    module: ModuleType
    text: str
    instead: str
    #: Where the built name is used: a module and the name in it.
    used: tuple[ModuleType, str]
    #: The kinds of requests that come more often.
    kinds: tuple[str, ...] = ()

    @contextmanager
    def removed(self) -> Iterator[None]:
        """Run the block with the check removed."""
        place, name = self.used
        with patch.object(place, name, self._built()[name]):
            yield

    def _built(self) -> dict[str, Any]:
        assert self.module.__file__ is not None
        source = Path(self.module.__file__).read_text()
        if source.count(self.text) != 1:
            raise LookupError(
                f"{self.name}: {self.text!r} stands {source.count(self.text)} times; name it anew"
            )
        built: dict[str, Any] = {"__name__": self.module.__name__}
        exec(compile(source.replace(self.text, self.instead), self.module.__file__, "exec"), built)
        return built


def _guard(name: str, text: str, instead: str, *kinds: str) -> Mutant:
    return Mutant(name, guard, text, instead, (gate, "Guard"), kinds)


def _decision(
    name: str, module: ModuleType, text: str, instead: str, used: tuple[ModuleType, str]
) -> Mutant:
    return Mutant(name, module, text, instead, used, ("ruled", "trust"))


_SHARING = """owner's view (as_owner=True) may do that"
        )
    if (yield from protected_from_act(state, memory)):"""
_LIMITED = "not principal.is_limited"
_NAMED = """
                and principal.agents is not None
                and owner.id in principal.agents"""
_TRUST = "Trust.ASSISTANT if is_agents and not self._is_person(owner) else Trust.USER"
MUTANTS = (
    _guard("role", "if principal.role < verb.role:", "if False:"),
    _guard("tenant", "if principal.tenant != self.book.tenant:", "if False:"),
    _guard("owner", "if not _opens(principal, owner):", "if False:"),
    _guard("whole book", "elif not verb.safe and (", "elif False and (", "unowned"),
    _guard("limited", 'principal.is_limited or "agent" not', '"agent" not', "unowned"),
    _guard(
        "experience of limited credentials",
        "if principal.is_limited and any(given.get(word) for word in verb.for_all_users):",
        "if False:",
        "taught",
    ),
    _guard("view", 'if given.get("as_owner") and not is_person:', "if False:"),
    _guard("export", "verb.of_the_person or any(", "any(", "whole"),
    _guard("erasing everything", "any(given.get(word) for word in _WHOLE)", "False", "whole"),
    _guard(
        "agents", "if principal.agents is not None and not agents <= principal.agents:", "if False:"
    ),
    _guard(
        "agents of messages", "for one in found if isinstance(one, dict)", "for one in ()", "spoken"
    ),
    _guard(
        "names of agents",
        "given[word] for word in verb.agent_arguments if given.get(word) is not None",
        "given[word] for word in ()",
        "agent",
    ),
    _guard("list of agents", "if agent.name in self.principal.agents]", "]", "agent"),
    _guard(
        "groups",
        "if principal.groups is not None and not set(groups)",
        "if False and not set(groups)",
    ),
    _guard("audience", "if names and allowed is not None and", "if False and", "audience"),
    _guard(
        "groups as owners",
        "return principal.groups is not None and owner.id in principal.groups",
        "return True",
        "kind_of_owner",
    ),
    _guard("agents as owners", f"{_LIMITED}{_NAMED}", "True", "kind_of_owner"),
    _guard(
        "agents of limited credentials",
        f"{_LIMITED}{_NAMED}",
        f"True{_NAMED}",
        "kind_of_owner",
    ),
    _guard("agent of a credential", '(given["agent"],) = agents', "pass", "unnamed"),
    _guard("trust of credentials", f"return {_TRUST}", "return Trust.OPERATOR", "trust", "ruled"),
    _guard("trust of agents", f"return {_TRUST}", "return Trust.USER", "ruled"),
    _guard("prompts", "elif isinstance(record, Agent) and", "elif False and", "prompts"),
    _guard("evidence of lines", "shown = record.changed(evidence=(), past=())", "pass", "lines"),
    _decision(
        "trust of statements",
        memory_changes,
        "refuse_trust(state, memory.trust, of_user=of_user)",
        "pass",
        (memory_changes, "remember"),
    ),
    _decision(
        "trust of winners",
        memory_changes,
        "lowest((winner.trust, state.batch.actor.trust))",
        "winner.trust",
        (memory_changes, "supersede"),
    ),
    _decision(
        "readers of rules",
        memory_changes,
        _SHARING,
        _SHARING.replace("(yield from protected_from_act(state, memory))", "False"),
        (memory_changes, "change_audience"),
    ),
    _decision(
        "trust of messages",
        thread_changes,
        'refuse_trust(state, message.trust, of_user=message.role == "user")',
        "pass",
        (thread_changes, "append"),
    ),
    _decision(
        "trust of episodes",
        thread_changes,
        "refuse_trust(state, episode.trust)",
        "pass",
        (thread_changes, "record_episode"),
    ),
    _decision(
        "trust of items",
        item_changes,
        "refuse_trust(state, item.trust)",
        "pass",
        (item_changes, "change_item"),
    ),
    _decision(
        "trust of acts",
        protection,
        "            state.batch.actor.trust,\n        )",
        "            Trust.OPERATOR,\n        )",
        (memory_changes, "protected_from_act"),
    ),
    _decision(
        "pins",
        protection,
        "if not memory.pinned or actor.trust is not Trust.ASSISTANT:",
        "if True:",
        (protection, "is_pinned_against"),
    ),
    _decision(
        "pins in erasures",
        protection,
        "if not memory.pinned or actor.trust is not Trust.ASSISTANT:",
        "if True:",
        (erasure_plan, "is_pinned_against"),
    ),
    _decision(
        "undo of the person's",
        undo,
        'if entry.actor.kind == "owner" and not own',
        "if False",
        (undo, "undo"),
    ),
    _decision(
        "undo of rules",
        undo,
        "if isinstance(record, Memory) and (yield from protected_from_act(state, record)):",
        "if False:",
        (undo, "undo"),
    ),
    Mutant(
        "seal of cursors",
        sealing,
        "if hmac.compare_digest(whole[:_SEAL], _seal(principal, what, owner, text)):",
        "if True:",
        (v1_requests, "unsealed"),
        ("paged",),
    ),
    Mutant(
        "seal of tasks",
        sealing,
        "if hmac.compare_digest(whole[:_SEAL], _seal(principal, what, owner, text)):",
        "if True:",
        (knowledge_routes, "unsealed"),
        ("tasks",),
    ),
    Mutant(
        "principal of MCP",
        http_mount,
        'Guard(self._book, principal, "mcp", self._audit)',
        'Guard(self._book, type(principal)("root", principal.tenant, type(principal.role).ADMIN), "mcp")',
        (judging, "McpMount"),
        ("mcp",),
    ),
    Mutant(
        "end of keys",
        key_check,
        "or not holds(key, self._book.door.clock())",
        "or False",
        (key_check, "KeyCheck"),
    ),
)
