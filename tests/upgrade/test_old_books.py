"""Tests that a file, a server's schema and an export of the version before the renaming can be opened and used."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

import memoranda
from memoranda import Book, Erased, NotFound, OperationReused
from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.testing.embedder import StubEmbedder
from tests.conftest import HandClock
from tests.engines.postgres_server import Place
from tests.upgrade.old_books import FILE, SERVER, Known, export_lines, put_file, put_schema


@dataclass
class Old:
    """An old book, opened by today's program."""

    book: Book
    known: Known


@pytest.fixture(params=["file", "server", "export"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Return the kind of old book to open, and its address."""
    if request.param == "server":
        found: Place = request.getfixturevalue("database")
        return request.param, found.url
    return request.param, str(tmp_path / "book.db")


@pytest.fixture
async def old(place: tuple[str, str], clock: HandClock) -> AsyncIterator[Old]:
    clock.advance(days=2)
    what, address = place
    if what == "file":
        put_file(Path(address))
    elif what == "server":
        await put_schema(address)
    async with memoranda.open(address, clock=clock, embed=StubEmbedder(), worker=False) as book:
        if what == "export":
            report = await book.import_(export_lines())
            assert (report.errors, report.adopted) == ([], 3)
            await book.embed()
            # Conversations that were imported are formed after a silence.
            clock.advance(hours=1)
        yield Old(book, SERVER if what == "server" else FILE)
        assert (await book.verify()).faults == ()


async def test_what_an_old_book_holds_is_recalled(old: Old):
    hits = await old.book.recall("ana", "Where does she live?", agent="helper")
    found = {hit.id for hit in hits}
    assert old.known.id("boston") in found
    # Superseded, undone, forgotten.
    assert not found & {old.known.id(name) for name in ("york", "jazz", "gone")}
    (first, *_) = await old.book.recall("ana", "vegetarian food", agent="helper")
    assert first.id == old.known.id("said")
    assert [hit.id for hit in await old.book.recall("ben", "coffee", agent="helper")] == [old.known.id("ben")]


async def test_what_an_old_book_did_is_undone(old: Old):
    await old.book.undo("ana", old.known.position("boston"), agent="helper")
    statuses = {}
    for name in ("york", "boston"):
        memory = await old.book.get("ana", old.known.id(name), agent="helper")
        assert isinstance(memory, Memory)
        statuses[name] = memory.status
    assert statuses["york"] == "active" != statuses["boston"]


async def test_what_an_old_book_holds_is_forgotten(old: Old):
    receipt = await old.book.forget("ana", ids=[old.known.id("choir")], agent="helper")
    assert old.known.id("choir") in receipt.ids
    assert all("choir" not in hit.text for hit in await old.book.recall("ana", "choir", agent="helper"))
    await old.book.forget("ana", everything=True, view="owner")
    assert await old.book.recall("ana", "Boston vegetarian cello", agent="helper") == []
    assert [hit.id for hit in await old.book.recall("ben", "coffee", agent="helper")] == [old.known.id("ben")]


async def test_a_memory_of_an_old_book_is_confirmed_many_times_and_forgotten_with_its_last_source(old: Old):
    thread = await old.book.thread("ana", agent="helper")
    said = [(await thread.append("user", f"I sing in a choir, {n}")).id for n in range(12)]
    choir = old.known.id("choir")
    for message in said:
        await old.book.confirm("ana", choir, sources=[message], agent="helper")
    why = await old.book.why("ana", choir, agent="helper", limit=3)
    assert isinstance(why.record, Memory)
    assert why.source_count == why.record.source_count >= 12 > len(why.record.sources) == 8
    first = [source for source in why.record.sources if source not in said]
    receipt = await old.book.forget("ana", ids=said[1:], view="owner")
    assert choir in receipt.kept
    await old.book.forget("ana", ids=[said[0], *first], view="owner")
    with pytest.raises(NotFound):
        await old.book.get("ana", choir, agent="helper")


async def test_a_request_that_an_old_book_carried_out_is_still_the_same_request(old: Old):
    again = await old.book.remember("ana", "Plays the cello", agent="helper", operation="cello")
    assert (again.repeated, again.id, again.position) == (
        True,
        old.known.id("cello"),
        old.known.position("cello"),
    )
    with pytest.raises(OperationReused):
        await old.book.remember("ana", "Plays the viola", agent="helper", operation="cello")
    thread = await old.book.thread("ana", agent="helper", id=old.known.thread("helper"))
    text = "I moved to Boston, and I only eat vegetarian food."
    assert (await thread.append("user", text, operation="said")).repeated
    assert len((await thread.messages()).records) == 3


async def test_an_agent_whose_formation_an_old_book_has_off_stays_off(old: Old):
    agent = await old.book.agents.get("waiter")
    assert agent is not None and agent.settings == {"forming": {"on": False}}
    await old.book.worker.drain()
    thread = await old.book.thread("ana", agent="waiter", id=old.known.thread("waiter"))
    assert (await thread.get()).formed_through == 0
    assert all("walnut" not in hit.text for hit in await old.book.recall("ana", "walnuts", types="memory"))


async def test_what_an_old_book_put_down_for_later_is_done(old: Old):
    await old.book.worker.drain()
    thread = await old.book.thread("ana", agent="helper", id=old.known.thread("helper"))
    assert (await thread.get()).formed_through == 3


async def test_profiles_and_episodes_of_an_old_book_are_there(old: Old):
    shown = await old.book.profile.get("ana", agent="helper")
    assert shown["name"] == "Ana" and "Boston" in shown["home"]
    assert sum((await old.book.profile.bring_over()).values()) == 2
    assert await old.book.profile.get("ana", agent="helper") == {"name": "Ana", "home": "Boston"}
    page = await old.book.list("ana", types="profile", view="owner")
    assert [one.body for one in page if isinstance(one, ProfileDocument)] == [{}]
    (episode,) = await old.book.episodes(
        "ana", like="vegetarian restaurant", outcome="succeeded", agent="helper"
    )
    assert episode.id == old.known.id("episode")


async def test_what_was_forgotten_in_an_old_book_does_not_come_back(old: Old):
    with pytest.raises((NotFound, Erased)):
        await old.book.why("ana", old.known.id("gone"), agent="helper")
    report = await old.book.import_(export_lines())
    assert report.records["memory"] == 0 or old.known is SERVER
    assert all("Acme" not in hit.text for hit in await old.book.recall("ana", "Acme", agent="helper"))
