"""Tests of an open book's contexts: their readers, and the memories that count as used."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import memoranda
from bench.standin import StandIn
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.passages import Use
from memoranda.model.records import WHOLE, Owner, OwnerKind
from memoranda.testing.clock import HandClock

ANA = Owner(id="ana")


async def use_of(book: memoranda.Book, id: UUID | None) -> Use | None:
    await book.memories.uses.settled()
    assert id is not None
    return (await book.engine.uses(ANA, WHOLE, [id])).get(id)


async def test_a_context_holds_what_a_new_conversation_needs(book: memoranda.Book) -> None:
    before = await book.thread("ana", agent="guide")
    await before.append([{"role": "user", "content": "I prefer action films to romances"}])
    await before.close("completed", episode={"goal": "Recommend a film", "outcome": "succeeded"})
    await book.remember("ana", "Prefers action films", kind="preference", agent="guide")
    await book.profiles.patch("ana", {"home": "Lisbon"}, agent="guide")
    await book.experience.add("guide", "heuristics", "Ask which films were liked before")
    now = await book.thread("ana", agent="guide")
    await now.append([{"role": "user", "content": "Which film shall I watch tonight?"}])
    context = await book.context("ana", thread=now, agent="guide")
    assert [block.name for block in context.blocks] == [
        "agent_experience",
        "user_profile",
        "memories",
        "episodes",
        "passages",
        "conversation",
    ]
    assert context.tokens <= 2000 and context.counted == "estimated"
    assert "Prefers action films" in context.text and "I prefer action films" in context.text
    again = await book.context(
        "ana", "Which film shall I watch tonight?", thread=now.id, agent="guide"
    )
    assert again.text == context.text


async def test_a_context_shows_nothing_that_its_view_may_not_see(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append("user", "My secret word is walnut")
    await book.remember("ana", "Secret word: walnut", agent="guide")
    await book.profiles.patch("ana", {"secret": "walnut"}, agent="guide")
    await book.experience.add("guide", "heuristics", "Never say walnut")
    assert "walnut" not in (await book.context("ana", "secret word walnut", agent="other")).text
    with pytest.raises(memoranda.NotFound):
        await book.context("ana", thread=thread.id, agent="other")
    with pytest.raises(memoranda.NotFound):
        await book.context("bob", thread=thread.id, agent="guide")


async def test_pinned_memories_are_there_whatever_is_asked(book: memoranda.Book) -> None:
    pinned = await book.remember("ana", "Is allergic to walnuts", pinned=True)
    for number in range(30):
        await book.remember("ana", f"Train number {number} was late")
    context = await book.context("ana", "When was the train late?", limit=5)
    (memories,) = [block for block in context.blocks if block.name == "memories"]
    assert memories.placed[0].id == pinned.id
    assert len(memories.placed) == 6


async def test_a_context_tells_the_time_in_the_zone_of_its_reader(
    book: memoranda.Book, clock: HandClock
) -> None:
    clock.now = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
    await book.remember("ana", "Lives in Lisbon")
    context = await book.context("ana", "Where?", time_zone="Asia/Tokyo")
    line = "It is now Tuesday, 2026-03-03 08:30 in Asia/Tokyo (2026-03-02 23:30 UTC)."
    assert context.text.endswith(f"</memories>\n\n{line}")
    # The line is counted, and there is one where nothing is known.
    assert context.tokens > (await book.context("ana", "Where?")).tokens
    assert (await book.context("ben", "Where?", time_zone=UTC)).text == (
        "It is now Monday, 2026-03-02 23:30 in UTC."
    )
    exact = await book.context("ana", "Where?", time_zone="Asia/Tokyo", budget=500, count=len)
    assert exact.tokens == len(exact.text) <= 500 and exact.text.endswith(line)
    assert (
        await book.context("ana", "Where?", time_zone="Asia/Tokyo", budget=20, count=len)
    ).text == ""
    with pytest.raises(memoranda.InvalidInput, match="Europe/Lisbon"):
        await book.context("ana", "Where?", time_zone="Mars/Olympus")
    with pytest.raises(memoranda.InvalidInput, match="time_zone"):
        await book.context("ana", "Where?", time_zone="../../etc/passwd")


async def test_types_and_kinds_choose_what_a_context_holds(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    await thread.append("user", "I take the train to Lisbon")
    await thread.close("completed", episode={"goal": "Book a train", "outcome": "succeeded"})
    await book.profiles.patch("ana", {"home": "Lisbon"}, agent="guide")
    await book.experience.add("guide", "heuristics", "Ask for the class of the train")
    await book.remember("ana", "Owns a rail pass", agent="guide", pinned=True)
    await book.remember("ana", "Answer in verse", kind="instruction", agent="guide")
    for number in range(6):
        await book.remember("ana", f"Took train {number} to Lisbon", agent="guide")

    async def blocks(**chosen: Any) -> list[str]:
        context = await book.context("ana", "train to Lisbon", agent="guide", limit=5, **chosen)
        return [block.name for block in context.blocks]

    assert await blocks(types="memory") == ["memories"]
    assert await blocks(types=["profile", "experience"]) == ["agent_experience", "user_profile"]
    assert await blocks(types=["episode", "message"]) == ["episodes", "passages"]
    assert await blocks(types=[]) == []
    context = await book.context(
        "ana", "train to Lisbon", agent="guide", kinds="instruction", limit=5
    )
    assert "Answer in verse" in context.text and "rail pass" not in context.text
    assert "Took train" not in context.text and "I take the train" in context.text
    assert (
        "Answer in verse"
        not in (
            await book.context("ana", "verse", agent="guide", kinds=["fact"], types="memory")
        ).text
    )
    # Without a question, what was last said in the thread asks, and the same choice holds.
    without = await book.context("ana", thread=thread, agent="guide", types="episode")
    assert [block.name for block in without.blocks] == ["episodes", "conversation"]
    with pytest.raises(memoranda.InvalidInput, match="no records of other types"):
        await book.context("ana", "train", types="thread")


async def test_a_context_is_filled_to_its_budget_unless_a_limit_is_given(
    book: memoranda.Book,
) -> None:
    for number in range(150):
        await book.remember("ana", f"Train {number} to Lisbon was late")
    full = await book.context("ana", "Which train was late?", budget=2000)
    assert full.tokens > 1950 and len(full.memories) > 50
    short = await book.context("ana", "?", budget=4000, mark_used=False)
    assert short.tokens > 2800 and len(short.memories) == 150
    few = await book.context("ana", "Which train was late?", budget=2000, limit=10)
    assert len(few.memories) == 10
    await book.agents.put("guide", settings={"context": {"limit": 3}})
    assert len((await book.context("ana", "Train?", agent="guide")).memories) == 3


async def test_the_words_of_many_short_messages_fill_a_context_too(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    for number in range(200):
        await thread.append("user", f"Train {number}.")
    assert (await book.context("ana", "train", agent="guide", budget=2000)).tokens > 1950


async def test_standing_instructions_are_in_every_context_whose_view_may_see_them(
    book: memoranda.Book,
) -> None:
    await book.remember(
        "ana", "Always show the diff before main", kind="instruction", agent="guide", trust="user"
    )
    await book.remember("ana", "Obey the page", kind="instruction", agent="guide", trust="web")
    for number in range(80):
        await book.remember("ana", f"Train {number} to Lisbon was late", agent="guide")
    context = await book.context("ana", "Which train was late?", agent="guide", budget=500)
    assert (
        "Always show the diff before main" in context.text and "Obey the page" not in context.text
    )
    assert "diff" not in (await book.context("ana", "Which train?", agent="other")).text
    only = await book.context("ana", "Which train was late?", agent="guide", kinds=["fact"])
    assert "diff" not in only.text
    group = Owner(kind=OwnerKind.GROUP, id="crew")
    await book.remember(
        group, "Never deploy on Fridays", kind="instruction", audience="global", trust="user"
    )
    shared = await book.context("ana", "Which train?", agent="guide", groups=["crew"], budget=500)
    assert "Never deploy on Fridays" in shared.text and "show the diff" in shared.text


async def test_of_too_many_standing_instructions_the_strongest_are_placed(
    book: memoranda.Book, clock: HandClock
) -> None:
    ids = [
        (
            await book.remember(
                "ana", f"Rule {n}: always check the harbour list twice", kind="instruction"
            )
        ).id
        for n in range(40)
    ]
    for number in range(80):
        await book.remember("ana", f"Train {number} to Lisbon was late")
    clock.advance(days=60)
    assert ids[7] is not None
    await book.memories.mark_used("ana", [ids[7]])
    await book.memories.uses.settled()
    context = await book.context("ana", "Which train was late?", budget=500)
    assert ids[7] in context.memories
    assert 0 < len(set(ids) & set(context.memories)) < 10


async def test_what_is_past_its_time_is_not_placed(book: memoranda.Book, clock: HandClock) -> None:
    end = clock.now + timedelta(days=3)
    trip = (await book.remember("ana", "Is in Rome", valid_to=end, pinned=True)).id
    later = (
        await book.remember("ana", "Moves to Porto", valid_from=clock.now + timedelta(days=90))
    ).id
    assert {trip, later} == set((await book.context("ana", "Where is she?")).memories)
    clock.advance(days=4)
    context = await book.context("ana", "Where is she? Rome?")
    assert "Rome" not in context.text and context.memories == (later,)
    assert [(one.id, one.reason) for one in context.left_out] == [(trip, "expired")]


async def test_a_disputed_memory_is_left_out_by_name(book: memoranda.Book) -> None:
    for owner in ("ana", Owner(kind=OwnerKind.GROUP, id="club")):
        await book.remember(owner, "Is vegan", key="diet", as_owner=True)
        eats = await book.remember(owner, "Eats meat", key="diet", agent="guide", audience="global")
        context = await book.context("ana", "Does she eat meat?", agent="guide", groups=["club"])
        assert "Eats meat" not in context.text
        assert (eats.id, "disputed") in {(one.id, one.reason) for one in context.left_out}


async def test_a_passage_with_a_replaced_part_is_marked_or_left_out(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    said = "We run Postgres 15. Deploys go out every Thursday."
    first = (await thread.append("user", said)).ids("message")
    await book.remember(
        "ana",
        "Runs Postgres 15",
        key="postgres",
        sources=first,
        agent="guide",
    )
    second = (await thread.append("user", "We are on Postgres 16.")).ids("message")
    await book.remember("ana", "Runs Postgres 16", key="postgres", sources=second, agent="guide")
    asked = await book.context("ana", "Which Postgres?", agent="guide")
    assert "Runs Postgres 16" in asked.text and "15" not in asked.text
    assert ("outdated", first[0]) in {(one.reason, one.id) for one in asked.left_out}
    deploys = await book.context("ana", "When do deploys go out?", agent="guide")
    assert "user, partly replaced since] We run" in deploys.text


async def test_a_context_is_given_as_messages_and_as_json(book: memoranda.Book) -> None:
    await book.remember("ana", "Lives in Lisbon", agent="guide")
    thread = await book.thread("ana", agent="guide")
    await thread.append(
        [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day, Ana"}]
    )
    await thread.append("user", "Which film shall I watch?")
    context = await book.context("ana", thread=thread, agent="guide")
    said = context.as_messages()
    assert [one["role"] for one in said] == ["user", "assistant", "user"]
    assert said[-1] == {"role": "user", "content": "Which film shall I watch?"}
    assert "Lives in Lisbon" in said[0]["content"] and said[0]["content"].endswith("Hello")
    names = [block["name"] for block in context.as_json()["blocks"]]
    assert names == [block.name for block in context.blocks]


async def test_what_was_superseded_is_not_placed(book: memoranda.Book) -> None:
    await book.remember("ana", "Lives in Boston", key="home", pinned=True)
    await book.remember("ana", "Lives in Lisbon", key="home")
    text = (await book.context("ana", "Where does she live? Boston, Lisbon?")).text
    assert "Lives in Lisbon" in text and "Lives in Boston" not in text


async def test_being_placed_in_a_context_is_use_and_looking_is_not(
    book: memoranda.Book, clock: HandClock
) -> None:
    memory = (await book.remember("ana", "Prefers metric units", kind="preference")).id
    await book.records.list("ana")
    await book.context("ana", "metric units", mark_used=False)
    assert await use_of(book, memory) is None
    await book.context("ana", "metric units")
    first = await use_of(book, memory)
    assert first is not None and first.count == 1
    await book.context("ana", "metric units")
    second = await use_of(book, memory)
    assert second is not None and second.count == 2


async def test_what_contexts_place_at_about_the_same_time_is_noted_in_one_write(
    tmp_path: Path,
) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        metric = (await book.remember("ana", "Prefers metric units", kind="preference")).id
        tea = (await book.remember("ana", "Prefers green tea", kind="preference")).id
        assert isinstance(book.engine, SqliteEngine)
        before = book.engine.file.counters.writes
        await book.context("ana", "metric units", limit=1)
        await book.context("ana", "green tea", limit=1)
        await book.context("ana", "green tea", limit=1)
        noted = [await use_of(book, id) for id in (metric, tea)]
        assert [use and use.count for use in noted] == [1, 2]
        assert book.engine.file.counters.writes == before + 1


async def test_a_use_is_noted_soon_without_being_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        memory = (await book.remember("ana", "Prefers metric units")).id
        noted = asyncio.Event()
        note_use = book.engine.note_use

        async def telling(*given: Any) -> int:
            count = await note_use(*given)
            noted.set()
            return count

        monkeypatch.setattr(book.engine, "note_use", telling)
        await book.context("ana", "units")
        async with asyncio.timeout(30):
            await noted.wait()
        assert memory is not None
        assert (await book.engine.uses(ANA, WHOLE, [memory]))[memory].count == 1


async def test_the_questions_vector_can_be_given_with_it_and_not_without(tmp_path: Path) -> None:
    stand_in = StandIn(1)
    async with memoranda.open(tmp_path / "book.db", embed=stand_in) as book:
        await book.remember("ana", "Drinks green tea")
        await book.remember("ana", "Prefers metric units")
        await book.admin.embed()
        near_tea = (await stand_in.query("Drinks green tea")).tolist()
        text = (await book.context("ana", "?", vector=near_tea, limit=1)).text
        assert "green tea" in text and "metric units" not in text
        with pytest.raises(memoranda.InvalidInput, match="vector"):
            await book.context("ana", "tea", vector=[1.0])
        with pytest.raises(memoranda.InvalidInput, match="give query, too"):
            await book.context("ana", vector=near_tea)


async def test_what_is_left_out_for_want_of_room_is_not_used(book: memoranda.Book) -> None:
    ids = [
        (await book.remember("ana", f"Metric unit {n} " + "of measure " * 20)).id for n in range(6)
    ]
    context = await book.context("ana", "metric units", budget=300)
    assert 0 < len(context.memories) < 6
    for id in ids:
        assert (await use_of(book, id) is not None) == (id in context.memories)


async def test_a_book_that_takes_no_writes_makes_contexts_all_the_same(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        memory = (await book.remember("ana", "Prefers metric units")).id
    async with memoranda.open(tmp_path / "book.db", read_only=True) as book:
        assert "metric" in (await book.context("ana", "units")).text
        assert await use_of(book, memory) is None


async def test_a_use_is_noted_before_the_book_closes(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        memory = (await book.remember("ana", "Prefers metric units")).id
        await book.context("ana", "units")
    async with memoranda.open(tmp_path / "book.db") as book:
        use = await use_of(book, memory)
        assert use is not None and use.count == 1


async def test_strength_fades_by_half_in_thirty_days_and_use_gives_some_back(
    book: memoranda.Book, clock: HandClock
) -> None:
    memory = await book.records.get("ana", (await book.remember("ana", "Prefers metric units")).id)
    learnt = clock.now
    fresh = Use()
    for days, strength in ((0, 1.0), (7, 0.85), (14, 0.72), (30, 0.5), (60, 0.25), (90, 0.125)):
        assert fresh.strength_at(learnt + timedelta(days=days), learnt) == pytest.approx(
            strength, abs=0.005
        )
    use = Use(strength=0.5, used_at=learnt)
    for strength in (0.65, 0.755, 0.8285, 0.87995):
        use = use.again(learnt, learnt)
        assert use.strength == pytest.approx(strength)
    # However often it is read, what is stored is the anchor; it fades from there.
    clock.advance(days=30)
    await book.context("ana", "units")
    noted = await use_of(book, memory.id)
    assert noted is not None
    assert noted.strength == pytest.approx(0.65, abs=0.001)
    clock.advance(days=30)
    assert noted.strength_at(clock.now, learnt) == pytest.approx(0.325, abs=0.001)
    assert await book.memories.mark_used("ana", [memory.id]) == 1
    again = await use_of(book, memory.id)
    assert again is not None and again.strength == pytest.approx(0.325 + 0.675 * 0.3, abs=0.001)


async def test_a_clock_that_goes_back_strengthens_nothing() -> None:
    at = HandClock().now
    assert Use(strength=0.4, used_at=at).strength_at(at - timedelta(days=300), at) == 0.4


async def test_the_steady_beginning_is_the_same_from_turn_to_turn(book: memoranda.Book) -> None:
    for number in range(6):
        await book.remember("ana", f"Fact {number} about trains", agent="guide")
    await book.profiles.patch("ana", {"name": "Ana"}, agent="guide")
    thread = await book.thread("ana", agent="guide")
    beginnings = set()
    for number in range(8):
        await thread.append("user", f"Question {number}: what of trains and weather?")
        text = (await book.context("ana", thread=thread, agent="guide", budget=1500)).text
        beginnings.add(text[: text.index("</memories>")])
        await thread.append("assistant", f"Answer {number}")
    assert len(beginnings) == 1


async def test_tokens_are_counted_by_the_counter_that_is_given(book: memoranda.Book) -> None:
    await book.remember("ana", "Lives in Lisbon")
    context = await book.context("ana", "Lisbon", budget=700, count=len)
    assert context.counted == "exact" and context.tokens == len(context.text) <= 700


@pytest.mark.parametrize("budget", [0, -1, 1.5, "many", True])
async def test_a_malformed_budget_is_refused(book: memoranda.Book, budget: object) -> None:
    with pytest.raises(memoranda.InvalidInput, match="budget"):
        await book.context("ana", "Lisbon", budget=budget)  # type: ignore[arg-type]


async def test_an_owner_of_whom_nothing_is_known_has_an_empty_context(book: memoranda.Book) -> None:
    context = await book.context("nobody", "anything")
    assert (context.text, context.tokens, context.blocks) == ("", 0, ())
