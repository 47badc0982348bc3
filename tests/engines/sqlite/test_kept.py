"""An answer stored with a job is a row of its own, and is deleted with the job."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.changes import Job
from memoranda_conformance.builders import Pen
from memoranda_conformance.suites.background.job_waits import leased, put


def kept(place: Path) -> int:
    with closing(sqlite3.connect(place)) as connection:
        count: int = connection.execute("SELECT count(*) FROM kept").fetchone()[0]
        return count


async def finish(pen: Pen, job: Job) -> None:
    assert await pen.engine.finish(job)


async def drop(pen: Pen, job: Job) -> None:
    assert await pen.engine.fail(job, "no use", pen.now, None)
    assert await pen.engine.drop(job.id)


async def forget_what_it_is_about(pen: Pen, job: Job) -> None:
    await pen.erase(*job.records)


async def forget_its_owner(pen: Pen, job: Job) -> None:
    await pen.erase_all()


@pytest.mark.parametrize("end", [finish, drop, forget_what_it_is_about, forget_its_owner])
async def test_it_goes_with_its_job(tmp_path: Path, end: Callable[[Pen, Job], Awaitable[Any]]):
    engine = await SqliteEngine.open(tmp_path / "one.book")
    pen = Pen(engine)
    await put(pen, records=(await pen.remember("tea"),))
    job = await leased(pen)
    assert await engine.keep(job, {"text": "tea"}, ())
    assert kept(tmp_path / "one.book") == 1
    await end(pen, job)
    assert kept(tmp_path / "one.book") == 0
    await engine.close()
