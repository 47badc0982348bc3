"""Reads: filters, pages, and returned values that nobody can change from outside."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda.errors import InvalidInput
from memoranda.model.changes import CloseThread, PatchProfile, RecordEpisode, Retract
from memoranda.model.episodes import Outcome
from memoranda.model.ids import new_id
from memoranda.model.messages import ThreadStatus
from memoranda.model.owner import EVERYONE, WHOLE, View
from memoranda.model.query import Filter
from memoranda.model.records import RecordType
from memoranda.ports import Engine, Scan
from memoranda.testing.builders import BEN, FOR_A, START, Pen, an_episode
from memoranda.testing.suite import Suite


class ReadingSuite(Suite):
    """Tests that reads return exactly what was asked for."""

    async def test_a_record_meets_all_conditions_of_a_filter(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a")
        (user,), (agent,) = await pen.say(thread, "tea"), await pen.say(thread, "sure", role="assistant")
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
            assert await engine.count(pen.owner, WHOLE, Filter(**conditions)) == len(expected), conditions

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

    async def _in_pages(self, pen: Pen, conditions: dict[str, Any], cursor: str | None = None) -> list[UUID]:
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

    async def test_records_come_in_the_order_that_they_are_asked_for_in(self, engine: Engine) -> None:
        pen = Pen(engine)
        ids = [await pen.remember(str(number)) for number in range(5)]
        wanted = [ids[3], new_id(), ids[0], ids[3], ids[4]]
        assert list(await engine.get(pen.owner, WHOLE, wanted)) == [ids[3], ids[0], ids[4]]
        many = [new_id() for _ in range(1500)]
        assert list(await engine.get(pen.owner, WHOLE, [*many, ids[2]])) == [ids[2]]
        assert await engine.get(pen.owner, WHOLE, []) == {}

    async def test_what_a_caller_changes_afterwards_does_not_reach_the_book(self, engine: Engine) -> None:
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
        assert [record.id for record in await pen.scan(types=frozenset({RecordType.MESSAGE}))] == list(said)
        memory = await pen.remember("about all of it", sources=said)
        assert (await pen.read(memory)).sources == said
        receipt = await pen.erase(*said)
        assert (receipt.removed["message"], receipt.removed["memory"]) == (1200, 1)
        assert await engine.count(pen.owner, WHOLE, Filter()) == 1
