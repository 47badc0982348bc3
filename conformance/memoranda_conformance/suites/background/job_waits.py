"""Tests of postponed jobs, and of model answers that a worker stores with a job until it is
done.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from memoranda.errors import LimitReached
from memoranda.model.book_rows import Arrival
from memoranda.model.changes import KEPT_LENGTH, Job, JobDraft, JobState
from memoranda.model.language_models import FORMATION, Spent
from memoranda.model.records import Owner
from memoranda.ports import Engine
from memoranda_conformance.builders import BEN, Pen
from memoranda_conformance.suite import Suite


async def put(pen: Pen, key: str = "thread 1", **fields: Any) -> None:
    """Write something that makes a job due."""
    await pen.write(pen.remembering("something"), jobs=(JobDraft("form", key, **fields),))


async def leased(pen: Pen, worker: str = "one", seconds: float = 60.0) -> Job:
    """Lease a job; fail if none is due."""
    job = await pen.engine.lease(["form"], worker, pen.now, seconds)
    assert job is not None
    return job


class WaitingSuite(Suite):
    """Tests of postponed jobs with stored answers of models."""

    async def test_a_postponed_job_waits_for_its_moment_and_no_attempt_is_counted(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await put(pen)
        for number in range(1, 4):
            job = await leased(pen)
            assert (job.attempts, job.postponed, job.tries) == (number, number - 1, 1)
            until = pen.now + timedelta(seconds=30)
            assert await engine.postpone(job, until, "no model")
            (waiting,) = await engine.jobs(JobState.WAITING, 10)
            assert (waiting.run_at, waiting.error, waiting.worker, waiting.leased_until) == (
                until,
                "no model",
                None,
                None,
            )
            assert await pen.engine.lease(["form"], "one", pen.now, 60.0) is None
            pen.tick(30)
        again = await leased(pen)
        assert not await engine.postpone(job, pen.now)
        assert not await engine.finish(job)
        assert await engine.fail(again, "wrong", pen.now, pen.now)
        assert (await leased(pen)).tries == 2

    async def test_a_job_that_was_let_go_of_is_due_from_then_on(self, engine: Engine) -> None:
        pens = [Pen(engine), Pen(engine, BEN)]
        for pen, key in zip(pens, ("first", "second"), strict=True):
            await put(pen, key)
            pens[1].tick(1)
        assert (await leased(pens[1], seconds=5)).key == "first"
        pens[1].tick(5)
        assert [(await leased(pens[1])).key for _ in pens] == ["second", "first"]

    async def test_a_postponed_job_is_not_due_sooner_however_often_it_is_put(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await put(pen, delay=1, max_wait=5)
        pen.tick(1)
        until = pen.now + timedelta(seconds=60)
        assert await engine.postpone(await leased(pen), until)
        for delay, due in ((1, until), (0, until), (90, until), (120, None)):
            await put(pen, delay=delay, max_wait=5 if due else None)
            (waiting,) = await engine.jobs(None, 10)
            assert waiting.run_at == (due or pen.now + timedelta(seconds=delay))

    async def test_a_job_put_again_while_it_is_postponed_waits_for_both(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await put(pen)
        for wait, delay in ((30, 5), (5, 30)):
            job = await leased(pen)
            await put(pen, delay=delay)
            due = pen.now + timedelta(seconds=30)
            assert await engine.postpone(job, pen.now + timedelta(seconds=wait))
            (waiting,) = await engine.jobs(None, 10)
            assert waiting.run_at == due
            pen.tick(30)

    async def test_a_postponed_job_that_is_replayed_is_due_now_with_its_attempts_begun_anew(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await put(pen)
        await engine.fail(await leased(pen), "wrong", pen.now, pen.now)
        job = await leased(pen)
        assert not await engine.replay(job.id, pen.now)
        await engine.postpone(job, pen.now + timedelta(days=1), "no money")
        assert await engine.replay(job.id, pen.tick())
        (waiting,) = await engine.jobs(JobState.WAITING, 10)
        assert (waiting.run_at, waiting.attempts, waiting.postponed, waiting.error) == (
            pen.now,
            0,
            0,
            "",
        )
        await put(pen, delay=5)
        (waiting,) = await engine.jobs(JobState.WAITING, 10)
        assert waiting.run_at == pen.now + timedelta(seconds=5)

    async def test_only_who_insists_ends_a_postponement(self, engine: Engine) -> None:
        pen = Pen(engine)
        await put(pen)
        job = await leased(pen)
        await put(pen, insists=True)
        assert await engine.postpone(job, pen.now + timedelta(days=1), "no money")
        await put(pen)
        assert await pen.engine.lease(["form"], "one", pen.now, 60.0) is None
        await put(pen, insists=True)
        (waiting,) = await engine.jobs(JobState.WAITING, 10)
        assert (waiting.run_at, waiting.attempts, waiting.postponed, waiting.error) == (
            pen.now,
            0,
            0,
            "",
        )
        assert (await leased(pen)).tries == 1

    async def test_nothing_is_due_after_the_last_moment(self, engine: Engine) -> None:
        pen = Pen(engine)
        for number in range(2):
            await put(pen, delay=1e300, max_wait=(1e300, float("inf"))[number])
        await put(pen, "another", delay=float("inf"))
        assert {job.run_at for job in await engine.jobs(None, 10)} == {
            datetime.max.replace(tzinfo=UTC)
        }

    async def test_a_job_given_up_and_replayed_begins_with_no_attempt_and_at_once(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await put(pen)
        await engine.postpone(await leased(pen), pen.now)
        dead = await leased(pen)
        await engine.fail(dead, "no use", pen.now, None)
        assert await engine.replay(dead.id, pen.now)
        again = await leased(pen)
        assert (again.attempts, again.postponed) == (1, 0)

    async def test_what_is_kept_with_a_job_is_there_for_whoever_leases_it_next(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        about = await pen.remember("tea")
        await put(pen, delay=1)
        pen.tick(1)
        job = await leased(pen, seconds=10)
        assert job.kept is None
        first, second = {"digest": "x"}, {"deep": [1, None, {"é": "%_'\ud800"}]}
        assert await engine.keep(job, first, (about,))
        assert await engine.keep(job, second, (about,))
        pen.tick(10)
        taken = await leased(pen, "two")
        assert taken.kept == second
        assert not await engine.keep(job, first, ())
        await engine.fail(taken, "wrong", pen.now, pen.now)
        await put(pen, delay=0)
        failed = await leased(pen)
        assert failed.kept == second
        await engine.postpone(failed, pen.now)
        assert [waiting.kept for waiting in await engine.jobs(None, 10)] == [None]
        postponed = await leased(pen)
        assert postponed.kept == second
        await engine.fail(postponed, "no use", pen.now, None)
        assert await engine.replay(postponed.id, pen.now)
        assert (await leased(pen)).kept == second

    async def test_what_is_kept_goes_when_the_job_is_done(self, engine: Engine) -> None:
        pen = Pen(engine)
        await put(pen)
        job = await leased(pen)
        assert await engine.keep(job, {"n": 1}, ())
        await put(pen)
        assert await engine.finish(job)
        again = await leased(pen)
        assert again.kept is None
        assert await engine.keep(again, {"n": 2}, ())
        assert await engine.finish(again)
        assert not await engine.keep(again, {"n": 3}, ())
        await put(pen)
        assert (await leased(pen)).kept is None

    async def test_what_is_kept_is_json_of_a_bounded_length(self, engine: Engine) -> None:
        pen = Pen(engine)
        await put(pen)
        job = await leased(pen)
        with pytest.raises(LimitReached):
            await engine.keep(job, {"text": "x" * KEPT_LENGTH}, ())
        with pytest.raises(TypeError):
            await engine.keep(job, {"text": {1, 2}}, ())
        assert await engine.keep(job, {"text": "x" * (KEPT_LENGTH - 11)}, ())

    async def test_what_is_kept_goes_with_what_it_tells_of_and_the_job_stays(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        thread = await pen.open()
        tea, cake = await pen.say(thread, "tea", "cake")
        await put(pen, "thread", records=(thread,))
        job = await leased(pen)
        await put(other, "other", records=(tea,))
        assert await engine.keep(job, {"text": "tea"}, (tea, cake))
        receipt = await pen.erase(tea)
        assert (receipt.removed["kept answers"], receipt.removed["jobs"]) == (1, 1)
        assert not await engine.keep(job, {"text": "tea, told too late"}, (tea, cake))
        assert await engine.keep(job, {"text": "cake"}, (cake,))
        await engine.postpone(job, pen.now)
        again = await leased(pen)
        assert (again.key, again.kept) == ("thread", {"text": "cake"})
        await pen.erase(thread)
        assert not await engine.keep(again, {"text": "cake"}, ())
        assert [each for each in await engine.jobs(None, 10) if each.kind == "form"] == []

    async def test_what_a_job_failed_with_tells_no_more_of_what_was_forgotten(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread, drink = await pen.open(), await pen.remember("tea")
        said, _ = await pen.say(thread, "tea", "cake")
        for key, about in (("thread", (thread,)), ("answer", ()), ("another", ())):
            await put(pen, key, records=about)
            job = await leased(pen)
            assert await engine.keep(job, {"text": "tea"}, (drink,) if key == "answer" else ())
            await engine.fail(job, f"{key}: 'tea' is no JSON", pen.now, None)
        receipts = [await pen.erase(said), await pen.erase(drink)]
        assert [receipt.removed["errors of jobs"] for receipt in receipts] == [1, 1]
        dead = {job.key: job.error for job in await engine.jobs(JobState.DEAD, 10)}
        assert dead == {"thread": "", "answer": "", "another": "another: 'tea' is no JSON"}

    async def test_what_is_kept_goes_with_a_part_of_what_it_tells_of(self, engine: Engine) -> None:
        pen = Pen(engine)
        tea, cake = await pen.say(await pen.open(), "tea", "cake")
        memory = await pen.remember("tea and cake", sources=(tea, cake))
        await put(pen)
        job = await leased(pen)
        assert await engine.keep(job, {"text": "tea and cake"}, (memory,))
        await engine.fail(job, "'tea and cake' is no JSON", pen.now, pen.now)
        receipt = await pen.erase(tea)
        assert receipt.kept == (memory,)
        assert (receipt.removed["kept answers"], receipt.removed["errors of jobs"]) == (1, 1)
        again = await leased(pen)
        assert (again.kept, again.error) == (None, "")

    async def test_what_is_kept_goes_with_another_owner_of_whom_it_tells(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        told = await other.remember("ben's")
        await put(pen)
        job = await leased(pen)
        assert await engine.keep(job, {"text": "ben's"}, (told,))
        await other.erase_all()
        await engine.postpone(job, pen.now)
        assert (await leased(pen)).kept is None


class WhoFormsSuite(Suite):
    """Tests of the record of who forms, and of workers that work for one tenant."""

    async def test_nobody_is_recorded_until_somebody_forms(self, engine: Engine) -> None:
        assert (await engine.forming_record("default")).of() == ""
        assert await engine.claim_forming("default", None, "rules") == "rules"
        assert await engine.claim_forming("default", "a", "p:m") == "rules"
        record = await engine.forming_record("default")
        assert (record.of(), record.of("a"), record.alone) == ("rules", "rules", True)
        assert record.leaves_any_to("rules") and not record.leaves_any_to("p:m")

    async def test_of_several_that_form_first_one_is_recorded(self, engine: Engine) -> None:
        names = [f"p:{number}" for number in range(8)]
        told = await asyncio.gather(
            *(engine.claim_forming("default", None, name) for name in names)
        )
        assert len(set(told)) == 1
        assert (await engine.forming_record("default")).of() == told[0]

    async def test_an_agent_and_another_tenant_have_records_of_their_own(
        self, engine: Engine
    ) -> None:
        await engine.change_forming("default", None, "rules")
        await engine.change_forming("default", "a", "p:m")
        await engine.change_forming("acme", None, "p:other")
        record = await engine.forming_record("default")
        assert (record.of(), record.of("a"), record.of("b"), record.alone) == (
            "rules",
            "p:m",
            "rules",
            False,
        )
        assert record.leaves_any_to("p:m") and not record.leaves_any_to("p:other")
        assert await engine.claim_forming("default", "a", "rules") == "p:m"
        await engine.change_forming("default", "a", "")
        assert (await engine.forming_record("default")).of("a") == "rules"
        assert (await engine.forming_record("acme")).of("a") == "p:other"

    async def test_a_model_that_was_paid_for_forming_counts_as_recorded(
        self, engine: Engine
    ) -> None:
        def spent(model: str, day: int, **fields: Any) -> Spent:
            given = {
                "tenant": "default",
                "task": FORMATION,
                "calls": 1,
                "answers": 1,
                "model": model,
            }
            return Spent.model_validate({**given, "day": date(2026, 1, day), **fields})

        for one in (
            spent("p:older", 1, calls=9, answers=9),
            spent("p:newer", 2),
            spent("p:mistyped", 3, answers=0),
            spent("p:summary", 3, task="summary"),
            spent("p:elsewhere", 3, tenant="acme"),
        ):
            await engine.note_spent(one)
        assert (await engine.forming_record("default")).of() == "p:newer"
        assert await engine.claim_forming("default", None, "rules") == "p:newer"
        await engine.note_spent(spent("p:last", 9))
        assert (await engine.forming_record("default")).of() == "p:newer"

    async def test_a_copy_of_a_book_knows_who_forms_it(
        self, engine: Engine, another: Engine
    ) -> None:
        await Pen(engine).remember("tea")
        await engine.change_forming("default", None, "p:m")
        await engine.change_forming("default", "a", "rules")
        there = await engine.whereabouts()
        assert await another.arrive(Arrival("there", "copy"), there.secret)
        await another.lay_book("copy", await engine.book_frame())
        await another.end_arrival("copy")
        assert await another.forming_record("default") == await engine.forming_record("default")

    async def test_a_book_that_becomes_a_copy_forgets_who_formed_it_and_that_it_was_a_backup(
        self, engine: Engine, another: Engine
    ) -> None:
        await another.change_forming("default", None, "p:m")
        await another.mark_backup("one")
        there = await engine.whereabouts()
        assert await another.arrive(Arrival("there", "copy"), there.secret)
        await another.lay_book("copy", await engine.book_frame())
        assert await another.book_frame() == await engine.book_frame()
        await another.end_arrival("copy")
        assert (await another.forming_record("default")).of() == ""
        assert (await another.whereabouts()).backup is None

    async def test_a_worker_of_one_tenant_leases_its_jobs_and_those_of_the_book(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, Owner(tenant="acme", id="ann"))
        await put(other, "theirs")
        await put(pen, "ours")
        await engine.put(JobDraft("terms", "book"), pen.now)
        kinds, found = ("form", "terms"), []
        while (job := await engine.lease(kinds, "one", pen.now, 60.0, "default")) is not None:
            found.append(job.key)
            assert await engine.finish(job)
        assert sorted(found) == ["book", "ours"]
        left = await engine.lease(kinds, "one", pen.now, 60.0, "acme")
        assert left is not None and left.key == "theirs"
