"""Shares of secrets that are found, and of turns where text is wrongly hidden: ``[--half
dev|held|all | --data PATH] [--json] [--show N]``, on labelled turns.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

if not __package__:
    # When run as a file, Python finds this folder first, whose modules would hide those of the
    # standard library.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from evals.secret_turns import HALVES, turns
from memoranda.secrets.detection import find_secrets
from memoranda.secrets.spans import Secret


def read(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Read the turns of a set: JSON Lines with ``text``, ``secrets`` (start, end, class), and
    perhaps ``optional`` spans.
    """
    return [json.loads(line) for line in lines if line.strip()]


def measure(labelled: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Count the turns with a wrongly marked span and, for each class, the secrets that are wholly
    covered.

    A span is wrong if it touches no labelled secret and no span that the set calls optional.
    """
    wrong, covered, there, missed = [], Counter[str](), Counter[str](), []
    for turn in labelled:
        found = find_secrets(turn["text"])
        allowed = [*turn["secrets"], *turn.get("optional", ())]
        if any(not any(_touch(one, each) for each in allowed) for one in found):
            wrong.append(turn)
        for secret in turn["secrets"]:
            there[secret["class"]] += 1
            if any(one.start <= secret["start"] and secret["end"] <= one.end for one in found):
                covered[secret["class"]] += 1
            else:
                missed.append({**turn, "missed": secret})
    return {
        "turns": len(labelled),
        "turns_marked_wrongly": len(wrong),
        "one_in": len(labelled) / len(wrong) if wrong else None,
        "secrets": sum(there.values()),
        "covered": _share(sum(covered.values()), sum(there.values())),
        "classes": {
            name: {"secrets": there[name], "covered": _share(covered[name], there[name])}
            for name in sorted(there)
        },
        "wrong": wrong,
        "missed": missed,
    }


def _touch(one: Secret, span: Mapping[str, Any]) -> bool:
    return one.start < int(span["end"]) and int(span["start"]) < one.end


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _table(found: Mapping[str, Any], show: int) -> str:
    rows = [
        f"{found['turns']} turns, {found['turns_marked_wrongly']} with a span marked wrongly",
        f"{found['secrets']} secrets, {found['covered'] or 0:.1%} wholly covered",
    ]
    rows += [
        f"  {name:<14}{one['secrets']:>6}{one['covered']:>9.1%}"
        for name, one in found["classes"].items()
    ]
    rows += [f"wrong: {turn['text']!r}" for turn in found["wrong"][:show]]
    rows += [f"missed: {turn['missed']} {turn['text']!r}" for turn in found["missed"][:show]]
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a labelled set, and print the figures; no text is printed unless ``--show`` asks for
    it.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--half",
        choices=(*HALVES, "all"),
        default="all",
        help="a half of our own set (default: all)",
    )
    source.add_argument(
        "--data", type=Path, help="JSON Lines instead, made by somebody who does not know the rules"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="print the first N faults of each sort"
    )
    given = parser.parse_args(arguments)
    if given.data is None:
        halves = HALVES if given.half == "all" else (given.half,)
        found = measure([turn for half in halves for turn in turns(half)])
    else:
        with given.data.open(encoding="utf-8") as lines:
            found = measure(read(lines))
    figures = {name: value for name, value in found.items() if name not in ("wrong", "missed")}
    print(json.dumps(figures, indent=2) if given.json else _table(found, given.show))


if __name__ == "__main__":
    main()
