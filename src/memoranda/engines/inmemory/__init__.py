"""The in-memory engine, which is also the reference for the other engines."""

from memoranda.engines.inmemory.engine import InMemoryEngine

__all__ = ["InMemoryEngine"]
