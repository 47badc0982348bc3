"""Tests of correcting a memory by its id: the newer memory keeps each field that is not given."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda.model.memories import Memory


async def memory(book: memoranda.Book, id: object) -> Memory:
    found = await book.records.get("ana", id, as_owner=True)  # type: ignore[arg-type]
    assert isinstance(found, Memory)
    return found


async def test_an_update_supersedes_a_memory_and_keeps_what_is_not_given(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana", agent="helper")
    said = (await thread.append("user", "I live in Lisbon")).items[0].id
    first = await book.remember(
        "ana",
        "Lives in Boston",
        key="home",
        kind="context",
        subject="Ana",
        tags=["place"],
        applies_when="always",
        data={"city": "Boston"},
        sources=[said],
        pinned=True,
        agent="helper",
    )
    assert first.id is not None
    receipt = await book.update("ana", first.id, "Lives in Lisbon", agent="helper")
    newer, older = await memory(book, receipt.id), await memory(book, first.id)
    assert (older.status, older.superseded_by) == ("superseded", newer.id)
    assert (newer.content, newer.supersedes, newer.active) == ("Lives in Lisbon", (first.id,), True)
    for name in (
        "key",
        "kind",
        "subject",
        "tags",
        "applies_when",
        "cardinality",
        "pinned",
        "audience",
        "agent",
    ):
        assert getattr(newer, name) == getattr(older, name), name
    # What belonged to the words alone did not come along.
    assert (newer.data, newer.sources) == (None, ())
    # Undoing the update brings the older one back.
    await book.undo("ana", receipt.position, agent="helper")
    assert (await memory(book, first.id)).active and not (await memory(book, newer.id)).active


async def test_an_update_with_the_same_words_keeps_where_they_come_from(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana", agent="helper")
    said = (await thread.append("user", "I live in Lisbon")).items[0].id
    assert said is not None
    first = await thread.remember("Lives in Lisbon", sources=[said], data={"city": "Lisbon"})
    assert first.id is not None
    receipt = await book.update(
        "ana", first.id, "lives in Lisbon.", kind="context", key="home", agent="helper"
    )
    newer = await memory(book, receipt.id)
    assert (newer.kind, newer.key, newer.data) == ("context", "home", {"city": "Lisbon"})
    assert (newer.sources, newer.thread) == ((said,), thread.id)
    # So it is erased with them.
    await book.forget("ana", said, agent="helper")
    with pytest.raises(memoranda.NotFound):
        await memory(book, newer.id)


async def test_an_update_with_the_same_words_keeps_all_of_many_sources(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana", agent="helper")
    said = (await thread.append([{"role": "user", "content": "I live in Lisbon"}] * 180)).ids()
    first = await thread.remember("Lives in Lisbon", sources=said)
    assert first.id is not None
    receipt = await book.update("ana", first.id, "Lives in Lisbon", kind="context", agent="helper")
    assert receipt.id is not None
    older, newer = await memory(book, first.id), await memory(book, receipt.id)
    assert (older.source_count, newer.source_count) == (180, 180)
    assert (newer.sources[:3], newer.sources[-4:]) == (older.sources[:3], older.sources[-4:])
    why = await book.why("ana", receipt.id, agent="helper", limit=200)
    assert {source.id for source in why.sources} == set(said)
    # So it goes only with the last of them.
    await book.forget("ana", ids=said[1:], as_owner=True)
    assert (await memory(book, receipt.id)).sources == (said[0],)
    await book.forget("ana", ids=said[:1], as_owner=True)
    with pytest.raises(memoranda.NotFound):
        await memory(book, receipt.id)


async def test_an_update_gives_what_is_given_and_readers_as_asked(book: memoranda.Book) -> None:
    first = await book.remember(
        "ana", "Lives in Boston", tags=["a"], agent="helper", audience="global"
    )
    assert first.id is not None
    kept = await book.update("ana", first.id, "Lives in Porto", agent="other")
    assert (await memory(book, kept.id)).audience.kind == "global"
    assert kept.id is not None
    own = await book.update(
        "ana",
        kept.id,
        "Lives in Faro",
        tags=["b"],
        audience="self",
        agent="helper",
        operation="op-1",
    )
    newer = await memory(book, own.id)
    assert (newer.tags, newer.audience.agent) == (("b",), "helper")
    again = await book.update(
        "ana",
        kept.id,
        "Lives in Faro",
        tags=["b"],
        audience="self",
        agent="helper",
        operation="op-1",
    )
    assert (again.repeated, again.id) == (True, own.id)
    with pytest.raises(memoranda.OperationReused):
        await book.update("ana", kept.id, "Lives in Rome", agent="helper", operation="op-1")


async def test_an_operation_of_another_agent_does_not_excuse_an_update_of_what_is_superseded(
    book: memoranda.Book,
) -> None:
    first = await book.remember(
        "ana", "Lives in Boston", agent="helper", audience="global", operation="op"
    )
    await book.update("ana", first.id, "Lives in Lisbon", agent="helper")
    with pytest.raises(memoranda.Conflict, match="superseded already"):
        await book.update("ana", first.id, "Lives in Rome", agent="other", operation="op")


async def test_only_what_is_active_and_seen_can_be_updated(book: memoranda.Book) -> None:
    first = await book.remember("ana", "Lives in Boston", agent="helper")
    assert first.id is not None
    with pytest.raises(memoranda.NotFound):
        await book.update("ana", first.id, "Lives in Rome", agent="other")
    await book.update("ana", first.id, "Lives in Lisbon", agent="helper")
    with pytest.raises(memoranda.Conflict, match="superseded already"):
        await book.update("ana", first.id, "Lives in Rome", agent="helper")
    other = await book.remember("ana", "Has a dog", agent="helper")
    assert other.id is not None
    await book.memories.retract("ana", other.id, agent="helper")
    with pytest.raises(memoranda.Conflict, match="is retracted"):
        await book.update("ana", other.id, "Has a cat", agent="helper")
    with pytest.raises(memoranda.InvalidInput, match=r"^content:"):
        await book.update(
            "ana", (await book.remember("ana", "x", agent="helper")).id, "", agent="helper"
        )
    assert await book.records.count("ana", types="memory", as_owner=True) == 4


async def test_an_update_of_lower_trust_stays_beside_what_the_person_wrote(
    book: memoranda.Book,
) -> None:
    own = await book.remember(
        "ana", "Is allergic to nuts", as_owner=True, audience="global", pinned=True
    )
    assert own.id is not None
    receipt = await book.update("ana", own.id, "Is allergic to nothing", agent="bot")
    assert [part.code for part in receipt.ignored] == ["protected"]
    assert (await memory(book, own.id)).active and (
        await memory(book, receipt.id)
    ).disputes == own.id


def test_the_synchronous_book_updates_too(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db") as book:
        first = book.remember("ana", "Lives in Boston", key="home", agent="helper")
        assert first.id is not None
        book.update("ana", first.id, "Lives in Lisbon", agent="helper")
        (held,) = book.records.list(
            "ana", types="memory", only={"statuses": ["active"]}, agent="helper"
        )
        assert isinstance(held, Memory) and (held.content, held.key) == ("Lives in Lisbon", "home")
