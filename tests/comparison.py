"""Compare books record by record, independent of ids and of when the records were made."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from uuid import UUID

from memoranda.book import Book
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, Record, RecordType

#: Fields that differ when the same record is made twice.
_NOT_COMPARED = frozenset({"id", "recorded_at"})
#: A record is named by the first of these fields that it has.
_NAMED_BY = ("content", "goal", "line", "schema_name", "name")
_PAGE = 500


async def records_as_texts(book: Book, *, versions: bool = False) -> Counter[str]:
    """Return all records of a book as texts, without ids; ``versions`` adds how often each was
    changed.
    """
    records = [
        record for owner in await book.admin.owners() for record in await all_records(book, owner)
    ]
    names = {str(record.id): _name(record) for record in records}
    left_out = _NOT_COMPARED if versions else _NOT_COMPARED | {"version"}
    return Counter(
        f"{record.type.value} {json.dumps(_named(_body(record, left_out), names), sort_keys=True)}"
        for record in records
    )


async def all_records(book: Book, owner: Owner, *types: RecordType) -> list[Record]:
    """Return an owner's records for every audience; if ``types`` are given, only those types."""
    only = Filter(types=frozenset(types or RecordType))
    found: list[Record] = []
    cursor: str | None = None
    while True:
        page = await book.engine.scan(owner, WHOLE, only, cursor, _PAGE)
        found += page.records
        cursor = page.cursor
        if cursor is None:
            return found


def differences(found: Counter[str], wanted: Counter[str]) -> list[str]:
    """Return the texts that only one of the two books has; empty if both are equal."""
    more = [f"more: {text}" for text in (found - wanted).elements()]
    return more + [f"lacks: {text}" for text in (wanted - found).elements()]


def _body(record: Record, left_out: frozenset[str]) -> dict[str, Any]:
    body: dict[str, Any] = record.model_dump(mode="json")
    for part in body.get("evidence", ()):
        # The time at which the guard passed it differs, too; whether it passed does not.
        part["guarded_at"] = part["guarded_at"] is not None
    for group in body.get("unlisted") or ():
        # Which run added them, and the sum over ids, differ from book to book; how many there are
        # does not.
        for name in group.keys() - {"count", "past"}:
            del group[name]
    return {name: value for name, value in body.items() if name not in left_out}


def _name(record: Record) -> str:
    named = next(
        (str(getattr(record, name)) for name in _NAMED_BY if getattr(record, name, None)), ""
    )
    return f"<{record.type.value} {getattr(record, 'seq', '')} {named}>"


def _named(value: Any, names: dict[str, str]) -> Any:
    """Return the value with names instead of ids; an unknown id becomes ``<gone>``."""
    if isinstance(value, dict):
        return {name: _named(inner, names) for name, inner in value.items()}
    if isinstance(value, list):
        return [_named(inner, names) for inner in value]
    if isinstance(value, str) and (value in names or _is_id(value)):
        return names.get(value, "<gone>")
    return value


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
