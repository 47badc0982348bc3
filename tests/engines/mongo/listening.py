"""Hears every command that a book sends to its server; the driver has one place for all listeners of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pymongo import monitoring

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
    """Call ``ear`` with each command, before it is sent, of every client that was made after this module was loaded."""
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
