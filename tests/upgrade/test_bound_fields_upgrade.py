"""Tests of earlier books whose documents contain bound fields: reads are right, and the fields are moved once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda import Book
from memoranda.model.changes import PatchProfile
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import WHOLE, Audience, Owner
from memoranda.model.values import new_id
from tests.conftest import HandClock
from tests.engines.postgres_server import Place
from tests.formation.books import opened, settle

ANA = Owner(tenant="default", id="ana")
FOR_GUIDE = Audience.of_agent("guide")


@pytest.fixture(params=["memory", "sqlite", "server"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a book on every engine."""
    if request.param == "server":
        place: Place = request.getfixturevalue("database")
        return place.url
    return "memory://" if request.param == "memory" else str(tmp_path / "book.db")


@pytest.fixture
async def old(where: str, clock: HandClock) -> AsyncIterator[Book]:
    """A book into which the tests put documents as an earlier version stored them."""
    async with opened(where, clock) as book:
        yield book
        assert (await book.verify()).faults == ()


async def stored(
    book: Book, fields: dict[str, Any], *, pin: bool = False, sources: tuple[UUID, ...] = ()
) -> None:
    """Store fields in the document itself, as an earlier version did."""
    owner = Owner(tenant=book.tenant, id="ana")
    change = PatchProfile(new_id(), "Profile", FOR_GUIDE, fields, pin=pin, sources=sources)
    await book.door.write(owner, WHOLE, Actor("system"), [change], request=[])


async def profile(book: Book) -> dict[str, Any]:
    return await book.profile.get("ana", agent="guide")


async def memories(book: Book) -> list[Memory]:
    page = await book.list("ana", types="memory", only={"statuses": ["active"]}, view="owner")
    return [one for one in page if isinstance(one, Memory)]


async def bodies(book: Book) -> list[dict[str, Any]]:
    page = await book.list("ana", types="profile", view="owner")
    return [one.body for one in page if isinstance(one, ProfileDocument)]


async def test_a_field_of_an_old_book_becomes_the_memory_that_says_it(old: Book, clock: HandClock) -> None:
    thread = await old.thread("ana", agent="guide")
    said = (await thread.append("user", "I live in Boston, and I like tea.")).items[0].id
    held = await old.remember("ana", "Lives in Boston", key="home", sources=[said], agent="guide")
    await stored(old, {"home": "Boston", "interests": ["tea"]}, sources=(said,))
    await stored(old, {"name": "Ana"}, pin=True)
    before = {"home": "Boston", "name": "Ana", "interests": ["tea"]}
    assert await profile(old) == before

    assert await old.profile.bring_over() == {"one": 1, "field": 1}
    assert await profile(old) == before and await bodies(old) == [{"interests": ["tea"]}]
    by_key = {one.key: one for one in await memories(old) if one.key}
    assert by_key["home"].id == held.id and by_key["home"].data == {"value": "Boston"}
    assert by_key["name"].pinned and by_key["name"].data == {"value": "Ana"}
    # Once is enough; the ledger's entry says what became of the fields, and an undo brings them back.
    assert await old.profile.bring_over() == {}
    owner = Owner(tenant=old.tenant, id="ana")
    (entry,) = [one for one in await old.engine.entries(owner, 0, 100) if "bound_fields" in one.note]
    assert entry.note["bound_fields"] == {"one": 1, "field": 1}
    await old.undo("ana", entry.position, view="owner")
    assert await profile(old) == before
    # Forgetting the message takes the memory, and so the field.
    assert await old.profile.bring_over("ana") == {"one": 1, "field": 1}
    await old.forget("ana", [said], view="owner")
    assert await profile(old) == {"name": "Ana"}


async def test_where_they_differ_what_a_person_set_stands_then_higher_trust_then_the_newer(
    old: Book, clock: HandClock
) -> None:
    for key in ("home", "name", "occupation"):
        await old.remember("ana", f"{key} of the memory", key=key, agent="guide", trust="user")
    await old.remember("ana", "occupation from a page", key="occupation", agent="guide", trust="tool")
    clock.advance(seconds=1)
    await stored(old, {"home": "pinned"}, pin=True)
    await stored(old, {"name": "newer"})
    clock.advance(seconds=1)
    await old.remember("ana", "Is 35 years old", key="age", agent="guide", trust="user", data={"value": 35})
    await old.remember("ana", "Home, said later", key="other", agent="guide")
    shown = await profile(old)
    assert (shown["home"], shown["name"], shown["age"]) == ("pinned", "newer", 35)
    assert await old.profile.bring_over() == {"field": 2}
    assert await profile(old) == shown
    standing = {one.key: one.data for one in await memories(old)}
    assert standing["home"] == {"value": "pinned"} and standing["name"] == {"value": "newer"}
    # What lost is superseded, and in the history.
    page = await old.list("ana", types="memory", only={"keys": ["home"]}, view="owner")
    assert [one.status for one in page if isinstance(one, Memory)] == ["superseded", "active"]


async def test_a_field_whose_memory_was_corrected_since_is_not_brought_back(
    old: Book, clock: HandClock
) -> None:
    thread = await old.thread("ana", agent="guide")
    said = (await thread.append("user", "I live in Boston.")).items[0].id
    await old.remember("ana", "Lives in Boston", key="home", sources=[said], agent="guide")
    await stored(old, {"home": "Boston"}, sources=(said,))
    clock.advance(seconds=1)
    moved = await old.remember("ana", "Lives in Lisbon", key="home", agent="guide")
    assert await profile(old) == {"home": "Lives in Lisbon"}
    assert "Boston" not in (await old.context("ana", types=["profile", "memory"], agent="guide")).text
    await old.retract("ana", moved.id, agent="guide")
    assert await profile(old) == {}
    assert await old.profile.bring_over() == {"ended": 1}
    assert await profile(old) == {} and await bodies(old) == [{}]


async def test_forming_brings_an_owner_over_and_what_is_said_then_corrects_it(
    old: Book, clock: HandClock
) -> None:
    await stored(old, {"home": "Boston"})
    thread = await old.thread("ana", agent="guide")
    clock.advance(seconds=1)
    await thread.append("user", "I moved to Porto.")
    await settle(old, clock)
    assert await profile(old) == {"home": "Porto"} and await bodies(old) == [{}]


async def test_a_pass_that_was_stopped_is_done_again_without_a_trace(old: Book, clock: HandClock) -> None:
    await stored(old, {"home": "Boston"})
    await old.profile.patch("ben", {"interests": ["tea"]}, view="owner")
    real = old.door.write

    async def killed(*args: Any, **how: Any) -> Any:
        raise RuntimeError("stopped")

    object.__setattr__(old.door, "write", killed)
    with pytest.raises(RuntimeError):
        await old.profile.bring_over()
    object.__setattr__(old.door, "write", real)
    assert await profile(old) == {"home": "Boston"} and await bodies(old) == [{"home": "Boston"}]
    assert await old.profile.bring_over() == {"field": 1}
    assert [one.data for one in await memories(old)] == [{"value": "Boston"}]


async def test_a_person_edits_a_field_of_an_old_document(old: Book) -> None:
    await stored(old, {"home": "Boston", "name": "Ana"}, pin=True)
    refused = await old.profile.patch("ana", {"home": "Rome"}, agent="guide")
    assert ("pinned", "home") in [(part.code, part.field) for part in refused.ignored]
    await old.profile.patch("ana", {"home": "Lisbon"}, unset=["name"], audience=FOR_GUIDE, view="owner")
    assert await profile(old) == {"home": "Lisbon"} and await bodies(old) == [{}]
