"""The filter of a search and its evaluation on a segment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from memoranda.recall.columns import Mask
from memoranda.recall.segments import Segment


@dataclass(frozen=True, slots=True)
class PassageFilter:
    """Conditions on the passages that a search may return. None sets no condition.

    Excluded passages still count in how rare a word is. None in a set admits passages without that property.
    Moments are microseconds since the epoch.
    """

    types: frozenset[str] | None = None
    kinds: frozenset[str | None] | None = None
    statuses: frozenset[str | None] | None = None
    #: Excludes passages with one of these statuses.
    not_statuses: frozenset[str] | None = None
    threads: frozenset[bytes | None] | None = None
    #: Earliest ``at``.
    since: int | None = None
    #: ``at`` is before this.
    until: int | None = None
    #: Valid at this moment; without an end of validity a passage stays valid.
    valid_at: int | None = None
    #: Valid at this other moment, too.
    as_of: int | None = None
    #: Recorded by this moment, and not ended at it.
    known_at: int | None = None
    agents: frozenset[str] | None = None
    keys: frozenset[str] | None = None
    subjects: frozenset[str] | None = None
    trusts: frozenset[str] | None = None
    #: Has at least one of these tags.
    tags: frozenset[str] | None = None
    #: Only pinned ones of the memories; other types are not affected.
    pinned: bool = False


#: The condition → its facet.
_FACETS = {"agents": "agent", "keys": "key", "subjects": "subject", "trusts": "trust", "tags": "tags"}


def admitted(segment: Segment, only: PassageFilter) -> Mask | None:
    """Return a mask of the rows that a filter admits; None: all."""
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
    if only.not_statuses is not None:
        status = segment.columns["status"]
        yield status.within(status.values.keys() - only.not_statuses)
    conditions = {
        facet: chosen for name, facet in _FACETS.items() if (chosen := getattr(only, name)) is not None
    }
    if conditions:
        yield segment.facets.where(conditions)
    if only.pinned and (pinned := segment.facets.pinned()) is not None:
        types = segment.columns["type"]
        others = types.within(types.values.keys() - {"memory"})
        yield None if others is None else others | pinned
    yield from _in_time(segment, only)


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
    if only.known_at is not None:
        yield series["learnt"].below(only.known_at + 1)
        yield series["ended"].at_least(only.known_at + 1)
