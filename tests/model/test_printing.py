"""Receipts, records, hits, pages and facts each print as one short line."""

from __future__ import annotations

from dataclasses import replace

import memoranda
from memoranda.cli.output.json_text import json_value

LONG = "Likes tea with milk and " + "sugar " * 150


def is_a_line(value: object, *words: str) -> bool:
    text = repr(value)
    assert len(text) <= 240 and "\n" not in text, text
    assert all(word in text for word in words), text
    return True


async def test_a_page_iterates_has_a_length_and_places(book: memoranda.Book) -> None:
    for content in ("Likes tea", "Likes coffee", "Likes cocoa"):
        await book.remember("ana", content)
    page = await book.records.list("ana", types="memory", limit=2)
    assert [record.content for record in page] == ["Likes tea", "Likes coffee"]  # type: ignore[attr-defined]
    assert len(page) == 2 and page[1] is page.records[1]
    assert is_a_line(page, "2 records", "more to come")
    assert str(page).count("\n") == 2 and "'Likes coffee'" in str(page)
    rest = await book.records.list("ana", types="memory", cursor=page.cursor)
    assert is_a_line(rest, "1 record", "the last page")


async def test_receipts_hits_and_records_print_as_short_lines(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide", title="Trip")
    said = await thread.append([{"role": "user", "content": LONG}] * 3)
    assert is_a_line(said, "ana", "position 2", "append message ×3", str(said.id), "stored")
    first = await book.remember("ana", LONG[:900], key="drink", agent="guide")
    second = await book.remember("ana", "Likes\n  coffee", key="drink", agent="guide")
    assert is_a_line(second, "remember memory", "supersede memory")
    gone = await book.records.get("ana", first.id, agent="guide")
    assert is_a_line(gone, "Memory", str(first.id), "drink: Likes tea", "…", "superseded")
    assert str(gone) == repr(gone)
    assert is_a_line(
        await book.records.get("ana", second.id, agent="guide"), "'drink: Likes coffee'"
    )
    assert is_a_line(await thread.get(), "Thread", "'Trip'", "running")
    hits = await book.recall("ana", "tea coffee", agent="guide")
    assert is_a_line(hits[0], "Hit 1", "score")
    assert str(hits).count("\n") == len(hits) and all(
        len(line) < 250 for line in str(hits).splitlines()
    )
    assert is_a_line(await book.why("ana", second.id, agent="guide"), "changes 1")
    assert is_a_line(await book.context("ana", "tea", agent="guide"), "tokens", "memories 1")
    assert is_a_line(await thread.window(), "3 messages")
    assert is_a_line(await book.admin.facts(), "sqlite", "owners 1", "memory 2")
    assert is_a_line(await book.forget("ana", second.id, agent="guide"), "complete", "removed")


async def test_printing_changes_neither_equality_nor_json(book: memoranda.Book) -> None:
    receipt = await book.remember("ana", "Likes tea")
    assert receipt == replace(receipt) and receipt != replace(receipt, position=9)
    page = await book.records.list("ana")
    assert set(json_value(page)) == {"records", "cursor", "waiting"}
    assert page == replace(page) and page[0] == page[0].model_copy()
    assert json_value(page)["records"][0]["content"] == "Likes tea"
