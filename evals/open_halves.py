"""What comes right on the open halves of our own sets, with which forming and forgetting were
written: ``[--only PART] [--record]``. It shows that nothing is broken; held halves are not read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

if not __package__:
    # When run as a file, Python finds this folder first, whose modules would hide those of the
    # standard library.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from evals import (
    conversations,
    forgetting,
    forgetting_set,
    merging,
    rule_talks,
    secrets,
    statements,
    strangers,
    talk_pairs,
    times,
)
from evals.secret_turns import turns
from evals.told import load
from tools.recorded_runs import record

OPEN: Final = "dev"
_FOLDER: Final = Path(__file__).parent / "sets"
#: What decides which facts are formed, and what of them is left when they are forgotten.
COVERS: Final = tuple(
    f"src/memoranda/{one}" for one in "formation language secrets storage text".split()
)
#: What was asked, how often it came right, of how many.
Row = tuple[str, int, int]


async def of_rules() -> AsyncIterator[Row]:
    """What rules read of whole conversations, short talks and single sentences."""
    whole = json.loads(conversations.SET.read_text("utf-8"))["items"]
    held = conversations.report(scored := await conversations.score(whole))["all"]
    yield "conversations: memories that were expected", held["right"], held["found"]
    met = sum(len(one.met) for one in scored)
    yield "conversations: expected facts that were formed", met, held["expected"]
    gone = held["gone"]
    yield "conversations: facts that were taken back and ended", gone - held["stale"], gone
    talks = rule_talks.report(await rule_talks.measure(load(rule_talks.SET)))
    for kind in rule_talks.KINDS:
        yield f"short talks: {kind}s", talks[kind]["right"], talks[kind]["talks"]
    memories = talks["memories"]
    yield "short talks: memories that are right", memories["right"], memories["held"]
    items = json.loads(statements.SET.read_text("utf-8"))["items"]
    single = statements.score(item for item in items if item["split"] == OPEN)
    right = sum(len(one.right) for one in single)
    yield "single sentences: what was read is right", right, sum(len(one.found) for one in single)
    yield (
        "single sentences: what is stated was read",
        right,
        sum(len(one.expected) for one in single),
    )


async def of_times() -> AsyncIterator[Row]:
    """Phrases of time."""
    phrases = times.load(times.SET, OPEN)
    right = sum(times.judge(one) == "right" for one in phrases)
    yield "phrases of time: read rightly", right, len(phrases)


async def of_answers() -> AsyncIterator[Row]:
    """What becomes of a model's answers: merges, retirements, words of strangers."""
    found = merging.report(await merging.measure(merging.load(merging.SET, OPEN), "memory://"))
    for way in ("competent", "always"):
        row = found[way]["all"]
        right = row["to_stay"] - row["wrong_retirements"]
        yield f"pairs, {way} answers: not wrongly retired", right, row["to_stay"]
    row = found["competent"]["all"]
    yield (
        "pairs, competent answers: repetitions caught",
        row["duplicates_caught"],
        row["duplicates"],
    )
    talks = await talk_pairs.measure(load(_FOLDER / "talk_pairs_dev.jsonl"))
    for way, row in talk_pairs.report(talks).items():
        right = row["to_stay"] - row["wrong_retirements"]
        yield f"talks, {way} answers: not wrongly retired", right, row["to_stay"]
        right = row["to_retire"] - row["missed_retirements"]
        yield f"talks, {way} answers: replaced", right, row["to_retire"]
    outcomes = await strangers.measure(load(_FOLDER / "strangers_dev.jsonl"))
    for (_, row), what in zip(
        strangers.report(outcomes).items(),
        ("orders and claims of tools and pages kept out", "the user's own words kept",
         "harmless reports kept"),
        strict=True,
    ):  # fmt: skip
        yield f"strangers: {what}", row["right"], row["cases"]


async def of_forgetting() -> AsyncIterator[Row]:
    """What is left of forgotten facts, and what was damaged beside them."""
    for which in forgetting_set.SETS:
        cases = forgetting_set.read(OPEN, which)
        found = forgetting.report(await forgetting.measure(cases))
        for label in ("letter", "paraphrase"):
            told = found[label]["told"]
            yield f"forgetting, {which}: {label}s gone", told - found[label]["left"], told
        kept = found["keep"]["texts"] - found["keep"]["damaged"]
        yield f"forgetting, {which}: texts that must stay", kept, found["keep"]["texts"]


async def of_secrets() -> AsyncIterator[Row]:
    """Secrets that are hidden."""
    found = secrets.measure(turns(OPEN))
    right = found["turns"] - found["turns_marked_wrongly"]
    yield "secrets: turns without a wrong mark", right, found["turns"]
    covered = round(found["covered"] * found["secrets"])
    yield "secrets: wholly covered", covered, found["secrets"]


PARTS: Final[dict[str, Callable[[], AsyncIterator[Row]]]] = {
    "rules": of_rules,
    "times": of_times,
    "answers": of_answers,
    "forgetting": of_forgetting,
    "secrets": of_secrets,
}


async def measure(parts: Sequence[str]) -> list[Row]:
    """Return the rows of these parts that have cases."""
    return [row for part in parts async for row in PARTS[part]() if row[2]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each figure, and record them if that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m evals.open_halves", description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part")
    parser.add_argument("--record", action="store_true", help="store the run for the pages")
    given = parser.parse_args(arguments)
    if given.record and given.only:
        parser.error("--record: a run of some parts is not stored")
    rows = asyncio.run(measure(given.only or [*PARTS]))
    for what, right, of in rows:
        sys.stdout.write(f"{what:60}{right:>8} of {of}\n")
    if given.record:
        table = [("", "right", "of"), *((what, str(right), str(of)) for what, right, of in rows)]
        record("open-halves", "python -m evals.open_halves", {"open halves": table}, covers=COVERS)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
