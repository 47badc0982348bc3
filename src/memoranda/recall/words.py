"""Words: BM25 over a field, of each passage alone and of each together with its neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.columns import Numbers, one_of, summed
from memoranda.recall.fields import K1, Field, Line, Neighbourhood, counts_with_near, with_near
from memoranda.text.terms import TermGroup


@dataclass(frozen=True, slots=True)
class WordMatches:
    """Where the words of a question stand in a field: one element an occurrence."""

    places: Numbers
    counts: NDArray[np.float64]
    #: The word, as its place in the question.
    words: Numbers
    #: What each word weighs: the rarer, the more.
    weights: NDArray[np.float64]

    @property
    def best_there_could_be(self) -> float:
        """What no passage reaches: to hold every word, endlessly often."""
        return float(np.add.reduce(self.weights))


class WordScores(NamedTuple):
    """What some places hold of a question; arrays run along those places."""

    own: NDArray[np.float64]
    near: NDArray[np.float64]
    #: What each word adds to ``own``, word by word.
    shares: NDArray[np.float64]


def look_up(field: Field, groups: Sequence[TermGroup], dated: Sequence[Numbers]) -> WordMatches | None:
    """The occurrences of a question's words, and of its dates, which come as the places that they mean."""
    hashes = np.array([hash for group in groups for hash in group.hashes], dtype=np.uint64)
    word_of = [word for word, group in enumerate(groups) for _ in group.hashes]
    spoken: list[int] = []
    sizes: list[int] = []
    all_places: list[Numbers] = []
    all_counts: list[NDArray[np.integer]] = []
    for segment, base in zip(field.segments, field.bases, strict=False):
        found = list(segment.occurrences(hashes, word_of))
        if found:
            spoken += [word for word, _, _ in found]
            sizes += [len(rows) for _, rows, _ in found]
            rows = one_of([rows for _, rows, _ in found])
            all_places.append(field.place.take(rows + base if base else rows))
            all_counts += [counts for _, _, counts in found]
    for nth, dates in enumerate(dated, start=len(groups)):
        spoken.append(nth)
        sizes.append(len(dates))
        all_places.append(dates)
        all_counts.append(np.ones(len(dates), dtype=np.uint8))
    if not sum(sizes):
        return None
    return _said(
        field, one_of(all_places), one_of(all_counts), np.repeat(spoken, sizes), len(groups) + len(dated)
    )


def counted(field: Field, groups: Sequence[TermGroup]) -> list[int]:
    """How many passages of a field hold each word."""
    said = look_up(field, groups, ())
    if said is None:
        return [0] * len(groups)
    counts: list[int] = np.bincount(said.words, minlength=len(groups)).tolist()
    return counts


def _said(
    field: Field, places: Numbers, counts: NDArray[np.integer], words: Numbers, different: int
) -> WordMatches | None:
    if not field.is_whole:
        keep = places < field.hole
        places, counts, words = places[keep], counts[keep], words[keep]
    holders = field.held_by(np.bincount(words, minlength=different).tolist())
    weights = [(K1 + 1) * math.log(1 + (field.living - one + 0.5) / (one + 0.5)) for one in holders]
    return WordMatches(places, counts.astype(np.float64), words, np.array(weights)) if len(places) else None


def everywhere(field: Field, said: WordMatches, places: Numbers) -> WordScores:
    """The scores of these places, by way of the whole line; for lines that are not long."""
    held = _by_word(said.words, said.places, said.counts, len(said.weights), field.hole + 1)
    near = counts_with_near(held, field.ends)
    whole = _scores(said, held, near, field.own_penalty, field.near_penalty)
    return WordScores(whole.own.take(places), whole.near.take(places), whole.shares.take(places, axis=1))


def at(field: Field, said: WordMatches, around: Neighbourhood) -> WordScores:
    """The same for few places of a long line."""
    width = len(around.places)
    column = np.full(field.hole + 1, -1)
    column[around.places] = np.arange(width)
    columns = column.take(said.places)
    sought = np.flatnonzero(columns >= 0)
    held = _by_word(
        said.words.take(sought), columns.take(sought), said.counts.take(sought), len(said.weights), width
    )
    near = counts_with_near(held, around.threads)
    own, near = held.take(around.at, axis=1), near.take(around.at, axis=1)
    places = around.places.take(around.at)
    return _scores(said, own, near, field.own_penalty.take(places), field.near_penalty.take(places))


def guesses(field: Field, said: WordMatches) -> tuple[Line, Line]:
    """The own scores of a whole line, and about what they are together with neighbours'."""
    shares = said.weights.take(said.words)
    shares *= said.counts
    shares /= field.own_penalty.take(said.places) + said.counts
    # Adds in order: word by word.
    own = summed(said.places, shares, field.hole + 1)
    return own, with_near(own, field.ends)


def _by_word(
    words: Numbers, columns: Numbers, counts: NDArray[np.float64], different: int, width: int
) -> NDArray[np.float64]:
    """How often each column holds each word; words first."""
    return summed(words * width + columns, counts, different * width).reshape(different, width)


def _scores(
    said: WordMatches,
    own: NDArray[np.float64],
    near: NDArray[np.float64],
    own_penalty: Line,
    near_penalty: Line,
) -> WordScores:
    weights = said.weights[:, np.newaxis]
    shares = own * weights
    shares /= own + own_penalty
    lent = near * weights
    lent /= near + near_penalty
    return WordScores(_sum(shares), _sum(lent), shares)


def _sum(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adds word by word, so that equal contents give equal scores to the last bit."""
    total: NDArray[np.float64] = shares[0].copy()
    for word in shares[1:]:
        total += word
    return total
