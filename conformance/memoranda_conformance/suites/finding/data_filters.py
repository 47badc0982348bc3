"""Tests of filters over the data of memories, inserted documents and items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from memoranda.book.input import as_filter
from memoranda.model.changes import Retract
from memoranda.model.items import Item, PutItem
from memoranda.model.passages import Use
from memoranda.model.records import PASSAGE_TYPES, WHOLE, RecordType
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda.recall.recall import Recall
from memoranda_conformance.builders import ANN, AT_A, AT_B, FOR_A, START, Pen, packed
from memoranda_conformance.suite import Suite

#: Data under a name, and conditions with the names of the data that meet them.
DATA: dict[str, Any] = {
    "one": {
        "n": 1,
        "s": "a",
        "tags": ["x", 1, None],
        "in": {"town": "Bonn", "a.b": {"": 0}},
        "ok": True,
    },
    "one and a half": {"n": 1.5, "s": "B", "tags": [], "in": None, "ok": False},
    "true": {"n": True, "s": "1", "tags": ["x", ["x"], {"k": 1.0}], "in": {"town": None}},
    "text": {"n": "1", "s": "", "tags": "x", "in": [{"town": "Bonn"}]},
    "null": {"n": None, "s": "é", "in": {"town": "Ulm", "a.b": {"": 1}}},
    "big": {"n": 2**53 + 1, "s": "\U0001f600", "tags": [2**53 + 1]},
    "float": {"n": 2.0**53, "s": "\uffff", "tags": [1.0, True]},
    "huge": {"n": 10**30, "s": "a" * 300},
    "list": [1, 2, 3],
    "word": "word",
    "empty": {},
}
_OBJECTS = set(DATA) - {"list", "word"}
CASES: list[tuple[dict[str, Any], set[str]]] = [
    ({"data.n": 1}, {"one"}),
    ({"data.n": 1.0}, {"one"}),
    ({"data.n": True}, {"true"}),
    ({"data.n": "1"}, {"text"}),
    ({"data.n": None}, {"null"}),
    ({"data.n": 2**53}, {"float"}),
    ({"data.n": {"eq": 2**53 + 1}}, {"big"}),
    ({"data.n": {"eq": 1e30}}, {"huge"}),
    ({"data.n": {"ne": 1}}, set(DATA) - {"one"}),
    ({"data.n": {"gt": 1}}, {"one and a half", "big", "float", "huge"}),
    ({"data.n": {"gte": 1, "lt": 2**53 + 1}}, {"one", "one and a half", "float"}),
    ({"data.n": {"lte": 1.5}}, {"one", "one and a half"}),
    ({"data.n": {"gt": ""}}, {"text"}),
    ({"data.s": {"gt": "a"}}, {"null", "big", "float", "huge"}),
    ({"data.s": {"gte": "\uffff"}}, {"big", "float"}),
    ({"data.s": {"lt": "a"}}, {"one and a half", "true", "text"}),
    ({"data.s": {"lt": 5}}, set()),
    ({"data.n": {"in": [1, "1", None]}}, {"one", "text", "null"}),
    ({"data.n": {"in": []}}, set()),
    ({"data.tags": {"contains": "x"}}, {"one", "true"}),
    ({"data.tags": {"contains": 1}}, {"one", "float"}),
    ({"data.tags": {"contains": True}}, {"float"}),
    ({"data.tags": {"contains": ["x"]}}, {"true"}),
    ({"data.tags": {"contains": {"k": 1}}}, {"true"}),
    ({"data.tags": []}, {"one and a half"}),
    ({"data.tags": {"eq": ["x", 1.0, None]}}, {"one"}),
    ({"data.in.town": "Bonn"}, {"one"}),
    ({"data.in.town": {"ne": "Bonn"}}, set(DATA) - {"one"}),
    ({"data.in.town": {"exists": True}}, {"one", "true", "null"}),
    ({"data.in": {"exists": False}}, {"big", "float", "huge", "list", "word", "empty"}),
    ({"data.in.a\\.b.": {"gte": 0}}, {"one", "null"}),
    ({"data.in.a.b.": {"exists": True}}, set()),
    ({"data.in": {"eq": {"town": None}}}, {"true"}),
    ({"data.ok": False}, {"one and a half"}),
    ({"data.ok": 0}, set()),
    ({"data": [1, 2.0, 3]}, {"list"}),
    ({"data": {"contains": 2}}, {"list"}),
    ({"data": {"gte": "word"}}, {"word"}),
    ({"data": {"eq": {}}}, {"empty"}),
    ({"data": {"exists": True}}, set(DATA)),
    ({"data.0": {"exists": True}}, set()),
    ({"data.length": {"exists": False}}, set(DATA)),
    ({"data.n": {"ne": 1}, "data.s": {"exists": True}}, _OBJECTS - {"one", "empty"}),
    ({"data.' OR 1 = 1 --": {"exists": True}}, set()),
]


class DataFilterSuite(Suite):
    """Tests that a filter over data chooses the same records through an index and in the engine."""

    @pytest.mark.parametrize("of", ["memories", "items"])
    async def test_values_compare_as_json_values(self, engine: Engine, of: str) -> None:
        pen, index, names = Pen(engine), Recall(engine), {}
        for name, data in DATA.items():
            if of == "memories":
                names[await pen.remember(f"statement {name}", data=data)] = name
            else:
                names[await _put(pen, name, data)] = name
        await pen.remember("a statement without data")
        await pen.say(await pen.open(), "a message")
        for only, expected in CASES:
            assert {names[id] for id in await _chosen(engine, index, only)} == expected, only

    async def test_an_inserted_document_is_read_by_its_own_fields_and_the_name_of_its_schema(
        self, engine: Engine
    ) -> None:
        pen, index = Pen(engine), Recall(engine)
        trip = {"schema": "Trip", "document": {"days": 3, "schema": "of its own"}, "grounds": []}
        first = await pen.remember("Three days in Rome", data=trip)
        second = await pen.remember("A friend", data={"schema": "Friend", "document": {"days": 3}})
        plain = await pen.remember(
            "No document", data={"schema": "Trip", "document": "none", "days": 3}
        )
        item = await _put(pen, "no document", {"schema": "Trip", "document": {"days": 3}})
        for only, expected in (
            ({"schema": "Trip"}, [first]),
            ({"schema": ["Trip", "Friend"], "data.days": {"gte": 3}}, [first, second]),
            ({"schema": "trip"}, []),
            ({"data.days": 3}, [first, second, plain]),
            ({"data.schema": "of its own"}, [first]),
            ({"data.schema": "Trip"}, [plain, item]),
            ({"data.document.days": 3}, [item]),
        ):
            assert await _chosen(engine, index, only) == expected, only

    async def test_a_filter_follows_every_change_and_shows_each_view_its_own(
        self, engine: Engine
    ) -> None:
        pen, index, only = Pen(engine), Recall(engine), {"data.n": {"gte": 2}}
        ids = [await pen.remember(f"number {n}", data={"n": n}) for n in range(5)]
        mine = await pen.remember("for a", data={"n": 9}, audience=FOR_A)
        assert await _chosen(engine, index, only) == [*ids[2:], mine]
        assert await _chosen(engine, index, only, view=AT_B) == ids[2:]
        assert await _chosen(engine, index, {"data.n": {"gt": 4}}, view=AT_A) == [mine]
        await pen.write(Retract(ids[3]))
        active = {**only, "statuses": ["active"]}
        assert await _chosen(engine, index, active) == [ids[2], ids[4], mine]
        await pen.erase(ids[2])
        item = await _put(pen, "changing", {"n": 1})
        assert await _chosen(engine, index, active) == [ids[4], mine]
        await _put(pen, "changing", {"n": 2})
        assert await _chosen(engine, index, only) == [ids[3], ids[4], mine, item]

    async def test_data_too_large_for_an_index_is_compared_all_the_same(
        self, engine: Engine
    ) -> None:
        pen, index = Pen(engine), Recall(engine)
        large = [await _put(pen, f"large {n}", {"n": n, "text": "long " * 3000}) for n in range(70)]
        small = await _put(pen, "small", {"n": 5})
        document = {"schema": "Trip", "document": {"n": 5, "text": "long " * 3000}}
        inserted = await pen.remember("a long trip", data=document)
        assert await _chosen(engine, index, {"data.n": 5}) == sorted([large[5], small, inserted])
        assert await _chosen(engine, index, {"data.n": {"ne": 5}}) == [*large[:5], *large[6:]]
        assert await _chosen(engine, index, {"schema": "Trip"}) == [inserted]
        assert await _chosen(engine, index, {"data.text": {"exists": True}}) == sorted(
            [*large, inserted]
        )
        await _put(pen, "large 5", {"n": 6, "text": "long " * 3000})
        assert await _chosen(engine, index, {"data.n": {"in": [5, 6]}}) == sorted(
            [large[5], large[6], small, inserted]
        )

    async def test_the_most_used_memories_meet_a_filter_too(self, engine: Engine) -> None:
        pen = Pen(engine)
        ids = [await pen.remember(f"number {n}", data={"n": n}) for n in range(3)]
        await engine.note_use(ANN, WHOLE, {id: Use(count=2, used_at=START) for id in ids})
        only = as_filter(frozenset({RecordType.MEMORY}), {"data.n": {"lt": 2}})
        assert set(await engine.most_used(ANN, WHOLE, only, 9)) == set(ids[:2])


async def _put(pen: Pen, name: str, value: Any) -> UUID:
    """Store an item and return its id."""
    now = pen.tick()
    item = Item(
        id=new_id(),
        owner=pen.owner,
        namespace=("n",),
        name=name,
        value=value,
        created_at=now,
        updated_at=now,
    )
    return (await pen.write(PutItem(item, packed(item.passage_text())))).id


async def _chosen(
    engine: Engine, index: Recall, only: dict[str, Any], view: Any = WHOLE
) -> list[UUID]:
    """Return the ids that a filter chooses, which the index, the engine and recall have to agree
    on.
    """
    filter = as_filter(None, only)
    page = await index.scan(ANN, view, filter, None, 100)
    assert page == await engine.scan(ANN, view, filter, None, 100)
    assert (
        await index.count(ANN, view, filter) == await engine.count(ANN, view, filter) == len(page)
    )
    newest = await index.newest(ANN, view, filter, 100)
    assert newest == await engine.newest(ANN, view, filter, 100)
    assert sorted(record.id for record in newest) == [record.id for record in page]
    down = replace(filter, newest_first=True)
    assert await index.scan(ANN, view, down, None, 2) == await engine.scan(ANN, view, down, None, 2)
    hits = await index.find(
        ANN, view, "any", limit=100, types=PASSAGE_TYPES, only=filter, mode="recent", now=START
    )
    # Recall finds what is active.
    active = [record.id for record in page if getattr(record, "status", "active") == "active"]
    assert sorted(hit.id for hit in hits) == active
    return [record.id for record in page]
