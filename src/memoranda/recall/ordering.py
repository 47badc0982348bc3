"""Order: the best of some places, and the rank of a score among all scores."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.columns import Numbers
from memoranda.recall.fields import Field

#: For so few places counting is faster than sorting all scores.
_FEW_RANKED = 64

Scores = NDArray[np.float64]
Value = TypeVar("Value", np.float64, np.int64)


def best_of(field: Field, places: Numbers, values: NDArray[Value], limit: int) -> Numbers:
    """Return the places with the highest values; of equal ones the newest, then the lowest ids. They are ascending."""
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
    if chosen.shape[1] <= _FEW_RANKED:
        before: NDArray[np.int64] = (everything[:, np.newaxis, :] > chosen[:, :, np.newaxis]).sum(axis=2)
        return before + 1
    ordered = np.sort(everything, axis=1)
    ranks = np.full(chosen.shape, everything.shape[1] + 1)
    for scores, mine, rank in zip(ordered, chosen, ranks, strict=True):
        rank -= scores.searchsorted(mine, "right")
    return ranks
