"""The environment has the package that it is made for, beside this one."""

from __future__ import annotations

from importlib.metadata import requires, version

from packaging.requirements import Requirement


def test_the_harness_and_memoranda_live_in_one_environment() -> None:
    held = version("pydantic-ai-slim")
    asked = [
        Requirement(line)
        for package in ("memoranda", "pydantic-ai-harness")
        for line in requires(package) or ()
    ]
    bounds = [one.specifier for one in asked if one.name == "pydantic-ai-slim"]
    assert len(bounds) >= 2
    assert all(bound.contains(held) for bound in bounds)
