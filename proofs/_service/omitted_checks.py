"""Builds of the service that lack one check each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from memoranda.access import guard, key_check
from memoranda.mcp_server import http_mount
from memoranda.service import gate, sealed_cursors, v1_requests
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


MUTANTS = (
    _guard("role", "if principal.role < verb.role:", "if False:"),
    _guard("tenant", "if principal.tenant != self.book.tenant:", "if False:"),
    _guard("owner", "if not _opens(principal, owner):", "if False:"),
    _guard("whole book", 'elif "owner" in given or not verb', "elif False and not verb", "whole"),
    _guard("view", 'if given.get("view") == "owner" and not is_person:', "if False:"),
    _guard("export", "verb.name in _OF_THE_PERSON or any(", "any(", "whole"),
    _guard("erasing everything", "any(given.get(word) for word in _WHOLE)", "False", "whole"),
    _guard("agents", "if principal.agents is not None and not agents <= principal.agents:", "if False:"),
    _guard("agents of messages", "*_spoken_to(given)) if", ") if", "spoken"),
    _guard(
        "names of agents", 'if verb.name.startswith("agents.") and "name" in given:', "if False:", "agent"
    ),
    _guard("list of agents", "if agent.name in self.principal.agents]", "]", "agent"),
    _guard("groups", "if principal.groups is not None and not set(groups)", "if False and not set(groups)"),
    _guard("audience", "if names and allowed is not None and", "if False and", "audience"),
    _guard(
        "evidence",
        "if not all(_opens(self.principal,",
        "if False and not all(_opens(self.principal,",
        "evidence",
    ),
    _guard(
        "groups as owners",
        "return principal.groups is not None and owner.id in principal.groups",
        "return True",
        "kind_of_owner",
    ),
    _guard(
        "agents as owners",
        "return principal.agents is not None and owner.id in principal.agents",
        "return True",
        "kind_of_owner",
    ),
    Mutant(
        "seal of cursors",
        sealed_cursors,
        "if hmac.compare_digest(whole[:_SEAL], _seal(principal, verb, owner, text)):",
        "if True:",
        (v1_requests, "open_cursor"),
        ("paged",),
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
