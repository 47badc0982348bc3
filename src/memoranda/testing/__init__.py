"""Fakes for the tests of an application: an embedder, language models that follow a script, and a
clock.
"""

from memoranda.testing.clock import HandClock
from memoranda.testing.embedder import StubEmbedder
from memoranda.testing.scripted_models import ScriptedModels

__all__ = ["HandClock", "ScriptedModels", "StubEmbedder"]
