"""Ordering: the best of some places, and the rank that each score has among all."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.columns import Numbers
from memoranda.recall.fields import Field

#: So few are counted one by one, which is sooner than to sort all.
_FEW_RANKED = 64

Scores = NDArray[np.float64]
Value = TypeVar("Value", np.float64, np.int64)


def best_of(field: Field, places: Numbers, values: NDArray[Value], limit: int) -> Numbers:
    """The places with the highest values, among equals the newest, then the lowest ids; ascending, not ranked."""
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
    """For each arm the places of some of its scores among all of them; equals share the better place."""
    if chosen.shape[1] <= _FEW_RANKED:
        before: NDArray[np.int64] = (everything[:, np.newaxis, :] > chosen[:, :, np.newaxis]).sum(axis=2)
        return before + 1
    ordered = np.sort(everything, axis=1)
    ranks = np.full(chosen.shape, everything.shape[1] + 1)
    for arm, mine, rank in zip(ordered, chosen, ranks, strict=True):
        rank -= arm.searchsorted(mine, "right")
    return ranks
