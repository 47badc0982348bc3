"""Admission: which rows of a segment the conditions of a filter admit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from uuid import UUID

import numpy as np

from memoranda.model.data_filters import DataFilter
from memoranda.model.records import COMMITMENT
from memoranda.recall.arrays.columns import Mask, PassageFilter
from memoranda.recall.arrays.segments import Segment

#: The condition → its facet.
_FACETS = {
    "agents": "agent",
    "keys": "key",
    "subjects": "subject",
    "trusts": "trust",
    "tags": "tags",
}


def admitted(segment: Segment, only: PassageFilter) -> Mask | None:
    """Return a mask of a segment's rows that a filter admits; None: all."""
    masks = [mask for mask in _masks(segment, only) if mask is not None]
    return reduce(np.logical_and, masks) if masks else None


def _masks(segment: Segment, only: PassageFilter) -> Iterator[Mask | None]:
    for name, chosen in (
        ("type", only.types),
        ("kind", only.kinds),
        ("status", only.statuses),
        ("thread", only.threads),
    ):
        if chosen is not None:
            yield segment.columns[name].within(chosen)
    if only.kind_prefix is not None:
        kinds = segment.columns["kind"]
        yield kinds.within(
            [
                one
                for one in kinds.values
                if isinstance(one, str) and one.startswith(only.kind_prefix)
            ]
        )
    if only.not_statuses is not None:
        status = segment.columns["status"]
        yield status.within(status.values.keys() - only.not_statuses)
    conditions = {
        facet: chosen
        for name, facet in _FACETS.items()
        if (chosen := getattr(only, name)) is not None
    }
    if conditions:
        yield segment.facets.where(conditions)
    if only.pinned and (pinned := segment.facets.pinned()) is not None:
        types = segment.columns["type"]
        others = types.within(types.values.keys() - {"memory"})
        yield None if others is None else others | pinned
    yield from _in_time(segment, only)
    if only.data is not None:
        yield _in_data(segment, only.data)


def _in_data(segment: Segment, only: DataFilter) -> Mask:
    if segment.data is None:
        return np.zeros(len(segment.ids), dtype=np.bool_)
    ids = segment.ids.view("V16")
    return segment.data.within(only, lambda row: UUID(bytes=ids[row].tobytes()), segment.mask)


def _in_time(segment: Segment, only: PassageFilter) -> Iterator[Mask | None]:
    series = segment.series
    if only.since is not None:
        yield series["at"].at_least(only.since)
    if only.until is not None:
        yield series["at"].below(only.until)
    for moment in (only.valid_at, only.as_of):
        if moment is not None:
            yield series["valid_from"].below(moment + 1)
            yield series["valid_to"].at_least(moment + 1)
    if only.current_at is not None:
        yield _current(segment, only.current_at)
    if only.read_at is not None:
        yield _unexpired(segment, only.read_at)
    if only.known_at is not None:
        yield series["learnt"].below(only.known_at + 1)
        yield series["ended"].at_least(only.known_at + 1)


def _current(segment: Segment, at: int) -> Mask | None:
    """Return a mask of the rows that are no ended memories; None: all rows."""
    ongoing = segment.series["valid_to"].at_least(at + 1)
    if ongoing is None:
        return None
    types, kinds = segment.columns["type"], segment.columns["kind"]
    others = types.codes != types.values.get("memory", -1)
    current: Mask = ongoing | others | (kinds.codes == kinds.values.get(COMMITMENT, -1))
    return current


def _unexpired(segment: Segment, at: int) -> Mask | None:
    """Return a mask of the rows that are kept at a moment; None: all rows. Of memories the facets
    tell when they expire.
    """
    ongoing = segment.series["valid_to"].at_least(at + 1)
    if ongoing is None:
        return None
    types, kept = segment.columns["type"], segment.facets.unexpired(at)
    is_memory = types.codes == types.values.get("memory", -1)
    unexpired: Mask = ongoing | (is_memory if kept is None else is_memory & kept)
    return unexpired
