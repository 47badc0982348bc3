"""Tests of sources: a derived record names its sources, and is erased when all of them are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from memoranda.errors import HasDependents, InvalidInput, NotAllowed, NotFound
from memoranda.model.changes import (
    AddExperience,
    Confirm,
    Import,
    MarkFormed,
    PatchProfile,
    Undo,
)
from memoranda.model.ledger import Actor, ErasureReceipt, Target, Verb
from memoranda.model.memories import MOST_QUOTES, Cited
from memoranda.model.messages import SummariseThread
from memoranda.model.profiles import Grounds, ProfileDocument
from memoranda.model.records import EVERYONE, WHOLE
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
    Follower,
    Pen,
    a_line,
    a_memory,
    a_message,
    an_episode,
    packed,
)
from memoranda_conformance.suite import Suite


def derived(
    sources: tuple[UUID, ...],
    fields: Mapping[str, Any] | None = None,
    again: Mapping[str, Any] | None = None,
) -> PatchProfile:
    """Return a change of the common profile that is derived from sources."""
    return PatchProfile(
        new_id(), "Profile", EVERYONE, fields or {}, sources=sources, again=again or {}
    )


def told(fields: Mapping[str, Any], *, pin: bool = False) -> PatchProfile:
    """Return a change of the common profile without sources, as a program or a person makes it."""
    return PatchProfile(new_id(), "Profile", EVERYONE, fields, pin=pin)


class GroundsSuite(Suite):
    """Tests that fields and items of profiles are erased with their sources, and no others are."""

    async def test_fields_and_items_go_when_all_that_they_rest_on_is_forgotten(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one, two, three = await pen.say(thread, "tea", "tea and cake", "Bonn")
        profile = (await pen.write(told({"plan": "free"}))).id
        await pen.write(derived((one,), {"likes": ["tea"], "town": "Rome"}))
        await pen.write(derived((two,), {"likes": ["tea", "cake"]}, {"likes": ["tea"]}))
        await pen.write(derived((three,), {"town": "Bonn"}))
        stands = await pen.read(profile)
        assert stands.grounds == {"likes": ((one, two), (two,)), "town": ((three,),)}
        assert set(stands.rests_on()) == {one, two, three}
        assert (await pen.erase(three)).kept == (profile,)
        assert (await pen.read(profile)).body == {"plan": "free", "likes": ["tea", "cake"]}
        await pen.erase(two)
        assert (await pen.read(profile)).body == {"plan": "free", "likes": ["tea"]}
        await pen.erase(thread)
        left = await pen.read(profile)
        assert (left.body, left.grounds, left.rests_on()) == ({"plan": "free"}, {}, ())

    async def test_earlier_versions_are_emptied_even_where_the_field_rests_on_something_else_by_now(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.say(await pen.open(), "I live in Rome", "I moved to Bonn")
        profile = (await pen.write(derived((one,), {"town": "Rome"}))).id
        moved = await pen.write(derived((two,), {"town": "Bonn"}))
        stands = await pen.read(profile)
        assert (stands.stands_on(), stands.past) == ((two,), (one,))
        await pen.erase(one)
        steps = await engine.history(pen.owner, WHOLE, profile)
        assert [(step.verb, step.record is None) for step in steps] == [
            (Verb.PATCH, True),
            (Verb.PATCH, True),
            (Verb.UNSOURCE, False),
        ]
        left = await pen.read(profile)
        assert (left.body, left.past) == ({"town": "Bonn"}, ())
        with pytest.raises(InvalidInput, match="erasure"):
            await pen.write(Undo(moved.position, with_dependents=True))

    async def test_what_an_undo_brought_back_goes_with_what_it_rests_on_and_so_does_what_it_took_away(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.say(await pen.open(), "I live in Rome", "I moved to Bonn")
        profile = (await pen.write(derived((one,), {"town": "Rome"}))).id
        moved = await pen.write(derived((two,), {"town": "Bonn"}))
        await pen.write(Undo(moved.position))
        stands = await pen.read(profile)
        assert (stands.body, stands.stands_on(), stands.past) == ({"town": "Rome"}, (one,), (two,))
        await pen.erase(two)
        steps = await engine.history(pen.owner, WHOLE, profile)
        assert [step.record for step in steps[:-1]] == [None, None, None]
        receipt = await pen.erase(one)
        assert profile in receipt.ids
        assert await engine.history(pen.owner, WHOLE, profile) == []

    async def test_a_document_of_which_nothing_is_left_goes_and_does_not_come_back(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        (said,) = await pen.say(await pen.open(), "I live in Rome")
        profile = (await pen.write(derived((said,), {"town": "Rome", "likes": []}))).id
        before = await pen.read(profile)
        assert profile in (await pen.erase(said)).ids
        assert (await pen.write(Import(before))).ignored[0].code == "erased"

    async def test_what_people_and_programs_set_stays_whatever_was_derived_from_it_or_says_it_too(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.say(await pen.open(), "tea", "again")
        profile = (await pen.write(told({"likes": ["tea"], "age": 7}))).id
        await pen.write(derived((one,), {"likes": ["tea", "rum"], "age": 7}, {"likes": ["tea"]}))
        await pen.write(derived((one,), {"town": "Rome"}))
        await pen.write(told({"town": "Rome"}, pin=True))
        await pen.write(derived((two,), {"likes": ["tea", "rum", "gin"]}))
        assert (await pen.read(profile)).grounds == {"likes": ((), (one,), (two,))}
        await pen.erase(one, two)
        assert (await pen.read(profile)).body == {"likes": ["tea"], "age": 7, "town": "Rome"}

    async def test_an_item_keeps_its_grounds_wherever_it_moves_and_an_object_those_of_its_parts(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.say(await pen.open(), "one", "two")
        profile = (
            await pen.write(derived((one,), {"likes": ["tea", "rum", "tea"], "home": {"a": 1}}))
        ).id
        await pen.write(derived((two,), {"likes": ["gin", "rum", "tea"], "home": {"a": 1, "b": 2}}))
        await pen.write(told({"likes": ["rum", "gin", "ale"]}))
        assert (await pen.read(profile)).grounds == {
            "likes": ((one,), (two,), ()),
            "home": ((one, two),),
        }
        await pen.erase(one)
        assert (await pen.read(profile)).body == {"likes": ["gin", "ale"], "home": {"a": 1, "b": 2}}

    async def test_grounds_alone_make_a_version_and_the_same_again_makes_none(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.say(await pen.open(), "tea", "tea")
        profile = (await pen.write(derived((one,), {"town": "Rome", "likes": ["tea"]}))).id
        again = derived((two,), {"town": "Rome"}, {"likes": ["tea", "rum"]})
        await pen.write(again)
        assert (await pen.read(profile)).grounds == {"town": ((one, two),), "likes": ((one, two),)}
        assert [part.code for part in (await pen.write(again)).ignored] == ["unchanged"]

    async def test_values_are_compared_as_json_compares_them(self, engine: Engine) -> None:
        pen = Pen(engine)
        profile = (await pen.write(told({"member": 1, "likes": [1, {"a": True}]}))).id
        assert (await pen.write(told({"member": 1.0}))).ignored[0].code == "unchanged"
        await pen.write(told({"member": True}))
        assert (await pen.read(profile)).body["member"] is True
        await pen.write(told({"likes": [1, {"a": 1}]}))
        assert (await pen.read(profile)).body["likes"][1]["a"] is not True

    async def test_a_profile_is_not_read_more_widely_than_what_it_rests_on(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        (said,) = await pen.say(await pen.open(agent="a", audience=FOR_A), "for a alone")
        (theirs,) = await other.say(await other.open(), "ben's")
        with pytest.raises(InvalidInput) as refused:
            await pen.write(derived((said,), {"town": "Rome"}))
        assert refused.value.field == "sources"
        for sources, view in (((said,), AT_B), ((theirs,), WHOLE), ((new_id(),), WHOLE)):
            with pytest.raises(NotFound):
                await pen.write(derived(sources, {"town": "Rome"}), view=view)
        assert [record for record in await pen.scan() if isinstance(record, ProfileDocument)] == []

    async def test_an_imported_document_comes_without_what_rested_on_what_was_erased_here(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.say(await pen.open(), "tea", "cake")
        await pen.erase(one)
        body = {"town": "Rome", "likes": ["tea", "cake"], "plan": "free"}
        grounds: dict[str, Grounds] = {"town": ((one,),), "likes": ((one,), (two,))}
        document = ProfileDocument(
            id=new_id(), owner=pen.owner, body=body, grounds=grounds, past=(one,)
        )
        await pen.write(Import(document))
        assert (await pen.read(document.id)).body == {"likes": ["cake"], "plan": "free"}
        lost = ProfileDocument(id=new_id(), owner=pen.owner, schema_name="Other", body={"town": "Rome"},
                               grounds={"town": ((one,),)})  # fmt: skip
        assert (await pen.write(Import(lost))).ignored[0].code == "sourceless"

    async def test_an_imported_line_comes_without_whom_was_forgotten_here_and_not_where_it_may_tell_of_them(
        self, engine: Engine
    ) -> None:
        ann, ben, pen = Pen(engine), Pen(engine, BEN), Pen(engine, GUIDE)
        said, gone = await ann.remember("likes it brief"), await ben.remember("likes it brief")
        await ben.erase_all()
        evidence = [(ANN, said), (BEN, gone)]
        line, telling = (
            a_line(GUIDE, "Be brief", evidence),
            a_line(GUIDE, "Ben", evidence, guarded=False),
        )
        codes = [left.code for left in (await pen.write(Import(line), Import(telling))).ignored]
        assert codes == ["sourceless"]
        assert [part.owner for part in (await pen.read(line.id)).evidence] == [ANN]

    async def test_an_imported_episode_does_not_tell_of_what_was_forgotten_here(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one, two = await pen.say(thread, "tea", "cake")
        await pen.erase(one)
        told, whole = (
            an_episode(ANN, "Lunch", thread=thread, sources=each) for each in ((one, two), (two,))
        )
        receipt = await pen.write(Import(told, b""), Import(whole, b""))
        assert [left.code for left in receipt.ignored] == ["sourceless"]
        assert (await pen.read(whole.id)).goal == "Lunch"

    async def test_what_a_profile_rests_on_is_not_undone_beneath_it(self, engine: Engine) -> None:
        pen = Pen(engine)
        made = await pen.write(pen.remembering("lives in Rome"))
        patched = await pen.write(derived(made.ids("memory"), {"town": "Rome"}))
        with pytest.raises(HasDependents) as refused:
            await pen.write(Undo(made.position))
        assert refused.value.positions == (patched.position,)

    async def test_a_quote_goes_with_its_message_and_so_do_the_versions_that_held_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two, three = await pen.say(await pen.open(), "I drink tea", "tea again", "always tea")
        quotes = (Cited(message=one, quote="I drink tea"),)
        memory = await pen.remember("likes tea", sources=(one,), quotes=quotes, language="en")
        said = (Cited(message=two, quote="tea again"), Cited(message=three, quote="of no source"))
        await pen.write(Confirm(memory, (two,), said))
        stands = await pen.read(memory)
        assert (stands.quotes, stands.language) == ((*quotes, said[0]), "en")
        await pen.erase(one)
        assert (await pen.read(memory)).quotes == said[:1]
        steps = await engine.history(pen.owner, WHOLE, memory)
        assert [step.record is None for step in steps] == [True, True, False]

    async def test_no_more_quotes_are_kept_than_there_is_room_for_and_none_twice(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        (said,) = await pen.say(await pen.open(), "I drink tea")
        memory = await pen.remember("likes tea", sources=(said,))
        quotes = tuple(
            Cited(message=said, quote=f"tea {place // 2}") for place in range(4 * MOST_QUOTES)
        )
        await pen.write(Confirm(memory, (said,), quotes))
        kept = [one.quote for one in (await pen.read(memory)).quotes]
        assert kept == [f"tea {place}" for place in range(MOST_QUOTES)]

    async def test_an_imported_statement_comes_without_the_words_of_what_was_erased_here(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.say(await pen.open(), "I drink tea", "tea again")
        await pen.erase(one)
        quotes = tuple(Cited(message=each, quote="tea") for each in (one, two))
        memory = a_memory(pen.owner, "likes tea", sources=(one, two), quotes=quotes)
        await pen.write(Import(memory, packed("likes tea")))
        stands = await pen.read(memory.id)
        assert (stands.sources, stands.quotes) == ((two,), quotes[1:])

    async def test_a_receipt_tells_an_agent_nothing_of_what_others_concluded_from_many_sources(
        self, engine: Engine
    ) -> None:
        at_a, at_b = Pen(engine, view=AT_A), Pen(engine, view=AT_B)
        thread = await at_a.open(audience=EVERYONE, agent="a")
        said = await at_a.say(thread, *(f"tea {number}" for number in range(12)), agent="a")
        own = await at_a.remember("likes tea", sources=said, agent="a", audience=FOR_A)
        theirs = await at_b.remember("drinks too much tea", sources=said, agent="b", audience=FOR_B)
        alone = await at_b.remember("has tea at noon", sources=said[5:6], agent="b", audience=FOR_B)
        # The first one is listed, and the other one is not.
        for gone, left in ((said[5], 11), (said[0], 10)):
            receipt = await at_a.erase(gone)
            assert set(receipt.kept) == {own, theirs} and (alone in receipt.ids) == (
                gone == said[5]
            )
            shown = receipt.as_seen()
            assert (shown.kept, shown.ids) == ((own,), (gone,))
            assert shown.removed["message"] == 1 and "memory" not in shown.removed
            for id in (own, theirs):
                memory = await Pen(engine).read(id)
                assert (memory.source_count, gone in memory.sources) == (left, False)

    async def test_fields_of_one_patch_leave_with_their_own_sources(self, engine: Engine) -> None:
        pen = Pen(engine)
        name, tea, both = await pen.say(await pen.open(), "I am Ann", "I like tea", "tea and cake")
        fields: dict[str, object] = {"name": "Ann", "likes": ["tea", "cake"]}
        grounds = {"name": ((name,),), "likes": ((tea, both), (both,))}
        patch = PatchProfile(
            new_id(), "Profile", EVERYONE, fields, sources=(name, tea, both), grounds=grounds
        )
        profile = (await pen.write(patch)).id
        assert (await pen.read(profile)).grounds == grounds
        await pen.erase(name)
        assert (await pen.read(profile)).body == {"likes": ["tea", "cake"]}
        await pen.erase(both)
        assert (await pen.read(profile)).body == {"likes": ["tea"]}


async def aged(pen: Pen, *ids: UUID) -> ErasureReceipt:
    """Delete messages because of their age, as retention does."""
    return await pen.engine.erase(
        Target(pen.owner, WHOLE, Actor("system"), ids, ageing=True), pen.tick()
    )


class AgeingSuite(Suite):
    """Tests that messages can be deleted because of their age, and that what was derived from them
    stays.
    """

    async def test_a_message_leaves_by_age_and_what_rests_on_it_stays_as_it_is(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one, two, three = await pen.say(thread, "I drink tea", "I live in Rome", "not formed yet")
        memory = await pen.remember(
            "likes tea", sources=(one,), quotes=(Cited(message=one, quote="I drink tea"),)
        )
        profile = (await pen.write(derived((two,), {"town": "Rome"}))).id
        await pen.write(MarkFormed(thread, 2), SummariseThread(thread, "They spoke of tea.", 2))
        stands = [await pen.read(id) for id in (thread, memory, profile)]
        follower = Follower(engine)
        await follower.follow()
        receipt = await aged(pen, one, two, three, memory, new_id())
        assert (set(receipt.ids), receipt.kept, receipt.repeated) == ({one, two}, (), ())
        assert (receipt.removed["message"], receipt.removed["terms"]) == (2, 2)
        assert [await pen.read(id) for id in (thread, memory, profile)] == stands
        assert [await pen.find(id) for id in (one, two)] == [None, None]
        assert (await follower.follow())[EVERYONE].keys() == {three, memory}
        last = (await pen.ledger())[-1]
        assert [(line.verb, line.id, line.erased) for line in last.lines] == [
            (Verb.AGE, one, True),
            (Verb.AGE, two, True),
        ]
        assert (await engine.verify()).faults == ()
        with pytest.raises(InvalidInput):
            await pen.write(Undo(last.position))
        assert (await pen.say(thread, "on it goes")) and (await pen.scan(thread=thread))[
            -1
        ].seq == 4

    async def test_what_rests_on_an_aged_message_goes_when_that_is_forgotten_by_its_id(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one, two = await pen.say(thread, "tea", "cake")
        quotes = tuple(Cited(message=id, quote="tea") for id in (one, two))
        memory = await pen.remember("likes tea", sources=(one, two), quotes=quotes)
        profile = (await pen.write(derived((one,), {"likes": ["tea"]}))).id
        await pen.write(MarkFormed(thread, 2))
        await aged(pen, one, two)
        receipt = await pen.erase(one)
        assert (receipt.repeated, receipt.kept, receipt.ids) == ((), (memory,), (profile,))
        assert (await pen.read(memory)).quotes == quotes[1:]
        said = a_message(pen.owner, thread, "tea", id=one, seq=1)
        assert (await pen.write(Import(said, packed("tea")))).ignored[0].code == "erased"
        assert memory in (await pen.erase(two)).ids
        assert (await engine.verify()).faults == ()

    async def test_a_thread_that_is_forgotten_takes_what_rests_on_messages_that_left_before(
        self, engine: Engine
    ) -> None:
        pen, guide = Pen(engine), Pen(engine, GUIDE)
        thread, other = await pen.open(), await pen.open()
        (one,), (two,) = await pen.say(thread, "tea"), await pen.say(other, "tea, too")
        alone = await pen.remember("likes tea", thread=thread, sources=(one,))
        both = await pen.remember("likes tea a lot", thread=other, sources=(one, two))
        line = a_line(GUIDE, "offer tea", [(pen.owner, one)])
        await guide.write(AddExperience(line))
        await pen.write(MarkFormed(thread, 1), MarkFormed(other, 1))
        await aged(pen, one, two)
        receipt = await pen.erase(thread)
        assert {alone, line.id, thread} == set(receipt.ids)
        assert (receipt.kept, (await pen.read(both)).sources) == ((both,), (two,))
        assert await guide.find(line.id) is None
        assert (await engine.verify()).faults == ()

    async def test_only_the_owners_whole_view_lets_messages_leave_by_age(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a", audience=FOR_A)
        (said,) = await pen.say(thread, "tea")
        await pen.write(MarkFormed(thread, 1))
        with pytest.raises(NotAllowed):
            await engine.erase(
                Target(pen.owner, AT_A, Actor("agent", "a"), (said,), ageing=True), pen.tick()
            )
        assert await pen.find(said) is not None
