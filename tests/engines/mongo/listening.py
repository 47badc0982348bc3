"""Hears every command that a book sends to its server; the driver has one place for all listeners
of a process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pymongo import monitoring

from tools.checkout import ROOT

Heard = Callable[[monitoring.CommandStartedEvent], None]

#: Commands of the driver itself, and the server's own clock.
_DRIVERS_OWN = frozenset({"hello", "endSessions", "killCursors", "getMore", "ping", "buildInfo"})
_ears: list[Heard] = []


class _Listener(monitoring.CommandListener):
    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if event.command_name not in _DRIVERS_OWN and "configureFailPoint" not in event.command:
            for ear in _ears:
                ear(event)

    def succeeded(self, event: Any) -> None:
        """Do nothing."""

    def failed(self, event: Any) -> None:
        """Do nothing."""


monitoring.register(_Listener())


@contextmanager
def listening(ear: Heard) -> Iterator[None]:
    """Call ``ear`` with each command, before it is sent, of every client that was made after this
    module was loaded.
    """
    _ears.append(ear)
    try:
        yield
    finally:
        _ears.remove(ear)


@contextmanager
def counted() -> Iterator[list[str]]:
    """Note the names of commands and collections."""
    names: list[str] = []

    def note(event: monitoring.CommandStartedEvent) -> None:
        of = event.command.get(event.command_name)
        names.append(f"{event.command_name} {of}" if isinstance(of, str) else event.command_name)

    with listening(note):
        yield names


# ── commands that name no owner ───────────────────────────────────────────────────────────────────

#: Collections whose documents belong to owners. The others are small, or belong to the whole book.
OWNED = frozenset({"owners", "records", "versions", "gone", "ledger"})
_NAMES = frozenset({"owner_id", "owner_kind", "tenant"})


def filters_of(command: Any, name: str) -> list[Any]:
    """Return the filters of a command, and the documents that it inserts."""
    match name:
        case "find":
            return [command["filter"]]
        case "findAndModify":
            return [command["query"]]
        case "aggregate":
            return [stage.get("$match", {}) for stage in command["pipeline"][:1]]
        case "update":
            return [one["q"] for one in command["updates"]]
        case "delete":
            return [one["q"] for one in command["deletes"]]
        case "insert":
            return list(command["documents"])
    return []


def fields_of(filter: Any) -> frozenset[str]:
    """Return the fields that a document must have by a filter."""
    found = {name for name in filter if not name.startswith("$")}
    for part in filter.get("$and", ()):
        found |= fields_of(part)
    return frozenset(found)


def without_owner(event: monitoring.CommandStartedEvent) -> Iterator[str]:
    """Yield the shapes of what a command asks of owners' documents without naming an owner."""
    of = event.command.get(event.command_name)
    if isinstance(of, str) and of in OWNED:
        for filter in filters_of(event.command, event.command_name):
            if not fields_of(filter) >= _NAMES:
                named = sorted({*fields_of(filter), *(name for name in filter if name == "$or")})
                yield f"{event.command_name} {of} {' '.join(named)}".strip()


def listed() -> frozenset[str]:
    """Return the shapes of commands without an owner that the documentation lists."""
    page = (ROOT / "docs" / "decisions" / "mongodb.md").read_text()
    section = page.partition("## Commands that name no owner")[2].partition("\n## ")[0]
    return frozenset(
        re.findall(r"`((?:find|findAndModify|aggregate|update|delete|insert) [^`]+)`", section)
    )
