"""Tests of scans for what waits to be formed: threads that a job forms, and their messages after
the watermark.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from memoranda.model.changes import JobDraft, JobState, MarkFormed, SetThread
from memoranda.model.query import Filter, Scan
from memoranda.model.records import WHOLE, Audience, RecordType, View
from memoranda.model.service_records import Appends
from memoranda.ports import Engine
from memoranda_conformance.builders import ANN, BEN, FOR_A, START, Pen
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.background.job_waits import leased

MESSAGE = frozenset({RecordType.MESSAGE})


class UnformedSuite(Suite):
    """Tests that exactly what waits to be formed is found, by exactly those who may read it."""

    async def test_what_waits_to_be_formed_are_messages_after_the_watermark_of_threads_with_a_job(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        first, second, bare = await pen.open(), await pen.open(), await pen.open()
        await other.say(await other.open(), "rum")
        assert await unformed(pen) == ([], [])
        tea, cake = await pen.say(first, "tea", "cake")
        (milk,) = await pen.say(second, "milk")
        await pen.say(bare, "no job forms it")
        for thread in (first, second):
            await pen.write(SetThread(thread, {}), jobs=(form_job(thread),))
        assert await unformed(pen) == ([first, second], [milk, cake, tea])
        assert await unformed(pen, not_thread=second) == ([first], [cake, tea])
        await pen.write(MarkFormed(first, 1))
        assert await unformed(pen) == ([first, second], [milk, cake])
        page = await engine.scans([Scan(ANN, WHOLE, Filter(types=MESSAGE, unformed=True), None, 1)])
        assert ([one.id for one in page[0]], page[0].cursor is None) == ([cake], False)
        await pen.write(MarkFormed(first, 2, after=1))
        assert await unformed(pen) == ([second], [milk])
        job = await leased(pen)
        assert await unformed(pen) == ([second], [milk])
        assert await engine.finish(job)
        assert await engine.fail(await leased(pen), "no model", pen.now, None)
        assert await unformed(pen) == ([second], [milk])
        assert await engine.cancel(ANN, "form", str(second))
        assert await unformed(pen) == ([], [])
        assert await unformed(other) == ([], [])

    async def test_what_waits_to_be_formed_is_seen_by_its_readers_until_it_expires_or_is_erased(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        own = await pen.open(agent="a", audience=FOR_A)
        group = await pen.open(agent="a", audience=Audience.of_groups(("ops",)))
        brief = await pen.open(expires_at=START + timedelta(days=1))
        said = [
            (await pen.say(thread, text))[0] for thread, text in ((own, "tea"), (group, "milk"))
        ]
        (late,) = await pen.say(brief, "rum", expires_at=START + timedelta(days=1))
        for thread in (own, group, brief):
            await pen.write(SetThread(thread, {}), jobs=(form_job(thread),))
        before, after = START + timedelta(hours=1), START + timedelta(days=2)
        assert await unformed(pen, View(at=before)) == ([brief], [late])
        assert await unformed(pen, View(at=after)) == ([], [])
        assert await unformed(pen, View(agent="a", at=after)) == ([own], said[:1])
        assert await unformed(pen, View(agent="b", groups=("ops",), at=after)) == (
            [group],
            said[1:],
        )
        assert await unformed(pen, View(whole=True, at=before)) == (
            [own, group, brief],
            [late, *said[::-1]],
        )
        await pen.erase(said[0])
        assert (await unformed(pen, View(agent="a", at=after)))[1] == []
        await engine.restrict(ANN, Appends.KEEP_UNREAD, pen.now)
        assert await unformed(pen, View(agent="b", groups=("ops",), at=before)) == ([], [])

    async def test_one_job_is_leased_alone_if_it_is_due_and_its_owner_has_no_other_in_hand(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        threads = [await pen.open(), await pen.open(), await pen.open()]
        for thread, delay in zip(threads, (0, 0, 600), strict=True):
            await pen.write(SetThread(thread, {}), jobs=(form_job(thread, delay),))
        theirs = await other.open()
        await other.write(SetThread(theirs, {}), jobs=(form_job(theirs),))
        own = {job.key: job.id for job in await engine.jobs(None, 10, ANN)}
        assert own.keys() == {str(thread) for thread in threads}
        assert [job.key for job in await engine.jobs(JobState.WAITING, 10, BEN)] == [str(theirs)]
        assert len(await engine.jobs(None, 10)) == 4

        async def lease(id: UUID, *kinds: str) -> str | None:
            job = await engine.lease(kinds or ("form",), "one", pen.now, 60.0, None, id)
            return None if job is None else job.key

        first, second, late = (own[str(thread)] for thread in threads)
        assert await lease(late) is None
        assert await lease(second, "quiet") is None
        assert await lease(second) == str(threads[1])
        assert await lease(second) is None
        assert await lease(first) is None
        (job,) = await engine.jobs(None, 10, BEN)
        assert await lease(job.id) == str(theirs)


def form_job(thread: UUID, delay: float = 0) -> JobDraft:
    """Return the job that forms a thread."""
    return JobDraft("form", str(thread), records=(thread,), delay=delay)


async def unformed(
    pen: Pen, view: View | None = None, **conditions: Any
) -> tuple[list[UUID], list[UUID]]:
    """Return the threads that wait to be formed, oldest first, and their messages, newest first."""
    threads = await pen.scan(
        view, types=frozenset({RecordType.THREAD}), unformed=True, **conditions
    )
    said = await pen.scan(view, types=MESSAGE, unformed=True, newest_first=True, **conditions)
    return [one.id for one in threads], [one.id for one in said]
