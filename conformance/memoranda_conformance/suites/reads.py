"""Tests of reads: filters, pages, and returned values that callers cannot change."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda.book.input import Only, as_filter, as_types
from memoranda.book.nouns.admin import records_of_all
from memoranda.errors import InvalidInput
from memoranda.model.changes import (
    Amend,
    CloseThread,
    Import,
    PatchProfile,
    RecordEpisode,
    Retract,
    Undo,
)
from memoranda.model.ledger import Actor, Target
from memoranda.model.memories import Memory
from memoranda.model.messages import Outcome, ThreadStatus, ToolCall
from memoranda.model.passages import PassageRow
from memoranda.model.query import Filter, Scan
from memoranda.model.records import (
    DEFAULT_TENANT,
    EVERYONE,
    WHOLE,
    Limits,
    Owner,
    RecordType,
    Trust,
    View,
)
from memoranda.model.values import micros, new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    BEN,
    FOR_A,
    START,
    Follower,
    Pen,
    a_memory,
    adopted,
    an_episode,
    exported,
)
from memoranda_conformance.suite import Suite


class ReadingSuite(Suite):
    """Tests that reads return exactly what was asked for."""

    async def test_a_scan_finds_the_memories_that_cite_a_message(self, engine: Engine) -> None:
        pen, other = Pen(engine, ANN), Pen(engine, BEN)
        thread = await pen.open()
        said, heard, unused = await pen.say(thread, "First", "Second", "Third")
        both = await pen.remember("Cites both", sources=(said, heard))
        one = await pen.remember("Cites one", sources=(heard,), audience=FOR_A)
        await pen.remember("Cites nothing")
        await other.remember("Another owner's statement")

        async def found(*sources: UUID, view: View = WHOLE) -> set[UUID]:
            only = Filter(types=frozenset({RecordType.MEMORY}), sources=frozenset(sources))
            return {record.id for record in await engine.scan(ANN, view, only, None, 10)}

        assert await found(said) == {both} and await found(heard) == {both, one}
        assert await found(said, heard, unused) == {both, one}
        assert await found(unused) == await found(new_id()) == await found() == set()
        assert await found(heard, view=View(agent="b")) == await found(said, view=View(agent="b"))

    async def test_an_imported_source_of_another_owner_reads_like_one_that_never_was(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine, ANN), Pen(engine, BEN)
        (hidden,) = await pen.say(await pen.open(audience=FOR_A), "For one agent")
        (theirs,) = await other.say(await other.open(), "Another's")
        for source, seen in ((theirs, True), (new_id(), True), (hidden, False)):
            memory = a_memory(ANN, f"Rests on {source}", sources=(source,))
            await pen.write(Import(memory, b""))
            for view in (WHOLE, View(agent="b")):
                (read,) = (await engine.get(ANN, view, [memory.id])).values()
                shown = (source,) if seen or view is WHOLE else ()
                assert isinstance(read, Memory) and read.sources == shown, (source, view)

    async def test_an_operator_lists_the_records_of_all_owners_of_the_tenant(
        self, engine: Engine
    ) -> None:
        other = Owner(tenant="other", id="ann")
        owners = [Owner(id=name) for name in ("zoe", "ann", "ben", "cat")]
        threads: dict[Owner, list[UUID]] = {}
        for owner in [*owners, other]:
            pen = Pen(engine, owner)
            threads[owner] = [await pen.open(agent="guide", audience=FOR_A) for _ in range(3)]
            await pen.open(agent="coach")
            await pen.write(*(CloseThread(id, ThreadStatus.FAILED) for id in threads[owner]))
        chosen = Only(agent="guide", statuses="failed")
        only = as_filter(as_types("thread"), chosen)
        expected = [id for owner in sorted(owners, key=lambda one: one.id) for id in threads[owner]]
        for limit in (1, 2, 3, 4, 5, 100):
            found: list[UUID] = []
            cursor: str | None = None
            while True:
                page = await records_of_all(engine, DEFAULT_TENANT, only, cursor, limit)
                assert len(page) <= limit
                found += [record.id for record in page]
                cursor = page.cursor
                if cursor is None:
                    break
            assert found == expected
        # An owner who is forgotten between two pages is passed over.
        begun = await records_of_all(engine, DEFAULT_TENANT, only, None, 2)
        await engine.erase(Target(ANN, WHOLE, Actor("owner"), everything=True), START)
        rest = await records_of_all(engine, DEFAULT_TENANT, only, begun.cursor, 100)
        assert [record.id for record in rest] == expected[3:] and rest.cursor is None
        newest_first = as_filter(as_types("thread"), chosen, newest_first=True)
        newest = await records_of_all(engine, DEFAULT_TENANT, newest_first, None, 100)
        assert [record.owner.id for record in newest] == ["ben"] * 3 + ["cat"] * 3 + ["zoe"] * 3
        assert newest[0].id == threads[Owner(id="ben")][2]
        for wrong in ("x", "W10=", "e30=", "é"):
            with pytest.raises(InvalidInput):
                await records_of_all(engine, DEFAULT_TENANT, only, wrong, 100)

    async def test_outputs_of_tools_come_back_as_the_json_that_they_were(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        outputs: tuple[object, ...] = (None, "", "text", 5, 0.5, False, [], {"a": [1, {"é": None}]})
        calls = tuple(ToolCall(tool="look", output=output) for output in outputs)
        episode = an_episode(pen.owner, "", summary="Looked it up", tool_calls=calls)
        await pen.write(RecordEpisode(episode, b""))
        assert (await pen.read(episode.id)).tool_calls == calls

    async def test_a_record_meets_all_conditions_of_a_filter(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a")
        (user,), (agent,) = (
            await pen.say(thread, "tea"),
            await pen.say(thread, "sure", role="assistant"),
        )
        fact = await pen.remember("likes tea", thread=thread)
        old = await pen.remember("liked gin", kind="note", observed_at=START - timedelta(days=9))
        await pen.write(Retract(old))
        episode = an_episode(pen.owner, outcome=Outcome.FAILED)
        await pen.write(RecordEpisode(episode, b""))
        profile = (await pen.write(PatchProfile(new_id(), "Profile", EVERYONE, {"a": 1}))).id
        done = await pen.open(status=ThreadStatus.CREATED)
        await pen.write(CloseThread(done, ThreadStatus.FAILED))
        everything = {thread, user, agent, fact, old, episode.id, profile, done}
        memory, message = frozenset({RecordType.MEMORY}), frozenset({RecordType.MESSAGE})
        cases: list[tuple[dict[str, Any], set[UUID]]] = [
            ({}, everything),
            ({"types": memory}, {fact, old}),
            ({"types": memory | message}, {fact, old, user, agent}),
            ({"types": frozenset()}, set()),
            ({"kinds": frozenset({"user", "note"})}, {user, old}),
            ({"kinds": frozenset()}, set()),
            ({"kinds": frozenset({"failed"})}, {episode.id}),
            ({"statuses": frozenset({"failed"})}, {done}),
            ({"statuses": frozenset({"retracted"})}, {old}),
            ({"statuses": frozenset({"active", "running"})}, {fact, thread}),
            ({"thread": thread}, {thread, user, agent, fact}),
            ({"thread": thread, "types": message, "kinds": frozenset({"assistant"})}, {agent}),
            ({"thread": new_id()}, set()),
            ({"until": START}, {old}),
            ({"since": START, "types": memory}, {fact}),
            ({"since": START - timedelta(days=9), "until": START, "types": memory}, {old}),
            ({"since": START, "until": START}, set()),
            ({"slots": ()}, set()),
            ({"slots": (b"\x00" * 16,)}, set()),
        ]
        for conditions, expected in cases:
            assert {record.id for record in await pen.scan(**conditions)} == expected, conditions
            assert await engine.count(pen.owner, WHOLE, Filter(**conditions)) == len(expected), (
                conditions
            )

    async def test_pages_are_in_the_order_of_ids_and_join_without_gap_or_repetition(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread, private = await pen.open(), await pen.open(agent="a", audience=FOR_A)
        for number in range(4):
            await pen.say(thread, f"open {number}")
            await pen.say(private, f"private {number}")
        cases: list[tuple[dict[str, Any], int]] = [
            ({}, 10),
            ({"newest_first": True}, 10),
            ({"thread": thread}, 5),
            ({"thread": thread, "newest_first": True}, 5),
            ({"types": frozenset({RecordType.THREAD})}, 2),
        ]
        for conditions, length in cases:
            whole = [record.id for record in await pen.scan(**conditions)]
            assert whole == sorted(whole, reverse="newest_first" in conditions)
            assert len(whole) == length
            assert await self._in_pages(pen, conditions) == whole
        with pytest.raises(InvalidInput):
            await self._in_pages(pen, {}, "no cursor")

    async def _in_pages(
        self, pen: Pen, conditions: dict[str, Any], cursor: str | None = None
    ) -> list[UUID]:
        found: list[UUID] = []
        for _ in range(100):
            page = await pen.engine.scan(pen.owner, WHOLE, Filter(**conditions), cursor, 3)
            found += [record.id for record in page.records]
            cursor = page.cursor
            if cursor is None:
                return found
        raise AssertionError("the pages do not end")

    async def test_several_scans_give_what_each_gives_by_itself(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        thread, private = await pen.open(), await pen.open(agent="a", audience=FOR_A)
        for number in range(4):
            await pen.say(thread, f"said {number}")
            await pen.remember(f"known {number}", pinned=number % 2 == 0, thread=private)
            await other.remember(f"another's {number}")
        memories, messages = frozenset({RecordType.MEMORY}), frozenset({RecordType.MESSAGE})
        pinned = Filter(types=memories, pinned=True)
        asked = [
            Scan(pen.owner, WHOLE, Filter(), None, 3),
            Scan(pen.owner, View(agent="b"), Filter(newest_first=True), None, 100),
            Scan(other.owner, WHOLE, pinned, None, 100),
            Scan(pen.owner, WHOLE, pinned, None, 1),
            Scan(pen.owner, WHOLE, replace(pinned, newest_first=True), None, 100),
            Scan(pen.owner, WHOLE, replace(pinned, thread=private), None, 100),
            Scan(pen.owner, View(agent="a"), Filter(types=messages, thread=thread), "2", 100),
            Scan(pen.owner, View(agent="b"), pinned, None, 100),
        ]
        alone = [await engine.scan(*one) for one in asked]
        assert await engine.scans(asked) == alone
        assert [len(page.records) for page in alone] == [3, 5, 0, 1, 2, 2, 2, 0]
        (first,) = alone[3].records
        assert alone[3].cursor is not None and alone[4].records[-1] == first
        assert await engine.scans([]) == []

    async def test_records_come_in_the_order_that_they_are_asked_for_in(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        ids = [await pen.remember(str(number)) for number in range(5)]
        wanted = [ids[3], new_id(), ids[0], ids[3], ids[4]]
        assert list(await engine.get(pen.owner, WHOLE, wanted)) == [ids[3], ids[0], ids[4]]
        many = [new_id() for _ in range(1500)]
        assert list(await engine.get(pen.owner, WHOLE, [*many, ids[2]])) == [ids[2]]
        assert await engine.get(pen.owner, WHOLE, []) == {}

    async def test_what_a_caller_changes_afterwards_does_not_reach_the_book(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        data: dict[str, Any] = {"list": [1]}
        memory = await pen.remember("likes tea", data=data)
        profile = PatchProfile(new_id(), "Profile", EVERYONE, {"list": data["list"]})
        await pen.write(profile)
        data["list"].append(2)
        (await pen.read(memory)).data["list"].append(3)
        assert (await pen.read(memory)).data == {"list": [1]}
        assert (await pen.read(profile.id)).body == {"list": [1]}

    async def test_many_records_in_one_batch_are_all_there(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said = await pen.say(thread, *(f"message {number}" for number in range(1200)))
        assert [
            record.id for record in await pen.scan(types=frozenset({RecordType.MESSAGE}))
        ] == list(said)
        memory = await pen.remember("about all of it", sources=said)
        assert (await pen.read(memory)).source_count == len(said)
        receipt = await pen.erase(*said)
        assert (receipt.removed["message"], receipt.removed["memory"]) == (1200, 1)
        assert await engine.count(pen.owner, WHOLE, Filter()) == 1


DAY = timedelta(days=1)


async def rows(pen: Pen) -> dict[UUID, PassageRow]:
    """Return the passages for every agent, as recall's index gets them."""
    return (await Follower(pen.engine, pen.owner).follow())[EVERYONE]


async def found(pen: Pen, **conditions: Any) -> set[UUID]:
    """Return the ids that a scan finds; fail if ``count`` disagrees."""
    ids = {record.id for record in await pen.scan(**conditions)}
    assert await pen.engine.count(pen.owner, WHOLE, Filter(**conditions)) == len(ids)
    return ids


class FilterSuite(Suite):
    """Tests that recall's index and a scan filter passages by the same values."""

    async def test_of_memories_a_filter_takes_those_that_are_pinned(self, engine: Engine) -> None:
        pen = Pen(engine)
        pinned = await pen.remember("always so", pinned=True)
        await pen.remember("sometimes so")
        thread = await pen.open()
        assert await found(pen, pinned=True) == {pinned, thread}

    async def test_a_passage_tells_who_and_what_it_is_about(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="guide")
        (said,) = await pen.say(
            thread, "hello", speaker='Ann "B" \\ ☕', agent="guide", trust=Trust.TOOL
        )
        (bare,) = await pen.say(await pen.open(), "hello")
        memory = await pen.remember(
            "likes tea",
            key="drink",
            subject="Ann",
            tags=("a", "ü"),
            agent="guide",
            audience=EVERYONE,
        )
        episode = an_episode(pen.owner, tags=("b",))
        await pen.write(RecordEpisode(episode, b""))
        shelf = await rows(pen)
        assert [json.loads(shelf[id].facets) for id in (said, bare, memory, episode.id)] == [
            ['Ann "B" \\ ☕', "guide", None, None, "tool", []],
            [None, None, None, None, "user", []],
            [None, "guide", "drink", "Ann", "user", ["a", "ü"]],
            [None, None, None, None, "assistant", ["b"]],
        ]
        await pen.write(Amend(memory, {"tags": ("c",)}))
        assert json.loads((await rows(pen))[memory].facets)[5] == ["c"]

    async def test_a_passage_tells_when_it_was_learnt_and_when_it_ceased_to_be_held(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "tea")
        tea = await pen.remember("likes tea", key="drink")
        learnt = pen.now
        gin = await pen.remember("likes gin", key="drink")
        ended = pen.now
        # What is done to it afterwards moves neither.
        await pen.write(Amend(tea, {"pinned": True}))
        shelf = await rows(pen)
        assert (shelf[tea].learnt, shelf[tea].ended) == (micros(learnt), micros(ended))
        assert (shelf[gin].learnt, shelf[gin].ended) == (micros(ended), None)
        assert shelf[said].ended is None
        retracted = await pen.write(Retract(gin))
        assert (await rows(pen))[gin].ended == micros(pen.now)
        await pen.write(Undo(retracted.position))
        assert (await rows(pen))[gin].ended is None
        made = await pen.write(pen.remembering("likes rum"))
        learnt = pen.now
        unmade = await pen.write(Undo(made.position))
        assert (await rows(pen))[made.id].ended == micros(pen.now)
        await pen.write(Undo(unmade.position))
        shelf = await rows(pen)
        assert (shelf[made.id].learnt, shelf[made.id].ended) == (micros(learnt), None)
        limits = Limits(memories_per_owner=2, at_capacity="evict_oldest", writes_per_run=100)
        await pen.write(pen.remembering("likes cake"), limits=limits)
        # What makes room is still held.
        shelf = await rows(pen)
        assert (shelf[gin].status, shelf[gin].ended) == ("archived", None)

    async def test_rebuilding_and_adopting_keep_what_passages_tell(
        self, engine: Engine, another: Engine
    ) -> None:
        pen = Pen(engine)
        one, two = await pen.remember("one", tags=("a",)), await pen.remember("two", subject="Ann")
        both = await pen.remember("both", sources=(one, two), key="k")
        await pen.write(Amend(both, {"pinned": True}))
        await pen.write(Retract(two))
        # The first versions of what rested on it are emptied; when it was learnt stays known.
        await pen.erase(one)
        before = await rows(pen)
        await engine.rebuild()
        assert await rows(pen) == before
        lines = await exported(engine, pen.owner)
        await adopted(another, pen.owner, lines, lambda record: before[record.id].terms)
        assert await rows(Pen(another)) == before

    async def test_records_are_filtered_by_who_what_tags_and_trust(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a", tags=("trip",))
        (said,) = await pen.say(thread, "tea", agent="a", speaker="b")
        (web,) = await pen.say(thread, "page", role="tool", trust=Trust.WEB)
        tea = await pen.remember("likes tea", key="drink", subject="Ann", tags=("taste", "home"))
        gin = await pen.remember(
            "likes gin", key="drink", subject="Ben", agent="a", audience=EVERYONE
        )
        rum = await pen.remember("rum", key='it"s [2]', tags=("ta",), trust=Trust.TOOL)
        cases: list[tuple[dict[str, Any], set[UUID]]] = [
            ({"agent": "a"}, {thread, said, web, gin}),
            ({"agent": "b"}, set()),
            ({"keys": frozenset({"drink"})}, {tea, gin}),
            ({"keys": frozenset({'it"s [2]', "none"})}, {rum}),
            ({"keys": frozenset()}, set()),
            ({"subject": "Ann"}, {tea}),
            ({"subject": "ann"}, set()),
            ({"tags": frozenset({"taste", "trip"})}, {tea, thread}),
            ({"tags": frozenset({"ta"})}, {rum}),
            ({"tags": frozenset()}, set()),
            ({"trust": frozenset({"web", "tool"})}, {web, rum}),
            ({"trust": frozenset({"operator"})}, set()),
            ({"agent": "a", "keys": frozenset({"drink"}), "trust": frozenset({"user"})}, {gin}),
            ({"agent": "a", "thread": thread}, {thread, said, web}),
        ]
        for conditions, expected in cases:
            assert await found(pen, **conditions) == expected, conditions

    async def test_as_of_asks_what_was_true_then(self, engine: Engine) -> None:
        pen = Pen(engine)
        bonn = await pen.remember("lives in Bonn", key="town", valid_from=START - 900 * DAY)
        rome = await pen.remember("lives in Rome", key="town", valid_from=START - 300 * DAY)
        always = await pen.remember("was born in May")
        soon = await pen.remember("travels", valid_from=START + 9 * DAY, valid_to=START + 12 * DAY)
        wrong = await pen.remember("is a duke", valid_from=START - 900 * DAY)
        await pen.write(Retract(wrong))
        unsaid = await pen.write(pen.remembering("is a count"))
        await pen.write(Undo(unsaid.position))

        async def true_at(moment: datetime) -> set[UUID]:
            return await found(pen, as_of=moment) - {always}

        assert await true_at(START - 901 * DAY) == set()
        assert await true_at(START - 900 * DAY) == {bonn}
        assert await true_at(START - 301 * DAY) == {bonn}
        assert await true_at(START - 300 * DAY) == {rome}
        assert await true_at(START + 11 * DAY) == {rome, soon}
        assert await true_at(START + 12 * DAY) == {rome}
        assert always in await found(pen, as_of=START)
        assert await found(pen, as_of=START + 10 * DAY, valid_at=START - 301 * DAY) == {always}

    async def test_what_took_anothers_place_was_not_true_before(self, engine: Engine) -> None:
        pen = Pen(engine)
        bonn = await pen.remember("lives in Bonn", key="town", observed_at=START - 9 * DAY)
        rome = await pen.remember("lives in Rome", key="town", observed_at=START - 3 * DAY)
        assert await found(pen, as_of=START - 8 * DAY) == {bonn}
        assert await found(pen, as_of=START - 3 * DAY) == {rome}
        assert await found(pen, valid_at=START - 8 * DAY) == {bonn}

    async def test_known_at_asks_what_the_book_knew_then(self, engine: Engine) -> None:
        pen = Pen(engine)
        before = pen.now
        thread = await pen.open()
        (said,) = await pen.say(thread, "I moved", observed_at=START - 500 * DAY)
        early = pen.now
        bonn = await pen.remember("lives in Bonn", key="town")
        wrong = await pen.remember("is a duke")
        known = pen.now
        rome = await pen.remember("lives in Rome", key="town", valid_from=START - 300 * DAY)
        await pen.write(Retract(wrong))
        told = {thread, said}
        assert await found(pen, known_at=before) == set()
        assert await found(pen, known_at=early) == told
        assert await found(pen, known_at=known) == {*told, bonn, wrong}
        assert await found(pen, known_at=pen.now) == {*told, rome}
        # What the book held then of what is true now.
        assert await found(pen, known_at=known, as_of=pen.now) == told
        assert await found(pen, known_at=known, as_of=START - 301 * DAY) == {*told, bonn}
