"""Carries out what questions and writes say as data, on the tables in memory: the reference of all
engines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from memoranda.engines.inmemory.tables import Era, Kept, Session
from memoranda.model.book_rows import ReadPiece
from memoranda.model.data_filters import record_data
from memoranda.storage import conditions as c
from memoranda.storage.upkeep_questions import JobRow

Get = Callable[[Any, str], Any]
_NAMES = ("tenant", "owner_kind", "owner_id")


def _of_record(kept: Kept, name: str) -> Any:
    row = kept.now.row
    if name in row._fields:
        return getattr(row, name)
    if name in c.FACETS:
        facets = json.loads(row.facets) if row.facets else ()
        place = c.FACETS.index(name)
        return facets[place] if place < len(facets) else None
    match name:
        case "tenant" | "owner_kind" | "owner_id":
            parts = (None, None, None) if kept.era.owner is None else kept.era.owner.parts
            return parts[_NAMES.index(name)]
        case "sources":
            return [source.bytes for source in kept.sources]
        case "links":
            return [source.bytes for source in kept.all_sources()]
        case "strength" | "used_at" | "used":
            return (
                None
                if kept.use is None
                else kept.use.columns[("strength", "used_at", "used").index(name)]
            )
    return getattr(kept, name)


def _of_era(era: Era, name: str) -> Any:
    match name:
        case "era":
            return era.id.bytes
        case "position":
            return len(era.ledger)
        case "erased_at":
            return era.ended_at
        case "digest":
            return era.digest
    return None if era.owner is None else era.owner.parts[_NAMES.index(name)]


def _of_job(row: JobRow, name: str) -> Any:
    if name == "era":
        return None if row.era is None else row.era.bytes
    if name in _NAMES:
        return None if row.owner is None else row.owner.parts[_NAMES.index(name)]
    return getattr(row.piece, name)


def _rows(on: Session, table: str) -> tuple[Iterable[Any], Get, Callable[[Any], bool]]:
    """Return a table's rows, the getter of their columns, and the condition that a row is the
    owner's.
    """
    tables = on.tables
    match table:
        case "records":
            return list(tables.records.values()), _of_record, lambda kept: kept.era is on.era
        case "ledger":
            return on.era.ledger, getattr, lambda _: True
        case "eras":
            return tables.eras.values(), _of_era, lambda era: era is on.era
        case "jobs":
            return tables.jobs.values(), _of_job, lambda row: row.era == on.era.id
        case "reads":
            return tables.reads.values(), getattr, lambda _: True
    columns = {
        "restrictions": ("digest", "at", "mode"),
        "key_uses": ("id", "at"),
        "tombstones": ("digest", "at"),
    }[table]
    found = (
        (key, *value) if isinstance(value, tuple) else (key, value)
        for key, value in getattr(tables, table).items()
    )
    return [dict(zip(columns, row, strict=True)) for row in found], dict.get, lambda _: True


def meets(part: Any, row: Any, get: Get, own: Callable[[Any], bool]) -> bool:
    """True if a row meets a condition."""
    match part:
        case c.Own():
            return own(row)
        case c.Is(column, value):
            found = get(row, column)
            return found is value if value is None else found == value
        case c.Among(column, values):
            found = get(row, column)
            return found is not None and found in values
        case c.Shares(column, values):
            return not set(values).isdisjoint(get(row, column) or ())
        case c.Than(column, sign, value):
            found = get(row, column)
            return found is not None and _SIGNS[sign](found, value)
        case c.Begins(column, text):
            return (get(row, column) or "").startswith(text)
        case c.Past(columns, place):
            return tuple(get(row, column) for column in columns) > place
        case c.Not(inner):
            return not meets(inner, row, get, own)
        case c.Either(parts):
            return any(meets(one, row, get, own) for one in parts)
        case c.Every(parts):
            return all(meets(one, row, get, own) for one in parts)
        case c.Meets(filter):
            now = row.now.row
            return filter.met_by(record_data(now.type, json.loads(now.body)))
    raise AssertionError(part)


_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def record_meets(parts: Iterable[Any], kept: Kept) -> bool:
    """True if a record meets all conditions; none of them asks whose it is."""
    return all(meets(part, kept, _of_record, lambda _: True) for part in parts)


def _meeting(on: Session, table: str, where: Iterable[Any]) -> Iterator[tuple[Any, Get]]:
    rows, get, own = _rows(on, table)
    parts = list(where)
    return ((row, get) for row in rows if all(meets(part, row, get, own) for part in parts))


def answer(on: Session, asked: Any, question: Any) -> Any:
    """Return what a question asks of the tables."""
    found = list(_meeting(on, asked.table, c.settled(asked.where, question)))
    if isinstance(asked, c.Count):
        return len(found)
    for name in reversed(asked.order):
        found.sort(key=lambda each: each[1](each[0], name.lstrip("-")), reverse=name[0] == "-")
    limit = c.value_of(asked.limit, question)
    kept = found if limit is None else found[:limit]
    if asked.columns:
        return [tuple(get(row, name) for name in asked.columns) for row, get in kept]
    return [row.record() if isinstance(row, Kept) else row for row, _ in kept]


def carry_out(on: Session, changes: Iterable[Any]) -> None:
    """Carry out changes of rows."""
    for change in changes:
        if change.table == "kept" or (change.table == "jobs" and isinstance(change, c.Change)):
            _of_jobs(on, change)
            continue
        table: dict[Any, Any] = getattr(on.tables, change.table)
        if isinstance(change, c.Put):
            for row in change.rows:
                key, value = (
                    (row.key, row)
                    if isinstance(row, ReadPiece)
                    else (row[0], row[1] if len(row) == 2 else row[1:])
                )
                if change.taken == "max":
                    value = max(value, table.get(key, value))
                if change.taken != "keep" or key not in table:
                    table[key] = value
        else:
            for row, get in list(_meeting(on, change.table, change.where)):
                table.pop(
                    row.key if isinstance(row, ReadPiece) else get(row, c.KEYS[change.table][0]),
                    None,
                )


def _of_jobs(on: Session, change: Any) -> None:
    """Change jobs, which have the answers that are kept with them."""
    updates: dict[Any, dict[str, Any]]
    if isinstance(change, c.Put):
        updates = {row[0]: {"kept": row[1:]} for row in change.rows}
    else:
        values = {"kept": None} if change.table == "kept" else change.values
        updates = dict.fromkeys(change.where[0].values, values)
    for id, changed in updates.items():
        if (job := on.tables.jobs.get(id)) is not None:
            on.tables.jobs[id] = replace(job, piece=job.piece._replace(**changed))
