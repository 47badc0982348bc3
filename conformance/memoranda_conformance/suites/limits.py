"""Tests of limits: how writes and memories are counted, what makes room, and what a refused write
says.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from memoranda.errors import LimitReached
from memoranda.model.changes import Amend, Retract, Undo
from memoranda.model.ledger import Actor, Receipt
from memoranda.model.passages import Use
from memoranda.model.records import EVERYONE, WHOLE, Audience, Limits, RecordType, Trust, View
from memoranda.ports import Engine
from memoranda_conformance.builders import AT_A, AT_B, BEN, FOR_A, Pen
from memoranda_conformance.suite import Suite


class LimitSuite(Suite):
    """Tests of limits: how writes and memories are counted, and what a refused write says."""

    async def test_a_turn_writes_ten_statements_and_the_next_turn_ten_more(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=Limits())
        thread = await pen.open()
        for turn in range(2):
            await pen.say(thread, f"turn {turn}")
            await pen.say(thread, "let me think", role="assistant")
            for number in range(10):
                await pen.remember(f"statement {turn} {number}", thread=thread)
            with pytest.raises(LimitReached, match=r"Maximum writes per run \(10\).*next turn"):
                await pen.remember("one too many", thread=thread)
        assert len(await pen.scan(kinds=frozenset({"fact"}))) == 20

    async def test_a_named_run_is_counted_by_its_name_and_owner(self, engine: Engine) -> None:
        pen, other = (
            Pen(engine, limits=Limits(writes_per_run=2)),
            Pen(engine, BEN, limits=Limits(writes_per_run=2)),
        )
        await pen.write(pen.remembering("one", run="r"), pen.remembering("two", run="r"))
        with pytest.raises(LimitReached):
            await pen.remember("three", run="r")
        await pen.remember("three", run="s")
        for content in ("one", "two"):
            await other.remember(content, run="r")

    async def test_without_a_run_a_call_is_counted_alone(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(writes_per_run=2))
        for _ in range(3):
            await pen.write(pen.remembering("one"), pen.remembering("two"))
        with pytest.raises(LimitReached):
            await pen.write(*(pen.remembering(str(number)) for number in range(3)))
        assert len(await pen.scan()) == 6

    async def test_what_has_expired_of_another_owner_makes_no_room(self, engine: Engine) -> None:
        limits = Limits(memories_per_owner=1, at_capacity="reject")
        pen, other = Pen(engine, limits=limits), Pen(engine, BEN, limits=limits)
        await pen.remember("one")
        await other.remember("two", expires_at=other.now + timedelta(seconds=5))
        for one in (pen, other):
            one.tick(60)
        with pytest.raises(LimitReached):
            await pen.remember("three")
        await other.remember("three")

    async def test_at_the_cap_a_write_is_refused_with_what_to_do(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=2, at_capacity="reject"))
        first = await pen.remember("one", key="k")
        await pen.remember("two")
        with pytest.raises(
            LimitReached,
            match=r"\(2/2\).*memories_per_owner.*forget or retract some, or raise the limit",
        ):
            await pen.remember("three")
        await pen.remember("another one", key="k")
        await pen.remember("yet another one", key="k")
        assert (await pen.read(first)).status == "superseded"
        held = [memory.id for memory in await pen.scan(statuses=frozenset({"active"}))]
        assert len(held) == 2
        await pen.write(Retract(held[0]))
        await pen.remember("three")
        with pytest.raises(LimitReached):
            await pen.remember("four")

    async def test_at_the_cap_the_writers_own_oldest_makes_room(self, engine: Engine) -> None:
        # Another owner's is older still, and of an agent of the same name.
        await Pen(engine, BEN).remember("ben's", agent="a")
        pen = Pen(engine, limits=Limits(memories_per_owner=4, at_capacity="evict_oldest"))
        others = await pen.remember("b's oldest", agent="b")
        pinned = await pen.remember("pinned", agent="a")
        await pen.write(Amend(pinned, {"pinned": True}))
        oldest, older = (
            await pen.remember("old", agent="a"),
            await pen.remember("less old", agent="a"),
        )
        pen.view = View(agent="a")
        receipt = await pen.write(pen.remembering("new", agent="a"))
        pen.view = WHOLE
        assert [(item.verb, item.id) for item in receipt.items] == [
            ("remember", receipt.id),
            ("archive", oldest),
        ]
        assert (await pen.read(oldest)).archived
        assert [(await pen.read(id)).active for id in (others, pinned, older, receipt.id)] == [
            True
        ] * 4
        assert [step.verb for step in await engine.history(pen.owner, pen.view, oldest)] == [
            "remember",
            "archive",
        ]

    async def test_what_a_batch_changes_itself_does_not_make_room_for_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=3, at_capacity="evict_oldest"))
        tea = await pen.remember("likes tea", key="drink")
        retracted, last = await pen.remember("old"), await pen.remember("less old")
        receipt = await pen.write(
            pen.remembering("likes gin", key="drink"),
            pen.remembering("new"),
            pen.remembering("newer"),
            Retract(retracted),
        )
        statuses = [(await pen.read(id)).status for id in (tea, retracted, last)]
        assert statuses == ["superseded", "retracted", "active"] and (await pen.read(last)).archived
        assert len([item for item in receipt.items if item.verb == "archive"]) == 1
        assert len(await pen.scan(statuses=frozenset({"active"}))) == 3

    async def test_more_at_once_than_the_limit_is_said_to_be_so(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_agent=2))
        three = [pen.remembering(content, agent="a") for content in ("one", "two", "three")]
        with pytest.raises(
            LimitReached, match=r"3 memories at once .*memories_per_agent = 2.*raise the limit"
        ):
            await pen.write(*three)
        assert await pen.scan() == []

    async def test_where_nothing_of_the_writers_own_can_go_the_write_is_refused(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=2, at_capacity="evict_oldest"))
        pinned = await pen.remember("pinned", agent="a", pinned=True)
        others = await pen.remember("b's", agent="b")
        with pytest.raises(LimitReached, match="own and not pinned"):
            await pen.remember("new", agent="a")
        with pytest.raises(LimitReached):
            await pen.write(pen.remembering("one", agent="b"), pen.remembering("two", agent="b"))
        assert {memory.id for memory in await pen.scan()} == {pinned, others}

    async def test_what_is_no_longer_held_does_not_count(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=2, at_capacity="reject"))
        thread = await pen.open(agent="a", audience=FOR_A)
        (said,) = await pen.say(thread, "tea")
        derived = await pen.remember("likes tea", sources=(said,))
        await pen.remember("two")
        await pen.erase(said)
        assert await pen.find(derived) is None
        await pen.remember("three")
        with pytest.raises(LimitReached):
            await pen.remember("four")


FORMED: Final = Actor("system", "formation")
#: Three memories for each agent of an owner.
THREE: Final = Limits(memories_per_agent=3, writes_per_run=100)


class CapacitySuite(Suite):
    """Tests of the default limit: what is written is refused, what is formed archives the same
    agent's weakest memories.
    """

    async def test_what_is_written_at_an_agents_cap_is_refused_and_never_paid_for_with_a_fact(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=THREE, view=AT_A)
        ids = [await remembered(pen, f"fact {number}", "a") for number in range(3)]
        # A model's tool writes as its agent, a program as an application, and the person as the
        # owner.
        for actor in (Actor("agent", "a"), Actor("application"), Actor("owner")):
            with pytest.raises(
                LimitReached, match=r"\(3/3\).*agent 'a'.*memories_per_agent"
            ) as caught:
                await remembered(pen, "one too many", "a", actor=actor)
            assert caught.value.field == "memories_per_agent"
            assert "forget or retract some, or raise the limit" in str(caught.value)
        with pytest.raises(LimitReached):
            await pen.write(
                Retract(ids[0]),
                *(pen.remembering(str(n), agent="a", audience=FOR_A) for n in range(2)),
            )
        assert await active(pen) == set(ids)
        await pen.write(Retract(ids[0]), pen.remembering("in its place", agent="a", audience=FOR_A))
        assert len(await active(pen)) == 3

    async def test_at_an_agents_cap_a_key_is_corrected(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_agent=2))
        first = await pen.remember("Boston", key="home", agent="a")
        await pen.remember("tea", agent="a")
        await pen.remember("Chicago", key="home", agent="a")
        assert (await pen.read(first)).status == "superseded"

    async def test_an_agent_that_is_full_keeps_no_other_one_out(self, engine: Engine) -> None:
        pen = Pen(engine, limits=THREE)
        for agent in ("a", "b", None):
            for number in range(3):
                await pen.remember(f"fact {number}", agent=agent)
            with pytest.raises(LimitReached, match=r"\(3/3\)"):
                await pen.remember("one too many", agent=agent)
        assert len(await active(pen)) == 9
        # An agent of the same name has as many of another owner.
        await Pen(engine, BEN, limits=THREE).remember("ben's", agent="a")

    async def test_an_agent_is_told_nothing_of_what_others_have(self, engine: Engine) -> None:
        pen, other = Pen(engine, limits=THREE, view=AT_A), Pen(engine, view=AT_B)
        for number in range(2):
            await remembered(other, f"b's {number}", "b")
        done = await pen.write(pen.remembering("a's", agent="b", audience=EVERYONE))
        await pen.write(Undo(done.position))
        await remembered(other, "b's last", "b")
        with pytest.raises(LimitReached) as caught:
            await pen.write(pen.remembering("a's again", agent="b", audience=EVERYONE))
        assert "another agent" in str(caught.value) and "3/3" not in str(caught.value)
        whole = Limits(memories_per_owner=3)
        with pytest.raises(LimitReached) as caught:
            await pen.write(pen.remembering("mine", agent="a", audience=FOR_A), limits=whole)
        assert caught.value.field == "memories_per_owner" and "3/3" not in str(caught.value)
        with pytest.raises(LimitReached, match=r"\(3/3\)"):
            await Pen(engine, limits=whole).remember("the owner's")

    async def test_what_is_formed_archives_the_weakest_and_least_used_the_oldest_among_equals(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=Limits(memories_per_agent=5, writes_per_run=100))
        name = await pen.remember("Her name is Ann", agent="a")
        thread = await pen.write(
            pen.remembering("older", agent="a"), pen.remembering("younger", agent="a")
        )
        faded, strong = (
            await pen.remember("faded", agent="a"),
            await pen.remember("strong", agent="a"),
        )
        assert len(thread.ids()) == 2
        used = Use(strength=1.0, used_at=pen.now, count=10)
        await engine.note_use(
            pen.owner, WHOLE, {name: used, faded: Use(strength=0.1, used_at=pen.now, count=3)}
        )
        going = [faded, *sorted(thread.ids())]
        for number, id in enumerate(going):
            receipt = await formed(pen, f"formed {number}", "a")
            assert [(item.verb, item.id) for item in receipt.items] == [
                ("remember", receipt.id),
                ("archive", id),
            ]
            assert (await pen.read(id)).archived
            assert "cap" in (await pen.read(id)).reason
        assert {name, strong} <= await active(pen)
        await pen.write(Undo(receipt.position))
        assert going[-1] in await active(pen) and receipt.id not in await active(pen)

    async def test_what_is_formed_never_archives_what_is_pinned_a_users_keyed_fact_or_what_is_anothers(
        self, engine: Engine
    ) -> None:
        await Pen(engine, BEN).remember("ben's", agent="a")
        pen = Pen(engine, limits=Limits(memories_per_agent=4, writes_per_run=100))
        kept = {
            await pen.remember("b's", agent="b"),
            await pen.remember("no agent's"),
            await pen.remember("pinned", agent="a", pinned=True),
            await pen.remember("Boston", agent="a", key="home", trust=Trust.USER),
            await pen.remember("the operator's", agent="a", trust=Trust.OPERATOR),
        }
        guessed = await pen.remember("a guess", agent="a", key="guess", trust=Trust.ASSISTANT)
        receipt = await formed(pen, "formed", "a", key="drink", trust=Trust.USER)
        assert (await pen.read(guessed)).archived
        with pytest.raises(LimitReached, match=r"\(4/4\).*pinned.*user's own facts"):
            await formed(pen, "formed", "a")
        assert await active(pen) == {*kept, receipt.id}
        assert await active(Pen(engine, BEN)) != set()

    async def test_what_a_person_or_program_wrote_without_an_agent_makes_no_room(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=THREE)
        own = await pen.remember("the program's")
        thread = await pen.open()
        saying = pen.remembering("the person's", thread=thread)
        persons = (await pen.write(saying, actor=Actor("owner"))).id
        first = (await formed(pen, "first", None, thread=thread)).id
        second = (await formed(pen, "second", None, thread=thread)).id
        assert await active(pen) == {own, persons, second}
        assert (await pen.read(first)).archived

    async def test_a_write_archives_no_more_than_it_adds(self, engine: Engine) -> None:
        pen = Pen(engine)
        ids = [await pen.remember(f"fact {number}", agent="a") for number in range(5)]
        lower = Pen(engine, limits=Limits(memories_per_agent=2))
        lower.now = pen.now
        receipt = await formed(lower, "formed", "a")
        assert await active(pen) == {*ids[1:], receipt.id}

    async def test_at_a_cap_of_the_whole_owner_only_the_writers_own_make_room(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=3, memories_per_agent=2))
        others = [await pen.remember(f"b's {number}", agent="b") for number in range(2)]
        own = await pen.remember("a's", agent="a")
        receipt = await formed(pen, "formed", "a")
        assert await active(pen) == {*others, receipt.id}
        assert (await pen.read(own)).archived
        with pytest.raises(LimitReached, match=r"\(3/3\).*memories_per_owner"):
            await formed(pen, "c's first", "c")

    async def test_of_several_agents_what_the_owner_gains_in_all_counts(
        self, engine: Engine
    ) -> None:
        pen = Pen(
            engine, limits=Limits(memories_per_owner=4, at_capacity="reject", writes_per_run=100)
        )
        ones = [await pen.remember(f"a's {number}", agent="a") for number in range(3)]
        with pytest.raises(LimitReached, match="memories_per_owner"):
            await pen.write(*(pen.remembering(f"{agent}'s", agent=agent) for agent in "ab"))
        assert await active(pen) == set(ones)
        await pen.write(pen.remembering("b's", agent="b"))
        # Full: one agent may gain what another one gives up.
        await pen.write(Retract(ones[0]), pen.remembering("c's", agent="c"))
        with pytest.raises(LimitReached, match="memories_per_owner"):
            await pen.write(
                Retract(ones[1]),
                *(pen.remembering(f"{agent}'s too", agent=agent) for agent in "bc"),
            )
        assert len(await active(pen)) == 4

    async def test_where_nothing_is_archived_formed_facts_are_refused_as_well(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine, limits=Limits(memories_per_agent=1, at_capacity="reject"))
        kept = await pen.remember("kept", agent="a")
        with pytest.raises(LimitReached, match=r"\(1/1\)"):
            await formed(pen, "formed", "a")
        await pen.erase(kept)
        await formed(pen, "formed", "a")

    async def test_many_writers_at_once_never_exceed_the_cap(self, engine: Engine) -> None:
        pen = Pen(engine, limits=THREE)

        async def write(number: int) -> bool:
            actor = FORMED if number % 3 == 0 else Actor("application")
            try:
                await pen.write(
                    pen.remembering(f"fact {number}", agent="ab"[number % 2]), actor=actor
                )
            except LimitReached:
                return False
            return True

        assert sum(await asyncio.gather(*map(write, range(24)))) >= 6
        agents = [record.agent for record in await pen.scan(statuses=frozenset({"active"}))]
        assert sorted(agents) == ["a"] * 3 + ["b"] * 3


async def active(pen: Pen) -> set[UUID]:
    """Return the ids of the owner's active memories."""
    found = await Pen(pen.engine, pen.owner).scan(
        types=frozenset({RecordType.MEMORY}), statuses=frozenset({"active"})
    )
    return {record.id for record in found}


async def remembered(pen: Pen, content: str, agent: str, **batch: Any) -> UUID:
    """Store an agent's own statement and return its id."""
    return (
        await pen.write(
            pen.remembering(content, agent=agent, audience=Audience.of_agent(agent)), **batch
        )
    ).id


async def formed(pen: Pen, content: str, agent: str | None, **fields: Any) -> Receipt:
    """Store a statement as formation does."""
    return await pen.write(pen.remembering(content, agent=agent, **fields), actor=FORMED)
