"""Measure whether confidence tells questions with an answer from those without: ``python -m
evals.confidence``.

It asks every question of the talks in other shapes, the open halves or with ``--held`` the held
ones. ``--fit`` fits the curves on the open halves and prints them; they are written into
``scoring/ranking.py`` by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from evals.places import new_book
from evals.retrieval import MODES, OWNER, fill
from evals.talk_shapes.shape_halves import NAMES, Loaded, load_file, write_file
from memoranda.recall.scoring import ranking
from memoranda.recall.scoring.ranking import Ranking, clues_of
from tools.recorded_runs import RANKING, record

Floats = NDArray[np.float64]
_HITS = 10
#: The edges of the table that compares confidence with what was right.
_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.01)
#: The curve that each mode is to be fitted for: with words, with vectors.
_CURVE_OF = {"hybrid": (True, True), "words": (True, False), "meaning": (False, True)}
_STEPS = 12
_PENALTY = 1.0


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and its hits: the clues of each (a row), whether it answers, and its
    confidence.
    """

    corpus: str
    answerable: bool
    clues: Floats
    answers: NDArray[np.bool_]
    confidence: Floats
    curve: tuple[bool, bool]


def halves(*, held: bool) -> Iterator[tuple[str, Loaded]]:
    """Yield the half of each corpus."""
    with TemporaryDirectory() as folder:
        for name in NAMES:
            path = write_file(name, "held" if held else "open", Path(folder), held=held)
            yield name, load_file(path, held=held)


async def ask_all(mode: str, *, held: bool) -> list[Asked]:
    """Ask every question, with an answer and without."""
    asked = []
    for name, loaded in halves(held=held):
        for conversation in loaded.corpus.conversations:
            async with new_book("", embed=None if mode == "words" else "auto") as book:
                turn_of = await fill(book, conversation)
                await book.admin.embed()
                questions = [(one.text, one.gold) for one in conversation.questions]
                questions += [
                    (text, frozenset()) for id, text in loaded.unanswerable if id == conversation.id
                ]
                for text, gold in questions:
                    seen: list[Ranking] = []
                    with patch.object(
                        ranking,
                        "clues_of",
                        lambda found, to=seen: to.append(found) or clues_of(found),
                    ):
                        hits = await book.recall(
                            OWNER, text, limit=_HITS, types=["message"], mode=mode
                        )
                    if not hits:
                        none = np.zeros(1)
                        asked.append(
                            Asked(name, bool(gold), none[:0], none > 0, none, (False, False))
                        )
                        continue
                    asked.append(
                        Asked(
                            name,
                            bool(gold),
                            # Where one is folded into another, clues and hits are not in step.
                            np.array(clues_of(seen[-1]))[
                                : 0 if any(hit.folded for hit in hits) else len(hits)
                            ],
                            np.array([turn_of[str(hit.id)] in gold for hit in hits]),
                            np.array([hit.confidence for hit in hits]),
                            (seen[-1].words is not None, seen[-1].ahead is not None),
                        )
                    )
    return asked


def fit(asked: Sequence[Asked]) -> Floats:
    """Return how much each clue counts, and a number for every hit; every corpus has equal
    weight.
    """
    sizes = {name: sum(len(one.answers) for one in asked if one.corpus == name) for name in NAMES}
    rows = np.concatenate([np.c_[one.clues, np.ones(len(one.clues))] for one in asked])
    right = np.concatenate([one.answers for one in asked]).astype(float)
    weights = np.concatenate(
        [np.full(len(one.answers), len(right) / len(NAMES) / sizes[one.corpus]) for one in asked]
    )
    numbers = np.zeros(rows.shape[1])
    # The last number, for every hit, is not drawn to 0.
    penalty = _PENALTY * np.array([1.0] * (len(numbers) - 1) + [0.0])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-(rows @ numbers)))
        slope = rows.T @ (weights * (chance - right)) + penalty * numbers
        bend = (rows * (weights * chance * (1 - chance))[:, np.newaxis]).T @ rows + np.diag(
            penalty + 1e-9
        )
        numbers = numbers - np.linalg.solve(bend, slope)
    return numbers


def area(scores: Floats, right: NDArray[np.bool_]) -> float:
    """Return the chance that a right one has a higher score than a wrong one; ties count half."""
    wrong = np.sort(scores[~right])
    below, upto = (np.searchsorted(wrong, scores[right], side) for side in ("left", "right"))
    return float((below + upto).mean() / (2 * len(wrong)))


def report(asked: Sequence[Asked], best: Sequence[float] | None = None) -> dict[str, Any]:
    """Return the areas, for each corpus and together, and the table of confidence beside what was
    right.
    """
    tops = np.array([one.confidence.max() for one in asked]) if best is None else np.array(best)
    answerable = np.array([one.answerable for one in asked])
    names = np.array([one.corpus for one in asked])
    hits = np.concatenate([one.confidence for one in asked])
    right = np.concatenate([one.answers for one in asked])
    table = []
    for low, high in pairwise(_EDGES):
        inside = (hits >= low) & (hits < high)
        among = tops >= low
        table.append(
            {
                "from": low,
                "hits": int(inside.sum()),
                "right": round(100 * float(right[inside].mean()), 1) if inside.any() else None,
                # With this value as ``at_least``:
                "answerable_left": round(100 * float(among[answerable].mean()), 1),
                "unanswerable_left": round(100 * float(among[~answerable].mean()), 1),
                "right_hits_left": round(100 * float((hits[right] >= low).mean()), 1),
            }
        )
    return {
        "answerable": int(answerable.sum()),
        "unanswerable": int((~answerable).sum()),
        "area": round(area(tops, answerable), 3),
        "area_of_hits": round(area(hits, right), 3),
        "areas": {
            name: round(area(tops[names == name], answerable[names == name]), 3) for name in NAMES
        },
        "curve": table,
    }


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield a report as a table."""
    yield f"{found['answerable']} questions with an answer, {found['unanswerable']} without"
    yield f"area by a question's surest hit: {found['area']}; of hits: {found['area_of_hits']}"
    yield ", ".join(f"{name} {value}" for name, value in found["areas"].items())
    columns = ("from", "hits", "right", "answerable_left", "unanswerable_left", "right_hits_left")
    yield "".join(f"{column:>19}" for column in columns)
    for row in found["curve"]:
        yield "".join(f"{'-' if row[column] is None else row[column]:>19}" for column in columns)


def page_tables(found: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    """Return a report as tables of a page."""
    columns = {
        "from": "`at_least`",
        "hits": "hits up to the next row",
        "right": "answering %",
        "answerable_left": "with an answer, kept %",
        "unanswerable_left": "without, kept %",
        "right_hits_left": "answering hits kept %",
    }
    areas = {
        "all, by a question's surest hit": found["area"],
        "all, of single hits": found["area_of_hits"],
    }
    return {
        "area under the curve": [
            ["", "area"],
            *([name, str(one)] for name, one in (areas | found["areas"]).items()),
        ],
        columns["from"]: [
            list(columns.values()),
            *(
                ["-" if row[name] is None else str(row[name]) for name in columns]
                for row in found["curve"]
            ),
        ],
    }


def without_each(asked: Sequence[Asked]) -> list[float]:
    """Return the confidence of each question's surest hit, with curves that were fitted on the
    other corpora.
    """
    found: list[float] = []
    for name in NAMES:
        *slopes, base = fit([one for one in asked if one.corpus != name])
        mine = [one for one in asked if one.corpus == name]
        found += [float((one.clues @ np.array(slopes) + base).max()) for one in mine]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure confidence, or fit its curves, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--held", action="store_true", help="the held halves, which are opened once"
    )
    parser.add_argument(
        "--fit", action="store_true", help="fit the curve of each mode on the open halves"
    )
    parser.add_argument("--mode", choices=MODES, default="hybrid", help="the way to search")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--record", action="store_true", help="store the run for the pages that show it"
    )
    given = parser.parse_args(arguments)
    if given.fit:
        for mode in MODES:
            asked = [
                one
                for one in asyncio.run(ask_all(mode, held=False))
                if one.curve == _CURVE_OF[mode]
            ]
            asked = [one for one in asked if len(one.clues)]
            numbers = ", ".join(f"{number:.2f}" for number in fit(asked))
            apart = report(asked, without_each(asked))["area"]
            sys.stdout.write(
                f"{mode}: ({numbers}); area with curves of the other corpora {apart}\n"
            )
        return 0
    found = report(asyncio.run(ask_all(given.mode, held=given.held)))
    sys.stdout.write((json.dumps(found) if given.json else "\n".join(lines(found))) + "\n")
    if given.record:
        command = f"python -m evals.confidence{' --held' * given.held} --mode {given.mode}"
        record("confidence", command, page_tables(found), covers=RANKING)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
