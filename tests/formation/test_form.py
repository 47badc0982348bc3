"""Tests of ``form``: it forms now, waits for whoever has the thread, and returns what was made and
why something was not.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.book import Book
from memoranda.model.language_models import ModelRequest
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels
from tests.fakes.model_replies import answer, unauthorized
from tests.fakes.model_server import ModelServer
from tests.formation.books import TALK, known, notes, opened


def wrong(request: ModelRequest) -> dict[str, Any]:
    """Answer with a note, and with one that cites nothing."""
    return {"notes": [*notes("Likes jazz")(request)["notes"], {"content": "Owns a kite"}]}  # type: ignore[index]


def one_by_one(*contents: str) -> Callable[[ModelRequest], Said]:
    """Answer with one note for each question."""
    left = list(contents)

    def say(request: ModelRequest) -> Said:
        return notes(left.pop(0))(request)

    return say


def states(made: Any) -> list[tuple[str, str]]:
    return [(one.state, one.because) for one in made.threads]


async def a_thread(
    book: Book, text: str = "I live in New York and I like jazz.", **who: Any
) -> Any:
    thread = await book.thread("ann", **{"agent": "guide", **who})
    await thread.append("user", text)
    return thread


@pytest.mark.parametrize("address", ["memory://", "book.db"])
async def test_what_was_made_is_returned_at_once(
    tmp_path: Path, clock: HandClock, address: str
) -> None:
    async with opened(address if ":" in address else tmp_path / address, clock) as book:
        thread = await a_thread(book)
        waits = await thread.formed()
        assert (waits.state, "form() forms them now" in waits.because, len(waits)) == (
            "waiting",
            True,
            0,
        )
        made = await thread.form()
        assert states(made) == [("formed", "")] and made.left_out == ()
        assert sorted(one.content for one in made.memories) == await known(book) != []
        (part,) = made.threads[0]
        assert {item.id for item in part.written} >= {one.id for one in made.memories}
        assert "formed 1" in repr(made) and f"- {made.memories[0].content}" in str(made)
        assert states(await thread.form()) == [("formed", "nothing was said since it was formed")]
        assert [one.through for one in await thread.formed()] == [1]


async def test_an_owners_threads_are_formed_as_far_as_the_view_sees_them(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        await a_thread(book)
        await a_thread(book, "I have a dog.", agent="other")
        await (await book.thread("bob", agent="guide")).append("user", "I like tea.")
        assert (await book.records.list("ann", types="memory", as_owner=True)).waiting == 2
        assert (await book.about("ann", agent="guide")).waiting == 1
        assert "1 conversation waits" in repr(await book.records.list("ann", agent="guide"))
        made = await book.form("ann", agent="guide")
        assert states(made) == [("formed", "")]
        assert (await book.about("ann", as_owner=True)).waiting == 1
        assert states(await book.form("ann", as_owner=True)) == [("formed", "")]
        assert (await book.form("ann", as_owner=True)).threads == ()
        assert (await book.about("bob", as_owner=True)).waiting == 1
        assert await book.records.count("bob", types="memory", as_owner=True) == 0


async def test_what_was_left_out_comes_with_the_reason(clock: HandClock) -> None:
    async with opened("memory://", clock, ScriptedModels(wrong)) as book:
        made = await (await a_thread(book)).form()
        assert [one.content for one in made.memories] == ["Likes jazz"]
        assert [(one.part, one.reason) for one in made.left_out] == [
            ("notes[1]", made.left_out[0].reason)
        ]
        assert made.left_out[0].reason


async def test_formation_that_is_off_says_so(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        await book.agents.put("guide", settings={"forming": {"enabled": False}})
        thread = await a_thread(book)
        for made in (await thread.form(), await book.form("ann", as_owner=True)):
            assert [state for state, _ in states(made)] == ["off"]
            assert "turn on forming.enabled" in made.threads[0].because
        assert (await thread.formed()).state == "off"
        assert (await book.about("ann", as_owner=True)).waiting == 0


async def test_a_model_that_is_down_is_the_reason_and_the_next_call_tries_again(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer([unauthorized(), answer({})]) as serving:
        for variable, value in serving.environment.items():
            monkeypatch.setenv(variable, value)
        async with memoranda.open(
            "memory://", clock=clock, models="openai-chat:gpt-4o-mini", worker=False
        ) as book:
            thread = await a_thread(book)
            (waits,) = (await thread.form()).threads
            assert (
                waits.state == "waiting"
                and "check the key" in waits.because
                and waits.due is not None
            )
            assert (await thread.formed()).because == waits.because
            assert states(await thread.form()) == [("formed", "")]


async def test_a_process_that_may_not_form_says_who_does(tmp_path: Path, clock: HandClock) -> None:
    async with opened(tmp_path / "book.db", clock) as book:
        await book.jobs.form_with("openai-chat:gpt-4o-mini")
        (waits,) = (await (await a_thread(book)).form()).threads
        assert waits.state == "waiting" and "openai-chat:gpt-4o-mini" in waits.because


class Held(ScriptedModels):
    """A model that answers when it may."""

    def __init__(self, script: Callable[[ModelRequest], Said]) -> None:
        super().__init__(script)
        self.begun, self.may = asyncio.Event(), asyncio.Event()

    async def ask(self, request: ModelRequest) -> Any:
        self.begun.set()
        await self.may.wait()
        return await super().ask(request)


@pytest.mark.works_by_itself
async def test_it_waits_for_the_books_own_worker_and_returns_its_result(tmp_path: Path) -> None:
    models = Held(notes("Likes jazz"))
    async with memoranda.open(tmp_path / "book.db", models=models, worker=True) as book:
        thread = await a_thread(book)
        await thread.form(wait=False)
        await models.begun.wait()
        forming = [
            asyncio.create_task(thread.form()),
            asyncio.create_task(book.form("ann", as_owner=True)),
        ]
        await asyncio.sleep(0)
        assert not any(task.done() for task in forming)
        models.may.set()
        for made in await asyncio.gather(*forming):
            assert states(made) == [("formed", "")]
            assert [one.content for one in made.memories] == ["Likes jazz"]
        assert len(models.asked) == 1


async def test_a_call_that_is_cancelled_leaves_the_thread_to_the_next_one(tmp_path: Path) -> None:
    models = Held(notes("Likes jazz"))
    async with memoranda.open(tmp_path / "book.db", models=models, worker=False) as book:
        thread = await a_thread(book)
        forming = asyncio.create_task(thread.form())
        await models.begun.wait()
        forming.cancel()
        with pytest.raises(asyncio.CancelledError):
            await forming
        assert await known(book) == []
        models.may.set()
        assert [one.content for one in (await thread.form()).memories] == ["Likes jazz"]


async def test_what_is_said_meanwhile_is_left_to_the_next_run(tmp_path: Path) -> None:
    models = Held(one_by_one("Likes jazz", "Likes tea"))
    async with memoranda.open(tmp_path / "book.db", models=models, worker=False) as book:
        thread = await a_thread(book)
        forming = asyncio.create_task(thread.form())
        await models.begun.wait()
        await thread.append("user", "I like tea.")
        models.may.set()
        assert states(await forming) == [("formed", "")]
        assert (await thread.formed()).state == "waiting"
        assert [one.content for one in (await thread.form()).memories] == ["Likes tea"]


async def test_formed_again_is_waited_for_too(clock: HandClock) -> None:
    models = ScriptedModels(one_by_one("Likes jazz", "Lives in New York"))
    async with opened("memory://", clock, models) as book:
        thread = await a_thread(book)
        await thread.form()
        await thread.form_again()
        made = await thread.form()
        assert [one.content for one in made.memories] == ["Lives in New York"]
        assert states(made) == [("formed", "")]


_WORKER = """
import asyncio, sys, memoranda

async def main():
    async with memoranda.open(sys.argv[1], models=None, worker=False) as book:
        job = await book.engine.lease(["form"], "another", book.door.clock(), 60.0)
        print("leased", flush=True)
        sys.stdin.readline()
        await book.engine.postpone(job, book.door.clock())
        await book.worker.drain()

asyncio.run(main())
"""


async def test_it_waits_for_a_worker_of_another_process(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    async with memoranda.open(path, models=None, worker=False) as book:
        thread = await a_thread(book)
        await thread.form(wait=False)
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-c", _WORKER, str(path))
        other = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
        assert other.stdin is not None and other.stdout is not None
        assert await other.stdout.readline() == b"leased\n"
        forming = asyncio.create_task(thread.form())
        await asyncio.sleep(0)
        assert not forming.done()
        other.stdin.write(b"go\n")
        made = await forming
        assert await other.wait() == 0
        assert states(made) == [("formed", "")] and made.memories


async def test_turns_of_a_whole_talk_are_formed_once_by_many_callers(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db", models=None, worker=False) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        made = await asyncio.gather(*(thread.form() for _ in range(4)))
        assert {state for one in made for state, _ in states(one)} == {"formed"}
        assert len(await thread.formed()) == 1
