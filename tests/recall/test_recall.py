"""The finder: what it refuses, what it keeps off the event loop, and what it lets go of."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import LimitReached
from memoranda.model.passages import ShelfDelta
from memoranda.recall import index as holding
from memoranda.recall import request
from memoranda.recall.index import ShelfIndex
from memoranda.recall.recall import QUESTION_LENGTH, Recall
from memoranda.recall.request import SearchRequest
from memoranda.text import terms
from memoranda.text import terms as languages


def finder_of(book: memoranda.Book) -> Recall:
    assert isinstance(book.finder, Recall)
    return book.finder


async def test_a_question_has_a_longest_length(book: memoranda.Book):
    await book.remember("ana", "likes tea")
    with pytest.raises(LimitReached) as caught:
        await book.recall("ana", "t" * (QUESTION_LENGTH + 1))
    assert caught.value.field == "query"
    assert await book.recall("ana", "tea ".ljust(QUESTION_LENGTH))


async def test_a_long_question_is_read_beside_the_event_loop(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
):
    await book.remember("ana", "likes tea")
    threads = []

    def noted(question: str) -> Sequence[terms.TermGroup]:
        threads.append(threading.current_thread() is threading.main_thread())
        return terms.query_groups(question)

    monkeypatch.setattr(request, "query_groups", noted)
    assert await book.recall("ana", "tea")
    assert await book.recall("ana", "tea " * 300)
    assert threads == [True, False]


def remembered_words() -> int:
    caches = (
        terms.term_hash,
        terms._terms_in,
        terms._groups_in,
        languages.alternatives,
        languages.word_terms,
    )
    return sum(cache.cache_info().currsize for cache in caches)


async def test_forgetting_clears_the_words_that_were_read(book: memoranda.Book):
    kept = await book.remember("ana", "the canary is called Xylophona")
    assert await book.recall("ana", "Xylophona")
    assert remembered_words()
    await book.forget("ana", kept.id, as_owner=True)
    assert remembered_words() == 0
    assert finder_of(book).shelves == 0 and finder_of(book).nbytes == 0


async def test_an_erasure_elsewhere_drops_the_index_at_the_owners_next_read(tmp_path: Path):
    async with (
        memoranda.open(tmp_path / "book.db") as one,
        memoranda.open(tmp_path / "book.db") as other,
    ):
        for owner in ("ana", "bo"):
            await one.remember(owner, "likes Xylophona", audience="self", agent="a")
            await one.remember(owner, "likes tea")
            assert await other.recall(owner, "likes", agent="a")
        assert finder_of(other).shelves == 4
        await one.forget("ana", everything=True, as_owner=True)
        # A view without the agent cannot tell about the agent's own shelf.
        assert not await other.recall("ana", "likes")
        assert finder_of(other).shelves == 3
        assert not await other.recall("ana", "likes", as_owner=True)
        assert finder_of(other).shelves == 2
        assert remembered_words() < 10
        assert len(await other.recall("bo", "likes", agent="a")) == 2


async def test_one_memory_erased_elsewhere_takes_the_remembered_words_along(tmp_path: Path):
    async with (
        memoranda.open(tmp_path / "book.db") as one,
        memoranda.open(tmp_path / "book.db") as other,
    ):
        doomed = await one.remember("ana", "likes Xylophona")
        await one.remember("ana", "likes tea")
        assert len(await other.recall("ana", "likes Xylophona")) == 2
        await one.forget("ana", doomed.id, as_owner=True)
        terms.query_groups("Xylophona")
        assert len(await other.recall("ana", "likes")) == 1
        assert remembered_words() < 10


async def test_an_erasure_while_an_index_is_built_leaves_no_index_of_before(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
):
    await book.remember("ana", "likes Xylophona")
    finder, apply_delta, times = finder_of(book), holding._apply_delta, list[int]()

    async def interrupted(index: ShelfIndex, delta: ShelfDelta) -> None:
        await apply_delta(index, delta)
        if not times:
            times.append(1)
            await book.forget("ana", everything=True, as_owner=True)

    monkeypatch.setattr(holding, "_apply_delta", interrupted)
    assert not await book.recall("ana", "Xylophona")
    assert finder.shelves == 0


async def test_indexes_that_are_let_go_of_for_room_leave_nothing_behind(tmp_path: Path):
    async with memoranda.open(tmp_path / "book.db") as book:
        finder = Recall(book.engine, index_bytes=1)
        book.finder = finder
        for owner in ("ana", "bo", "cy"):
            await book.remember(owner, "likes tea")
            assert len(await book.recall(owner, "tea")) == 1
        assert finder.shelves == len(finder.cache._owners) == len(finder.cache._shelves_of) == 1


async def test_a_write_during_a_search_does_not_part_what_is_searched_from_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The index was brought up to date by another task while an engine's thread searched it for an
    older moment.
    """
    under_way, goes_on, search = threading.Event(), threading.Event(), SearchRequest.search

    def delayed(asked: SearchRequest, shelves: Sequence[ShelfIndex]) -> None:
        if threading.current_thread() is not threading.main_thread() and not under_way.is_set():
            under_way.set()
            goes_on.wait(5)
        search(asked, shelves)

    # Every shelf is searched by a thread of the engine, as large ones are.
    monkeypatch.setattr(holding, "_FEW_PASSAGES", 0)
    async with memoranda.open(tmp_path / "book.db") as book:
        await book.remember("ana", "likes tea", key="drink")
        await book.recall("ana", "likes")
        monkeypatch.setattr(SearchRequest, "search", delayed)
        slow = asyncio.create_task(book.recall("ana", "likes"))
        await asyncio.to_thread(under_way.wait, 5)
        newer = await book.remember("ana", "likes coffee", key="drink")
        assert [hit.id for hit in await book.recall("ana", "likes")] == [newer.id]
        goes_on.set()
        assert [hit.id for hit in await slow] == [newer.id]


async def test_a_recall_after_writes_makes_one_round_trip_and_counts_what_the_index_grew_by(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
):
    kept = await book.remember("ana", "likes tea")
    assert len(await book.recall("ana", "tea")) == 1
    finder, trips = finder_of(book), []
    kind: Any = type(book.engine)
    size, read = finder.nbytes, kind.read

    async def noted(self: Any, *given: Any, **named: Any) -> Any:
        trips.append(given)
        return await read(self, *given, **named)

    monkeypatch.setattr(kind, "read", noted)
    await book.remember("ana", "drinks tea at five")
    assert len(await book.recall("ana", "tea")) == 2
    assert len(trips) == 1
    assert finder.nbytes > size
    await book.forget("ana", kept.id, as_owner=True)
    assert len(await book.recall("ana", "tea")) == 1


async def test_an_index_that_grows_within_a_search_stays_within_its_limit(tmp_path: Path):
    async with memoranda.open(tmp_path / "book.db", embed=None) as book:
        for owner in ("ana", "bo"):
            await book.remember(owner, "likes tea")
            assert await book.recall(owner, "tea")
        finder = finder_of(book)
        assert finder.shelves == 2
        finder.cache._limit = finder.nbytes
        await book.remember("bo", "drinks tea at five")
        assert len(await book.recall("bo", "tea")) == 2
        assert finder.shelves == 1


async def test_only_a_small_cached_shelf_is_searched_on_the_thread_of_the_event_loop(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
):
    kind: Any = type(book.engine)
    read, brief = kind.read, list[bool]()

    async def noted(self: Any, *given: Any, **named: Any) -> Any:
        brief.append(bool(named.get("brief")))
        return await read(self, *given, **named)

    monkeypatch.setattr(kind, "read", noted)
    monkeypatch.setattr(holding, "_FEW_PASSAGES", 2)
    for number, small in enumerate((False, True, True, False)):
        await book.remember("ana", f"likes tea number {number}")
        brief.clear()
        assert len(await book.recall("ana", "tea")) == number + 1
        assert brief[0] is small
