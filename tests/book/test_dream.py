"""Tests of dreams: what a night archives and what it leaves, how it comes back, and what
contradicts itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import memoranda
from memoranda.book import Book
from memoranda.book.dream.dream_settings import DreamSettings
from memoranda.book.dream.schedule import NIGHT, OWNERS_NIGHT, nights
from memoranda.errors import InvalidInput, LimitReached, Restricted
from memoranda.model.changes import JobState
from memoranda.model.memories import Memory
from memoranda.model.passages import Use
from memoranda.model.records import WHOLE, Limits, Owner, OwnerKind
from memoranda.model.service_records import CALLER, LIBRARY
from tests.engines.conftest import postgres as postgres


class Days:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2027, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, days: float) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The address of a new book on each engine."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres").new_book()
    return "memory://" if request.param == "memory" else tmp_path / "b.db"


@pytest.fixture
async def book(where: Any, days: Days) -> AsyncIterator[Book]:
    async with memoranda.open(where, clock=days, embed=None, worker=False) as opened:
        yield opened


async def told(book: Book, *statuses: str) -> set[str]:
    page = await book.records.list(
        "ana", types="memory", only={"statuses": statuses}, as_owner=True
    )
    return {one.content for one in page.records if isinstance(one, Memory)}


async def found(book: Book, question: str, **who: Any) -> list[str]:
    return [hit.text for hit in await book.recall("ana", question, **(who or {"as_owner": True}))]


async def test_a_night_archives_what_nobody_used_and_recall_still_finds_it(
    book: Book, days: Days
) -> None:
    used = (await book.remember("ana", "Lives in Lisbon", agent="a")).id
    await book.remember("ana", "Likes tea", agent="a")
    await book.remember("ana", "Keeps bees", agent="a", pinned=True)
    await book.remember("ana", "Never call before ten", agent="a", trust="operator")
    await book.remember("ana", "Answer briefly", agent="a", kind="instruction")
    await book.remember("ana", "Wrote this herself", as_owner=True)
    days.pass_(80)
    await book.memories.mark_used("ana", [used], as_owner=True)
    await book.remember("ana", "Plays chess", agent="a")
    days.pass_(20)
    tried = await book.dreams.run("ana", dry_run=True)
    assert len(tried.archived) == 1 and tried.receipt is not None and tried.receipt.dry_run
    assert await told(book, "archived") == set()
    report = await book.dreams.run("ana")
    assert report.archived == tried.archived and set(report.kept.values()) == {"protected"}
    assert await told(book, "archived") == {"Likes tea"}
    assert await found(book, "what tea?") == ["Likes tea"]
    count = await book.records.count(
        "ana", types="memory", only={"statuses": ["active"]}, as_owner=True
    )
    assert count == 6


async def test_a_night_with_nothing_to_do_writes_nothing(book: Book, days: Days) -> None:
    await book.remember("ana", "Likes tea", agent="a")
    await book.remember("ana", "Hers", as_owner=True)
    before = await book.records.ledger("ana", as_owner=True)
    days.pass_(200)
    await book.dreams.run("ana", agent="b")
    assert await book.records.ledger("ana", as_owner=True) == before
    first = await book.dreams.run("ana")
    again = await book.dreams.run("ana")
    assert first.receipt is not None and again.receipt is None
    assert len(await book.records.ledger("ana", as_owner=True)) == len(before) + 1


@pytest.mark.parametrize("way", ["context", "recall", "mark_used", "confirm", "amend"])
async def test_what_was_used_within_the_days_stays_and_what_is_used_later_comes_back(
    book: Book, days: Days, way: str
) -> None:
    id = (await book.remember("ana", "Likes tea", agent="a")).id
    old = (await book.remember("ana", "Plays chess", agent="a")).id

    async def use() -> None:
        match way:
            case "context":
                await book.context("ana", "what tea?", agent="a", limit=1)
            case "recall":
                await book.recall("ana", "what tea?", agent="a")
            case "mark_used":
                await book.memories.mark_used("ana", [id], agent="a", placed=False)
            case "confirm":
                await book.memories.confirm("ana", id, agent="a")
            case "amend":
                await book.memories.amend("ana", id, {"tags": ["drink"]}, agent="a")
        await book.memories.uses.settled()

    days.pass_(60)
    await use()
    days.pass_(60)
    assert (await book.dreams.run("ana")).archived == (old,)
    days.pass_(60)
    assert (await book.dreams.run("ana")).archived == (id,)
    days.pass_(1)
    await use()
    report = await book.dreams.run("ana")
    assert report.restored == (() if way == "confirm" else (id,)) or way == "amend"
    assert "Likes tea" in await told(book, "active") or way == "amend"


async def test_a_recall_is_noted_once_a_day_and_changes_no_strength_and_no_count(
    book: Book, days: Days
) -> None:
    id = (await book.remember("ana", "Likes tea", agent="a")).id
    await book.memories.mark_used("ana", [id], agent="a")
    days.pass_(10)

    async def use() -> Use:
        await book.memories.uses.settled()
        return (await book.engine.uses(memoranda.Owner(id="ana"), WHOLE, [id]))[id]

    before = await use()
    later = days.now + timedelta(days=5)
    for _ in range(3):
        await book.recall("ana", "tea", agent="a")
    after = await use()
    assert after.used_at == days.now and after.count == before.count == 1
    assert after.strength_at(later, days.now) == pytest.approx(before.strength_at(later, days.now))
    days.pass_(0.5)
    await book.recall("ana", "tea", agent="a")
    assert await use() == after


async def test_what_may_only_read_lists_and_exports_uses_nothing(book: Book, days: Days) -> None:
    id = (await book.remember("ana", "Likes tea", agent="a")).id
    days.pass_(100)
    reader = CALLER.set(LIBRARY._replace(writes=False))
    await book.recall("ana", "tea", agent="a")
    CALLER.reset(reader)
    await book.recall("ana", "", mode="recent", agent="a")
    await book.records.list("ana", agent="a")
    await book.about("ana", as_owner=True)
    await book.context("ana", "tea", agent="a", mark_used=False)
    async for _ in book.admin.export("ana"):
        pass
    await book.memories.uses.settled()
    assert (await book.dreams.run("ana")).archived == (id,)


async def test_one_undo_reverses_a_night_but_for_what_was_changed_or_erased_since(
    book: Book, days: Days
) -> None:
    ids = [(await book.remember("ana", f"Fact {n}", key=f"k{n}", agent="a")).id for n in range(4)]
    days.pass_(100)
    before = [await found(book, f"fact {n}") for n in range(4)], await told(book, "active")
    night = await book.dreams.run("ana")
    assert set(night.archived) == set(ids) and night.receipt is not None
    await book.undo("ana", night.receipt.position, as_owner=True)
    assert (
        [await found(book, f"fact {n}") for n in range(4)],
        await told(book, "active"),
    ) == before
    days.pass_(100)
    night = await book.dreams.run("ana")
    assert night.receipt is not None
    await book.forget("ana", ids[0], as_owner=True)
    await book.remember("ana", "Fact 1 anew", key="k1", agent="a")
    undone = await book.undo("ana", night.receipt.position, as_owner=True)
    assert {part.id: part.code for part in undone.ignored} == {ids[0]: "erased", ids[1]: "changed"}
    assert await told(book, "active") == {"Fact 1 anew", "Fact 2", "Fact 3"}


async def test_contradictions_are_seen_by_those_who_read_both(book: Book, days: Days) -> None:
    english = (await book.remember("ana", "English", key="language", agent="a")).id
    german = (await book.remember("ana", "German", key="language", agent="b")).id
    await book.remember("ana", "Tea", key="drink", agent="a")
    await book.remember("ana", "tea.", key="drink", agent="b")
    (one,) = await book.dreams.contradictions("ana", as_owner=True)
    assert (one.key, one.ids) == ("language", (german, english))
    for agent in ("a", "b"):
        assert await book.dreams.contradictions("ana", agent=agent) == []
        assert (await book.dreams.run("ana", agent=agent)).contradictions == ()
        assert (await book.about("ana", agent=agent)).contradictions == ()
    assert (await book.about("ana", as_owner=True)).contradictions == (one,)
    assert (await book.dreams.run("ana")).contradictions == (one,)
    await book.memories.retract("ana", german, as_owner=True)
    assert await book.dreams.contradictions("ana", as_owner=True) == []


async def test_statements_without_a_key_contradict_where_only_their_value_differs(
    book: Book, days: Days
) -> None:
    async def say(text: str, **more: Any) -> UUID:
        return (await book.remember("ana", text, **{"cardinality": "one", **more})).id

    rome = await say("Lives in Rome")
    oslo = await say("Lives in Oslo.", agent="b")
    keyed = await say("Lives in New York", key="home")
    young, old = await say("Is 41 years old"), await say("Is 42 years old")
    for text in ("Works at Acme", "Works as a clerk", "Birthday of Ann is in June"):
        await say(text)
    await say("Birthday of Eve is in June")
    await say("Lives in Bern", subject="Eve")
    await say("Lives in Kiel", applies_when="on weekends")
    for text in ("Plays chess at school", "Plays chess at home"):
        await say(text, cardinality="many")
    found = await book.dreams.contradictions("ana", as_owner=True)
    assert {(one.key, one.shared, one.ids) for one in found} == {
        (None, "lives in …", (keyed, oslo, rome)),
        (None, "is … years old", (old, young)),
    }
    assert [one.ids for one in await book.dreams.contradictions("ana", agent="c")] == [
        (old, young),
        (keyed, rome),
    ]
    assert [one.ids for one in (await book.about("ana", agent="c")).contradictions] == [
        (old, young),
        (keyed, rome),
    ]


async def test_the_newest_value_supersedes_only_where_all_its_readers_read_it(
    book: Book, days: Days
) -> None:
    settings = {"contradictionResolution": "keep_newest", "crossAgentMaintenance": True}
    await book.agents.put("a", settings={"dream": settings})
    old = (await book.remember("ana", "English", key="language", agent="a")).id
    alone = (await book.remember("ana", "French", key="language", agent="b")).id
    pinned = (await book.remember("ana", "Dutch", key="language", agent="c", pinned=True)).id
    days.pass_(1)
    new = (await book.remember("ana", "German", key="language", agent="d", audience="global")).id
    report = await book.dreams.run("ana", agent="a")
    assert set(report.superseded) == {old, alone}
    assert [one.ids for one in await book.dreams.contradictions("ana", as_owner=True)] == [
        (new, pinned)
    ]
    assert report.receipt is not None
    await book.undo("ana", report.receipt.position, as_owner=True)
    assert await told(book, "active") == {"English", "French", "Dutch", "German"}


async def test_a_value_that_nobody_used_supersedes_none_that_is_used(
    book: Book, days: Days
) -> None:
    settings = {"contradictionResolution": "keep_newest", "crossAgentMaintenance": True}
    await book.agents.put("a", settings={"dream": settings})
    used = (await book.remember("ana", "English", key="language", agent="a")).id
    days.pass_(1)
    unused = (await book.remember("ana", "German", key="language", agent="d", audience="global")).id
    days.pass_(100)
    await book.memories.mark_used("ana", [used], as_owner=True)
    assert (await book.dreams.run("ana", agent="a")).superseded == ()
    only = {"statuses": ["archived"]}
    page = await book.records.list("ana", types="memory", only=only, as_owner=True)
    assert [one.id for one in page.records] == [unused]


async def test_a_night_over_one_agents_memories_changes_nothing_that_another_reads(
    book: Book, days: Days
) -> None:
    for agent in ("a", "b"):
        for text in ("Likes tea", "Plays chess", "Lives in Lisbon"):
            await book.remember("ana", f"{text}, said to {agent}", key=text, agent=agent)
    days.pass_(100)

    async def read() -> list[Any]:
        hits = [
            [(hit.id, hit.score) for hit in await book.recall("ana", word, agent="a")]
            for word in ("tea", "chess")
        ]
        listed = (await book.records.list("ana", agent="a")).records
        return [hits, (await book.context("ana", "tea", agent="a", mark_used=False)).text, listed]

    before = await read()
    assert len((await book.dreams.run("ana", agent="b")).archived) == 3
    assert await read() == before


async def test_a_context_has_archived_memories_last_where_room_is_left(
    book: Book, days: Days
) -> None:
    await book.remember("ana", "Likes tea", agent="a")
    days.pass_(100)
    await book.dreams.run("ana")
    assert "Likes tea" in (await book.context("ana", agent="a", mark_used=False)).text
    await book.remember("ana", "Plays chess", agent="a")
    text = (await book.context("ana", agent="a", mark_used=False)).text
    assert "Plays chess" in text and "Likes tea" in text
    short = (await book.context("ana", agent="a", limit=1, mark_used=False)).text
    assert "Plays chess" in short and "Likes tea" not in short


async def test_at_the_limit_nothing_comes_back_and_the_rest_of_the_night_is_done(
    tmp_path: Path, days: Days
) -> None:
    limits = Limits(memories_per_agent=2, at_capacity="evict_oldest")
    async with memoranda.open(
        tmp_path / "b.db", clock=days, embed=None, worker=False, limits=limits
    ) as book:
        first = (await book.remember("ana", "Fact 0", agent="a")).id
        await book.remember("ana", "Fact 1", agent="a")
        await book.remember("ana", "Fact 2", agent="a")
        assert await told(book, "archived") == {"Fact 0"}
        await book.memories.mark_used("ana", [first], agent="a")
        assert (await book.dreams.run("ana")).receipt is None
        with pytest.raises(LimitReached, match="memories_per_agent"):
            await book.memories.restore("ana", first, agent="a")
        assert await found(book, "fact 0", agent="a")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"pruneStale": 5},
            "dream.pruneStale: nothing reads this; did you mean pruneStaleAfterDays",
        ),
        ({"prune_stale_after_days": 5}, "did you mean pruneStaleAfterDays"),
        ({"batchSize": 5}, "batchSize: nothing reads this; known are"),
        ({"pruneStaleAfterDays": -1}, "pruneStaleAfterDays"),
        ({"schedule": "daily"}, "is no schedule; give five fields"),
        ({"schedule": "0 0 31 2 *"}, "is no schedule"),
        ({"timeZone": "Mars"}, "is no time zone"),
        ({"contradictionResolution": "keep_oldest"}, "contradictionResolution"),
        ({"summarizeInteractions": True}, "merges no memories"),
    ],
)
async def test_a_setting_without_effect_is_refused(given: dict[str, Any], says: str) -> None:
    async with memoranda.open("memory://", embed=None, worker=False) as book:
        with pytest.raises(InvalidInput, match=says):
            await book.agents.put("a", settings={"dream": given})


def test_a_day_of_a_clock_change_has_its_night_once() -> None:
    settings = DreamSettings(schedule="30 2 * * *", time_zone="Europe/Berlin")
    for first in (datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)):
        at, nights = first, []
        while (at := settings.next_night(at)) < first + timedelta(days=3):
            nights.append(at)
        assert len(nights) == 3


async def test_scheduled_nights_look_at_their_agents_and_put_the_next_one(
    book: Book, days: Days
) -> None:
    await book.agents.put("a", settings={"dream": {"enabled": True, "pruneStaleAfterDays": 30}})
    for owner in ("ana", "ben", "cleo"):
        await book.remember(owner, "Likes tea", agent="a")
        await book.remember(owner, "Likes rain", agent="b")
    (one,) = await book.dreams.schedules()
    assert (one.agent, one.state, one.next_at.hour) == ("a", "PENDING", 3)
    days.pass_(40)
    await book.worker.drain()
    assert await told(book, "archived") == {"Likes tea"}
    (one,) = await book.dreams.schedules()
    assert one.state == "PENDING" and days.now < one.next_at <= days.now + timedelta(days=1)
    await book.agents.put("a", settings={"dream": {"enabled": False}})
    days.pass_(40)
    await book.worker.drain()
    assert await book.dreams.schedules() == []


async def test_a_night_in_the_owners_zone_is_when_its_hour_strikes_there(
    book: Book, days: Days
) -> None:
    dreaming = {"enabled": True, "pruneStaleAfterDays": 30, "timeZone": "owner"}
    await book.agents.put("a", settings={"dream": dreaming})
    zones = {"ana": "Asia/Tokyo", "ben": "America/New_York", "cleo": "UTC", "dora": "Mars"}
    for name, zone in zones.items():
        await book.remember(name, "Likes tea", agent="a")
        await book.profiles.put(name, {"time_zone": zone}, as_owner=True)
    days.now = datetime(2027, 2, 15, 3, tzinfo=UTC)

    async def archived() -> list[str]:
        await book.worker.drain()
        only = {"statuses": ["archived"]}
        return [name for name in zones if await book.records.count(name, only=only, as_owner=True)]

    assert await archived() == ["cleo", "dora"]
    days.pass_(5.5 / 24)  # half past three in New York
    assert await archived() == ["ben", "cleo", "dora"]
    # Nobody works at three in Tokyo, which is 18 h in UTC: whoever works next does that night.
    days.now = datetime(2027, 2, 16, 3, 1, tzinfo=UTC)
    assert await archived() == [*zones]


async def test_a_night_takes_so_many_owners_and_the_next_one_those_after_them(
    book: Book, days: Days
) -> None:
    dreaming = {"enabled": True, "pruneStaleAfterDays": 30, "maxUsersPerRun": 2}
    await book.agents.put("a", settings={"dream": dreaming})
    names = ["ana", "ben", "cleo"]
    for name in names:
        await book.remember(name, "Likes tea", agent="a")
    days.pass_(40)

    async def archived() -> list[str]:
        await book.worker.drain()
        only = {"statuses": ["archived"]}
        return [name for name in names if await book.records.count(name, only=only, as_owner=True)]

    assert await archived() == ["ana", "ben"]
    days.pass_(1)
    assert await archived() == names


async def test_a_night_that_is_late_is_not_put_off_by_the_next_one(book: Book, days: Days) -> None:
    async def settings_of(agent: str | None) -> tuple[DreamSettings, tuple[str, ...]]:
        return DreamSettings(enabled=True, time_zone="owner"), ()

    await book.agents.put("a", settings={"dream": {"enabled": True}})
    await book.remember("ana", "Likes tea", agent="a")
    await book.profiles.put("ana", {"time_zone": "Africa/Lagos"}, as_owner=True)
    (night,) = [one for one in await book.engine.jobs(None, 9) if one.kind == NIGHT]
    put = nights(book.engine, book.door, book.tenant, settings_of)[NIGHT]
    due = []
    for day in (15, 16):
        days.now = datetime(2027, 2, day, 3, tzinfo=UTC)  # past three in Lagos
        await put(night)
        due += [one.run_at for one in await book.engine.jobs(None, 9) if one.kind == OWNERS_NIGHT]
    assert due == [datetime(2027, 2, 16, 2, tzinfo=UTC)] * 2


async def test_a_group_and_a_user_of_one_name_have_a_night_each(book: Book, days: Days) -> None:
    await book.agents.put("a", settings={"dream": {"enabled": True, "pruneStaleAfterDays": 30}})
    owners = (Owner(id="ana"), Owner(kind=OwnerKind.GROUP, id="ana"))
    for owner in owners:
        await book.remember(owner, "Likes tea", agent="a", audience="global")
    days.pass_(40)
    await book.worker.drain()
    only = {"statuses": ["archived"]}
    assert [await book.records.count(one, only=only, as_owner=True) for one in owners] == [1, 1]


async def test_a_night_names_nobody_who_was_erased_since_it_began(
    tmp_path: Path, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "b.db"
    async with memoranda.open(path, clock=days, embed=None, worker=False) as book:
        await book.agents.put("a", settings={"dream": {"enabled": True}})
        for name in ("ana", "zqcanaryqz"):
            await book.remember(name, "Likes tea", agent="a")
        listing = book.engine.owners

        async def erased_after(tenant: str) -> list[Owner]:
            found = await listing(tenant)
            await book.forget("zqcanaryqz", everything=True, as_owner=True)
            return found

        monkeypatch.setattr(book.engine, "owners", erased_after)
        days.pass_(100)
        await book.worker.drain()
        assert await told(book, "archived") == {"Likes tea"}
    assert b"zqcanaryqz" not in b"".join(one.read_bytes() for one in tmp_path.glob("b.db*"))


@pytest.mark.parametrize("name", ["a\x98b", ""])
async def test_a_name_that_no_agent_can_have_is_refused(book: Book, name: str) -> None:
    await book.remember("ana", "Likes tea", agent="a")
    with pytest.raises(InvalidInput, match=r"^agent: ") as caught:
        await book.dreams.run("ana", agent=name)
    assert caught.value.field == "agent"


async def test_a_restricted_owner_is_left_alone(book: Book, days: Days) -> None:
    await book.agents.put("a", settings={"dream": {"enabled": True}})
    for name in ("ana", "ben"):
        await book.remember(name, "Likes tea", agent="a")
    await book.admin.restrict("ana")
    days.pass_(100)
    with pytest.raises(Restricted):
        await book.dreams.run("ana", agent="a")
    await book.worker.drain()
    assert await book.records.count("ben", only={"statuses": ["archived"]}, as_owner=True) == 1
    await book.admin.unrestrict("ana")
    assert await told(book, "archived") == set()
    await book.worker.drain()
    assert await told(book, "archived") == {"Likes tea"}


async def test_a_night_that_fails_is_tried_five_times_again_and_put_again_at_opening(
    tmp_path: Path, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memoranda.open(tmp_path / "b.db", clock=days, embed=None, worker=False) as book:
        await book.agents.put("a", settings={"dream": {"enabled": True}})
        await book.remember("ana", "Likes tea", agent="a")
        days.pass_(100)
        tries = 0

        async def failing(*_: Any) -> Any:
            nonlocal tries
            tries += 1
            raise memoranda.errors.StorageError("the disk is full")

        monkeypatch.setattr(book.engine, "owners", failing)
        for _ in range(12):
            await book.worker.drain()
            days.pass_(0.1)
        assert tries == 6
        (dead,) = await book.dreams.schedules()
        assert dead.state == "DEAD_LETTERED" and "disk" in dead.error
    async with memoranda.open(tmp_path / "b.db", clock=days, embed=None, worker=False) as book:
        (job,) = [one for one in await book.engine.jobs(None, 10) if one.kind == "dream"]
        assert job.state is JobState.WAITING
        await book.worker.drain()
        assert await told(book, "archived") == {"Likes tea"}
