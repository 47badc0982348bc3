"""Compares books record by record, however their records are called and whenever they were made."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from uuid import UUID

from memoranda.book import Book
from memoranda.model.owner import WHOLE, Owner
from memoranda.model.query import Filter
from memoranda.model.records import Record, RecordType

#: What differs between two makings of the same record.
_OF_ITS_MAKING = frozenset({"id", "recorded_at"})
#: By the first of these that it has, a record is called.
_NAMED_BY = ("content", "goal", "line", "schema_name", "name")
_PAGE = 500


async def told(book: Book, *, versions: bool = False) -> Counter[str]:
    """All that a book holds, one text a record; ``versions``: also how often each was changed."""
    records = [record for owner in await book.owners() for record in await held(book, owner)]
    names = {str(record.id): _name(record) for record in records}
    left_out = _OF_ITS_MAKING if versions else _OF_ITS_MAKING | {"version"}
    return Counter(
        f"{record.type.value} {json.dumps(_named(_body(record, left_out), names), sort_keys=True)}"
        for record in records
    )


async def held(book: Book, owner: Owner, *types: RecordType) -> list[Record]:
    """All records of an owner, whoever may see them; of some types alone where they are named."""
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
    """What one has more of, and what the other has: nothing where both hold the same."""
    more = [f"more: {text}" for text in (found - wanted).elements()]
    return more + [f"lacks: {text}" for text in (wanted - found).elements()]


def _body(record: Record, left_out: frozenset[str]) -> dict[str, Any]:
    body: dict[str, Any] = record.model_dump(mode="json")
    for part in body.get("evidence", ()):
        # When the guard passed it is a matter of its making, too; whether it did is not.
        part["guarded_at"] = part["guarded_at"] is not None
    return {name: value for name, value in body.items() if name not in left_out}


def _name(record: Record) -> str:
    named = next((str(getattr(record, name)) for name in _NAMED_BY if getattr(record, name, None)), "")
    return f"<{record.type.value} {getattr(record, 'seq', '')} {named}>"


def _named(value: Any, names: dict[str, str]) -> Any:
    """The same with names where ids stand; an id of nothing that is held stays one, without saying which."""
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
