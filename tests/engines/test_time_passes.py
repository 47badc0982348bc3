"""Tests that reads leave out ended and expired records from that moment on, on every engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

import memoranda
from memoranda import Book
from memoranda.book.input import Only
from memoranda.errors import Busy, InvalidInput, LimitReached, NotAllowed, NotFound
from memoranda.model.memories import Memory
from memoranda.model.records import Limits
from tests.engines.mongo_server import MongoPlace
from tests.engines.postgres_server import Place

START = datetime(2025, 3, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
MOMENT = timedelta(microseconds=1)


class Hands:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Hands:
    """The clock of the book."""
    return Hands()


@pytest.fixture(params=["memory", "sqlite", "postgres", "mongo"])
def address(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The address of a new book, of each engine."""
    if request.param == "postgres":
        pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")
        place: Place = request.getfixturevalue("postgres")
        return place.new_book()
    if request.param == "mongo":
        there: MongoPlace = request.getfixturevalue("mongo")
        return there.new_book()
    return "memory://" if request.param == "memory" else str(tmp_path / "book.db")


@pytest_asyncio.fixture
async def book(address: str, clock: Hands) -> AsyncIterator[Book]:
    """A book on each engine."""
    async with memoranda.open(address, clock=clock, worker=False, embed=None) as book:
        yield book
        assert (await book.admin.verify()).faults == ()


async def recalled(book: Book, question: str, **only: Any) -> list[str]:
    """Return the texts of the hits, in order of the alphabet."""
    return sorted(hit.text for hit in await book.recall("ana", question, only=cast(Only, only)))


async def test_a_memory_is_recalled_until_it_ends_and_then_only_if_asked_for(
    book: Book, clock: Hands
):
    trip = await book.remember("ana", "Ana is in Rome", kind="context", valid_to=START + DAY)
    await book.remember("ana", "Ana lives in Bonn")
    await book.remember(
        "ana", "Ana will bring maps of Rome", kind="commitment", valid_to=START + DAY
    )
    owed, rome, bonn = "Ana will bring maps of Rome", "Ana is in Rome", "Ana lives in Bonn"
    clock.now = START + DAY - MOMENT
    assert await recalled(book, "Ana Rome Bonn") == [rome, bonn, owed]
    clock.now = START + DAY
    assert await recalled(book, "Ana Rome Bonn") == [bonn, owed]
    assert rome not in (await book.context("ana", "Ana Rome Bonn")).text
    assert await recalled(book, "Ana Rome", as_of=START) == [rome, bonn, owed]
    assert await recalled(book, "Ana Rome", include_ended=True) == [rome, bonn, owed]
    for mode in ("recent", "most_used"):
        assert rome not in [hit.text for hit in await book.recall("ana", "Ana", mode=mode)]
    found = await book.recall("ana", "Ana Rome", explain=trip.id)
    assert "include_ended" in found.missing[0].reason
    # Reads that name records, or list them, still show it.
    assert isinstance(await book.records.get("ana", trip.id), Memory)
    assert (
        len((await book.records.list("ana", types="memory")).records)
        == 3
        == await book.records.count("ana")
    )
    assert (await book.why("ana", trip.id)).record.id == trip.id
    assert len(await book.records.history("ana", trip.id)) == 1


async def test_a_superseded_memory_is_recalled_by_its_status_although_its_time_has_ended(
    book: Book, clock: Hands
):
    await book.remember("ana", "Ana lives in Bonn", key="town")
    clock.now += DAY
    await book.remember("ana", "Ana lives in Rome", key="town")
    assert await recalled(book, "where does Ana live") == ["town: Ana lives in Rome"]
    assert await recalled(book, "where does Ana live", statuses=["superseded"]) == [
        "town: Ana lives in Bonn"
    ]


async def drained(book: Book) -> None:
    """Run all due jobs of the book."""
    await book.jobs.run()


async def test_what_expires_is_out_of_every_read_at_that_moment_and_then_erased(
    book: Book, clock: Hands
):
    code = (
        await book.remember("ana", "Ana has the code 7321", kind="context", expires_at=START + DAY)
    ).id
    run = (
        await book.episodes.record(
            "ana", summary="Ana asked for the code", outcome="succeeded", expires_at=START + DAY
        )
    ).id
    stays = (await book.remember("ana", "Ana lives in Bonn")).id
    clock.now = START + DAY - MOMENT
    assert {hit.id for hit in await book.recall("ana", "Ana code")} == {code, run, stays}
    assert await book.records.count("ana") == 3
    assert "7321" in (await book.context("ana", "Ana code")).text
    clock.now = START + DAY
    asked: list[Only] = [{}, {"as_of": START}, {"known_at": START}, {"include_ended": True}]
    for only in asked:
        assert {hit.id for hit in await book.recall("ana", "Ana code", only=only)} == {stays}
    for mode in ("recent", "most_used"):
        assert {hit.id for hit in await book.recall("ana", "Ana", mode=mode)} == {stays}
    assert [record.id for record in await book.records.list("ana")] == [stays]
    assert await book.records.count("ana") == 1 == (await book.about("ana", as_owner=True)).total
    assert "7321" not in (await book.context("ana", "Ana code")).text
    for id in (code, run):
        for read in (book.records.get, book.why, book.records.history):
            with pytest.raises(NotFound):
                await read("ana", id)
        with pytest.raises(NotFound):
            await book.memories.amend("ana", id, {"expires_at": None})
    # It is still there for forgetting and exports, until upkeep erases it.
    assert str(code) in "".join([line async for line in book.admin.export("ana")])
    clock.now = START + DAY + timedelta(hours=1)
    await drained(book)
    assert str(code) not in "".join([line async for line in book.admin.export("ana")])
    assert [entry.lines[0].verb for entry in await book.records.ledger("ana", as_owner=True)][
        -1
    ] == "erase"
    assert (await book.records.get("ana", stays)).id == stays


async def test_a_kind_has_a_time_to_live_that_begins_again_when_it_is_said_again(
    address: str, clock: Hands
):
    limits = Limits(kind_days={"context": 2})
    async with memoranda.open(
        address, clock=clock, limits=limits, worker=False, embed=None
    ) as book:
        one = (await book.remember("ana", "Ana is in Rome", kind="context")).id
        await book.remember("ana", "Ana is ill", kind="context")
        own = (
            await book.remember("ana", "Ana is at work", kind="context", expires_at=START + 9 * DAY)
        ).id
        fact = (await book.remember("ana", "Ana lives in Bonn")).id
        clock.now = START + DAY
        await book.memories.confirm("ana", one)
        clock.now = START + 2 * DAY
        assert [record.id for record in await book.records.list("ana")] == [one, own, fact]
        clock.now = START + 3 * DAY
        assert {hit.id for hit in await book.recall("ana", "Ana Rome ill work Bonn")} == {own, fact}


async def test_a_key_is_free_and_a_cap_has_room_when_their_memory_has_expired(
    address: str, clock: Hands
):
    limits = Limits(memories_per_owner=2, at_capacity="reject")
    async with memoranda.open(
        address, clock=clock, limits=limits, worker=False, embed=None
    ) as book:
        old = (
            await book.remember(
                "ana", "Ana is in Rome", key="place", trust="operator", expires_at=START + DAY
            )
        ).id
        await book.remember("ana", "Ana likes tea")
        with pytest.raises(LimitReached):
            await book.remember("ana", "Ana likes cake")
        clock.now = START + DAY
        cake = (await book.remember("ana", "Ana likes cake")).id
        with pytest.raises(LimitReached):
            await book.remember("ana", "Ana likes rum")
        await book.forget("ana", cake, as_owner=True)
        new = (await book.remember("ana", "Ana is in Bonn", key="place")).id
        found = await book.records.get("ana", new)
        assert isinstance(found, Memory) and found.disputes is None
        with pytest.raises(NotFound):
            await book.records.get("ana", old)


async def test_a_moment_that_has_passed_is_refused_and_an_amended_one_counts(
    book: Book, clock: Hands
):
    with pytest.raises(InvalidInput, match="expires_at"):
        await book.remember("ana", "late", expires_at=START)
    id = (await book.remember("ana", "Ana is in Rome", expires_at=START + DAY)).id
    await book.memories.amend("ana", id, {"expires_at": START + 2 * DAY})
    clock.now = START + DAY
    assert await recalled(book, "Ana") == ["Ana is in Rome"]
    await book.memories.amend("ana", id, {"expires_at": None})
    clock.now = START + 9 * DAY
    await drained(book)
    assert await recalled(book, "Ana") == ["Ana is in Rome"]
    found = await book.records.get("ana", id)
    assert "expires_at" not in found.model_dump(exclude_defaults=True)


async def test_many_records_are_forgotten_by_conditions_and_the_rest_stays(
    book: Book, clock: Hands
):
    thread = await book.thread("ana")
    (said,) = (await thread.append([{"role": "user", "content": "I like tea and rum"}])).ids()
    tea = (await book.remember("ana", "Ana likes tea", kind="preference", sources=[said])).id
    late = (await book.remember("ana", "Ana is in Rome", kind="context", expires_at=START + DAY)).id
    clock.now = START + 2 * DAY
    rum = (await book.remember("ana", "Ana likes rum", kind="preference", sources=[said])).id
    with pytest.raises(InvalidInput, match="kind, before, source or thread"):
        await book.forgetting.forget_all("ana", as_owner=True)
    with pytest.raises(NotAllowed):
        await book.forgetting.forget_all("ana", kind="preference")
    plan = await book.forgetting.forget_all("ana", kind="preference", dry_run=True, as_owner=True)
    assert (plan.found, plan.dry_run, plan.removed, plan.all_portions) == (
        {"memory": 2},
        True,
        {},
        1,
    )
    assert await book.records.count("ana", types="memory") == 2
    old = await book.forgetting.forget_all("ana", before=START + DAY, as_owner=True)
    # What has expired is forgotten, too.
    assert (old.found, set(old.ids), old.portions) == ({"memory": 2}, {tea, late}, 1)
    assert [record.id for record in await book.records.list("ana", types="memory")] == [rum]
    assert (await book.forgetting.forget_all("ana", source=said, as_owner=True)).ids == (rum,)
    assert (await book.records.get("ana", said)).id == said
    gone = await book.forgetting.forget_all(
        "ana", thread=thread.id, types=("message", "thread"), as_owner=True
    )
    assert gone.found == {"message": 1, "thread": 1}
    assert await book.records.count("ana") == 0
    assert (await book.forgetting.forget_all("ana", kind="fact", as_owner=True)).found == {}


async def test_an_agent_forgets_its_own_records_only(book: Book):
    own = (await book.remember("ana", "Ana likes tea", agent="guide", audience="global")).id
    other = (await book.remember("ana", "Ana likes rum", agent="coach", audience="global")).id
    done = await book.forgetting.forget_all("ana", kind="fact", agent="guide")
    assert done.ids == (own,)
    assert [record.id for record in await book.records.list("ana")] == [other]


async def test_forgetting_in_portions_says_where_an_error_stopped_it(
    book: Book, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memoranda.book.forgetting.bulk.PORTION", 2)
    for place in range(5):
        await book.remember("ana", f"fact {place}")
    erase, calls = book.admin.backups.forget, 0

    async def failing(*given: Any, **how: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Busy("the disk is full")
        return await erase(*given, **how)

    monkeypatch.setattr(book.admin.backups, "forget", failing)
    stopped = await book.forgetting.forget_all("ana", kind="fact", as_owner=True)
    assert (stopped.portions, stopped.all_portions, len(stopped.ids)) == (2, 3, 4)
    assert "2 of 3 parts are erased" in stopped.left_to_do
    assert stopped.removed["memory"] == 4
    rest = await book.forgetting.forget_all("ana", kind="fact", as_owner=True)
    assert (len(rest.ids), rest.left_to_do) == (1, "")


async def test_threads_and_episodes_leave_by_age_and_memories_of_them_stay(
    address: str, clock: Hands, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    settings = tmp_path / "settings.toml"
    settings.write_text("[retention]\nmessages_days = 2\nthreads_days = 10\nepisodes_days = 90\n")
    opened = memoranda.open(
        address, clock=clock, config=settings, worker=False, embed=None, models="none"
    )
    async with opened as book:
        thread = await book.thread("ana")
        words = [{"role": "user", "content": "My name is Ana and I live in Bonn."}]
        (said,) = (await thread.append(words)).ids()
        unformed = await book.thread("ana")
        run = (await book.episodes.record("ana", summary="booked a table", outcome="succeeded")).id
        note = (await book.remember("ana", "likes the table", sources=[run])).id
        clock.now += timedelta(hours=1)
        await book.jobs.run()
        left = {thread.id, said, run}
        kept = {
            record.id for record in await book.records.list("ana", types="memory", as_owner=True)
        }
        assert note in kept and len(kept) > 1
        await unformed.append([{"role": "user", "content": "I am still here"}])

        async def there() -> set[Any]:
            listed = await book.records.list(
                "ana", types=("thread", "message", "episode"), as_owner=True
            )
            return {record.id for record in listed} & {thread.id, said, unformed.id, run}

        clock.now = START + 3 * DAY
        await book.jobs.run()
        assert await there() == {thread.id, unformed.id, run}
        with caplog.at_level("INFO", logger="memoranda.retention"):
            clock.now = START + 11 * DAY
            await book.jobs.run()
        assert thread.id not in await there() and run in await there()
        assert "removed by age, of one owner" in caplog.text and "Ana" not in caplog.text
        clock.now = START + 91 * DAY
        await book.jobs.run()
        assert run not in await there()
        assert kept <= {
            record.id for record in await book.records.list("ana", types="memory", as_owner=True)
        }
        entries = await book.records.ledger("ana", as_owner=True)
        gone = {
            (line.verb, line.type) for entry in entries for line in entry.lines if line.id in left
        }
        assert {("age", "message"), ("age", "thread"), ("age", "episode")} <= gone
        assert (await book.admin.verify()).faults == ()


async def test_a_thread_that_has_expired_is_out_of_sight_and_not_erased(book: Book, clock: Hands):
    thread = await book.thread("ana", name="chat", expires_at=START + DAY)
    (said,) = (await thread.append([{"role": "user", "content": "The code is heron"}])).ids()
    code = (await book.remember("ana", "Ana has a code", sources=[said], thread=thread.id)).id
    clock.now = START + DAY - MOMENT
    assert {hit.id for hit in await book.recall("ana", "code", types="message")} == {said}
    assert "heron" in (await book.context("ana", thread=thread.id)).text
    clock.now = START + DAY
    for how in (
        {},
        {"mode": "recent"},
        {"only": {"as_of": START}},
        {"only": {"thread": thread.id}},
    ):
        given = cast(dict[str, Any], how)
        found = await book.recall("ana", "code heron", **given)
        assert said not in {hit.id for hit in found} | {
            one.record.id for hit in found for one in hit.folded
        }
        assert said not in {source.id for hit in found for source in hit.sources}
    assert {record.id for record in await book.records.list("ana")} == {code}
    assert await book.records.count("ana") == 1
    assert "heron" not in (await book.context("ana", "code 7321")).text
    for id in (thread.id, said):
        with pytest.raises(NotFound):
            await book.records.get("ana", id)
        assert (await book.why("ana", id)).record.id == id
        assert await book.records.history("ana", id)
    assert [one.quote for one in (await book.why("ana", code)).sources] == ["The code is heron"]
    with pytest.raises(NotFound):
        await thread.append([{"role": "user", "content": "again"}])
    # Upkeep erases none of it, its name is free, and forgetting and exports reach it.
    clock.now = START + 2 * DAY
    await book.jobs.run()
    again = await book.thread("ana", name="chat")
    assert again.id != thread.id
    assert "heron" in "".join([line async for line in book.admin.export("ana")])
    assert set((await book.forget("ana", thread.id, as_owner=True)).ids) >= {thread.id, said, code}
    assert "heron" not in "".join([line async for line in book.admin.export("ana")])


async def test_what_was_said_in_an_expired_thread_is_still_formed(address: str, clock: Hands):
    limits = Limits(thread_hours=1)
    async with memoranda.open(
        address, clock=clock, limits=limits, worker=False, embed=None, models="none"
    ) as book:
        thread = await book.thread("ana")
        await thread.append([{"role": "user", "content": "My name is Ana and I live in Bonn."}])
        clock.now += timedelta(hours=2)
        await book.jobs.run()
        assert await book.records.count("ana", types="memory", as_owner=True) > 0
        assert await book.records.count("ana", types="message", as_owner=True) == 0
