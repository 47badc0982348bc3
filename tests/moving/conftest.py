"""Books of two kinds that move: on the PostgreSQL server of the tests, and in files."""

from __future__ import annotations

from tests.engines.conftest import postgres

__all__ = ["postgres"]
