"""Scoring by words: BM25 over a field, for each passage alone and together with its neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.columns import Numbers
from memoranda.recall.fields import K1, Field, Line, Neighbourhood, counts_with_near, one_of, with_near
from memoranda.text.terms import TermGroup


@dataclass(frozen=True, slots=True)
class WordMatches:
    """The places of a field that contain words of a question: one element for each word and place."""

    places: Numbers
    counts: NDArray[np.float64]
    #: The word, by its position in the question.
    words: Numbers
    #: The weight of each word: rare words weigh more.
    weights: NDArray[np.float64]

    @property
    def upper_bound(self) -> float:
        """A score that no passage reaches: that of every word, repeated without end."""
        return float(np.add.reduce(self.weights))


class WordScores(NamedTuple):
    """The scores of some places; arrays have one element a place."""

    own: NDArray[np.float64]
    near: NDArray[np.float64]
    #: What each word adds to ``own``; one row a word.
    shares: NDArray[np.float64]


def matches_of(field: Field, groups: Sequence[TermGroup], dated: Sequence[Numbers]) -> WordMatches | None:
    """Find the places with the question's words; ``dated`` gives the places that lie in each of its times."""
    hashes = np.array([hash for group in groups for hash in group.hashes], dtype=np.uint64)
    word_of = [word for word, group in enumerate(groups) for _ in group.hashes]
    word_numbers: list[int] = []
    sizes: list[int] = []
    all_places: list[Numbers] = []
    all_counts: list[NDArray[np.integer]] = []
    for segment, base in zip(field.segments, field.bases, strict=False):
        there = list(segment.occurrences(hashes, word_of))
        if there:
            word_numbers += [word for word, _, _ in there]
            sizes += [len(rows) for _, rows, _ in there]
            rows = one_of([rows for _, rows, _ in there])
            all_places.append(field.place.take(rows + base if base else rows))
            all_counts += [counts for _, _, counts in there]
    for nth, dates in enumerate(dated, start=len(groups)):
        word_numbers.append(nth)
        sizes.append(len(dates))
        all_places.append(dates)
        all_counts.append(np.ones(len(dates), dtype=np.uint8))
    if not sum(sizes):
        return None
    return _matches(
        field,
        one_of(all_places),
        one_of(all_counts),
        np.repeat(word_numbers, sizes),
        len(groups) + len(dated),
    )


def counted(field: Field, groups: Sequence[TermGroup]) -> list[int]:
    """Return the number of passages of a field that contain each word."""
    found = matches_of(field, groups, ())
    if found is None:
        return [0] * len(groups)
    counts: list[int] = np.bincount(found.words, minlength=len(groups)).tolist()
    return counts


def _matches(
    field: Field, places: Numbers, counts: NDArray[np.integer], words: Numbers, different: int
) -> WordMatches | None:
    if not field.is_whole:
        keep = places < field.hole
        places, counts, words = places[keep], counts[keep], words[keep]
    holders = field.held_by(np.bincount(words, minlength=different).tolist())
    weights = [(K1 + 1) * math.log(1 + (field.living - one + 0.5) / (one + 0.5)) for one in holders]
    return WordMatches(places, counts.astype(np.float64), words, np.array(weights)) if len(places) else None


def word_scores_everywhere(field: Field, found: WordMatches, places: Numbers) -> WordScores:
    """Score these places by scoring the whole line; for lines that are not long."""
    held = _by_word(found.words, found.places, found.counts, len(found.weights), field.hole + 1)
    near = counts_with_near(held, field.ends)
    whole = _scores(found, held, near, field.own_penalty, field.near_penalty)
    return WordScores(whole.own.take(places), whole.near.take(places), whole.shares.take(places, axis=1))


def word_scores_at(field: Field, found: WordMatches, around: Neighbourhood) -> WordScores:
    """Score a few places of a long line."""
    width = len(around.places)
    column = np.full(field.hole + 1, -1)
    column[around.places] = np.arange(width)
    columns = column.take(found.places)
    sought = np.flatnonzero(columns >= 0)
    held = _by_word(
        found.words.take(sought), columns.take(sought), found.counts.take(sought), len(found.weights), width
    )
    near = counts_with_near(held, around.threads)
    own, near = held.take(around.at, axis=1), near.take(around.at, axis=1)
    places = around.places.take(around.at)
    return _scores(found, own, near, field.own_penalty.take(places), field.near_penalty.take(places))


def estimated_word_scores(field: Field, found: WordMatches) -> tuple[Line, Line]:
    """Return the own scores of a whole line, and estimates of the scores together with neighbours."""
    shares = found.weights.take(found.words)
    shares *= found.counts
    shares /= field.own_penalty.take(found.places) + found.counts
    # ``_summed`` adds in the order given: word by word.
    own = _summed(found.places, shares, field.hole + 1)
    return own, with_near(own, field.ends)


def _summed(at: Numbers, amounts: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """For each number below ``size`` return the sum of its amounts, added in the order given."""
    return cast(NDArray[np.float64], np.bincount(at, amounts, minlength=size))


def _by_word(
    words: Numbers, columns: Numbers, counts: NDArray[np.float64], different: int, width: int
) -> NDArray[np.float64]:
    """Return how often each column contains each word: one row a word."""
    return _summed(words * width + columns, counts, different * width).reshape(different, width)


def _scores(
    found: WordMatches,
    own: NDArray[np.float64],
    near: NDArray[np.float64],
    own_penalty: Line,
    near_penalty: Line,
) -> WordScores:
    weights = found.weights[:, np.newaxis]
    shares = own * weights
    shares /= own + own_penalty
    lent = near * weights
    lent /= near + near_penalty
    return WordScores(_sum(shares), _sum(lent), shares)


def _sum(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add word by word, so that equal contents give equal scores to the last bit."""
    total: NDArray[np.float64] = shares[0].copy()
    for word in shares[1:]:
        total += word
    return total
