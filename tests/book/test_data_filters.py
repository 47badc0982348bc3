"""Lists, counts and recall may be narrowed down by the data of memories, inserted documents and
items.
"""

from __future__ import annotations

from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidInput
from memoranda.model.data_filters import data_path


async def test_recall_lists_and_counts_take_conditions_on_data():
    async with memoranda.open("memory://", embed=None) as book:
        young = await book.remember("ana", "Her friend Jo is 28", data={"age": 28, "tags": ["x"]})
        old = await book.remember(
            "ana", "Her friend Al is 41", data={"age": 41, "tags": ["x", "y"]}
        )
        await book.remember("ana", "Her friend Ed has no age")
        only: dict[str, Any] = {"data.age": {"gte": 30}, "data.tags": {"contains": "x"}}
        assert [record.id for record in await book.records.list("ana", only=only)] == [old.id]
        assert await book.records.count("ana", only={"data.age": {"exists": True}}) == 2
        hits = await book.recall("ana", "which friend?", only=only, explain=[young.id])
        assert [hit.id for hit in hits] == [old.id]
        assert hits[0].conditions == {"data.age": {"gte": 30}, "data.tags": {"contains": "x"}}
        assert hits.missing[0].reason == "it does not meet these conditions: data.age"
        most = await book.recall("ana", "any", only={"data.age": 28}, mode="most_used")
        assert [hit.id for hit in most] == [young.id]


async def test_a_list_by_data_has_pages_in_the_order_of_lists():
    async with memoranda.open("memory://", embed=None) as book:
        ids = [(await book.remember("ana", f"number {n}", data={"n": n % 2})).id for n in range(9)]
        first = await book.records.list("ana", only={"data.n": 0}, limit=3)
        rest = await book.records.list("ana", only={"data.n": 0}, limit=3, cursor=first.cursor)
        assert [record.id for record in [*first, *rest]] == ids[::2] and rest.cursor is None
        down = await book.records.list("ana", only={"data.n": 0}, limit=3, newest_first=True)
        assert [record.id for record in down] == ids[8:2:-2]
        with pytest.raises(InvalidInput, match="cursor: "):
            await book.records.list("ana", only={"data.n": 0}, cursor="nowhere")


async def test_items_are_chosen_by_namespace_name_and_value():
    async with memoranda.open("memory://", embed=None) as book:
        for name, value in (("a", {"n": 1}), ("b", {"n": 2}), ("c", "text")):
            await book.items.put("ana", ("notes", "work"), name, value)
        await book.items.put("ana", ("notes.work",), "a", {"n": 2})
        await book.remember("ana", "a memory under the key a", key="a", data={"n": 2})

        async def named(**only: Any) -> list[str]:
            return [getattr(one, "name", "") for one in await book.records.list("ana", only=only)]

        assert await named(namespace=("notes",)) == ["a", "b", "c"]
        assert await named(namespace=["notes", "work"], name=["a", "c"]) == ["a", "c"]
        assert await named(namespace=()) == ["a", "b", "c", "a"]
        assert await named(name="a") == ["a", "a"]
        assert await named(namespace=("notes",), **{"data.n": 2}) == ["b"]
        assert await named(data="text") == ["c"]
        assert [
            one.name for one in await book.items.list("ana", ("notes",), only={"data.n": {"gt": 0}})
        ] == [
            "b",
            "a",
        ]
        assert await book.items.count("ana", only={"data.n": 2}) == 2
        assert await book.records.count("ana", types="memory", only={"namespace": ("notes",)}) == 0
        assert await book.records.count("ana", only={"name": "a", "keys": "b"}) == 0
        hits = await book.recall(
            "ana", "which text?", only={"namespace": ("notes", "work")}, mode="words"
        )
        assert [hit.record.name for hit in hits] == ["c"]  # type: ignore[attr-defined]


_LONG = "x" * 5_000


@pytest.mark.parametrize(
    ("name", "wanted", "says"),
    [
        ("data.age", {"above": 3}, "'above' is no operator; they are eq, ne, gt"),
        ("data.age", {}, "give at least one operator"),
        ("data.age", {"name": "Jo"}, "to compare with a whole object write"),
        ("data.age", {"gte": None}, "only numbers and texts have an order; null has none"),
        ("data.age", {"lt": True}, "only numbers and texts have an order; bool has none"),
        ("data.age", {"gt": [1]}, "only numbers and texts have an order"),
        ("data.age", {"in": "abc"}, "give a list of values, not str"),
        ("data.age", {"in": list(range(1_001))}, "it has 1001 values; give at most 1000"),
        ("data.age", {"exists": 1}, "give True or False, not int"),
        ("data.age", {"eq": float("nan")}, "it cannot be written as JSON"),
        ("data.age", {"contains": object()}, "object is no type of JSON"),
        ("data.age", "a\x00b", "a text holds a NUL character"),
        ("data.age", {"eq": {1: 2}}, "it has a key that is no text"),
        ("data.age", "x" * 70_000, "it takes 70002 characters as JSON; give at most 65536"),
        ("data.a\\b", 1, "a backslash hides a dot or a backslash that follows it"),
        ("data.a\\", 1, "a backslash hides a dot or a backslash that follows it"),
        ("data.\ud800", 1, "the path holds half of a surrogate pair"),
        (f"data.{_LONG}", 1, "the path has 5005 characters; at most 4096 are read"),
        ("data" + ".a" * 40, 1, "the path has 40 parts; data is at most 32 levels deep"),
        ("dat.age", 1, "unknown condition"),
        ("datatype", 1, "unknown condition"),
        (7, 1, "unknown condition"),
    ],
)  # fmt: skip
async def test_a_malformed_condition_on_data_is_refused_by_its_place(
    name: Any, wanted: Any, says: str
):
    async with memoranda.open("memory://") as book:
        for verb in (book.records.list, book.records.count):
            with pytest.raises(InvalidInput) as caught:
                await verb("ana", only={name: wanted})
            assert says in str(caught.value) and str(caught.value).startswith("only.")
            assert str(caught.value.field).startswith("only.") and len(str(caught.value)) < 1_000


async def test_deep_operands_and_many_conditions_are_refused():
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    async with memoranda.open("memory://") as book:
        with pytest.raises(InvalidInput, match="nested deeper than 32 levels"):
            await book.records.list("ana", only={"data.a": {"eq": deep}})
        with pytest.raises(InvalidInput, match="cannot be written as JSON"):
            await book.records.list("ana", only={"data.a": 10**5_000})
        with pytest.raises(InvalidInput, match="65 conditions on data; give at most 64"):
            await book.records.list("ana", only={f"data.a{n}": n for n in range(65)})
        with pytest.raises(InvalidInput, match="schema: "):
            await book.records.list("ana", only={"schema": 7})


async def test_every_key_is_reached_by_some_path():
    keys = ["a.b", "a\\", "\\.", "", ".", "a", "$.a", "a[0]", "ключ", "'", "%"]
    async with memoranda.open("memory://", embed=None) as book:
        await book.remember("ana", "many keys", data={key: {key: key} for key in keys})
        for key in keys:
            assert await book.records.count("ana", only={data_path(key, key): key}) == 1
            assert await book.records.count("ana", only={data_path(key, key, key): key}) == 0


async def test_the_documents_of_a_schema_are_listed_with_conditions_in_pages():
    async with memoranda.open("memory://", embed=None) as book:
        ids = []
        for days in range(5):
            data = {"schema": "Trip", "document": {"days": days}}
            ids.append(
                (await book.remember("ana", f"A trip of {days} days", data=data, agent="guide")).id
            )
        await book.remember(
            "ana", "A friend", data={"schema": "Friend", "document": {"days": 3}}, agent="guide"
        )
        await book.memories.retract("ana", ids[4], agent="guide")
        first = await book.schemas.records("ana", "Trip", limit=3, agent="guide")
        rest = await book.schemas.records(
            "ana", "Trip", limit=3, cursor=first.cursor, agent="guide"
        )
        assert [record.id for record in [*first, *rest]] == ids[:4] and rest.cursor is None
        late = await book.schemas.records(
            "ana", "Trip", only={"data.days": {"gte": 2}}, newest_first=True, agent="guide"
        )
        assert [record.id for record in late] == [ids[3], ids[2]]
        gone = await book.schemas.records(
            "ana", "Trip", only={"statuses": "retracted"}, agent="guide"
        )
        assert [record.id for record in gone] == [ids[4]]
        assert not await book.schemas.records("ana", "Trip", agent="coach")
        assert not await book.schemas.records("ana", "trip", agent="guide")
        with pytest.raises(InvalidInput, match="only: pass a mapping"):
            await book.schemas.records("ana", "Trip", only=7)  # type: ignore[arg-type]


async def test_inserted_documents_are_recalled_by_their_texts_and_placed_in_contexts():
    async with memoranda.open("memory://", embed=None) as book:
        document = {
            "town": "Lisbon",
            "days": 3,
            "hotel": {"its_name": "Casa Azul"},
            "paid": True,
            "with": ["Jo", "Al"],
        }
        data = {"schema": "Trip", "document": document}
        trip = await book.remember("ana", "Wants to go to Lisbon for 3 days", data=data)
        plain = await book.remember("ana", "Likes chess", data={"hotel": "Casa Azul"})
        hits = await book.recall("ana", "Casa Azul?", only={"schema": "Trip"}, explain=[plain.id])
        assert [hit.id for hit in hits] == [trip.id] and hits[0].conditions["schema"] == ["Trip"]
        assert [hit.id for hit in await book.recall("ana", "Casa Azul")] == [trip.id]
        assert hits[0].text == "Wants to go to Lisbon for 3 days"
        context = await book.context("ana", "Where is the hotel?")
        assert (
            "Wants to go to Lisbon for 3 days (its name: Casa Azul; with: Jo; with: Al)"
            in context.text
        )
        # After a rebuild the same is found.
        await book.admin.rebuild()
        assert [hit.id for hit in await book.recall("ana", "Casa Azul")] == [trip.id]


async def test_a_long_document_takes_a_bounded_part_of_a_context():
    async with memoranda.open("memory://", embed=None) as book:
        data = {"schema": "Report", "document": {"text": "many words " * 500}}
        await book.remember("ana", "Wrote a report on tea", data=data)
        text = (await book.context("ana", "tea report", budget=4_000)).text
        assert "Wrote a report on tea (text: many words" in text and len(text) < 1_500


async def test_recall_continues_behind_earlier_hits():
    async with memoranda.open("memory://", embed=None) as book:
        for number in range(12):
            await book.remember("ana", f"tea {'and tea ' * number}number {number}")
        whole = await book.recall("ana", "tea", limit=12)
        pages = [
            await book.recall("ana", "tea", limit=5, offset=offset) for offset in (0, 5, 10, 15)
        ]
        assert [hit.id for page in pages for hit in page] == [hit.id for hit in whole]
        assert [hit.rank for hit in pages[1]] == [6, 7, 8, 9, 10] and pages[3] == []
        recent = await book.recall("ana", "any", mode="recent", limit=4, offset=2)
        assert [hit.rank for hit in recent] == [3, 4, 5, 6]
        for wrong in (-1, True, 1_000, "1"):
            with pytest.raises(InvalidInput, match="offset: "):
                await book.recall("ana", "tea", offset=wrong)  # type: ignore[arg-type]
