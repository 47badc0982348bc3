"""Threads whose formed memories have no room wait with their bought answer, and are formed when
there is room.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Limits
from memoranda.errors import ModelRefused
from memoranda.model.changes import NO_ROOM
from memoranda.model.language_models import ModelRequest
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels
from tests.cli.command_line import Shell
from tests.formation.books import TALK, jobs, known, notes, opened, settle

FULL = Limits(memories_per_agent=2, writes_per_run=100)


async def fill(book: memoranda.Book, agent: str = "guide", **fields: Any) -> memoranda.Receipt:
    statements = [{"content": f"{agent} {number}", **fields} for number in range(2)]
    return await book.memories.remember_all("ann", statements, agent=agent)


async def test_a_thread_waits_until_a_memory_is_retracted_and_its_answer_is_bought_once(
    clock: HandClock,
):
    models = ScriptedModels(notes("Likes jazz"))
    async with opened("memory://", clock, models, limits=FULL) as book:
        filled = await fill(book, pinned=True)
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        (job,) = await jobs(book)
        assert job.error.startswith(NO_ROOM) and "(2/2)" in job.error and job.state == "waiting"
        assert (await thread.get()).formed_through == 0 and len(models.asked) == 1
        # It is tried again and again, and no try counts towards giving it up.
        for _ in range(12):
            await settle(book, clock, 15 * 60)
        (job,) = await jobs(book)
        assert job.tries == 0 and job.postponed == 13 and len(models.asked) == 1
        await book.memories.retract("ann", filled.ids()[0], agent="guide")
        await settle(book, clock, 15 * 60)
        assert await known(book) == ["Likes jazz", "guide 1"] and await jobs(book) == []
        assert (await thread.get()).formed_through == 2 and len(models.asked) == 1


async def test_a_correction_that_the_model_refused_is_not_asked_for_again_while_the_thread_waits(
    clock: HandClock,
):
    def say(request: ModelRequest) -> Said:
        if request.earlier:
            return ModelRefused("not that", reason="content")
        answer = dict(notes("Likes jazz", "Likes tea")(request))  # type: ignore[arg-type]
        answer["notes"][1]["sources"] = [{"message": "m99"}]
        return answer

    models = ScriptedModels(say)
    async with opened("memory://", clock, models, limits=FULL) as book:
        filled = await fill(book, pinned=True)
        await (await book.thread("ann", agent="guide")).append(TALK)
        for _ in range(4):
            await settle(book, clock, 15 * 60)
        assert len(models.asked) == 2
        await book.memories.retract("ann", filled.ids()[0], agent="guide")
        await settle(book, clock, 15 * 60)
        assert await known(book) == ["Likes jazz", "guide 1"] and len(models.asked) == 2


async def test_what_was_said_since_waits_behind_it_and_nothing_is_lost(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        return notes(f"Fact {len(models.asked)}")(request)

    models = ScriptedModels(say)
    async with opened("memory://", clock, models, limits=FULL) as book:
        filled = await fill(book, pinned=True)
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        await thread.append("user", "I like tea.")
        await settle(book, clock, 60)
        assert len(models.asked) == 1
        await book.forget("ann", filled.ids(), agent="guide")
        # Whoever asks for it does not wait for the next try.
        await book.form("ann", wait=False, as_owner=True)
        await settle(book, clock, 1)
        assert await known(book) == ["Fact 1", "Fact 2"] and len(models.asked) == 2


async def test_a_raised_limit_makes_room_after_the_next_opening(tmp_path: Path, clock: HandClock):
    models = ScriptedModels(notes("Likes jazz"))
    async with opened(tmp_path / "book.db", clock, models, limits=FULL) as book:
        await fill(book, pinned=True)
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
    async with opened(tmp_path / "book.db", clock, models) as book:
        await settle(book, clock, 15 * 60)
        assert "Likes jazz" in await known(book) and len(models.asked) == 1


async def test_what_is_formed_archives_the_agents_weakest_and_says_so(clock: HandClock):
    models = ScriptedModels(notes("Likes jazz"))
    async with opened("memory://", clock, models, limits=FULL) as book:
        await fill(book, agent="coach")
        filled = await fill(book)
        weak, used = filled.ids()
        await book.memories.mark_used("ann", [used], agent="guide")
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        assert await known(book) == ["Likes jazz", "coach 0", "coach 1", "guide 1"]
        archived = (await book.records.history("ann", weak, agent="guide"))[-1]
        assert archived.verb == "archive" and archived.record is not None
        await book.undo("ann", archived.position, agent="guide")
        assert await known(book) == ["coach 0", "coach 1", "guide 0", "guide 1"]


async def test_all_of_a_portion_waits_not_a_part_of_it(clock: HandClock):
    models = ScriptedModels(notes("Likes jazz", "Likes tea"))
    limits = Limits(memories_per_agent=1, at_capacity="reject")
    async with opened("memory://", clock, models, limits=limits) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        assert await known(book) == [] and (await thread.get()).formed_through == 0
        assert len(await jobs(book)) == 1


async def test_threads_that_rules_form_wait_for_room_as_well(clock: HandClock):
    async with opened("memory://", clock, limits=FULL) as book:
        filled = await fill(book, pinned=True)
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like jazz.")
        await settle(book, clock)
        assert (await thread.get()).formed_through == 0 and len(await jobs(book)) == 1
        await book.memories.retract("ann", filled.ids()[0], agent="guide")
        await settle(book, clock, 15 * 60)
        assert (await thread.get()).formed_through == 1 and len(await known(book)) == 2


@pytest.mark.parametrize("agent", ["guide", "other"])
async def test_an_agent_that_is_full_does_not_keep_another_ones_threads_waiting(
    clock: HandClock, agent: str
):
    models = ScriptedModels(notes("Likes jazz"))
    async with opened("memory://", clock, models, limits=FULL) as book:
        await fill(book, agent="guide", pinned=True)
        await (await book.thread("ann", agent=agent)).append(TALK)
        await settle(book, clock)
        assert ("Likes jazz" in await known(book)) == (agent == "other")


def test_the_doctor_names_threads_that_wait_for_room_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORANDA_EMBEDDING_USE", "none")
    monkeypatch.setenv("MEMORANDA_LIMITS_MEMORIES_PER_AGENT", "1")
    shell = Shell(tmp_path)
    with memoranda.open_sync(tmp_path / "book.db", worker=False) as book:
        kept = book.remember("ann", "Keeps bees", agent="guide", pinned=True)
        thread = book.thread("ann", agent="guide")
        thread.append("user", "I live in Oslo.")
    shell.run("form", "ann")
    report = shell.done("doctor", code=1).stdout
    assert f"1 thread waits for room: thread {thread.id} of ann" in report
    assert "limits.memories_per_agent" in report and "memoranda form OWNER" in report
    shell.run("retract", "ann", str(kept.id), "--agent", "guide")
    shell.run("form", "ann")
    assert "waits for room" not in shell.run("doctor")
