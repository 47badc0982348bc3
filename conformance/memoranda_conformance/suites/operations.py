"""Tests of operation ids, and of values at the edge of what is allowed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from memoranda.errors import Erased, NotFound, OperationReused
from memoranda.model.changes import (
    ERROR_LENGTH,
    Amend,
    ChangeAudience,
    Job,
    JobDraft,
    JobState,
    Retract,
)
from memoranda.model.ledger import Actor, Verb
from memoranda.model.memories import MemoryStatus
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Audience, Limits, RecordType, View
from memoranda.model.values import NAME_LENGTH, new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import BEN, Follower, Pen
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.background.formation import started_call


class OperationSuite(Suite):
    """Tests that the same id with the same request is one operation."""

    async def test_the_same_request_again_gets_the_first_receipt(self, engine: Engine) -> None:
        pen = Pen(engine)
        batch = pen.batch(
            pen.remembering("she likes tea"),
            operation="one",
            request=b"tea",
            jobs=(JobDraft("form", "x"),),
        )
        first = await engine.apply(batch)
        job = await engine.lease(["form"], "worker", pen.tick(), 60)
        assert job is not None
        assert await engine.finish(job)
        again = await engine.apply(
            replace(batch, changes=(pen.remembering("she likes tea"),), at=pen.tick())
        )
        assert again == replace(first, repeated=True)
        assert await engine.find_operation(pen.owner, "one") == again
        assert len(await pen.scan()) == 1
        assert await engine.jobs(None, 10) == []

    async def test_another_request_under_the_same_id_is_refused(self, engine: Engine) -> None:
        pen = Pen(engine)
        await pen.write(pen.remembering("tea"), operation="one", request=b"tea")
        with pytest.raises(OperationReused):
            await pen.write(pen.remembering("coffee"), operation="one", request=b"coffee")
        assert len(await pen.scan()) == 1

    async def test_an_operation_belongs_to_its_owner(self, engine: Engine) -> None:
        for pen in (Pen(engine), Pen(engine, BEN)):
            assert await engine.find_operation(pen.owner, "one") is None
            receipt = await pen.write(
                pen.remembering("tea"), operation="one", request=pen.owner.id.encode()
            )
            assert not receipt.repeated
            assert await engine.find_operation(pen.owner, "one") == replace(receipt, repeated=True)

    async def test_an_id_of_one_agent_is_free_for_another(self, engine: Engine) -> None:
        pen = Pen(engine)
        agents = [Actor("agent", name) for name in ("a", "b")]
        first, second = [
            await pen.write(
                pen.remembering(f"of {agent.id}"),
                operation="one",
                request=agent.kind.encode(),
                actor=agent,
            )
            for agent in agents
        ]
        assert not second.repeated and first.ids() != second.ids()
        for agent, receipt in zip(agents, (first, second), strict=True):
            again = await pen.write(
                pen.remembering("again"), operation="one", request=agent.kind.encode(), actor=agent
            )
            assert again == replace(receipt, repeated=True)
            assert await engine.find_operation(pen.owner, "one", agent) == again
            with pytest.raises(OperationReused):
                await pen.write(pen.remembering("x"), operation="one", request=b"x", actor=agent)
        assert await engine.find_operation(pen.owner, "one", Actor("agent", "c")) is None
        assert len(await pen.scan()) == 2
        assert (await engine.verify()).faults == ()

    async def test_a_refused_operation_leaves_its_id_free(self, engine: Engine) -> None:
        pen = Pen(engine)
        with pytest.raises(NotFound):
            await pen.write(Retract(new_id()), operation="one", request=b"a")
        assert await engine.find_operation(pen.owner, "one") is None
        assert not (await pen.write(pen.remembering("tea"), operation="one", request=b"b")).repeated

    async def test_an_operation_that_did_nothing_is_remembered_all_the_same(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        await pen.write(Retract(memory))
        first = await pen.write(Retract(memory), operation="one", request=b"again")
        assert (first.items, [part.code for part in first.ignored]) == ((), ["retracted"])
        assert await pen.write(Retract(memory), operation="one", request=b"again") == replace(
            first, repeated=True
        )
        assert [entry.position for entry in await pen.ledger()] == [1, 2, 3]

    async def test_what_changes_nothing_leaves_no_trace_without_an_operation(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        await pen.write(Retract(memory))
        receipt = await pen.write(Retract(memory))
        assert receipt.position == 0
        assert len(await pen.ledger()) == 2

    async def test_sixteen_identical_operations_leave_one_record(self, engine: Engine) -> None:
        pen = Pen(engine)
        batches = [
            pen.batch(pen.remembering("tea"), operation="one", request=b"tea") for _ in range(16)
        ]
        receipts = await asyncio.gather(*map(engine.apply, batches))
        assert len({receipt.id for receipt in receipts}) == 1
        assert sum(not receipt.repeated for receipt in receipts) == 1
        assert [record.id for record in await pen.scan()] == [receipts[0].id]

    async def test_a_replay_tells_which_parts_were_forgotten_since(self, engine: Engine) -> None:
        pen = Pen(engine)
        batch = pen.batch(
            pen.remembering("tea"), pen.remembering("cake"), operation="one", request=b"both"
        )
        tea, cake = (await engine.apply(batch)).ids()
        await pen.erase(tea)
        assert {item.id: item.erased for item in (await engine.apply(batch)).items} == {
            tea: True,
            cake: False,
        }
        await pen.erase(cake)
        with pytest.raises(Erased):
            await engine.apply(batch)
        assert await pen.scan() == []

    async def test_a_replay_knows_what_was_forgotten_after_it_had_lost_a_source(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        first, second = await pen.say(thread, "tea, please", "as I said: tea")
        batch = pen.batch(
            pen.remembering("she likes tea", sources=(first, second)),
            operation="one",
            request=b"tea",
        )
        memory = (await engine.apply(batch)).id
        await pen.erase(first)
        assert [(item.id, item.erased) for item in (await engine.apply(batch)).items] == [
            (memory, False)
        ]
        await pen.erase(second)
        with pytest.raises(Erased):
            await engine.apply(batch)

    async def test_operations_of_an_ended_era_do_not_come_back(self, engine: Engine) -> None:
        pen = Pen(engine)
        batch = pen.batch(pen.remembering("tea"), operation="one", request=b"tea")
        await engine.apply(batch)
        await pen.erase_all()
        assert await engine.find_operation(pen.owner, "one") is None
        for request in (b"tea", b"coffee"):
            with pytest.raises(Erased):
                await engine.apply(replace(batch, request=request))
        assert await pen.scan() == []
        await pen.write(pen.remembering("water"), operation="two", request=b"water")
        assert len(await pen.scan()) == 1

    async def test_the_ledger_tells_who_did_what_in_order_and_nothing_of_what_was_said(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea = await pen.remember("she likes Darjeeling", key="drink")
        await pen.remember("she likes Sencha", key="drink")
        await pen.write(Retract(tea))
        entries = await pen.ledger()
        assert [entry.position for entry in entries] == [1, 2]
        assert {(entry.owner, entry.actor.id) for entry in entries} == {(pen.owner, "the suite")}
        assert [[line.verb for line in entry.lines] for entry in entries] == [
            [Verb.REMEMBER],
            [Verb.REMEMBER, Verb.SUPERSEDE],
        ]
        assert all(line.hash for entry in entries for line in entry.lines)
        assert "Darjeeling" not in repr(entries)
        assert [entry.position for entry in await engine.entries(pen.owner, 1, 10)] == [2]
        assert [entry.position for entry in await engine.entries(pen.owner, 0, 1)] == [1]
        assert await engine.entries(BEN, 0, 10) == []

    async def test_history_tells_every_version_with_its_verb(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("she likes tea")
        await pen.write(Retract(memory, "she said so"))
        first, second = await engine.history(pen.owner, pen.view, memory)
        assert [(step.position, step.verb, step.version) for step in (first, second)] == [
            (1, Verb.REMEMBER, 1),
            (2, Verb.RETRACT, 2),
        ]
        assert first.record == (await pen.read(memory)).changed(
            version=1, recorded_at=first.at, status=MemoryStatus.ACTIVE, reason=""
        )
        assert second.record == await pen.read(memory)
        assert await engine.history(pen.owner, pen.view, new_id()) == []


_LIKE_A_PIN: dict[str, Any] = {"pinned": True, "in": [{"pinned": True}]}
#: What text formats escape.
_STRANGE = "\\\"'\\x41\\"


def a_long_name(seed: int) -> str:
    """Return a name of the greatest length, of four-byte characters that do not compress."""
    random = Random(seed)
    characters = (
        chr(0x20000 + random.randrange(0xA000)) for _ in range(NAME_LENGTH - len(_STRANGE))
    )
    return "".join(characters) + _STRANGE


async def leased(pen: Pen) -> Job:
    """Put one job and lease it."""
    await pen.write(pen.remembering("x"), jobs=(JobDraft("form", "thread"),))
    job = await pen.engine.lease(["form"], "one", pen.now, 60.0)
    assert job is not None
    return job


class ExtremeSuite(Suite):
    """Tests of long names, strange texts, and data that look like fields."""

    async def test_data_that_read_like_a_pin_pin_nothing(self, engine: Engine) -> None:
        pen = Pen(engine)
        await pen.remember("not pinned", data=_LIKE_A_PIN)
        pinned = await pen.remember("pinned", data={"pinned": False}, pinned=True)
        memories = frozenset({RecordType.MEMORY})
        for newest_first in (False, True):
            only = Filter(types=memories, pinned=True, newest_first=newest_first)
            page = await engine.scan(pen.owner, WHOLE, only, None, 10)
            assert [record.id for record in page.records] == [pinned]
        assert [record.id for record in await pen.scan(pinned=True)] == [pinned]
        assert await engine.count(pen.owner, WHOLE, Filter(types=memories, pinned=True)) == 1
        await pen.write(Amend(pinned, {"pinned": False}))
        assert await pen.scan(pinned=True) == []

    async def test_at_the_cap_what_only_reads_like_a_pin_makes_room(self, engine: Engine) -> None:
        pen = Pen(engine, limits=Limits(memories_per_owner=2, at_capacity="evict_oldest"))
        oldest = await pen.remember("old", data=_LIKE_A_PIN)
        kept = await pen.remember("pinned", data={"pinned": False}, pinned=True)
        await pen.remember("new")
        assert [(await pen.read(id)).archived for id in (oldest, kept)] == [True, False]

    async def test_as_many_groups_as_there_may_be_with_names_as_long_as_they_may_be(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        groups = sorted(a_long_name(number) for number in range(100))
        wide, narrow = Audience.of_groups(groups), Audience.of_groups(groups[:99])
        ids = [await pen.remember("tea", audience=audience) for audience in (wide, narrow, wide)]
        moved, shared = await pen.remember("coffee"), await pen.remember("milk")
        await pen.write(ChangeAudience(moved, wide), ChangeAudience(shared, narrow))
        shelves = await Follower(engine).follow()
        assert {audience: set(held) for audience, held in shelves.items() if held} == {
            wide: {ids[0], ids[2], moved},
            narrow: {ids[1], shared},
        }
        seen = await pen.scan(View(agent="a", groups=(groups[99],)))
        assert {record.id for record in seen} == {ids[0], ids[2], moved}

    async def test_what_was_spent_is_told_under_names_as_long_as_they_may_be(
        self, engine: Engine
    ) -> None:
        await Pen(engine).remember("tea")
        names = [a_long_name(number) for number in range(3)]
        for _ in range(2):
            await engine.note_spent(started_call(agent=names[0], task=names[1], model=names[2]))
        await engine.note_spent(started_call(agent=names[0], task=names[2], model=names[1]))
        found = await engine.spent("default")
        assert sorted((one.agent, one.task, one.model, one.calls) for one in found) == sorted(
            [(*names, 2), (names[0], names[2], names[1], 1)]
        )

    async def test_a_job_ends_whatever_its_error_says(self, engine: Engine) -> None:
        pen = Pen(engine)
        for strange, told in (
            ("a\x00b\ud800", "a\ufffdb\ufffd"),
            ("\udc00\ud83d\ude00", "\ufffd😀"),
            ("\x00" * (ERROR_LENGTH + 1), "\ufffd" * ERROR_LENGTH),
        ):
            job = await leased(pen)
            assert await engine.postpone(job, pen.now, strange)
            (waiting,) = await engine.jobs(JobState.WAITING, 10)
            assert waiting.error == told
            again = await engine.lease(["form"], "two", pen.tick(), 60.0)
            assert again is not None
            assert await engine.fail(again, strange, pen.now, pen.now + timedelta(seconds=1))
            last = await engine.lease(["form"], "three", pen.tick(2), 60.0)
            assert last is not None
            assert await engine.fail(last, strange, pen.now, None)
            (dead,) = await engine.jobs(JobState.DEAD, 10)
            assert dead.error == told
            assert await engine.drop(dead.id)
