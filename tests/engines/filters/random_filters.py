"""Random records with data, random filters over them, and the check that indexes, engines and a
second evaluator agree.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from uuid import UUID

from memoranda.book.input import as_filter
from memoranda.model.changes import Change, Remember
from memoranda.model.data_filters import data_path
from memoranda.model.items import Item, PutItem
from memoranda.model.query import Filter
from memoranda.model.records import EVERYONE, PASSAGE_TYPES, WHOLE, RecordType, View
from memoranda.model.values import new_id, utc_now
from memoranda.ports import Engine
from memoranda.recall.recall import Recall
from memoranda_conformance.builders import ANN, AT_A, FOR_A, FOR_B, START, Pen, packed
from tests.engines.filters.naive import NOTHING, meets

KEYS = ("a", "b", "c", "tags", "a.b", "a\\", "\\.", "", "data", "schema", "0", "-1", "$", "*", "[0]", "'; --", "{", "\x01", "ключ", "😀", "%", "_", "__proto__")  # fmt: skip
_BIG = 2**53
NUMBERS = (0, 1, 2, -1, 30, 1.0, 0.5, 0.1, 0.30000000000000004, -0.0, 1e-7, 1e16, 1e22, 1e23, 10**23, 1.5e300, 1e308, _BIG, _BIG + 1, _BIG - 1, float(_BIG), float(_BIG + 2), -_BIG - 1, 10**40, 10**400, 123456789012345678)  # fmt: skip
TEXTS = ("", "a", "A", "b", "aa", "a b", "1", "30", "true", "null", "é", "e\u0301", "z", "ß", "\uffff", "\U0001f600", "\x01", "'", '"', "\\", "%", "2024-05-01", "2024-05-01T10:00:00Z", "x" * 300)  # fmt: skip
ORDERED = ("gt", "gte", "lt", "lte")
OPERATORS = (*ORDERED, "eq", "ne", "in", "contains", "exists")
SCHEMAS = ("Trip", "Friend", "trip", "")


class Disagreement(AssertionError):
    """A filter chose other records than the second evaluator."""


def scalar(rng: random.Random) -> Any:
    """Return a value that has no parts."""
    return rng.choice((rng.choice(NUMBERS), rng.choice(TEXTS), rng.choice((None, True, False))))


def value(rng: random.Random, depth: int = 0) -> Any:
    """Return a JSON value."""
    draw = rng.random()
    if depth > 3 or draw < 0.55:
        return scalar(rng)
    if draw < 0.75:
        return [value(rng, depth + 2) for _ in range(rng.randrange(4))]
    return {rng.choice(KEYS): value(rng, depth + 1) for _ in range(rng.randrange(5))}


def fields(rng: random.Random) -> dict[str, Any]:
    """Return an object whose common keys have values of the same few sorts, so that many filters
    choose some of them.
    """
    found = {key: value(rng, 1) for key in rng.sample(KEYS, rng.randrange(6))}
    if rng.random() < 0.7:
        found |= {
            "a": rng.choice(NUMBERS),
            "b": rng.choice(TEXTS),
            "tags": rng.sample(TEXTS, rng.randrange(4)),
        }
    if rng.random() < 0.1:
        found["padding"] = "much more than an index keeps " * 400
    return found


@dataclass(frozen=True)
class Known:
    """A record as it was written."""

    id: UUID
    type: RecordType
    data: Any
    schema: str | None
    readers: Any


class Library:
    """The same random records for several engines."""

    def __init__(self, rng: random.Random, records: int) -> None:
        self.rng = rng
        self.known: dict[UUID, Known] = {}
        self.batches: list[list[Change]] = []
        #: Builds changes; it writes nothing itself.
        self._pen = Pen(cast(Engine, None))
        while len(self.known) < records:
            self.batches.append(self._batch())

    def _batch(self) -> list[Change]:
        return [self._change() for _ in range(self.rng.choice((1, 2, 20)))]

    def _change(self) -> Change:
        rng = self.rng
        readers = rng.choice((EVERYONE, EVERYONE, FOR_A, FOR_B))
        if rng.random() < 0.3:
            return self._item(readers)
        data, seen, schema = None, NOTHING, None
        draw = rng.random()
        if draw < 0.3:
            schema, document = rng.choice(SCHEMAS), fields(rng)
            data, seen = {"schema": schema, "document": document, "grounds": []}, document
        elif draw < 0.85:
            data = seen = fields(rng) if rng.random() < 0.8 else value(rng)
            if data is None:
                seen = NOTHING
            elif isinstance(data, dict) and isinstance(data.get("schema"), str):
                # One that also has a document would be an inserted document.
                data.pop("document", None)
        words = f"statement {len(self.known)}"
        change: Remember = self._pen.remembering(words, data=data, audience=readers)
        self.known[change.memory.id] = Known(
            change.memory.id, RecordType.MEMORY, seen, schema, readers
        )
        return change

    def _item(self, readers: Any) -> Change:
        seen = value(self.rng) if self.rng.random() < 0.3 else fields(self.rng)
        item = Item(
            id=new_id(), owner=ANN, audience=readers, namespace=("n", str(len(self.known) % 3)), name=str(len(self.known)),
            value=seen, created_at=START, updated_at=START,
        )  # fmt: skip
        self.known[item.id] = Known(item.id, RecordType.ITEM, seen, None, readers)
        return PutItem(item, packed(item.passage_text()))

    async def fill(self, engine: Engine) -> Shelves:
        """Write all records into an engine, in the same batches; an index reads along."""
        pen, found = Pen(engine), Shelves(self, engine)
        for number, batch in enumerate(self.batches):
            await pen.write(*batch)
            if number % 3 == 0:
                await found.index.count(
                    ANN, WHOLE, Filter(data=as_filter(None, {"data.a": 1}).data)
                )
        return found

    def only(self) -> dict[str, Any]:
        """Return random conditions."""
        rng = self.rng
        only: dict[str, Any] = {}
        if rng.random() < 0.15:
            only["schema"] = rng.choice((rng.choice(SCHEMAS), list(rng.sample(SCHEMAS, 2))))
        for _ in range(rng.choice((1, 1, 1, 2, 3)) - bool(only and rng.random() < 0.5)):
            path, near = self._path()
            only[data_path(*path)] = self._operators(near)
        return only or {"data": {"exists": True}}

    def _path(self) -> tuple[list[str], Any]:
        """Return a path and its value; most paths are from a record."""
        rng, path = self.rng, []
        found = rng.choice(list(self.known.values())).data
        while isinstance(found, dict) and found and rng.random() < 0.85:
            key = rng.choice(list(found))
            path.append(key)
            found = found[key]
        if rng.random() < 0.1:
            path.append(rng.choice(KEYS))
        return path, scalar(rng) if found is NOTHING else found

    def _operators(self, near: Any) -> Any:
        rng = self.rng
        if rng.random() < 0.2 and not isinstance(near, dict):
            return near
        return {
            operator: self._operand(operator, near)
            for operator in rng.sample(OPERATORS, rng.choice((1, 1, 1, 2)))
        }

    def _operand(self, operator: str, near: Any) -> Any:
        rng = self.rng
        if operator == "exists":
            return rng.random() < 0.7
        if operator == "in":
            return [near if rng.random() < 0.5 else value(rng, 2) for _ in range(rng.randrange(4))]
        if operator in ORDERED:
            fits = (
                isinstance(near, (str, int, float))
                and not isinstance(near, bool)
                and rng.random() < 0.7
            )
            return near if fits else rng.choice((rng.choice(NUMBERS), rng.choice(TEXTS)))
        if operator == "contains" and isinstance(near, list) and near and rng.random() < 0.7:
            return rng.choice(near)
        return near if rng.random() < 0.6 else value(rng, 2)

    def chosen(self, only: dict[str, Any], view: View) -> list[UUID]:
        """Return the ids that the second evaluator chooses, in order."""
        return sorted(
            one.id
            for one in self.known.values()
            if one.readers.readable_by(view) and meets(one.data, one.schema, only)
        )


class Shelves:
    """The records in one engine, with an index over them."""

    def __init__(self, library: Library, engine: Engine) -> None:
        self._library = library
        self._engine = engine
        self.index = Recall(engine)

    def forget(self) -> None:
        """Drop the index, to make it anew."""
        self.index = Recall(self._engine)

    async def check(self, only: dict[str, Any], view: View, *, deep: bool) -> int:
        """Compare what the filter chooses with the second evaluator; ``deep`` also asks the engine,
        and recall.
        """
        expected = self._library.chosen(only, view)
        filter = as_filter(None, only)
        self._same(only, "count", await self.index.count(ANN, view, filter), len(expected))
        listed = await self.index.newest(ANN, view, filter, 10_000)
        self._same(only, "newest", sorted(one.id for one in listed), expected)
        if deep:
            down = replace(filter, newest_first=True)
            for lists in (self.index, self._engine):
                self._same(
                    only, f"{type(lists).__name__}.scan", await _all(lists, view, filter), expected
                )
                self._same(only, "scan down", await _all(lists, view, down), expected[::-1])
            self._same(
                only, "engine's count", await self._engine.count(ANN, view, filter), len(expected)
            )
            hits = await self.index.find(
                ANN,
                view,
                "statement",
                limit=1000,
                types=PASSAGE_TYPES,
                only=filter,
                mode="recent",
                now=utc_now(),
            )
            self._same(only, "recall", sorted(hit.id for hit in hits), expected)
        return len(expected)

    def _same(self, only: dict[str, Any], what: str, found: Any, expected: Any) -> None:
        if found != expected:
            more = sorted(set(found) - set(expected)) if isinstance(found, list) else found
            less = sorted(set(expected) - set(found)) if isinstance(found, list) else expected
            shown = (
                [self._library.known[id].data for id in [*more, *less][:2]]
                if isinstance(found, list)
                else ""
            )
            raise Disagreement(
                f"{what} of {only!r}: too many {more}, too few {less}: {shown!r}"[:3000]
            )


async def _all(lists: Any, view: View, filter: Filter) -> Sequence[UUID]:
    """Return the ids of all pages."""
    found: list[UUID] = []
    cursor: str | None = None
    while True:
        page = await lists.scan(ANN, view, filter, cursor, 100)
        found += [record.id for record in page]
        cursor = page.cursor
        if cursor is None:
            return found


VIEWS = (WHOLE, WHOLE, AT_A, View(), View(agent="b"))


async def compare(library: Library, shelves: Sequence[Shelves], filters: int) -> tuple[int, int]:
    """Compare random filters on all engines; return how many chose something, and how many records
    in all.
    """
    some = total = 0
    for number in range(filters):
        only, view = library.only(), library.rng.choice(VIEWS)
        found = [await one.check(only, view, deep=number % 5 == 0) for one in shelves]
        some, total = some + bool(found[0]), total + found[0]
    return some, total
