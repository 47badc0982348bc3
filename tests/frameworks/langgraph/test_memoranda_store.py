"""A book as LangGraph's store, as users of both meet it: owners, batches, time to live, deletion
and faults.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

import memoranda
from memoranda.errors import InvalidInput, NotAllowed, NotFound, StorageError
from memoranda.integrations.langgraph import MemorandaStore, owner_at, owner_from_run
from memoranda.testing.clock import HandClock

ENGINES = ["memory", "sqlite", "postgres"]


@pytest.fixture(params=ENGINES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres").new_book())
    return {"memory": "memory://", "sqlite": str(tmp_path / "book.db")}[request.param]


@pytest.fixture
async def book(address: str, clock: HandClock) -> AsyncIterator[memoranda.Book]:
    async with memoranda.open(address, clock=clock, worker=False) as opened:
        yield opened
        assert (await opened.admin.verify(whole=True)).faults == ()


def spelled(items: Any) -> list[tuple[tuple[str, ...], str, Any]]:
    return [(item.namespace, item.key, item.value) for item in items]


# ── owners ────────────────────────────────────────────────────────────────────────────────────────


async def test_an_item_belongs_to_the_owner_that_its_namespace_names(book: memoranda.Book):
    store = MemorandaStore(book, owner_of=owner_at(1))
    await store.aput(("memories", "ana"), "tea", {"text": "Ana likes tea"})
    await store.aput(("memories", "ben"), "tea", {"text": "Ben hates tea"})
    assert [item.value for item in await book.items.list("ana")] == [{"text": "Ana likes tea"}]
    assert spelled(await store.asearch(("memories", "ben"))) == [
        (("memories", "ben"), "tea", {"text": "Ben hates tea"})
    ]
    assert [str(owner.id) for owner in await book.admin.owners()] == ["ana", "ben"]


@pytest.mark.parametrize("namespace", [("memories",), ("a",)])
async def test_a_namespace_without_an_owner_is_refused_and_nothing_is_guessed(
    book: memoranda.Book, namespace: tuple[str, ...]
):
    store = MemorandaStore(book, owner_of=owner_at(1))
    for call in (
        store.aput(namespace, "k", {"v": 1}),
        store.aget(namespace, "k"),
        store.adelete(namespace, "k"),
    ):
        with pytest.raises(InvalidInput, match="has no owner"):
            await call
    assert await book.admin.owners() == []


async def test_a_prefix_that_spans_owners_needs_a_right_that_is_given_by_name(book: memoranda.Book):
    own = MemorandaStore(book, owner_of=owner_at(1))
    for owner in ("ana", "ben", "cleo"):
        await own.aput(("memories", owner), "k", {"v": owner})
        await own.aput(("memories", owner, "deep"), "k", {"v": owner})
    for call in (
        own.asearch(("memories",)),
        own.asearch(()),
        own.alist_namespaces(),
        own.alist_namespaces(prefix=("memories", "*", "deep")),
        own.abatch([ListNamespacesOp((MatchCondition("suffix", ("deep",)),))]),
    ):
        with pytest.raises(NotAllowed, match="across_owners"):
            await call
    everyone = MemorandaStore(book, owner_of=owner_at(1), across_owners=True)
    found = await everyone.asearch(("memories",), limit=100)
    assert {item.namespace[1] for item in found} == {"ana", "ben", "cleo"}
    assert len(found) == 6
    assert await everyone.alist_namespaces(prefix=("memories", "*", "deep"), limit=2) == [
        ("memories", "ana", "deep"),
        ("memories", "ben", "deep"),
    ]
    assert len(await everyone.asearch((), limit=4, offset=4)) == 2
    some = MemorandaStore(book, owner_of=owner_at(1), across_owners=["ana", "ben"])
    assert {item.namespace[1] for item in await some.asearch((), limit=100)} == {"ana", "ben"}
    assert {labels[1] for labels in await some.alist_namespaces(suffix=("deep",))} == {"ana", "ben"}


async def test_namespaces_come_back_as_they_were_asked_for(book: memoranda.Book):
    def owner_of(namespace: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
        return (
            (namespace[1], ("notes", *namespace[2:]))
            if len(namespace) > 1 and namespace[0] == "users"
            else None
        )

    store = MemorandaStore(book, owner_of=owner_of)
    await store.aput(("users", "ana", "work"), "k", {"text": "likes tea"})
    assert [item.namespace for item in await book.items.list("ana")] == [("notes", "work")]
    assert (await store.aget(("users", "ana", "work"), "k")).namespace == ("users", "ana", "work")
    for found in (
        await store.asearch(("users", "ana")),
        await store.asearch(("users", "ana"), query="tea"),
    ):
        assert [item.namespace for item in found] == [("users", "ana", "work")]
    assert await store.alist_namespaces(prefix=("users", "ana"), suffix=("ana", "work")) == [
        ("users", "ana", "work")
    ]
    assert await store.alist_namespaces(prefix=("users", "ana"), max_depth=2) == [("users", "ana")]


async def test_two_runs_at_once_with_the_same_namespace_read_and_write_their_own_users_items(
    book: memoranda.Book,
):
    store = MemorandaStore(book, owner_of=owner_from_run("user_id"))

    async def remember(state: dict[str, Any]) -> dict[str, Any]:
        await store.aput(("memories",), "name", {"is": state["said"]})
        there, found = await asyncio.gather(
            store.aget(("memories",), "name"), store.asearch(("memories",))
        )
        return {"said": f"{there.value['is']} {[item.value['is'] for item in found]}"}

    graph = StateGraph(dict)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    app = graph.compile(store=store)
    users = [f"user{number}" for number in range(8)]
    answers = await asyncio.gather(
        *(app.ainvoke({"said": user}, {"configurable": {"user_id": user}}) for user in users)
    )
    assert [answer["said"] for answer in answers] == [f"{user} ['{user}']" for user in users]
    with pytest.raises(InvalidInput, match="in no run"):
        await store.aget(("memories",), "name")


def test_a_synchronous_graph_uses_a_book_at_an_address_from_its_threads(tmp_path: Path):
    with MemorandaStore(tmp_path / "book.db", owner_of=owner_from_run()) as store:

        def remember(state: dict[str, Any]) -> dict[str, Any]:
            store.put(("memories",), state["said"], {"text": state["said"]})
            return {
                "said": next(item.key for item in store.search(("memories",), query=state["said"]))
            }

        graph = StateGraph(dict)
        graph.add_node("remember", remember)
        graph.add_edge(START, "remember")
        app = graph.compile(store=store)
        for said in ("likes tea", "has a cat"):
            assert app.invoke({"said": said}, {"configurable": {"user_id": "ana"}}) == {
                "said": said
            }
    with memoranda.open_sync(tmp_path / "book.db") as book:
        assert [item.name for item in book.items.list("ana")] == ["has a cat", "likes tea"]
    with pytest.raises(StorageError, match="closed"):
        store.batch([GetOp(("memories",), "k")])


async def test_a_store_at_an_address_serves_other_event_loops_and_a_loops_own_thread_is_refused(
    tmp_path: Path,
):
    async with MemorandaStore(tmp_path / "book.db", owner_of=owner_at(0)) as store:
        await store.aput(("ana",), "k", {"v": 1})
        assert (await asyncio.to_thread(store.get, ("ana",), "k")).value == {"v": 1}
        assert asyncio.run_coroutine_threadsafe(store.aget(("ana",), "k"), store._loop).result(
            10
        ).value == {"v": 1}
    async with memoranda.open("memory://") as book:
        inside = MemorandaStore(book, owner_of=owner_at(0))
        with pytest.raises(asyncio.InvalidStateError):
            inside.get(("ana",), "k")
        assert await asyncio.to_thread(inside.get, ("ana",), "k") is None


def test_a_book_that_belongs_to_a_loop_is_refused_where_none_runs():
    book = asyncio.run(_opened())
    with pytest.raises(InvalidInput, match="event loop"):
        MemorandaStore(book, owner_of=owner_at(0))
    with pytest.raises(InvalidInput, match="owner_of"):
        MemorandaStore("memory://", owner_of=None)  # type: ignore[arg-type]


async def _opened() -> memoranda.Book:
    return await memoranda.open("memory://", worker=False)


# ── batches ───────────────────────────────────────────────────────────────────────────────────────


async def test_the_writes_of_a_batch_are_one_operation_of_each_owner(book: memoranda.Book):
    store = MemorandaStore(book, owner_of=owner_at(0))
    await store.aput(("ana",), "old", {"v": 0})
    results = await store.abatch(
        [
            GetOp(("ana",), "new"),
            PutOp(("ana",), "new", {"v": 1}),
            PutOp(("ben",), "new", {"v": 1}),
            PutOp(("ana",), "new", {"v": 2}),
            PutOp(("ana",), "old", None),
            SearchOp(("ana",)),
            ListNamespacesOp((MatchCondition("prefix", ("ben",)),)),
        ]
    )
    assert results[:5] == [None] * 5
    assert [item.key for item in results[5]] == ["old"]
    assert results[6] == []
    assert spelled(await store.asearch(("ana",))) == [(("ana",), "new", {"v": 2})]
    entries = list(await book.records.ledger("ana", as_owner=True))
    assert len(entries) == 2
    await book.undo("ana", entries[-1].position)
    assert spelled(await store.asearch(("ana",))) == [(("ana",), "old", {"v": 0})]


async def test_a_refused_call_fails_alone_among_calls_of_the_same_moment(book: memoranda.Book):
    store = MemorandaStore(book, owner_of=owner_at(0))
    results: Any = await asyncio.gather(
        store.aput(("ana",), "kept", {"v": 1}),
        store.aput(("ana",), "refused", {"v": object()}),
        store.asearch(("ana",), filter={"v": {"$near": 1}}),
        store.aget(("ana",), "kept"),
        return_exceptions=True,
    )
    assert results[0] is None
    assert isinstance(results[1], InvalidInput)
    assert isinstance(results[2], InvalidInput)
    assert spelled(await store.asearch(("ana",))) == [(("ana",), "kept", {"v": 1})]


@pytest.mark.parametrize(
    "value", [{"v": float("nan")}, {"v": {1, 2}}, {1: "v"}, {"v": b"x"}, "text", ["list"], 3]
)
async def test_a_value_that_is_no_json_object_is_refused_plainly_and_none_of_its_batch_is_kept(
    book: memoranda.Book, value: Any
):
    store = MemorandaStore(book, owner_of=owner_at(0))
    with pytest.raises(InvalidInput):
        await store.abatch([PutOp(("ana",), "good", {"v": 1}), PutOp(("ana",), "bad", value)])
    assert await store.aget(("ana",), "good") is None


async def test_another_mapping_and_an_overwrite_keep_what_langgraph_promises(
    book: memoranda.Book, clock: HandClock
):
    store = MemorandaStore(book, owner_of=owner_at(0))
    await store.aput(("ana",), "k", MappingProxyType({"v": 1}))
    first = await store.aget(("ana",), "k")
    clock.advance(hours=1)
    await store.aput(("ana",), "k", {"v": 2})
    await store.aput(("ana",), "k", {"v": 2})
    second = await store.aget(("ana",), "k")
    assert (first.value, second.value) == ({"v": 1}, {"v": 2})
    assert second.created_at == first.created_at
    assert second.updated_at - first.updated_at >= timedelta(hours=1)
    item = (await book.items.list("ana"))[0]
    assert len(await book.records.history("ana", item.id)) == 2


async def test_bare_operations_are_checked_as_calls_are(book: memoranda.Book):
    store = MemorandaStore(book, owner_of=owner_at(0), across_owners=True)
    for op in (
        GetOp(("a.b",), "k"),
        PutOp(("a", ""), "k", {}),
        SearchOp(("a\0",)),
        PutOp((1,), "k", None),
    ):
        with pytest.raises(InvalidNamespaceError):
            await store.abatch([PutOp(("ana",), "k", {}), op])
    with pytest.raises(InvalidInput, match="no operation"):
        await store.abatch(["get"])
    assert await book.admin.owners() == []


async def test_search_finds_by_words_and_leaves_out_nothing_that_langgraph_would_list(
    book: memoranda.Book,
):
    store = MemorandaStore(book, owner_of=owner_at(0), index={"fields": ["text"]})
    await store.aput(("ana", "x"), "tea", {"text": "likes green tea", "other": "walnuts"})
    await store.aput(("ana", "y"), "nuts", {"text": "allergic to walnuts"})
    await store.aput(("ana", "y"), "hidden", {"text": "walnuts again"}, index=False)
    await store.aput(
        ("ana", "y"), "own", {"text": "a", "parts": [{"is": "walnuts"}]}, index=["parts[*].is"]
    )
    found = await store.asearch(("ana",), query="walnuts")
    assert {item.key for item in found if item.score} == {"nuts", "own"}
    assert {item.key for item in found if item.score is None} == {"tea", "hidden"}
    assert all(0 < item.score <= 1 for item in found[:2])
    assert [item.key for item in await store.asearch(("ana", "x"), query="walnuts", limit=1)] == [
        "tea"
    ]


async def test_deleted_items_are_out_of_every_read_until_an_undo_and_erased_on_request(
    book: memoranda.Book,
):
    store = MemorandaStore(book, owner_of=owner_at(0))
    await store.aput(("ana",), "k", {"text": "likes walnuts"})
    id = (await book.items.list("ana"))[0].id
    await store.adelete(("ana",), "k")
    await store.adelete(("ana",), "never there")
    assert await store.aget(("ana",), "k") is None
    assert await store.asearch(("ana",)) == await store.asearch(("ana",), query="walnuts") == []
    assert await store.alist_namespaces(prefix=("ana",)) == []
    assert list(await book.recall("ana", "walnuts")) == []
    erasing = MemorandaStore(book, owner_of=owner_at(0), erase_deleted=True)
    await store.aput(("ana",), "k", {"text": "likes almonds"})
    new = (await book.items.list("ana"))[0].id
    await erasing.adelete(("ana",), "k")
    assert new != id
    with pytest.raises(NotFound):
        await book.records.history("ana", new)
    assert await book.records.history("ana", id)


async def test_time_to_live_counts_in_minutes_and_reads_renew_it(
    book: memoranda.Book, clock: HandClock
):
    store = MemorandaStore(book, owner_of=owner_at(0), ttl={"default_ttl": 10})
    await store.aput(("ana",), "default", {"v": 1})
    await store.aput(("ana",), "short", {"v": 1}, ttl=1)
    await store.aput(("ana",), "stays", {"v": 1}, ttl=None)
    clock.advance(minutes=9)
    assert await store.aget(("ana",), "short") is None
    assert await store.aget(("ana",), "default") is not None
    clock.advance(minutes=9)
    assert [item.key for item in await store.asearch(("ana",), refresh_ttl=False)] == [
        "stays",
        "default",
    ]
    clock.advance(minutes=2)
    assert [item.key for item in await store.asearch(("ana",))] == ["stays"]
    assert await store.asweep_ttl() == 2
    assert await store.asweep_ttl() == 0
    quiet = MemorandaStore(
        book, owner_of=owner_at(0), ttl={"default_ttl": 1, "refresh_on_read": False}
    )
    await quiet.aput(("ana",), "k", {"v": 1})
    clock.advance(seconds=50)
    assert await quiet.aget(("ana",), "k") is not None
    clock.advance(seconds=11)
    assert await quiet.aget(("ana",), "k") is None


async def test_the_same_write_twice_leaves_one_item_and_one_version(book: memoranda.Book):
    store = MemorandaStore(book, owner_of=owner_at(0))
    ops = [PutOp(("ana",), f"k{number}", {"v": number}) for number in range(3)]
    await store.abatch(ops)
    before = spelled(await store.asearch(("ana",)))
    await store.abatch(ops)
    assert spelled(await store.asearch(("ana",))) == before
    assert len(await book.records.ledger("ana", as_owner=True)) == 1


async def test_readers_are_those_that_the_application_names_for_a_namespace(book: memoranda.Book):
    def audience_of(namespace: tuple[str, ...]) -> str | None:
        return "global" if namespace[-1] == "shared" else None

    coach = MemorandaStore(book, owner_of=owner_at(0), audience_of=audience_of, agent="coach")
    await coach.abatch(
        [PutOp(("ana", "shared"), "k", {"v": 1}), PutOp(("ana", "notes"), "k", {"v": 2})]
    )
    doctor = MemorandaStore(book, owner_of=owner_at(0), agent="doctor")
    assert [item.namespace for item in await doctor.asearch(("ana",))] == [("ana", "shared")]
    assert len(await coach.asearch(("ana",))) == 2
