"""A clock that tells the time it was set to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class HandClock:
    """A clock for tests: each look is a millisecond later, and the rest of time passes by
    ``advance``.
    """

    def __init__(self, now: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the time."""
        self.now += timedelta(milliseconds=1)
        return self.now

    def advance(self, **by: float) -> None:
        """Let time pass, in the units of ``timedelta``: ``advance(hours=2)``."""
        self.now += timedelta(**by)
