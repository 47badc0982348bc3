"""Meaning: how near a question each passage is, alone and together with its neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.columns import one_of
from memoranda.recall.fields import Field, Line, Neighbourhood, with_near
from memoranda.recall.vectors import QuestionVector, Vectors

Scores = NDArray[np.float64]


def exactly(field: Field, asked: QuestionVector) -> tuple[Line, Line]:
    """The nearness of every place of a line, own and with neighbours."""
    return _with_near(field, _along(field, asked, lambda vectors: vectors.cosines(asked)))


def about(field: Field, asked: QuestionVector) -> tuple[Line, Line]:
    """The same by the signs of the vectors alone, several times sooner where there are very many."""
    return _with_near(field, _along(field, asked, lambda vectors: vectors.guesses(asked)))


def _along(field: Field, asked: QuestionVector, ask: Callable[[Vectors], NDArray[np.floating]]) -> Line:
    return field.along(
        one_of(
            [
                np.zeros(len(segment.ids))
                if (vectors := _comparable(segment.vectors, asked)) is None
                else ask(vectors)
                for segment in field.segments
            ]
        )
    )


def _comparable(vectors: Vectors | None, asked: QuestionVector) -> Vectors | None:
    return vectors if vectors is not None and vectors.dimension == asked.dimension else None


def _with_near(field: Field, own: Line) -> tuple[Line, Line]:
    near = with_near(own, field.ends)
    near *= field.near_shares
    return own, near


def at(field: Field, asked: QuestionVector, around: Neighbourhood) -> tuple[Scores, Scores]:
    """The exact nearness of some places, own and with neighbours."""
    rows = field.row.take(around.places)
    cosines = np.zeros(len(rows))
    for segment, base in zip(field.segments, field.bases, strict=False):
        vectors = _comparable(segment.vectors, asked)
        if vectors is not None:
            mine = np.flatnonzero((rows >= base) & (rows < base + len(segment.ids)))
            cosines[mine] = vectors.cosines_at(rows.take(mine) - base, asked)
    near = with_near(cosines, around.threads).take(around.at)
    near *= field.near_shares.take(around.places.take(around.at))
    return cosines.take(around.at), near
