"""Tests of sentences that tell two facts: the one that is forgotten goes, and the statement of the
other one stays.
"""

from __future__ import annotations

import pytest

from memoranda.errors import Conflict, InvalidInput, Stale
from memoranda.model.changes import Hide, PatchProfile, RecordEpisode, Undo
from memoranda.model.ledger import Actor, Target
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import NO_WORDS, Message, SummariseThread
from memoranda.model.records import EVERYONE, WHOLE, Record, RecordType
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import ANN, Pen, an_episode, packed
from memoranda_conformance.suite import Suite

BOTH = "As a nurse of 42 I earn 65,000 euros."


class _Told:
    """A message with two facts, a memory of each that quotes all of it, and what else comes from
    it.
    """

    def __init__(self, pen: Pen) -> None:
        self.pen = pen

    async def tell(self) -> None:
        pen = self.pen
        self.thread = await pen.open()
        (self.said,) = await pen.say(self.thread, BOTH)
        quoted = {"sources": (self.said,), "quotes": (Cited(message=self.said, quote=BOTH),)}
        self.pay = await pen.remember("Earns 65,000 euros", key="salary", **quoted)
        self.age = await pen.remember("Is 42 years old", **quoted)
        self.well_off = await pen.remember("Is well off", **quoted)
        body = {"jobs": ["nurse", "65,000 euros"]}
        await pen.write(PatchProfile(new_id(), "Profile", EVERYONE, body, sources=(self.said,)))

    @property
    def parts(self) -> tuple[Redaction, ...]:
        return (Redaction(self.said, (Span(start=0, end=len(BOTH)),), 1),)

    def target(self, **fields: object) -> Target:
        return Target(self.pen.owner, self.pen.view, Actor("owner", self.pen.owner.id), **fields)  # type: ignore[arg-type]

    async def is_of_the_other_fact(self) -> None:
        """Check that what is left tells the other fact, and nothing of the forgotten one."""
        records = {record.id: record for record in await self.pen.scan()}
        assert set(records) > {self.thread, self.said, self.age}
        assert records.keys().isdisjoint({self.pay, self.well_off})
        said, age = records[self.said], records[self.age]
        assert isinstance(said, Message) and isinstance(age, Memory)
        assert said.content == NO_WORDS
        day = said.observed_at.date()
        assert (age.sources, age.quotes) == (
            (self.said,),
            (Cited(message=self.said, forgotten=day),),
        )
        (profile,) = await self.pen.scan(types=frozenset({RecordType.PROFILE}))
        assert profile.body == {"jobs": ["nurse"]}


def _as_said(records: list[Record]) -> list[str]:
    counted = {"version", "recorded_at", "past"}
    return sorted(record.model_dump_json(exclude=counted) for record in records)


class TwoFactsSuite(Suite):
    """Tests that a statement lives on where the sentence that it quotes loses another fact."""

    async def test_the_statement_of_another_fact_outlives_the_sentence_that_it_quotes(
        self, engine: Engine
    ) -> None:
        told = _Told(pen := Pen(engine))
        await told.tell()
        receipt = await engine.erase(
            told.target(ids=(told.pay,), redactions=told.parts), pen.tick()
        )
        assert set(receipt.ids) == {told.pay, told.well_off}
        await told.is_of_the_other_fact()
        steps = [step.record for step in await engine.history(pen.owner, pen.view, told.age)]
        assert not any("65,000" in repr(one) for one in steps if one is not None)
        # Nothing is left of the message once nothing comes from it.
        last = await engine.erase(told.target(ids=(told.said,)), pen.tick())
        assert {told.said, told.age} <= set(last.ids)
        assert (await engine.verify()).faults == ()

    async def test_it_does_so_while_the_fact_is_hidden_and_when_that_is_finished(
        self, engine: Engine
    ) -> None:
        told = _Told(pen := Pen(engine))
        await told.tell()
        before = await pen.scan()
        receipt = await pen.write(Hide((told.pay,), told.parts))
        await told.is_of_the_other_fact()
        undone = await pen.write(Undo(receipt.position))
        assert _as_said(await pen.scan()) == _as_said(before)
        with pytest.raises(Conflict, match="undone"):
            await engine.erase(told.target(hidden=receipt.position), pen.tick())
        await pen.write(Undo(undone.position))
        await engine.erase(told.target(hidden=receipt.position), pen.tick())
        await told.is_of_the_other_fact()
        assert (await engine.verify()).faults == ()

    async def test_words_that_are_taken_out_leave_the_statement_of_what_its_quote_keeps(
        self, engine: Engine
    ) -> None:
        told = _Told(pen := Pen(engine))
        await told.tell()
        earn = Span(start=BOTH.index(" I earn"), end=len(BOTH))
        receipt = await engine.erase(
            told.target(redactions=(Redaction(told.said, (earn,), 1),)), pen.tick()
        )
        assert set(receipt.ids) == {told.pay, told.well_off}
        age = await pen.read(told.age)
        assert [one.quote for one in age.quotes] == [""]

    async def test_episodes_summaries_and_profiles_lose_the_parts_that_are_named_and_no_more(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, BOTH)
        pay = await pen.remember("Earns 65,000 euros", sources=(said,))
        told = "Is a nurse. Earns 65,000 euros."
        draft = an_episode(ANN, "Find a loan", sources=(said,)).changed(summary=told)
        episode = (await pen.write(RecordEpisode(draft, packed(draft.passage_text())))).id
        await pen.write(SummariseThread(thread, told, 1))
        body = {"jobs": ["nurse", "for 65,000 euros"], "pay": 65000, "town": "Bonn"}
        profile = (await pen.write(PatchProfile(new_id(), "Profile", EVERYONE, body))).id
        before = await pen.scan()
        end = Span(start=len("Is a nurse."), end=len(told), path="/summary")
        values = (Span(start=0, end=9, path="/body/jobs/1"), Span(start=0, end=5, path="/body/pay"))
        words = Redaction(said, (Span(start=len("As a nurse of 42"), end=len(BOTH) - 1),), 1)
        versions = {record.id: record.version for record in before}
        parts = [
            words,
            *(Redaction(id, (end,), versions[id]) for id in (episode, thread)),
            Redaction(profile, values, versions[profile]),
        ]

        async def is_cut() -> None:
            left = {record.id: record for record in await pen.scan()}
            assert (left[episode].goal, left[episode].summary) == ("Find a loan", "Is a nurse.")
            assert left[thread].summary == "Is a nurse."
            assert left[profile].body == {"jobs": ["nurse"], "town": "Bonn"}
            assert left[said].content == "As a nurse of 42."
            assert pay not in left

        receipt = await pen.write(Hide((pay,), tuple(parts)))
        await is_cut()
        await pen.write(Undo(receipt.position))
        assert _as_said(await pen.scan()) == _as_said(before)
        target = Target(
            pen.owner, pen.view, Actor("owner", ANN.id), ids=(pay,), redactions=tuple(parts)
        )
        with pytest.raises(Stale, match="read it again"):
            await engine.erase(target, pen.tick())
        versions = {record.id: record.version for record in await pen.scan()}
        now = tuple(Redaction(one.message, one.spans, versions[one.message]) for one in parts)
        again = await pen.write(Hide((pay,), now))
        await engine.erase(
            Target(pen.owner, pen.view, target.actor, hidden=again.position), pen.tick()
        )
        await is_cut()
        for id in (episode, thread, profile):
            steps = [step.record for step in await engine.history(pen.owner, pen.view, id)]
            assert not any("65,000" in repr(one.model_dump()) for one in steps if one is not None)
        assert (await engine.verify()).faults == ()

    async def test_a_place_that_a_thread_does_not_have_is_refused(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        version = (await pen.read(thread)).version
        wrong = Redaction(thread, (Span(start=0, end=3, path="/t/0"),), version)
        with pytest.raises(InvalidInput, match=r"thread .* has no characters 0 to 3"):
            await engine.erase(Target(ANN, WHOLE, Actor("owner"), redactions=(wrong,)), pen.tick())
        assert (await pen.read(thread)).version == version
