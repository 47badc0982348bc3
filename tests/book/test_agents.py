"""An agent's record is changed field by field, and never taken over or misspelt in silence."""

from __future__ import annotations

import asyncio

import pytest

import memoranda
from memoranda import Conflict, InvalidInput


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
    assert coach is not None and (coach.model, coach.system_prompt, coach.settings) == ("m2", "", {})
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
        *(book.agents.put("coach", model=f"m{n}", new=True) for n in range(8)), return_exceptions=True
    )
    won = [place for place, one in enumerate(done) if isinstance(one, memoranda.Receipt)]
    assert len(won) == 1 and all(isinstance(one, (memoranda.Receipt, Conflict)) for one in done)
    coach = await book.agents.get("coach")
    assert coach is not None and coach.model == f"m{won[0]}"


async def test_a_setting_of_an_agent_that_nothing_reads_is_refused(book: memoranda.Book) -> None:
    with pytest.raises(InvalidInput, match=r"settings\.recall: nothing reads") as refused:
        await book.agents.put("coach", settings={"forming": {}, "recall": {"limit": 5}})
    assert refused.value.field == "settings.recall"
    assert await book.agents.get("coach") is None
