"""The search of a field: the best passages for a question, with the terms of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoranda.first_use import dataclass
from memoranda.model.query import Times
from memoranda.recall.arrays.columns import Numbers, PassageFilter
from memoranda.recall.arrays.cosines import QuestionVector
from memoranda.recall.scoring.fields import Field, with_near
from memoranda.recall.scoring.matches import Match, MatchSummary
from memoranda.recall.scoring.ranking import (
    Named,
    Ranking,
    Ranks,
    Term,
    confidences,
    kind_of,
    meaning_of,
    rank,
    words_weights,
)
from memoranda.recall.scoring.scorers import (
    NearWords,
    WordMatches,
    are_near,
    cosines_at,
    cosines_everywhere,
    estimated_cosines,
    matches_of,
    own_word_scores,
    word_scores_at,
    word_scores_everywhere,
)
from memoranda.text.terms import TermGroup

Scores = NDArray[np.float64]
Value = TypeVar("Value", np.float64, np.int64)


def best_of(field: Field, places: Numbers, values: NDArray[Value], limit: int) -> Numbers:
    """Return the ``limit`` places with the highest values, ascending; among equals the newest, then
    lowest ids.
    """
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


#: Fields up to this length are scored completely. In longer ones only the candidates are scored: at
#: least so many, more in very long fields and for large limits, and more by words alone, where each
#: costs less.
SHORT = 2048
CANDIDATES = 320
CANDIDATES_BY_MEANING = 768
CANDIDATES_BY_WORDS = 512
_PASSAGES_A_CANDIDATE = 200
_PASSAGES_A_CANDIDATE_BY_WORDS = 50
_PASSAGES_A_CANDIDATE_BY_MEANING = 125
_CANDIDATES_A_HIT = 8
#: So many of the nearest passages by estimated cosines are compared exactly, to find the best one.
_NEAREST = 32
#: So few places of a longer field are all scored exactly.
FEW = 512
#: Up to so many vectors are all compared; of more, the signs are compared first.
COMPARED = 4096
#: The longest time that is a day, in microseconds.
_DAY = 86_400_000_000


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
    #: True if it addresses the one who is asked.
    asks_you: bool = False


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

    ``vectors`` names the set that the question's vector is compared with. Of equal scores the newer
    ``at`` comes first, then the lower id. The order of arithmetic depends only on the question and
    the field's contents, so equal contents give equal scores to the last bit, in whatever order
    they were written.
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
    if (
        mode is not Mode.WORDS
        and question.vector is not None
        and field.dimension == len(question.vector)
    ):
        vector = QuestionVector(question.vector)
    if words is None and vector is None:
        return []
    run = _Run(field, question, words, vector, vectors)
    scored = run.whole() if field.hole <= SHORT else run.candidates(places, limit)
    return _ranked(field, scored.among(field, places), limit, question, words)


class _Scored(NamedTuple):
    """Places with their scores; arrays have one element a place."""

    places: Numbers
    ranks: Ranks
    #: None without vectors.
    cosines: Scores | None
    #: One row a word; None without words.
    shares: Scores | None
    #: How far the best cosine of all passages is above the average; None without vectors.
    ahead: float | None

    def among(self, field: Field, places: Numbers) -> _Scored:
        """Return the scores of those of these places that were scored."""
        if len(places) == len(field.there):
            return self
        wanted = np.zeros(field.hole + 1, dtype=np.bool_)
        wanted[places] = True
        at = np.flatnonzero(wanted.take(self.places))
        terms = {term: one.take(at) for term, one in self.ranks.terms.items()}
        return self._replace(
            places=self.places.take(at),
            ranks=Ranks(terms, *(one.take(at) for one in self.ranks[1:])),
            cosines=None if self.cosines is None else self.cosines.take(at),
            shares=None if self.shares is None else self.shares.take(at, axis=1),
        )


class _Run:
    """The state of one running search.

    The deviation of words, the best cosine and the best of a thread are taken over the whole field,
    whatever the filter admits: a filter leaves out passages and changes no order.
    """

    def __init__(
        self,
        field: Field,
        question: SearchQuestion,
        words: WordMatches | None,
        vector: QuestionVector | None,
        vectors: str,
    ) -> None:
        self._field = field
        self._words = words
        self._vector = vector
        self._kind = kind_of(vectors)
        self._average = 0.0 if vector is None else field.average(vector)
        self._named = _named(field, question)
        self._deviation = 0.0

    def whole(self) -> _Scored:
        """Score all places exactly; for small fields."""
        there = self._field.there
        rows: list[Scores] = []
        shares = None
        if self._words is not None:
            own, near, shares = word_scores_everywhere(self._field, self._words, there)
            self._deviation = self._field.deviation(own, self._words.weights)
            rows += [own, near]
        if self._vector is not None:
            rows.append(cosines_everywhere(self._field, self._vector).take(there))
        return self._scored(there, rows, shares)

    def candidates(self, places: Numbers, limit: int) -> _Scored:
        """Score the most promising of these places exactly, and what they need; for large
        fields.
        """
        chosen = self._likeliest(places, limit)
        rows: list[Scores] = []
        shares = None
        if self._words is not None:
            own, near, shares = word_scores_at(self._field, self._words, self._field.around(chosen))
            rows += [own, near]
        if self._vector is not None:
            rows.append(cosines_at(self._field, self._vector, chosen))
        return self._scored(chosen, rows, shares)

    def _likeliest(self, places: Numbers, limit: int) -> Numbers:
        """Choose what to score exactly, by estimates: many more of these places than ``limit``, and
        what they need.
        """
        field = self._field
        rows: list[Scores] = []
        chosen: list[Numbers] = []
        if self._words is not None:
            own = own_word_scores(field, self._words)
            self._deviation = field.deviation(own, self._words.weights)
            near = with_near(own, field.ends)
            near[field.gaps] = 0
            rows += [own, near]
        if self._vector is not None:
            compare = cosines_everywhere if field.living <= COMPARED else estimated_cosines
            rows.append(compare(field, self._vector))
            most = min(_NEAREST, len(field.there))
            nearest = rows[-1].argpartition(-most)[-most:]
            chosen.append(nearest[field.row.take(nearest) >= 0])
        ranks = self._ranks(None, rows)
        least, share = CANDIDATES, _PASSAGES_A_CANDIDATE
        if self._vector is None:
            least, share = CANDIDATES_BY_WORDS, _PASSAGES_A_CANDIDATE_BY_WORDS
        elif self._words is None:
            least, share = CANDIDATES_BY_MEANING, _PASSAGES_A_CANDIDATE_BY_MEANING
        most = max(least, field.living // share, _CANDIDATES_A_HIT * limit)
        best = places
        if len(places) > max(most, FEW):
            best = best_of(field, places, ranks.together.take(places), most)
        chosen += [best, field.lenders(best, ranks.own, ranks.best)]
        return np.unique(np.concatenate(chosen))

    def _ranks(self, places: Numbers | None, rows: Sequence[Scores]) -> Ranks:
        """Return the terms of these places or of all, from their scores by words, by words with
        neighbours, and cosines.
        """
        own = dict[Term, Scores]()
        meaning, part = None, 0.0
        if self._vector is not None:
            meaning, part = meaning_of(self._kind, rows[-1], self._average, self._vector.least)
        if self._words is not None:
            alone, near = words_weights(self._deviation, self._field.voices.names, part)
            words = rows[0] * alone
            words += rows[1] * near
            own[Term.WORDS] = words
        if meaning is not None:
            own[Term.MEANING] = meaning
        return rank(self._field, places, own, self._named)

    def _scored(self, places: Numbers, rows: Sequence[Scores], shares: Scores | None) -> _Scored:
        cosines = None if self._vector is None else rows[-1]
        ahead = None if cosines is None else float(cosines.max()) - self._average
        return _Scored(places, self._ranks(places, rows), cosines, shares, ahead)


def _named(field: Field, question: SearchQuestion) -> Named:
    speakers = days = None
    if field.speakers is not None:
        speakers = field.speakers.named(
            frozenset(chain(*(group.hashes for group in question.groups)))
        )
    stretches = [
        one
        for _, times in question.times
        for one in times
        if all(until - since <= _DAY for since, until in times)
    ]
    if stretches:
        days = np.zeros(field.hole + 1, dtype=np.bool_)
        days[field.within(stretches)] = True
    return Named(speakers, days, question.asks_you)


def _ranked(
    field: Field, scored: _Scored, limit: int, question: SearchQuestion, words: WordMatches | None
) -> list[Match]:
    places, together = scored.places, scored.ranks.together
    best = best_of(field, places, together, limit)
    at = places.searchsorted(best) if len(best) < len(places) else np.arange(len(best))
    values, moments = together.take(at).tolist(), field.at(best).tolist()
    ids: list[bytes] = field.ids(best).view("V16").tolist()
    order = sorted(range(len(ids)), key=lambda one: (-values[one], -moments[one], ids[one]))
    order = [one for one in order if values[one] > 0]
    spoken = [group.word for group in question.groups] + [name for name, _ in question.times]
    terms = scored.ranks.terms
    summary = MatchSummary(tuple(terms), spoken)
    cosines: list[float | None] = [None] * len(ids)
    if scored.cosines is not None:
        cosines = scored.cosines.take(at).tolist()
    amounts = list(zip(*(one.take(at).tolist() for one in terms.values()), strict=True))
    shares: list[Sequence[float]] = [()] * len(ids)
    near: list[Sequence[bool]] = [()] * len(ids)
    by_words = None
    if words is not None and scored.shares is not None:
        held = scored.shares.take(at, axis=1)
        shares = held.T.tolist()
        near = are_near(field, words, best, held).T.tolist()
        by_words = [shares[one] for one in order], words.weights.tolist()
    kin = field.kin(best).tolist()
    sure = confidences(Ranking(together, [values[one] for one in order], by_words, scored.ahead))
    return [
        Match(
            ids[one],
            values[one],
            summary,
            cosines[one],
            shares[one],
            near[one],
            amounts[one],
            kin[one],
            confidence,
        )
        for one, confidence in zip(order, sure, strict=True)
    ]


def _newest(field: Field, places: Numbers, limit: int) -> list[Match]:
    best = best_of(field, places, field.at(places), limit)
    ids: list[bytes] = field.ids(best).view("V16").tolist()
    summary = MatchSummary((), ())
    newest = sorted(zip((-field.at(best)).tolist(), ids, field.kin(best).tolist(), strict=True))
    return [Match(id, 0.0, summary, kin=kin) for _, id, kin in newest]
