"""Tests of external ids, the callers' own: unique in an audience, good wherever an id is, and
erased with their record.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from memoranda.book.record_ids import EPISODES, MEMORIES, NAMED, THREADS, record_id, record_ids
from memoranda.errors import Conflict, InvalidInput, NotFound
from memoranda.model.changes import ChangeAudience, Import, RecordEpisode, Retract, Supersede, Undo
from memoranda.model.messages import Episode, Overflow
from memoranda.model.records import EVERYONE, WHOLE, Audience, Owner, RecordType, View, slot_of
from memoranda.ports import Engine
from memoranda.storage.decide.thread_changes import cut
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    BEN,
    FOR_A,
    FOR_B,
    ROOMY,
    Pen,
    a_memory,
    adopted,
    an_episode,
    exported,
    packed,
)
from memoranda_conformance.suite import Suite

#: Every type of JSON value, and a text that is JSON.
OUTPUTS: tuple[Any, ...] = (
    None, "", "null", "plain text", '{"a": 1}', 0, -7, 2**60, 0.0, 1.5, -1e300, True, False, [], {}, [None], {"": None},
    {"status": "refund_processing", "eta_days": 5, "lines": [{"id": "8842", "parts": [1, 2.5, None, False]}]}, [[[]], {"a": {"b": []}}],
    "\u00fc\u4e2d\U0001f600",
)  # fmt: skip


def recording(episode: Episode, audience: Audience | None = None) -> RecordEpisode:
    """Return the change that stores an episode."""
    return RecordEpisode(episode, packed(episode.passage_text()), audience)


async def named(
    engine: Engine,
    name: str,
    view: View = WHOLE,
    owner: Owner = ANN,
    types: frozenset[RecordType] = NAMED,
) -> Any:
    """Return the id of the record that a view calls by this name."""
    return await record_id(engine, owner, view, name, types=types)


class ExternalIdSuite(Suite):
    """Tests of external ids, and of what tools returned."""

    async def test_a_tools_output_of_any_json_type_comes_back_as_it_was(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        calls = [
            {"tool": f"t{place}", "inputs": one, "output": one} for place, one in enumerate(OUTPUTS)
        ]
        made = await pen.write(recording(an_episode(ANN, tool_calls=calls)))

        def told(episode: Episode) -> list[str]:
            return [json.dumps([call.inputs, call.output, call.cut]) for call in episode.tool_calls]

        expected = [json.dumps([one, one, 0]) for one in OUTPUTS]
        assert told(await pen.read(made.id)) == expected
        assert told((await pen.scan(types=frozenset({RecordType.EPISODE})))[0]) == expected
        assert await adopted(another, ANN, await exported(engine, ANN, private=True)) is not None
        assert told(await Pen(another).read(made.id)) == expected

    async def test_outputs_beyond_the_limits_come_back_whole_from_the_overflow(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        calls = [{"tool": "t", "output": [one]} for one in OUTPUTS]
        limits = ROOMY.model_copy(update={"tool_calls": 0})
        episode, overflow = cut(an_episode(ANN, tool_calls=calls), limits)
        await pen.write(RecordEpisode(episode, packed(episode.passage_text()), None, overflow))
        (held,) = await pen.scan(slots=(slot_of(RecordType.OVERFLOW, str(episode.id)),))
        assert isinstance(held, Overflow)
        assert json.dumps([one.call.output for one in held.calls]) == json.dumps(
            [[one] for one in OUTPUTS]
        )

    async def test_a_record_is_found_by_the_callers_own_id(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("likes tea", external_id="mem_1", key="drink")
        episode = (await pen.write(recording(an_episode(ANN, external_id="ep_1")))).id
        thread = await pen.open(name="thread_1")
        assert await record_ids(engine, ANN, WHOLE, ["mem_1", "ep_1", "thread_1", str(memory)]) == (
            memory, episode, thread,
        )  # fmt: skip
        assert (await pen.read(memory)).external_id == "mem_1"
        assert await named(engine, "mem_1", types=MEMORIES) == memory
        for name, types in (
            ("mem_1", EPISODES),
            ("ep_1", THREADS),
            ("MEM_1", NAMED),
            ("mem_", NAMED),
        ):
            with pytest.raises(NotFound, match=name):
                await named(engine, name, types=types)
        with pytest.raises(NotFound):
            await named(engine, "mem_1", owner=BEN)
        with pytest.raises(InvalidInput):
            await named(engine, " ")

    async def test_names_that_no_memory_has_are_reported_by_their_places_and_stop_nothing(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        old = await pen.remember("old")
        places = ("supersedes[0]", "supersedes[2]")
        change = replace(pen.remembering("new", supersedes=(old,)), unknown=places)
        receipt = await pen.write(pen.remembering("first"), change)
        assert [(part.item, part.code, part.id, part.field) for part in receipt.ignored] == [
            (1, "unknown", None, place) for place in places
        ]
        assert (await pen.read(old)).superseded_by == change.memory.id
        assert (await pen.ledger())[-1].ignored == receipt.ignored
        await adopted(another, ANN, await exported(engine, ANN, private=True))
        assert (await Pen(another).ledger())[-1].ignored == receipt.ignored

    async def test_an_external_id_is_unique_for_owner_type_and_audience(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        first = await pen.remember("for all", external_id="x", audience=EVERYONE)
        with pytest.raises(Conflict, match=str(first)):
            await pen.remember("for all again", external_id="x", audience=EVERYONE)
        with pytest.raises(Conflict, match="external_id"):
            await pen.write(
                pen.remembering("one", external_id="y", audience=FOR_A),
                pen.remembering("two", external_id="y", audience=FOR_A),
            )
        two = Audience.of_groups(["g", "h"])
        for audience in (FOR_A, FOR_B, Audience.of_groups(["g"]), two):
            await pen.remember("elsewhere", external_id="x", audience=audience)
        with pytest.raises(Conflict):
            await pen.remember("elsewhere", external_id="x", audience=two)
        episode = recording(an_episode(ANN, external_id="x"), EVERYONE)
        await pen.write(episode)
        with pytest.raises(Conflict, match=str(episode.episode.id)):
            await pen.write(recording(an_episode(ANN, external_id="x"), EVERYONE))
        await Pen(engine, BEN).remember("another owner's", external_id="x", audience=EVERYONE)

    async def test_a_view_that_sees_several_must_give_the_uuid_of_one(self, engine: Engine) -> None:
        pen = Pen(engine)
        for_a = await pen.remember("a's", external_id="x", audience=FOR_A)
        for_b = await pen.remember("b's", external_id="x", audience=FOR_B)
        assert await named(engine, "x", AT_A) == for_a
        assert await named(engine, "x", AT_B) == for_b
        with pytest.raises(Conflict, match="UUID") as refused:
            await named(engine, "x")
        assert str(for_a) in str(refused.value) and str(for_b) in str(refused.value)
        await pen.write(recording(an_episode(ANN, external_id="x"), FOR_A))
        with pytest.raises(Conflict, match="episode"):
            await named(engine, "x", AT_A)
        assert await named(engine, "x", AT_A, types=MEMORIES) == for_a

    async def test_a_threads_name_is_found_in_every_audience_of_the_view(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        mine = await pen.open(name="chat", audience=FOR_A, agent="a")
        theirs = await pen.open(name="chat", audience=Audience.of_groups(["g", "h"]))
        assert await named(engine, "chat", AT_A) == mine
        assert await named(engine, "chat", View(agent="c", groups=("h",))) == theirs
        with pytest.raises(Conflict, match=str(theirs)):
            await named(engine, "chat")
        with pytest.raises(NotFound):
            await named(engine, "chat", AT_B)

    async def test_a_statement_keeps_its_external_id_when_it_is_no_longer_active(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        old = await pen.remember("lives in Bonn", external_id="home-1", key="home")
        new = await pen.remember("lives in Rome", external_id="home-2", key="home")
        assert (await pen.read(old)).superseded_by == new
        await pen.write(Retract(new))
        assert [await named(engine, "home-1"), await named(engine, "home-2")] == [old, new]
        with pytest.raises(Conflict):
            await pen.remember("lives in Ulm", external_id="home-1")

    async def test_an_undone_record_frees_its_external_id_and_claims_it_again(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        for make in (
            lambda: pen.remembering("likes tea", external_id="x"),
            lambda: recording(an_episode(ANN, external_id="x")),
        ):
            made = await pen.write(make())
            undone = await pen.write(Undo(made.position))
            again = await pen.write(make())
            assert await named(engine, "x", types=frozenset({again.items[0].type})) == again.id
            with pytest.raises(Conflict, match=str(again.id)):
                await pen.write(Undo(undone.position))
            await pen.write(Undo(again.position))
            await pen.write(Undo(undone.position))
            assert await named(engine, "x", types=frozenset({again.items[0].type})) == made.id

    async def test_a_statement_is_not_shared_where_another_has_its_external_id(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        there = await pen.remember("for all", external_id="x", audience=EVERYONE)
        mine = await pen.remember("a's", external_id="x", audience=FOR_A)
        with pytest.raises(Conflict, match=str(there)):
            await pen.write(ChangeAudience(mine, EVERYONE))
        await pen.write(ChangeAudience(mine, FOR_B))
        assert [one.id for one in await pen.scan(AT_B) if one.audience == FOR_B] == [mine]

    async def test_an_external_id_is_erased_with_its_record_and_may_be_given_again(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        first = await pen.remember("likes tea", external_id="own-id-0815")
        await pen.write(
            Supersede(first, await pen.remember("likes rum", external_id="own-id-0816"))
        )
        episode = (await pen.write(recording(an_episode(ANN, external_id="own-id-0817")))).id
        for entry in await pen.ledger():
            assert "own-id" not in json.dumps([entry.note, [str(line) for line in entry.lines]])
        await pen.erase(first, episode)
        for gone in ("own-id-0815", "own-id-0817"):
            with pytest.raises(NotFound):
                await named(engine, gone)
        lines = json.dumps(await exported(engine, ANN))
        assert "own-id-0815" not in lines and "own-id-0817" not in lines and "own-id-0816" in lines
        again = await pen.remember("likes tea", external_id="own-id-0815")
        assert await named(engine, "own-id-0815") == again

    async def test_erasing_a_source_or_a_group_of_sources_leaves_the_external_id(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one, two = await pen.say(thread, "I like tea", "and cake")
        memory = await pen.remember("likes tea and cake", sources=(one, two), external_id="x")
        await pen.erase(one)
        assert (await pen.read(memory)).sources == (two,)
        assert await named(engine, "x") == memory

    async def test_an_export_keeps_external_ids_and_a_book_refuses_them_twice(
        self, engine: Engine, another: Engine
    ) -> None:
        pen, there = Pen(engine), Pen(another)
        memory = await pen.remember("likes tea", external_id="x")
        episode = (await pen.write(recording(an_episode(ANN, external_id="x")))).id
        lines = await exported(engine, ANN, private=True)
        await adopted(another, ANN, lines)
        assert [await named(another, "x", types=kinds) for kinds in (MEMORIES, EPISODES)] == [
            memory,
            episode,
        ]
        assert (await another.verify()).faults == ()
        other = a_memory(ANN, "likes rum", external_id="x")
        refused = await there.write(Import(other, packed("likes rum")))
        assert [(part.code, part.id) for part in refused.ignored] == [("taken", other.id)]
        await there.write(Import(a_memory(ANN, "likes gin", external_id="y"), packed("likes gin")))
        assert await named(another, "y")

    async def test_rebuilding_a_book_keeps_the_links_of_external_ids(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("likes tea", external_id="x")
        await engine.rebuild()
        assert await named(engine, "x") == memory
