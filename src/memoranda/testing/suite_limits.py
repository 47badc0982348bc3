"""The guardrails: statements in a run, and statements held for an owner."""

from __future__ import annotations

import pytest

from memoranda.errors import LimitReached
from memoranda.model.changes import Amend, Retract
from memoranda.model.trust import Limits
from memoranda.ports import Engine
from memoranda.testing.builders import BEN, FOR_A, Pen
from memoranda.testing.suite import Suite


class LimitSuite(Suite):
    """Refusals say what to do; an update is always allowed."""

    async def test_a_turn_writes_ten_statements_and_the_next_turn_ten_more(self, engine: Engine) -> None:
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

    async def test_at_the_cap_a_write_is_refused_with_what_to_do(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=2, at_capacity="reject"))
        first = await pen.remember("one", key="k")
        await pen.remember("two")
        with pytest.raises(LimitReached, match=r"\(2/2\).*forget or retract some, or raise the limit"):
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
        pen = Pen(engine, limits=Limits(memories_per_owner=4, at_capacity="evict"))
        others = await pen.remember("b's oldest", agent="b")
        pinned = await pen.remember("pinned", agent="a")
        await pen.write(Amend(pinned, {"pinned": True}))
        oldest, older = await pen.remember("old", agent="a"), await pen.remember("less old", agent="a")
        receipt = await pen.write(pen.remembering("new", agent="a"))
        assert [(item.verb, item.id) for item in receipt.items] == [
            ("remember", receipt.id),
            ("evict", oldest),
        ]
        assert (await pen.read(oldest)).status == "evicted"
        assert [(await pen.read(id)).active for id in (others, pinned, older, receipt.id)] == [True] * 4
        assert [step.verb for step in await engine.history(pen.owner, pen.view, oldest)] == [
            "remember",
            "evict",
        ]

    async def test_what_a_batch_changes_itself_does_not_make_room_for_it(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=3, at_capacity="evict"))
        tea = await pen.remember("likes tea", key="drink")
        retracted, last = await pen.remember("old"), await pen.remember("less old")
        receipt = await pen.write(
            pen.remembering("likes gin", key="drink"),
            pen.remembering("new"),
            pen.remembering("newer"),
            Retract(retracted),
        )
        statuses = [(await pen.read(id)).status for id in (tea, retracted, last)]
        assert statuses == ["superseded", "retracted", "evicted"]
        assert len([item for item in receipt.items if item.verb == "evict"]) == 1
        assert len(await pen.scan(statuses=frozenset({"active"}))) == 3

    async def test_where_nothing_of_the_writers_own_can_go_the_write_is_refused(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=2, at_capacity="evict"))
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
