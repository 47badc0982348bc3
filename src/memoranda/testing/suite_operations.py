"""Operation ids: a repeated request is applied once, and does not bring back what was forgotten."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from memoranda.errors import Erased, NotFound, OperationReused
from memoranda.model.changes import Retract
from memoranda.model.ids import new_id
from memoranda.model.jobs import JobDraft
from memoranda.model.ledger import Verb
from memoranda.model.memories import MemoryStatus
from memoranda.ports import Engine
from memoranda.testing.builders import BEN, Pen
from memoranda.testing.suite import Suite


class OperationSuite(Suite):
    """Tests that the same id with the same request is one operation."""

    async def test_the_same_request_again_gets_the_first_receipt(self, engine: Engine) -> None:
        pen = Pen(engine)
        batch = pen.batch(
            pen.remembering("she likes tea"), operation="one", request=b"tea", jobs=(JobDraft("form", "x"),)
        )
        first = await engine.apply(batch)
        job = await engine.lease(["form"], "worker", pen.tick(), 60)
        assert job is not None
        assert await engine.finish(job)
        again = await engine.apply(replace(batch, changes=(pen.remembering("she likes tea"),), at=pen.tick()))
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
            receipt = await pen.write(pen.remembering("tea"), operation="one", request=pen.owner.id.encode())
            assert not receipt.repeated
            assert await engine.find_operation(pen.owner, "one") == replace(receipt, repeated=True)

    async def test_a_refused_operation_leaves_its_id_free(self, engine: Engine) -> None:
        pen = Pen(engine)
        with pytest.raises(NotFound):
            await pen.write(Retract(new_id()), operation="one", request=b"a")
        assert await engine.find_operation(pen.owner, "one") is None
        assert not (await pen.write(pen.remembering("tea"), operation="one", request=b"b")).repeated

    async def test_an_operation_that_did_nothing_is_remembered_all_the_same(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        await pen.write(Retract(memory))
        first = await pen.write(Retract(memory), operation="one", request=b"again")
        assert (first.items, [part.code for part in first.ignored]) == ((), ["retracted"])
        assert await pen.write(Retract(memory), operation="one", request=b"again") == replace(
            first, repeated=True
        )
        assert [entry.position for entry in await pen.ledger()] == [1, 2, 3]

    async def test_what_changes_nothing_leaves_no_trace_without_an_operation(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        await pen.write(Retract(memory))
        receipt = await pen.write(Retract(memory))
        assert receipt.position == 0
        assert len(await pen.ledger()) == 2

    async def test_sixteen_identical_operations_leave_one_record(self, engine: Engine) -> None:
        pen = Pen(engine)
        batches = [pen.batch(pen.remembering("tea"), operation="one", request=b"tea") for _ in range(16)]
        receipts = await asyncio.gather(*map(engine.apply, batches))
        assert len({receipt.id for receipt in receipts}) == 1
        assert sum(not receipt.repeated for receipt in receipts) == 1
        assert [record.id for record in await pen.scan()] == [receipts[0].id]

    async def test_a_replay_tells_which_parts_were_forgotten_since(self, engine: Engine) -> None:
        pen = Pen(engine)
        batch = pen.batch(pen.remembering("tea"), pen.remembering("cake"), operation="one", request=b"both")
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

    async def test_a_replay_knows_what_was_forgotten_after_it_had_lost_a_source(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        first, second = await pen.say(thread, "tea, please", "as I said: tea")
        batch = pen.batch(
            pen.remembering("she likes tea", sources=(first, second)), operation="one", request=b"tea"
        )
        memory = (await engine.apply(batch)).id
        await pen.erase(first)
        assert [(item.id, item.erased) for item in (await engine.apply(batch)).items] == [(memory, False)]
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
