"""Tests of threads, messages and episodes; of batches that apply whole or not at all; and of
expected versions.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memoranda.errors import Conflict, InvalidInput, NotFound, Stale
from memoranda.model.changes import (
    Append,
    CloseThread,
    Expect,
    JobDraft,
    MarkFormed,
    OpenThread,
    RecordEpisode,
    SetThread,
    Undo,
)
from memoranda.model.messages import (
    Feedback,
    KeepTaskSummary,
    Outcome,
    PreparedEpisode,
    TaskSummary,
    ThreadStatus,
)
from memoranda.model.records import EVERYONE, Audience, RecordType, Trust, View
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import (
    AT_B,
    BEN,
    FOR_A,
    FOR_B,
    START,
    Follower,
    Pen,
    a_message,
    a_thread,
    an_episode,
    packed,
)
from memoranda_conformance.suite import Suite

MESSAGE = frozenset({RecordType.MESSAGE})


class ThreadSuite(Suite):
    """Tests of threads with their messages in order, episodes, batches, and expected versions."""

    async def test_a_formed_title_is_given_once_and_leaves_with_a_message_that_it_was_made_from(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        ids = await pen.say(thread, "a table for two", "tea", "rum")
        status = await pen.write(SetThread(thread, {"status": "paused"}))
        await pen.write(MarkFormed(thread, 2, 0, "A table"))
        await pen.write(MarkFormed(thread, 3, 2, "Rum"))
        titled = await pen.read(thread)
        assert (titled.title, titled.title_through, titled.formed_through) == ("A table", 2, 3)
        await pen.write(Undo(status.position))
        assert ((await pen.read(thread)).title, (await pen.read(thread)).status) == (
            "A table",
            "running",
        )
        await pen.erase(ids[2])
        assert (await pen.read(thread)).title == "A table"
        await pen.erase(ids[0])
        emptied = await pen.read(thread)
        assert (emptied.title, emptied.title_through) == ("", 0)
        # What somebody has set stays, whatever is forgotten.
        await pen.write(SetThread(thread, {"title": "Lunch"}))
        (last,) = await pen.say(thread, "ale")
        await pen.write(MarkFormed(thread, 4, 3, "Ale"))
        await pen.erase(last, ids[1])
        assert ((await pen.read(thread)).title, (await pen.read(thread)).title_through) == (
            "Lunch",
            0,
        )
        assert (await engine.verify()).faults == ()

    async def test_a_prepared_episode_is_replaced_with_each_mark_and_leaves_with_what_it_covers(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        renamed = await pen.write(SetThread(thread, {"status": "paused"}))
        ids = await pen.say(thread, "tea", "cake", "rum")
        tea = PreparedEpisode(goal="Tea", outcome=Outcome.SUCCEEDED, after=0, through=2)
        await pen.write(MarkFormed(thread, 2, 0, prepared=tea))
        await pen.erase(ids[2])
        await pen.write(Undo(renamed.position))
        assert (await pen.read(thread)).prepared == tea
        await pen.erase(ids[0])
        assert (await pen.read(thread)).prepared is None
        await pen.write(MarkFormed(thread, 3, 2, prepared=tea.model_copy(update={"through": 3})))
        await pen.say(thread, "ale")
        await pen.write(MarkFormed(thread, 4, 3))
        assert (await pen.read(thread)).prepared is None
        assert (await engine.verify()).faults == ()

    async def test_a_task_summary_is_stored_with_its_messages_only_and_leaves_with_any(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        status = await pen.write(SetThread(thread, {"status": "paused"}))
        ids = await pen.say(thread, "tea", "cake", "rum")
        told = TaskSummary(
            summary="They ate.", main_points=("Tea", "Cake"), takeaways=("Rum",), through=3
        )
        gone = await pen.write(
            KeepTaskSummary(thread, told.model_copy(update={"through": 2}), ids[:2])
        )
        assert [item.version for item in gone.items] == [3]
        await pen.write(KeepTaskSummary(thread, told, ids))
        late = await pen.write(
            KeepTaskSummary(thread, told.model_copy(update={"through": 1}), ids[:1])
        )
        assert [part.code for part in late.ignored] == ["unchanged"]
        await pen.write(Undo(status.position))
        assert (await pen.read(thread)).task_summary == told
        (last,) = await pen.say(thread, "ale")
        await pen.erase(last)
        assert (await pen.read(thread)).task_summary == told
        await pen.erase(ids[1])
        assert (await pen.read(thread)).task_summary is None
        with pytest.raises(NotFound):
            await pen.write(KeepTaskSummary(thread, told, ids))
        assert (await pen.read(thread)).task_summary is None

    async def test_messages_stand_in_the_order_in_which_they_were_said(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a", audience=FOR_A)
        first = await pen.say(thread, "good morning", "a table for two")
        second = await pen.say(thread, "certainly", role="assistant", agent="waiter")
        said = await pen.scan(thread=thread, types=MESSAGE)
        assert [message.id for message in said] == [*first, *second]
        assert [message.seq for message in said] == [1, 2, 3]
        assert {message.audience for message in said} == {FOR_A}
        assert [message.agent for message in said] == ["a", "a", "waiter"]

    async def test_a_message_comes_back_as_it_was_given(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        given = a_message(
            pen.owner,
            thread,
            "wie geht's? % _ ' \" \\ \u202e \U0001f600\n\tend",
            START - timedelta(days=400, microseconds=1),
            role="tool",
            speaker="O'Brien; DROP TABLE",
            trust=Trust.WEB,
            native={"calls": [{"name": "x", "nested": [1, 2.5, None, True, "é"]}]},
            observed_assumed=True,
            token_count=12,
            feedback=Feedback(rating=2, about=1),
        )
        receipt = await pen.write(Append(thread, (given,), (b"",)))
        assert await pen.read(given.id) == given.changed(seq=1, recorded_at=receipt.at)

    async def test_a_thread_can_be_opened_and_filled_in_one_batch(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = a_thread(pen.owner)
        receipt = await pen.write(
            OpenThread(thread), pen.saying(thread.id, "one"), pen.saying(thread.id, "two")
        )
        assert receipt.position == 1
        assert [message.content for message in await pen.scan(types=MESSAGE)] == ["one", "two"]
        assert [message.seq for message in await pen.scan(types=MESSAGE)] == [1, 2]

    async def test_places_are_never_given_out_again(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        ids = await pen.say(thread, "one", "two", "three")
        await pen.erase(*ids[1:])
        (four,) = await pen.say(thread, "four")
        assert (await pen.read(four)).seq == 4

    async def test_messages_cannot_be_slipped_into_another_thread_or_owner(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        mine, also, theirs = await pen.open(), await pen.open(), await other.open()
        stray = (a_message(BEN, theirs, "to ben"), a_message(pen.owner, also, "elsewhere"))
        await pen.write(Append(mine, stray, (packed("to ben"), packed("elsewhere"))))
        assert {message.content for message in await pen.scan(thread=mine, types=MESSAGE)} == {
            "to ben",
            "elsewhere",
        }
        assert {message.owner for message in await pen.scan(types=MESSAGE)} == {pen.owner}
        assert await other.scan(types=MESSAGE) == []
        with pytest.raises(NotFound):
            await pen.say(theirs, "hello")

    async def test_nothing_of_a_batch_is_kept_where_a_part_of_it_is_refused(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        before = await pen.remember("the first")
        follower = Follower(engine)
        await follower.follow()
        job = JobDraft("form", "later")
        with pytest.raises(NotFound):
            await pen.write(
                pen.remembering("the second", supersedes=(before,)),
                pen.saying(new_id(), "lost"),
                jobs=(job,),
            )
        assert [record.id for record in await pen.scan()] == [before]
        assert (await pen.read(before)).active
        assert len(await pen.ledger()) == 1
        assert await engine.jobs(None, 10) == []
        await follower.follow()
        assert follower.came == []

    async def test_an_id_is_given_to_one_record_only(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        thread, theirs = await pen.open(), await other.open()
        twice = a_message(pen.owner, thread, "twice")
        with pytest.raises(Conflict):
            await pen.write(Append(thread, (twice, twice), (b"", b"")))
        with pytest.raises(Conflict):
            await pen.write(pen.remembering("a thread's id", id=thread))
        with pytest.raises(Conflict):
            await pen.write(pen.remembering("another's id", id=theirs))
        assert [record.id for record in await pen.scan()] == [thread]
        assert [record.id for record in await other.scan()] == [theirs]

    async def test_a_stale_version_refuses_the_batch(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await pen.write(SetThread(thread, {"title": "lunch"}), expect=Expect(versions={thread: 1}))
        with pytest.raises(Stale):
            await pen.write(
                SetThread(thread, {"title": "dinner"}), expect=Expect(versions={thread: 1})
            )
        assert (await pen.read(thread)).title == "lunch"
        with pytest.raises(Stale):
            await pen.write(
                SetThread(thread, {"title": "dinner"}), expect=Expect(versions={new_id(): 1})
            )

    async def test_a_stale_last_message_refuses_the_batch(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await pen.write(pen.saying(thread, "one"), expect=Expect(last={thread: 0}))
        with pytest.raises(Stale):
            await pen.write(pen.saying(thread, "two"), expect=Expect(last={thread: 0}))
        await pen.write(pen.saying(thread, "two"), expect=Expect(last={thread: 1}))
        assert len(await pen.scan(types=MESSAGE)) == 2

    async def test_messages_and_state_are_stored_together_or_not_at_all(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread, other = await pen.open(), await pen.open()
        both = (pen.saying(thread, "one"), SetThread(thread, {"state": {"head": 1}}))
        await pen.write(*both, expect=Expect(versions={thread: 1, other: 1}, last={thread: 0}))
        later = (pen.saying(thread, "two"), SetThread(thread, {"state": {"head": 2}}))
        for stale in (
            Expect(versions={thread: 1}),
            Expect(versions={thread: 2, other: 2}),
            Expect(versions={thread: 2}, last={thread: 0}),
        ):
            with pytest.raises(Stale):
                await pen.write(*later, expect=stale)
        held = await pen.read(thread)
        assert (held.state, held.version) == ({"head": 1}, 2)
        assert len(await pen.scan(types=MESSAGE)) == 1

    async def test_an_expectation_tells_nothing_of_a_thread_that_the_view_does_not_see(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        hidden, theirs = await pen.open(agent="a", audience=FOR_A), await other.open()
        await pen.say(hidden, *"1234567")
        await other.say(theirs, *"1234567")
        told = set()
        for thread in (hidden, theirs, new_id()):
            for last in (7, 3):
                with pytest.raises(Stale) as refused:
                    await pen.write(
                        pen.remembering("x"), expect=Expect(last={thread: last}), view=AT_B
                    )
                told.add(str(refused.value).replace(str(thread), "it").replace(str(last), "n"))
        assert len(told) == 1

    async def test_one_stale_writer_of_sixteen_fails_alone(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        batches = [pen.batch(pen.saying(thread, f"number {number}")) for number in range(15)]
        batches.append(pen.batch(pen.saying(thread, "late"), expect=Expect(versions={thread: 7})))
        done = await asyncio.gather(*map(engine.apply, batches), return_exceptions=True)
        assert [type(each) for each in done if isinstance(each, BaseException)] == [Stale]
        assert len(await pen.scan(types=MESSAGE)) == 15

    async def test_sixteen_writers_on_one_owner_all_succeed(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()

        async def write(writer: int) -> None:
            for number in range(5):
                await engine.apply(pen.batch(pen.saying(thread, f"{writer} says {number}")))

        await asyncio.gather(*(write(writer) for writer in range(16)))
        assert sorted(message.seq for message in await pen.scan(types=MESSAGE)) == list(
            range(1, 81)
        )
        assert [entry.position for entry in await pen.ledger()] == list(range(1, 82))

    async def test_a_name_that_is_taken_means_the_thread_that_has_it(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        thread = await pen.open(name="order 7")
        again = await pen.write(OpenThread(a_thread(pen.owner, name="order 7")))
        assert [(part.code, part.id) for part in again.ignored] == [("present", thread)]
        assert again.items == ()
        assert await other.open(name="order 7") != thread
        twice = await pen.write(
            *(OpenThread(a_thread(pen.owner, name="order 8")) for _ in range(2))
        )
        assert [part.code for part in twice.ignored] == ["present"]
        assert len(twice.items) == 1

    async def test_each_audience_has_a_thread_of_its_own_under_one_name(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        groups = [Audience.of_groups(names) for names in (["g1"], ["g1", "g2"])]
        threads = {
            each: await pen.open(name="order 9", audience=each)
            for each in (EVERYONE, FOR_A, *groups)
        }
        assert len(set(threads.values())) == 4
        at_a = Pen(engine, view=View(agent="a", groups=("g1",)))
        for audience, thread in threads.items():
            # The view reads all the others of that name, too.
            again = await at_a.write(
                OpenThread(a_thread(pen.owner, name="order 9", audience=audience))
            )
            assert (again.items, [part.id for part in again.ignored]) == ((), [thread])
        assert (
            await Pen(engine, view=AT_B).open(name="order 9", audience=FOR_B)
            not in threads.values()
        )

    async def test_a_name_tells_nothing_of_an_unseen_thread_that_has_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        unseen = await pen.open(name="secret", agent="a", audience=FOR_A)
        receipt = await pen.write(OpenThread(a_thread(pen.owner, name="secret")), view=AT_B)
        assert receipt.ignored == ()
        assert receipt.id != unseen

    async def test_a_thread_goes_the_ways_that_its_status_allows(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(status=ThreadStatus.CREATED)
        with pytest.raises(Conflict):
            await pen.write(SetThread(thread, {"status": "paused"}))
        for status in ("running", "paused", "running", "completed"):
            await pen.write(SetThread(thread, {"status": status, "state": {"step": status}}))
        done = await pen.read(thread)
        assert (done.status, done.state, done.ended_at, done.version) == (
            "completed",
            {"step": "completed"},
            pen.now,
            5,
        )
        await pen.write(SetThread(thread, {"status": "running"}))
        assert (await pen.read(thread)).ended_at is None
        for fields in ({"status": "asleep"}, {"agent": "b"}, {"tags": [""]}):
            with pytest.raises(InvalidInput):
                await pen.write(SetThread(thread, fields))
        same = await pen.write(SetThread(thread, {"status": "running"}))
        assert [part.code for part in same.ignored] == ["unchanged"]

    async def test_a_thread_is_closed_with_its_episode_or_not_at_all(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a", audience=FOR_A)
        (said,) = await pen.say(thread, "from the web", role="tool", trust=Trust.WEB)
        wrong = an_episode(pen.owner, sources=(new_id(),))
        with pytest.raises(NotFound):
            await pen.write(CloseThread(thread, ThreadStatus.COMPLETED, None, wrong, b""))
        assert (await pen.read(thread)).status == "running"
        episode = an_episode(pen.owner, sources=(said,))
        await pen.write(CloseThread(thread, ThreadStatus.COMPLETED, {"table": 4}, episode, b""))
        closed, kept = await pen.read(thread), await pen.read(episode.id)
        assert (closed.status, closed.result) == ("completed", {"table": 4})
        assert (kept.thread, kept.agent, kept.audience, kept.trust) == (
            thread,
            "a",
            FOR_A,
            Trust.WEB,
        )

    async def test_an_episode_is_no_wider_than_what_it_rests_on(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a", audience=FOR_A)
        for audience in (EVERYONE, FOR_B):
            with pytest.raises(InvalidInput):
                await pen.write(RecordEpisode(an_episode(pen.owner, thread=thread), b"", audience))
        alone = an_episode(pen.owner, agent="b")
        await pen.write(RecordEpisode(alone, b""))
        assert (await pen.read(alone.id)).audience == FOR_B

    async def test_an_episode_cannot_be_changed(self, engine: Engine) -> None:
        pen = Pen(engine)
        episode = an_episode(pen.owner)
        await pen.write(RecordEpisode(episode, b""))
        with pytest.raises(Conflict):
            await pen.write(RecordEpisode(episode.changed(summary="else"), b""))
        for change in (SetThread(episode.id, {"title": "x"}), pen.saying(episode.id, "x")):
            with pytest.raises(NotFound):
                await pen.write(change)
        assert (await pen.read(episode.id)).version == 1
