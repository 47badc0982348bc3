"""Tests of agents' records: they are changed field by field, and a misspelt or taken name is
refused.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import memoranda
from memoranda import Conflict, InvalidInput
from memoranda.book.nouns import agents as nouns
from memoranda.model.memories import Memory


async def test_fields_of_an_agent_that_are_left_out_stay(book: memoranda.Book) -> None:
    await book.agents.put(
        "coach", model="m1", system_prompt="Be kind.", settings={"forming": {"enabled": False}}
    )
    await book.agents.put("coach", model="m2")
    coach = await book.agents.get("coach")
    assert coach is not None and (coach.model, coach.system_prompt) == ("m2", "Be kind.")
    assert coach.settings == {"forming": {"enabled": False}}
    await book.agents.put("coach", settings={}, system_prompt="")
    coach = await book.agents.get("coach")
    assert coach is not None and (coach.model, coach.system_prompt, coach.settings) == (
        "m2",
        "",
        {},
    )
    assert (await book.agents.put("coach")).ignored[0].code == "unchanged"


async def test_a_repeated_change_of_an_agent_is_the_same_operation(book: memoranda.Book) -> None:
    first = await book.agents.put("coach", model="m1", new=True, operation="make")
    await book.agents.put("coach", description="Helps")
    again = await book.agents.put("coach", model="m1", new=True, operation="make")
    assert again.repeated and again.position == first.position


async def test_a_taken_name_is_refused_where_it_is_meant_as_new(book: memoranda.Book) -> None:
    await book.agents.put("coach", model="m1", new=True)
    with pytest.raises(Conflict, match="agent 'coach' exists"):
        await book.agents.put("coach", model="m2", new=True)
    shape = {"type": "object", "properties": {"pet": {"type": "string"}}}
    await book.schemas.put("Pets", parameters=shape, new=True)
    with pytest.raises(Conflict, match="schema 'Pets' exists"):
        await book.schemas.put("Pets", parameters=shape, new=True)


async def test_of_two_that_take_a_name_at_once_one_has_it(book: memoranda.Book) -> None:
    done = await asyncio.gather(
        *(book.agents.put("coach", model=f"m{n}", new=True) for n in range(8)),
        return_exceptions=True,
    )
    won = [place for place, one in enumerate(done) if isinstance(one, memoranda.Receipt)]
    assert len(won) == 1 and all(isinstance(one, (memoranda.Receipt, Conflict)) for one in done)
    coach = await book.agents.get("coach")
    assert coach is not None and coach.model == f"m{won[0]}"


async def test_a_setting_of_an_agent_that_nothing_reads_is_refused(book: memoranda.Book) -> None:
    with pytest.raises(
        InvalidInput, match=r"settings\.recall: nothing reads .* limits, context"
    ) as refused:
        await book.agents.put("coach", settings={"forming": {}, "recall": {"limit": 5}})
    assert refused.value.field == "settings.recall"
    assert await book.agents.get("coach") is None


async def test_limits_of_an_agent_apply_to_what_it_writes_and_to_nobody_else(
    book: memoranda.Book,
) -> None:
    own = {
        "writes_per_run": 2,
        "content_length": 20,
        "kinds": ["preference", "ticket"],
        "message_length": 30,
    }
    await book.agents.put("bot", settings={"limits": own})
    limits = await book.agents.limits("bot")
    assert (limits.writes_per_run, limits.kinds, limits.key_length) == (
        2,
        ("preference", "ticket"),
        100,
    )
    assert await book.agents.limits("other") == book.door.limits
    await book.remember("ana", "Number 8842", kind="ticket", agent="bot")
    for content, kind in (
        ("Likes tea", "fact"),
        ("Likes tea, and much more than that", "preference"),
    ):
        with pytest.raises(memoranda.LimitReached):
            await book.remember("ana", content, kind=kind, agent="bot")
    three = [{"content": f"Likes {what}", "kind": "preference"} for what in ("tea", "rye", "figs")]
    with pytest.raises(memoranda.LimitReached, match=r"writes_per_run allows 2 statements"):
        await book.memories.remember_all("ana", three, agent="bot")
    thread = await book.thread("ana", agent="bot")
    with pytest.raises(memoranda.LimitReached):
        await thread.append("user", "x" * 31)
    # Others keep to the tenant's limits.
    await book.memories.remember_all(
        "ana", [{**one, "kind": "fact"} for one in three], agent="other"
    )
    with pytest.raises(memoranda.LimitReached):
        await book.remember("ana", "Number 8843", kind="ticket", agent="other")
    await book.agents.put("bot", settings={})
    await book.remember("ana", "Likes tea, and much more than that", agent="bot")


async def test_what_is_formed_for_an_agent_keeps_to_its_limits(book: memoranda.Book) -> None:
    own = {"kinds": ["preference"], "content_length": 30, "writes_per_run": 1}
    await book.agents.put("bot", settings={"limits": own})
    thread = await book.thread("ana", agent="bot")
    await thread.append(
        "user", "I like tea. I live in Lisbon. My dog is called Pixel. I am allergic to peanuts."
    )
    await thread.form()
    await book.jobs.run()
    page = await book.records.list("ana", types="memory", agent="bot")
    formed = [record for record in page if isinstance(record, Memory)]
    assert len(formed) >= 3 and {memory.kind for memory in formed} == {"preference"}
    assert (await thread.get()).formed_through == 1


async def test_an_agents_contexts_have_what_its_settings_say(book: memoranda.Book) -> None:
    for number in range(5):
        await book.remember("ana", f"Likes tea number {number}", agent="bot")
    await book.remember("ana", "Answer in verse", kind="instruction", agent="bot")
    chosen = {
        "types": ["memory"],
        "kinds": ["instruction"],
        "time_zone": "Europe/Lisbon",
        "budget": 300,
    }
    await book.agents.put("bot", settings={"context": chosen})
    context = await book.context("ana", "tea", agent="bot")
    assert "Answer in verse" in context.text and "number" not in context.text
    assert "in Europe/Lisbon" in context.text and context.tokens <= 300
    # What a call says comes first.
    assert "number" in (await book.context("ana", "tea", kinds="fact", agent="bot")).text
    with pytest.raises(InvalidInput, match=r"settings\.context\.time_zone"):
        await book.agents.put("bot", settings={"context": {"time_zone": "Mars/Olympus"}})
    with pytest.raises(InvalidInput, match=r"settings\.context\.types"):
        await book.agents.put("bot", settings={"context": {"types": ["thread"]}})


async def test_a_stored_time_zone_that_is_not_known_here_fails_no_context(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    await book.remember("ana", "Likes tea", agent="bot")
    # Another machine, which knows the zone, wrote the setting.
    monkeypatch.setattr(nouns, "check_context_settings", lambda _: None)
    await book.agents.put("bot", settings={"context": {"time_zone": "Mars/Olympus", "budget": 300}})
    context = await book.context("ana", "tea", agent="bot")
    assert "Likes tea" in context.text and "Mars" not in context.text
    assert (
        "in Europe/Lisbon"
        in (await book.context("ana", agent="bot", time_zone="Europe/Lisbon")).text
    )


@pytest.mark.parametrize(
    "limits",
    [
        {"batch": 5},
        {"experience_min_users": 1},
        {"writes_per_run": 0},
        {"kinds": []},
        {"kinds": "x"},
        [],
        5,
    ],
)
async def test_a_limit_that_no_agent_can_have_is_refused(
    book: memoranda.Book, limits: object
) -> None:
    with pytest.raises(InvalidInput, match=r"settings\.limits"):
        await book.agents.put("bot", settings={"limits": limits})
    assert await book.agents.get("bot") is None


def test_the_synchronous_book_tells_an_agents_limits(tmp_path: Path) -> None:
    with memoranda.open_sync(tmp_path / "book.db") as book:
        book.agents.put("bot", settings={"limits": {"writes_per_run": 2}})
        assert book.agents.limits("bot").writes_per_run == 2
