"""Parameters and conditions of statements, made of views and filters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from memoranda.engines.postgres.session import Session
from memoranda.model.owner import Owner, View
from memoranda.model.query import Filter
from memoranda.model.values import micros
from memoranda.settle.codec import TAKEN_BACK


class ShelfState(NamedTuple):
    """A shelf as far as it matters for an index of large shelves."""

    owner: int
    shelf: int
    passages: int
    #: The mark up to which the server's index of a large shelf is complete; None where there is no such index.
    indexed: int | None


#: Tells whether the server searches a shelf, so that its passages need not be fetched.
IsSearched = Callable[[Session, ShelfState], Awaitable[bool]]


def view_parameters(owner: Owner, view: View) -> dict[str, Any]:
    """Return the parameters of the statement ``visible_shelves``."""
    return {
        "tenant": owner.tenant,
        "kind": owner.kind.value,
        "id": owner.id,
        "whole": view.whole,
        "agent": view.agent,
        "groups": list(view.groups),
    }


def conditions(filter: Filter) -> tuple[str, dict[str, Any]]:
    """Return an SQL condition over ``r`` for a filter, and its parameters; the caller adds types and thread."""
    parts: list[str] = ["r.status IS DISTINCT FROM 'withdrawn'"]
    values: dict[str, Any] = {}
    for column, wanted in (("kind", filter.kinds), ("status", filter.statuses)):
        if wanted is not None:
            parts.append(f"r.{column} = ANY(:{column}s::text[])")
            values[f"{column}s"] = sorted(wanted)
    if filter.slots is not None:
        parts.append("r.slot = ANY(:slots::bytea[])")
        values["slots"] = list(filter.slots)
    for name, sign, limit in (("since", ">=", filter.since), ("until", "<", filter.until)):
        if limit is not None:
            parts.append(f"r.at {sign} :{name}")
            values[name] = micros(limit)
    for name, moment_ in (("valid_at", filter.valid_at), ("as_of", filter.as_of)):
        if moment_ is not None:
            parts.append(f"(r.valid_from IS NULL OR r.valid_from <= :{name})")
            parts.append(f"(r.valid_to IS NULL OR r.valid_to > :{name})")
            values[name] = micros(moment_)
    if filter.as_of is not None:
        parts.append("coalesce(r.status, '') <> ALL(:taken_back::text[])")
        values["taken_back"] = sorted(TAKEN_BACK)
    if filter.known_at is not None:
        parts.append("r.learnt <= :known_at AND (r.ended IS NULL OR r.ended > :known_at)")
        values["known_at"] = micros(filter.known_at)
    if filter.pinned:
        parts.append("(r.type <> 'memory' OR nullif(r.facets, '')::jsonb ->> 6 = 'true')")
    for name, facet, condition in _FACETS:
        if (wanted := getattr(filter, name)) is not None:
            parts.append(condition.format("nullif(r.facets, '')::jsonb", facet, f":of_{name}"))
            values[f"of_{name}"] = wanted if isinstance(wanted, str) else sorted(wanted)
    return " AND ".join(parts), values


_SAME = "{0} ->> {1} = {2}::text"
_AMONG = "{0} ->> {1} = ANY({2}::text[])"

#: A filter's field, the place of its facet, and the condition over the two.
_FACETS = (
    ("agent", 1, _SAME),
    ("keys", 2, _AMONG),
    ("subject", 3, _SAME),
    ("trust", 4, _AMONG),
    (
        "tags",
        5,
        "EXISTS (SELECT 1 FROM jsonb_array_elements_text({0} -> {1}) AS t (tag) WHERE t.tag = ANY({2}::text[]))",
    ),
)
