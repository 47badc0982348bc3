"""Quality of the rules that find what people state about themselves: ``--data PATH [--half
dev|held] [--json]``.
"""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from memoranda.formation.rules import extract

HALVES = ("dev", "held")
#: Texts of the held-out half that were seen while rules were written, and so do not count.
SEEN = frozenset({"s002"})
#: The labelled set of our own.
SET = Path(__file__).parent / "sets" / "statements.json"
#: Words at the beginning of a value that say nothing.
_NO_MATTER = frozenset({"a", "an", "the", "my", "our", "to", "that", "always", "please"})


@dataclass(frozen=True, slots=True)
class Scored:
    """One text with its statements and those that were found, as (kind, value)."""

    text: str
    trap: str | None
    expected: frozenset[tuple[str, str]]
    found: frozenset[tuple[str, str]]

    @property
    def right(self) -> frozenset[tuple[str, str]]:
        return self.expected & self.found


def same_value(value: str) -> str:
    """Return the form in which values are compared: without case, punctuation, quotes and a leading
    article.
    """
    letters = (
        " " if unicodedata.category(letter)[0] in "PSZC" and letter not in "'&" else letter
        for letter in unicodedata.normalize("NFKC", value.replace("’", "'")).casefold()
    )
    words = "".join(letters).replace("'", "").split()
    while len(words) > 1 and words[0] in _NO_MATTER:
        words = words[1:]
    return " ".join(words)


def score(items: Iterable[Mapping[str, Any]]) -> list[Scored]:
    """Read every text by the rules."""
    return [
        Scored(
            item["text"],
            item["trap"],
            frozenset((one["kind"], same_value(one["value"])) for one in item["expect"]),
            frozenset((one.about, same_value(one.value)) for one in extract(item["text"])),
        )
        for item in items
    ]


def report(scored: Sequence[Scored], half: str) -> dict[str, Any]:
    """Return the figures as one object."""
    expected = Counter(kind for one in scored for kind, _ in one.expected)
    found = Counter(kind for one in scored for kind, _ in one.found)
    right = Counter(kind for one in scored for kind, _ in one.right)
    traps = Counter(one.trap for one in scored if one.trap)
    fell = Counter(one.trap for one in scored if one.trap and one.found - one.expected)
    return {
        "half": half,
        "texts": len(scored),
        "all": _figures(expected.total(), found.total(), right.total()),
        # Without what is only a matter of where a value ends, and of the traps alone.
        "near": _figures(expected.total(), found.total(), sum(map(_near, scored))),
        "untrapped": _untrapped(scored),
        "kinds": {
            kind: _figures(expected[kind], found[kind], right[kind])
            for kind in sorted(expected | found)
        },
        "traps": {
            trap: {"texts": count, "fell_for": fell[trap]} for trap, count in sorted(traps.items())
        },
    }


def _untrapped(scored: Sequence[Scored]) -> dict[str, Any]:
    plain = [one for one in scored if not one.trap]
    expected, found = (
        sum(len(getattr(one, name)) for one in plain) for name in ("expected", "found")
    )
    return _figures(expected, found, sum(len(one.right) for one in plain))


def _near(one: Scored) -> int:
    """Return how many statements of a text were found, if one of two values may contain the other's
    words.
    """
    left = set(one.found)
    count = 0
    for kind, value in sorted(one.expected):
        hit = next(
            (
                found
                for found in sorted(left)
                if found[0] == kind
                and (
                    set(found[1].split()) <= set(value.split())
                    or set(value.split()) <= set(found[1].split())
                )
            ),
            None,
        )
        if hit is not None:
            left.discard(hit)
            count += 1
    return count


def _figures(expected: int, found: int, right: int) -> dict[str, Any]:
    precision = right / found if found else None
    recall = right / expected if expected else None
    total = expected + found
    return {
        "expected": expected,
        "found": found,
        "right": right,
        "precision": None if precision is None else round(precision, 4),
        "recall": None if recall is None else round(recall, 4),
        "f1": round(2 * right / total, 4) if total else None,
    }


def lines(figures: Mapping[str, Any]) -> list[str]:
    """Return the figures as a table."""
    columns = ("expected", "found", "right", "precision", "recall", "f1")
    rows = [("near", figures["near"]), ("untrapped", figures["untrapped"])]
    rows += [(kind, figures["kinds"][kind]) for kind in figures["kinds"]]
    table = [f"{'':12}" + "".join(f"{column:>11}" for column in columns)]
    for name, row in [("all", figures["all"]), *rows]:
        table.append(
            f"{name:12}"
            + "".join(f"{'-' if row[column] is None else row[column]:>11}" for column in columns)
        )
    table += ["", f"{'traps':14}{'texts':>6}{'fell for':>10}"]
    return table + [
        f"{trap:14}{row['texts']:>6}{row['fell_for']:>10}" for trap, row in figures["traps"].items()
    ]


def misses(scored: Iterable[Scored]) -> list[str]:
    """Return missed and wrongly found statements, with their texts."""
    shown = []
    for one in scored:
        if one.expected != one.found:
            shown.append(f"{one.trap or '-'}: {one.text!r}")
            shown += [
                f"    missed {kind}: {value}" for kind, value in sorted(one.expected - one.found)
            ]
            shown += [
                f"    wrong  {kind}: {value}" for kind, value in sorted(one.found - one.expected)
            ]
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python evals/statements.py", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=SET, help="the labelled set; by default our own"
    )
    parser.add_argument(
        "--half",
        choices=HALVES,
        default="dev",
        help="the half to score; misses are shown for dev alone",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    given = parser.parse_args(arguments)
    try:
        items = json.loads(given.data.read_text("utf-8"))["items"]
        scored = score(
            item for item in items if item["split"] == given.half and item.get("id") not in SEEN
        )
    except (OSError, ValueError, KeyError, TypeError) as exc:
        parser.error(f"{given.data} is no labelled set: {exc!r}")
    figures = report(scored, given.half)
    table = [*lines(figures), *(["", *misses(scored)] if given.half == "dev" else [])]
    sys.stdout.write((json.dumps(figures) if given.json else "\n".join(table)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
