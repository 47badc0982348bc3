"""The program `./dev` as a module, which starts nothing."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def dev() -> ModuleType:
    """The program `./dev` as a module."""
    loader = importlib.machinery.SourceFileLoader("dev", str(ROOT / "dev"))
    spec = importlib.util.spec_from_loader("dev", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def started(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of each pytest that is started, after the environment's name."""
    seen: list[list[str]] = []

    def run(command: list[str]) -> int:
        seen.append(command)
        return 0

    monkeypatch.setattr(dev, "run", run)
    monkeypatch.setattr(dev, "ensure_framework", lambda name: Path(name, "bin/python"))
    return seen
