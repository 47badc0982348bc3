"""Recorded runs of measurements: pages show them as tables, and a later change of what they measure
makes them old.

A run is a file ``docs/runs/<name>.json`` with its command, commit, day, machine, tables, and the
paths that it measures. A page shows it between ``<!-- run: name -->`` and ``<!-- end of run -->``.
``python -m tools.recorded_runs`` names the runs that are older than what they measure, and with
``--write`` first writes every table into its page.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.checkout import ROOT, commit_of, why_old

FOLDER = "docs/runs"
#: What decides what is found, and beside it what decides how fast.
RANKING = tuple(f"src/memoranda/{one}" for one in ("recall", "text", "embedding"))
RECALL = (*RANKING, *(f"src/memoranda/{one}" for one in ("storage", "engines", "model", "book")))
_BLOCK = re.compile(r"(<!-- run: ([\w-]+) -->\n).*?(<!-- end of run -->)", re.DOTALL)

#: Characters of a line of text.
_WIDTH = 140

#: A table is its head and its rows, as they are shown.
Table = Sequence[Sequence[str]]


def record(
    name: str,
    command: str,
    tables: Mapping[str, Table],
    *,
    covers: Sequence[str],
    machine: str = "",
    root: Path = ROOT,
) -> None:
    """Store a run in place of the last one of its name, and write it into the pages that show
    it.
    """
    run = {
        "command": command,
        "commit": commit_of(root, covers),
        "day": datetime.now(UTC).date().isoformat(),
        "machine": machine,
        "covers": list(covers),
        "tables": tables,
    }
    file = root / FOLDER / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n")
    write_pages(root)


def read(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Return the recorded runs by name."""
    return {
        file.stem: json.loads(file.read_text()) for file in sorted((root / FOLDER).glob("*.json"))
    }


def write_pages(root: Path = ROOT) -> list[Path]:
    """Write every run into the pages that show it; return the pages that have changed."""
    changed = []
    for page in sorted((root / "docs").rglob("*.md")):
        before = page.read_text()
        after = filled(before, root)
        if after != before:
            page.write_text(after)
            changed.append(page)
    return changed


def filled(page: str, root: Path = ROOT) -> str:
    """Return a page with the runs that it shows."""
    runs = read(root)
    return _BLOCK.sub(lambda block: f"{block[1]}{shown(runs[block[2]])}\n{block[3]}", page)


def shown(run: Mapping[str, Any]) -> str:
    """Return a run as a page shows it."""
    machine = f"; {run['machine']}" if run["machine"] else ""
    lead = f"`{run['command']}` at {run['commit']}, {run['day']}{machine}:"
    parts = [textwrap.fill(lead, _WIDTH, break_long_words=False, break_on_hyphens=False)]
    for title, (head, *rows) in run["tables"].items():
        marks = "|".join(["---", *["--:"] * (len(head) - 1)])
        lines = ["| " + " | ".join(row) + " |" for row in ([title or "what", *head[1:]], *rows)]
        parts.append("\n".join([lines[0], f"|{marks}|", *lines[1:]]))
    return "\n\n".join(parts)


def old(root: Path = ROOT) -> Iterator[str]:
    """Yield a sentence for each run that is older than what it measures."""
    for name, run in read(root).items():
        if why := why_old(root, run["commit"], run["covers"]):
            yield f"{name}: {why}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Name the runs that are older than what they measure."""
    parser = argparse.ArgumentParser(prog="python -m tools.recorded_runs", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the runs into their pages")
    if parser.parse_args(arguments).write:
        write_pages()
    sys.stdout.write("\n".join(old()) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
