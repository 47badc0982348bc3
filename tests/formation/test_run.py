"""A run forms each message exactly once, also after kills, failures, and erasures while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda.errors import InvalidInput
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, entries, handle
from tests.formation.books import TALK, jobs, known, notes, opened, settle


async def test_what_was_said_becomes_notes_profile_and_sources(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        said = handle(request, "New York")
        source = [{"message": said, "quote": "I live in New York"}]
        return {
            "notes": [
                {"content": "Lives in New York", "key": "home", "sources": source},
                {"content": "Likes jazz", "kind": "preference", "sources": [{"message": said}]},
            ],
            "patches": [
                {
                    "schema": "Profile",
                    "operations": [
                        {"op": "add", "path": "/home", "value": "New York"},
                        {"op": "add", "path": "/interests/-", "value": "jazz"},
                    ],
                    "sources": source,
                }
            ],
        }

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        said = await thread.append(TALK)
        assert await settle(book, clock, 1) == 0
        assert await settle(book, clock) == 1
        assert await known(book) == ["Likes jazz", "Lives in New York"]
        assert await book.profiles.get("ann", agent="guide") == {
            "home": "New York",
            "interests": ["jazz"],
        }
        home = (
            await book.records.list("ann", types="memory", only={"keys": ["home"]}, agent="guide")
        ).records[0]
        why = await book.why("ann", home.id, agent="guide")
        assert [source.id for source in why.sources] == [said.ids("message")[0]]
        assert (await thread.get()).formed_through == 2
        assert await jobs(book) == []
    assert len(models.asked) == 1 and models.closed


async def test_three_messages_in_two_seconds_are_one_run_and_one_during_it_is_exactly_one_more(
    clock: HandClock,
):
    async def meanwhile() -> None:
        if len(models.asked) == 1:
            await thread.append("user", "And I have moved to Boston.")

    class Slow(ScriptedModels):
        async def ask(self, request: ModelRequest) -> ModelAnswer:
            answer = await super().ask(request)
            await meanwhile()
            return answer

    models = Slow(lambda request: {"notes": []})
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        for text in ("I live in New York.", "I like jazz.", "And tea."):
            await thread.append("user", text)
            clock.advance(seconds=0.7)
        assert await settle(book, clock) == 1
        assert len(models.asked) == 1
        assert all(text in models.asked[0].content for text in ("New York", "jazz", "tea"))
        assert await settle(book, clock) == 1
        assert len(models.asked) == 2
        fresh = [
            name for name, (label, _) in entries(models.asked[1]).items() if "context" not in label
        ]
        assert len(fresh) == 1 and "Boston" in entries(models.asked[1])[fresh[0]][1]
        assert await settle(book, clock, 3600) == 0


async def test_a_restart_between_schedule_and_run_loses_nothing(tmp_path: Path, clock: HandClock):
    async with opened(tmp_path / "book.db", clock) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
    async with opened(tmp_path / "book.db", clock, ScriptedModels(notes("Likes jazz"))) as book:
        assert await settle(book, clock) == 1
        assert await known(book) == ["Likes jazz"]
        assert (await book.admin.verify()).faults == ()


async def test_an_empty_conversation_asks_nothing_and_writes_nothing(clock: HandClock):
    models = ScriptedModels([{}])
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.form()
        await thread.close()
        before = await book.records.count("ann", as_owner=True)
        await settle(book, clock)
        assert models.asked == [] and await book.records.count("ann", as_owner=True) == before


async def test_nothing_to_remember_is_an_answer_that_writes_no_memory(clock: HandClock):
    async with opened("memory://", clock, ScriptedModels([{}])) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        assert await known(book) == [] and (await thread.get()).formed_through == 2


@pytest.mark.parametrize("models", [None, ScriptedModels(notes("Lives in New York", "Likes jazz"))])
async def test_the_same_conversation_formed_again_adds_nothing(
    clock: HandClock, models: ScriptedModels | None
):
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        before = await known(book)
        entries_before = len(await book.engine.entries(thread.owner, 0, 100))
        await thread.form_again()
        assert await settle(book, clock) == 1
        assert await known(book) == before and len(before) == 2
        assert len(await book.engine.entries(thread.owner, 0, 100)) == entries_before
        again = await book.thread("ann", agent="guide")
        await again.append(TALK)
        await settle(book, clock)
        assert await known(book) == before


async def test_a_correction_supersedes_what_its_key_held(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in New York. I am 20 years old. I like jazz.")
        await settle(book, clock)
        await thread.append("user", "I moved to Boston. I am 25 years old now. I like tea.")
        await settle(book, clock)
        assert await known(book) == [
            "Is 25 years old",
            "Likes jazz",
            "Likes tea",
            "Lives in Boston",
        ]
        profile = await book.profiles.get("ann", agent="guide")
        assert profile == {"home": "Boston", "age": 25, "interests": ["jazz", "tea"]}


async def test_what_is_forgotten_while_the_model_thinks_is_in_no_memory(clock: HandClock):
    class Forgetting(ScriptedModels):
        async def ask(self, request: ModelRequest) -> ModelAnswer:
            answer = await super().ask(request)
            if len(self.asked) == 1:
                await book.forget("ann", said[0], as_owner=True)
            return answer

    models = Forgetting(lambda request: notes(f"Said: {sorted(entries(request))}")(request))
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        said = (
            await thread.append([{"role": "user", "content": text} for text in ("secret", "jazz")])
        ).ids()
        await settle(book, clock)
        await settle(book, clock)
        assert await known(book) == ["Said: ['m1']"]
        assert "secret" not in models.asked[-1].content and len(models.asked) == 2


async def test_everything_forgotten_while_the_model_thinks_leaves_no_work(clock: HandClock):
    class Forgetting(ScriptedModels):
        async def ask(self, request: ModelRequest) -> ModelAnswer:
            await book.forget("ann", everything=True, as_owner=True)
            return await super().ask(request)

    models = Forgetting(notes("Likes jazz"))
    async with opened("memory://", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        await settle(book, clock, 3600)
        assert await jobs(book) == [] and await book.records.count("ann", as_owner=True) == 0


async def test_a_note_that_the_door_refuses_does_not_keep_the_others_out(clock: HandClock):
    models = ScriptedModels(notes("Likes jazz", "Likes tea"))
    async with opened("memory://", clock, models, limits=memoranda.Limits(batch=2)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK[0])
        await settle(book, clock)
        assert len(await known(book)) == 1 and (await thread.get()).formed_through == 1


async def test_an_agent_says_when_its_threads_are_formed_or_that_they_are_not(clock: HandClock):
    async with opened("memory://", clock) as book:
        await book.agents.put("quick", settings={"forming": {"idle_seconds": 2}})
        await book.agents.put("deaf", settings={"forming": {"enabled": False}})
        for agent in ("quick", "deaf"):
            await (await book.thread("ann", agent=agent)).append("user", f"I like {agent} jazz.")
        assert await settle(book, clock, 3) == 1
        await settle(book, clock, 3600)
        assert await known(book) == ["Likes quick jazz"] and await jobs(book) == []
        for wrong in ({"idle_seconds": -1}, {"sorrow": 1}, "soon", {"idle_seconds": "soon"}):
            with pytest.raises(InvalidInput):
                await book.agents.put("quick", settings={"forming": wrong})


async def test_other_users_and_other_agents_memories_are_not_shown_to_the_model(clock: HandClock):
    models = ScriptedModels([{}])
    async with opened("memory://", clock, models) as book:
        await book.remember("ben", "Ben likes jazz of his own", agent="guide")
        await book.remember("ann", "The doctor knows of jazz", agent="doctor")
        await book.remember("ann", "Everybody knows of jazz", audience="global", agent="doctor")
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
    shown = [line for label, line in entries(models.asked[0]).values()]
    assert "Everybody knows of jazz" in shown
    assert not any("doctor" in line or "Ben" in line for line in shown)


async def test_a_long_conversation_is_formed_portion_by_portion_each_once(clock: HandClock):
    seen: list[str] = []

    def say(request: ModelRequest) -> Said:
        new = [line for label, line in entries(request).values() if "context" not in label]
        seen.extend(line.split()[0] for line in new)
        return {}

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(
            [{"role": "user", "content": f"{place} " + "many words " * 200} for place in range(60)]
        )
        await settle(book, clock)
        assert (await thread.get()).formed_through == 60
    assert seen == [str(place) for place in range(60)] and 2 <= len(models.asked) <= 10


async def test_more_short_messages_than_an_answer_may_have_notes_lose_none(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        new = {
            name: line for name, (label, line) in entries(request).items() if "context" not in label
        }
        return {
            "notes": [
                {"content": f"Likes {line.split()[2]}", "sources": [{"message": name}]}
                for name, line in new.items()
                if name.startswith("m")
            ]
        }

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(
            [{"role": "user", "content": f"I like thing{place}x"} for place in range(120)]
        )
        await settle(book, clock)
        assert await known(book, limit=200) == sorted(
            f"Likes thing{place}x" for place in range(120)
        )


async def test_a_thread_that_closes_leaves_an_episode_with_or_without_a_model(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        assert "episode" in request.content.rsplit("Fill:", 1)[1]
        return {"episode": {"goal": "Choose music", "outcome": "succeeded", "tags": ["music"]}}

    for models, goal in ((ScriptedModels(say), "Choose music"), (None, TALK[0]["content"])):
        async with opened("memory://", clock, models) as book:
            thread = await book.thread("ann", agent="guide")
            await thread.append(TALK)
            await thread.close()
            assert await settle(book, clock, 1) == 1
            (episode,) = await book.episodes.list("ann", agent="guide")
            assert (episode.goal, episode.outcome.value, episode.thread) == (
                goal,
                "succeeded",
                thread.id,
            )
            await settle(book, clock)
            assert len(await book.episodes.list("ann", agent="guide")) == 1


async def test_an_episode_that_was_given_at_the_close_is_the_only_one(clock: HandClock):
    models = ScriptedModels([{}])
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await thread.close("failed", episode={"goal": "Find a record", "outcome": "failed"})
        await settle(book, clock)
        (episode,) = await book.episodes.list("ann", agent="guide")
        assert episode.goal == "Find a record"
    assert "episode" not in models.asked[0].content.rsplit("Fill:", 1)[1]


async def test_a_retracted_memory_does_not_come_back_when_its_thread_is_formed_again(
    clock: HandClock,
):
    again = False

    def say(request: ModelRequest) -> Said:
        return notes(*(["Lives in New York"] if again else []), "Likes jazz")(request)

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        (held,) = (await book.records.list("ann", types="memory", as_owner=True)).records
        await book.memories.retract("ann", held.id, agent="guide")
        again = True
        await thread.form_again()
        await settle(book, clock)
        assert await known(book) == ["Lives in New York"]
