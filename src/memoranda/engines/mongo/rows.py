"""Carries out what questions and writes say as data: conditions become filters, rows become
documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pymongo import DeleteMany, ReplaceOne, UpdateMany, UpdateOne

from memoranda.engines.mongo.documents import (
    body_out,
    entry_out,
    record_out,
    value_in,
    values_of,
)
from memoranda.engines.mongo.server.session import Document, Session
from memoranda.model.data_filters import DataFilter, body_meets
from memoranda.storage import conditions as c

#: Table → its collection, and the fields of columns that have another name there.
_TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "records": (
        "records",
        {"id": "_id", "strength": "use.strength", "used_at": "use.used_at", "used": "use.count"},
    ),
    "ledger": ("ledger", {}),
    "eras": ("owners", {"era": "_id"}),
    "jobs": ("jobs", {"id": "_id"}),
    "kept": ("answers", {"job": "_id"}),
    "restrictions": ("restrictions", {"digest": "_id"}),
    "key_uses": ("key_uses", {"id": "_id"}),
    "reads": ("audit", {}),
    "tombstones": ("tombstones", {"digest": "_id"}),
}
#: Tables whose ids are digests or plain bytes, also if they have sixteen.
_PLAIN = frozenset({"restrictions", "key_uses", "reads", "tombstones"})
_SIGNS = {"<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}


class _Spelling:
    """Spells the conditions on one table."""

    def __init__(self, table: str, own: Mapping[str, Any]) -> None:
        self._fields = _TABLES[table][1]
        self._plain = table in _PLAIN
        self._own = own
        #: Conditions that only Python can decide.
        self.rest: list[DataFilter] = []

    def field(self, column: str) -> str:
        return self._fields.get(column, column)

    def value(self, column: str, value: Any) -> Any:
        return value if self._plain else value_in(self.field(column), value)

    def all(self, parts: Iterable[Any]) -> Document:
        found = [spelled for part in parts if (spelled := self._one(part))]
        return {} if not found else found[0] if len(found) == 1 else {"$and": found}

    def _one(self, part: Any) -> Document:
        match part:
            case c.Own():
                return dict(self._own)
            case c.Is(column, value):
                return {self.field(column): self.value(column, value)}
            case c.Shares("links", values):
                ids = {"$in": self.value("links", list(values))}
                return {"$or": [{"sources": ids}, {"unlisted.source": ids}]}
            case c.Among(column, values) | c.Shares(column, values):
                return {
                    self.field(column): {"$in": [self.value(column, value) for value in values]}
                }
            case c.Than(column, sign, value):
                return {self.field(column): {_SIGNS[sign]: self.value(column, value)}}
            case c.Begins(column, text):
                return {self.field(column): {"$regex": "^" + re.escape(text)}}
            case c.Past((first, second), (low, after)):
                high, deep = self.field(first), self.field(second)
                return {
                    "$or": [
                        {high: {"$gt": low}},
                        {high: low, deep: {"$gt": self.value(second, after)}},
                    ]
                }
            case c.Not(c.Is(column, value)):
                return {self.field(column): {"$ne": self.value(column, value)}}
            case c.Not(inner):
                return {"$nor": [self._one(inner)]}
            case c.Either(parts):
                return {"$or": [self._one(one) for one in parts]}
            case c.Every(parts):
                return {"$and": [self._one(one) for one in parts]}
            case c.Meets(only):
                self.rest.append(only)
                return {}
        raise AssertionError(part)


def filter_of(table: str, parts: Iterable[Any]) -> tuple[Document, list[DataFilter]]:
    """Return conditions that name no owner as a filter of documents, and those that only Python can
    decide.
    """
    spelling = _Spelling(table, {})
    return spelling.all(parts), spelling.rest


def meets(doc: Mapping[str, Any], rest: Sequence[DataFilter]) -> bool:
    """True if the data of a record's document meets conditions that only Python can decide."""
    return all(body_meets(doc["type"], body_out(doc["body"]), only.spelled()) for only in rest)


async def answer(on: Session, asked: c.Rows | c.Count, question: Any) -> Any:
    """Return what a question asks of the tables."""
    table = asked.table
    name = _TABLES[table][0]
    spelling = _Spelling(table, on.own(table))
    filter = spelling.all(c.settled(asked.where, question))
    if isinstance(asked, c.Count):
        return await on.count(name, filter)
    limit = c.value_of(asked.limit, question) or 0
    sort = [(spelling.field(one.lstrip("-")), -1 if one[0] == "-" else 1) for one in asked.order]
    if asked.columns:
        wanted = [spelling.field(column) for column in asked.columns]
        docs = await on.find(name, filter, sort, limit, {"_id": 0, **dict.fromkeys(wanted, 1)})
        return [values_of(doc, wanted) for doc in docs]
    docs = await on.find(name, filter, sort, limit)
    damaged = c.value_of(asked.damaged, question)
    build = entry_out if table == "ledger" else record_out
    return [build(doc, damaged) for doc in docs]


async def carry_out(on: Session, changes: Iterable[c.Put | c.Change | c.Delete]) -> None:
    """Carry out changes of rows."""
    for change in changes:
        spelling = _Spelling(change.table, on.own(change.table))
        name = _TABLES[change.table][0]
        if isinstance(change, c.Put):
            await on.bulk(name, [_put(change, row, spelling) for row in change.rows])
        elif isinstance(change, c.Delete):
            await on.bulk(name, [DeleteMany(spelling.all(change.where))])
        else:
            values = {
                spelling.field(name): spelling.value(name, value)
                for name, value in change.values.items()
            }
            await on.bulk(name, [UpdateMany(spelling.all(change.where), {"$set": values})])


def _put(change: c.Put, row: Sequence[Any], spelling: _Spelling) -> Any:
    named = zip(change.columns, row, strict=True)
    doc = {spelling.field(name): spelling.value(name, value) for name, value in named}
    key = {field: doc[field] for field in map(spelling.field, c.KEYS[change.table])}
    if change.taken == "replace":
        return ReplaceOne(key, doc, upsert=True)
    beside = {field: value for field, value in doc.items() if field not in key}
    return UpdateOne(
        key, {"$max" if change.taken == "max" else "$setOnInsert": beside}, upsert=True
    )
