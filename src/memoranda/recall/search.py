"""Search: the best passages of a field for a question, with what each arm says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.model.query import ScorerScore, Times
from memoranda.recall import meaning, words
from memoranda.recall.columns import Mask, Numbers
from memoranda.recall.fields import Field
from memoranda.recall.filters import PassageFilter
from memoranda.recall.fusion import NAMED, Scorer, fused, meaning_weight, weights, words_weight
from memoranda.recall.ordering import best_of, ranks_of
from memoranda.recall.vectors import QuestionVector
from memoranda.recall.words import WordMatches
from memoranda.text.terms import TermGroup

#: Lines up to this long are scored whole; of longer ones, so many candidates are, more in very long ones and
#: for long answers, and more where they cost less, by words alone.
SHORT = 2048
CANDIDATES = 192
CANDIDATES_BY_MEANING = 384
CANDIDATES_BY_WORDS = 512
_PASSAGES_A_CANDIDATE = 200
_PASSAGES_A_CANDIDATE_BY_MEANING = 125
_CANDIDATES_A_HIT = 8
_BEST_BY_WORDS = 32
#: So few places of a longer line are all looked at closely, without guesses.
FEW = 512
#: Vectors up to this many are all compared; of more, the signs first.
COMPARED = 4096

Scores = NDArray[np.float64]
_BY_WORDS = (Scorer.WORDS, Scorer.WORDS_NEAR)
_BY_MEANING = (Scorer.MEANING, Scorer.MEANING_NEAR)


class Mode(StrEnum):
    """What a search goes by."""

    #: Words and meaning, as far as each is there.
    HYBRID = "hybrid"
    WORDS = "words"
    MEANING = "meaning"
    #: The newest first, whatever they say.
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """What is looked for."""

    groups: Sequence[TermGroup]
    #: Of the embedding that made the passages' vectors; None: words alone.
    vector: NDArray[np.float32] | None = None
    #: The times that it names, each with the stretches that are meant.
    times: Times = ()


class MatchSummary(NamedTuple):
    """What all that was found for a question has in common."""

    arms: Sequence[Scorer]
    #: Of each arm.
    weights: Sequence[float]
    #: The question's words, and the times that it names, in its order.
    words: Sequence[str]


class Match(NamedTuple):
    """A passage that a search found, and why."""

    id: bytes
    score: float
    asking: MatchSummary
    #: What each arm says of it.
    scores: Sequence[float] = ()
    ranks: Sequence[int] = ()
    #: What each word adds to the score of the arm of words.
    shares: Sequence[float] = ()
    #: The question names who speaks here.
    named: bool = False
    #: Shared with passages of the same words, and seldom with others.
    kin: int = 0

    @property
    def is_memory(self) -> bool:
        return bool(self.kin & 1)

    @property
    def arms(self) -> tuple[ScorerScore, ...]:
        """What each arm says of it."""
        return tuple(map(ScorerScore, self.asking.arms, self.scores, self.ranks, self.asking.weights))

    @property
    def words(self) -> tuple[tuple[str, float], ...]:
        """The words it holds itself, in the question's order, with their shares.

        Added in this order, they are the score of the arm of words.
        """
        return tuple(
            [(word, share) for word, share in zip(self.asking.words, self.shares, strict=False) if share]
        )


def search(
    field: Field,
    question: SearchQuestion,
    *,
    limit: int,
    only: PassageFilter,
    mode: Mode = Mode.HYBRID,
) -> list[Match]:
    """The best passages of a field, best first.

    Equal scores go to the newer ``at``, then to the lower id. The order of arithmetic depends on the question
    and on what the field holds alone, so equal contents give equal scores to the last bit, however they came in.
    """
    if limit < 1 or not field.living:
        return []
    places = field.admitted(only)
    if not len(places):
        return []
    if mode is Mode.RECENT:
        return _newest(field, places, limit)
    said = None
    if mode is not Mode.MEANING and (question.groups or question.times):
        dated = [field.within(stretches) for _, stretches in question.times]
        said = words.look_up(field, question.groups, dated)
    asked = None
    if mode is not Mode.WORDS and question.vector is not None and field.dimension == len(question.vector):
        asked = QuestionVector(question.vector)
    if said is None and asked is None:
        return []
    look = _Look(field, question, said, asked)
    close = look.whole(places) if field.hole <= SHORT else look.closer(places, limit)
    return _ranked(field, close, limit, question)


class _Close(NamedTuple):
    """Places that were looked at closely; arrays run along them."""

    places: Numbers
    arms: Sequence[Scorer]
    #: One row an arm.
    scores: Scores
    weights: Sequence[float]
    together: Scores
    named: Mask | None
    #: One row a word.
    shares: Scores | None


class _Look:
    """One search under way."""

    def __init__(
        self, field: Field, question: SearchQuestion, said: WordMatches | None, asked: QuestionVector | None
    ) -> None:
        self._field = field
        self._said = said
        self._asked = asked
        self._average = 0.0 if asked is None else field.average(asked)
        self._named: Mask | None = None
        if field.speakers is not None:
            self._named = field.speakers.named(frozenset(chain(*(group.hashes for group in question.groups))))
        self.arms = (*(_BY_WORDS if said is not None else ()), *(_BY_MEANING if asked is not None else ()))

    def whole(self, places: Numbers) -> _Close:
        """All these places, of a line that is not long."""
        scores = np.empty((len(self.arms), len(places)))
        shares = None
        if self._said is not None:
            scores[0], scores[1], shares = words.everywhere(self._field, self._said, places)
        if self._asked is not None:
            own, near = meaning.exactly(self._field, self._asked)
            scores[-2], scores[-1] = own.take(places), near.take(places)
        return self._close(places, scores, shares)

    def closer(self, places: Numbers, limit: int) -> _Close:
        """The likeliest of these places, of a long line; all of them where they are few."""
        if len(places) > FEW:
            places = self._likeliest(places, limit)
        around = self._field.around(places)
        scores = np.empty((len(self.arms), len(places)))
        shares = None
        if self._said is not None:
            scores[0], scores[1], shares = words.at(self._field, self._said, around)
        if self._asked is not None:
            scores[-2], scores[-1] = meaning.at(self._field, self._asked, around)
        return self._close(places, scores, shares)

    def _likeliest(self, places: Numbers, limit: int) -> Numbers:
        """The likeliest of many places."""
        guesses = self._guesses(places)
        likely = self._close(places, guesses, None).together
        least, share = CANDIDATES, _PASSAGES_A_CANDIDATE
        if self._asked is None:
            least = CANDIDATES_BY_WORDS
        elif self._said is None:
            least, share = CANDIDATES_BY_MEANING, _PASSAGES_A_CANDIDATE_BY_MEANING
        most = max(least, self._field.living // share, _CANDIDATES_A_HIT * limit)
        best = best_of(self._field, places, likely, most)
        # Each arm is divided by its best: that must be among them, also where it is but guessed.
        most = min(_BEST_BY_WORDS, len(places))
        best_of_arms = [guesses.argmax(axis=1)]
        if self._said is not None:
            best_of_arms.append(guesses[1].argpartition(-most)[-most:])
        places = np.sort(np.concatenate((best, *(places[these] for these in best_of_arms))))
        return places[np.flatnonzero(np.diff(places, prepend=-1))]

    def _guesses(self, places: Numbers) -> Scores:
        lines: list[Scores] = []
        if self._said is not None:
            lines += words.guesses(self._field, self._said)
        if self._asked is not None:
            compare = meaning.exactly if self._field.living <= COMPARED else meaning.about
            lines += compare(self._field, self._asked)
        return np.array([line.take(places) for line in lines])

    def _close(self, places: Numbers, scores: Scores, shares: Scores | None) -> _Close:
        tops = scores.max(axis=1).tolist()
        by_words = by_meaning = least = 0.0
        if self._said is not None:
            by_words = words_weight(tops[1], self._said.best_there_could_be)
        if self._asked is not None:
            least = self._asked.least
            by_meaning = meaning_weight(tops[-2], self._average, least)
        of_arm = weights(by_words, by_meaning)
        shared = [of_arm[arm] for arm in self.arms]
        leasts = [least if arm in _BY_MEANING else 0.0 for arm in self.arms]
        together = fused(scores, tops, leasts, shared)
        named = None
        if self._named is not None:
            named = self._named.take(places)
            together += np.logical_and(named, together > 0) * NAMED
        return _Close(places, self.arms, scores, shared, together, named, shares)


def _ranked(field: Field, close: _Close, limit: int, question: SearchQuestion) -> list[Match]:
    places, together = close.places, close.together
    best = best_of(field, places, together, limit)
    at = places.searchsorted(best) if len(best) < len(places) else np.arange(len(best))
    values, moments = together.take(at).tolist(), field.at(best).tolist()
    ids: list[bytes] = field.ids(best).view("V16").tolist()
    order = sorted(range(len(ids)), key=lambda one: (-values[one], -moments[one], ids[one]))
    scores = close.scores.take(at, axis=1)
    ranks = ranks_of(close.scores, scores).T.tolist()
    spoken = [group.word for group in question.groups] + [name for name, _ in question.times]
    asking = MatchSummary(close.arms, close.weights, spoken)
    of_arm = scores.T.tolist()
    shares = [()] * len(ids) if close.shares is None else close.shares.take(at, axis=1).T.tolist()
    named = [False] * len(ids) if close.named is None else close.named.take(at).tolist()
    kin = field.kin(best).tolist()
    return [
        Match(ids[one], values[one], asking, of_arm[one], ranks[one], shares[one], named[one], kin[one])
        for one in order
        if values[one] > 0
    ]


def _newest(field: Field, places: Numbers, limit: int) -> list[Match]:
    best = best_of(field, places, field.at(places), limit)
    ids: list[bytes] = field.ids(best).view("V16").tolist()
    asking = MatchSummary((), (), ())
    newest = sorted(zip((-field.at(best)).tolist(), ids, field.kin(best).tolist(), strict=True))
    return [Match(id, 0.0, asking, kin=kin) for _, id, kin in newest]
