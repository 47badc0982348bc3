"""Tests of whole books: facts, verification against the ledger, rebuilding, exports and imports of
whole owners.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memoranda.errors import Conflict, Erased, OperationReused
from memoranda.model.changes import (
    AddExperience,
    ChangeAudience,
    CloseThread,
    Confirm,
    JobDraft,
    MarkFormed,
    PatchProfile,
    PutNamed,
    Retract,
    SetThread,
    Undo,
)
from memoranda.model.items import DeleteItem
from memoranda.model.ledger import Actor, Entry, Target
from memoranda.model.messages import SummariseThread, ThreadStatus
from memoranda.model.passages import Use
from memoranda.model.profiles import Agent
from memoranda.model.query import HistoryStep
from memoranda.model.records import EVERYONE, WHOLE, Owner, OwnerKind, RecordType
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    BEN,
    FOR_A,
    FOR_B,
    SMALL,
    START,
    Follower,
    Pen,
    a_line,
    adopted,
    an_episode,
    exported,
    packed,
    vectors_of,
)
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.stores.items import a_put


async def a_full_life(pen: Pen, *, items: bool = True) -> None:
    """Write a little of everything, with corrections, undos and erasures; books of older formats
    have no items.
    """
    thread = await pen.open(name="order 7", agent="a", audience=FOR_A)
    said = await pen.say(thread, "tea", "cake", "rum", "ale")
    await pen.write(SetThread(thread, {"title": "lunch"}))
    tea = await pen.remember(
        "likes tea", key="drink", sources=said[:2], agent="a", audience=FOR_A, external_id="m-1"
    )
    gin = await pen.write(
        pen.remembering("likes gin", key="drink", agent="a"), operation="gin", request=b"gin"
    )
    await pen.write(Undo(gin.position))
    assert (await pen.read(tea)).active
    shared = await pen.remember("likes quiet")
    await pen.write(ChangeAudience(shared, FOR_B))
    await pen.write(Confirm(shared))
    patch = await pen.write(
        PatchProfile(
            new_id(), "Profile", EVERYONE, {"name": "Ann", "home": {"town": "Bonn"}}, pin=True
        )
    )
    await pen.write(PatchProfile(patch.id, "Profile", EVERYONE, {"age": 7}))
    withdrawn = await pen.write(PatchProfile(new_id(), "Other", EVERYONE, {"x": 1}))
    await pen.write(Undo(withdrawn.position))
    likes = PatchProfile(new_id(), "Profile", FOR_A, {"likes": ["tea", "rum"]}, sources=said[:2])
    await pen.write(likes)
    await pen.write(replace(likes, set={"likes": ["tea", "gin"]}, sources=said[2:3]))
    await pen.write(AddExperience(a_line(pen.owner, "ask first", [(pen.owner, shared)])))
    await pen.write(PutNamed(Agent(id=new_id(), owner=pen.owner, name="waiter", settings={"a": 1})))
    episode = an_episode(pen.owner, "book a table", external_id="ep-1")
    await pen.write(
        CloseThread(
            thread, ThreadStatus.COMPLETED, {"ok": True}, episode, packed(episode.passage_text())
        )
    )
    await pen.engine.note_use(
        pen.owner, WHOLE, {shared: Use(strength=0.25, used_at=START, count=2)}
    )
    await pen.erase(said[0], said[3])
    await pen.write(MarkFormed(thread, 2), SummariseThread(thread, "They had tea.", 2))
    leaving = Target(pen.owner, WHOLE, Actor("system"), said[1:2], ageing=True)
    await pen.engine.erase(leaving, pen.tick())
    await pen.write(Retract(shared, "no longer"), Retract(shared))
    if items:
        await _some_items(pen)


async def _some_items(pen: Pen) -> None:
    made = await pen.write(
        a_put(pen, "list", {"milk": [2, None]}), a_put(pen, "draft", "x", ttl=1e9)
    )
    bought = await pen.write(
        a_put(pen, "list", {"milk": 1}, audience=FOR_A), a_put(pen, "list", "none")
    )
    await pen.write(Undo(bought.position))
    await pen.write(DeleteItem(made.items[1].id))


async def everything(engine: Engine, owner: Owner) -> tuple[Any, ...]:
    """Return everything that can be read of an owner."""
    pen = Pen(engine, owner)
    records = await pen.scan()
    histories: dict[Any, list[HistoryStep]] = {
        line.id: await engine.history(owner, WHOLE, line.id)
        for entry in await pen.ledger()
        for line in entry.lines
    }
    uses = await engine.uses(owner, WHOLE, [record.id for record in records])
    shelves = await Follower(engine, owner).follow()
    return (
        records,
        histories,
        uses,
        {audience: shelf for audience, shelf in shelves.items() if shelf},
    )


def bare(entry: Entry) -> tuple[Any, ...]:
    """Return a ledger entry without its digests, which depend on the book's secret."""
    lines = [
        (line.verb, line.type, line.id, line.before, line.after, line.erased)
        for line in entry.lines
    ]
    return (
        entry.owner,
        entry.era,
        entry.position,
        entry.at,
        entry.actor,
        lines,
        entry.ignored,
        entry.note,
    )


class KeepingSuite(Suite):
    """Tests of operations on a whole book."""

    async def test_facts_tell_what_a_book_holds(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        thread = await pen.open()
        await pen.say(thread, "tea", "cake")
        await other.write(other.remembering("x"), jobs=(JobDraft("form", "y"),))
        facts = await engine.facts()
        assert (
            facts.engine,
            facts.owners,
            dict(facts.records),
            dict(facts.jobs),
            facts.stale_terms,
        ) == (
            engine.name,
            2,
            {"memory": 1, "message": 2, "thread": 1},
            {"waiting": 1},
            0,
        )
        assert facts.bytes > 0
        assert facts.format >= 1

    async def test_a_tenant_counts_and_verifies_its_own_records_only(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, Owner(tenant="elsewhere", id="ann"))
        await engine.begin_set(SMALL)
        first = await pen.remember("tea")
        await pen.write(Retract(first))
        second = await pen.remember("cake")
        await other.write(other.remembering("x"), jobs=(JobDraft("form", "y"),))
        (third,) = await other.scan()
        await engine.put_vectors(SMALL, vectors_of(SMALL, second, third.id))
        found = await engine.facts("default")
        assert (found.owners, dict(found.records), dict(found.jobs)) == (1, {"memory": 2}, {})
        assert dict(found.details["vectors"]) == {SMALL.name: 1}
        found = await engine.facts("elsewhere")
        assert (found.owners, dict(found.records), dict(found.jobs)) == (
            1,
            {"memory": 1},
            {"waiting": 1},
        )
        checked = [
            await engine.verify(tenant=tenant) for tenant in ("default", "elsewhere", "%", None)
        ]
        assert [(each.records, each.versions, each.entries) for each in checked] == [
            (2, 1, 3),
            (1, 0, 1),
            (0, 0, 0),
            (3, 1, 4),
        ]
        assert [each.faults for each in checked] == [()] * 4

    async def test_owners_are_listed_by_tenant(self, engine: Engine) -> None:
        owners = [
            ANN,
            BEN,
            Owner(kind=OwnerKind.AGENT, id="ann"),
            Owner(tenant="elsewhere", id="ann"),
        ]
        for owner in reversed(owners):
            await Pen(engine, owner).remember("x")
        assert await engine.owners("default") == [owners[2], ANN, BEN]
        assert await engine.owners("elsewhere") == owners[3:]
        assert await engine.owners("%") == []

    async def test_verify_counts_what_it_held_against_the_ledger(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        await pen.write(Retract(memory))
        await Pen(engine, BEN).remember("x")
        findings = await engine.verify()
        assert (findings.records, findings.versions, findings.entries, findings.faults) == (
            2,
            1,
            3,
            (),
        )

    async def test_rebuilding_changes_nothing_that_can_be_read(self, engine: Engine) -> None:
        pen = Pen(engine)
        await a_full_life(pen)
        before = await everything(engine, ANN)
        ledger = await pen.ledger()
        done = await engine.rebuild()
        assert done["records"] == sum((await engine.facts()).records.values())
        assert await everything(engine, ANN) == before
        assert await pen.ledger() == ledger
        (said,) = [record for record in await pen.scan() if record.type == "message"]
        receipt = await pen.erase(said.id)
        assert receipt.removed["message"] == 1

    async def test_a_dumped_owner_is_adopted_whole_by_another_book(
        self, engine: Engine, another: Engine
    ) -> None:
        pen, there = Pen(engine), Pen(another)
        await a_full_life(pen)
        await Pen(another, BEN).remember("ben's")
        lines = await exported(engine, ANN)
        done = await adopted(another, ANN, lines)
        assert done is not None
        assert done["entries"] == len(await pen.ledger())
        for copied, original in zip(
            await everything(another, ANN), await everything(engine, ANN), strict=True
        ):
            assert copied == original
        assert [bare(entry) for entry in await there.ledger()] == [
            bare(entry) for entry in await pen.ledger()
        ]
        assert await exported(another, ANN) == lines
        assert await adopted(another, ANN, lines) is None
        await self._goes_on(pen, there)

    async def _goes_on(self, pen: Pen, there: Pen) -> None:
        """Check that the same writes have the same effect in the original and in the import."""
        (thread,) = await there.scan(types=frozenset({RecordType.THREAD}))
        for book in (pen, there):
            await book.write(Undo((await book.ledger())[-1].position))
            (said,) = await book.say(thread.id, "and then")
            assert (await book.read(said)).seq == 5
            memory = await book.remember("likes rum", key="drink", agent="a")
            assert len((await book.read(memory)).supersedes) == 1
            assert (await book.ledger())[-1].position == len(await book.ledger())

    async def test_an_unknown_owner_has_no_dump(self, engine: Engine) -> None:
        await Pen(engine, BEN).remember("x")
        assert await exported(engine, ANN) == []

    async def test_an_era_that_was_ended_is_not_adopted_again(
        self, engine: Engine, another: Engine
    ) -> None:
        pen, there = Pen(engine), Pen(another)
        await a_full_life(pen)
        lines = await exported(engine, ANN)
        await adopted(another, ANN, lines)
        await there.erase_all()
        for owner in (ANN, BEN):
            with pytest.raises(Erased):
                await adopted(another, owner, lines)
            assert await Pen(another, owner).scan() == []
        await there.remember("anew")
        assert await adopted(another, ANN, lines) is None

    async def test_what_is_here_already_or_was_forgotten_here_is_not_adopted(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        kept, lost = await pen.remember("kept"), await pen.remember("lost")
        lines = await exported(engine, ANN)
        with pytest.raises(Conflict):
            await adopted(engine, BEN, lines)
        moved = [
            {**line, "era": str(new_id())} if line["line"] == "owner" else line for line in lines
        ]
        with pytest.raises(Conflict):
            await adopted(engine, BEN, moved)
        await pen.erase(kept, lost)
        with pytest.raises(Erased):
            await adopted(engine, BEN, moved)
        assert await other.scan() == []
        assert await pen.scan() == []

    async def test_an_operation_that_came_with_its_owner_is_not_applied_again(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        first = await pen.write(pen.remembering("tea"), operation="one", request=b"tea")
        lines = await exported(engine, ANN)
        there, ben = Pen(another), Pen(another, BEN)
        # Another owner's operation of the same id is another operation.
        assert not (
            await ben.write(ben.remembering("rum"), operation="one", request=b"rum")
        ).repeated
        await adopted(another, ANN, lines)
        assert await exported(another, ANN) == lines
        again = await there.write(there.remembering("tea"), operation="one", request=b"tea")
        assert again == replace(first, repeated=True)
        assert await another.find_operation(ANN, "one") == again
        with pytest.raises(OperationReused):
            await there.write(there.remembering("rum"), operation="one", request=b"rum")
        await there.write(there.remembering("cake"), operation="two", request=b"cake")
        assert (
            await there.write(there.remembering("cake"), operation="two", request=b"cake")
        ).repeated
        assert len(await there.scan()) == 2
        await there.erase_all()
        for operation, request in (("one", b"tea"), ("two", b"cake")):
            with pytest.raises(Erased):
                await there.write(there.remembering("tea"), operation=operation, request=request)
