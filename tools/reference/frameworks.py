"""The table of what was run with each framework, from the results that its tests wrote."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tools.checkout import ROOT

RESULTS = ROOT / "tests" / "frameworks" / "results"
#: A longer list of cases is one in lines.
LINE_LENGTH = 160


def table() -> str:
    """Return the table of all results and, below it, the cases that were left out, with their
    reasons.
    """
    found = sorted(
        map(read, RESULTS.glob("*.json")), key=lambda one: (one["framework"].lower(), one["run"])
    )
    rows = ["| framework | package | what was run | passed | left out |", "|---|---|---|--:|--:|"]
    for one in found:
        passed = f"{one['passed']} of {one['cases']}"
        package = f"`{one['package']}` {one['version']}"
        rows.append(
            f"| {one['framework']} | {package} | {one['run']} | {passed} | {len(one['left_out']) or '–'} |"
        )
    return "\n".join([*rows, "", *_left_out(found)]).rstrip() + "\n"


def read(path: Path) -> dict[str, Any]:
    """Return one result; raise SystemExit if a field is missing."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    missing = {"framework", "package", "version", "run", "cases", "passed", "left_out"} - set(found)
    if missing:
        raise SystemExit(f"{path.name} has no {', '.join(sorted(missing))}")
    return found


def _left_out(found: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for one in found:
        reasons: defaultdict[str, list[str]] = defaultdict(list)
        for case in one["left_out"]:
            reasons[case["why"]].append(case["case"])
        if reasons:
            lines += [f"**{one['framework']}, {one['run']}**", ""]
            lines += [_reason(why, cases) for why, cases in reasons.items()]
            lines.append("")
    return lines


def _reason(why: str, cases: list[str]) -> str:
    named = f"- {why}: " + ", ".join(f"`{case}`" for case in cases)
    fits = len(cases) <= 3 and len(named) <= LINE_LENGTH
    return named if fits else f"- {why} ({len(cases)} case{'s' if len(cases) > 1 else ''})"
