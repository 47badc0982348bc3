"""Write the table of paths in docs/service.md from the table of verbs: ``python -m tools.path_table --write``."""

from __future__ import annotations

import sys

from memoranda.book.all_operations import OPERATIONS
from memoranda.wire.verb_shapes import wire_name
from tools.checkout import ROOT

PAGE = ROOT / "docs" / "service.md"
BEGIN = "<!-- paths: begin -->"
END = "<!-- paths: end -->"


def table() -> str:
    """Return a row for each verb: its method, its path, its name in the library, and the least role."""
    rows = ["| request | verb | role |", "|---|---|---|"]
    for verb in OPERATIONS.values():
        path = "/".join(
            f"{{{wire_name(part[1:-1])}}}" if part.startswith("{") else part for part in verb.path.split("/")
        )
        rows.append(f"| `{verb.method} {path}` | `{verb.name.rstrip('_')}` | {verb.role} |")
    return "\n".join(rows) + "\n"


def page_with(made: str) -> str:
    """Return the page with this table."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{made}{END}{rest.partition(END)[2]}"


def main() -> None:
    """Write the page, or stop if it differs."""
    wanted = page_with(table())
    if "--write" in sys.argv[1:]:
        PAGE.write_text(wanted, "utf-8")
    elif wanted != PAGE.read_text("utf-8"):
        sys.exit("docs/service.md is out of date: python -m tools.path_table --write")


if __name__ == "__main__":
    main()
