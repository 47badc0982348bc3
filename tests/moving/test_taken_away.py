"""What is taken away from a copy, or replaced in it, may have been forgotten: its files are to be cleared, and that is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

import memoranda
from memoranda.assembly import open_engine
from memoranda.model.jobs import JobDraft
from memoranda.model.moving import BookFrame, Frame, ShelfPiece, takes_away
from memoranda.ports import Engine
from memoranda.testing.builders import ANN, BEN, START, Pen
from tests.engines.postgres_server import Place
from tests.moving.books import assert_same, said

Step = Callable[[Engine], Awaitable[None]]


async def forget_everything(engine: Engine) -> None:
    await Pen(engine, ANN).erase_all()


async def finish_a_job(engine: Engine) -> None:
    job = await engine.lease(("form",), "worker", START + timedelta(days=900), 60)
    assert job is not None
    await engine.finish(job)


async def go_on(engine: Engine) -> None:
    for owner in (ANN, BEN):
        await Pen(engine, owner).remember("goes on")
    await engine.put(JobDraft("form", "of the book, another"), START)


async def a_book(path: Path, *, work: bool) -> None:
    """A book of someone of whom a name, the ledger and perhaps work that waits are left."""
    engine = await open_engine(path)
    pen = Pen(engine, ANN)
    await pen.erase(await pen.remember("has a blue canary"))
    if work:
        await pen.write(jobs=(JobDraft("form", "canary"),))
    else:
        await engine.put(JobDraft("form", "of the book"), START)
    await engine.close()


@pytest.fixture(params=["file", "server"])
def there(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return str(tmp_path / "there.db")
    place: Place = request.getfixturevalue("postgres")
    return place.new_book()


@pytest.mark.parametrize(
    ("change", "work", "told"),
    [
        (forget_everything, False, True),
        (forget_everything, True, True),
        (finish_a_job, False, True),
        (finish_a_job, True, True),
        (go_on, True, False),
    ],
)
async def test_what_goes_beside_records_is_to_be_cleared_too(
    tmp_path: Path, there: str, change: Step, work: bool, told: bool
) -> None:
    await a_book(tmp_path / "book.db", work=work)
    await memoranda.copy(tmp_path / "book.db", there)
    engine = await open_engine(tmp_path / "book.db")
    await change(engine)
    await engine.close()
    await memoranda.copy(tmp_path / "book.db", there)
    if there.endswith(".db"):
        engine = await open_engine(there, unfinished=True)
        assert ("scrub" in {job.kind for job in await engine.jobs(None, 10)}) == told
        await engine.close()
    report = await memoranda.copy(tmp_path / "book.db", there, switch=True)
    if not there.endswith(".db"):
        assert bool(report.pending) == told
    await assert_same(tmp_path / "book.db", there)


def test_a_frame_is_held_against_the_one_that_is_laid_over_it() -> None:
    shelf = ShelfPiece(("self", "a", "[]"), 1, 0)
    spent = ("default", "2024-01-01", "agent", "form", "m", 1, 1, 1, 1, 1, 0, 1)
    frame = Frame(b"era", ("default", "user", "ann"), b"digest", 1, None, (shelf,), (), (spent,))
    assert not takes_away(None, frame)
    for same in (frame, frame._replace(position=2), frame._replace(spent=((*spent[:5], *range(7)),))):
        assert not takes_away(frame, same)
    assert not takes_away(frame._replace(names=None), frame._replace(names=None))
    for less in ({"names": None}, {"shelves": ()}, {"spent": ()}):
        assert takes_away(frame, frame._replace(**less))
    assert takes_away(BookFrame((), (), (spent,)), BookFrame((), (), ()))


async def test_why_a_job_failed_comes_along_though_an_earlier_format_wrote_it(
    tmp_path: Path, there: str
) -> None:
    book = tmp_path / "book.db"
    await said(book, "likes tea")
    await a_book(book, work=True)
    with closing(sqlite3.connect(book)) as connection:
        connection.execute("UPDATE jobs SET error = ?", ("a model said \0, and more",))
        connection.commit()
    assert (await memoranda.copy(book, there, switch=True)).switched
    await assert_same(book, there)
    engine = await open_engine(there)
    assert "a model said \ufffd, and more" in {job.error for job in await engine.jobs(None, 10)}
    await engine.close()
