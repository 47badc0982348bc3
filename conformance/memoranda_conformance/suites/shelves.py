"""Tests of shelves (all passages of one owner with one audience), search terms, uses, and marks of
a copied book.
"""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import Conflict, InvalidInput, Moved, UnfinishedCopy
from memoranda.model.book_rows import Arrival, Departure
from memoranda.model.changes import (
    ChangeAudience,
    CloseThread,
    Confirm,
    JobDraft,
    OpenThread,
    PatchProfile,
    Retract,
    Undo,
)
from memoranda.model.language_models import Spent
from memoranda.model.ledger import Verb
from memoranda.model.messages import ThreadStatus
from memoranda.model.passages import Use
from memoranda.model.records import EVERYONE, WHOLE, Audience, View
from memoranda.model.values import micros, new_id
from memoranda.ports import Engine
from memoranda.text.terms import RULE
from memoranda_conformance.builders import (
    ANN,
    AT_A,
    AT_B,
    BEN,
    FOR_A,
    SMALL,
    START,
    Follower,
    Pen,
    a_thread,
    an_episode,
    packed,
)
from memoranda_conformance.suite import Suite
from memoranda_conformance.suites.copies import COPY, arrived, lay_all


class ShelfSuite(Suite):
    """Tests that an index which reads only the changes of shelves equals one that reads them
    whole.
    """

    async def test_a_new_reader_gets_the_whole_shelf_and_then_only_what_came(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said = await pen.say(thread, "tea", "cake")
        follower = Follower(engine)
        await follower.follow()
        assert follower.came == list(said)
        await follower.follow()
        assert (follower.came, follower.left) == ([], [])
        (third,) = await pen.say(thread, "thanks")
        await follower.follow()
        assert follower.came == [third]

    async def test_a_passage_tells_an_index_all_that_it_needs(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said = await pen.write(pen.saying(thread, "tea please"))
        episode = an_episode(pen.owner)
        await pen.write(CloseThread(thread, ThreadStatus.COMPLETED, None, episode, b""))
        memory = await pen.remember(
            "likes tea", kind="note", thread=thread, valid_from=START, observed_at=START
        )
        shelf = (await Follower(engine).follow())[EVERYONE]
        assert set(shelf) == {said.id, episode.id, memory}
        row = shelf[said.id]
        assert (row.type, row.kind, row.status, row.seq) == ("message", "user", None, 1)
        assert (row.thread, row.at, row.terms) == (
            thread.bytes,
            micros(START) + 1_000_000,
            packed("tea please"),
        )
        row = shelf[memory]
        assert (row.type, row.kind, row.status, row.valid_from, row.valid_to) == (
            "memory",
            "note",
            "active",
            micros(START),
            None,
        )
        assert (shelf[episode.id].type, shelf[episode.id].thread, shelf[episode.id].terms) == (
            "episode",
            thread.bytes,
            b"",
        )

    async def test_a_changed_passage_comes_again(self, engine: Engine) -> None:
        pen = Pen(engine)
        one, two = await pen.remember("one"), await pen.remember("two")
        follower = Follower(engine)
        await follower.follow()
        await pen.write(Retract(one))
        shelf = (await follower.follow())[EVERYONE]
        assert follower.came == [one]
        assert [shelf[id].status for id in (one, two)] == ["retracted", "active"]
        assert shelf[one].terms == packed("one")

    async def test_an_erased_passage_leaves(self, engine: Engine) -> None:
        pen = Pen(engine)
        one, two = await pen.remember("one"), await pen.remember("two")
        derived = await pen.remember("three", sources=(one, two))
        follower = Follower(engine)
        await follower.follow()
        await pen.erase(one)
        shelf = (await follower.follow())[EVERYONE]
        assert (follower.left, follower.came) == ([one], [derived])
        assert set(shelf) == {two, derived}
        await pen.erase_all()
        assert (await Follower(engine).follow()) == {}

    async def test_shelves_move_apart_and_what_is_no_passage_moves_none(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await pen.remember("open")
        await pen.remember("a's", agent="a")
        marks = await self._marks(pen)
        await pen.write(
            OpenThread(a_thread(pen.owner)), PatchProfile(new_id(), "Profile", EVERYONE, {"a": 1})
        )
        assert await self._marks(pen) == marks
        await pen.remember("a's", agent="a")
        moved = await self._marks(pen)
        assert moved[FOR_A] > marks[FOR_A]
        assert moved[EVERYONE] == marks[EVERYONE]
        await Pen(engine, BEN).remember("ben's")
        assert await self._marks(pen) == moved

    async def _marks(self, pen: Pen) -> dict[Audience, int]:
        found = await pen.engine.since(pen.owner, pen.view, lambda number: None)
        return {shelf.audience: delta.mark for shelf, delta in found}

    async def test_a_view_follows_the_shelves_that_it_sees(self, engine: Engine) -> None:
        pen = Pen(engine)
        groups = Audience.of_groups(["g1", "g2"])
        for audience in (EVERYONE, FOR_A, groups):
            await pen.remember("x", audience=audience)
        expected = {
            View(): {EVERYONE},
            AT_A: {EVERYONE, FOR_A},
            AT_B: {EVERYONE},
            View(agent="b", groups=("g2",)): {EVERYONE, groups},
            View(whole=True): {EVERYONE, FOR_A, groups},
        }
        for view, audiences in expected.items():
            assert set(await Follower(engine, pen.owner, view).follow()) == audiences
        assert await Follower(engine, BEN).follow() == {}

    async def test_all_shelves_are_of_one_owner_and_numbers_are_their_own(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        for each in (pen, other):
            await each.remember("x")
        (one, _), (two, _) = [
            (await engine.since(each.owner, each.view, lambda number: None))[0]
            for each in (pen, other)
        ]
        assert one.number != two.number
        await pen.erase_all()
        await pen.remember("y")
        (three, _) = (await engine.since(pen.owner, pen.view, lambda number: None))[0]
        assert three.number not in (one.number, two.number)

    async def test_terms_made_by_another_rule_are_found_and_made_anew(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        thread = await pen.open()
        (said,), memory = await pen.say(thread, "tea"), await other.remember("cake")
        follower = Follower(engine)
        await follower.follow()
        assert await engine.stale_terms(RULE, 10) == []
        assert {record.id for record in await engine.stale_terms(RULE + 1, 10)} == {said, memory}
        assert len(await engine.stale_terms(RULE + 1, 1)) == 1
        assert (
            await engine.put_terms(
                RULE + 1, {said: packed("green tea"), thread: b"", new_id(): b""}
            )
            == 1
        )
        assert {record.id for record in await engine.stale_terms(RULE + 1, 10)} == {memory}
        shelf = (await follower.follow())[EVERYONE]
        assert (follower.came, shelf[said].terms) == ([said], packed("green tea"))
        assert (await pen.read(said)).version == 1
        # An older program does not treat the terms of a newer rule as stale.
        assert (await engine.facts()).stale_terms == 0
        assert await engine.put_terms(RULE - 1, {memory: packed("cake")}) == 1
        assert (await engine.facts()).stale_terms == 1

    async def test_use_is_kept_beside_a_memory_without_a_version_or_an_entry(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        tea, cake = await pen.remember("tea"), await pen.remember("cake", agent="a")
        thread = await pen.open()
        once = Use(strength=0.5, used_at=START, count=3)
        follower = Follower(engine)
        await follower.follow()
        assert (
            await engine.note_use(
                pen.owner, AT_B, {tea: once, cake: once, thread: once, new_id(): once}
            )
            == 1
        )
        assert await engine.uses(pen.owner, pen.view, [tea, cake, new_id()]) == {tea: once}
        assert await engine.uses(pen.owner, AT_A, [tea]) == {tea: once}
        again = Use(strength=1.0, used_at=None, count=4)
        await engine.note_use(pen.owner, pen.view, {tea: again})
        assert await engine.uses(pen.owner, pen.view, [tea]) == {tea: again}
        assert (await pen.read(tea)).version == 1
        assert len(await pen.ledger()) == 3
        # An index that follows the shelf reads nothing again.
        await follower.follow()
        assert follower.came == []
        await pen.write(Confirm(tea))
        assert await engine.uses(pen.owner, pen.view, [tea]) == {tea: again}
        await pen.erase(tea)
        assert await engine.uses(pen.owner, pen.view, [tea]) == {}


class NarrowingSuite(Suite):
    """Tests that records derived from one memory lose readers together with it."""

    async def test_what_rests_on_a_statement_alone_is_narrowed_with_it_and_an_undo_brings_all_back(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        said, other = await pen.remember("sees a therapist"), await pen.remember("likes tea")
        drawn = await pen.remember("is stressed", sources=(said,))
        further = await pen.remember("needs rest", sources=(drawn,))
        own = await pen.remember("sleeps badly", sources=(said,), audience=FOR_A)
        mixed = await pen.remember("drinks tea against stress", sources=(said, other))
        narrowed = await pen.write(ChangeAudience(said, FOR_A))
        assert {item.id for item in narrowed.items} == {said, drawn, further}
        assert {item.verb for item in narrowed.items} == {Verb.SHARE}
        assert [(part.code, part.id) for part in narrowed.ignored] == [("grounded", mixed)]
        assert {one.id for one in await pen.scan(AT_B)} == {mixed, other}
        assert {one.id for one in await pen.scan(AT_A)} == {said, drawn, further, own, mixed, other}
        with pytest.raises(InvalidInput):
            await pen.write(ChangeAudience(drawn, EVERYONE))
        await pen.write(Undo(narrowed.position))
        assert {one.id for one in await pen.scan(AT_B)} == {said, drawn, further, mixed, other}
        assert (await pen.read(drawn)).audience == EVERYONE

    async def test_a_statement_is_not_narrowed_where_what_rests_on_it_cannot_be(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        said = await pen.remember("sees a therapist", key="health")
        profile = (
            await pen.write(
                PatchProfile(new_id(), "Health", EVERYONE, {"state": "ill"}, sources=(said,))
            )
        ).id
        drawn = await pen.remember("is stressed", sources=(said,))
        with pytest.raises(Conflict, match=f"profile {profile}"):
            await pen.write(ChangeAudience(said, FOR_A))
        assert {one.id for one in await pen.scan(AT_B)} == {said, profile, drawn}
        # A key that another statement has there, and another agent's conclusion, stop it as well.
        await pen.erase(profile)
        keyed = await pen.remember(
            "rests more", key="rest", sources=(said,), agent="a", audience=EVERYONE
        )
        await pen.remember("rests less", key="rest", agent="a", audience=FOR_A)
        with pytest.raises(Conflict, match=f"memory {keyed}"):
            await pen.write(ChangeAudience(said, FOR_A))
        ours = Pen(engine, view=AT_A)
        ours.now = pen.now
        mine = await ours.remember("plays chess", agent="a", audience=EVERYONE)
        theirs = await pen.remember("likes puzzles", agent="b", sources=(mine,), audience=EVERYONE)
        with pytest.raises(Conflict, match=f"memory {theirs}"):
            await ours.write(ChangeAudience(mine, FOR_A))
        ours.view = WHOLE
        await ours.write(ChangeAudience(mine, FOR_A))
        assert (await pen.read(theirs)).audience == FOR_A

    async def test_a_statement_that_gains_readers_leaves_what_rests_on_it(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        said = await pen.remember("likes tea", audience=FOR_A)
        drawn = await pen.remember("buys tea", sources=(said,))
        widened = await pen.write(ChangeAudience(said, EVERYONE))
        assert [item.id for item in widened.items] == [said]
        assert (await pen.read(drawn)).audience == FOR_A


class MarkSuite(Suite):
    """Tests of who may write a book that is marked as being copied or as a copy."""

    async def test_a_book_with_content_does_not_become_a_copy(
        self, engine: Engine, another: Engine
    ) -> None:
        await Pen(another).remember("here already")
        assert not await arrived(engine, another)
        assert (await another.whereabouts()).arrival is None
        await Pen(another).erase_all()
        assert not await arrived(engine, another)
        await Pen(another).remember("goes on")

    async def test_only_the_copy_that_began_last_writes(
        self, engine: Engine, another: Engine
    ) -> None:
        await Pen(engine).remember("tea")
        assert await arrived(engine, another)
        assert await arrived(engine, another, "the next copy")
        with pytest.raises(Conflict):
            await lay_all(engine, another)
        with pytest.raises(Conflict):
            await another.end_arrival(COPY)
        assert (await another.whereabouts()).arrival == Arrival("elsewhere", "the next copy")
        await another.end_arrival("the next copy")
        with pytest.raises(Conflict):
            await another.lay_book("the next copy", await engine.book_frame())

    async def test_a_copy_of_one_book_does_not_become_that_of_another(
        self, engine: Engine, another: Engine
    ) -> None:
        assert await arrived(engine, another)
        assert not await another.arrive(Arrival("a third", COPY), b"s" * 32)
        await another.end_arrival(COPY)

    async def test_nobody_else_writes_a_copy_that_is_being_made(
        self, engine: Engine, another: Engine
    ) -> None:
        await arrived(engine, another)
        for write in _writes(another):
            with pytest.raises(UnfinishedCopy, match="elsewhere"):
                await write()
        await another.end_arrival(COPY)
        await Pen(another).remember("a book")

    async def test_a_book_that_moves_is_written_no_more_and_says_where_it_is(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        for whole in (False, True):
            await engine.depart(
                Departure("there", whole), Departure("there", False) if whole else None
            )
            for write in _writes(engine):
                with pytest.raises(Moved, match="there") as refused:
                    await write()
                assert refused.value.address == "there"
            assert (await engine.whereabouts()).departure == Departure("there", whole)
        assert [record.id for record in await pen.scan()] == [memory]
        assert len(await pen.ledger()) == 1
        await engine.depart(None, Departure("there", True))
        await pen.remember("coffee")

    async def test_a_departure_is_changed_only_by_who_knows_which_one_stands(
        self, engine: Engine
    ) -> None:
        here = Departure("here", whole=False, copy="one")
        there = Departure("there", whole=False, copy="two")
        await engine.depart(here, None)
        for new, expected in (
            (there, None),
            (None, there),
            (here, None),
            (there, there._replace(copy="other")),
        ):
            with pytest.raises(Conflict, match="in the meantime"):
                await engine.depart(new, expected)
            assert (await engine.whereabouts()).departure == here
        await engine.depart(there, here)
        with pytest.raises(Conflict):
            await engine.depart(None, here)
        await engine.depart(None, there)
        await Pen(engine).remember("is written again")

    async def test_a_book_that_a_copy_made_whole_does_not_become_that_copy_again(
        self, engine: Engine, another: Engine
    ) -> None:
        assert await arrived(engine, another)
        await another.end_arrival(COPY)
        assert not await arrived(engine, another, "the next copy")
        await Pen(another).remember("a book, though it came empty")

    async def test_a_book_that_moves_does_not_become_a_copy(
        self, engine: Engine, another: Engine
    ) -> None:
        await another.depart(Departure("there", True), None)
        assert not await arrived(engine, another)

    async def test_a_book_knows_which_copy_made_it(self, engine: Engine, another: Engine) -> None:
        await Pen(engine).remember("tea")
        assert (await engine.whereabouts()).made_by is None
        assert await arrived(engine, another)
        await lay_all(engine, another)
        assert (await another.whereabouts()).made_by is None
        await another.end_arrival(COPY)
        assert (await another.whereabouts()).made_by == COPY
        await Pen(another).remember("is written like any other")
        await another.depart(Departure("there", True), None)
        assert (await another.whereabouts()).made_by == COPY


def _writes(engine: Engine) -> list[Any]:
    """Return calls that write a book, each in its own way."""
    pen = Pen(engine)
    return [
        lambda: pen.remember("late"),
        pen.erase_all,
        lambda: engine.put(JobDraft("form", "x"), START),
        lambda: engine.note_use(ANN, WHOLE, {new_id(): Use(strength=0.5, used_at=None, count=1)}),
        lambda: engine.begin_set(SMALL),
        lambda: engine.note_spent(
            Spent(tenant="default", day=START.date(), task="form", model="m")
        ),
        engine.rebuild,
    ]
