"""Tests of undo: a new operation reverses an earlier one; content from an erased source does not
come back.
"""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import Conflict, Erased, HasDependents, InvalidInput, NotAllowed, NotFound
from memoranda.model.changes import (
    AddEvidence,
    AddExperience,
    Amend,
    Change,
    ChangeAudience,
    CloseThread,
    Confirm,
    Hide,
    Import,
    PatchProfile,
    PutNamed,
    RecordEpisode,
    Retract,
    RetractSource,
    SetThread,
    Supersede,
    Undo,
)
from memoranda.model.experience_lines import Evidence
from memoranda.model.items import Item, PutItem
from memoranda.model.ledger import Actor, Target, Verb
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import ThreadStatus
from memoranda.model.profiles import Agent
from memoranda.model.records import EVERYONE, WHOLE, Trust
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    BEN,
    FOR_A,
    FOR_B,
    GUIDE,
    START,
    Follower,
    Pen,
    a_line,
    a_memory,
    an_episode,
    packed,
)
from memoranda_conformance.suite import Suite


class UndoSuite(Suite):
    """Tests that operations can be undone, in an order that respects their dependents."""

    async def test_a_remembered_statement_is_undone_and_restored(self, engine: Engine) -> None:
        pen = Pen(engine)
        receipt = await pen.write(pen.remembering("likes tea", key="drink"))
        undone = await pen.write(Undo(receipt.position))
        assert [(item.verb, item.id, item.version) for item in undone.items] == [
            (Verb.UNDO, receipt.id, 2)
        ]
        assert (await pen.read(receipt.id)).status == "undone"
        restored = await pen.write(Undo(undone.position))
        assert (await pen.read(receipt.id)).status == "active"
        await pen.write(Undo(restored.position))
        assert (await pen.read(receipt.id)).status == "undone"
        assert [entry.note.get("undoes") for entry in await pen.ledger()] == [None, [1], [2], [3]]

    async def test_an_undone_correction_gives_the_key_back(self, engine: Engine) -> None:
        pen = Pen(engine)
        tea = await pen.remember("likes tea", key="drink")
        before = await pen.read(tea)
        gin = await pen.write(pen.remembering("likes gin", key="drink"))
        undone = await pen.write(Undo(gin.position))
        assert (await pen.read(tea)).changed(version=1, recorded_at=before.recorded_at) == before
        assert (await pen.read(gin.id)).status == "undone"
        await pen.write(Undo(undone.position))
        assert [(await pen.read(id)).status for id in (tea, gin.id)] == ["superseded", "active"]
        assert (await pen.read(tea)).superseded_by == gin.id

    async def test_what_stood_before_stands_again(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(title="lunch")
        one, two = await pen.remember("one", agent="a"), await pen.remember("two", agent="a")
        patch = PatchProfile(new_id(), "Profile", EVERYONE, {"name": "Ann"})
        profile = (await pen.write(patch)).id
        changes: list[Change] = [
            SetThread(thread, {"title": "dinner", "status": "completed"}),
            Supersede(one, two),
            Retract(one),
            Amend(one, {"pinned": True}),
            Confirm(one),
            ChangeAudience(one, FOR_B),
            PatchProfile(new_id(), "Profile", EVERYONE, {"name": "Anna", "age": 7}, ("name",)),
        ]
        for change in changes:
            ids = (thread, one, two, profile)
            before = [(await pen.read(id)).changed(version=1, recorded_at=pen.now) for id in ids]
            receipt = await pen.write(change)
            await pen.write(Undo(receipt.position))
            after = [
                (await pen.read(id)).changed(version=1, recorded_at=before[0].recorded_at)
                for id in ids
            ]
            assert after == before, change

    async def test_what_an_undone_operation_made_is_read_no_more(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(name="order 7")
        episode = an_episode(pen.owner)
        closed = await pen.write(
            CloseThread(thread, ThreadStatus.COMPLETED, None, episode, packed("book a table"))
        )
        profile = await pen.write(PatchProfile(new_id(), "Profile", EVERYONE, {"name": "Ann"}))
        agent = await pen.write(PutNamed(Agent(id=new_id(), owner=pen.owner, name="waiter")))
        for made, id in ((closed, episode.id), (profile, profile.id), (agent, agent.id)):
            await pen.write(Undo(made.position))
            assert await pen.find(id) is None
            assert id not in [record.id for record in await pen.scan()]
            assert [step.verb for step in await engine.history(pen.owner, pen.view, id)][
                -1
            ] == Verb.UNDO
        assert (await pen.read(thread)).status == "running"
        again = await pen.write(PatchProfile(new_id(), "Profile", EVERYONE, {"name": "Ann"}))
        assert again.id != profile.id
        assert [row.status for row in (await Follower(engine).follow())[EVERYONE].values()] == [
            "withdrawn"
        ]

    async def test_what_was_built_upon_is_listed_and_nothing_is_undone(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        made = await pen.write(pen.remembering("likes tea"))
        confirmed = await pen.write(Confirm(made.id))
        derived = await pen.write(pen.remembering("buy tea", sources=(made.id,)))
        await pen.remember("unrelated")
        with pytest.raises(HasDependents) as refused:
            await pen.write(Undo(made.position))
        assert refused.value.positions == (confirmed.position, derived.position)
        assert (await pen.read(made.id)).active
        assert len(await pen.ledger()) == 4

    async def test_together_undoes_all_that_was_built_upon_it_and_no_more(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea = await pen.write(pen.remembering("likes tea"))
        await pen.write(Confirm(tea.id))
        gin = await pen.write(pen.remembering("likes gin"))
        await pen.write(pen.remembering("buy tea", sources=(tea.id,)))
        await pen.write(Supersede(tea.id, gin.id))
        before = await pen.read(gin.id)
        undone = await pen.write(Undo(tea.position, with_dependents=True))
        assert (await pen.read(tea.id)).status == "undone"
        assert (await pen.read(gin.id)).status == "active"
        assert (await pen.read(gin.id)).supersedes == ()
        assert (await pen.ledger())[-1].note["undoes"] == [1, 2, 4, 5]
        await pen.write(Undo(undone.position))
        assert (await pen.read(gin.id)).changed(version=2, recorded_at=before.recorded_at) == before
        assert (await pen.read(tea.id)).superseded_by == gin.id

    async def test_what_was_undone_already_no_longer_stands_in_the_way(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        derived = await pen.write(pen.remembering("buy tea", thread=thread))
        with pytest.raises(HasDependents):
            await pen.write(Undo(1))
        await pen.write(Undo(derived.position))
        await pen.write(Undo(1))
        assert await pen.find(thread) is None

    async def test_a_thread_with_messages_is_not_undone(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "tea")
        with pytest.raises(HasDependents) as refused:
            await pen.write(Undo(1))
        assert refused.value.positions == (2,)
        for undo in (Undo(1, with_dependents=True), Undo(2)):
            with pytest.raises(InvalidInput, match="forget"):
                await pen.write(undo)
        assert (await pen.read(said)).content == "tea"

    async def test_a_second_undo_says_which_position_did_it(self, engine: Engine) -> None:
        pen = Pen(engine)
        made = await pen.write(pen.remembering("likes tea"))
        undone = await pen.write(Undo(made.position))
        with pytest.raises(Conflict, match=f"already undone by position {undone.position}"):
            await pen.write(Undo(made.position))

    async def test_an_undone_statement_is_not_formed_again_from_the_same_sources(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "tea")
        made = await pen.write(pen.remembering("likes tea", sources=(said,)))
        await pen.write(Undo(made.position))
        for again in ("likes tea", "Likes  tea…", "likes ｔｅａ!"):
            refused = await pen.write(pen.remembering(again, sources=(said,)))
            assert [part.code for part in refused.ignored] == ["not_formed_again"]

    async def test_what_would_take_a_key_from_another_is_not_brought_back(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea = await pen.remember("likes tea", key="drink")
        retracted = await pen.write(Retract(tea))
        await pen.remember("likes gin", key="drink")
        with pytest.raises(Conflict, match="has the same key now"):
            await pen.write(Undo(retracted.position))
        assert (await pen.read(tea)).status == "retracted"

    async def test_two_statements_of_one_key_do_not_come_back_together(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        old = await pen.remember("likes gin", key="drink")
        first = await pen.write(pen.remembering("drinks nothing", supersedes=(old,)))
        between = await pen.remember("likes rum", key="drink")
        last = await pen.write(pen.remembering("likes tea", key="drink", sources=first.ids()[:1]))
        with pytest.raises(Conflict, match=f"{old} and {between}|{between} and {old}"):
            await pen.write(Undo(first.position, with_dependents=True))
        await pen.write(Undo(last.position))
        with pytest.raises(Conflict, match="has the same key now"):
            await pen.write(Undo(first.position))
        await pen.write(Retract(between))
        await pen.write(Undo(first.position))
        assert (await pen.read(old)).active

    async def test_erasure_and_import_are_not_undone(self, engine: Engine) -> None:
        pen = Pen(engine)
        one, two = await pen.remember("one"), await pen.remember("two")
        await pen.write(Confirm(two, (one,)))
        await pen.erase(one)
        brought = await pen.write(Import(a_memory(pen.owner, "brought"), packed("brought")))
        entries = await pen.ledger()
        for entry in entries:
            if {line.verb for line in entry.lines} & {Verb.ERASE, Verb.UNSOURCE, Verb.IMPORT}:
                with pytest.raises(InvalidInput):
                    await pen.write(Undo(entry.position))
        with pytest.raises(Erased):
            await pen.write(Undo(1))
        assert (await pen.read(brought.id)).active
        assert len(await pen.ledger()) == len(entries)

    async def test_only_a_position_of_this_owner_that_the_view_sees_whole_is_undone(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        await other.remember("ben's")
        await other.remember("ben's")
        made = await pen.write(pen.remembering("open"), pen.remembering("a's", agent="a"))
        for position in (0, -1, 2, 99):
            with pytest.raises(NotFound):
                await pen.write(Undo(position))
        with pytest.raises(NotFound):
            await pen.write(Undo(made.position), view=AT_B)
        with pytest.raises(InvalidInput):
            await pen.write(Undo(made.position), pen.remembering("more"))
        await pen.write(Undo(made.position), view=AT_A)
        assert (await pen.read(made.id)).audience == EVERYONE
        assert {record.status for record in await pen.scan()} == {"undone"}
        assert FOR_A in {record.audience for record in await pen.scan()}


class TakenBackSuite(Suite):
    """Tests that erasure also reaches the earlier versions that undo leaves, by their sources."""

    async def test_what_a_confirmation_quoted_goes_with_its_source_after_an_undo(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.say(await pen.open(), "I like tea", "I like Zanzibar tea")
        for grounds in ((one,), ()):
            memory = await pen.remember("likes tea", sources=grounds)
            quoted = Confirm(memory, (two,), (Cited(message=two, quote="Zanzibar"),))
            await pen.write(Undo((await pen.write(quoted)).position))
            held = await pen.read(memory)
            assert (held.sources, held.past) == (grounds, (two,))
        receipt = await pen.erase(two)
        assert len(receipt.kept) == 2
        for id in receipt.kept:
            versions = [step.record for step in await engine.history(ANN, WHOLE, id)]
            assert not [
                one for one in versions if isinstance(one, Memory) and (one.quotes or one.past)
            ]
            assert (await pen.read(id)).active
        assert (await engine.verify()).faults == ()

    async def test_whose_evidence_was_taken_back_is_named_no_more_when_they_are_forgotten(
        self, engine: Engine
    ) -> None:
        agent, ben = Pen(engine, GUIDE), Pen(engine, BEN)
        line = a_line(GUIDE, "ask for the date first", [(ANN, new_id())])
        await agent.write(AddExperience(line))
        (said,) = await ben.say(await ben.open(), "ask me for the date")
        given = Evidence(owner=BEN, sources=(said,), guarded_at=START)
        await agent.write(Undo((await agent.write(AddEvidence(line.id, given))).position))
        await ben.erase_all()
        steps = await engine.history(GUIDE, WHOLE, line.id)
        assert "ben" not in str([step.record for step in steps])
        assert (await agent.read(line.id)).part_of(ANN) is not None
        assert (await engine.verify()).faults == ()

    async def test_what_was_taken_back_neither_bears_nor_fells_a_statement(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        (two,) = await pen.say(await pen.open(), "I like Zanzibar tea")
        memory = await pen.remember("likes tea")
        position = (await pen.write(Confirm(memory, (two,), ()))).position
        await pen.write(Undo(position))
        rests = await pen.remember("likes Zanzibar", sources=(two,))
        await pen.write(RetractSource(two))
        assert (await pen.read(memory)).active
        assert not (await pen.read(rests)).active
        await pen.erase(two)
        assert (await pen.read(memory)).active
        assert await pen.find(rests) is None

    async def test_an_agent_undoes_nothing_of_the_persons_and_nothing_that_is_protected_from_it(
        self, engine: Engine
    ) -> None:
        person, agent = Pen(engine), Pen(engine, view=AT_A)
        how: dict[str, Any] = {"agent": "a", "audience": EVERYONE, "trust": Trust.ASSISTANT}
        own = await agent.write(agent.remembering("likes tea", **how), actor=Actor("agent", "a"))
        rule = await person.write(
            person.remembering("no refunds", audience=EVERYONE, trust=Trust.OPERATOR)
        )
        pinned = await person.write(Amend(own.id, {"pinned": True}), actor=Actor("owner"))
        for undo in (Undo(rule.position), Undo(pinned.position), Undo(own.position, True)):
            with pytest.raises(NotAllowed, match="only they undo it"):
                await agent.write(undo, actor=Actor("agent", "a"))
        assert ((await person.read(rule.id)).active, (await person.read(own.id)).version) == (
            True,
            2,
        )
        assert (await person.write(Undo(own.position, True), actor=Actor("owner"))).items

    async def test_what_the_person_pinned_withstands_an_agents_credential(
        self, engine: Engine
    ) -> None:
        person, shop = Pen(engine), Actor("agent", "a", Trust.ASSISTANT)
        agent = Pen(engine, view=AT_A)
        how: dict[str, Any] = {"agent": "a", "audience": EVERYONE, "trust": Trust.ASSISTANT}
        thread = await agent.open(agent="a")
        (said,) = await agent.say(thread, "tea, please", agent="a")
        held = (
            await agent.write(agent.remembering("likes tea", sources=(said,), **how), actor=shop)
        ).id
        await agent.write(Amend(held, {"tags": ("drink",)}), actor=shop)
        await person.write(Amend(held, {"pinned": True}), actor=Actor("owner"))
        before = await person.read(held)
        passed_on = {**how, "trust": Trust.USER, "sources": (said,), "supersedes": (held,)}
        newer = (await agent.write(agent.remembering("likes gin", **passed_on), actor=shop)).id
        for change in (Retract(held), Amend(held, {"pinned": False}), Supersede(held, newer)):
            assert [part.code for part in (await agent.write(change, actor=shop)).ignored] == [
                "protected"
            ]
        for ids in ((held,), (said,)):
            with pytest.raises(NotAllowed, match="pinned"):
                await agent.write(Hide(ids), actor=shop)
            with pytest.raises(NotAllowed, match="pinned"):
                await engine.erase(Target(ANN, AT_A, shop, ids), agent.tick())
        assert await person.read(held) == before
        assert (await engine.verify()).faults == ()

    async def test_a_credential_states_no_more_trust_than_it_has(self, engine: Engine) -> None:
        agent, shop = Pen(engine, view=AT_A), Actor("agent", "a", Trust.ASSISTANT)
        thread = await agent.open(agent="a")
        (said,) = (await agent.write(agent.saying(thread, "tea"), actor=shop)).ids()
        how: dict[str, Any] = {"agent": "a", "audience": EVERYONE}
        place: dict[str, Any] = {
            "namespace": ("n",),
            "name": "x",
            "created_at": START,
            "updated_at": START,
        }
        item = Item(id=new_id(), owner=ANN, value=1, trust=Trust.OPERATOR, **place)
        above: list[Change] = [
            agent.remembering("x", trust=Trust.USER, **how),
            agent.remembering("x", trust=Trust.OPERATOR, sources=(said,), **how),
            agent.saying(thread, "x", role="assistant", trust=Trust.USER),
            agent.saying(thread, "x", trust=Trust.OPERATOR),
            RecordEpisode(an_episode(ANN, trust=Trust.USER)),
            PutItem(item),
        ]
        for change in above:
            with pytest.raises(NotAllowed, match="may not state"):
                await agent.write(change, actor=shop)
        await agent.write(
            agent.remembering("x", trust=Trust.USER, sources=(said,), **how), actor=shop
        )
