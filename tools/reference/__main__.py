"""Write docs/reference and docs/pictures from the code.

Each page is a file in ``pages`` with marks, and each mark stands for a function that makes its
part.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.checkout import ROOT
from tools.recorded_runs import filled
from tools.reference import (
    commands,
    failures,
    frameworks,
    interfaces,
    measured,
    pictures,
    settings_tables,
)

PAGES = Path(__file__).parent / "pages"
DOCS = ROOT / "docs"
_MARK = re.compile(r"^<!-- made: ([\w-]+) -->$", re.MULTILINE)

#: What stands at each mark.
PARTS: Mapping[str, Callable[[], str]] = {
    "python": interfaces.operations,
    "results": interfaces.results,
    "paths": interfaces.paths,
    "mcp-tools": interfaces.mcp_tools,
    "mcp-admin": interfaces.mcp_admin,
    "compatible": interfaces.compatible,
    "commands": commands.reference,
    "settings": settings_tables.settings,
    "agent-settings": settings_tables.of_agents,
    "limits": settings_tables.limits,
    "sizes": settings_tables.sizes,
    "keywords": settings_tables.keywords,
    "errors": failures.errors,
    "statuses": failures.statuses,
    "left-out-of-contexts": failures.left_out_of_contexts,
    "left-out-of-forming": failures.left_out_of_forming,
    "ignored": failures.ignored,
    "spans": measured.spans,
    "histograms": measured.histograms,
    "counters": measured.counters,
    "gauges": measured.gauges,
    "prometheus": measured.prometheus,
    "proofs": measured.proofs,
    "frameworks": frameworks.table,
}


def made() -> dict[str, str]:
    """Return every page of the reference, and every picture, by its path below docs."""
    pages = {
        f"reference/{page.stem}.md": _filled(page.read_text("utf-8"))
        for page in sorted(PAGES.glob("*.txt"))
    }
    return pages | {f"pictures/{name}": text for name, text in pictures.files().items()}


def _filled(page: str) -> str:
    return filled(_MARK.sub(lambda mark: PARTS[mark[1]]().strip("\n"), page)).rstrip("\n") + "\n"


def main(arguments: list[str]) -> int:
    """Write them; with ``--check``, name those that differ."""
    wanted = made()
    held = [*(DOCS / "reference").glob("*"), *(DOCS / "pictures").glob("*")]
    there = {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in held}
    differ = sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))
    if "--check" in arguments:
        if differ:
            sys.stdout.write(
                f"out of date in docs: {', '.join(differ)}; run python -m tools.reference\n"
            )
        return 1 if differ else 0
    for name in differ:
        path = DOCS / name
        if name in wanted:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted[name], "utf-8")
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
