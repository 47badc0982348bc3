"""Scoring by meaning: the cosine of each passage with a question, alone and together with its neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.fields import Field, Line, Neighbourhood, one_of, with_near
from memoranda.recall.vectors import QuestionVector, Vectors

Scores = NDArray[np.float64]


def cosines_everywhere(field: Field, vector: QuestionVector) -> tuple[Line, Line]:
    """Return the cosines of all places, own and with neighbours."""
    return _with_near(field, _along(field, vector, lambda vectors: vectors.cosines(vector)))


def estimated_cosines(field: Field, vector: QuestionVector) -> tuple[Line, Line]:
    """Estimate the cosines from the signs of the vectors alone; several times faster if there are very many."""
    return _with_near(field, _along(field, vector, lambda vectors: vectors.estimates(vector)))


def _along(field: Field, vector: QuestionVector, compare: Callable[[Vectors], NDArray[np.floating]]) -> Line:
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


def _with_near(field: Field, own: Line) -> tuple[Line, Line]:
    near = with_near(own, field.ends)
    near *= field.near_shares
    return own, near


def cosines_at(field: Field, vector: QuestionVector, around: Neighbourhood) -> tuple[Scores, Scores]:
    """Return the exact cosines of some places, own and with neighbours."""
    rows = field.row.take(around.places)
    cosines = np.zeros(len(rows))
    for segment, base in zip(field.segments, field.bases, strict=False):
        vectors = _comparable(segment.vectors, vector)
        if vectors is not None:
            mine = np.flatnonzero((rows >= base) & (rows < base + len(segment.ids)))
            cosines[mine] = vectors.cosines_at(rows.take(mine) - base, vector)
    near = with_near(cosines, around.threads).take(around.at)
    near *= field.near_shares.take(around.places.take(around.at))
    return cosines.take(around.at), near
