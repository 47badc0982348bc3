"""A thread that nobody closes gets its episode after a day without a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoranda.book import Book
from memoranda.model.language_models import ModelRequest
from memoranda.model.messages import Episode, Outcome
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, entries
from tests.formation.books import opened, settle

HOUR = 3600
ASKED = {"role": "user", "content": "Please book a table for two."}
ANSWERED = {"role": "assistant", "content": "It is booked for eight."}
CALL = {
    "role": "assistant",
    "content": "(book)",
    "native": {"role": "assistant", "tool_calls": [{"id": "c1"}]},
}


async def episodes(book: Book) -> list[Episode]:
    """The episodes of ann, oldest first."""
    return (await book.episodes.list("ann", as_owner=True))[::-1]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ([ASKED, ANSWERED], Outcome.SUCCEEDED),
        ([ASKED, ANSWERED, {"role": "user", "content": "And a taxi?"}], Outcome.ABANDONED),
        ([ASKED, CALL], Outcome.ABANDONED),
        (
            [
                ASKED,
                CALL,
                {"role": "tool", "content": "no table", "native": {"tool_call_id": "c1"}},
            ],
            Outcome.ABANDONED,
        ),
        ([ASKED, ANSWERED, {"role": "system", "content": "The user has left."}], Outcome.SUCCEEDED),
    ],
)
async def test_a_thread_that_stays_quiet_gets_one_episode_that_says_if_it_breaks_off(
    clock: HandClock, said: list[dict[str, Any]], outcome: Outcome
) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide", tags=["tables"])
        await thread.append(said)
        await settle(book, clock)
        await settle(book, clock, 23 * HOUR)
        assert await episodes(book) == []
        await settle(book, clock, HOUR)
        (episode,) = await episodes(book)
        assert (episode.goal, episode.outcome) == ("Please book a table for two.", outcome)
        assert (episode.thread, episode.agent, episode.tags) == (thread.id, "guide", ("tables",))
        assert set(episode.sources) == {message.id for message in await thread.newest()}
        for _ in range(3):
            await thread.form_again()
            await settle(book, clock, 30 * HOUR)
        assert await episodes(book) == [episode]
        assert (await thread.get()).status == "running"
        assert await book.engine.jobs(None, 10) == []


async def test_a_later_message_leaves_the_episode_and_the_next_silence_or_close_makes_its_own(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append([ASKED, CALL | {"content": "Looking."}, ANSWERED])
        await settle(book, clock)
        await settle(book, clock, 23 * HOUR)
        # Somebody says something in time: the day begins anew.
        await thread.append(
            [{"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "Gladly."}]
        )
        await settle(book, clock)
        await settle(book, clock, 2 * HOUR)
        assert await episodes(book) == []
        await settle(book, clock, 23 * HOUR)
        (first,) = await episodes(book)
        await thread.append("user", "Cancel the table.")
        await settle(book, clock)
        await settle(book, clock, 25 * HOUR)
        assert [episode.id for episode in await episodes(book)][:1] == [first.id]
        _, second = await episodes(book)
        assert (second.goal, second.outcome, len(second.sources)) == (
            "Cancel the table.",
            Outcome.ABANDONED,
            1,
        )
        assert len(first.tool_calls) == 1 and second.tool_calls == ()
        await thread.close("completed")
        await settle(book, clock)
        last = (await episodes(book))[-1]
        assert (last.outcome, len(last.sources), len(await episodes(book))) == (
            Outcome.SUCCEEDED,
            6,
            3,
        )
        await settle(book, clock, 100 * HOUR)
        assert len(await episodes(book)) == 3


async def test_paused_and_closed_threads_and_those_with_an_episode_of_their_own_get_none(
    clock: HandClock,
) -> None:
    async with opened("memory://", clock) as book:
        paused = await book.thread("ann", agent="guide")
        done = await book.thread("ann", agent="guide")
        own = await book.thread("ann", agent="guide")
        unasked = await book.thread("ann", agent="guide")
        for thread in (paused, done, own):
            await thread.append([ASKED, ANSWERED])
        await unasked.append([ANSWERED])
        await settle(book, clock)
        await paused.set(status="paused")
        await done.close(episode={"goal": "Book a table", "outcome": "succeeded"})
        await book.episodes.record(
            "ann", goal="Table", outcome="failed", thread=own.id, agent="guide"
        )
        made = await episodes(book)
        await settle(book, clock, 48 * HOUR)
        assert await episodes(book) == made and len(made) == 2


async def test_the_time_is_a_setting_also_of_an_agent_and_zero_turns_it_off(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_FORMING_EPISODE_AFTER_HOURS", "0")
    async with opened("memory://", clock) as book:
        await book.agents.put("quick", settings={"forming": {"episode_after_hours": 0.5}})
        for agent in ("quick", "guide"):
            await (await book.thread("ann", agent=agent)).append([ASKED, ANSWERED])
        await settle(book, clock)
        await settle(book, clock, HOUR)
        assert [episode.agent for episode in await episodes(book)] == ["quick"]
        await settle(book, clock, 100 * HOUR)
        assert len(await episodes(book)) == 1


@pytest.mark.parametrize("tells", [True, False])
async def test_forming_prepares_the_episode_and_rules_step_in_where_no_model_tells_one(
    tmp_path: Path, clock: HandClock, tells: bool
) -> None:
    def say(request: ModelRequest) -> Said:
        if not tells or "episode" not in request.content.rsplit("\n\n", 1)[-1]:
            return {}
        return {
            "episode": {
                "goal": "Book a table",
                "summary": "Asked for a table.",
                "outcome": "succeeded",
            }
        }

    models = ScriptedModels(say)
    async with opened(tmp_path / "book.db", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append([ASKED])
        await settle(book, clock)
        formed = len(models.asked)
        await settle(book, clock, 25 * HOUR)
        # What was prepared is written without another question.
        assert len(models.asked) == (again := formed + (not tells))
        (episode,) = await episodes(book)
        # Nobody answered the user, whatever the model says.
        assert episode.outcome is Outcome.ABANDONED
        assert episode.goal == ("Book a table" if tells else ASKED["content"])
        assert sum(spent.calls for spent in await book.admin.usage()) == again
        await settle(book, clock, 25 * HOUR)
        assert len(models.asked) == again and len(await episodes(book)) == 1
        assert (await book.admin.verify()).faults == ()


async def test_a_prepared_episode_grows_with_the_thread_and_leaves_with_a_message_that_it_covers(
    clock: HandClock,
) -> None:
    def say(request: ModelRequest) -> Said:
        asked = request.content.rsplit("\n\n", 1)[-1]
        goals = [line for _, line in entries(request).values() if line.startswith("Please")]
        earlier = "Earlier: " if "[episode so far] Please" in request.content else ""
        goal = earlier + (goals[0] if goals else "nothing")
        return {"episode": {"goal": goal, "outcome": "succeeded"}} if "episode" in asked else {}

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append([ASKED, ANSWERED])
        await settle(book, clock)
        await thread.append([{"role": "user", "content": "Please order a taxi."}, ANSWERED])
        await settle(book, clock)
        prepared = (await thread.get()).prepared
        assert prepared is not None and (prepared.after, prepared.through) == (0, 4)
        assert prepared.goal == "Earlier: Please book a table for two."
        (first, *_) = [message.id for message in await thread.newest()]
        asked = len(models.asked)
        await book.forget("ann", [first], as_owner=True)
        assert (await thread.get()).prepared is None
        await settle(book, clock, 25 * HOUR)
        (episode,) = await episodes(book)
        assert episode.goal == "Please order a taxi." and len(models.asked) == asked + 1


async def test_forgetting_the_thread_removes_the_job_and_the_episode(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append([ASKED, ANSWERED])
        await settle(book, clock)
        assert [job.kind for job in await book.engine.jobs(None, 10)] == ["episode"]
        await book.forget("ann", [thread.id], as_owner=True)
        assert [job.kind for job in await book.engine.jobs(None, 10) if job.kind == "episode"] == []


async def test_feedback_is_marked_where_a_model_forms_experience_from_it(clock: HandClock) -> None:
    def learn(request: ModelRequest) -> Said:
        judged = next(
            (
                name
                for name, (label, _) in entries(request).items()
                if "feedback 2 of 5 on turn 2" in label
            ),
            None,
        )
        line = {"field": "user_feedback", "line": "Basic answers are not useful"}
        return (
            {} if judged is None else {"experience": [{**line, "sources": [{"message": judged}]}]}
        )

    models = ScriptedModels(learn)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append([ASKED, ANSWERED])
        await thread.feedback("Basic answers are not useful.", rating=2, about=2)
        await settle(book, clock)
        (line,) = await book.experience.list("guide")
        assert line.line == "Basic answers are not useful"


FLIGHT = {"role": "user", "content": "My flight to Lisbon leaves on Monday. Check me in please."}
CHECKED = {"role": "assistant", "content": "You are checked in."}


@pytest.mark.parametrize("by_model", [False, True])
async def test_an_endless_thread_gets_an_episode_a_topic_though_it_is_never_quiet_for_a_day(
    clock: HandClock, by_model: bool
) -> None:
    def say(request: ModelRequest) -> Said:
        shown = [line for _, line in entries(request).values()]
        goal = (
            "Check in"
            if any(line.startswith("My flight") for line in shown[-2:])
            else "Book a table"
        )
        assert not (goal == "Check in" and "[episode so far]" in request.content)
        return {"episode": {"goal": goal, "outcome": "succeeded"}}

    models = ScriptedModels(say) if by_model else None
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append([ASKED, ANSWERED])
        await settle(book, clock)
        # After a while about the same: no new topic.
        clock.advance(seconds=8 * HOUR)
        await thread.append(
            [{"role": "user", "content": "Please book the table for three."}, ANSWERED]
        )
        await settle(book, clock)
        assert await episodes(book) == []
        clock.advance(seconds=8 * HOUR)
        await thread.append([FLIGHT, CHECKED])
        asked = 0 if models is None else len(models.asked)
        await settle(book, clock)
        (first,) = await episodes(book)
        assert len(first.sources) == 4
        assert models is None or len(models.asked) == asked + 1
        await settle(book, clock, 25 * HOUR)
        _, second = await episodes(book)
        assert len(second.sources) == 2
        goals = (first.goal, second.goal)
        assert goals == (
            ("Book a table", "Check in") if by_model else (ASKED["content"], FLIGHT["content"])
        )
        assert (await book.admin.verify()).faults == ()


async def test_topics_that_no_worker_saw_in_time_get_an_episode_each(clock: HandClock) -> None:
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        for asked, answered in (
            (ASKED, ANSWERED),
            (FLIGHT, CHECKED),
            ({**ASKED, "content": "Thanks."}, CHECKED),
        ):
            await thread.append([asked, answered])
            clock.advance(seconds=(7 if asked is FLIGHT else 60) * HOUR)
        await settle(book, clock, 60 * HOUR)
        await settle(book, clock, 60 * HOUR)
        assert [len(episode.sources) for episode in await episodes(book)] == [2, 4]
