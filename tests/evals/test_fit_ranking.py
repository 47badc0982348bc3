"""Fitting the ranking: the same numbers from the same data, and numbers that rank what answers
first.
"""

from __future__ import annotations

import numpy as np
import pytest

from evals.fit_ranking import Asked, fit
from memoranda.recall.scoring.ranking import COEFFICIENTS, Term


def _asked(chance: np.random.Generator) -> Asked:
    """One question with forty passages in eight threads; words tell more of the answer than meaning
    does.
    """
    units = {term: chance.random(40) for term in (Term.WORDS, Term.MEANING)}
    units[Term.USER] = (chance.random(40) > 0.5).astype(float)
    units |= {term: np.zeros(40) for term in (Term.SPEAKER, Term.LENGTH, Term.DAY)}
    hidden = (
        6 * units[Term.WORDS]
        + 3 * units[Term.MEANING]
        + 1.5 * units[Term.USER]
        + chance.gumbel(size=40)
    )
    return Asked("made up", units, np.arange(40) // 5, np.arange(40) == hidden.argmax())


def test_the_same_data_give_the_same_numbers_which_rank_what_answers_first() -> None:
    chance = np.random.default_rng(3)
    asked = [_asked(chance) for _ in range(300)]
    fitted = fit(asked)
    assert fit(asked) == fitted
    assert fitted[Term.MEANING] == 1
    assert fitted[Term.WORDS] == pytest.approx(2, abs=0.5)
    assert fitted[Term.USER] == pytest.approx(0.5, abs=0.2)
    assert fitted[Term.CONVERSATION] == pytest.approx(0, abs=0.15)
    numbers = COEFFICIENTS | fitted
    before, after = (
        np.mean([one.figures(found)[2] for one in asked]) for found in (COEFFICIENTS, numbers)
    )
    assert after > before
