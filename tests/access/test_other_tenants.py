"""An administrator of one tenant learns nothing of another's in the same book, and changes nothing of
it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memoranda
from memoranda.access.guard import Guard
from memoranda.access.principal import local_admin
from memoranda.errors import NotAllowed, NotFound
from memoranda.model.changes import Job, JobDraft
from memoranda.model.values import new_id


@pytest.fixture
async def rival(tmp_path: Path) -> AsyncIterator[memoranda.Book]:
    """Yield a book with a job of the tenant rival, and two erased owners."""
    async with memoranda.open(
        tmp_path / "book.db", tenant="rival", worker=False, embed=None
    ) as book:
        thread = await book.thread("victor", agent="guide")
        await thread.append("user", "I live in Rome")
        await thread.form(wait=False)
        kept = (await book.remember("victor", "likes rum", as_owner=True)).items[0].id
        await book.forget("victor", kept, as_owner=True)
        await book.remember("wanda", "likes tea", as_owner=True)
        await book.forget("wanda", everything=True, as_owner=True)
        yield book


@pytest.fixture
async def acme(tmp_path: Path, rival: memoranda.Book) -> AsyncIterator[memoranda.Book]:
    async with memoranda.open(
        tmp_path / "book.db", tenant="acme", worker=False, embed=None
    ) as book:
        yield book


@pytest.fixture
def admin(acme: memoranda.Book) -> Guard:
    return Guard(acme, local_admin("acme"))


async def jobs_of(book: memoranda.Book, name: str) -> list[Job]:
    return [job for job in await book.jobs.list() if job.owner and job.owner.id == name]


async def test_jobs_of_another_tenant_are_neither_listed_nor_changed_nor_done(
    acme: memoranda.Book, rival: memoranda.Book, admin: Guard
) -> None:
    thread = await acme.thread("ann", agent="guide")
    await thread.append("user", "I live in Paris")
    await thread.form(wait=False)
    note = JobDraft(kind="note", key="one", payload={"records": [str(new_id())]})
    await rival.engine.put(note, datetime.now(UTC))
    (theirs,) = await jobs_of(rival, "victor")
    listed = await admin.call("jobs.list")
    assert {job.owner.id for job in listed if job.owner is not None} == {"ann"}
    upkeep = [job for job in listed if job.owner is None]
    assert len(upkeep) == 1 and not any(job.payload or job.records for job in upkeep)
    for name in ("jobs.retry", "jobs.drop"):
        with pytest.raises(NotFound):
            await admin.call(name, id=theirs.id)
    assert await admin.call("jobs.run") >= 2
    while await admin.call("worker.run_once"):
        pass
    assert [job for job in await acme.jobs.list() if job.owner is None] == []
    assert await acme.records.count("ann", types="memory", as_owner=True) == 1
    assert await jobs_of(rival, "victor") == [theirs]
    assert await rival.records.count("victor", types="memory", as_owner=True) == 0


@pytest.mark.parametrize("name", ["admin.facts", "admin.verify"])
async def test_the_whole_book_is_for_programs_that_hold_it(
    acme: memoranda.Book, admin: Guard, name: str
) -> None:
    with pytest.raises(NotAllowed, match="whole: a service answers for its own tenant only"):
        await admin.call(name, whole=True)
    await admin.call(name, whole=False)
    assert (await acme.admin.facts(whole=True)).owners == 1


async def test_an_export_has_no_key_and_no_erasure_of_another_tenant(
    acme: memoranda.Book, admin: Guard, tmp_path: Path
) -> None:
    await acme.remember("ann", "likes green tea", operation="once")
    lines = [line async for line in admin.stream("admin.export")]
    assert [json.loads(line)["line"] for line in lines][:2] == ["head", "owner"]
    held = [line async for line in acme.admin.export()]
    assert json.loads(held[1])["erased_eras"] and json.loads(held[1])["tombstones"]
    assert json.loads(held[1])["secret"] not in "".join(lines)
    async with memoranda.open(tmp_path / "new.db", worker=False, embed=None) as new:
        report = await new.admin.import_(lines)
        assert (report.adopted, report.errors) == (1, [])


async def test_an_export_of_a_book_with_one_tenant_tells_what_was_erased(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "own.db", worker=False, embed=None) as book:
        await book.remember("ann", "likes tea")
        await book.forget("ann", everything=True, as_owner=True)
        await book.remember("ben", "likes rum")
        guard = Guard(book, local_admin("default"))
        lines = [line async for line in guard.stream("admin.export")]
        assert lines == [line async for line in book.admin.export()]
        assert json.loads(lines[1])["erased_eras"]
