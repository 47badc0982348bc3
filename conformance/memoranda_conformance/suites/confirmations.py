"""Tests of many sources: a record lists a few of them, and all of them decide as if it listed
each.
"""

from __future__ import annotations

from random import Random
from uuid import UUID

import pytest

from memoranda.errors import InvalidInput
from memoranda.model.changes import (
    ChangeAudience,
    Confirm,
    Import,
    Remember,
    Retract,
    RetractSource,
    Undo,
)
from memoranda.model.memories import Cited, MemoryStatus
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import EVERYONE, WHOLE
from memoranda.model.unlisted import MOST_LISTED, SourcePage, Unlisted
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    BEN,
    FOR_A,
    Pen,
    a_memory,
    adopted,
    exported,
    packed,
)
from memoranda_conformance.said import Said, patched, sources_of
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.copies import COPY, all_pieces, arrived, lay_all

#: Characters that one more confirmation may add to a book, in the record, its versions and its
#: links.
_MOST_CHARACTERS = 4_000


class ConfirmationSuite(Suite):
    """Tests that a statement may be said many times: what it stores stays small, and every source
    counts.
    """

    async def test_a_memory_lists_the_first_and_last_and_best_of_its_sources_and_counts_all(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        heard = await pen.say(thread, *(f"tea {n}" for n in range(10)), trust="assistant")
        (best,) = await pen.say(thread, "I like tea")
        late = await pen.say(thread, *(f"tea {n}" for n in range(10)), trust="assistant")
        memory = await pen.remember("likes tea", sources=heard[:1])
        for message in (*heard[1:], best, *late):
            await pen.write(Confirm(memory, (message,), (Cited(message=message, quote="tea"),)))
        stands = await pen.read(memory)
        assert stands.sources == (*heard[:3], best, *late[-4:])
        assert (stands.source_count, stands.confirmations) == (21, 20)
        assert [one.message for one in stands.quotes] == [
            id for id in stands.sources if id != heard[0]
        ]
        pairs = await engine.unlisted(pen.owner, WHOLE, memory)
        assert [id for _, id in pairs] == sorted({*heard, *late} - set(stands.sources))
        assert (
            await engine.unlisted(pen.owner, WHOLE, memory, SourcePage(after=pairs[3][1], limit=2))
            == pairs[4:6]
        )
        assert await engine.unlisted(
            pen.owner, WHOLE, memory, SourcePage((heard[0], pairs[7][1]))
        ) == [pairs[7]]

    @pytest.mark.parametrize(
        "make", [Said.tea, Said.field], ids=["a memory", "an item of a profile"]
    )
    async def test_what_one_more_confirmation_stores_is_bounded(
        self, engine: Engine, make: object
    ) -> None:
        said = await make(Pen(engine), 40)  # type: ignore[operator] # one of two functions
        size = await _stored(engine, said)
        more = await said.pen.say(said.thread, *(f"tea again {n}" for n in range(20)))
        before = await _stored(engine, said)
        for message in more:
            await said.again(message)
        assert await _stored(engine, said) - before < 20 * _MOST_CHARACTERS
        assert size < 41 * _MOST_CHARACTERS
        assert await said.sources() == set(said.said)

    async def test_many_confirmations_in_one_run_are_one_version(self, engine: Engine) -> None:
        said = await Said.tea(Pen(engine), 1)
        more = await said.pen.say(said.thread, *(f"tea {n}" for n in range(60)))
        receipt = await said.again(*more)
        assert [item.version for item in receipt.items] == [2]
        assert (await said.pen.read(said.record)).source_count == 61

    @pytest.mark.parametrize(
        "make", [Said.tea, Said.field], ids=["a memory", "an item of a profile"]
    )
    @pytest.mark.parametrize("place", [0, 10, 19], ids=["first", "middle", "last"])
    async def test_forgetting_one_message_takes_it_from_the_sources_and_nothing_else(
        self, engine: Engine, make: object, place: int
    ) -> None:
        said = await make(Pen(engine), 20)  # type: ignore[operator] # one of two functions
        gone = said.said[place]
        receipt = await said.pen.erase(gone)
        assert receipt.kept == (said.record,) and receipt.ids == (gone,)
        left = set(said.said) - {gone}
        assert await said.sources() == left
        stands = await said.pen.read(said.record)
        if isinstance(stands, ProfileDocument):
            assert stands.body["likes"] == (["tea"] if place == 0 else ["tea", "cake"])
        assert str(gone) not in repr(await all_pieces(engine))
        assert gone.bytes not in {piece for row in await _links(engine, said) for piece in row}
        steps = await engine.history(said.pen.owner, WHOLE, said.record)
        assert all(step.record is None for step in steps[:-1])

    @pytest.mark.parametrize(
        "make", [Said.tea, Said.field], ids=["a memory", "an item of a profile"]
    )
    async def test_a_memory_is_forgotten_with_its_last_source_in_whatever_order_they_go(
        self, engine: Engine, make: object
    ) -> None:
        said = await make(Pen(engine), 14)  # type: ignore[operator] # one of two functions
        order = list(said.said)
        Random(3).shuffle(order)
        for count, message in enumerate(order[:-1], start=1):
            await said.pen.erase(message)
            assert await said.sources() == set(order[count:])
        assert (await said.pen.read(said.record)).unlisted == ()
        assert said.record in (await said.pen.erase(order[-1])).ids
        assert await said.pen.find(said.record) is None

    async def test_forgetting_the_conversation_forgets_what_all_its_messages_say(
        self, engine: Engine
    ) -> None:
        said = await Said.tea(Pen(engine), 30)
        receipt = await said.pen.erase(said.thread)
        assert said.record in receipt.ids
        assert receipt.removed["links"] >= 30
        assert await engine.unlisted(ANN, WHOLE, said.record) == []

    async def test_forgetting_most_of_the_messages_at_once_leaves_the_rest_as_sources(
        self, engine: Engine
    ) -> None:
        said = await Said.tea(Pen(engine), 30)
        await said.pen.erase(*said.said[:13], *said.said[15:])
        assert (await said.pen.read(said.record)).sources == tuple(said.said[13:15])
        assert await said.sources() == set(said.said[13:15])

    async def test_a_statement_stays_while_one_unlisted_source_bears_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, other = await pen.say(await pen.open(), "faulty", "sound")
        notes = [await pen.remember(f"note {n}", sources=(one,)) for n in range(12)]
        await pen.write(Confirm(notes[5], (other,)))
        sum_ = await pen.remember("all of them", sources=tuple(notes))
        assert notes[5] not in (await pen.read(sum_)).sources
        receipt = await pen.write(RetractSource(one, "a joke"))
        assert {ignored.id for ignored in receipt.ignored} == {notes[5], sum_}
        assert (await pen.read(sum_)).active

    async def test_a_statement_is_retracted_with_all_its_sources_listed_or_not(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        (one,) = await pen.say(await pen.open(), "faulty")
        notes = [await pen.remember(f"note {n}", sources=(one,)) for n in range(12)]
        sum_ = await pen.remember("all of them", sources=tuple(notes))
        assert (await pen.write(RetractSource(one, "a joke"))).ignored == ()
        assert (await pen.read(sum_)).status is MemoryStatus.RETRACTED

    async def test_what_rests_on_one_source_is_retracted_in_the_order_of_ids(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        (one,) = await pen.say(await pen.open(), "faulty")
        first, second = [await pen.remember(f"note {n}", sources=(one,)) for n in range(2)]
        third = await pen.remember("rests on the second", sources=(second,))
        fourth = await pen.remember("rests on the first", sources=(first,))
        receipt = await pen.write(RetractSource(one))
        assert receipt.ids() == (first, second, third, fourth)

    async def test_a_message_that_is_a_source_already_is_not_added_again(
        self, engine: Engine
    ) -> None:
        said = await Said.tea(Pen(engine), 20)
        before = await said.pen.read(said.record)
        await said.pen.write(Confirm(said.record, tuple(said.said[:12])))
        after = await said.pen.read(said.record)
        assert (after.sources, after.source_count) == (before.sources, 20)
        document = await Said.field(Pen(engine, BEN), 20)
        again = patched(document.said[9], {}, {"likes": ["tea"]})
        assert [one.code for one in (await document.pen.write(again)).ignored] == ["unchanged"]

    @pytest.mark.parametrize(
        "make", [Said.tea, Said.field], ids=["a memory", "an item of a profile"]
    )
    async def test_an_undone_confirmation_is_no_source_and_an_undone_undo_makes_it_one(
        self, engine: Engine, make: object
    ) -> None:
        said = await make(Pen(engine), 20)  # type: ignore[operator] # one of two functions
        undone = await said.pen.write(Undo(said.positions[-1]))
        assert await said.sources() == set(said.said[:-1])
        earlier = await said.pen.write(Undo(said.positions[4], with_dependents=True))
        assert await said.sources() == set(said.said[:4])
        await said.pen.write(Undo(earlier.position))
        assert await said.sources() == set(said.said[:-1])
        await said.pen.write(Undo(undone.position, with_dependents=True))
        assert await said.sources() == set(said.said)

    @pytest.mark.parametrize(
        "make", [Said.tea, Said.field], ids=["a memory", "an item of a profile"]
    )
    async def test_versions_go_with_a_source_that_only_an_undone_one_had(
        self, engine: Engine, make: object
    ) -> None:
        said = await make(Pen(engine), 24)  # type: ignore[operator] # one of two functions
        await said.pen.write(Undo(said.positions[12], with_dependents=True))
        lost = said.said[15]
        assert (await said.pen.erase(lost)).kept == (said.record,)
        assert await said.sources() == set(said.said[:12])
        assert str(lost) not in repr(await all_pieces(engine))
        with pytest.raises(InvalidInput, match="erasure"):
            await said.pen.write(Undo(said.positions[11], with_dependents=True))

    async def test_a_random_story_has_the_sources_that_a_whole_list_would_have(
        self, engine: Engine
    ) -> None:
        for seed in range(3):
            await _story(Pen(engine), Random(seed))

    async def test_the_sources_of_a_value_stay_small_however_often_it_changes(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        towns = await pen.say(thread, *(f"I moved {n}" for n in range(40)))
        receipt = await pen.write(patched(towns[0], {"town": "Rome"}))
        for number, message in enumerate(towns[1:]):
            await pen.write(patched(message, {"town": ["Bonn", "Rome"][number % 2]}))
        document = await pen.read(receipt.id)
        assert len(document.past) <= MOST_LISTED + 1 and document.grounds == {
            "town": ((towns[-1],),)
        }
        assert receipt.id in (await pen.erase(towns[7])).kept
        steps = await engine.history(pen.owner, WHOLE, receipt.id)
        assert all(step.record is None for step in steps[:-1])

    async def test_unlisted_sources_come_along_with_a_copy(
        self, engine: Engine, another: Engine
    ) -> None:
        said, field = await Said.tea(Pen(engine), 20), await Said.field(Pen(engine, BEN), 20)
        assert await arrived(engine, another)
        for _ in range(2):  # a second time nothing changes
            await lay_all(engine, another)
            assert await all_pieces(another) == await all_pieces(engine)
        await another.end_arrival(COPY)
        assert await said.sources(another) == set(said.said)
        assert await field.sources(another) == set(field.said)

    async def test_an_owner_that_was_exported_has_the_same_sources_where_it_is_imported(
        self, engine: Engine, another: Engine
    ) -> None:
        for make, owner in ((Said.tea, ANN), (Said.field, BEN)):
            said = await make(Pen(engine, owner), 20)
            assert await adopted(another, owner, await exported(engine, owner)) is not None
            assert await said.sources(another) == set(said.said)
            there = Pen(another, owner)
            there.now = said.pen.now
            await there.erase(*said.said[2:18])
            assert await said.sources(another) == {*said.said[:2], *said.said[18:]}
            await there.erase(*said.said[:2], *said.said[18:])
            assert await there.find(said.record) is None

    async def test_an_export_with_other_sources_than_a_record_counts_is_refused(
        self, engine: Engine, another: Engine
    ) -> None:
        said = await Said.tea(Pen(engine), 20)
        lines = await exported(engine, ANN)
        (line,) = (line for line in lines if "unlisted" in line)
        (sources,) = line["unlisted"].values()
        sources.pop()
        with pytest.raises(InvalidInput, match="not the sources that the record counts"):
            await adopted(another, ANN, lines)
        assert await said.sources() == set(said.said)

    async def test_an_imported_memory_has_no_source_that_was_forgotten_here(
        self, engine: Engine, another: Engine
    ) -> None:
        said = await Said.tea(Pen(engine), 20)
        memory = await said.pen.read(said.record)
        unlisted: dict[UUID, list[UUID]] = {}
        for group, source in await engine.unlisted(ANN, WHOLE, said.record):
            unlisted.setdefault(group, []).append(source)
        other = Pen(another)
        gone = [said.said[0], *next(iter(unlisted.values()))[2:5]]
        messages = await engine.get(ANN, WHOLE, gone)
        thread = (await engine.get(ANN, WHOLE, [said.thread]))[said.thread]
        await other.write(
            Import(thread), *(Import(one, packed("tea")) for one in messages.values())
        )
        await other.erase(*gone)
        await other.write(Import(memory, packed("likes tea"), unlisted=unlisted))
        assert await sources_of(another, other, said.record) == set(said.said) - set(gone)

    async def test_an_imported_record_that_names_anothers_unlisted_sources_leaves_them_alone(
        self, engine: Engine
    ) -> None:
        said, ben = await Said.tea(Pen(engine), 20), Pen(engine, BEN)
        memory = await said.pen.read(said.record)
        pairs = await engine.unlisted(ANN, WHOLE, said.record)
        group, shared = pairs[0][0], [source for _, source in pairs[-5:]]
        own = [*shared, new_id(), new_id()]
        theirs = memory.changed(
            id=new_id(), owner=BEN, unlisted=(Unlisted.of(group, own, memory.version),)
        )
        await ben.write(Import(theirs, packed("likes tea"), unlisted={group: own}))
        assert await said.sources() == set(said.said)
        assert await sources_of(engine, ben, theirs.id) == {*memory.sources, *own}
        page = SourcePage((pairs[0][1], *own))
        assert await engine.unlisted(ANN, WHOLE, said.record, page) == [pairs[0], *pairs[-5:]]
        assert await engine.unlisted(BEN, WHOLE, theirs.id, page) == [
            (group, id) for id in sorted(own)
        ]
        await said.pen.write(Undo(said.positions[-1]))
        assert await said.sources() == set(said.said[:-1])
        assert await sources_of(engine, ben, theirs.id) == {*memory.sources, *own}
        await said.pen.erase(pairs[0][1], shared[0])
        assert await said.sources() == set(said.said[:-1]) - {pairs[0][1], shared[0]}
        assert await sources_of(engine, ben, theirs.id) == {*memory.sources, *own} - {shared[0]}
        assert (await engine.verify()).faults == ()

    async def test_a_long_list_of_an_older_version_stays_until_the_memory_is_said_again(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        *said, last = await pen.say(await pen.open(), *(f"tea {n}" for n in range(31)))
        old = a_memory(ANN, "likes tea", sources=tuple(said))
        await pen.write(Import(old, packed("likes tea")))
        await pen.erase(said[4])
        assert (await pen.read(old.id)).sources == (*said[:4], *said[5:])
        again = await pen.write(Confirm(old.id, (last,)))
        assert (await pen.read(old.id)).sources == (*said[:4], *said[-3:], last)
        assert await sources_of(engine, pen, old.id) == {*said[:4], *said[5:], last}
        undone = await pen.write(Undo(again.position))
        assert (await pen.read(old.id)).sources == (*said[:4], *said[5:])
        await pen.write(Undo(undone.position))
        assert old.id in (await pen.erase(*said[:4], *said[5:])).kept
        assert (await pen.read(old.id)).sources == (last,)

    async def test_rebuilding_keeps_unlisted_sources(self, engine: Engine) -> None:
        said = await Said.tea(Pen(engine), 20)
        before = await _links(engine, said)
        await engine.rebuild()
        assert await _links(engine, said) == before
        assert await said.sources() == set(said.said)

    async def test_a_view_that_cannot_read_a_record_learns_nothing_of_its_sources(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a", audience=FOR_A)
        said = await pen.say(thread, *(f"tea {n}" for n in range(20)))
        memory = await pen.remember("likes tea", sources=said, agent="a", audience=FOR_A)
        assert len(await engine.unlisted(ANN, AT_A, memory)) == 12
        assert await engine.unlisted(ANN, AT_B, memory) == []
        assert await engine.unlisted(BEN, WHOLE, memory) == []
        assert await engine.unlisted(ANN, AT_B, memory, SourcePage(said)) == []

    async def test_no_memory_becomes_wider_than_a_source_that_it_does_not_list(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        said = await pen.say(await pen.open(), *(f"tea {n}" for n in range(20)))
        memory = await pen.remember("likes tea", sources=said, audience=FOR_A, agent="a")
        hidden = (await engine.unlisted(ANN, WHOLE, memory))[4][1]
        private = await pen.remember("private", audience=FOR_A, agent="a")
        await pen.write(Confirm(memory, (private, *await pen.say(await pen.open(), *("x",) * 6))))
        assert {hidden, private}.isdisjoint((await pen.read(memory)).sources)
        with pytest.raises(InvalidInput, match="wider than the audience of a source"):
            await pen.write(ChangeAudience(memory, EVERYONE))

    async def test_no_view_is_told_the_id_of_an_unlisted_source_that_it_may_not_see(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        notes = [await pen.remember(f"note {n}") for n in range(20)]
        sum_ = await pen.remember("all of them", sources=notes[:10])
        await pen.write(Confirm(sum_, tuple(notes[10:])))
        hidden = notes[12]
        assert hidden not in (await pen.read(sum_)).sources
        await pen.write(ChangeAudience(hidden, FOR_A))
        seen = await engine.unlisted(ANN, AT_B, sum_)
        assert [id for _, id in seen] == [
            id for _, id in await engine.unlisted(ANN, WHOLE, sum_) if id != hidden
        ]
        assert await engine.unlisted(ANN, AT_B, sum_, SourcePage(limit=11)) == seen
        steps = await engine.history(ANN, AT_B, sum_)
        shown = [await pen.find(sum_, AT_B), *(step.record for step in steps)]
        assert all(
            str(hidden) not in record.model_dump_json() for record in shown if record is not None
        )

    async def test_the_same_statement_is_not_formed_again_from_an_unlisted_source(
        self, engine: Engine
    ) -> None:
        said = await Said.tea(Pen(engine), 20)
        await said.pen.write(Retract(said.record))
        again = Remember(a_memory(ANN, "likes tea", sources=(said.said[9],)), packed("likes tea"))
        assert [one.code for one in (await said.pen.write(again)).ignored] == ["not_formed_again"]


async def _stored(engine: Engine, said: Said) -> int:
    """Return how many characters a book has of a record: its row, versions and links."""
    frame = await engine.owner_pieces(said.pen.owner)
    assert frame is not None
    (piece,) = (piece for piece in frame.records if piece.key == said.record.bytes)
    bodies = [piece.row[13], *(version.body for version in piece.earlier)]
    return sum(map(len, bodies)) + 32 * (len(piece.sources) + len(piece.unlisted))


async def _links(engine: Engine, said: Said) -> set[tuple[bytes, ...]]:
    whole = await engine.owner_pieces(said.pen.owner)
    assert whole is not None
    return {tuple(piece.sources) for piece in whole.records} | {
        p for r in whole.records for p in r.unlisted
    }


async def _story(pen: Pen, dice: Random) -> None:
    """Confirm, undo and forget at random, and compare the sources with a whole list after each
    step.
    """
    said = await Said.tea(pen, 6)
    expected = [*said.said]
    undoable: list[tuple[int, list[UUID]]] = []
    for _ in range(25):
        kind = dice.choice(["say", "say", "say", "undo", "forget"])
        if kind == "say":
            messages = await pen.say(said.thread, *("tea",) * dice.randint(1, 5))
            undoable.append(((await said.again(*messages)).position, expected))
            expected = [*expected, *messages]
        elif kind == "undo" and undoable:
            position, before = undoable.pop()
            receipt = await pen.write(Undo(position))
            if dice.random() < 0.5:
                await pen.write(Undo(receipt.position))
                undoable.clear()
            else:
                expected = before
        elif kind == "forget" and len(expected) > 2:
            gone = dice.sample(expected, dice.randint(1, 2))
            await pen.erase(*gone)
            expected = [id for id in expected if id not in gone]
            undoable.clear()
        assert await said.sources() == set(expected)
        assert (await pen.engine.verify()).faults == ()
