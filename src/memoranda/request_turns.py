"""Turns of requests: of the calls that wait for a thread, that of the request which began first is next."""

from __future__ import annotations

from contextvars import ContextVar
from time import monotonic

#: When the request began that a task works for; calls of tasks that it starts have its turn, too.
BEGAN: ContextVar[float] = ContextVar("memoranda_request_began")


def begin_request() -> None:
    """Note that a request begins now."""
    BEGAN.set(monotonic())
