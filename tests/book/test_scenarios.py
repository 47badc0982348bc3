"""The acceptance scenarios of a memory that agents share: visibility, caps, writes per run, erasure
for good.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import memoranda
from memoranda import Erased, LimitReached, NotAllowed, NotFound
from memoranda.model.changes import Job, JobDraft, Remember
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.records import WHOLE, Owner
from memoranda.model.values import new_id
from memoranda.testing.clock import HandClock
from memoranda.worker import Worker


async def contents(book: memoranda.Book, **who: object) -> set[str]:
    page = await book.records.list("ana", types="memory", only={"statuses": ["active"]}, **who)  # type: ignore[arg-type]
    return {record.content for record in page.records if isinstance(record, Memory)}


# ── two agents: private, global, group ────────────────────────────────────────────────────────────


async def test_an_agent_neither_sees_nor_deletes_what_another_keeps_to_itself(
    book: memoranda.Book,
) -> None:
    private = await book.remember("ana", "Is looking for another job", agent="coach")
    assert await contents(book, agent="tutor") == set()
    assert await book.recall("ana", "another job", agent="tutor") == []
    with pytest.raises(NotFound):
        await book.records.get("ana", private.id, agent="tutor")
    with pytest.raises(NotFound):
        await book.memories.retract("ana", private.id, agent="tutor")
    with pytest.raises(NotFound):
        await book.forget("ana", private.id, agent="tutor")
    assert await contents(book, agent="coach") == {"Is looking for another job"}


async def test_both_agents_see_what_is_global(book: memoranda.Book) -> None:
    await book.remember("ana", "Speaks Spanish", agent="coach", audience="global")
    assert (
        await contents(book, agent="coach")
        == await contents(book, agent="tutor")
        == {"Speaks Spanish"}
    )


async def test_a_global_memory_of_another_agent_can_be_retracted_but_not_forgotten(
    book: memoranda.Book,
) -> None:
    shared = await book.remember("ana", "Speaks Spanish", agent="coach", audience="global")
    with pytest.raises(NotAllowed):
        await book.forget("ana", shared.id, agent="tutor")
    retracted = await book.memories.retract("ana", shared.id, agent="tutor")
    await book.undo("ana", retracted.position, agent="coach")
    assert await contents(book, agent="tutor") == {"Speaks Spanish"}


async def test_a_group_memory_is_seen_on_overlap_alone(book: memoranda.Book) -> None:
    groups = ["blue", "green"]
    await book.remember("ana", "Leads the sprint", agent="coach", groups=groups, audience="group")
    assert await contents(book, agent="tutor", groups=["green", "red"]) == {"Leads the sprint"}
    assert await contents(book, agent="tutor", groups=["red"]) == set()
    assert await contents(book, agent="coach") == set()


# ── the limits of memories ────────────────────────────────────────────────────────────────────────

#: One pot of 500 for the whole owner, where the oldest goes first.
POT = memoranda.Limits(memories_per_owner=500, at_capacity="evict_oldest")


@pytest.fixture
async def pot(tmp_path: Path, clock: HandClock) -> AsyncIterator[memoranda.Book]:
    async with memoranda.open(tmp_path / "pot.db", limits=POT, clock=clock, worker=False) as book:
        yield book


async def fill(book: memoranda.Book, count: int, agent: str | None) -> None:
    for start in range(0, count, 10):
        statements = [
            {"content": f"{agent} fact {start + place}"} for place in range(min(10, count - start))
        ]
        await book.memories.remember_all("ana", statements, agent=agent)


async def test_in_one_pot_the_writers_own_oldest_makes_room(pot: memoranda.Book) -> None:
    await fill(pot, 250, "tutor")
    await fill(pot, 250, "coach")
    await pot.remember("ana", "the 501st", agent="coach")
    coach = await pot.records.count(
        "ana", types="memory", only={"statuses": ["active"]}, agent="coach"
    )
    tutor = await pot.records.count(
        "ana", types="memory", only={"statuses": ["active"]}, agent="tutor"
    )
    assert (coach, tutor) == (250, 250)
    archived = (
        await pot.records.list(
            "ana", types="memory", only={"statuses": ["archived"]}, agent="coach"
        )
    ).records
    assert [record.content for record in archived if isinstance(record, Memory)] == ["coach fact 0"]


async def test_in_one_pot_what_is_pinned_is_never_archived(pot: memoranda.Book) -> None:
    pinned = await pot.remember("ana", "Is allergic to nuts", agent="coach", pinned=True)
    await fill(pot, 499, "coach")
    await pot.remember("ana", "one more", agent="coach")
    assert (await pot.records.get("ana", pinned.id, agent="coach")).status == "active"  # type: ignore[attr-defined]


async def test_in_one_pot_an_agent_with_nothing_of_its_own_is_refused_without_a_count_of_the_others(
    pot: memoranda.Book,
) -> None:
    await fill(pot, 500, "coach")
    with pytest.raises(LimitReached, match=r"more than 500.*memories_per_owner") as caught:
        await pot.remember("ana", "late", agent="tutor")
    assert "500/500" not in str(caught.value)


async def test_by_default_nobody_pays_for_what_another_writes_and_the_first_facts_stay(
    tmp_path: Path, clock: HandClock
) -> None:
    limits = memoranda.Limits(memories_per_agent=50)
    async with memoranda.open(
        tmp_path / "book.db", limits=limits, clock=clock, worker=False
    ) as book:
        await book.remember("ana", "Is allergic to penicillin", agent="coach")
        await fill(book, 49, "coach")
        for number in range(20):
            with pytest.raises(LimitReached, match=r"50/50.*agent 'coach'"):
                await book.remember("ana", f"Bought item number {number}", agent="coach")
        assert [
            hit.record
            for hit in await book.recall("ana", "penicillin", agent="coach", types="memory")
        ]
        (newest,) = (
            await book.recall("ana", "coach fact 48", agent="coach", types="memory", limit=1)
        )[:1]
        await book.update("ana", newest.record.id, "coach fact 48, corrected", agent="coach")
        for other in ("tutor", None):
            await book.remember("ana", "x", agent=other)
        await book.remember("ana", "y", as_owner=True)


async def test_reject_refuses_at_the_cap_and_allows_an_update(
    tmp_path: Path, clock: HandClock
) -> None:
    limits = memoranda.Limits(memories_per_agent=50, at_capacity="reject")
    async with memoranda.open(tmp_path / "rejecting.db", limits=limits, clock=clock) as book:
        await book.remember("ana", "Boston", key="home", agent="coach")
        await fill(book, 49, "coach")
        with pytest.raises(LimitReached, match=r"50/50"):
            await book.remember("ana", "late", agent="coach")
        updated = await book.remember("ana", "Chicago", key="home", agent="coach")
        assert len(updated.ids("memory")) == 2


# ── writes per run ────────────────────────────────────────────────────────────────────────────────


async def test_the_eleventh_write_of_a_turn_is_refused_and_the_next_turn_may_write(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana", agent="coach")
    await thread.append("user", "Let me tell you about my family.")
    for number in range(10):
        await thread.remember(f"Has a cousin number {number}")
    with pytest.raises(
        LimitReached, match=r"Maximum writes per run \(10\) reached. Try again in the next turn."
    ):
        await thread.remember("Has a cousin number 10")
    await thread.append("assistant", "What a family!")
    with pytest.raises(LimitReached):
        await thread.remember("Has a cousin number 10")
    await thread.append("user", "And there is one more.")
    await thread.remember("Has a cousin number 10")
    assert len(await contents(book, agent="coach")) == 11


# ── erased, restarted, and nothing comes back ─────────────────────────────────────────────────────


async def test_after_an_erasure_and_a_restart_no_waiting_job_brings_it_back(
    tmp_path: Path, clock: HandClock
) -> None:
    ana = Owner(id="ana")
    ran: list[str] = []
    async with memoranda.open(tmp_path / "book.db", clock=clock) as book:
        thread = await book.thread("ana", agent="coach")
        said = await thread.append("user", "My secret is the blue canary.", operation="said")
        memory = Memory(
            id=new_id(), owner=ana, content="Has a secret", observed_at=clock(), sources=(said.id,)
        )
        draft = JobDraft(
            kind="derive", key="thread", payload={"about": "blue canary"}, records=(said.id,)
        )
        await book.door.write(
            ana, WHOLE, Actor("owner"), [Remember(memory)], request=["derive"], jobs=(draft,)
        )
        held = next(job for job in await book.engine.jobs(None, 10) if job.kind == "derive")
        exported = [line async for line in book.admin.export("ana")]
        receipt = await book.forget("ana", everything=True, as_owner=True)
        assert receipt.state == "complete"
        assert receipt.removed["jobs"] == 2

    async with memoranda.open(tmp_path / "book.db", clock=clock) as book:

        async def derive(job: Job) -> None:
            ran.append(job.key)

        assert not await Worker(book.engine, {"derive": derive}, clock).drain()
        late = Memory(id=new_id(), owner=ana, content="Has a blue canary", observed_at=clock())
        with pytest.raises(Erased):
            await book.door.write(
                ana, WHOLE, Actor("owner"), [Remember(late)], request=["late"], era=held.era
            )
        report = await book.admin.import_(exported)
        assert report.ignored["erased"] == sum(report.ignored.values()) > 0
        thread = await book.thread("ana", agent="coach")
        with pytest.raises(Erased):
            await thread.append("user", "My secret is the blue canary.", operation="said")
        assert await book.recall("ana", "blue canary secret", as_owner=True) == []
        assert await book.records.count("ana", types=["message", "memory"], as_owner=True) == 0
        assert (await book.admin.verify()).faults == ()
    assert not ran
    for path in tmp_path.iterdir():
        assert b"canary" not in path.read_bytes(), path.name


# ── a thread is read in the order in which it was said ────────────────────────────────────────────


async def test_a_thread_is_read_in_the_order_of_its_places_page_by_page(
    book: memoranda.Book,
) -> None:
    thread = await book.thread("ana", agent="coach")
    for number in range(0, 25, 5):
        await thread.append(
            [{"role": "user", "content": f"line {number + step}"} for step in range(5)]
        )
    seen: list[int] = []
    cursor: str | None = None
    while True:
        page = await thread.messages(cursor=cursor, limit=7)
        seen += [message.seq for message in page.records]  # type: ignore[attr-defined]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == list(range(1, 26))
    assert [message.seq for message in await thread.newest(3)] == [23, 24, 25]


# ── undo reaches what was built upon, and no further back ─────────────────────────────────────────


async def test_an_undo_together_leaves_what_was_there_before(book: memoranda.Book) -> None:
    held = await book.remember("ana", "Likes tea", agent="coach")
    ground = await book.remember("ana", "Ordered tea again", agent="coach")
    again = await book.memories.confirm("ana", held.id, sources=[ground.id], agent="coach")
    with pytest.raises(memoranda.HasDependents) as refused:
        await book.undo("ana", ground.position, agent="coach")
    assert refused.value.positions == (again.position,)
    await book.undo("ana", ground.position, with_dependents=True, agent="coach")
    assert await contents(book, agent="coach") == {"Likes tea"}


async def test_what_an_agent_says_in_a_shared_thread_is_its_own(book: memoranda.Book) -> None:
    shared = await book.thread("ana", agent="coach", audience="global", name="standup")
    mine = await shared.append("assistant", "Coach speaking")
    theirs = await (await book.thread("ana", id=shared.id, agent="tutor")).append(
        "assistant", "Tutor speaking"
    )
    with pytest.raises(NotAllowed):
        await book.forget("ana", theirs.id, agent="coach")
    assert (await book.forget("ana", theirs.id, agent="tutor")).removed["message"] == 1
    assert (await book.records.get("ana", mine.id, agent="tutor")).agent == "coach"  # type: ignore[attr-defined]
