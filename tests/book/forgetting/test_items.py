"""Forgetting a fact in items: spans in the strings of their values, in earlier values, and in
deleted ones.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Book, HasDependents, InvalidInput
from memoranda.assembly import open_engine
from memoranda.book.admin.backup_files import restore
from memoranda.book.forgetting.look import NOT_OWN
from memoranda.model.items import Item
from memoranda.model.redactions import ITS_NAME, SENTENCE
from memoranda.model.values import utc_now
from memoranda.testing.clock import HandClock

NOTES = ("notes", "work")
TOLD = "Two nights. I live in Lisbon. Take the train."
LEFT = "Two nights. Take the train."


@pytest.fixture(params=["memory://", "file"])
async def book(
    request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock
) -> AsyncIterator[Book]:
    address = tmp_path / "book.db" if request.param == "file" else request.param
    async with memoranda.open(address, embed=None, clock=clock) as opened:
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()


async def remembered(book: Book, content: str = "Lives in Lisbon") -> str:
    return str((await book.remember("ana", content, agent="guide", audience="global")).id)


async def put(book: Book, name: str, value: Any, **fields: Any) -> str:
    receipt = await book.items.put("ana", NOTES, name, value, **{"as_owner": True, **fields})
    return str(receipt.id)


async def value_of(book: Book, name: str) -> Any:
    item = await book.items.get("ana", NOTES, name, as_owner=True)
    return None if item is None else item.value


async def test_a_sentence_in_an_items_value_is_found_listed_and_taken(book: Book) -> None:
    file = await put(
        book, "trip.md", {"title": "Porto", "pages": [{"text": TOLD, "name": "I live in Lisbon."}]}
    )
    home = await remembered(book)
    found = await book.forgetting.find_traces("ana", home, as_owner=True)
    assert {(str(one.message), one.type, one.span.path, one.why) for one in found.spans} == {
        (file, "item", "/pages/0/text", SENTENCE),
        (file, "item", "/pages/0/name", SENTENCE),
    }
    assert [str(trace.id) for trace in found.changes] == [file]
    receipt = await book.forget("ana", plan=found, as_owner=True)
    assert receipt.removed["parts of items"] == 2
    assert await value_of(book, "trip.md") == {"title": "Porto", "pages": [{"text": LEFT}]}
    hits = await book.recall("ana", "live in Lisbon", types="item", as_owner=True)
    assert not [hit for hit in hits if hit.words]
    assert [hit.id for hit in await book.recall("ana", "train", types="item", as_owner=True)] == [
        found.spans[0].message
    ]


async def test_a_text_loses_its_sentence_and_one_of_which_nothing_is_left_goes(book: Book) -> None:
    await put(book, "a", TOLD)
    gone = [
        await put(book, "b", "I live in Lisbon."),
        await put(book, "c", {"x": ["I live in Lisbon."], "y": None}),
    ]
    home = await remembered(book)
    receipt = await book.forget("ana", home, as_owner=True)
    assert {str(id) for id in receipt.ids} == {home, *gone}
    assert [await value_of(book, name) for name in "abc"] == [LEFT, None, None]
    with pytest.raises(memoranda.NotFound):
        await book.records.history("ana", gone[0], as_owner=True)


async def test_the_name_of_an_item_says_what_its_value_is_about(book: Book) -> None:
    await put(book, "home town", {"content": "Lisbon"})
    home = str(
        (
            await book.remember(
                "ana", "Lives in Lisbon", key="home", agent="guide", audience="global"
            )
        ).id
    )
    await book.forget("ana", home, as_owner=True)
    assert await value_of(book, "home town") is None


async def test_a_name_that_tells_it_is_listed_and_its_item_goes_if_it_is_named(book: Book) -> None:
    file = await put(book, "lives-in-lisbon.md", {"n": 1})
    home = await remembered(book)
    (listed,) = (await book.forgetting.find_traces("ana", home, as_owner=True)).listed
    assert (str(listed.message), listed.why, listed.text) == (
        file,
        ITS_NAME,
        "notes / work / lives-in-lisbon.md",
    )
    receipt = await book.forget("ana", home, as_owner=True)
    assert await value_of(book, "lives-in-lisbon.md") == {"n": 1}
    assert [str(trace.id) for trace in receipt.still_tells] == [file]

    again = await remembered(book)
    plan = await book.forgetting.find_traces("ana", again, take=[listed.name], as_owner=True)
    await book.forget("ana", plan=plan, as_owner=True)
    assert await value_of(book, "lives-in-lisbon.md") is None


async def test_earlier_values_and_deleted_items_say_it_no_more(book: Book) -> None:
    changed = await put(book, "a", TOLD)
    await put(book, "a", "Nothing of it.")
    deleted = await put(book, "b", TOLD)
    await book.items.delete("ana", NOTES, "b", as_owner=True)
    home = await remembered(book)
    receipt = await book.forget("ana", home, as_owner=True)
    assert {str(one.message) for one in receipt.redacted} == {changed, deleted}
    assert await value_of(book, "a") == "Nothing of it."
    assert "Lisbon" not in "".join([line async for line in book.admin.export("ana")])
    steps = await book.records.history("ana", changed, as_owner=True)
    assert [step.record is None for step in steps] == [True, True, False]


async def test_an_agent_takes_nothing_from_what_others_stored(book: Book) -> None:
    file = str((await book.items.put("ana", NOTES, "a", TOLD, agent="other", audience="global")).id)
    home = await remembered(book)
    found = await book.forgetting.find_traces("ana", home, agent="guide")
    assert found.spans == ()
    assert [(str(one.id), one.why) for one in found.still_tells if one.why == NOT_OWN] == [
        (file, NOT_OWN)
    ]


async def test_hidden_words_of_an_item_come_back_by_undo_and_go_for_good_when_it_is_finished(
    book: Book,
) -> None:
    file = await put(book, "a", [TOLD, "I live in Lisbon."])
    home = await remembered(book)
    hidden = await book.forgetting.hide("ana", home, as_owner=True)
    assert await value_of(book, "a") == [LEFT]
    assert not [
        hit for hit in await book.recall("ana", "Lisbon", types="item", as_owner=True) if hit.words
    ]
    await book.undo("ana", hidden.receipt.position, as_owner=True)
    assert await value_of(book, "a") == [TOLD, "I live in Lisbon."]
    again = await book.forgetting.hide("ana", home, as_owner=True)
    await put(book, "a", "Another value")
    await book.forgetting.finish("ana", again.receipt, as_owner=True)
    assert await value_of(book, "a") == "Another value"
    steps = await book.records.history("ana", file, as_owner=True)
    assert not any(
        "Lisbon" in str(step.record.model_dump()) for step in steps if step.record is not None
    )


async def test_redact_takes_a_part_of_a_value(book: Book) -> None:
    text, nested = await put(book, "a", TOLD), await put(book, "b", {"x": [TOLD]})
    await book.forgetting.redact("ana", text, 12, 30, as_owner=True)
    await book.forgetting.redact("ana", nested, 12, 30, path="/x/0", as_owner=True)
    assert (await value_of(book, "a"), await value_of(book, "b")) == (LEFT, {"x": [LEFT]})
    with pytest.raises(
        InvalidInput, match="path: give the JSON pointer of a string in the value of item"
    ):
        await book.forgetting.redact("ana", nested, 0, 3, as_owner=True)


async def test_a_new_value_after_that_is_whole(book: Book, clock: HandClock) -> None:
    file = await put(book, "a", TOLD)
    await book.forget("ana", await remembered(book), as_owner=True)
    clock.advance()
    await put(book, "a", TOLD, index=["$"])
    item = await book.records.get("ana", file, as_owner=True)
    assert isinstance(item, Item) and (item.value, item.removed) == (TOLD, ())


async def test_a_restored_backup_lacks_the_words_in_each_value_that_it_had(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db", embed=None) as book:
        await put(book, "a", ["I live in Lisbon.", TOLD])
        await put(book, "b", TOLD)
        await put(book, "c", TOLD)
        await put(book, "c", "Later and harmless.")
        await put(book, "d", TOLD)
        home = await remembered(book)
        await book.admin.backup(tmp_path / "old.db")
        await put(book, "b", "Another value")
        await book.items.delete("ana", NOTES, "d", as_owner=True)
        await book.forget("ana", home, as_owner=True)
        await put(book, "c", "Lisbon again, for it was said again. I live in Lisbon.")
        await book.admin.backup(tmp_path / "new.db")
        source = await open_engine(tmp_path / "book.db", create=False)
        for backup in ("old", "new"):
            target = tmp_path / f"{backup} restored.db"
            opening = partial(open_engine, create=False)
            await restore(opening, tmp_path / f"{backup}.db", target, books=[source], at=utc_now())
        await source.close()
    async with memoranda.open(tmp_path / "old restored.db", embed=None) as old:
        assert [await value_of(old, name) for name in "abcd"] == [
            [LEFT],
            LEFT,
            "Later and harmless.",
            LEFT,
        ]
        assert "I live in" not in "".join([line async for line in old.admin.export("ana")])
    async with memoranda.open(tmp_path / "new restored.db", embed=None) as new:
        # What was stored afterwards stays.
        assert "Lisbon again" in await value_of(new, "c")
        assert [await value_of(new, name) for name in "ab"] == [[LEFT], "Another value"]


async def test_an_import_brings_no_words_of_an_item_back(book: Book) -> None:
    await put(book, "a", TOLD)
    home = await remembered(book)
    lines = [line async for line in book.admin.export("ana")]
    await book.forget("ana", home, as_owner=True)
    await book.admin.import_(lines)
    assert await value_of(book, "a") == LEFT


async def test_an_undo_that_an_erasure_took_part_of_names_no_way_to_undo_it(book: Book) -> None:
    await put(book, "trip.md", {"text": TOLD})
    later = await book.items.put("ana", NOTES, "trip.md", {"text": LEFT}, as_owner=True)
    await book.forget("ana", await remembered(book), as_owner=True)
    with pytest.raises(HasDependents, match="an erasure cannot be undone") as refused:
        await book.undo("ana", later.position, as_owner=True)
    assert "with_dependents" not in str(refused.value)
