"""Memories that say when something happened, apart from how long it is true."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.model.memories import DaySpan, Granularity, Memory
from memoranda.storage.rows import encode

RUN = "Ran a first marathon"


async def memory(book: memoranda.Book, id: object) -> Memory:
    found = await book.records.get("ana", id, as_owner=True)  # type: ignore[arg-type]
    assert isinstance(found, Memory)
    return found


@pytest.mark.parametrize(
    ("given", "first", "after", "granularity"),
    [
        ("2023-05-07", date(2023, 5, 7), date(2023, 5, 8), "day"),
        ("2023-12", date(2023, 12, 1), date(2024, 1, 1), "month"),
        ("2023", date(2023, 1, 1), date(2024, 1, 1), "year"),
        ("2026-10-12/2026-10-16", date(2026, 10, 12), date(2026, 10, 17), "span"),
        (date(2023, 5, 7), date(2023, 5, 7), date(2023, 5, 8), "day"),
        (
            {"first": "2026-06-01", "after": "2026-09-01", "granularity": "season"},
            date(2026, 6, 1),
            date(2026, 9, 1),
            "season",
        ),
    ],
)
async def test_a_memory_says_when_it_happened(
    book: memoranda.Book, given: Any, first: date, after: date, granularity: str
) -> None:
    receipt = await book.remember("ana", RUN, happened=given)

    days = DaySpan(first=first, after=after, granularity=Granularity(granularity))
    assert (await memory(book, receipt.id)).happened == days


@pytest.mark.parametrize(
    "given",
    [
        "yesterday",
        "2023-02-30",
        "2023-05-07/2023-05-01",
        "",
        7,
        {"first": "2023"},
        "9999-12-31",
        date.max,
    ],
)
async def test_what_is_no_day_is_refused_by_name(book: memoranda.Book, given: Any) -> None:
    with pytest.raises(memoranda.InvalidInput) as refused:
        await book.remember("ana", RUN, happened=given)

    assert "happened" in (refused.value.field or "")


async def test_a_memory_without_a_day_is_stored_as_ever(book: memoranda.Book) -> None:
    receipt = await book.remember("ana", RUN)

    assert "happened" not in encode(await memory(book, receipt.id), b"secret").body
    assert "granularity" not in encode(await memory(book, receipt.id), b"secret").body


async def test_an_update_in_the_same_words_keeps_the_day_and_a_new_one_replaces_it(
    book: memoranda.Book,
) -> None:
    first = await book.remember("ana", RUN, happened="2023-05-07", valid_from_granularity="year")
    same = await book.update("ana", first.id, RUN, key="marathon")
    assert str((await memory(book, same.id)).happened) == str(DaySpan.model_validate("2023-05-07"))

    moved = await book.update("ana", same.id, RUN, happened="2023-05-14")
    found = (await memory(book, moved.id)).happened
    assert found is not None and found.first == date(2023, 5, 14)

    other = await book.update("ana", moved.id, "Ran a half marathon")
    assert (await memory(book, other.id)).happened is None


async def test_a_context_tells_the_day(book: memoranda.Book) -> None:
    await book.remember("ana", RUN, happened="2023-05-07")
    await book.remember("ana", "Moved to Porto", happened="2025", key="home")

    text = (await book.context("ana", budget=500)).text
    assert "on 7 May 2023] Ran a first marathon" in text
    assert "in 2025] Moved to Porto" in text


async def test_an_export_brings_the_day_to_another_book(book: memoranda.Book) -> None:
    receipt = await book.remember("ana", RUN, happened="2026-10-12/2026-10-16")
    lines = [line async for line in book.admin.export()]

    async with memoranda.open("memory://", models=None) as other:
        await other.admin.import_(lines)
        assert (await memory(other, receipt.id)).happened == (
            await memory(book, receipt.id)
        ).happened
        assert (await other.admin.verify()).faults == ()


def test_the_synchronous_face_takes_the_day_as_well(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db", worker=False) as book:
        receipt = book.remember("ana", RUN, happened="2023-05")
        (found,) = book.records.list("ana", types="memory").records
        assert isinstance(found, Memory) and found.id == receipt.id
        assert found.happened is not None and found.happened.granularity is Granularity.MONTH


async def test_rules_know_the_day_of_what_a_user_asks_to_remember() -> None:
    said = datetime(2026, 9, 9, 14, tzinfo=UTC)
    async with memoranda.open("memory://", models=None, clock=lambda: said) as book:
        thread = await book.thread("ana", agent="coach")
        for words in (
            "Remember that I have a dentist appointment tomorrow.",
            "I live in Bonn since June.",
        ):
            await thread.append("user", words, observed_at=said)
        await thread.form()
        await book.jobs.run()
        text = (await book.context("ana", agent="coach", budget=500)).text
    assert "on 10 September 2026] Asked to remember: I have a dentist appointment tomorrow" in text
    assert "since June 2026] Lives in Bonn" in text
