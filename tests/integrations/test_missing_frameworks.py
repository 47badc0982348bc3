"""A module of a framework that is not installed says so, and names the extra that brings it."""

from __future__ import annotations

import importlib
import sys

import pytest

MODULES = {
    "openai_agents": ("agents", "openai-agents"),
    "claude_agent": ("claude_agent_sdk", "claude-agent"),
    "google_adk": ("google.adk", "google-adk"),
    "anthropic_memory": ("anthropic", "anthropic"),
    "langgraph": ("langgraph", "langgraph"),
}


@pytest.mark.parametrize("module", MODULES)
def test_a_missing_framework_is_an_error_with_the_extra_to_install(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, extra = MODULES[module]
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"memoranda.integrations.{module}", raising=False)
    with pytest.raises(
        ImportError, match=rf"needs? (it|its client): pip install 'PATH\[{extra}\]'"
    ):
        importlib.import_module(f"memoranda.integrations.{module}")
