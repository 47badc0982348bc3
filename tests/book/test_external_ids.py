"""External ids: documents of another store are stored under the ids that they have there, by one
call each.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

import memoranda
from memoranda.errors import Conflict, InvalidInput, NotFound
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode

AT = datetime(2026, 4, 29, 14, 1, tzinfo=UTC)
ME = "user_9921"
#: The documents as they are printed; only dates are Python's, and fields of the other store's own
#: are left out.
EPISODE: dict[str, Any] = {
    "episode_id": "ep_20260429_xk92",
    "thread_id": "thread_abc123",
    "user_id": ME,
    "summary": "Looked up refund status for order #8842. Confirmed refund is processing, ETA 3-5 business days.",
    "tool_calls": [
        {
            "tool": "lookup_order",
            "inputs": {"order_id": "8842"},
            "output": {"status": "refund_processing", "eta_days": 5},
            "success": True,
            "called_at": AT.replace(second=5),
        }
    ],
    "outcome": "succeeded",
    "tags": ["refund", "order-lookup"],
    "started_at": AT,
    "ended_at": AT.replace(second=8),
}
MEMORY: dict[str, Any] = {
    "memory_id": "mem_u9921_0047",
    "user_id": ME,
    "type": "preference",
    "content": "User prefers distances and weights in metric units.",
    "source_episode_id": "ep_20260429_xk92",
    "created_at": datetime(2026, 4, 1, 9, 15, tzinfo=UTC),
}


async def stored(book: memoranda.Book, **who: Any) -> memoranda.ThreadHandle:
    """Store the three documents."""
    thread = await book.thread(ME, name=EPISODE["thread_id"], **who)
    await thread.append(
        {"role": "user", "content": "Where is my refund?", "observed_at": AT, "token_count": 5}
    )
    own = {
        name: EPISODE[name]
        for name in EPISODE
        if name not in ("episode_id", "thread_id", "user_id")
    }
    await book.episodes.record(
        ME, external_id=EPISODE["episode_id"], thread=EPISODE["thread_id"], **own, **who
    )
    await book.remember(
        ME,
        MEMORY["content"],
        external_id=MEMORY["memory_id"],
        kind=MEMORY["type"],
        sources=[MEMORY["source_episode_id"]],
        observed_at=MEMORY["created_at"],
        **who,
    )
    return thread


async def read(book: memoranda.Book, id: Any, **who: Any) -> Any:
    """Return a record of any type."""
    return await book.records.get(ME, id, **who)


async def test_documents_of_another_store_are_stored_by_one_call_each_and_found_by_their_own_ids(
    book: memoranda.Book,
) -> None:
    thread = await stored(book, agent="support")
    episode = await book.records.get(ME, "ep_20260429_xk92", agent="support")
    assert isinstance(episode, Episode) and episode.thread == thread.id
    for name in ("summary", "outcome", "started_at", "ended_at"):
        assert getattr(episode, name) == EPISODE[name]
    assert (episode.goal, list(episode.tags)) == ("", EPISODE["tags"])
    assert episode.tool_calls[0].model_dump(exclude={"cut"}) == EPISODE["tool_calls"][0]
    memory = await book.records.get(ME, "mem_u9921_0047", agent="support")
    assert isinstance(memory, Memory)
    assert (memory.kind, memory.observed_at, memory.sources) == (
        "preference",
        MEMORY["created_at"],
        (episode.id,),
    )
    why = await book.why(ME, "mem_u9921_0047", agent="support")
    assert [source.id for source in why.sources] == [episode.id]
    assert (await book.thread(ME, id="thread_abc123", agent="support")).id == thread.id
    (hit,) = await book.recall(ME, "metric units", agent="support", types="memory")
    assert cast(Memory, hit.record).external_id == "mem_u9921_0047"
    context = await book.context(ME, "which units?", thread="thread_abc123", agent="support")
    assert "metric units" in context.text and "Where is my refund?" in context.text


async def test_every_verb_takes_an_external_id_where_it_takes_an_id(book: memoranda.Book) -> None:
    await stored(book, agent="a")
    who: dict[str, Any] = {"agent": "a"}
    mem, ep, chat = "mem_u9921_0047", "ep_20260429_xk92", "thread_abc123"
    assert len(await book.records.history(ME, mem, **who)) == 1
    assert await book.records.count(ME, types="message", only={"thread": chat}, **who) == 1
    assert len(await book.records.list(ME, types="episode", only={"thread": chat}, **who)) == 1
    assert len(await book.recall(ME, "refund", only={"thread": chat}, types="message", **who)) == 1
    found = await book.recall(ME, "refund", explain=[mem], limit=1, **who)
    assert [one.id for one in found.missing] == [(await book.records.get(ME, mem, **who)).id]
    assert await book.episodes.overflow(ME, ep, **who) is None
    assert await book.memories.mark_used(ME, [mem], **who) == 1
    await book.memories.amend(ME, mem, {"tags": ["units"]}, **who)
    await book.memories.confirm(ME, mem, sources=[ep], **who)
    new = await book.update(
        ME, mem, "User prefers metric units, and Celsius.", external_id="mem_48", **who
    )
    assert (await read(book, mem, **who)).superseded_by == new.id
    await book.remember(
        ME, "User likes Celsius.", external_id="mem_49", supersedes=["mem_48"], thread=chat, **who
    )
    await book.memories.remember_all(
        ME,
        [
            {"content": "one", "sources": (ep,)},
            {"content": "User likes Kelvin.", "external_id": "mem_50"},
        ],
        **who,
    )
    await book.memories.supersede(ME, "mem_49", "mem_50", **who)
    assert (await read(book, "mem_49", **who)).status == "superseded"
    await book.memories.share(ME, "mem_50", "global", **who)
    await book.memories.retract(ME, "mem_50", **who)
    assert (await read(book, "mem_50", **who)).status == "retracted"
    faulty = await book.memories.retract_source(ME, ep, **who)
    assert faulty.ids("memory")
    await book.experience.add("a", "heuristics", "Say the units", evidence={ME: [mem, ep]})
    closing = await book.thread(ME, **who)
    await closing.close(
        "completed", episode={"goal": "g", "external_id": "ep_2", "sources": [ep], "thread": None}
    )
    assert (await read(book, "ep_2", **who)).sources == (
        (await book.records.get(ME, ep, **who)).id,
    )
    gone = await book.forget(ME, [mem, "ep_2"], **who)
    assert len(gone.ids) == 2
    with pytest.raises(NotFound, match=mem):
        await book.records.get(ME, mem, **who)


async def test_ids_to_supersede_that_no_memory_has_are_ignored_and_named(
    book: memoranda.Book,
) -> None:
    who: dict[str, Any] = {"agent": "a"}
    await book.remember("ben", "of another owner", external_id="mem_of_ben", audience="global")
    await book.remember(ME, "of another agent", external_id="mem_of_b", agent="b")
    await book.thread(ME, name="chat", **who)
    old = await book.remember(ME, "User likes tea.", external_id="mem_1", **who)
    given: list[Any] = ["abc-123", "mem_of_ben", "mem_1", "mem_of_b", "chat"]
    statements: list[dict[str, Any]] = [
        {"content": "User has a cat."},
        {"content": "User likes rum.", "supersedes": given},
    ]
    receipt = await book.memories.remember_all(ME, statements, operation="once", **who)
    assert [(part.item, part.code, part.id, part.name) for part in receipt.ignored] == [
        (1, "unknown", None, name) for name in given if name != "mem_1"
    ]
    assert (await read(book, old.id, **who)).superseded_by == receipt.ids()[1]
    # A name that a memory has got since is told as it was, when the same operation comes again.
    await book.remember(ME, "User likes gin.", external_id="abc-123", **who)
    again = await book.memories.remember_all(ME, statements, operation="once", **who)
    assert again.repeated and again.ignored == receipt.ignored
    one = await book.remember(ME, "User likes ale.", supersedes=["invented"], **who)
    assert [part.name for part in one.ignored] == ["invented"]
    new = await book.update(
        ME, one.id, "User likes cider.", supersedes=["invented", "mem_1"], **who
    )
    assert [(part.code, part.name) for part in new.ignored] == [
        ("unknown", "invented"),
        ("superseded", None),
    ]
    thread = await book.thread(ME, name="chat", **who)
    assert [
        part.name
        for part in (await thread.remember("User likes stout.", supersedes=["inv"])).ignored
    ] == ["inv"]
    for entry in await book.records.ledger(ME, as_owner=True):
        assert "inv" not in str(entry.ignored) and "abc-123" not in str(entry.ignored)
    with pytest.raises(NotFound, match="abc"):
        await book.remember(ME, "said nowhere", sources=["abc"], **who)


async def test_an_external_id_like_a_uuid_is_refused_with_the_cure(book: memoranda.Book) -> None:
    for wrong in (
        "6f1c0b4e-3a39-4bd1-9df0-3b8a4b0c0d1e",
        "6F1C0B4E3A394BD19DF03B8A4B0C0D1E",
        "{6f1c0b4e-3a39-4bd1-9df0-3b8a4b0c0d1e}",
    ):
        with pytest.raises(InvalidInput, match="letters before it") as refused:
            await book.remember(ME, "x", external_id=wrong)
        assert refused.value.field == "statements[0].external_id"
        with pytest.raises(InvalidInput, match="letters before it"):
            await book.episodes.record(ME, summary="x", outcome="failed", external_id=wrong)
    others: list[Any] = ["", "two\nlines", "x" * 256, 7]
    for wrong in others:
        with pytest.raises(InvalidInput):
            await book.remember(ME, "x", external_id=wrong)


async def test_a_second_record_with_the_same_external_id_is_a_conflict_that_names_the_first(
    book: memoranda.Book,
) -> None:
    first = await book.remember(ME, "Likes tea", external_id="m1", operation="once")
    with pytest.raises(Conflict, match=str(first.id)):
        await book.remember(ME, "Likes tea", external_id="m1")
    assert (await book.remember(ME, "Likes tea", external_id="m1", operation="once")).id == first.id
    await book.remember(ME, "Likes tea", external_id="m1", agent="a")
    assert (await book.records.get(ME, "m1")).id == first.id
    with pytest.raises(Conflict, match="UUID"):
        await book.records.get(ME, "m1", agent="a")
    with pytest.raises(Conflict, match="UUID"):
        await book.forget(ME, "m1", as_owner=True)
    assert await book.records.count(ME, types="memory", as_owner=True) == 2


async def test_a_name_that_nobody_has_is_not_found_and_writes_nothing(book: memoranda.Book) -> None:
    await book.remember(ME, "Likes tea", external_id="m1", agent="a")
    for call in (
        book.records.get(ME, "m2", agent="a"),
        book.records.get(ME, "m1", agent="b"),
        book.records.get("somebody else", "m1", agent="a"),
        book.thread(ME, id="m1", agent="a"),
        book.remember(ME, "x", sources=["m2"], agent="a"),
        book.remember(ME, "x", thread="m1", agent="a"),
        book.update(ME, "m2", "x", agent="a"),
        book.forget(ME, ["m1", "m2"], agent="a"),
    ):
        with pytest.raises(NotFound):
            await call
    assert await book.records.count(ME, as_owner=True) == 1


def test_the_synchronous_book_takes_external_ids(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "b.db") as book:
        thread = book.thread(ME, name="chat-1")
        thread.append("user", "I like tea")
        thread.remember("Likes tea", external_id="m1")
        book.episodes.record(
            ME, summary="Made tea", outcome="succeeded", external_id="e1", thread="chat-1"
        )
        assert cast(Memory, book.records.get(ME, "m1")).thread == book.thread(ME, id="chat-1").id
        assert [source.id for source in book.why(ME, "e1").sources] == [thread.id]
        assert len(book.forget(ME, ["m1", "e1"], what="record", as_owner=True).ids) == 2


@pytest.mark.parametrize("field", ["supersedes", "sources"])
async def test_one_call_looks_up_at_most_1000_names(book: memoranda.Book, field: str) -> None:
    names = [f"name {number}" for number in range(1001)]
    with pytest.raises(InvalidInput, match=f"{field}: it has 1001 names of records; at most 1000"):
        await book.remember("ana", "likes tea", **{field: names})  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="ids: it has 1001 names of records; at most 1000"):
        await book.forget("ana", names)
