"""Write the table in docs/integrations.md from what the tests with frameworks measured: ``python -m tools.integration_table --write``."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.checkout import ROOT

PAGE = ROOT / "docs" / "integrations.md"
RESULTS = ROOT / "tests" / "frameworks" / "results"
BEGIN = "<!-- results: begin -->"
END = "<!-- results: end -->"
#: A longer list of cases is one in lines.
LINE_LENGTH = 160


def table() -> str:
    """Return the table of all results and, below it, the cases that were left out, with their reasons."""
    found = sorted(map(read, RESULTS.glob("*.json")), key=lambda one: (one["framework"].lower(), one["run"]))
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


def page_with(text: str) -> str:
    """Return the page with this table between its marks."""
    page = PAGE.read_text("utf-8")
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}\n\n{text}\n{END}{rest.split(END, 1)[1]}"


def main(arguments: Sequence[str]) -> int:
    """Write the table, or say that it differs."""
    new = page_with(table())
    if "--write" in arguments:
        PAGE.write_text(new, "utf-8")
        return 0
    if new != PAGE.read_text("utf-8"):
        sys.stderr.write("docs/integrations.md differs: run python -m tools.integration_table --write\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
