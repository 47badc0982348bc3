"""Fit how much each term of the ranking counts: ``python -m evals.fit_ranking [--locomo PATH]``.

It asks our own chats and notes, and the open halves of our talks with an assistant and with pasted
documents, through the public API, and finds the coefficients with which the passages that answer
come first: a softmax over each question's passages, in which every set has the same weight and so
has every question of a set. Speakers and length count only among people with names, so those are
fitted on the open half of our group chats. A named day is not fitted: too few questions name one.
The same data give the same numbers. They are written into ``scoring/ranking.py`` by hand. With
LoCoMo's file, whose licence forbids commercial use, it also prints what its two tuning
conversations would give.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from evals.corpora import ADVERSARIAL, TUNED_ON, Conversation, load
from evals.places import new_book
from evals.retrieval import OWNER, SET_NAMES, SETS, fill
from evals.talk_shapes.shape_halves import load_file, write_file
from memoranda.recall.scoring import search
from memoranda.recall.scoring.ranking import COEFFICIENTS, OF_YOU, Ranks, Term, rank

Floats = NDArray[np.float64]
#: The talks of a user and an assistant that it also asks, and the set in which people have names;
#: of each the open half.
_SHAPES, _NAMED = ("assistant_talks", "pasted_documents"), "group_chats"
_STEPS = 60
#: The terms that are the same whatever the coefficients are.
_PLAIN = (Term.WORDS, Term.MEANING, Term.SPEAKER, Term.USER, Term.LENGTH)
#: How strongly coefficients are drawn to 0.
_PENALTY = 1e-4


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: for each passage what each term would add with a coefficient of 1, its thread,
    and if it answers.
    """

    corpus: str
    units: Mapping[Term, Floats]
    threads: NDArray[np.int64]
    answers: NDArray[np.bool_]

    def rows(self, numbers: Mapping[Term, float]) -> Floats:
        """Return one row for each term; that of the conversation depends on the coefficients of
        words and meaning.
        """
        own = sum(numbers[term] * self.units[term] for term in (Term.WORDS, Term.MEANING))
        best = np.full(self.threads.max() + 1, -1.0)
        np.maximum.at(best, self.threads, own)
        return np.array(
            [best[self.threads] if term is Term.CONVERSATION else self.units[term] for term in Term]
        ) * (own > 0)

    def figures(self, numbers: Mapping[Term, float]) -> Floats:
        """Return recall among the first five and the first ten, and one over the rank of the first
        that answers.
        """
        scores = np.array([numbers[term] for term in Term]) @ self.rows(numbers)
        right = self.answers[np.argsort(-scores, kind="stable")]
        first = np.flatnonzero(right)
        return np.array(
            [right[:5].sum() / right.sum(), right[:10].sum() / right.sum(), 1 / (first[0] + 1)]
        )


def own_conversations() -> Iterator[tuple[str, Conversation]]:
    """Yield the conversations that the coefficients are fitted on, each with the name of its
    set.
    """
    for name in SET_NAMES:
        for conversation in load(SETS / f"{name}.json").conversations:
            yield name, conversation
    for name in (*_SHAPES, _NAMED):
        with TemporaryDirectory() as folder:
            for conversation in load_file(
                write_file(name, "open", Path(folder))
            ).corpus.conversations:
                yield name, conversation


def of_locomo(path: Path) -> Iterator[tuple[str, Conversation]]:
    """Yield LoCoMo's two conversations that are there for tuning."""
    for conversation in load(path).conversations:
        if conversation.id in TUNED_ON:
            yield "locomo", conversation


async def ask_all(conversations: Iterator[tuple[str, Conversation]]) -> list[Asked]:
    """Ask every question."""
    asked = []
    for corpus, conversation in conversations:
        async with new_book("", embed="auto") as book:
            turn_of = await fill(book, conversation)
            await book.admin.embed()
            for question in conversation.questions:
                if not question.gold or question.kind == ADVERSARIAL:
                    continue
                seen: list[tuple[Any, ...]] = []

                def watch(*given: Any, to: list[tuple[Any, ...]] = seen) -> Ranks:
                    to.append(given)
                    return rank(*given)

                # Every passage is scored exactly.
                with patch.object(search, "SHORT", 10**9), patch.object(search, "rank", watch):
                    await book.recall(OWNER, question.text, limit=1, types=["message"])
                if seen:
                    asked.append(_asked(corpus, seen[-1], turn_of, question.gold))
    return asked


def _asked(
    corpus: str, given: tuple[Any, ...], turn_of: Mapping[str, str], gold: frozenset[str]
) -> Asked:
    field, places, own, named = given
    none = np.zeros(len(places))
    share = (OF_YOU if named.you else 1.0) * float(field.voices.are_user_and_assistant)
    turns = [turn_of[str(UUID(bytes=id))] for id in field.ids(places).view("V16").tolist()]
    units = {
        Term.WORDS: own.get(Term.WORDS, none) / COEFFICIENTS[Term.WORDS],
        Term.MEANING: own.get(Term.MEANING, none) / COEFFICIENTS[Term.MEANING],
        Term.SPEAKER: none if named.speakers is None else named.speakers.take(places).astype(float),
        Term.DAY: none if named.days is None else named.days.take(places).astype(float),
        Term.USER: ~field.others.take(places) * share,
        Term.LENGTH: field.length_logarithms.take(places) * float(field.voices.names > 0),
    }
    return Asked(
        corpus, units, field.thread.take(places), np.array([turn in gold for turn in turns])
    )


class Rows:
    """The passages of all questions in one table: a row for each passage of each question."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        lengths = [len(one.answers) for one in asked]
        self.starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        self.question = np.repeat(np.arange(len(asked)), lengths)
        self.units = np.stack(
            [np.concatenate([one.units[term] for one in asked]) for term in _PLAIN]
        )
        self.answers = np.concatenate([one.answers for one in asked])
        threads = np.concatenate([one.threads for one in asked])
        self.thread = np.unique(self.question * (threads.max() + 1) + threads, return_inverse=True)[
            1
        ]
        corpora = [one.corpus for one in asked]
        sizes = {name: corpora.count(name) * len(set(corpora)) for name in corpora}
        #: The weight of each answering passage.
        self.right = np.flatnonzero(self.answers)
        shared = np.array([1 / sizes[one.corpus] / one.answers.sum() for one in asked])
        self.weights = shared.take(self.question.take(self.right))

    def loss(self, numbers: Floats) -> tuple[float, Floats, Floats]:
        """Return the loss that passages which do not answer come before one that does, its slope
        and its curvature.
        """
        *plain, lent = numbers
        own = plain[0] * self.units[0] + plain[1] * self.units[1]
        order = np.lexsort((own, self.thread))
        best = order[
            np.append(np.flatnonzero(np.diff(self.thread.take(order))), len(order) - 1)
        ].take(self.thread)
        rows = np.vstack([self.units, own.take(best)]) * (own > 0)
        rows[:2] += lent * self.units[:2].take(best, axis=1) * (own > 0)
        scores = (
            np.array([*plain, 0.0]) @ np.vstack([self.units, own]) * (own > 0) + lent * rows[-1]
        )
        scores -= np.maximum.reduceat(scores, self.starts).take(self.question)
        odds = np.exp(scores)
        others = odds * ~self.answers
        whole = np.add.reduceat(others, self.starts)
        mine = self.question.take(self.right)
        with_it = whole.take(mine) + odds.take(self.right) + 1e-300
        chance = odds.take(self.right) / with_it
        loss = -float(self.weights @ np.log(chance + 1e-300)) + _PENALTY * float(numbers @ numbers)
        sums = np.add.reduceat(rows * others, self.starts, axis=1)
        means = (
            sums.take(mine, axis=1) + odds.take(self.right) * rows.take(self.right, axis=1)
        ) / with_it
        slope = (means - rows.take(self.right, axis=1)) @ self.weights + 2 * _PENALTY * numbers
        counts = others * np.bincount(mine, self.weights / with_it, len(whole)).take(self.question)
        counts[self.right] += self.weights * chance
        curvature = (rows * counts) @ rows.T - (means * self.weights) @ means.T
        return loss, slope, curvature + 2 * _PENALTY * np.eye(len(numbers))


def fit(asked: Sequence[Asked]) -> dict[Term, float]:
    """Return the coefficients, found by damped Newton steps; that of meaning is 1."""
    rows, numbers, damping = Rows(asked), np.array([0.3, 3.0, 0.5, 0.5, 0.5, 0.3]), 1e-3
    loss, slope, bend = rows.loss(numbers)
    for _ in range(_STEPS):
        step = np.linalg.solve(bend + damping * np.diag(np.diag(bend)), slope)
        tried = rows.loss(numbers - step)
        if tried[0] < loss:
            numbers, (loss, slope, bend), damping = numbers - step, tried, damping / 4
        else:
            damping *= 8
    found = dict(zip(_PLAIN, (numbers[:-1] / numbers[1]).tolist(), strict=True))
    return found | {Term.CONVERSATION: float(numbers[-1])}


def table(asked: Sequence[Asked], fitted: Mapping[Term, float]) -> Iterator[str]:
    """Yield R@5, R@10 and MRR of each set: as it is, with the fitted numbers, and without each
    term.
    """
    names = list(dict.fromkeys(one.corpus for one in asked))
    yield f"{'R@5 / R@10 / MRR':<32}" + "".join(f"{name:>22}" for name in names)
    variants = {"in use": COEFFICIENTS, "fitted": fitted}
    variants |= {f"in use, without {term.value}": {**COEFFICIENTS, term: 0.0} for term in Term}
    for title, numbers in variants.items():
        cells = []
        for name in names:
            means = 100 * np.mean(
                [one.figures(numbers) for one in asked if one.corpus == name], axis=0
            )
            cells.append("{:.1f} / {:.1f} / {:.1f}".format(*means))
        yield f"{title:<32}" + "".join(f"{cell:>22}" for cell in cells)


def fitted_on(single: Sequence[Asked], named: Sequence[Asked]) -> dict[Term, float]:
    """Return the coefficients: those of speakers and length are fitted among people with names, the
    others elsewhere.
    """
    found, of_names = fit(single), fit(named)
    return found | {term: of_names[term] for term in (Term.SPEAKER, Term.LENGTH)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit the coefficients and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--locomo", type=Path, help="LoCoMo's file: also what its tuning conversations would give"
    )
    given = parser.parse_args(arguments)
    own = asyncio.run(ask_all(own_conversations()))
    single = [one for one in own if one.corpus != _NAMED]
    fitted = fitted_on(single, [one for one in own if one.corpus == _NAMED])
    pair = list[Asked]() if given.locomo is None else asyncio.run(ask_all(of_locomo(given.locomo)))
    other = fit([*single, *pair]) if pair else {}
    for term in fitted:
        beside = f"   with LoCoMo's pair {other[term]:6.3f}" if pair else ""
        sys.stdout.write(
            f"{term.value:<24}{fitted[term]:6.3f}   in use {COEFFICIENTS[term]:6.3f}{beside}\n"
        )
    sys.stdout.write("\n".join(table([*own, *pair], COEFFICIENTS | fitted)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
