"""The in-memory engine: the specification that one can run."""

from commonplace.engines.inmemory.engine import InMemoryEngine

__all__ = ["InMemoryEngine"]
