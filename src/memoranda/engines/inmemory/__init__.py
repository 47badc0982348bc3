"""The in-memory engine: the specification that one can run."""

from memoranda.engines.inmemory.engine import InMemoryEngine

__all__ = ["InMemoryEngine"]
