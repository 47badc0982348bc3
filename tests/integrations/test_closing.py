"""A thread is closed with an episode of what was done in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from pydantic_ai import Agent

import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope
from memoranda.model.messages import Episode, ThreadStatus
from tests.integrations.scripted import Script, call

TASK = Scope("ana", "support", thread="ticket-7")


def support(
    script: Script, book: memoranda.Book, **settings: Any
) -> tuple[Agent[Any, str], Memoranda[Any]]:
    memory: Memoranda[Any] = Memoranda(book, TASK, **settings)
    agent: Agent[Any, str] = Agent(script.model, deps_type=object, capabilities=[memory])

    @agent.tool_plain
    async def reboot(device: str) -> str:
        if device == "toaster":
            raise RuntimeError("on fire")
        return "rebooted " + "and beeped " * 400

    return agent, memory


async def episodes(book: memoranda.Book) -> list[Episode]:
    page = await book.records.list("ana", types="episode", agent="support")
    return [cast(Episode, record) for record in page.records]


async def test_goal_answer_and_calls_are_taken_from_what_was_said(book: memoranda.Book) -> None:
    script = Script([call("reboot", device="router"), call("recall")], "It works again.")
    agent, memory = support(script, book)
    await agent.run("The router is dead.")
    thread = await book.thread("ana", name="ticket-7", agent="support")
    await memory.close(thread, tags=["network"])
    (episode,) = await episodes(book)
    assert (episode.goal, episode.summary, episode.outcome) == (
        "The router is dead.",
        "It works again.",
        "succeeded",
    )
    assert episode.tags == ("network",) and episode.thread == thread.id
    (made,) = episode.tool_calls
    assert (made.tool, made.inputs, made.success) == ("reboot", {"device": "router"}, True)
    assert len(made.output) == 2000 and made.cut > 0
    assert (await thread.get()).status is ThreadStatus.COMPLETED


async def test_a_run_that_raised_makes_the_outcome_failed(book: memoranda.Book) -> None:
    agent, memory = support(Script(call("reboot", device="toaster")), book)
    with pytest.raises(RuntimeError):
        await agent.run("The toaster burns.")
    thread = await book.thread("ana", name="ticket-7", agent="support")
    await memory.close(thread)
    (episode,) = await episodes(book)
    assert episode.outcome == "failed"
    assert [(one.tool, one.success) for one in episode.tool_calls] == [("reboot", False)]
    assert "on fire" not in episode.model_dump_json()
    assert (await thread.get()).status is ThreadStatus.FAILED


async def test_a_thread_that_went_on_well_after_a_failure_did_not_fail(
    book: memoranda.Book,
) -> None:
    agent, memory = support(Script(call("reboot", device="toaster"), "Call the firemen."), book)
    with pytest.raises(RuntimeError):
        await agent.run("The toaster burns.")
    await agent.run("What now?")
    await memory.close(await book.thread("ana", name="ticket-7", agent="support"))
    assert [one.outcome for one in await episodes(book)] == ["succeeded"]


async def test_what_is_given_is_not_taken_from_what_was_said(book: memoranda.Book) -> None:
    agent, memory = support(Script(), book)
    await agent.run("Hello! " + "x" * 5000)
    thread = await book.thread("ana", name="ticket-7", agent="support")
    await memory.close(thread, goal="Say hello", outcome="abandoned", summary="Nobody answered")
    (episode,) = await episodes(book)
    assert (episode.goal, episode.outcome, episode.summary) == (
        "Say hello",
        "abandoned",
        "Nobody answered",
    )


async def test_a_long_goal_is_cut_and_an_empty_thread_has_one(book: memoranda.Book) -> None:
    agent, memory = support(Script(), book)
    thread = await book.thread("ana", name="ticket-7", agent="support")
    await memory.close(thread)
    await agent.run("x" * 5000)
    await memory.close(thread)
    assert [len(one.goal) for one in await episodes(book)] == [len("(nothing was asked)"), 1000]


async def test_each_run_may_be_a_task_that_is_closed_by_itself(book: memoranda.Book) -> None:
    agent, _ = support(
        Script(call("reboot", device="router"), "It works.", RuntimeError()), book, closes=True
    )
    await agent.run("The router is dead.", run_id="1")
    await agent.run("The router is dead.", run_id="1", model=Script("Again.").model)
    with pytest.raises(RuntimeError):
        await agent.run("And the phone.", run_id="2")
    assert [one.outcome for one in await episodes(book)] == ["succeeded", "failed"]


async def test_no_more_calls_are_kept_than_the_limit(tmp_path: Path) -> None:
    limits = memoranda.Limits(tool_calls=2)
    async with memoranda.open(tmp_path / "book.db", limits=limits) as book:
        agent, _ = support(
            Script([call("reboot", device=f"d{n}") for n in range(5)]), book, closes=True
        )
        await agent.run("Reboot all.")
        (episode,) = await episodes(book)
        assert len(episode.tool_calls) == 2 and episode.calls_omitted == 3
