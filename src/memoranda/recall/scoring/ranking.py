"""The ranking: the score of a passage is a sum of a few terms, each with one coefficient."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import compress
from operator import mul
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.first_use import expression
from memoranda.recall.arrays.columns import Mask, Numbers
from memoranda.recall.scoring.fields import Field

Scores = NDArray[np.float64]


class Term(StrEnum):
    """A part of a passage's score, named as people read it."""

    #: Its words and those of its neighbours, in standard deviations of the words of all passages.
    WORDS = "words"
    #: Its cosine, as a share of the best one of all passages; less where all are alike to the
    #: model.
    MEANING = "meaning"
    #: The best words and meaning in its thread; a passage without a thread is its own.
    CONVERSATION = "its conversation"
    #: The question names its speaker.
    SPEAKER = "names the speaker"
    #: In a talk of a user and an assistant: the user said it, or it is no message. A third if the
    #: question asks "you".
    USER = "the user's own words"
    #: In a talk of people with names: the logarithm of how many terms it has.
    LENGTH = "length"
    #: It was said or observed on a day that the question names.
    DAY = "on the day it names"


#: How much each term counts. ``python -m evals.fit_ranking`` fits these numbers; the best meaning
#: has 1.
COEFFICIENTS: Final = {
    Term.WORDS: 0.1,
    Term.MEANING: 1.0,
    Term.CONVERSATION: 0.25,
    Term.SPEAKER: 0.46,
    Term.USER: 0.25,
    Term.LENGTH: 0.28,
    Term.DAY: 1.0,
}
#: The share of words that goes to the passage together with its neighbours.
WORDS_NEAR: Final = 0.75
#: For each full part of meaning that is missing, words count so much more.
_FOR_MEANING: Final = 1.5
#: So many people with names are a group. There the talk crosses: words and the conversation count
#: so much of what they count elsewhere.
_GROUP, _IN_GROUPS = 4, 0.5


class VectorKind(NamedTuple):
    """The meaning of an embedding model's cosines."""

    #: Meaning counts in full if the best cosine is above the average by this share of itself; below
    #: that, a part of it.
    apart: float = 0.6
    #: Cosines count from their average on, and so many times as much; otherwise from 0 on.
    from_average: bool = False
    times: float = 1.0


#: At least this part of meaning counts: a few passages may all be as near.
_LEAST_PART: Final = 0.2
#: A cosine below the average counts so much of itself where cosines count from the average on: it
#: is found, and last.
_BELOW: Final = 0.001
#: Models whose cosines differ less, by the beginning of the names of their sets of vectors.
_KINDS: Final = {
    "local/multilingual-e5-small/": VectorKind(apart=0.2, from_average=True, times=1.5)
}
#: The share of the term for the user's own words that is left if the question asks for what "you"
#: said.
OF_YOU: Final = 0.33
#: Words for the one who is asked. Those that mean something else in another language are left out.
_YOU: Final = expression(
    r"\b(?:you|yours?|du|dir|dich|deine?[mnrs]?|tú|usted|tu|te|toi|vous|votre|vos|você|jij|jou|jouw)\b|[你您]",
    re.IGNORECASE,
)


class Named(NamedTuple):
    """Masks of the places that a question names, along the field; None if there is no such
    place.
    """

    #: Of a speaker, and of a day.
    speakers: Mask | None
    days: Mask | None
    #: The question addresses the one who is asked, as in "what did you suggest".
    you: bool


class Ranks(NamedTuple):
    """The terms of some passages, each a number for every passage, and their sum."""

    terms: dict[Term, Scores]
    #: Words and meaning alone, and the best of that in each one's thread.
    own: Scores
    best: Scores
    together: Scores


def kind_of(vectors: str) -> VectorKind:
    """Return what the cosines of this set of vectors mean."""
    return next((kind for name, kind in _KINDS.items() if vectors.startswith(name)), VectorKind())


def understood(kind: VectorKind, best: float, average: float) -> float:
    """Return which part of meaning counts, from the best and the average cosine.

    It is less where all passages are alike to the model, as in a language that it does not know.
    """
    return min(1.0, max(_LEAST_PART, (best - average) / best / kind.apart))


def meaning_of(
    kind: VectorKind, cosines: Scores, average: float, least: float
) -> tuple[Scores, float]:
    """Return what cosines add to scores, and the part of meaning that counts; a cosine of at most
    ``least`` is none.
    """
    best = float(cosines.max())
    if best <= least:
        return np.zeros(len(cosines)), 0.0
    part = understood(kind, best, average)
    found = np.where(cosines > least, cosines, 0.0)
    if kind.from_average and best - average > least:
        found = np.maximum(found - average, found * _BELOW)
        best -= average
    found *= COEFFICIENTS[Term.MEANING] * kind.times * part / best
    return found, part


def words_weights(deviation: float, names: int, part: float) -> tuple[float, float]:
    """Return how much the score by words counts, of a passage alone and together with its
    neighbours.

    ``names`` is the number of people with names who talk, and ``part`` the part of meaning that
    counts.
    """
    whole = COEFFICIENTS[Term.WORDS] / deviation if deviation > 0 else 0.0
    whole *= 1 + _FOR_MEANING * (1 - part)
    whole *= _crossing(names)
    return whole * (1 - WORDS_NEAR), whole * WORDS_NEAR


def _crossing(names: int) -> float:
    return _IN_GROUPS if names >= _GROUP else 1.0


def asks_you(question: str) -> bool:
    """True if a question addresses the one who is asked."""
    return _YOU.search(question) is not None


def rank(field: Field, places: Numbers | None, own: dict[Term, Scores], named: Named) -> Ranks:
    """Add the other terms to those by words and meaning of these places (ascending); all are 0
    where those are.

    Without places, these are the terms of all places of the field.
    """

    def at(line: NDArray[Any]) -> NDArray[Any]:
        return line if places is None else line.take(places)

    terms = dict(own)
    first, *rest = terms.values()
    alone = together = sum(rest, first)
    best = field.best_by_thread(places, alone)
    lent = COEFFICIENTS[Term.CONVERSATION] * _crossing(field.voices.names)
    more: dict[Term, Scores] = {Term.CONVERSATION: best * lent}
    for term, mask in ((Term.SPEAKER, named.speakers), (Term.DAY, named.days)):
        if mask is not None:
            more[term] = at(mask).astype(np.float64) * COEFFICIENTS[term]
    if field.is_with_assistant:
        share = OF_YOU if named.you else 1.0
        mine = ~at(field.others)
        more[Term.USER] = mine.astype(np.float64) * (COEFFICIENTS[Term.USER] * share)
    elif field.voices.names:
        more[Term.LENGTH] = at(field.length_logarithms) * COEFFICIENTS[Term.LENGTH]
    found = alone > 0
    for term, one in more.items():
        one *= found
        terms[term] = one
        together = together + one
    return Ranks(terms, alone, best, together)


#: How much each clue counts, with words and vectors, words alone, or vectors alone; the last number
#: is for every hit. ``python -m evals.confidence --fit`` fits them. The clues are in the order of
#: ``clues_of``.
CURVES: Final[dict[tuple[bool, bool], tuple[float, ...]]] = {
    (True, True): (2.13, 0.94, -0.85, 0.88, 1.09, -4.09),
    (True, False): (2.84, 1.31, -0.56, 1.49, 0.0, -5.62),
    (False, True): (1.94, 0.0, -1.01, 0.0, 2.86, -2.72),
}
#: The passages that a hit is compared with: from the fifth to the tenth.
_FIFTH, _TENTH = 4, 10
#: So many first hits tell how much of the question was found.
_FIRST = 5


class Ranking(NamedTuple):
    """The scores from which confidence is computed."""

    #: The score of every passage that was scored.
    together: Scores
    #: The scores of the hits, best first.
    hits: Sequence[float]
    #: What each word of the question adds to the score by words of each hit (row), and the words'
    #: weights; None without words.
    words: tuple[Sequence[Sequence[float]], Sequence[float]] | None
    #: How far the best cosine is above the average; None without vectors.
    ahead: float | None


def clues_of(seen: Ranking) -> list[tuple[float, ...]]:
    """Return the clues of each hit.

    The clues: how far its score is above that of others, as a share of the best; its score by
    words; its rank; the share of the question's words that the first hits have; how far the best
    cosine is above the average.
    """
    others = _others(seen.together)
    by_words, found = [0.0] * len(seen.hits), 0.0
    if seen.words is not None:
        rows, weights = seen.words
        by_words = [math.log1p(sum(row)) for row in rows]
        held = map(any, zip(*rows[:_FIRST], strict=True))
        found = sum(compress(weights, held)) / sum(weights)
    return [
        ((score - others) / seen.hits[0], words, math.log1p(rank), found, seen.ahead or 0.0)
        for rank, (score, words) in enumerate(zip(seen.hits, by_words, strict=True))
    ]


def confidences(seen: Ranking) -> list[float]:
    """Return the confidence of each hit, from 0 to 1."""
    if not seen.hits:
        return []
    *slopes, base = CURVES[seen.words is not None, seen.ahead is not None]
    return [1 / (1 + math.exp(-(sum(map(mul, slopes, clues)) + base))) for clues in clues_of(seen)]


def _others(together: Scores) -> float:
    """Return the mean score of the fifth to the tenth passage; 0 if there are no more than four."""
    if len(together) > _TENTH:
        together = np.partition(together, -_TENTH)[-_TENTH:]
    rest = sorted(together.tolist(), reverse=True)[_FIFTH:]
    return sum(rest) / len(rest) if rest else 0.0
