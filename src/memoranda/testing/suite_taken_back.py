"""Undone changes: content from a forgotten source is erased from them too, and other content stays."""

from __future__ import annotations

from memoranda.model.changes import AddEvidence, AddExperience, Confirm, RetractSource, Undo
from memoranda.model.cited import Cited
from memoranda.model.experience import Evidence
from memoranda.model.ids import new_id
from memoranda.model.memories import Memory
from memoranda.model.owner import WHOLE
from memoranda.ports import Engine
from memoranda.testing.builders import ANN, BEN, GUIDE, START, Pen, a_line
from memoranda.testing.suite import Suite


class TakenBackSuite(Suite):
    """Tests that erasure reaches the earlier versions that undo leaves, by their sources."""

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
            assert not [one for one in versions if isinstance(one, Memory) and (one.quotes or one.past)]
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

    async def test_what_was_taken_back_neither_bears_nor_fells_a_statement(self, engine: Engine) -> None:
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
