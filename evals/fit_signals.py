"""Fit how much each signal counts in a score: ``python -m evals.fit_signals --locomo PATH``.

It asks LoCoMo's two tuning conversations, the even questions of our own sets and the open halves of the talks in other
shapes through the public API. For each passage that answers, it raises the chance that the passage comes before the
other hits. It prints the numbers fitted on all corpora, and recall where each corpus is ranked with numbers fitted on
the others.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from evals.corpora import ADVERSARIAL, TUNED_ON, Conversation, load
from evals.places import new_book
from evals.retrieval import OWNER, SET_NAMES, SETS, fill
from evals.talk_shapes.shape_halves import NAMES, load_file, write_file
from memoranda import Hit
from memoranda.recall.scoring.signals import COEFFICIENTS, Signal

Floats = NDArray[np.float64]
_HITS = 300
#: Hits that an answering passage is compared with, the best of them.
_OTHERS = 30
#: Every corpus weighs as much as so many questions.
_QUESTIONS = 200
#: How strongly numbers are drawn to 0.
_PENALTY = 30.0
_STEPS = 12


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: a row for each hit, with its score without signals and the strength of each signal."""

    corpus: str
    rows: Floats
    #: Which hits answer; and how many passages answer, found or not.
    answers: NDArray[np.bool_]
    gold: int

    def recall(self, numbers: Floats, cut: int) -> float:
        """Return the share of the answering passages among the first hits, ranked with these numbers."""
        order = np.argsort(-(self.rows @ numbers), kind="stable")
        return float(self.answers[order[:cut]].sum()) / self.gold


def corpora(locomo: Path) -> Iterator[tuple[str, Conversation, int]]:
    """Yield the corpus, the conversation, and the step between the questions that may be used for fitting."""
    for conversation in load(locomo).conversations:
        if conversation.id in TUNED_ON:
            yield "locomo", conversation, 1
    for name in SET_NAMES:
        for conversation in load(SETS / f"{name}.json").conversations:
            yield name, conversation, 2
    with TemporaryDirectory() as folder:
        for name in NAMES:
            for conversation in load_file(write_file(name, "open", Path(folder))).corpus.conversations:
                yield name, conversation, 1


async def ask_all(locomo: Path) -> list[Asked]:
    """Ask every question that may be used for fitting."""
    asked = []
    for corpus, conversation, step in corpora(locomo):
        async with new_book("", embed="auto") as book:
            turn_of = await fill(book, conversation)
            await book.embed()
            for question in conversation.questions[::step]:
                if question.gold and question.kind != ADVERSARIAL:
                    hits = await book.recall(OWNER, question.text, limit=_HITS, types=["message"])
                    answers = np.array(
                        [turn_of[str(hit.id)] in question.gold for hit in hits], dtype=np.bool_
                    )
                    asked.append(
                        Asked(corpus, np.array([_row(hit) for hit in hits]), answers, len(question.gold))
                    )
    return asked


def _row(hit: Hit) -> list[float]:
    amounts = dict(hit.signals)
    return [
        hit.score - sum(amounts.values()),
        *(amounts.get(signal, 0.0) / COEFFICIENTS[signal] for signal in Signal),
    ]


def fit(asked: Sequence[Asked]) -> Floats:
    """Return one number for the score without signals, which is 1, and one for each signal."""
    share = {
        name: _QUESTIONS / sum(one.corpus == name for one in asked) for name in {a.corpus for a in asked}
    }
    differences: list[Floats] = []
    groups: list[NDArray[np.int64]] = []
    weights: list[float] = []
    for one in asked:
        others = np.flatnonzero(~one.answers)
        others = others[np.argsort(-one.rows[others, 0], kind="stable")[:_OTHERS]]
        for answer in np.flatnonzero(one.answers):
            differences.append(one.rows[others] - one.rows[answer])
            groups.append(np.full(len(others), len(weights)))
            weights.append(share[one.corpus] / one.gold)
    rows = np.concatenate(differences)
    spread = rows.std(axis=0) + 1e-9
    numbers: Floats = _minimum(rows / spread, np.concatenate(groups), np.array(weights)) / spread
    return numbers / float(numbers[0])


def _minimum(rows: Floats, groups: NDArray[np.int64], weights: Floats) -> Floats:
    """Minimise by Newton's steps the loss that other hits come before an answering one."""
    numbers = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        odds = np.exp(np.clip(rows @ numbers, -60, 60))
        chance = odds / (1 + np.bincount(groups, odds, minlength=len(weights)))[groups]
        means = np.stack(
            [np.bincount(groups, column * chance, minlength=len(weights)) for column in rows.T], axis=1
        )
        slope = means.T @ weights + _PENALTY * numbers
        bend = (rows * (chance * weights[groups])[:, np.newaxis]).T @ rows
        bend -= (means * weights[:, np.newaxis]).T @ means
        numbers = numbers - np.linalg.solve(bend + _PENALTY * np.eye(len(numbers)), slope)
    return numbers


def lines(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield the fitted numbers, and recall as it is, with the fitted numbers, and with numbers fitted without a corpus."""
    everywhere = fit(asked)
    now = np.array([1.0, *(COEFFICIENTS[signal] for signal in Signal)])
    for signal, number in zip(Signal, everywhere[1:], strict=True):
        yield f"{signal.value:<20}{number:6.2f}   in use: {COEFFICIENTS[signal]:.2f}"
    plain = np.eye(len(now))[0]
    yield f"{'R@5 / R@10':<20}{'no signals':>14}{'in use':>14}{'fitted':>14}{'without it':>14}"
    for name in dict.fromkeys(one.corpus for one in asked):
        mine = [one for one in asked if one.corpus == name]
        without = fit([one for one in asked if one.corpus != name])
        cells = (
            "{:.1f} / {:.1f}".format(
                *(100 * float(np.mean([one.recall(numbers, cut) for one in mine])) for cut in (5, 10))
            )
            for numbers in (plain, now, everywhere, without)
        )
        yield f"{name:<20}" + "".join(f"{cell:>14}" for cell in cells)
    yield "mean of the corpora with all signals, and without one of them"
    for number, name in enumerate(("all", *(signal.value for signal in Signal))):
        left = now * (np.arange(len(now)) != number) if number else now
        yield "{:<20}{:>14}".format(
            name, "{:.1f} / {:.1f}".format(*(_mean(asked, left, cut) for cut in (5, 10)))
        )


def _mean(asked: Sequence[Asked], numbers: Floats, cut: int) -> float:
    """Return the mean over the corpora of their recall, in percent."""
    found: dict[str, list[float]] = {}
    for one in asked:
        found.setdefault(one.corpus, []).append(one.recall(numbers, cut))
    return 100 * float(np.mean([np.mean(values) for values in found.values()]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit the numbers and print them; they are written into ``scoring/signals.py`` by hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True, help="LoCoMo's file")
    given = parser.parse_args(arguments)
    sys.stdout.write("\n".join(lines(asyncio.run(ask_all(given.locomo)))) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
