"""Tests of jobs that are put off with what they were asked, looked up by their name, and
cancelled.
"""

from __future__ import annotations

import asyncio

from memoranda.model.changes import JobState
from memoranda.model.records import Owner
from memoranda.ports import Engine
from memoranda_conformance.builders import ANN, BEN, Pen
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.background.job_waits import leased, put


class SchedulingSuite(Suite):
    """Tests of jobs by owner, kind and key."""

    async def test_a_job_put_off_keeps_what_it_was_asked_if_that_is_wanted(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        for payload, keeps, held in (
            ({"a": 1}, True, {"a": 1}),
            ({}, True, {"a": 1}),
            ({"b": "ü"}, False, {"b": "ü"}),
            ({"c": 3}, True, {"b": "ü"}),
            ({}, False, {}),
        ):
            await put(pen, payload=payload, keeps_payload=keeps)
            (waiting,) = await engine.jobs(None, 10)
            assert waiting.payload == held

    async def test_a_job_put_again_while_it_runs_keeps_what_it_was_asked_for_the_next_run(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await put(pen, payload={"a": 1})
        job = await leased(pen)
        await put(pen, keeps_payload=True)
        assert await engine.finish(job)
        assert (await leased(pen)).payload == {"a": 1}

    async def test_a_job_is_found_by_its_owner_kind_and_key_alone(self, engine: Engine) -> None:
        ann, ben = Pen(engine), Pen(engine, BEN)
        await put(ann, "x", payload={"of": "ann"}, delay=5)
        await put(ben, "x", payload={"of": "ben"})
        for owner, of in ((ANN, "ann"), (BEN, "ben")):
            found = await engine.job_of(owner, "form", "x")
            assert found is not None and (found.owner, found.payload) == (owner, {"of": of})
        assert await engine.job_of(ANN, "form", "y") is None
        assert await engine.job_of(ANN, "other", "x") is None
        assert await engine.job_of(Owner(id="nobody"), "form", "x") is None
        job = await leased(ben)
        seen = await engine.job_of(BEN, "form", "x")
        assert seen is not None and (seen.state, seen.id) == (JobState.LEASED, job.id)

    async def test_a_waiting_or_dead_job_is_cancelled_and_no_other(self, engine: Engine) -> None:
        ann, ben = Pen(engine), Pen(engine, BEN)
        for pen in (ann, ben):
            await put(pen, "x", delay=5)
        await put(ann, "y", delay=5)
        assert await engine.cancel(ANN, "form", "x")
        assert not await engine.cancel(ANN, "form", "x")
        assert [(job.owner, job.key) for job in await engine.jobs(None, 10)] == [
            (BEN, "x"),
            (ANN, "y"),
        ]
        ben.tick(5)
        await engine.fail(await leased(ben), "no use", ben.now, None)
        assert await engine.cancel(BEN, "form", "x")
        assert await engine.job_of(BEN, "form", "x") is None

    async def test_a_job_that_runs_is_not_cancelled_and_ends_as_usual(self, engine: Engine) -> None:
        pen = Pen(engine)
        await put(pen)
        job = await leased(pen)
        assert not await engine.cancel(ANN, "form", "thread 1")
        assert await engine.finish(job)
        assert await engine.jobs(None, 10) == []

    async def test_a_cancelled_job_can_be_put_again_and_begins_anew(self, engine: Engine) -> None:
        pen = Pen(engine)
        await put(pen, payload={"a": 1}, delay=1, max_wait=2)
        pen.tick(10)
        await engine.cancel(ANN, "form", "thread 1")
        await put(pen, delay=5, max_wait=6, keeps_payload=True)
        found = await engine.job_of(ANN, "form", "thread 1")
        assert found is not None and found.payload == {}
        assert (found.run_at - pen.now).total_seconds() == 5 and found.first_at == pen.now

    async def test_of_a_cancel_and_a_lease_at_once_one_wins(self, engine: Engine) -> None:
        pen = Pen(engine)
        for number in range(8):
            await put(pen, f"{number}")
            cancelled, job = await asyncio.gather(
                engine.cancel(ANN, "form", f"{number}"),
                engine.lease(["form"], "one", pen.now, 60.0),
            )
            assert cancelled is (job is None)
            if job is not None:
                assert await engine.finish(job)
