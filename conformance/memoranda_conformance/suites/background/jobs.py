"""Tests of jobs: work that a commit makes due, leased by one worker at a time, and done once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memoranda.errors import Erased, NotFound
from memoranda.model.changes import Job, JobDraft, JobState, Retract
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import BEN, Pen
from memoranda_conformance.suite import Suite

MINUTE = 60.0


class JobSuite(Suite):
    """Tests of leases, retries and dead jobs, and of what erasure does to waiting jobs."""

    async def put(self, pen: Pen, key: str = "thread 1", **fields: Any) -> None:
        """Write something that makes a job due."""
        draft = JobDraft("form", key, **fields)
        await pen.write(pen.remembering("something"), jobs=(draft,))

    async def lease(self, pen: Pen, worker: str = "one", seconds: float = MINUTE) -> Job | None:
        """Lease a due job now; None if there is none."""
        return await pen.engine.lease(["form"], worker, pen.now, seconds)

    async def leased(self, pen: Pen, worker: str = "one", seconds: float = MINUTE) -> Job:
        """Lease a due job; fail if there is none."""
        job = await self.lease(pen, worker, seconds)
        assert job is not None
        return job

    async def test_a_job_comes_with_the_write_that_makes_it_due(self, engine: Engine) -> None:
        pen = Pen(engine)
        about = await pen.remember("tea")
        payload = {"deep": [1, None, {"é": "%_'"}]}
        await self.put(pen, payload=payload, records=(about,))
        job = await self.leased(pen)
        era = (await pen.ledger())[0].era
        assert (job.kind, job.key, job.owner, job.era) == ("form", "thread 1", pen.owner, era)
        assert (job.payload, job.records, job.attempts, job.worker) == (payload, (about,), 1, "one")
        assert (job.run_at, job.first_at, job.state) == (pen.now, pen.now, JobState.LEASED)
        assert job.leased_until == pen.now + timedelta(seconds=MINUTE)

    async def test_a_refused_write_makes_nothing_due(self, engine: Engine) -> None:
        pen = Pen(engine)
        with pytest.raises(NotFound):
            await pen.write(Retract(new_id()), jobs=(JobDraft("form", "x"),))
        assert await engine.jobs(None, 10) == []

    async def test_a_job_waits_until_its_time(self, engine: Engine) -> None:
        pen = Pen(engine)
        await self.put(pen, delay=10)
        assert await self.lease(pen) is None
        pen.tick(9.999)
        assert await self.lease(pen) is None
        pen.tick(0.001)
        assert (await self.leased(pen)).run_at == pen.now

    async def test_a_job_is_leased_to_one_worker_at_a_time(self, engine: Engine) -> None:
        pen = Pen(engine)
        await self.put(pen)
        leases = await asyncio.gather(*(self.lease(pen, f"worker {number}") for number in range(8)))
        assert len([job for job in leases if job is not None]) == 1

    async def test_the_longest_due_of_the_kinds_asked_for_comes_first(self, engine: Engine) -> None:
        pen = Pen(engine)
        for kind, delay in (("form", 5), ("dream", 1), ("form", 3), ("other", 0)):
            await pen.write(
                pen.remembering("x"), jobs=(JobDraft(kind, f"{kind} {delay}", delay=delay),)
            )
        pen.tick(10)
        found = []
        while job := await engine.lease(["form", "dream"], "one", pen.now, MINUTE):
            found.append(job.key)
            assert await engine.finish(job)
        assert found == ["dream 1", "form 5", "form 3"]

    async def test_an_owners_jobs_are_leased_one_at_a_time(self, engine: Engine) -> None:
        ann, ben = Pen(engine), Pen(engine, BEN)
        for pen in (ann, ben):
            for key in "ab":
                await pen.write(pen.remembering("x"), jobs=(JobDraft("form", key),))
        await engine.put(JobDraft("form", "book"), ann.now)
        await engine.put(JobDraft("form", "book again"), ann.now)
        first = [await self.lease(ann, "one") for _ in range(6)]
        held = [job for job in first if job is not None]
        assert [job.owner for job in held].count(ann.owner) == 1
        assert [job.owner for job in held].count(ben.owner) == 1
        assert [job.owner for job in held].count(None) == 2 and len(held) == 4
        assert await engine.finish(next(job for job in held if job.owner == ann.owner))
        assert (await self.leased(ann)).owner == ann.owner
        ann.tick(MINUTE + 1)
        assert (await self.leased(ann)).kind == "form"
        assert await engine.lease([], "one", pen.now, MINUTE) is None

    async def test_a_finished_job_is_gone(self, engine: Engine) -> None:
        pen = Pen(engine)
        await self.put(pen)
        job = await self.leased(pen)
        assert await engine.finish(job)
        assert not await engine.finish(job)
        assert await engine.jobs(None, 10) == []

    async def test_a_failed_job_comes_back_at_its_time(self, engine: Engine) -> None:
        pen = Pen(engine)
        await self.put(pen)
        job = await self.leased(pen)
        assert await engine.fail(job, "no model", pen.now, pen.now + timedelta(seconds=30))
        (waiting,) = await engine.jobs(JobState.WAITING, 10)
        assert (waiting.error, waiting.worker, waiting.leased_until, waiting.attempts) == (
            "no model",
            None,
            None,
            1,
        )
        assert await self.lease(pen) is None
        pen.tick(30)
        assert (await self.leased(pen)).attempts == 2
        assert not await engine.fail(job, "late", pen.now, None)

    async def test_a_job_given_up_is_a_dead_letter_until_it_is_replayed_or_dropped(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        for key in ("one", "two"):
            await self.put(pen, key)
            await engine.fail(await self.leased(pen), "no use", pen.tick(), None)
        first, second = await engine.jobs(JobState.DEAD, 10)
        assert [(job.key, job.error) for job in (first, second)] == [
            ("one", "no use"),
            ("two", "no use"),
        ]
        assert await self.lease(pen) is None
        assert await engine.replay(first.id, pen.tick())
        assert not await engine.replay(first.id, pen.now)
        assert not await engine.drop(first.id)
        again = await self.leased(pen)
        assert (again.id, again.attempts, again.error) == (first.id, 1, "")
        assert await engine.drop(second.id)
        assert not await engine.drop(second.id)
        assert not await engine.replay(second.id, pen.now)
        assert await engine.jobs(JobState.DEAD, 10) == []

    async def test_a_waiting_job_that_is_put_again_is_put_off_but_not_for_ever(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await self.put(pen, delay=10, max_wait=25, payload={"n": 0})
        first = pen.now
        for number in range(1, 4):
            pen.tick(8)
            await self.put(pen, delay=10, max_wait=25, payload={"n": number})
        (job,) = await engine.jobs(None, 10)
        assert (job.first_at, job.run_at) == (first, first + timedelta(seconds=25))
        assert (job.payload, job.generation) == ({"n": 3}, 4)
        await self.put(pen, "another", delay=10)
        assert len(await engine.jobs(None, 10)) == 2

    async def test_a_job_put_again_while_it_runs_runs_once_more(self, engine: Engine) -> None:
        pen = Pen(engine)
        await self.put(pen, payload={"n": 1})
        job = await self.leased(pen)
        await self.put(pen, payload={"n": 2}, delay=5)
        assert await self.lease(pen, "two") is None
        assert await engine.finish(job)
        assert await self.lease(pen, "two") is None
        pen.tick(5)
        again = await self.leased(pen, "two")
        assert (again.id, again.payload, again.attempts, again.generation) == (
            job.id,
            {"n": 2},
            1,
            2,
        )
        assert await engine.finish(again)
        assert await engine.jobs(None, 10) == []

    async def test_a_job_put_again_while_it_runs_is_not_given_up_with_the_old_one(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await self.put(pen)
        job = await self.leased(pen)
        await self.put(pen, delay=5)
        due = pen.now + timedelta(seconds=5)
        assert await engine.fail(job, "no use", pen.now, None)
        (waiting,) = await engine.jobs(None, 10)
        assert (waiting.state, waiting.attempts, waiting.run_at) == (JobState.WAITING, 0, due)

    async def test_a_job_put_again_while_it_fails_is_tried_no_sooner_than_either_asked(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await self.put(pen)
        for retry, delay in ((30, 5), (5, 30)):
            job = await self.leased(pen)
            await self.put(pen, delay=delay)
            due = pen.now + timedelta(seconds=30)
            assert await engine.fail(job, "no model", pen.now, pen.now + timedelta(seconds=retry))
            (waiting,) = await engine.jobs(None, 10)
            assert (waiting.attempts, waiting.run_at) == (job.attempts, due)
            pen.tick(30)

    async def test_an_expired_lease_is_taken_over_and_the_first_worker_is_too_late(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await self.put(pen)
        old = await self.leased(pen, "one", seconds=10)
        pen.tick(9)
        assert await self.lease(pen, "two") is None
        pen.tick(1)
        new = await self.leased(pen, "two")
        assert (new.id, new.attempts) == (old.id, 2)
        assert not await engine.renew(old, pen.now, MINUTE)
        assert not await engine.finish(old)
        assert not await engine.fail(old, "late", pen.now, None)
        assert await engine.finish(new)

    async def test_the_same_worker_is_too_late_for_its_own_earlier_lease(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await self.put(pen)
        old = await self.leased(pen, "one", seconds=1)
        pen.tick(1)
        new = await self.leased(pen, "one")
        assert not await engine.finish(old)
        assert await engine.finish(new)

    async def test_a_renewed_lease_holds(self, engine: Engine) -> None:
        pen = Pen(engine)
        await self.put(pen)
        job = await self.leased(pen, seconds=10)
        pen.tick(9)
        assert await engine.renew(job, pen.now, 10)
        pen.tick(9)
        assert await self.lease(pen, "two") is None
        assert await engine.finish(job)

    async def test_putting_a_dead_job_again_revives_it(self, engine: Engine) -> None:
        pen = Pen(engine)
        await self.put(pen)
        dead = await self.leased(pen)
        await engine.fail(dead, "no use", pen.now, None)
        await self.put(pen)
        revived = await self.leased(pen)
        assert (revived.id, revived.attempts, revived.first_at) == (dead.id, 1, pen.now)

    async def test_owners_do_not_share_jobs(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        await self.put(pen)
        await self.put(other)
        assert [job.owner for job in await engine.jobs(None, 10)] == [pen.owner, other.owner]

    async def test_the_books_own_upkeep_belongs_to_nobody(self, engine: Engine) -> None:
        pen = Pen(engine)
        for _ in range(2):
            await engine.put(JobDraft("form", "terms"), pen.tick())
        job = await self.leased(pen)
        assert (job.owner, job.era, job.generation) == (None, None, 2)

    async def test_what_was_forgotten_takes_its_jobs_along(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        tea, cake = await pen.remember("tea"), await pen.remember("cake")
        await self.put(pen, "tea", records=(tea, cake))
        await self.put(pen, "cake", records=(cake,))
        await self.put(other, "about ann's tea", records=(tea,))
        receipt = await pen.erase(tea)
        assert receipt.removed["jobs"] == 2
        assert [job.key for job in await engine.jobs(None, 10) if job.kind == "form"] == ["cake"]

    async def test_jobs_of_an_ended_era_are_gone_even_when_they_run(self, engine: Engine) -> None:
        pen = Pen(engine)
        await self.put(pen, "waiting", delay=99)
        await self.put(pen, "dead")
        await engine.fail(await self.leased(pen), "no use", pen.now, None)
        await self.put(pen, "running")
        job = await self.leased(pen)
        await pen.erase_all()
        assert [job for job in await engine.jobs(None, 10) if job.kind == "form"] == []
        assert not await engine.finish(job)
        assert not await engine.renew(job, pen.now, MINUTE)
        with pytest.raises(Erased):
            await pen.write(pen.remembering("late"), era=job.era)
        await self.put(pen, "running")
        assert (await self.leased(pen)).era not in (None, job.era)

    async def test_a_batch_is_refused_in_another_era_than_the_one_it_was_begun_for(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        with pytest.raises(Erased):
            await pen.write(pen.remembering("x"), era=new_id())
        await pen.remember("x")
        era = await pen.era()
        batch = pen.batch(pen.remembering("y"), era=era)
        await engine.apply(batch)
        await pen.erase_all()
        with pytest.raises(Erased):
            await engine.apply(replace(batch, changes=(pen.remembering("z"),)))
        assert await pen.scan() == []
