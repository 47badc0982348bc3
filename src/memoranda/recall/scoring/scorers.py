"""The scorers: by words, by words with those of neighbours, and by meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memoranda.first_use import dataclass
from memoranda.recall.arrays.columns import Numbers
from memoranda.recall.arrays.cosines import QuestionVector, Vectors
from memoranda.recall.scoring.fields import K1, Field, Neighbourhood, counts_with_near, one_of
from memoranda.recall.scoring.speakers import Line
from memoranda.text.near_words import near_words
from memoranda.text.terms import TermGroup

#: A word that is near one of the question's counts so much of it, times how near it is.
_NEAR_WORDS = 0.3
#: In questions of more words than this, near words count less.
_MANY_WORDS = 8
_SHARES = 64
_ROUNDING = 1e-9

#: The terms of words near a question's word, and how much of the word each one counts.
NearWords = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class WordMatches:
    """The places of a field that contain words of a question: one element for each word and
    place.
    """

    places: Numbers
    counts: NDArray[np.float64]
    #: The word, by its position in the question.
    words: Numbers
    #: The weight of each word: rare words weigh more.
    weights: NDArray[np.float64]


class WordScores(NamedTuple):
    """The scores by words of some places of a field; arrays have one element a place."""

    own: NDArray[np.float64]
    near: NDArray[np.float64]
    #: What each word adds to ``own``; one row a word.
    shares: NDArray[np.float64]


def near_terms(groups: Sequence[TermGroup]) -> list[NearWords]:
    """Return for each word of a question the terms of words near it, and how much of the word each
    one counts.

    The shares are multiples of a power of two, so that sums with them are exact.
    """
    asked = {hash for group in groups for hash in group.hashes}
    most = _NEAR_WORDS * min(1.0, _MANY_WORDS / max(1, len(groups)))
    return [
        [
            (hash, share / _SHARES)
            for hash, likeness in near_words(group.hashes).items()
            if hash not in asked and (share := round(most * likeness * _SHARES))
        ]
        for group in groups
    ]


def matches_of(
    field: Field,
    groups: Sequence[TermGroup],
    dated: Sequence[Numbers],
    near: Sequence[NearWords] = (),
) -> WordMatches | None:
    """Find the places with the question's words; ``dated`` gives the places that lie in each of its
    times.

    ``near`` gives the words near each of the question's words. Where one occurs, the word counts
    that much more.
    """
    own = field.occurrences([group.hashes for group in groups])
    lent = _lent(field, near)
    holders: list[int] = []
    there: list[tuple[int, Numbers, NDArray[np.integer] | NDArray[np.float64]]] = []
    for word in range(len(groups)):
        places, counts = _joined(own.get(word, []))
        holders.append(len(places))
        if word in lent:
            line = lent[word]
            line[places] += counts
            places = np.flatnonzero(line)
            there.append((word, places, line[places]))
        elif len(places):
            there.append((word, places, counts))
    for nth, dates in enumerate(dated, start=len(groups)):
        holders.append(len(dates))
        there.append((nth, dates, np.ones(len(dates))))
    if not sum(len(places) for _, places, _ in there):
        return None
    holders = field.held_by(holders)
    for word, places, _ in there:
        # A word that no passage has is as rare as those near it.
        holders[word] = holders[word] or len(places)
    return WordMatches(
        one_of([places for _, places, _ in there]),
        one_of([counts for _, _, counts in there]).astype(np.float64),
        np.repeat([word for word, _, _ in there], [len(places) for _, places, _ in there]),
        np.array(
            [(K1 + 1) * math.log(1 + (field.living - one + 0.5) / (one + 0.5)) for one in holders]
        ),
    )


def _lent(field: Field, near: Sequence[NearWords]) -> dict[int, Line]:
    """Return for each word of the question what the words near it add at each place: only the
    nearest one counts.
    """
    words = [(share, word, hash) for word, others in enumerate(near) for hash, share in others]
    words.sort()
    lines: dict[int, Line] = {}
    found = field.occurrences([[hash] for _, _, hash in words])
    for nth, (share, word, _) in enumerate(words):
        for places, _ in found.get(nth, []):
            lines.setdefault(word, np.zeros(field.hole + 1))[places] = share
    return lines


def _joined(
    found: Sequence[tuple[Numbers, NDArray[np.integer]]],
) -> tuple[Numbers, NDArray[np.integer]]:
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    return one_of([places for places, _ in found]), one_of([counts for _, counts in found])


def counted(field: Field, groups: Sequence[TermGroup]) -> list[int]:
    """Return the number of passages of a field that contain each word."""
    found = field.occurrences([group.hashes for group in groups])
    return [sum(len(places) for places, _ in found.get(word, [])) for word in range(len(groups))]


def word_scores_everywhere(field: Field, found: WordMatches, places: Numbers) -> WordScores:
    """Score these places by scoring the whole field; for small fields."""
    held = _by_word(found.words, found.places, found.counts, len(found.weights), field.hole + 1)
    near = counts_with_near(held, field.ends)
    whole = _scores(found, held, near, field.own_penalty, field.near_penalty)
    return WordScores(
        whole.own.take(places), whole.near.take(places), whole.shares.take(places, axis=1)
    )


def word_scores_at(field: Field, found: WordMatches, around: Neighbourhood) -> WordScores:
    """Score a few places of a large field by words."""
    width = len(around.places)
    column = np.full(field.hole + 1, -1)
    column[around.places] = np.arange(width)
    columns = column.take(found.places)
    sought = np.flatnonzero(columns >= 0)
    held = _by_word(
        found.words.take(sought),
        columns.take(sought),
        found.counts.take(sought),
        len(found.weights),
        width,
    )
    near = counts_with_near(held, around.threads)
    own, near = held.take(around.at, axis=1), near.take(around.at, axis=1)
    places = around.places.take(around.at)
    return _scores(
        found, own, near, field.own_penalty.take(places), field.near_penalty.take(places)
    )


def are_near(
    field: Field, found: WordMatches, places: Numbers, shares: Scores
) -> NDArray[np.bool_]:
    """Return for each word (row) and place whether it is there only by a near word, which counts
    less than the word once.
    """
    once = found.weights[:, np.newaxis] / (field.own_penalty.take(places) + 1)
    near: NDArray[np.bool_] = shares < once * (1 - _ROUNDING)
    return near


def own_word_scores(field: Field, found: WordMatches) -> Line:
    """Return the score by words of each place alone."""
    shares = found.weights.take(found.words)
    shares *= found.counts
    shares /= field.own_penalty.take(found.places) + found.counts
    # ``_summed`` adds in the order given: word by word.
    return _summed(found.places, shares, field.hole + 1)


def _summed(at: Numbers, amounts: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """For each number below ``size`` return the sum of its amounts, added in the order given."""
    return cast("NDArray[np.float64]", np.bincount(at, amounts, minlength=size))


def _by_word(
    words: Numbers, columns: Numbers, counts: NDArray[np.float64], different: int, width: int
) -> NDArray[np.float64]:
    """Return a table of how often each column's passage contains each word: one row a word."""
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


Scores = NDArray[np.float64]


def cosines_everywhere(field: Field, vector: QuestionVector) -> Line:
    """Return the cosines of all places of a field with the question."""
    return _along(field, vector, lambda vectors: vectors.cosines(vector))


def estimated_cosines(field: Field, vector: QuestionVector) -> Line:
    """Estimate the cosines from the signs of the vectors alone; several times faster if there are
    very many.
    """
    return _along(field, vector, lambda vectors: vectors.estimates(vector))


def _along(
    field: Field, vector: QuestionVector, compare: Callable[[Vectors], NDArray[np.floating]]
) -> Line:
    return field.along(
        one_of(
            [
                np.zeros(len(segment.ids))
                if (vectors := _comparable(segment.vectors, vector)) is None
                else compare(vectors)
                for segment in field.segments
            ]
        )
    )


def _comparable(vectors: Vectors | None, vector: QuestionVector) -> Vectors | None:
    return vectors if vectors is not None and vectors.dimension == vector.dimension else None


def cosines_at(field: Field, vector: QuestionVector, places: Numbers) -> Scores:
    """Return the exact cosines of some places with the question."""
    rows = field.row.take(places)
    cosines = np.zeros(len(rows))
    for segment, base in zip(field.segments, field.bases, strict=False):
        vectors = _comparable(segment.vectors, vector)
        if vectors is not None:
            mine = np.flatnonzero((rows >= base) & (rows < base + len(segment.ids)))
            cosines[mine] = vectors.cosines_at(rows.take(mine) - base, vector)
    return cosines
