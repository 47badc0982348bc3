"""Fixtures of the tests with LangGraph: a PostgreSQL server of the session."""

from tests.engines.conftest import postgres

__all__ = ["postgres"]
