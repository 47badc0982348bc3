"""Tests of a book's items: put, get, list, delete, namespaces, readers, time and operations."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import memoranda
from memoranda.book.nouns.items import ItemPut
from memoranda.errors import Conflict, Stale

NOTES = ("notes", "work")


async def test_a_value_comes_back_as_it_was_stored_and_recall_finds_its_text(
    book: memoranda.Book,
) -> None:
    value = {
        "title": "Tea",
        "parts": [{"text": "I like green tea"}],
        "n": 3,
        "none": None,
        "yes": True,
    }
    receipt = await book.items.put("ana", NOTES, "tea.md", value)
    item = await book.items.get("ana", NOTES, "tea.md")
    assert item is not None and (item.id, item.value, item.version) == (receipt.id, value, 1)
    values: tuple[Any, ...] = ("a text", 7, 1.5, None, True, [1, "two"], {})
    for odd in values:
        await book.items.put("ana", ("odd",), repr(odd), odd)
        kept = await book.items.get("ana", ("odd",), repr(odd))
        assert kept is not None and kept.value == odd
    assert (await book.recall("ana", "green tea"))[0].id == receipt.id
    assert await book.items.get("ana", ("notes",), "tea.md") is None
    assert await book.items.get("ben", NOTES, "tea.md") is None


async def test_recall_finds_the_chosen_paths_only(book: memoranda.Book) -> None:
    value = {"title": "walrus", "parts": [{"text": "penguin"}, {"text": "seal"}], "secret": "otter"}
    await book.items.put("ana", NOTES, "zoo", value, index=["title", "parts[*].text"])
    for word in ("walrus", "penguin", "seal"):
        assert await book.recall("ana", word, mode="words")
    assert not await book.recall("ana", "otter", mode="words")
    await book.items.put("ana", NOTES, "zoo", value, index=False)
    assert not await book.recall("ana", "walrus penguin seal otter", mode="words")
    with pytest.raises(memoranda.InvalidInput, match="no path"):
        await book.items.put("ana", NOTES, "zoo", value, index=["parts[*"])


async def test_a_list_shows_what_is_below_a_namespace_last_updated_first(
    book: memoranda.Book,
) -> None:
    for namespace, name in ((("a",), "1"), (("a", "b"), "2"), (("ab",), "3"), (("a", "b"), "4")):
        await book.items.put("ana", namespace, name, name)
    await book.items.put("ana", ("a",), "1", "new")
    assert [item.name for item in await book.items.list("ana", ("a",))] == ["1", "4", "2"]
    assert [item.name for item in await book.items.list("ana", ("a",), limit=1, offset=1)] == ["4"]
    assert await book.items.count("ana") == 4 and await book.items.count("ana", ("a", "b")) == 2
    assert await book.items.namespaces("ana") == [("a",), ("a", "b"), ("ab",)]
    assert await book.items.namespaces("ana", prefix=("*", "b")) == [("a", "b")]
    assert await book.items.namespaces("ana", suffix=("b",)) == [("a", "b")]
    assert await book.items.namespaces("ana", max_depth=1, limit=1, offset=1) == [("ab",)]
    for odd in ("a%", "_", "*", "a\x1fb", "a\x1b1", "é ", "A"):
        await book.items.put("ana", ("odd", odd), "x", odd)
        assert [item.value for item in await book.items.list("ana", ("odd", odd))] == [odd]


async def test_a_search_finds_items_of_one_namespace_by_their_text(book: memoranda.Book) -> None:
    for namespace in (("a",), ("a", "b"), ("ab",)):
        await book.items.put("ana", namespace, "tea", {"text": f"green tea of {namespace[-1]}"})
    await book.remember("ana", "Likes green tea.")
    found = await book.items.search("ana", "green tea", ("a",))
    assert {hit.record.namespace for hit in found if isinstance(hit.record, memoranda.Item)} == {
        ("a",),
        ("a", "b"),
    }
    assert [hit.id for hit in await book.items.search("ana", "green tea", ("a",), offset=1)] == [
        found[1].id
    ]
    assert len(await book.items.search("ana", "green tea")) == 3
    assert len(await book.recall("ana", "green tea", only={"namespace": ("ab",)})) == 1
    assert len(await book.items.search("ana", "", mode="recent", limit=2)) == 2
    assert await book.records.count("ana", types="item", only={"namespace": ("a",)}) == 2
    with pytest.raises(memoranda.InvalidInput, match="namespace"):
        await book.items.list("ana", "a")


async def test_several_puts_and_deletes_are_one_operation(book: memoranda.Book) -> None:
    await book.items.put("ana", NOTES, "old", 1)
    puts = [ItemPut(NOTES, "a", 1), ItemPut(("other",), "b", {"x": 1}, index=False, ttl=60)]
    receipt = await book.items.write(
        "ana", puts, [(NOTES, "old"), (NOTES, "never there")], operation="op"
    )
    assert (
        await book.items.write(
            "ana", puts, [(NOTES, "old"), (NOTES, "never there")], operation="op"
        )
    ).repeated
    found = await book.items.get_many("ana", [(NOTES, "a"), (NOTES, "old"), (("other",), "b")])
    assert [None if one is None else one.value for one in found] == [1, None, {"x": 1}]
    await book.undo("ana", receipt.position)
    found = await book.items.get_many("ana", [(NOTES, "a"), (NOTES, "old"), (("other",), "b")])
    assert [None if one is None else one.value for one in found] == [None, 1, None]
    with pytest.raises(memoranda.InvalidInput, match="given twice"):
        await book.items.write("ana", [ItemPut(NOTES, "a", 1)], [(NOTES, "a")])


async def test_a_repeated_put_or_delete_is_applied_once(book: memoranda.Book) -> None:
    first = await book.items.put("ana", NOTES, "tea", "green", operation="put")
    again = await book.items.put("ana", NOTES, "tea", "green", operation="put")
    assert again.repeated and again.id == first.id
    with pytest.raises(memoranda.OperationReused):
        await book.items.put("ana", NOTES, "tea", "black", operation="put")
    gone = await book.items.delete("ana", NOTES, "tea", operation="delete")
    assert (
        await book.items.delete("ana", NOTES, "tea", operation="delete")
    ).position == gone.position
    with pytest.raises(memoranda.NotFound, match="no item 'tea'"):
        await book.items.delete("ana", NOTES, "tea")


async def test_an_agent_keeps_its_own_items_and_reads_everybodys(book: memoranda.Book) -> None:
    await book.items.put("ana", NOTES, "tea", "everybody's")
    await book.items.put("ana", NOTES, "tea", "the guide's", agent="guide")
    await book.items.put(
        "ana", NOTES, "tea", "the team's", agent="guide", groups=["team"], audience="group"
    )

    async def read(**who: Any) -> Any:
        item = await book.items.get("ana", NOTES, "tea", **who)
        return None if item is None else item.value

    assert await read() == await read(agent="cook") == "everybody's"
    assert await read(agent="guide") == "the guide's"
    assert await read(agent="cook", groups=["team"]) == "the team's"
    listed = [item.value for item in await book.items.list("ana", agent="guide")]
    assert listed == ["the guide's", "everybody's"]
    await book.items.delete("ana", NOTES, "tea", agent="guide")
    assert await read(agent="guide") == "everybody's"


async def test_a_reader_gets_its_own_item_also_when_those_of_a_name_fill_several_pages(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.book.nouns.items._AT_ONCE", 1)
    await book.items.put("ana", NOTES, "tea", "everybody's")
    await book.items.put("ana", NOTES, "milk", "everybody's")
    await book.items.put("ana", NOTES, "tea", "the guide's", agent="guide")
    found = await book.items.get_many("ana", [(NOTES, "milk"), (NOTES, "tea")], agent="guide")
    assert [None if one is None else one.value for one in found] == ["everybody's", "the guide's"]


async def test_an_item_with_a_time_is_gone_when_it_is_over_and_a_reading_renews_it(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    await book.items.put("ana", NOTES, "tea", "green", ttl=timedelta(minutes=1))
    begun = book.door.clock()

    def at(seconds: float) -> None:
        moment = begun + timedelta(seconds=seconds)
        monkeypatch.setattr(book.door, "clock", lambda: moment)

    at(40)
    assert await book.items.get("ana", NOTES, "tea") is not None
    assert await book.items.get("ana", NOTES, "tea", renew=True) is not None
    item = await book.items.get("ana", NOTES, "tea")
    assert item is not None and item.expires_at == begun + timedelta(seconds=100)
    assert item.updated_at < begun + timedelta(seconds=1)
    for wrong in (0, -1, float("nan"), True, "1"):
        with pytest.raises(memoranda.InvalidInput, match="ttl"):
            await book.items.put("ana", NOTES, "tea", "green", ttl=wrong)  # type: ignore[arg-type]


async def test_values_and_names_that_cannot_be_kept_are_refused_with_their_place(
    book: memoranda.Book,
) -> None:
    large = "x" * 1_048_577
    with pytest.raises(memoranda.LimitReached, match=r"value: too large, 1048579 bytes"):
        await book.items.put("ana", NOTES, "large", large)
    await book.items.put("ana", NOTES, "large", large[:-3])
    for value in (float("nan"), {1: "x"}, {"x": object()}, "a\x00b", "\ud800"):
        with pytest.raises(memoranda.InvalidInput, match="value"):
            await book.items.put("ana", NOTES, "bad", value)
    for namespace in ((), "notes", ("a", ""), ("a\x00",), ("a",) * 21, ("x" * 256,), (1,)):
        with pytest.raises(memoranda.InvalidInput, match="namespace"):
            await book.items.put("ana", namespace, "bad", 1)  # type: ignore[arg-type]
    for name in ("", "\x00", "x" * 1025, 7):
        with pytest.raises(memoranda.InvalidInput, match="name"):
            await book.items.put("ana", NOTES, name, 1)  # type: ignore[arg-type]
    with pytest.raises(memoranda.InvalidInput, match=r"puts\[1\]"):
        await book.items.write("ana", [ItemPut(NOTES, "a", 1), ItemPut(NOTES, "b", {1: 2})])


async def test_forgetting_an_item_erases_its_history(book: memoranda.Book) -> None:
    receipt = await book.items.put("ana", NOTES, "tea", "green")
    await book.items.put("ana", NOTES, "tea", "black")
    await book.forget("ana", [receipt.id], what="record", as_owner=True)
    assert await book.items.get("ana", NOTES, "tea") is None
    with pytest.raises(memoranda.NotFound):
        await book.records.history("ana", receipt.id, as_owner=True)
    assert (await book.admin.verify()).faults == ()


async def test_several_puts_are_stored_only_if_all_versions_and_names_are_as_expected(
    book: memoranda.Book,
) -> None:
    put = memoranda.ItemPut
    await book.items.put("ana", ["a"], "one", 1)
    one = await book.items.get("ana", ["a"], "one")
    assert one is not None
    both = [put(["a"], "one", 2), put(["a"], "two", 2, new=True)]
    receipt = await book.items.write("ana", both, expect={one.id: 1}, operation="both")
    assert len(receipt.items) == 2
    assert (await book.items.write("ana", both, expect={one.id: 1}, operation="both")).repeated
    for puts, expect in (
        ([put(["a"], "one", 3), put(["a"], "three", 3)], {one.id: 1}),
        ([put(["a"], "three", 3), put(["a"], "two", 3, new=True)], {one.id: 2}),
    ):
        with pytest.raises(Conflict):
            await book.items.write("ana", puts, expect=expect)
    found = await book.items.get_many("ana", [(["a"], name) for name in ("one", "two", "three")])
    assert [None if item is None else item.value for item in found] == [2, 2, None]
    with pytest.raises(Stale):
        await book.items.write("ana", deletes=[(["a"], "one")], expect={one.id: 1})
