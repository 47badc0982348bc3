"""Formation keeps speakers, agents and groups apart, and concurrent runs give the result of one
run.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, entries, handle
from tests.formation.books import jobs, known, opened, settle


async def worked_at_once(book: Any, clock: HandClock, at_once: int = 4) -> None:
    """Do the due jobs in several loops of a worker."""
    clock.advance(seconds=31)
    stop = asyncio.Event()
    working = asyncio.create_task(book.worker.run(stop, 0.01, at_once=at_once))
    for _ in range(3_000):
        if not await jobs(book):
            break
        await asyncio.sleep(0.01)
    stop.set()
    await working


async def test_what_is_said_in_four_threads_at_once_is_one_memory(tmp_path: Path, clock: HandClock):
    async with opened(tmp_path / "book.db", clock) as book:
        for place in range(4):
            thread = await book.thread("ann", agent="guide", name=str(place))
            await thread.append("user", "I am allergic to walnuts.")
        await worked_at_once(book, clock)
        assert await known(book) == ["Is allergic to walnuts"]


async def test_what_four_users_teach_at_once_is_one_line_that_serves_a_fifth(
    tmp_path: Path, clock: HandClock
):
    def say(request: ModelRequest) -> Said:
        source = [{"message": handle(request, "Short answers")}]
        return {
            "experience": [{"field": "heuristics", "line": "Short answers help", "sources": source}]
        }

    async with opened(tmp_path / "book.db", clock, ScriptedModels(say)) as book:
        for user in ("ann", "ben", "eve", "joe"):
            thread = await book.thread(user, agent="guide")
            await thread.append("user", "Short answers are what helps.")
        await worked_at_once(book, clock)
        (line,) = await book.experience.list("guide")
        assert {part.owner.id for part in line.evidence} == {"ann", "ben", "eve", "joe"}
        assert [one.line for one in await book.experience.list("guide", for_user="carl")] == [
            line.line
        ]


async def test_what_another_speaker_says_of_themselves_is_not_said_of_the_owner(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "My name is Ben and I am allergic to peanuts.", speaker="ben")
        await thread.append("user", "I live in Rome.", speaker="Ann")
        await settle(book, clock)
        page = await book.records.list("ann", types="memory", agent="guide")
        about = {
            record.content: record.subject for record in page.records if isinstance(record, Memory)
        }
        assert about == {
            "Is called Ben": "ben",
            "Is allergic to peanuts": "ben",
            "Lives in Rome": None,
        }
        assert await book.profiles.get("ann", agent="guide") == {"home": "Rome"}


async def test_a_model_cannot_make_another_speaker_the_owner(clock: HandClock):
    def say(request: ModelRequest) -> Said:
        source = [{"message": handle(request, "I live in Berlin")}]
        operations = [{"op": "add", "path": "/home", "value": "Berlin"}]
        return {
            "notes": [{"content": "Lives in Berlin", "key": "home", "sources": source}],
            "patches": [{"schema": "Profile", "operations": operations, "sources": source}],
        }

    async with opened("memory://", clock, ScriptedModels(say)) as book:
        thread = await book.thread("ann", agent="guide")
        await thread.append("user", "This is Ben, he will tell you.")
        await thread.append("user", "I live in Berlin.", speaker="ben")
        await settle(book, clock)
        (memory,) = (await book.records.list("ann", types="memory", agent="guide")).records
        assert (
            isinstance(memory, Memory)
            and memory.subject == "ben"
            and await book.profiles.get("ann", agent="guide") == {}
        )


async def test_a_thread_that_others_read_shows_no_memory_that_they_may_not_read(clock: HandClock):
    models = ScriptedModels([{}])
    async with opened("memory://", clock, models) as book:
        for agent in ("doctor", "formation"):
            await book.remember("ann", f"The {agent} knows of an accident in Lisbon", agent=agent)
        talk = [{"role": "user", "content": "What of the accident in Lisbon?"}]
        group = await book.thread("ann", agent="doctor", groups=["team"], audience="group")
        shared = await book.thread("ann", agent="doctor", audience="global")
        nobodys = await book.thread("ann", audience="global")
        for thread in (group, shared, nobodys):
            await thread.append(talk)
            await settle(book, clock)
        private = await book.thread("ann", agent="doctor")
        await private.append(talk)
        await settle(book, clock)
    shown = [[line for _, line in entries(request).values()] for request in models.asked]
    assert all("knows" not in " ".join(lines) for lines in shown[:3])
    assert "The doctor knows of an accident in Lisbon" in shown[3] and "formation" not in " ".join(
        shown[3]
    )


async def test_of_what_was_said_at_one_moment_the_later_message_counts(clock: HandClock):
    async with opened("memory://", clock) as book:
        thread = await book.thread("ann", agent="guide")
        talk = [
            "I live in New York.",
            *(f"This is message {n}." for n in range(250)),
            "I live in Boston.",
        ]
        await thread.append([{"role": "user", "content": text} for text in talk])
        await settle(book, clock)
        assert await known(book) == ["Lives in Boston"]
        assert (await book.profiles.get("ann", agent="guide"))["home"] == "Boston"
        await thread.form_again()
        await settle(book, clock)
        assert await known(book) == ["Lives in Boston"]
