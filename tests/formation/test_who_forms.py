"""Tests of the record of who forms a book: any other process leaves the threads and names the one
that can form them.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.book.forming_jobs import FORMING
from memoranda.cli.forming_check import Forming, formation, set_aside
from memoranda.errors import InvalidInput, ModelRefused
from memoranda.model.changes import JobState
from memoranda.storage.use_cases import forming_records
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import ScriptedModels
from tests.formation.books import TALK, jobs, known, notes, opened, settle


class Other(ScriptedModels):
    """Models of another provider."""

    def named(self, task: str) -> str:
        return "other:model"


async def test_opening_records_nothing_and_the_first_forming_does(tmp_path: Path, clock: HandClock):
    path = tmp_path / "book.db"
    async with opened(path, clock, ScriptedModels(notes("Likes jazz"))) as book:
        assert await book.jobs.who_forms() == ""
    async with opened(path, clock) as book:
        assert await book.jobs.who_forms() == "" and book.cannot_form_because == ""
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        assert await book.jobs.who_forms() == "rules"


async def test_a_model_that_never_answered_is_not_recorded(clock: HandClock):
    models = ScriptedModels([ModelRefused("no such model", reason="model")])
    async with opened("memory://", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        assert await book.jobs.who_forms() == "" and len(models.asked) == 1


@pytest.mark.parametrize("again", [False, True])
async def test_what_a_model_is_to_form_is_never_formed_by_rules(
    tmp_path: Path, clock: HandClock, again: bool
):
    path = tmp_path / "book.db"
    async with opened(path, clock, ScriptedModels(notes("Likes jazz"))) as book:
        thread = await book.thread("ann", agent="guide", name="one")
        await thread.append(TALK)
        await settle(book, clock)
    async with opened(path, clock) as book:
        thread = await book.thread("ann", agent="guide", name="one")
        await thread.append("user", "I live in Boston.")
        if again:
            await thread.form_again()
        for _ in range(5):
            assert await settle(book, clock) == 0
        waiting = [job for job in await book.engine.jobs(None, 10) if job.kind in FORMING]
        assert {(job.tries, job.state) for job in waiting} == {(0, JobState.WAITING)}
        assert await known(book) == ["Likes jazz"]
        found = formation(
            Forming(waiting, await book.jobs.who_forms(), book.cannot_form_because), clock()
        )
        assert found.state == "note" and "forms with scripted:scripted" in found.found
        assert "memoranda form --with" in found.advice
    async with opened(path, clock, ScriptedModels(notes("Lives in Boston"))) as book:
        assert await settle(book, clock) == len(waiting)
        assert await known(book) == ["Likes jazz", "Lives in Boston"]


async def test_a_process_whose_model_differs_says_so_at_opening_with_the_call_that_changes_it(
    tmp_path: Path, clock: HandClock, caplog: pytest.LogCaptureFixture
):
    path = tmp_path / "book.db"
    async with opened(path, clock, ScriptedModels(notes("Likes jazz"))) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        assert book.cannot_form_because == ""
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        async with opened(path, clock, Other(notes("Likes tea"))) as book:
            (told,) = [record.getMessage() for record in caplog.records]
            assert told == book.cannot_form_because
            for part in (
                "scripted:scripted",
                "other:model",
                "book.jobs.form_with()",
                "memoranda form --with other:model",
            ):
                assert part in told
            await (await book.thread("ann", agent="guide")).append(TALK)
            assert await settle(book, clock) == 0
            assert await book.jobs.form_with() == "other:model"
            assert book.cannot_form_because == ""
            assert await book.jobs.run() == 1 and await book.jobs.who_forms() == "other:model"
            assert await known(book) == ["Likes jazz", "Likes tea"]


async def test_the_book_is_locked_for_the_first_record_only(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    claims: list[str] = []

    def counted(tenant: str, agent: str | None, who: str) -> Any:
        claims.append(tenant)
        return claim(tenant, agent, who)

    claim = forming_records.claim_forming
    monkeypatch.setattr(forming_records, "claim_forming", counted)
    async with opened("memory://", clock) as book:
        for _ in range(3):
            await (await book.thread("ann", agent="guide")).append(TALK)
            await settle(book, clock)
        assert (claims, await book.jobs.who_forms()) == (["default"], "rules")


async def test_an_agent_can_have_a_record_of_its_own(clock: HandClock):
    async with opened("memory://", clock) as book:
        assert await book.jobs.form_with("rules") == "rules"
        assert await book.jobs.form_with("p:m", agent="guide") == "p:m"
        for agent in ("guide", "coach"):
            await (await book.thread("ann", agent=agent)).append(TALK)
        await settle(book, clock)
        (left,) = await jobs(book)
        assert "p:m" in left.error and left.tries == 0
        assert (await book.jobs.who_forms(), await book.jobs.who_forms(agent="guide")) == (
            "rules",
            "p:m",
        )
        assert await book.jobs.form_with("default", agent="guide") == "rules"
        await settle(book, clock, 61)
        assert await jobs(book) == []


async def test_each_tenant_has_its_own_record(tmp_path: Path, clock: HandClock):
    path = tmp_path / "book.db"
    async with opened(path, clock, tenant="acme") as theirs:
        await theirs.jobs.form_with("p:m")
        await (await theirs.thread("ben", agent="guide")).append(TALK)
    async with opened(path, clock) as book:
        assert await book.jobs.who_forms() == "" and book.cannot_form_because == ""
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        assert await book.jobs.who_forms() == "rules" and await known(book)
    async with opened(path, clock, tenant="acme") as theirs:
        assert not (await theirs.records.list("ben", types="memory", as_owner=True)).records


async def test_who_forms_is_rules_or_a_model(clock: HandClock):
    async with opened("memory://", clock) as book:
        for wrong in ("", "gpt", "p:", ":m", "p:m\n"):
            with pytest.raises(InvalidInput, match="who"):
                await book.jobs.form_with(wrong)
        with pytest.raises(InvalidInput, match="name the agent"):
            await book.jobs.form_with("default")


def test_the_synchronous_book_has_the_same_verbs(tmp_path: Path):
    with memoranda.open_sync(tmp_path / "book.db", models=None) as book:
        assert book.jobs.who_forms() == "" and book.cannot_form_because == ""
        assert book.jobs.form_with("p:m") == "p:m"
        assert "p:m" in book.cannot_form_because
        assert book.jobs.form_with("rules", agent="guide") == "rules"
        assert book.jobs.who_forms(agent="guide") == "rules"


async def test_the_doctor_says_when_and_by_whom_what_waits_is_formed(clock: HandClock):
    async with opened("memory://", clock) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)

        async def check(enabled: bool = True):
            found = await jobs(book)
            return formation(
                Forming(found, await book.jobs.who_forms(), book.cannot_form_because, enabled),
                clock(),
            )

        fresh = await check()
        assert fresh.state == "ok" and "the next is due in 29 seconds" in fresh.found
        assert "which is then recorded" in fresh.found
        assert (await check(enabled=False)).state == "note"
        clock.advance(seconds=95)
        late = await check()
        assert late.state == "note" and "has been due for 65 seconds" in late.found
        assert "memoranda worker" in late.advice
        clock.advance(days=2)
        assert (await check()).state == "warning"
        await book.jobs.run()
        formed = await check()
        assert (formed.state, formed.found) == (
            "ok",
            "no thread waits; formed with rules, without a language model",
        )


async def test_what_a_killed_worker_had_in_hand_is_not_called_done(clock: HandClock):
    async with opened("memory://", clock, None) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await thread.form(wait=False)
        assert await book.engine.lease(("form",), "killed", clock(), 60.0) is not None
        clock.advance(seconds=20)
        told = formation(Forming(await jobs(book), ""), clock())
        assert told.state == "ok" and "waits" not in told.found
        assert (
            "1 thread is being formed" in told.found and "goes on within 39 seconds" in told.found
        )
        clock.advance(seconds=41)
        assert "1 thread waits" in formation(Forming(await jobs(book), ""), clock()).found


async def test_a_part_that_no_answer_was_usable_for_is_never_called_ok(clock: HandClock):
    async with opened(
        "memory://", clock, ScriptedModels([ModelRefused("no", reason="content")])
    ) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        (found,) = set_aside(await book.engine.jobs(None, 100))
        assert (
            found.state == "warning"
            and "messages 1 to 2" in found.found
            and "jobs retry" in found.found
        )
