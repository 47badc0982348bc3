"""Shares of phrases of time that are read correctly: ``[--data PATH] [--half dev|held|all]
[--misses] [--json]``, on phrases with their moment of saying.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from memoranda.language.times.time_context import Role, Tense
from memoranda.language.times.time_reader import days_said

#: The phrases of our own: ``id``, ``half``, ``language``, ``said``, ``words``, ``role``, ``first``,
#: ``after``, maybe ``tense`` and ``also`` (other right answers). Without ``first``, a phrase must
#: not be read.
SET: Final = Path(__file__).parent / "sets" / "times.jsonl"
HALVES: Final = ("dev", "held")
RESULTS: Final = ("right", "wrong", "not_read")


def judge(item: Mapping[str, Any]) -> str:
    """Read one phrase; return ``right``, ``wrong`` or ``not_read``."""
    role = Role(item["role"])
    tense = Tense(item["tense"]) if item.get("tense") else None
    found = days_said(item["words"], datetime.fromisoformat(item["said"]), role, tense=tense)
    if item["first"] is None:
        return "right" if found is None else "wrong"
    if found is None:
        return "not_read"
    compared = {Role.VALID_FROM: ("first",), Role.VALID_UNTIL: ("after",)}.get(
        role, ("first", "after")
    )
    said = {"first": found.first.isoformat(), "after": found.after.isoformat()}
    answers = ({"first": item["first"], "after": item["after"]}, *item.get("also", ()))
    return (
        "right"
        if any(all(said[name] == one[name] for name in compared) for one in answers)
        else "wrong"
    )


def report(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the shares of phrases read rightly, wrongly and not at all, for each language and each
    role.
    """
    judged = [(item, judge(item)) for item in items]
    figures: dict[str, Any] = {"all": _shares(result for _, result in judged)}
    for name in ("language", "role"):
        values = sorted({str(item[name]) for item in items})
        figures[name] = {
            value: _shares(result for item, result in judged if item[name] == value)
            for value in values
        }
    return figures


def _shares(results: Iterable[str]) -> dict[str, float]:
    counts = Counter(results)
    total = sum(counts.values())
    return {"phrases": total} | {
        name: round(100 * counts[name] / max(total, 1), 1) for name in RESULTS
    }


def load(path: Path, half: str = "all") -> list[dict[str, Any]]:
    """Return the phrases of a file: all, or one half."""
    lines = path.read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines if line.strip()]
    return [item for item in items if half == "all" or item.get("half", "dev") == half]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the shares as a table or as JSON; ``--misses`` prints the phrases that were read
    wrongly or not at all.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SET)
    parser.add_argument("--half", choices=(*HALVES, "all"), default="all")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    items = load(given.data, given.half)
    figures = report(items)
    if given.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'':12} {'phrases':>8} {'right %':>9} {'wrong %':>9} {'not read %':>11}")
    for name, of in [
        ("all", figures["all"]),
        *figures["language"].items(),
        *figures["role"].items(),
    ]:
        print(f"{name:12} {of['phrases']:8} {of['right']:9} {of['wrong']:9} {of['not_read']:11}")
    if given.misses:
        for item in items:
            if (result := judge(item)) != "right":
                print(
                    result,
                    item["id"],
                    item["language"],
                    item["said"],
                    repr(item["words"]),
                    item["role"],
                    item["first"],
                )


if __name__ == "__main__":
    main()
