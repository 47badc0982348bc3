"""A store over formed records: one truth, read and set one user at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

import memoranda
from memoranda.book import Book
from memoranda.errors import InvalidInput, NotAllowed
from memoranda.integrations.langgraph import FormedMemories
from memoranda.model.memories import Memory

ANN = ("memories", "ann")
PERSON = {"schema": "Person", "document": {"name": "Zoe", "age": 30}}


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres").new_book())
    return "memory://" if request.param == "memory" else str(tmp_path / "book.db")


@pytest.fixture
async def opened(place: str) -> AsyncIterator[Book]:
    async with memoranda.open(place, worker=False, models=None) as book:
        yield book


@pytest.fixture
async def store(opened: Book) -> FormedMemories:
    for owner in ("ann", "ben"):
        await opened.remember(
            owner, f"{owner} bakes bread", applies_when="on Sundays", as_owner=True
        )
        await opened.profiles.put(owner, {"user_name": owner}, schema="User", as_owner=True)
    await opened.remember("ann", "Zoe is a sister", data=PERSON, as_owner=True)
    return FormedMemories(opened, InMemoryStore(), as_owner=True)


async def test_documents_and_notes_are_read_by_namespace_and_key(store: FormedMemories):
    document = await store.aget((*ANN, "User"), "User")
    assert (
        document is not None
        and document.value == {"user_name": "ann"}
        and document.namespace == (*ANN, "User")
    )
    (note,) = await store.asearch((*ANN, "Note"))
    assert note.value == {"content": "ann bakes bread", "context": "on Sundays"}
    (person,) = await store.asearch((*ANN, "Person"))
    assert person.value == PERSON["document"] and person.created_at <= person.updated_at
    again = await store.aget(person.namespace, person.key)
    assert again is not None and again.dict() == {
        k: v for k, v in person.dict().items() if k != "score"
    }
    assert await store.aget((*ANN, "Note"), person.key) is None
    assert await store.aget((*ANN, "Other"), "Other") is None
    assert await store.aget((*ANN, "Note"), "nothing") is None


async def test_a_search_ranks_notes_by_the_question_and_pages_through_all(store: FormedMemories):
    first, *others = await store.asearch(ANN, query="who is the sister?")
    assert first.value["name"] == "Zoe" and first.score is not None
    assert {one.namespace[-1] for one in others} >= {"User"}
    everything = await store.asearch(ANN)
    assert [one.key for one in everything] == [
        one.key for at in range(3) for one in await store.asearch(ANN, limit=1, offset=at)
    ]
    assert len(everything) == 3 and everything[-1].key == "User"


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({"age": {"$gte": 30}}, ["Person"]),
        ({"age": {"$gt": 30}}, []),
        ({"age": {"$lt": "31"}}, []),
        ({"name": "Zoe", "age": {"$ne": 31}}, ["Person"]),
        ({"user_name": {"$eq": "ann"}}, ["User"]),
        ({"user_name": True}, []),
        (None, ["Note", "Person", "User"]),
    ],
)
async def test_a_filter_compares_values_of_one_type(
    store: FormedMemories, filter: Any, found: list[str]
):
    assert sorted(one.namespace[-1] for one in await store.asearch(ANN, filter=filter)) == found


async def test_namespaces_are_listed_of_one_user(store: FormedMemories):
    held = [(*ANN, name) for name in ("Note", "Person", "User")]
    assert await store.alist_namespaces(prefix=ANN) == held
    assert await store.alist_namespaces(prefix=(*ANN, "*"), suffix=("User",)) == [(*ANN, "User")]
    assert await store.alist_namespaces(prefix=ANN, max_depth=2) == [ANN]
    assert await store.alist_namespaces(prefix=ANN, limit=1, offset=1) == held[1:2]
    assert await store.alist_namespaces(prefix=("memories", "nobody")) == []


@pytest.mark.parametrize(
    "op",
    [
        SearchOp(("memories",)),
        ListNamespacesOp((MatchCondition("prefix", ("memories", "*", "User")),)),
        GetOp(("memories",), "User"),
        PutOp(("memories",), "User", {"a": 1}),
    ],
)
async def test_no_operation_spans_users(store: FormedMemories, op: Any):
    with pytest.raises(NotAllowed, match="names no user"):
        await store.abatch([op])


async def test_what_the_person_sets_is_the_record_of_the_book(store: FormedMemories, opened: Book):
    await store.aput((*ANN, "User"), "User", {"user_name": "Anna"})
    assert await opened.profiles.get("ann", "User", as_owner=True) == {"user_name": "Anna"}
    (note,) = await store.asearch((*ANN, "Note"))
    await store.aput(note.namespace, note.key, {"content": "Bakes rolls", "context": ""})
    (changed,) = await store.asearch((*ANN, "Note"))
    assert changed.value == {"content": "Bakes rolls", "context": ""}
    assert [one.key for one in [await store.aget(note.namespace, note.key)] if one] == [changed.key]
    await store.aput((*ANN, "Person"), "my-key", {"name": "Max"})
    mine = await store.aget((*ANN, "Person"), "my-key")
    assert mine is not None and mine.value == {"name": "Max"}
    hits = await opened.recall("ann", "Max", as_owner=True)
    assert [hit.record.data["document"] for hit in hits if isinstance(hit.record, Memory)] == [
        {"name": "Max"}
    ]
    with pytest.raises(InvalidInput, match="content"):
        await store.aput((*ANN, "Note"), "x", {"text": "no"})
    with pytest.raises(InvalidInput, match="ttl"):
        await store.aput((*ANN, "Note"), "x", {"content": "no"}, ttl=5)
    with pytest.raises(InvalidInput, match="namespace"):
        await store.aput((*ANN, "Note", "deep"), "x", {"content": "no"})


async def test_what_is_deleted_is_out_of_every_read_and_stays_in_the_history(
    store: FormedMemories, opened: Book
):
    (note,) = await store.asearch((*ANN, "Note"))
    await store.adelete(note.namespace, note.key)
    await store.adelete((*ANN, "User"), "User")
    await store.adelete((*ANN, "Note"), "nothing")
    assert [one.namespace[-1] for one in await store.asearch(ANN)] == ["Person"]
    assert (
        await store.aget(note.namespace, note.key) is None
        and await store.aget((*ANN, "User"), "User") is None
    )
    assert [
        step.verb.value for step in await opened.records.history("ann", note.key, as_owner=True)
    ] == [
        "remember",
        "retract",
    ]
    assert [one.value for one in await store.asearch(("memories", "ben", "User"))] == [
        {"user_name": "ben"}
    ]


async def test_what_is_corrected_or_forgotten_in_the_book_is_so_in_the_store(
    store: FormedMemories, opened: Book
):
    (person,) = await store.asearch((*ANN, "Person"))
    newer = {"schema": "Person", "document": {"name": "Zoe", "age": 31}}
    await opened.update("ann", person.key, "Zoe is a sister of 31", data=newer, as_owner=True)
    held = await store.aget((*ANN, "Person"), person.key)
    assert held is not None and held.value["age"] == 31
    await opened.forget("ann", held.key, as_owner=True)
    for key in (held.key, person.key):
        assert await store.aget((*ANN, "Person"), key) is None
    assert await store.asearch((*ANN, "Person")) == []


async def test_other_namespaces_belong_to_the_other_store_also_in_one_batch(store: FormedMemories):
    results = await store.abatch(
        [
            PutOp(("files", "ann"), "a", {"x": 1}),
            GetOp((*ANN, "User"), "User"),
            PutOp((*ANN, "User"), "User", {"user_name": "first"}),
            PutOp((*ANN, "User"), "User", {"user_name": "last"}),
            GetOp((*ANN, "User"), "User"),
        ]
    )
    assert [one and one.value for one in results] == [
        None,
        {"user_name": "ann"},
        None,
        None,
        {"user_name": "ann"},
    ]
    read = await store.abatch([GetOp(("files", "ann"), "a"), GetOp((*ANN, "User"), "User")])
    assert [one.value for one in read if one] == [{"x": 1}, {"user_name": "last"}]


@pytest.mark.parametrize("user", ["ann'; --", "%", "ANN", "ann_", "ann/ben", "ännchen", "*ann"])
async def test_a_hostile_name_of_a_user_reads_nothing_of_another(store: FormedMemories, user: str):
    assert await store.asearch(("memories", user)) == []
    await store.aput(("memories", user, "User"), "User", {"user_name": "x"})
    assert await store.aget((*ANN, "User"), "User") is not None
    assert [one.value for one in await store.asearch((*ANN, "User"))] == [{"user_name": "ann"}]


async def test_a_view_reads_only_what_it_may(opened: Book, store: FormedMemories):
    await opened.remember("ann", "A secret of the coach", agent="coach")
    seen = FormedMemories(opened, InMemoryStore(), agent="guide")
    assert all("secret" not in str(one.value) for one in await seen.asearch(ANN))
    own = FormedMemories(opened, InMemoryStore(), agent="coach")
    assert any("secret" in str(one.value) for one in await own.asearch(ANN))


async def test_synchronous_calls_work_beside_the_loop_and_never_on_it(store: FormedMemories):
    with pytest.raises(asyncio.InvalidStateError):
        store.get((*ANN, "User"), "User")
    found = await asyncio.to_thread(store.get, (*ANN, "User"), "User")
    assert found is not None and found.value == {"user_name": "ann"}


@pytest.mark.parametrize("user", ["", "ann.ben", "ann\x1f", "ann\x00", "a" * 256])
async def test_a_name_that_no_user_can_have_is_refused(store: FormedMemories, user: str):
    with pytest.raises(ValueError, match=r"amespace|owner"):
        await store.aput(("memories", user, "User"), "User", {"user_name": "x"})
