"""Tests of memories: keys (one statement at a time has a key), replacement, retraction,
confirmation, readers and trust.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoranda.errors import Conflict, InvalidInput, NotFound
from memoranda.model.changes import (
    Amend,
    ChangeAudience,
    Confirm,
    RecordEpisode,
    Retract,
    Supersede,
)
from memoranda.model.memories import DaySpan, Granularity, MemoryStatus
from memoranda.model.records import EVERYONE, WHOLE, Audience, Trust, View
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    AT_A,
    AT_B,
    BEN,
    FOR_A,
    FOR_B,
    START,
    Follower,
    Pen,
    an_episode,
)
from memoranda_conformance.suite import Suite

DAY = timedelta(days=1)


class MemorySuite(Suite):
    """Tests of statements: which one replaces another, who reads them, and how much they are
    trusted.
    """

    async def test_a_statement_comes_back_as_it_was_given(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        change = pen.remembering(
            "the gate code is 0042",
            kind="note",
            subject="the house",
            cardinality="one",
            key="gate",
            applies_when="at night",
            data={"code": "0042", "deep": [{"a": None}]},
            tags=("home", "50%_off"),
            agent="a",
            thread=thread,
            valid_from=START - DAY,
            valid_to=START + DAY,
            valid_from_granularity="month",
            valid_to_granularity="year",
            happened=DaySpan(
                first=START.date(), after=(START + 2 * DAY).date(), granularity=Granularity.SPAN
            ),
            pinned=True,
        )
        receipt = await pen.write(change)
        assert await pen.read(receipt.id) == change.memory.changed(
            recorded_at=receipt.at, audience=EVERYONE
        )

    async def test_a_write_to_a_held_key_supersedes(self, engine: Engine) -> None:
        pen = Pen(engine)
        tea = await pen.remember("likes tea", key="drink")
        receipt = await pen.write(pen.remembering("likes coffee", key="drink"))
        new, old = await pen.read(receipt.id), await pen.read(tea)
        assert (new.supersedes, new.status, new.version) == ((tea,), MemoryStatus.ACTIVE, 1)
        assert (old.superseded_by, old.status, old.version) == (new.id, MemoryStatus.SUPERSEDED, 2)
        assert [item.id for item in receipt.items] == [new.id, tea]
        assert [memory.id for memory in await pen.scan(statuses=frozenset({"active"}))] == [new.id]
        assert [memory.id for memory in await pen.scan(slots=(new.slot(),))] == [new.id]

    async def test_the_last_of_several_writes_to_one_key_in_a_batch_holds_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        receipt = await pen.write(
            *(pen.remembering(f"likes {what}", key="drink") for what in ("tea", "milk", "gin"))
        )
        assert [(await pen.read(id)).status for id in receipt.ids()] == [
            "superseded",
            "superseded",
            "active",
        ]

    async def test_a_key_is_its_owners_its_readers_and_its_agents(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        homes: list[dict[str, object]] = [
            {"agent": "a", "audience": EVERYONE},
            {"agent": "a", "audience": FOR_A},
            {"agent": "b", "audience": FOR_B},
            {"agent": "a", "audience": Audience.of_groups(["g"])},
            {"agent": "b", "audience": Audience.of_groups(["g"])},
            {"agent": "a", "audience": Audience.of_groups(["h"])},
            {"agent": "a", "audience": Audience.of_groups(["g", "h"])},
        ]
        ids = [await pen.remember("likes tea", key="drink", **home) for home in homes]
        ids.append(await other.remember("likes tea", key="drink"))
        assert [(await pen.read(id)).active for id in ids[:-1]] == [True] * 7
        assert (await other.read(ids[-1])).active
        shared = await pen.remember("likes gin", key="drink", agent="b", audience=EVERYONE)
        assert (await pen.read(shared)).supersedes == (ids[0],)

    async def test_a_key_is_free_again_once_its_statement_is_not_held(self, engine: Engine) -> None:
        pen = Pen(engine)
        tea = await pen.remember("likes tea", key="drink")
        await pen.write(Retract(tea))
        receipt = await pen.write(pen.remembering("likes gin", key="drink"))
        assert (await pen.read(receipt.id)).supersedes == ()
        assert (await pen.read(tea)).status == "retracted"

    async def test_the_losers_validity_is_closed_where_the_winners_begins(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        cases = [
            ({}, {"valid_from": START + DAY}, START + DAY),
            ({}, {"observed_at": START - DAY}, START - DAY),
            ({"valid_from": START}, {"valid_from": START - DAY}, START),
            ({"valid_to": START}, {"valid_from": START + DAY}, START),
        ]
        for losing, winning, end in cases:
            loser = await pen.remember("old", **losing)
            winner = await pen.remember("new", supersedes=(loser,), **winning)
            assert (await pen.read(loser)).valid_to == end
            assert (await pen.read(loser)).superseded_by == winner

    async def test_what_held_at_a_moment_can_be_asked_for(self, engine: Engine) -> None:
        pen = Pen(engine)
        loser = await pen.remember("lives in Bonn", valid_from=START - 10 * DAY)
        winner = await pen.remember("lives in Kiel", valid_from=START, supersedes=(loser,))
        held = {
            day: [m.id for m in await pen.scan(valid_at=START + day * DAY)]
            for day in (-11, -10, -1, 0, 1)
        }
        assert held == {-11: [], -10: [loser], -1: [loser], 0: [winner], 1: [winner]}

    async def test_what_cannot_be_superseded_is_left_and_reported(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        theirs, unknown, thread = await other.remember("ben's"), new_id(), await pen.open()
        gone, old = await pen.remember("gone"), await pen.remember("old")
        hidden = await pen.remember("hidden", agent="b", audience=FOR_B)
        await pen.write(Retract(gone))
        await pen.remember("newer", supersedes=(old,))
        change = pen.remembering("new", supersedes=(theirs, unknown, thread, gone, old, hidden))
        own = change.memory.changed(supersedes=(change.memory.id, *change.memory.supersedes))
        receipt = await pen.write(type(change)(own, change.terms, EVERYONE), view=AT_A)
        assert [(part.code, part.id) for part in receipt.ignored] == [
            ("self", own.id),
            ("unknown", theirs),
            ("unknown", unknown),
            ("unknown", thread),
            ("retracted", gone),
            ("superseded", old),
            ("unknown", hidden),
        ]
        assert (await pen.read(own.id)).supersedes == ()
        assert (await other.read(theirs)).active
        assert (await pen.read(hidden)).active

    async def test_a_winner_must_be_seen_and_held(self, engine: Engine) -> None:
        pen = Pen(engine)
        open_, hidden = await pen.remember("open"), await pen.remember("hidden", agent="b")
        old = await pen.remember("old")
        new = await pen.remember("new", supersedes=(old,))
        for winner, loser, code in (
            (hidden, open_, "unknown"),
            (new_id(), open_, "unknown"),
            (old, new, "cycle"),
        ):
            receipt = await pen.write(Supersede(loser, winner), view=AT_A)
            assert [part.code for part in receipt.ignored] == [code]
            assert receipt.items == ()
        assert (await pen.read(hidden)).version == 1
        await pen.write(Supersede(open_, new))
        assert (await pen.read(open_)).superseded_by == new
        assert (await pen.read(new)).supersedes == (old, open_)

    async def test_one_loser_has_one_winner(self, engine: Engine) -> None:
        pen = Pen(engine)
        loser = await pen.remember("old")
        receipt = await pen.write(
            *(pen.remembering(text, supersedes=(loser,)) for text in ("one", "two"))
        )
        first, second = receipt.ids()[:2]
        assert [part.code for part in receipt.ignored] == ["superseded"]
        assert (await pen.read(loser)).superseded_by == first
        assert (await pen.read(second)).supersedes == ()

    @pytest.mark.parametrize("size", [2, 3])
    async def test_a_circle_in_one_batch_keeps_the_newest(self, engine: Engine, size: int) -> None:
        pen = Pen(engine)
        for newest in range(size):
            ids = [new_id() for _ in range(size)]
            receipt = await pen.write(
                *(
                    pen.remembering(
                        f"{place} of {size}",
                        id=id,
                        supersedes=(ids[place - 1],),
                        observed_at=START
                        + (DAY if place == newest else place * timedelta(hours=1)),
                    )
                    for place, id in enumerate(ids)
                )
            )
            held = [(await pen.read(id)).active for id in ids]
            assert held == [place == newest for place in range(size)]
            assert [(part.code, part.id) for part in receipt.ignored] == [("cycle", ids[newest])]

    async def test_a_retracted_statement_stays_and_says_why(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("likes tea")
        await pen.write(Retract(memory, "she never said so"))
        kept = await pen.read(memory)
        assert (kept.status, kept.reason, kept.content) == (
            "retracted",
            "she never said so",
            "likes tea",
        )
        again = await pen.write(Retract(memory))
        assert [part.code for part in again.ignored] == ["retracted"]

    async def test_a_confirmed_statement_counts_and_gains_sources(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread, private = await pen.open(), await pen.open(agent="a", audience=FOR_A)
        one, two = await pen.say(thread, "tea!", "tea, I said")
        (whispered,) = await pen.say(private, "tea")
        memory = await pen.remember("likes tea", sources=(one,))
        await pen.write(Confirm(memory))
        await pen.write(Confirm(memory, (one, two)))
        assert ((await pen.read(memory)).confirmations, (await pen.read(memory)).sources) == (
            2,
            (one, two),
        )
        with pytest.raises(InvalidInput):
            await pen.write(Confirm(memory, (whispered,)))
        await pen.write(Retract(memory))
        assert [part.code for part in (await pen.write(Confirm(memory))).ignored] == ["retracted"]

    async def test_what_stands_around_a_statement_can_be_amended_and_its_words_cannot(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        memory = await pen.remember("likes tea")
        fields = {
            "pinned": True,
            "tags": ("drink",),
            "applies_when": "in winter",
            "valid_to": START + DAY,
        }
        await pen.write(Amend(memory, fields))
        assert {name: getattr(await pen.read(memory), name) for name in fields} == fields
        assert [part.code for part in (await pen.write(Amend(memory, fields))).ignored] == [
            "unchanged"
        ]
        for wrong in (
            {"content": "likes gin"},
            {"trust": "operator"},
            {"valid_from": START + 2 * DAY},
        ):
            with pytest.raises(InvalidInput):
                await pen.write(Amend(memory, wrong))

    async def test_the_days_on_which_it_happened_can_be_amended_and_taken_away(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        memory = await pen.remember(
            "ran a marathon", valid_from=START, valid_from_granularity="year"
        )
        assert (await pen.read(memory)).happened is None
        await pen.write(Amend(memory, {"happened": "2026-03", "valid_from": START - DAY}))
        changed = await pen.read(memory)
        assert (changed.happened, changed.valid_from_granularity) == (
            DaySpan.model_validate("2026-03"),
            None,
        )
        await pen.write(Amend(memory, {"happened": None}))
        assert (await pen.read(memory)).happened is None
        with pytest.raises(InvalidInput, match="happened: is no day"):
            await pen.write(Amend(memory, {"happened": "in March"}))

    async def test_a_superseded_statement_ends_at_a_moment_that_nobody_said(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        fields = {"valid_to": START + 900 * DAY, "valid_to_granularity": "year"}
        loser = await pen.remember("lives in Bonn", key="town", **fields)
        await pen.remember("lives in Kiel", key="town", valid_from=START + DAY)
        ended = await pen.read(loser)
        assert (ended.valid_to, ended.valid_to_granularity) == (START + DAY, None)

    async def test_a_change_of_readers_moves_a_statement_to_another_shelf(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        memory = await pen.remember("likes tea", agent="a")
        indexes = {view: Follower(engine, pen.owner, view) for view in (AT_A, AT_B, WHOLE)}
        for index in indexes.values():
            await index.follow()
        for audience, readers in (
            (FOR_B, {AT_B}),
            (EVERYONE, {AT_A, AT_B}),
            (FOR_A, {AT_A}),
            (FOR_B, {AT_B}),
        ):
            await pen.write(ChangeAudience(memory, audience))
            for view, index in indexes.items():
                seen = view in readers | {WHOLE}
                assert (await pen.find(memory, view) is not None) is seen
                assert (memory in [record.id for record in await pen.scan(view)]) is seen
                shelves = await index.follow()
                assert {readers for readers, held in shelves.items() if memory in held} == (
                    {audience} if seen else set()
                )
        same = await pen.write(ChangeAudience(memory, FOR_B))
        assert [part.code for part in same.ignored] == ["unchanged"]

    async def test_readers_cannot_be_widened_past_the_sources_nor_onto_a_held_key(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        private = await pen.open(agent="a", audience=FOR_A)
        (said,) = await pen.say(private, "tea")
        derived = await pen.remember("likes tea", sources=(said,))
        with pytest.raises(InvalidInput):
            await pen.write(ChangeAudience(derived, EVERYONE))
        own = await pen.remember("likes tea", key="drink", agent="a")
        await pen.remember("likes gin", key="drink")
        with pytest.raises(Conflict):
            await pen.write(ChangeAudience(own, EVERYONE))

    async def test_a_statement_is_read_by_no_more_than_what_it_rests_on(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        groups = Audience.of_groups(["g1", "g2"])
        private, grouped = (
            await pen.open(agent="a", audience=FOR_A),
            await pen.open(agent="a", audience=groups),
        )
        (one,), (two,) = await pen.say(private, "one"), await pen.say(grouped, "two")
        assert (await pen.read(await pen.remember("x", sources=(one, two)))).audience == FOR_A
        assert (await pen.read(await pen.remember("x", sources=(two,)))).audience == groups
        assert (await pen.read(await pen.remember("x", thread=private))).audience == FOR_A
        assert (await pen.read(await pen.remember("x"))).audience == EVERYONE
        assert (await pen.read(await pen.remember("x", agent="b"))).audience == FOR_B
        narrower = Audience.of_groups(["g1"])
        assert (
            await pen.read(await pen.remember("x", sources=(two,), audience=narrower))
        ).audience == narrower
        for audience, sources in (
            (EVERYONE, (two,)),
            (FOR_B, (one,)),
            (Audience.of_groups(["g3"]), (two,)),
        ):
            with pytest.raises(InvalidInput):
                await pen.remember("x", sources=sources, audience=audience)
        other = await pen.open(agent="b", audience=FOR_B)
        (three,) = await pen.say(other, "three")
        with pytest.raises(InvalidInput):
            await pen.remember("x", sources=(one, three))
        with pytest.raises(NotFound):
            await pen.remember("x", sources=(new_id(),))

    async def test_a_statement_is_trusted_no_more_than_what_it_rests_on(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (user,) = await pen.say(thread, "tea")
        (web,) = await pen.say(thread, "ads say gin", role="tool", trust=Trust.WEB)
        given = {Trust.OPERATOR: (), Trust.USER: (user,), Trust.WEB: (user, web)}
        for expected, sources in given.items():
            memory = await pen.remember("x", sources=sources, trust=Trust.OPERATOR)
            assert (await pen.read(memory)).trust == expected
        assert (
            await pen.read(await pen.remember("x", sources=(user,), trust=Trust.TOOL))
        ).trust == Trust.TOOL

    async def test_what_was_retracted_is_not_formed_again_from_the_same_sources(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one, two = await pen.say(thread, "tea", "tea again")
        memory = await pen.remember("She likes tea.", sources=(one,))
        await pen.write(Retract(memory))
        refused = await pen.write(pen.remembering("she  likes TEA", sources=(one, two)))
        assert (refused.items, [part.code for part in refused.ignored]) == (
            (),
            ["not_formed_again"],
        )
        assert (await pen.write(pen.remembering("she likes tea", sources=(two,)))).items
        assert (await pen.write(pen.remembering("she likes cake", sources=(one,)))).items
        assert (await pen.write(pen.remembering("She likes tea."))).items

    async def test_a_statement_for_fewer_readers_replaces_none_for_more(
        self, engine: Engine
    ) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        old = await pen.remember("lives in York", audience=EVERYONE)
        new = at_a.remembering("lives in Rome", agent="a", audience=FOR_A, supersedes=(old,))
        receipt = await at_a.write(new)
        assert [(part.code, part.id) for part in receipt.ignored] == [("readers", old)]
        assert [part.code for part in (await at_a.write(Supersede(old, receipt.id))).ignored] == [
            "readers"
        ]
        for view in (AT_A, AT_B, WHOLE):
            assert old in {one.id for one in await pen.scan(view, statuses=frozenset({"active"}))}
        wider = at_a.remembering(
            "lives in Oslo", agent="a", audience=EVERYONE, supersedes=(old, receipt.id)
        )
        assert (await at_a.write(wider)).ignored == ()
        assert [one.id for one in await pen.scan(statuses=frozenset({"active"}))] == [
            wider.memory.id
        ]
        assert (await engine.verify()).faults == ()

    async def test_a_record_names_to_a_view_no_record_that_it_may_not_see(
        self, engine: Engine
    ) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        seen = await pen.remember("drinks tea", audience=EVERYONE, agent="a")
        hidden = await pen.remember("drinks gin", audience=EVERYONE, agent="a")
        lost = await pen.remember("drinks ale", audience=FOR_A, agent="a")
        of_a: dict[str, Any] = {"audience": EVERYONE, "agent": "a"}
        new = at_a.remembering("drinks", sources=(seen, hidden), supersedes=(lost,), **of_a)
        await at_a.write(new)
        await at_a.write(ChangeAudience(hidden, FOR_A))
        done = an_episode(pen.owner, "Toast", sources=(seen, hidden))
        await at_a.write(RecordEpisode(done, b""))
        await pen.write(ChangeAudience(seen, EVERYONE))

        async def told(view: View) -> list[Any]:
            got = (await engine.get(pen.owner, view, [new.memory.id]))[new.memory.id]
            listed = [one for one in await pen.scan(view) if one.id == new.memory.id]
            (step,) = await engine.history(pen.owner, view, new.memory.id)
            sight = await engine.look(pen.owner, view, lambda _: None, lambda _: [new.memory.id])
            assert sight.records is not None
            return [got, *listed, step.record, *sight.records.values()]

        for record in await told(AT_B):
            assert (record.sources, record.supersedes) == ((seen,), ())
        for view in (AT_A, WHOLE):
            for record in await told(view):
                assert (record.sources, record.supersedes) == ((seen, hidden), (lost,))
        assert await engine.get(pen.owner, AT_B, [lost, hidden, done.id]) == {}
        assert (await engine.verify()).faults == ()

    async def test_a_source_that_recall_quotes_names_to_a_view_no_record_that_it_may_not_see(
        self, engine: Engine
    ) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        of_a: dict[str, Any] = {"audience": EVERYONE, "agent": "a"}
        thread = await at_a.open(agent="a", audience=FOR_A)
        lost = await pen.remember("drinks ale", agent="a", audience=FOR_A)
        hidden, seen = [await pen.remember(f"drinks {drink}", **of_a) for drink in ("gin", "rum")]
        both = (hidden, seen)  # what rests on the hidden one alone would lose its readers with it
        source = at_a.remembering("drinks", thread=thread, sources=both, supersedes=(lost,), **of_a)
        await at_a.write(source)
        await at_a.write(ChangeAudience(hidden, FOR_A))
        stated = at_a.remembering("is a guest", sources=(source.memory.id,), **of_a)
        await at_a.write(stated)

        async def quoted(view: View) -> Any:
            sight = await engine.look(pen.owner, view, lambda _: None, lambda _: [stated.memory.id])
            return sight.grounds[source.memory.id]

        for view, named in ((AT_B, (None, (), (seen,))), (AT_A, (thread, (lost,), both))):
            found = await quoted(view)
            assert (found.thread, found.supersedes, found.sources) == named
            assert found == (await engine.get(pen.owner, view, [found.id]))[found.id]
        assert (await engine.verify()).faults == ()
