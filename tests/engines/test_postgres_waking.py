"""A commit wakes the workers of every process, as soon as a job of it is due; nothing rests on
that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from memoranda.model.changes import Job, JobDraft, JobState
from memoranda.model.values import utc_now
from memoranda.ports import NotifiesWorkers
from memoranda.worker import Worker
from memoranda_conformance.builders import Pen
from tests.engines.between import between, nothing_hangs, through
from tests.engines.postgres_server import Place

asyncpg = pytest.importorskip("asyncpg", reason="the driver is not installed: asyncpg")

from memoranda.engines.postgres.engine import PostgresEngine  # noqa: E402
from memoranda.engines.postgres.server import listener  # noqa: E402
from memoranda.engines.postgres.server.session import Session  # noqa: E402

NEVER = 3600.0
LISTENERS = (
    "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = 'memoranda'"
)


@pytest.fixture(autouse=True)
async def _nothing_hangs(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.setattr(listener, "_FIRST_PAUSE_SECONDS", 0.05)
    async with nothing_hangs():
        yield


class Woken:
    """Counts how often it is woken."""

    def __init__(self, engine: PostgresEngine) -> None:
        self.times = 0
        self._again = asyncio.Event()
        self.leave = engine.when_due(self.wake)

    def wake(self) -> None:
        self.times += 1
        self._again.set()

    async def once_more(self) -> None:
        await self._again.wait()
        self._again.clear()


@pytest.fixture
async def two(postgres: Place) -> AsyncIterator[tuple[PostgresEngine, PostgresEngine]]:
    """One book, opened twice, as by two processes."""
    address = postgres.new_book()
    one, other = await PostgresEngine.open(address), await PostgresEngine.open(address)
    yield one, other
    await one.close()
    await other.close()


async def listening(engine: PostgresEngine) -> Woken:
    """Somebody who hears from now on; the first waking says that they do."""
    woken = Woken(engine)
    await woken.once_more()
    return woken


async def test_a_commit_elsewhere_wakes_a_worker_that_would_not_look_for_an_hour(
    two: tuple[PostgresEngine, PostgresEngine],
):
    one, other = two
    assert isinstance(one, NotifiesWorkers)
    done, stop = asyncio.Event(), asyncio.Event()

    async def work(job: Job) -> None:
        done.set()

    heard = await listening(one)
    working = asyncio.create_task(Worker(one, {"work": work}, utc_now).run(stop, NEVER, at_once=2))
    await Pen(other).write(jobs=(JobDraft("work", "first"),))
    await done.wait()
    done.clear()
    await other.put(JobDraft("work", "second"), utc_now())
    await done.wait()
    stop.set()
    await working
    heard.leave()


async def test_a_job_that_is_made_due_again_wakes_too(two: tuple[PostgresEngine, PostgresEngine]):
    one, other = two
    await other.put(JobDraft("work", "x", delay=NEVER), utc_now())
    woken = await listening(one)
    (job,) = await other.jobs(JobState.WAITING, 10)
    assert await other.replay(job.id, utc_now())
    await woken.once_more()


async def test_what_was_rolled_back_and_what_is_due_later_wakes_nobody(
    two: tuple[PostgresEngine, PostgresEngine],
):
    one, other = two
    woken = await listening(one)

    async def put_and_fail(session: Session) -> None:
        await session.text("SELECT pg_notify(?, '')", other.server.listener.channel)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await other.server.write(put_and_fail)
    await other.put(JobDraft("work", "later", delay=60), utc_now())
    await Pen(other).write(jobs=(JobDraft("work", "later", delay=60),))
    # What comes last on the same way shows that nothing came before it.
    await other.put(JobDraft("work", "now"), utc_now())
    await woken.once_more()
    assert woken.times == 2


async def test_what_comes_due_in_a_book_beside_it_wakes_nobody(
    two: tuple[PostgresEngine, PostgresEngine], postgres: Place
):
    one, other = two
    beside = await PostgresEngine.open(postgres.new_book())
    woken = await listening(one)
    await beside.put(JobDraft("work", "theirs"), utc_now())
    await beside.close()
    await other.put(JobDraft("work", "ours"), utc_now())
    await woken.once_more()
    assert woken.times == 2


async def test_a_storm_of_notices_is_one_waking_and_one_more(
    two: tuple[PostgresEngine, PostgresEngine],
):
    one, other = two
    woken = await listening(one)

    async def storm(session: Session) -> None:
        asked = "SELECT pg_notify(?, number::text) FROM generate_series(1, 1000) AS number"
        await session.text(asked, other.server.listener.channel)

    await other.server.write(storm)
    await woken.once_more()
    await asyncio.sleep(3 * listener._TOGETHER_SECONDS)
    assert woken.times <= 3


async def test_a_thousand_commits_put_every_job_and_few_wakings(
    two: tuple[PostgresEngine, PostgresEngine],
):
    one, other = two
    woken = await listening(one)
    for _ in range(10):
        await asyncio.gather(*(other.put(JobDraft("work", str(n)), utc_now()) for n in range(100)))
    assert woken.times < 500
    assert len(await one.jobs(JobState.WAITING, 1000)) == 100


async def test_a_listener_that_is_cut_off_listens_again_and_wakes_for_what_it_missed(
    postgres: Place,
):
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    address = postgres.new_book()
    other = await PostgresEngine.open(address)
    async with between(address) as way:
        one = await PostgresEngine.open(through(address, way, longest_wait=5))
        woken = await listening(one)
        way.is_down = True
        way.cut()
        await other.put(JobDraft("work", "missed"), utc_now())
        way.is_down = False
        await woken.once_more()
        await other.put(JobDraft("work", "heard"), utc_now())
        await woken.once_more()
        await one.close()
    await other.close()


async def test_a_listener_notices_that_nobody_speaks_any_more(
    postgres: Place, monkeypatch: pytest.MonkeyPatch
):
    if not postgres.administrator:
        pytest.skip("only on a server of the tests' own")
    monkeypatch.setattr(listener, "_ASKING_SECONDS", 0.1)
    address = postgres.new_book()
    other = await PostgresEngine.open(address)
    async with between(address) as way:
        one = await PostgresEngine.open(
            through(address, way, longest_statement=0.5, longest_wait=0.5)
        )
        woken = await listening(one)
        way.is_silent = True
        await way.ended.wait()
        way.is_silent = False
        way.cut()
        await woken.once_more()
        await one.close()
    await other.close()


async def test_a_listener_outlasts_a_setting_of_this_machine_that_is_wrong_for_a_while(
    two: tuple[PostgresEngine, PostgresEngine], monkeypatch: pytest.MonkeyPatch
):
    one, other = two
    connecting, refused = asyncpg.connect, asyncio.Event()

    async def without_certificates(*_: object, **__: object) -> object:
        monkeypatch.setattr(asyncpg, "connect", connecting)
        refused.set()
        raise asyncpg.exceptions.ClientConfigurationError("the file of certificates is not there")

    monkeypatch.setattr(asyncpg, "connect", without_certificates)
    woken = await listening(one)
    assert refused.is_set()
    await other.put(JobDraft("work", "x"), utc_now())
    await woken.once_more()


async def test_nobody_listens_once_nobody_is_to_be_woken(postgres: Place):
    engine = await PostgresEngine.open(postgres.at_schema(f"{'long' * 15}_of"))
    watching = await asyncpg.connect(postgres.url)
    woken = await listening(engine)
    await engine.put(JobDraft("work", "x"), utc_now())
    await woken.once_more()
    assert len(await watching.fetch(LISTENERS)) == 1
    woken.leave()
    await engine.close()
    while await watching.fetch(LISTENERS):  # the server takes its time  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await watching.close()
