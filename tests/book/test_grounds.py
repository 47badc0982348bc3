"""Derived records keep their sources, and are deleted with them, as users see it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

import memoranda
from memoranda.book.admin.retention import RETAIN, Retention, first_retention, retaining
from memoranda.model.changes import JobState, MarkFormed, PatchProfile, Remember
from memoranda.model.ledger import Actor
from memoranda.model.memories import Cited, Memory
from memoranda.model.records import EVERYONE, WHOLE, Owner
from memoranda.model.values import new_id
from memoranda.testing.clock import HandClock
from memoranda.worker import Worker

ANA = Owner(id="ana")


async def test_why_tells_what_a_profile_rests_on_now(book: memoranda.Book) -> None:
    thread = await book.thread("ana")
    first = await thread.append("user", "I live in Rome")
    second = await thread.append("user", "I moved to Bonn")
    for town, said in (("Rome", first), ("Bonn", second)):
        change = PatchProfile(new_id(), "Profile", EVERYONE, {"town": town}, sources=said.ids())
        receipt = await book._services.door.write(
            ANA, WHOLE, Actor("system"), [change], request=[town], operation=town
        )
    why = await book.why("ana", receipt.id)
    assert [source.quote for source in why.sources] == ["I moved to Bonn"]
    await book.forget("ana", second.id, as_owner=True)
    assert await book.profiles.documents("ana") == []


async def test_a_message_leaves_after_its_days_and_the_memory_is_still_explained_with_its_quote(
    tmp_path: Path, clock: HandClock
) -> None:
    async with memoranda.open(tmp_path / "book.db", clock=clock) as book:
        thread = await book.thread("ana")
        said = (
            await thread.append("user", "I drink canaryword tea, and only in the morning")
        ).ids()[0]
        late = (await thread.append("user", "I am not formed yet")).ids()[0]
        quotes = (Cited(message=said, quote="only in the morning"),)
        memory = Memory(
            id=new_id(), owner=ANA, content="Drinks tea in the morning", observed_at=clock.now,
            sources=(said,), quotes=quotes,
        )  # fmt: skip
        await book._services.door.write(
            ANA, WHOLE, Actor("system"), [Remember(memory), MarkFormed(thread.id, 1)], request=[]
        )
        week = Retention(messages_days=7)
        clock.advance(days=6)
        (young,) = (await thread.append("user", "I am young")).ids()
        await book._services.door.write(
            ANA, WHOLE, Actor("system"), [MarkFormed(thread.id, 1)], request=[]
        )
        worker = Worker(
            book.engine, {RETAIN: retaining(book.engine, book.door, "default", week)}, clock
        )
        await book.engine.put(first_retention(), clock())
        assert await worker.drain() == 1
        assert said in {message.id for message in await thread.newest()}
        clock.advance(days=2)
        assert await worker.drain() == 1
        assert [message.id for message in await thread.newest()] == [late, young]
        # Another day comes, whatever this one did.
        assert (await worker.drain(), len(await book.engine.jobs(JobState.WAITING, 10)) > 0) == (
            0,
            True,
        )
        why = await book.why("ana", memory.id)
        assert [(source.id, source.quote, source.gone) for source in why.sources] == [
            (said, "only in the morning", True)
        ]
        assert (await book.admin.verify()).faults == ()
        assert (await book.admin.scrub()).complete
    for path in tmp_path.iterdir():
        assert b"canaryword" not in path.read_bytes(), path.name


async def test_without_a_limit_no_message_leaves_and_no_other_day_is_put(
    book: memoranda.Book, clock: HandClock
) -> None:
    thread = await book.thread("ana")
    await thread.append("user", "tea")
    await book._services.door.write(
        ANA, WHOLE, Actor("system"), [MarkFormed(thread.id, 1)], request=[]
    )
    clock.advance(days=9999)
    await book.engine.put(first_retention(), clock())
    worker = Worker(
        book.engine, {RETAIN: retaining(book.engine, book.door, "default", Retention())}, clock
    )
    assert await worker.drain() == 1
    assert len(await thread.newest()) == 1
    assert RETAIN not in {job.kind for job in await book.engine.jobs(None, 10)}


async def test_a_limit_is_a_number_of_days() -> None:
    for days in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValidationError):
            Retention(messages_days=days)


async def test_a_source_that_was_undone_is_not_said_to_have_left(book: memoranda.Book) -> None:
    tried = await book.episodes.record(
        "ana", goal="Book a table", summary="Nobody answers mail", outcome="failed"
    )
    learnt = await book.remember("ana", "Books by telephone", sources=[tried.id])
    await book.undo("ana", learnt.position)
    await book.undo("ana", tried.position)
    assert (await book.why("ana", learnt.id)).sources == ()
