"""Rows of the SQLite tables as values, and filters as conditions."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from memoranda.engines.sqlite.statements import sql
from memoranda.model.owner import Owner, View
from memoranda.model.query import Filter
from memoranda.model.values import micros
from memoranda.settle.codec import TAKEN_BACK

#: More placeholders than this are asked for in several statements.
MANY = 500


def view_parameters(owner: Owner, view: View) -> dict[str, Any]:
    """What ``visible_shelves`` needs to know."""
    return {
        "tenant": owner.tenant,
        "kind": owner.kind.value,
        "id": owner.id,
        "whole": view.whole,
        "agent": view.agent,
        "groups": json.dumps(list(view.groups)),
    }


def conditions(filter: Filter) -> tuple[str, dict[str, Any]]:
    """A filter as an SQL condition over ``r`` with its parameters; types and threads are chosen elsewhere."""
    parts: list[str] = ["r.status IS NOT 'withdrawn'"]
    values: dict[str, Any] = {}
    for column, wanted in (("kind", filter.kinds), ("status", filter.statuses)):
        if wanted is not None:
            parts.append(f"r.{column} IN (SELECT value FROM json_each(:{column}s))")  # noqa: S608 - our own names
            values[f"{column}s"] = json.dumps(sorted(wanted))
    if filter.slots is not None:
        names = [f"slot{place}" for place in range(len(filter.slots))]
        parts.append(f"r.slot IN ({', '.join(':' + name for name in names)})")
        values.update(zip(names, filter.slots, strict=True))
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
        parts.append("coalesce(r.status, '') NOT IN (SELECT value FROM json_each(:taken_back))")
        values["taken_back"] = json.dumps(sorted(TAKEN_BACK))
    if filter.known_at is not None:
        parts.append("r.learnt <= :known_at AND (r.ended IS NULL OR r.ended > :known_at)")
        values["known_at"] = micros(filter.known_at)
    if filter.pinned:
        parts.append("(r.type <> 'memory' OR json_extract(r.body, '$.pinned') = 1)")
    for name, facet, condition in _FACETS:
        if (wanted := getattr(filter, name)) is not None:
            parts.append(condition.format(f"nullif(r.facets, ''), '$[{facet}]'", f":{name}"))
            values[name] = wanted if isinstance(wanted, str) else json.dumps(sorted(wanted))
    return " AND ".join(parts), values


_AMONG = "json_extract({0}) IN (SELECT value FROM json_each({1}))"

#: A filter's field, the place of its facet, and the condition over the two.
_FACETS = (
    ("agent", 1, "json_extract({0}) = {1}"),
    ("keys", 2, _AMONG),
    ("subject", 3, "json_extract({0}) = {1}"),
    ("trust", 4, _AMONG),
    ("tags", 5, "EXISTS (SELECT 1 FROM json_each({0}) WHERE value IN (SELECT value FROM json_each({1})))"),
)


def chunks(items: list[bytes]) -> list[list[bytes]]:
    """Lists short enough for one statement each."""
    return [items[start : start + MANY] for start in range(0, len(items), MANY)]


def fetch_many(
    connection: sqlite3.Connection, statement: str, items: list[bytes], *fixed: Any, list_name: str = "ids"
) -> list[tuple[Any, ...]]:
    """All rows of a statement with a list, asked for in pieces; ``fixed`` values come before the list."""
    from_list = list(dict.fromkeys(items))
    found: list[tuple[Any, ...]] = []
    for piece in chunks(from_list):
        found += connection.execute(sql(statement, **{list_name: len(piece)}), (*fixed, *piece)).fetchall()
    return found
