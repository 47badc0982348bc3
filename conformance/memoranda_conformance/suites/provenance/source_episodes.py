"""Tests of ``source_episode``: a link that is no ground, and that ``retract_source`` of the episode
follows.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from memoranda.book.explanation import explain, with_source_episode
from memoranda.model.changes import MarkFormed, RecordEpisode, RetractSource, Undo
from memoranda.model.ledger import Receipt
from memoranda.model.messages import Episode
from memoranda.model.records import EVERYONE, WHOLE, View
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    FOR_A,
    FOR_B,
    START,
    Pen,
    adopted,
    an_episode,
    exported,
    packed,
)
from memoranda_conformance.suite import Suite


def recording(episode: Episode) -> RecordEpisode:
    """Return the change that stores an episode."""
    return RecordEpisode(episode, packed(episode.passage_text()))


async def recorded(pen: Pen, thread: UUID, *sources: UUID, **fields: object) -> UUID:
    """Store an episode of a thread and return its id."""
    return (
        await pen.write(
            recording(
                an_episode(pen.owner, "run", pen.now, thread=thread, sources=sources, **fields)
            )
        )
    ).id


async def link(pen: Pen, memory: UUID, view: View = WHOLE) -> UUID | None:
    """Return the episode that a view is shown for a memory."""
    found = await with_source_episode(pen.engine, pen.owner, view, await pen.read(memory))
    why = await explain(pen.engine, pen.owner, view, memory)
    shown: UUID | None = getattr(found, "source_episode", None)
    assert getattr(why.record, "source_episode", None) == shown
    return shown


def ignored(receipt: Receipt) -> list[tuple[str, UUID | None]]:
    """Return the codes and the ids of what a receipt ignored."""
    return [(part.code, part.id) for part in receipt.ignored]


class SourceEpisodeSuite(Suite):
    """Tests of the link from a memory to the episode of its thread."""

    async def test_a_memory_is_linked_whichever_commit_comes_later(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said = await pen.say(thread, "I like tea", "and cake")
        before = await pen.remember("likes tea", thread=thread, sources=said[:1])
        assert await link(pen, before) is None
        version, position = (await pen.read(before)).version, len(await pen.ledger())
        episode = await recorded(pen, thread, *said)
        after = await pen.remember("likes cake", thread=thread, sources=said[1:])
        assert [await link(pen, memory) for memory in (before, after)] == [episode, episode]
        # No commit of its own, and no new version of a memory.
        assert (len(await pen.ledger()), (await pen.read(before)).version) == (
            position + 2,
            version,
        )

    async def test_of_several_episodes_the_one_that_covers_the_sources_is_linked(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one = await pen.say(thread, "I like tea", "and cake")
        first = await recorded(pen, thread, *one)
        two = await pen.say(thread, "I live in Bonn", "in a flat", "with a cat")
        second = await recorded(pen, thread, *two)
        (later,) = await pen.say(thread, "I moved")
        cases = [
            (one[:1], first), (two[1:], second), ((one[0], *two[:2]), second), ((one[1], two[0]), first), ((later,), None),
        ]  # fmt: skip
        for number, (sources, expected) in enumerate(cases):
            memory = await pen.remember(f"statement {number}", thread=thread, sources=sources)
            assert await link(pen, memory) == expected, number
            alone = await pen.remember(f"statement {number} again", sources=sources)
            assert await link(pen, alone) == expected, number
        assert await link(pen, await pen.remember("elsewhere")) is None
        # An episode that comes later takes no link away.
        await recorded(pen, thread, *one)
        assert await link(pen, await pen.remember("likes tea", sources=one[:1])) == first

    async def test_without_sources_times_say_which_episode_covers_a_memory(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, "I like tea")
        hour = timedelta(hours=1)
        first = await recorded(pen, thread, started_at=START, ended_at=START + hour)
        second = await recorded(pen, thread, started_at=START + 2 * hour, ended_at=START + 3 * hour)
        for hours, expected in ((0, first), (1, first), (2, second), (9, second)):
            pen.now = START + hours * hour - timedelta(seconds=1) * (hours == 1)
            memory = await pen.remember(f"at {hours}", thread=thread)
            assert await link(pen, memory) == expected, hours
        pen.now = START + 10 * hour
        sourced = await pen.remember("likes tea", sources=(said,))
        assert await link(pen, sourced) == second

    async def test_an_episode_among_the_sources_is_linked(self, engine: Engine) -> None:
        pen = Pen(engine)
        episode = (await pen.write(recording(an_episode(ANN)))).id
        memory = await pen.remember("likes tea", sources=(episode,))
        assert await link(pen, memory) == episode

    async def test_a_view_is_shown_no_episode_that_it_may_not_see(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(audience=EVERYONE)
        (said,) = await pen.say(thread, "I like tea")
        memory = await pen.remember("likes tea", thread=thread, sources=(said,), audience=EVERYONE)
        for_b = RecordEpisode(an_episode(ANN, thread=thread, sources=(said,)), packed("run"), FOR_B)
        await pen.write(for_b)
        assert [await link(pen, memory, view) for view in (AT_A, AT_B)] == [None, for_b.episode.id]
        for_a = RecordEpisode(an_episode(ANN, thread=thread, sources=(said,)), packed("run"), FOR_A)
        await pen.write(for_a)
        assert await link(pen, memory, AT_A) == for_a.episode.id

    async def test_erasing_the_episode_clears_the_link_and_erasing_the_memory_leaves_the_episode(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said = await pen.say(thread, "I like tea", "and cake")
        memories = [
            await pen.remember(f"likes {said_}", thread=thread, sources=said)
            for said_ in ("tea", "cake")
        ]
        before = [await pen.read(memory) for memory in memories]
        episode = await recorded(pen, thread, *said)
        await pen.erase(memories[0])
        assert (await pen.read(episode)).id == episode
        assert await link(pen, memories[1]) == episode
        erased = await pen.erase(episode)
        assert erased.ids == (episode,) and erased.kept == ()
        assert await link(pen, memories[1]) is None
        assert await pen.read(memories[1]) == before[1]

    async def test_the_link_gives_neither_trust_nor_readers(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(audience=FOR_A)
        (said,) = await pen.say(thread, "I like tea", trust="user")
        await recorded(pen, thread, said, trust="web")
        memory = await pen.read(await pen.remember("likes tea", thread=thread, sources=(said,)))
        assert (memory.trust, memory.audience, memory.sources) == ("user", FOR_A, (said,))

    async def test_retracting_an_episode_retracts_the_memories_that_are_linked_to_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread, other = await pen.open(), await pen.open()
        said = await pen.say(thread, "I like tea", "and cake")
        (later,) = await pen.say(thread, "I moved")
        (elsewhere,) = await pen.say(other, "I like cake")
        await pen.write(MarkFormed(thread, 2))
        episode = await recorded(pen, thread, *said)
        tea = await pen.remember("likes tea", thread=thread, sources=said[:1])
        built = await pen.remember("brews well", sources=(tea,))
        cake = await pen.remember("likes cake", thread=thread, sources=(said[1], elsewhere))
        moved = await pen.remember("moved", thread=thread, sources=(later,))
        before = {record.id: record for record in await pen.scan()}
        entries = len(await pen.ledger())
        planned = await pen.write(RetractSource(episode, "a tool was broken"), dry_run=True)
        assert (planned.position, planned.dry_run, len(await pen.ledger())) == (0, True, entries)
        assert {record.id: record for record in await pen.scan()} == before
        done = await pen.write(RetractSource(episode, "a tool was broken"))
        assert [(item.id, item.verb, item.version) for item in planned.items] == [
            (item.id, item.verb, item.version) for item in done.items
        ]
        assert planned.ignored == done.ignored
        assert set(done.ids()) == {tea, built} and ignored(done) == [("grounded", cake)]
        assert [(await pen.read(id)).status for id in (tea, built, cake, moved)] == [
            "retracted", "retracted", "active", "active",
        ]  # fmt: skip
        await pen.write(Undo(done.position))
        for id in (tea, built, cake, moved):
            assert (await pen.read(id)).status == "active"
            assert await link(pen, id) == {tea: episode, cake: episode}.get(id)

    async def test_retracting_one_of_several_episodes_leaves_what_another_one_covers(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one = await pen.say(thread, "I like tea")
        first = await recorded(pen, thread, *one)
        two = await pen.say(thread, "I live in Bonn")
        second = await recorded(pen, thread, *two)
        tea = await pen.remember("likes tea", thread=thread, sources=one)
        home = await pen.remember("lives in Bonn", thread=thread, sources=two)
        both = await pen.remember("drinks tea in Bonn", thread=thread, sources=(*one, *two))
        done = await pen.write(RetractSource(second))
        assert done.ids() == (home,) and both not in done.ids()
        done = await pen.write(RetractSource(first))
        assert done.ids() == (tea,) and ignored(done) == [("grounded", both)]

    async def test_an_episode_of_a_whole_thread_takes_what_was_said_in_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said = await pen.say(thread, "I like tea")
        sourced = await pen.remember("likes tea", sources=said)
        inside = await pen.remember("is calm", thread=thread)
        outside = await pen.remember("is tall")
        episode = await recorded(pen, thread)
        assert [await link(pen, id) for id in (sourced, inside, outside)] == [
            episode,
            episode,
            None,
        ]
        assert set((await pen.write(RetractSource(episode))).ids()) == {sourced, inside}

    async def test_a_call_that_finds_nothing_to_retract_says_so(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        told, said = await pen.say(thread, "I tell you a story", "I like tea")
        episode = await recorded(pen, thread, told)
        for source in (said, episode):
            for dry_run in (True, False):
                receipt = await pen.write(RetractSource(source), dry_run=dry_run)
                assert (receipt.ids(), ignored(receipt)) == ((), [("not_a_source", source)])
                assert "nothing to retract" in receipt.ignored[0].reason
        await pen.remember("likes tea", sources=(said,))
        assert (await pen.write(RetractSource(said))).ids()
        assert ignored(await pen.write(RetractSource(said))) == [("not_a_source", said)]

    async def test_an_export_shows_the_link_and_an_import_finds_it_again(
        self, engine: Engine, another: Engine
    ) -> None:
        pen, there = Pen(engine), Pen(another)
        thread = await pen.open()
        said = await pen.say(thread, "I like tea", "and cake")
        tea = await pen.remember("likes tea", thread=thread, sources=said[:1])
        alone = await pen.remember("likes cake", sources=said[1:])
        other = await pen.remember("is tall")
        episode = await recorded(pen, thread, *said)
        lines = await exported(engine, ANN, private=True)
        shown = {
            line["record"]["id"]: line["record"].get("source_episode")
            for line in lines
            if line["line"] == "record"
        }
        assert [shown[str(id)] for id in (tea, alone, other)] == [str(episode), str(episode), None]
        await adopted(another, ANN, lines)
        assert [await link(there, id) for id in (tea, alone, other)] == [episode, episode, None]
        assert (await another.verify()).faults == ()
        again = await exported(another, ANN, private=True)
        assert [line["record"] for line in again if "record" in line] == [
            line["record"] for line in lines if "record" in line
        ]
