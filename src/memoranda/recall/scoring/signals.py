"""Signals: what tells that a passage answers, besides its words and its meaning. Each adds an amount to its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.arrays.columns import Mask, Numbers
from memoranda.recall.scoring.fields import Field, Line
from memoranda.text.cues import ASKS, WISHES, Cue
from memoranda.text.terms import term_hash

Scores = NDArray[np.float64]


class Signal(StrEnum):
    """A sign that a passage answers, or that it does not."""

    #: In a talk of a user and an assistant: the user said it, or it is no message.
    OWN_WORDS = "own_words"
    #: It lies in the times that the question names.
    IN_TIME = "in_time"
    #: The message before it asks something with the question's words.
    AFTER_QUESTION = "after_question"
    #: It is a memory or what the user said, states a standing wish, and its meaning is near the question's.
    STANDING_WISH = "standing_wish"
    #: It is newer than others, and the question asks for what holds now.
    NEWER = "newer"
    #: It is a message of a few words. Negative.
    SHORT = "short"
    #: It is a short question, so it rather asks than answers; unless questions are asked for. Negative.
    SHORT_QUESTION = "short_question"


#: How much each signal counts. ``python -m evals.fit_signals`` fits these numbers.
COEFFICIENTS: Final = {
    Signal.OWN_WORDS: 0.26,
    Signal.IN_TIME: 0.70,
    Signal.AFTER_QUESTION: 0.83,
    Signal.STANDING_WISH: 0.68,
    Signal.NEWER: 0.57,
    Signal.SHORT: 0.98,
    Signal.SHORT_QUESTION: 0.83,
}
#: The share of ``OWN_WORDS`` that is left where the question asks for what "you" said.
_OF_YOU: Final = 0.35
#: A message is short below so many terms, and a question below so many.
_SHORT, _SHORT_QUESTION = 6, 8
#: Signals leave a passage that matches at least this share of its score.
_LEAST: Final = 0.05
_ROWS: Final = {signal: row for row, signal in enumerate(Signal)}
_ASKS, _WISHES = term_hash(ASKS), term_hash(WISHES)


class Evidence(NamedTuple):
    """The facts of a search from which signals are weighed."""

    #: The places that are scored, ascending.
    places: Numbers
    #: Their score without signals.
    base: Scores
    cues: frozenset[Cue]
    #: Returns the score by words of all places of the field; and a score that none reaches. None without words.
    words: tuple[Callable[[], Line], float] | None
    #: How far the cosine of each place is above the average; None without vectors.
    above: Scores | None
    #: The places in each time that the question names.
    dated: Sequence[Numbers]


def amounts_of(field: Field, seen: Evidence) -> Scores:
    """Return what each signal (row) adds to the score of each place; nothing where the score is 0."""
    amounts = np.zeros((len(_ROWS), len(seen.places)))
    for signal, unit in _units(field, seen).items():
        np.multiply(unit, COEFFICIENTS[signal], out=amounts[_ROWS[signal]])
    amounts *= seen.base > 0
    left = seen.base + amounts.sum(axis=0)
    amounts[_ROWS[Signal.SHORT]] += np.maximum(0.0, _LEAST * seen.base - left)
    return amounts


def _units(field: Field, seen: Evidence) -> dict[Signal, Scores]:
    """Return the strength of each signal that the field has at all."""
    places, base = seen.places, seen.base
    said: Mask = places < field.ends
    found: dict[Signal, Scores] = {}
    if field.voices.are_user_and_assistant:
        share = _OF_YOU if Cue.YOU in seen.cues else 1.0
        found[Signal.OWN_WORDS] = base * ~field.others.take(places) * share
    if seen.dated:
        in_times = np.bincount(np.concatenate(seen.dated), minlength=field.hole + 1)
        # A day counts as its month and its year, too: what lies in all three is meant most.
        found[Signal.IN_TIME] = base * in_times.take(places) / len(seen.dated)
    if Cue.NOW in seen.cues:
        found[Signal.NEWER] = base * field.newness.take(places)
    if field.voices.are_several:
        few = 1 - np.minimum(field.lengths.take(places), _SHORT) / _SHORT
        found[Signal.SHORT] = -few * said
    asks, wishes = field.marked(_ASKS), field.marked(_WISHES)
    if asks is not None:
        if Cue.ASKED not in seen.cues:
            brief = field.lengths.take(places) < _SHORT_QUESTION
            found[Signal.SHORT_QUESTION] = -base * (asks.take(places) & brief & said)
        if seen.words is not None:
            own, most = seen.words
            before = np.where(said, places - 1, field.hole)
            found[Signal.AFTER_QUESTION] = own().take(before) / most * asks.take(before)
    if wishes is not None and seen.above is not None:
        mine = wishes.take(places) & ~field.others.take(places)
        found[Signal.STANDING_WISH] = np.maximum(seen.above, 0.0) * mine
    return found
