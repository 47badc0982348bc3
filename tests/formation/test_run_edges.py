"""Edge cases of a run: late closes, budgets, oversized content, and erasures since it began."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.language_models import ModelRequest
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, OwnerKind, RecordType
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, handle
from tests.formation.books import TALK, jobs, known, notes, opened, settle


def asked_for(request: ModelRequest) -> str:
    return request.content.rsplit("Fill:", 1)[1]


async def test_a_thread_that_closes_long_after_it_was_formed_gets_its_episode_and_its_own_schemas(
    clock: HandClock,
):
    def say(request: ModelRequest) -> Said:
        if "Trip" not in asked_for(request):
            return {"episode": {"goal": "Choose music", "outcome": "succeeded"}}
        # The episode was prepared, and is not asked for again.
        assert "episode" not in asked_for(request)
        source = [{"message": handle(request, "New York")}]
        trip = {"schema": "Trip", "sources": source}
        trip["operations"] = [{"op": "add", "path": "/goal", "value": "New York"}]
        return {"patches": [trip]}

    models = ScriptedModels(say)
    shape = {"type": "object", "properties": {"goal": {"type": "string"}}}
    async with opened("memory://", clock, models) as book:
        await book.schemas.put("Trip", parameters=shape, trigger="close", description="A journey.")
        thread = await book.thread("ann", agent="guide")
        await thread.append(TALK)
        await settle(book, clock)
        assert len(models.asked) == 1 and "Trip" not in asked_for(models.asked[0])
        await thread.close()
        await settle(book, clock)
        (episode,) = await book.episodes.list("ann", agent="guide")
        assert episode.goal == "Choose music" and len(models.asked) == 2
        assert await book.profiles.get("ann", "Trip", agent="guide") == {"goal": "New York"}
        await book.forget("ann", episode.id, as_owner=True)
        await thread.form()
        await settle(book, clock)
        assert await book.episodes.list("ann", agent="guide") == [] and len(models.asked) == 2


async def test_a_clock_that_goes_back_leaves_memory_and_profile_agreed(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I live in Berlin.")
        clock.advance(days=-100)
        await thread.append("user", "I live in Paris.")
        await thread.form()
        clock.advance(days=101)
        await book.jobs.run()
        # In two runs, too.
        await thread.append("user", "I live in Rome.")
        clock.advance(days=-100)
        await thread.append("user", "I live in Lisbon.")
        await thread.form()
        clock.advance(days=101)
        await book.jobs.run()
        page = await book.records.list(
            "ann", types="memory", only={"statuses": "active"}, agent="guide"
        )
        assert [str(memory.content) for memory in page] == ["Lives in Lisbon"]  # type: ignore[attr-defined]
        assert await book.profiles.get("ann", agent="guide") == {"home": "Lisbon"}


async def test_a_backlog_without_statements_leaves_few_versions_of_its_thread(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(
            [{"role": "user", "content": f"ping {number}"} for number in range(900)]
        )
        before = (await thread.get()).version
        await thread.form()
        await book.jobs.run()
        formed = await thread.get()
        assert formed.formed_through == 900 and formed.version - before <= 3
        # What is stated among much that is not is found, and the mark follows.
        await thread.append(
            [{"role": "user", "content": f"pong {number}"} for number in range(300)]
        )
        await thread.append("user", "I live in Berlin.")
        await thread.append(
            [{"role": "user", "content": f"pong {number}"} for number in range(300)]
        )
        await thread.form()
        await book.jobs.run()
        assert (await thread.get()).formed_through == 1501
        assert await book.profiles.get("ann", agent="guide") == {"home": "Berlin"}


async def test_the_budget_of_a_run_is_one_runs_and_the_next_one_goes_on(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORANDA_BUDGETS_RUN_TOKENS", "3300")
    monkeypatch.setenv("MEMORANDA_FORMING_PROMPT_TOKENS", "1000")
    monkeypatch.setenv("MEMORANDA_FORMING_ANSWER_TOKENS", "100")
    models = ScriptedModels([{}])
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append(
            [{"role": "user", "content": f"{n} " + "many words " * 200} for n in range(20)]
        )
        await settle(book, clock)
        first = len(models.asked)
        (job,) = await jobs(book)
        assert 0 < first < 20 and "run_tokens" in job.error
        for _ in range(40):
            await settle(book, clock, 120)
        assert (await thread.get()).formed_through == 20 and await jobs(book) == []


async def test_an_answer_that_is_too_large_to_be_kept_is_bought_once(clock: HandClock):
    models = ScriptedModels(notes("Likes jazz"))
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "I like jazz. " + "ж" * 400_000)
        await settle(book, clock)
        assert await known(book) == ["Likes jazz"] and await jobs(book) == []
        (spent,) = await book.admin.usage("ann")
        assert (spent.calls, spent.answers) == (1, 1) and len(models.asked) == 1


async def test_a_call_with_inputs_that_no_record_holds_leaves_the_book_whole(
    tmp_path: Path, clock: HandClock
):
    deep = "[" * 200 + "]" * 200
    async with opened(tmp_path / "book.db", clock) as book:
        thread = await book.thread("ann", agent="guide")
        for args in (deep, "[" * 200_000, '{"q": "\\ud83d"}', '{"q": NaN}'):
            call = [
                {"part_kind": "tool-call", "tool_name": "look", "tool_call_id": "1", "args": args}
            ]
            await thread.append("assistant", "Looking.", native=call)
        await thread.append("user", "Thanks.")
        await thread.close()
        await settle(book, clock)
        assert len(await book.episodes.list("ann", agent="guide")) == 1
        assert await book.recall("ann", "looking", agent="guide")
        assert (await book.admin.verify()).faults == () and await jobs(book) == []


async def test_a_line_that_was_retired_is_not_learnt_anew_however_many_the_agent_has(
    clock: HandClock,
):
    def say(request: ModelRequest) -> Said:
        said = [{"message": handle(request, "New York")}]
        lines = ("Ask for the date first", "Be brief")
        return {
            "experience": [{"field": "heuristics", "line": line, "sources": said} for line in lines]
        }

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        for number in range(1_000):
            await book.experience.add("guide", "heuristics", f"Line {number}")
        last = await book.experience.add("guide", "heuristics", "Ask for the date first.")
        await book.experience.retire("guide", last.id)
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        learnt = Filter(types=frozenset({RecordType.EXPERIENCE}))
        page = await book.engine.scan(
            Owner(kind=OwnerKind.AGENT, id="guide"), WHOLE, learnt, None, 2_000
        )
        lines = [line.line for line in page.records if isinstance(line, ExperienceLine)]
        assert len(lines) == 1_002 and lines.count("Be brief") == 1
        assert "Ask for the date first" not in lines


async def test_what_a_document_lost_is_not_sent_with_an_answer_that_was_kept(clock: HandClock):
    broken = True

    def say(request: ModelRequest) -> Said:
        return "no json" if broken else {}

    models = ScriptedModels(say)
    async with opened("memory://", clock, models) as book:
        thread = await book.thread("ann", agent="guide")
        said = await thread.append("user", "I live in Zanzibar.")
        await book.profiles.patch("ann", {"name": "Ann"}, agent="guide")
        document = (await book.profiles.documents("ann", agent="guide"))[0]
        assert document.body == {"name": "Ann"}
        await thread.append("user", "And I like tea.")
        await settle(book, clock)
        await book.forget("ann", said.id, as_owner=True)
        broken = False
        before = len(models.asked)
        for _ in range(3):
            await settle(book, clock, 600)
        assert models.asked[before:] and all(
            "Zanzibar" not in one.content for one in models.asked[before:]
        )
