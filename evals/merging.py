"""Wrong merges and wrong retirements: ``[--data PATH] [--half dev|held|all] [--talks PATH]
[--json]``, on labelled sets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals import talk_pairs
from evals.pairs import EXPECTED, FAULTS, RULES, Outcome, judge
from evals.scripted import WAYS
from evals.told import load as load_talks
from memoranda.assembly import open_engine

#: The labelled set of our own.
SET: Final = Path(__file__).parent / "sets" / "merges.json"
HALVES: Final = ("dev", "held")
COLUMNS: Final = (*(way.name for way in WAYS), RULES)


async def measure(
    items: Sequence[Mapping[str, Any]], address: str | Path
) -> dict[str, list[Outcome]]:
    """Run every pair under every column, each column in a book of its own."""
    found = {}
    for column in COLUMNS:
        place = address / f"{column}.db" if isinstance(address, Path) else address
        engine = await open_engine(place)
        try:
            found[column] = [await judge(item, column, engine) for item in items]
        finally:
            await engine.close()
    return found


def report(found: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    """Return the figures of each column: of all pairs, and of each relation."""
    figures = {}
    for column, outcomes in found.items():
        relations = sorted({one.relation for one in outcomes})
        figures[column] = {
            "all": _figures(outcomes),
            "relations": {
                name: _figures([one for one in outcomes if one.relation == name])
                for name in relations
            },
        }
    return figures


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    faults = Counter(fault for one in outcomes for fault in one.faults)
    stay = sum(one.stays for one in outcomes)
    twice = sum(one.expect == "confirm" for one in outcomes)
    retired = sum(not one.kept for one in outcomes)
    wrong, caught = faults["wrong_retirements"], twice - faults["missed_duplicates"]
    return {
        "pairs": len(outcomes),
        "to_stay": stay,
        "retired": retired,
        **{name: faults[name] for name in FAULTS if name != "missed_duplicates"},
        "wrong_retirements_percent": _percent(wrong, stay),
        "wrong_of_retired_percent": _percent(wrong, retired),
        "duplicates": twice,
        "duplicates_caught": caught,
        "duplicates_caught_percent": _percent(caught, twice),
    }


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


_SHOWN: Final = (
    ("pairs", "pairs"),
    ("to_stay", "to stay"),
    ("retired", "retired"),
    ("wrong_retirements", "wrongly"),
    ("wrong_retirements_percent", "%"),
    ("missed_retirements", "missed"),
    ("duplicates", "twice"),
    ("duplicates_caught", "caught"),
    ("duplicates_caught_percent", "%"),
    ("wrong_merges", "wrongly merged"),
    ("not_noted", "not noted"),
)


def lines(figures: Mapping[str, Any]) -> list[str]:
    """Return the figures as tables, one for each column."""
    about = {way.name: f"{way.name}: {way.about}" for way in WAYS}
    head = f"{'':14}" + "".join(f"{title:>{max(8, len(title) + 2)}}" for _, title in _SHOWN)
    table = []
    for column, row in figures.items():
        table += [about.get(column, f"{column}: no model at all"), head]
        for name, each in [("all", row["all"]), *row["relations"].items()]:
            cells = (
                f"{'-' if each[key] is None else each[key]:>{max(8, len(title) + 2)}}"
                for key, title in _SHOWN
            )
            table.append(f"{name:14}" + "".join(cells))
        table.append("")
    return table


def misses(found: Mapping[str, Iterable[Outcome]], items: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return everything that went wrong, with its statements."""
    texts = {item["id"]: (item["old"]["content"], item["new"]["content"]) for item in items}
    return [
        f"{column} {one.id} {one.relation}: {', '.join(sorted(one.faults))} {' '.join(one.told)}\n"
        f"    {texts[one.id][0]!r} -> {texts[one.id][1]!r}"
        for column, outcomes in found.items()
        for one in outcomes
        if one.faults
    ]


def load(path: Path, half: str) -> list[dict[str, Any]]:
    """Return the pairs of one half, or of both."""
    items = json.loads(path.read_text("utf-8"))["items"]
    for item in items:
        texts = [item[name] for name in ("id", "relation", "expect", "split")]
        for which in ("old", "new"):
            texts += [item[which]["content"], item[which]["kind"]]
            texts += [
                text for name in ("key", "subject") if (text := item[which][name]) is not None
            ]
        if (
            not all(isinstance(text, str) and text for text in texts)
            or item["expect"] not in EXPECTED
        ):
            raise ValueError(f"{item['id']!r} is no labelled pair")
    return [item for item in items if half in (item["split"], "all")]


async def _measured(items: Sequence[Mapping[str, Any]]) -> tuple[dict[str, list[Outcome]], bool]:
    """Return the outcome of all pairs in a book in memory, and True if books in files agree."""
    found = await measure(items, "memory://")
    with tempfile.TemporaryDirectory() as folder:
        return found, found == await measure(items, Path(folder))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python evals/merging.py", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=SET, help="the labelled set; by default our own"
    )
    parser.add_argument(
        "--half",
        choices=(*HALVES, "all"),
        default="dev",
        help="the half to score; misses are shown for dev alone",
    )
    parser.add_argument(
        "--talks", type=Path, help="cases of several messages with an answer, one a line"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    given = parser.parse_args(arguments)
    try:
        items = load(given.data, given.half)
        talks = load_talks(given.talks) if given.talks else []
    except (OSError, ValueError, KeyError, TypeError) as exc:
        parser.error(f"{given.data} is no labelled set: {exc!r}")
    found, agree = asyncio.run(_measured(items))
    figures = {
        "half": given.half,
        "pairs": len(items),
        "stores_agree": agree,
        "columns": report(found),
    }
    if talks:
        figures["talks"] = talk_pairs.report(asyncio.run(talk_pairs.measure(talks)))
    if given.json:
        sys.stdout.write(json.dumps(figures) + "\n")
        return 0
    talked = talk_pairs.lines(figures.get("talks", {}))
    shown = [
        *lines(figures["columns"]),
        *talked,
        f"in memory and in a file the same: {'yes' if agree else 'NO'}",
    ]
    sys.stdout.write(
        "\n".join([*shown, *(["", *misses(found, items)] if given.half == "dev" else [])]) + "\n"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
