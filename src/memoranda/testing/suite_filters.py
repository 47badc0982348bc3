"""What passages are filtered by: who and what they are about, their tags and trust, and two kinds of time."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memoranda.model.changes import Amend, RecordEpisode, Retract, Undo
from memoranda.model.owner import EVERYONE, WHOLE
from memoranda.model.passages import PassageRow
from memoranda.model.query import Filter
from memoranda.model.trust import Limits, Trust
from memoranda.model.values import micros
from memoranda.ports import Engine
from memoranda.testing.builders import START, Follower, Pen, adopted, an_episode, exported
from memoranda.testing.suite import Suite

DAY = timedelta(days=1)


async def rows(pen: Pen) -> dict[UUID, PassageRow]:
    """The passages for everyone as an index gets them."""
    return (await Follower(pen.engine, pen.owner).follow())[EVERYONE]


async def found(pen: Pen, **conditions: Any) -> set[UUID]:
    """What a scan gives, and a count counts."""
    ids = {record.id for record in await pen.scan(**conditions)}
    assert await pen.engine.count(pen.owner, WHOLE, Filter(**conditions)) == len(ids)
    return ids


class FilterSuite(Suite):
    """What an index is told of a passage and what a scan filters by are the same."""

    async def test_of_memories_a_filter_takes_those_that_are_pinned(self, engine: Engine) -> None:
        pen = Pen(engine)
        pinned = await pen.remember("always so", pinned=True)
        await pen.remember("sometimes so")
        thread = await pen.open()
        assert await found(pen, pinned=True) == {pinned, thread}

    async def test_a_passage_tells_who_and_what_it_is_about(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="guide")
        (said,) = await pen.say(thread, "hello", speaker='Ann "B" \\ ☕', agent="guide", trust=Trust.TOOL)
        (bare,) = await pen.say(await pen.open(), "hello")
        memory = await pen.remember(
            "likes tea", key="drink", subject="Ann", tags=("a", "ü"), agent="guide", audience=EVERYONE
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
        limits = Limits(memories_per_owner=2, writes_per_run=100)
        await pen.write(pen.remembering("likes cake"), limits=limits)
        assert (await rows(pen))[gin].ended == micros(pen.now)

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
        gin = await pen.remember("likes gin", key="drink", subject="Ben", agent="a", audience=EVERYONE)
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
