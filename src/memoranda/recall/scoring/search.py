"""The search of a field: the best passages for a question, with the score of each scorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoranda.model.query import Times
from memoranda.recall.arrays.columns import Mask, Numbers, PassageFilter
from memoranda.recall.arrays.cosines import QuestionVector
from memoranda.recall.scoring.confidence import Ranking, confidences
from memoranda.recall.scoring.fields import Field, Line
from memoranda.recall.scoring.matches import Match, MatchSummary
from memoranda.recall.scoring.scorers import (
    NAMED,
    MeaningBlend,
    NearWords,
    Scorer,
    WordMatches,
    are_near,
    blend_of,
    cosines_at,
    cosines_everywhere,
    estimated_cosines,
    estimated_word_scores,
    fused,
    matches_of,
    meaning_weight,
    own_word_scores,
    weights,
    word_scores_at,
    word_scores_everywhere,
    words_weight,
)
from memoranda.recall.scoring.signals import Evidence, amounts_of
from memoranda.text.cues import Cue
from memoranda.text.terms import TermGroup

Scores = NDArray[np.float64]
Value = TypeVar("Value", np.float64, np.int64)


def best_of(field: Field, places: Numbers, values: NDArray[Value], limit: int) -> Numbers:
    """Return the ``limit`` places with the highest values, ascending; among equals the newest, then lowest ids."""
    if len(places) <= limit:
        return places
    cut = np.partition(values, -limit)[-limit]
    above, equals = places[values > cut], places[values == cut]
    if len(above) + len(equals) > limit:
        equals = _newer(field, equals, limit - len(above))
    return np.sort(np.concatenate((above, equals)))


def _newer(field: Field, places: Numbers, limit: int) -> Numbers:
    at = field.at(places)
    cut = np.partition(at, -limit)[-limit]
    above, equals = places[at > cut], places[at == cut]
    left = limit - len(above)
    if len(equals) > left:
        equals = equals[field.ids(equals).argsort()[:left]]
    return np.concatenate((above, equals))


def ranks_of(everything: Scores, chosen: Scores) -> NDArray[np.int64]:
    """For each scorer (row) return the ranks of some scores among all; equal scores share the better rank."""
    ordered = np.sort(everything, axis=1)
    ranks = np.full(chosen.shape, everything.shape[1] + 1)
    for scores, mine, rank in zip(ordered, chosen, ranks, strict=True):
        rank -= scores.searchsorted(mine, "right")
    return ranks


#: Lines up to this length are scored completely. In longer ones only the candidates are scored: at least so many,
#: more in very long lines and for large limits, and more by words alone, where each costs less.
SHORT = 2048
CANDIDATES = 192
CANDIDATES_BY_MEANING = 384
CANDIDATES_BY_WORDS = 512
_PASSAGES_A_CANDIDATE = 200
_PASSAGES_A_CANDIDATE_BY_MEANING = 125
_CANDIDATES_A_HIT = 8
_BEST_BY_WORDS = 32
#: So few places of a longer line are all scored exactly, without estimates.
FEW = 512
#: Up to so many vectors are all compared; of more, the signs are compared first.
COMPARED = 4096

_BY_WORDS = (Scorer.WORDS, Scorer.WORDS_NEAR)
_BY_MEANING = (Scorer.MEANING, Scorer.MEANING_NEAR)


class Mode(StrEnum):
    """The kind of comparison that a search makes."""

    #: Words and meaning, as far as each is available.
    HYBRID = "hybrid"
    WORDS = "words"
    MEANING = "meaning"
    #: The newest first; the question is ignored.
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """A question as scorers need it."""

    groups: Sequence[TermGroup]
    #: By the embedding that made the passages' vectors; None: search by words alone.
    vector: NDArray[np.float32] | None = None
    #: The times that it names, each with the stretches of time that it may mean.
    times: Times = ()
    #: For each of its words, the words near it.
    near: Sequence[NearWords] = ()
    cues: frozenset[Cue] = frozenset()


def search(
    field: Field,
    question: SearchQuestion,
    *,
    limit: int,
    only: PassageFilter,
    mode: Mode = Mode.HYBRID,
    vectors: str = "",
) -> list[Match]:
    """Return the best passages in order.

    ``vectors`` names the set that the question's vector is compared with. Of equal scores the newer ``at`` comes first, then the lower id. The order of arithmetic depends only on the
    question and the field's contents, so equal contents give equal scores to the last bit, in whatever order they
    were written.
    """
    if limit < 1 or not field.living:
        return []
    places = field.admitted(only)
    if not len(places):
        return []
    if mode is Mode.RECENT:
        return _newest(field, places, limit)
    words = None
    dated = [field.within(stretches) for _, stretches in question.times]
    if mode is not Mode.MEANING and (question.groups or question.times):
        words = matches_of(field, question.groups, dated, question.near)
    vector = None
    if mode is not Mode.WORDS and question.vector is not None and field.dimension == len(question.vector):
        vector = QuestionVector(question.vector)
    if words is None and vector is None:
        return []
    run = _Run(field, question, words, vector, dated, blend_of(vectors))
    scored = run.whole(places) if field.hole <= SHORT else run.candidates(places, limit)
    return _ranked(field, scored, limit, question, words)


class _Scored(NamedTuple):
    """Places with their scores; arrays have one element a place."""

    places: Numbers
    scorers: Sequence[Scorer]
    #: One row a scorer.
    scores: Scores
    weights: Sequence[float]
    together: Scores
    named: Mask | None
    #: One row a word.
    shares: Scores | None
    #: One row a signal.
    amounts: Scores | None = None
    #: The cosines of all places, and the average one; None without vectors.
    cosines: tuple[Scores, float] | None = None


class _Run:
    """The state of one running search."""

    def __init__(
        self,
        field: Field,
        question: SearchQuestion,
        words: WordMatches | None,
        vector: QuestionVector | None,
        dated: Sequence[Numbers],
        blend: MeaningBlend,
    ) -> None:
        self._field = field
        self._cues = question.cues
        self._dated = dated
        self._words = words
        self._vector = vector
        self._blend = blend
        self._average = 0.0 if vector is None else field.average(vector)
        self._own: Line | None = None
        self._named: Mask | None = None
        if field.speakers is not None:
            self._named = field.speakers.named(frozenset(chain(*(group.hashes for group in question.groups))))
        self.scorers = (
            *(_BY_WORDS if words is not None else ()),
            *(_BY_MEANING if vector is not None else ()),
        )

    def whole(self, places: Numbers) -> _Scored:
        """Score all these places exactly; for small fields."""
        scores = np.empty((len(self.scorers), len(places)))
        shares = None
        if self._words is not None:
            scores[0], scores[1], shares = word_scores_everywhere(self._field, self._words, places)
        if self._vector is not None:
            own, near = cosines_everywhere(self._field, self._vector)
            scores[-2], scores[-1] = own.take(places), near.take(places)
        return self._with_signals(self._scored(places, scores, shares))

    def candidates(self, places: Numbers, limit: int) -> _Scored:
        """Score the most promising of these places exactly, or all if they are few; for large fields."""
        if len(places) > FEW:
            places = self._likeliest(places, limit)
        around = self._field.around(places)
        scores = np.empty((len(self.scorers), len(places)))
        shares = None
        if self._words is not None:
            scores[0], scores[1], shares = word_scores_at(self._field, self._words, around)
        if self._vector is not None:
            scores[-2], scores[-1] = cosines_at(self._field, self._vector, around)
        return self._with_signals(self._scored(places, scores, shares))

    def _likeliest(self, places: Numbers, limit: int) -> Numbers:
        """Choose the passages to score exactly, by estimates: many more than ``limit``, and the best of each scorer."""
        estimates = self._estimates(places)
        likely = self._scored(places, estimates, None).together
        least, share = CANDIDATES, _PASSAGES_A_CANDIDATE
        if self._vector is None:
            least = CANDIDATES_BY_WORDS
        elif self._words is None:
            least, share = CANDIDATES_BY_MEANING, _PASSAGES_A_CANDIDATE_BY_MEANING
        most = max(least, self._field.living // share, _CANDIDATES_A_HIT * limit)
        best = best_of(self._field, places, likely, most)
        # Each scorer is divided by its best score, so that place must be a candidate, even if the score is estimated.
        most = min(_BEST_BY_WORDS, len(places))
        best_by_scorers = [estimates.argmax(axis=1)]
        if self._words is not None:
            best_by_scorers.append(estimates[1].argpartition(-most)[-most:])
        places = np.sort(np.concatenate((best, *(places[these] for these in best_by_scorers))))
        return places[np.flatnonzero(np.diff(places, prepend=-1))]

    def _estimates(self, places: Numbers) -> Scores:
        lines: list[Scores] = []
        if self._words is not None:
            lines += estimated_word_scores(self._field, self._own_words(self._words))
        if self._vector is not None:
            compare = cosines_everywhere if self._field.living <= COMPARED else estimated_cosines
            lines += compare(self._field, self._vector)
        return np.array([line.take(places) for line in lines])

    def _scored(self, places: Numbers, scores: Scores, shares: Scores | None) -> _Scored:
        tops = scores.max(axis=1).tolist()
        by_words = by_meaning = least = 0.0
        if self._words is not None:
            by_words = words_weight(tops[1], self._words.upper_bound)
        if self._vector is not None:
            least = self._vector.least
            by_meaning = meaning_weight(tops[-2], self._average, least, self._blend)
        by_scorer = weights(by_words, by_meaning)
        shared = [by_scorer[scorer] for scorer in self.scorers]
        leasts = [least if scorer in _BY_MEANING else 0.0 for scorer in self.scorers]
        together = fused(scores, tops, leasts, shared)
        named = None
        if self._named is not None:
            named = self._named.take(places)
            together += np.logical_and(named, together > 0) * NAMED
        return _Scored(places, self.scorers, scores, shared, together, named, shares)

    def _own_words(self, words: WordMatches) -> Line:
        """Return the score by words of every place alone; it is computed once."""
        if self._own is None:
            self._own = own_word_scores(self._field, words)
        return self._own

    def _with_signals(self, scored: _Scored) -> _Scored:
        words = above = cosines = None
        if self._words is not None:
            words = partial(self._own_words, self._words), self._words.upper_bound
        if self._vector is not None:
            above = scored.scores[-2] - self._average
            cosines = scored.scores[-2], self._average
        seen = Evidence(scored.places, scored.together, self._cues, words, above, self._dated)
        amounts = amounts_of(self._field, seen)
        together = scored.together + amounts.sum(axis=0)
        return scored._replace(together=together, amounts=amounts, cosines=cosines)


def _ranked(
    field: Field, scored: _Scored, limit: int, question: SearchQuestion, words: WordMatches | None
) -> list[Match]:
    places, together = scored.places, scored.together
    best = best_of(field, places, together, limit)
    at = places.searchsorted(best) if len(best) < len(places) else np.arange(len(best))
    values, moments = together.take(at).tolist(), field.at(best).tolist()
    ids: list[bytes] = field.ids(best).view("V16").tolist()
    order = sorted(range(len(ids)), key=lambda one: (-values[one], -moments[one], ids[one]))
    scores = scored.scores.take(at, axis=1)
    ranks = ranks_of(scored.scores, scores).T.tolist()
    spoken = [group.word for group in question.groups] + [name for name, _ in question.times]
    summary = MatchSummary(scored.scorers, scored.weights, spoken)
    by_scorer = scores.T.tolist()
    shares = [()] * len(ids) if scored.shares is None else scored.shares.take(at, axis=1).T.tolist()
    near: list[Sequence[bool]] = [()] * len(ids)
    if words is not None and scored.shares is not None:
        near = are_near(field, words, best, scored.shares.take(at, axis=1)).T.tolist()
    named = [False] * len(ids) if scored.named is None else scored.named.take(at).tolist()
    amounts = [()] * len(ids) if scored.amounts is None else scored.amounts.take(at, axis=1).T.tolist()
    kin = field.kin(best).tolist()
    order = [one for one in order if values[one] > 0]
    by_words = None
    if words is not None and scored.shares is not None:
        by_words = [shares[one] for one in order], words.weights.tolist()
    sure = confidences(Ranking(together, [values[one] for one in order], by_words, scored.cosines))
    return [
        Match(
            ids[one],
            values[one],
            summary,
            by_scorer[one],
            ranks[one],
            shares[one],
            near[one],
            named[one],
            amounts[one],
            kin[one],
            confidence,
        )
        for one, confidence in zip(order, sure, strict=True)
    ]


def _newest(field: Field, places: Numbers, limit: int) -> list[Match]:
    best = best_of(field, places, field.at(places), limit)
    ids: list[bytes] = field.ids(best).view("V16").tolist()
    summary = MatchSummary((), (), ())
    newest = sorted(zip((-field.at(best)).tolist(), ids, field.kin(best).tolist(), strict=True))
    return [Match(id, 0.0, summary, kin=kin) for _, id, kin in newest]
