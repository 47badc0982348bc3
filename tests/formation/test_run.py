"""A run: what was said becomes what is known, once, whoever is killed, whatever fails, whatever is forgotten meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.book import Book
from commonplace.errors import InvalidInput, ModelDown, ModelRefused
from commonplace.model.asking import ModelAnswer, ModelRequest
from commonplace.model.jobs import Job, JobState
from commonplace.model.memories import Memory
from commonplace.testing.scripted_models import Said, ScriptedModels, entries, handle
from tests.conftest import HandClock

TALK = [
    {"role": "user", "content": "I live in New York and I like jazz."},
    {"role": "assistant", "content": "Noted: New York, jazz."},
]


@asynccontextmanager
async def opened(
    where: Path | str, clock: HandClock, models: ScriptedModels | None = None, **more: Any
) -> AsyncIterator[Book]:
    async with commonplace.open(where, clock=clock, models=models, worker=False, **more) as book:
        yield book


def notes(*contents: str, **fields: Any) -> Callable[[ModelRequest], Said]:
    """Each of these as a note that rests on the first new message of a user's."""

    def say(request: ModelRequest) -> Said:
        first = next(
            name
            for name, (label, _) in entries(request).items()
            if name.startswith("m") and "user" in label and "context" not in label
        )
        return {
            "notes": [{"content": content, "sources": [{"message": first}], **fields} for content in contents]
        }

    return say


async def known(book: Book, **more: Any) -> list[str]:
    page = await book.list("ann", types="memory", only={"statuses": ["active"]}, view="owner", **more)
    return sorted(record.content for record in page.records if isinstance(record, Memory))


async def jobs(book: Book) -> list[Job]:
    return [job for job in await book.engine.jobs(None, 100) if job.kind == "form"]


async def settle(book: Book, clock: HandClock, seconds: float = 31) -> int:
    clock.advance(seconds=seconds)
    return await book.worker.drain()


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
        assert await book.profile.get("ann", agent="guide") == {"home": "New York", "interests": ["jazz"]}
        home = (await book.list("ann", types="memory", only={"keys": ["home"]}, agent="guide")).records[0]
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
        fresh = [name for name, (label, _) in entries(models.asked[1]).items() if "context" not in label]
        assert len(fresh) == 1 and "Boston" in entries(models.asked[1])[fresh[0]][1]
        assert await settle(book, clock, 3600) == 0


async def test_a_restart_between_schedule_and_run_loses_nothing(tmp_path: Path, clock: HandClock):
    async with opened(tmp_path / "book.db", clock) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
    async with opened(tmp_path / "book.db", clock, ScriptedModels(notes("Likes jazz"))) as book:
        assert await settle(book, clock) == 1
        assert await known(book) == ["Likes jazz"]
        assert (await book.verify()).faults == ()


async def test_an_empty_conversation_asks_nothing_and_writes_nothing(clock: HandClock):
    models = ScriptedModels([{}])
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.flush()
        await thread.close()
        before = await book.count("ann", view="owner")
        await settle(book, clock)
        assert models.asked == [] and await book.count("ann", view="owner") == before


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
        await thread.reform()
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
        assert await known(book) == ["Is 25 years old", "Likes jazz", "Likes tea", "Lives in Boston"]
        profile = await book.profile.get("ann", agent="guide")
        assert profile == {"home": "Boston", "age": 25, "interests": ["jazz", "tea"]}


async def test_an_answer_that_was_bought_is_used_after_a_crash_and_not_bought_again(
    tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    models = ScriptedModels(notes("Likes jazz"))
    path = tmp_path / "book.db"
    async with opened(path, clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)

        async def crash(batch: Any) -> Any:
            raise OSError("the power is gone")

        monkeypatch.setattr(book.engine, "apply", crash)
        await settle(book, clock)
    async with opened(path, clock, ScriptedModels([AssertionError("it is asked again")])) as book:
        (job,) = await jobs(book)
        assert job.state is JobState.WAITING and "the power is gone" in job.error
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"] and await jobs(book) == []
    assert len(models.asked) == 1


async def test_while_a_provider_is_down_all_waits_together_and_nothing_dies(clock: HandClock):
    down = True

    def say(request: ModelRequest) -> Said:
        return ModelDown("the provider is away", retry_after=5) if down else notes("Likes jazz")(request)

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        for place in range(30):
            await (await book.thread("ann", agent="guide", name=str(place))).append(TALK)
        for _ in range(20):
            await settle(book, clock, 180)
        waiting = await jobs(book)
        assert len(waiting) == 30 and {job.state for job in waiting} == {JobState.WAITING}
        assert {job.tries for job in waiting} == {0}
        assert "the provider is away" in waiting[0].error
        assert len(models.asked) <= 30
        assert await book.recall("ann", "jazz", agent="guide")
        down = False
        for _ in range(4):
            await settle(book, clock, 700)
        assert await jobs(book) == [] and await known(book) == ["Likes jazz"]


async def test_a_part_that_is_wrong_is_asked_for_once_more_and_the_rest_is_kept(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        good = notes("Likes jazz")(request)
        assert isinstance(good, dict)
        path = "/home" if request.earlier else "/nowhere/at/all"
        source = good["notes"][0]["sources"]
        patch = {"schema": "Profile", "sources": source}
        patch["operations"] = [{"op": "add", "path": path, "value": "New York"}]
        return {**good, "patches": [patch]} if not request.earlier else {"patches": [patch]}

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"]
        assert await book.profile.get("ann", agent="guide") == {"home": "New York"}
    assert len(models.asked) == 2
    (earlier,) = models.asked[1].earlier
    assert "/nowhere/at/all" in earlier.answer and "patches[0]" in earlier.faults[0]


async def test_useless_answers_end_among_the_dead_letters_and_a_replay_makes_what_an_undisturbed_run_makes(
    clock: HandClock,
):
    useless = True

    def say(request: ModelRequest) -> Said:
        return "I would rather talk." if useless else notes("Likes jazz")(request)

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        for _ in range(6):
            await settle(book, clock, 600)
        (job,) = await jobs(book)
        assert job.state is JobState.DEAD and "of no use" in job.error
        assert len(models.asked) == 9 and await known(book) == []
        useless = False
        await book.engine.replay(job.id, clock())
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"] and (await thread.get()).formed_through == 2


@pytest.mark.parametrize(
    ("fault", "state", "waits"),
    [
        (ModelRefused("no credit", reason="quota"), JobState.WAITING, True),
        (ModelRefused("bad key", reason="credentials"), JobState.WAITING, True),
        (ModelRefused("not about this", reason="content"), JobState.DEAD, False),
        (ModelAnswer(text="no", refused=True, fault="the model refuses to answer"), JobState.DEAD, False),
    ],
)
async def test_a_refusal_waits_for_a_person_and_is_not_bought_again_and_again(
    clock: HandClock, fault: Said, state: JobState, waits: bool
):
    models = ScriptedModels([fault])
    async with opened("memory://", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        (job,) = await jobs(book)
        assert job.state is state and (job.postponed > 0) is waits
    assert len(models.asked) == 1


async def test_a_question_that_is_too_long_is_asked_in_shorter_pieces(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        if len(request.content) > 6_000:
            return ModelRefused("too long", reason="length")
        return notes(f"Said {len(models.asked)}")(request)

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        for place in range(20):
            await thread.append("user", f"{place} " + "I like long stories about jazz. " * 30)
        await settle(book, clock)
        assert (await thread.get()).formed_through == 20
        assert await jobs(book) == [] and len(await known(book)) >= 3


async def test_what_is_forgotten_while_the_model_thinks_is_in_no_memory(clock: HandClock):
    class Forgetting(ScriptedModels):
        async def ask(self, request: ModelRequest) -> ModelAnswer:
            answer = await super().ask(request)
            if len(self.asked) == 1:
                await book.forget("ann", said[0], view="owner")
            return answer

    models = Forgetting(lambda request: notes(f"Said: {sorted(entries(request))}")(request))
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        said = (await thread.append([{"role": "user", "content": text} for text in ("secret", "jazz")])).ids()
        await settle(book, clock)
        await settle(book, clock)
        assert await known(book) == ["Said: ['m1']"]
        assert "secret" not in models.asked[-1].content and len(models.asked) == 2


async def test_everything_forgotten_while_the_model_thinks_leaves_no_work(clock: HandClock):
    class Forgetting(ScriptedModels):
        async def ask(self, request: ModelRequest) -> ModelAnswer:
            await book.forget("ann", everything=True, view="owner")
            return await super().ask(request)

    models = Forgetting(notes("Likes jazz"))
    async with opened("memory://", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        await settle(book, clock, 3600)
        assert await jobs(book) == [] and await book.count("ann", view="owner") == 0


async def test_a_note_that_the_door_refuses_does_not_keep_the_others_out(clock: HandClock):
    limits = commonplace.Limits(memories_per_owner=1, when_full="reject")
    models = ScriptedModels(notes("Likes jazz", "Likes tea"))
    async with opened("memory://", clock, models, limits=limits) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        assert len(await known(book)) == 1 and (await thread.get()).formed_through == 2


async def test_an_agent_says_when_its_threads_are_formed_or_that_they_are_not(clock: HandClock):
    async with opened("memory://", clock) as book:
        await book.agents.put("quick", settings={"forming": {"silence": 2}})
        await book.agents.put("deaf", settings={"forming": {"on": False}})
        for agent in ("quick", "deaf"):
            await (await book.thread("ann", agent=agent)).append("user", f"I like {agent} jazz.")
        assert await settle(book, clock, 3) == 1
        await settle(book, clock, 3600)
        assert await known(book) == ["Likes quick jazz"] and await jobs(book) == []
        for wrong in ({"silence": -1}, {"sorrow": 1}, "soon", {"silence": "soon"}):
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
        new = {name: line for name, (label, line) in entries(request).items() if "context" not in label}
        return {
            "notes": [
                {"content": f"Likes {line.split()[2]}", "sources": [{"message": name}]}
                for name, line in new.items()
                if name.startswith("m")
            ]
        }

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append([{"role": "user", "content": f"I like thing{place}x"} for place in range(120)])
        await settle(book, clock)
        assert await known(book, limit=200) == sorted(f"Likes thing{place}x" for place in range(120))


async def test_a_thread_that_closes_leaves_an_episode_with_or_without_a_model(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        assert "Episode" in request.content.rsplit("Asked for now:", 1)[1]
        return {"episode": {"goal": "Choose music", "outcome": "succeeded", "tags": ["music"]}}

    for models, goal in ((ScriptedModels(say), "Choose music"), (None, TALK[0]["content"])):
        async with opened("memory://", clock, models) as book:
            thread = await book.thread("ann", agent="guide")
            await thread.append(TALK)
            await thread.close()
            assert await settle(book, clock, 1) == 1
            (episode,) = await book.episodes.list("ann", agent="guide")
            assert (episode.goal, episode.outcome.value, episode.thread) == (goal, "succeeded", thread.id)
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
    assert "Episode" not in models.asked[0].content.rsplit("Asked for now:", 1)[1]


@pytest.mark.parametrize(
    ("role", "text", "held"),
    [
        ("user", "Forget that I like jazz.", []),
        ("assistant", "Forget that you like jazz.", ["Likes jazz"]),
        ("user", "Forget the weather.", ["Likes jazz"]),
    ],
)
async def test_what_a_user_takes_back_is_held_no_longer_and_may_be_said_again(
    clock: HandClock, role: str, text: str, held: list[str]
):
    def say(request: ModelRequest) -> Said:
        if "Forget" not in request.content or "Anew" in request.content:
            return notes("Likes jazz")(request)
        return {
            "retracts": [
                {
                    "memory": handle(request, "Likes jazz"),
                    "sources": [{"message": handle(request, "Forget")}],
                }
            ]
        }

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"]
        await thread.append(role, text)
        await settle(book, clock)
        assert await known(book) == held
        await thread.append("user", "Anew: I like jazz.")
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"]
