"""Command that writes the corpora: python -m evals.talk_shapes --out DIR."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from evals.talk_shapes.shape_counts import counts_of
from evals.talk_shapes.shape_halves import NAMES, half_of, write_file, write_half


def main() -> int:
    """Write the files, or print the counts."""
    parser = argparse.ArgumentParser(prog="python -m evals.talk_shapes", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the files, NAME.HALF.jsonl")
    parser.add_argument(
        "--held", action="store_true", help="write the held half instead of the open one"
    )
    parser.add_argument(
        "--only", choices=NAMES, action="append", help="one corpus; may be repeated"
    )
    parser.add_argument(
        "--counts", action="store_true", help="print counts of both halves and write nothing"
    )
    given = parser.parse_args()
    names = given.only or NAMES
    if given.counts:
        for name in names:
            shelves = [*write_half(name, "open"), *write_half(name, "held", held=True)]
            print(name, json.dumps(counts_of(shelves)))
        return 0
    if given.out is None:
        parser.error("--out is missing: give the folder for the files, or --counts")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in names:
        print(write_file(name, half_of(2 if given.held else 1), given.out, held=given.held))
    return 0


if __name__ == "__main__":
    sys.exit(main())
