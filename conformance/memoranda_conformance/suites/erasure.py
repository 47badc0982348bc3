"""Tests of erasure: forgotten records are removed everywhere, with all that is derived from them
alone.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from memoranda.errors import Erased, LimitReached, NotAllowed, NotFound, Stale
from memoranda.model.changes import (
    AddExperience,
    CloseThread,
    Confirm,
    Import,
    PatchProfile,
    PutNamed,
    Retract,
    Undo,
)
from memoranda.model.ledger import Actor, Target, Verb
from memoranda.model.messages import SummariseThread, ThreadStatus
from memoranda.model.profiles import Key
from memoranda.model.records import EVERYONE, WHOLE, Limits, Owner, OwnerKind, View
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
    START,
    Follower,
    Pen,
    a_line,
    a_memory,
    an_episode,
    packed,
)
from memoranda_conformance.suite import Suite


class ErasureSuite(Suite):
    """Tests that erasing a record also erases what is derived from it alone."""

    async def test_a_statement_that_rests_on_it_alone_goes_with_a_message(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        tea, cake = await pen.say(thread, "tea", "cake")
        likes = await pen.remember("likes tea", sources=(tea,))
        buy = await pen.remember("buy tea", sources=(likes,))
        other = await pen.remember("likes cake", sources=(cake,))
        receipt = await pen.erase(tea)
        assert {record.id for record in await pen.scan()} == {thread, cake, other}
        assert {place: receipt.removed[place] for place in ("message", "memory", "terms")} == {
            "message": 1,
            "memory": 2,
            "terms": 3,
        }
        assert (receipt.kept, receipt.repeated, receipt.owner, receipt.at) == (
            (),
            (),
            pen.owner,
            pen.now,
        )
        for id in (tea, likes, buy):
            assert await engine.history(pen.owner, WHOLE, id) == []

    async def test_a_statement_with_other_sources_stays_without_the_forgotten_one(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        one, two = await pen.say(thread, "tea", "tea again")
        memory = await pen.remember("likes tea", sources=(one, two), tags=("canary",))
        await pen.write(Confirm(memory))
        follower = Follower(engine)
        await follower.follow()
        receipt = await pen.erase(one)
        kept = await pen.read(memory)
        assert receipt.kept == (memory,)
        assert (kept.sources, kept.version, kept.content) == ((two,), 3, "likes tea")
        assert [
            (step.verb, step.record) for step in await engine.history(pen.owner, WHOLE, memory)
        ] == [
            (Verb.REMEMBER, None),
            (Verb.CONFIRM, None),
            (Verb.UNSOURCE, kept),
        ]
        assert (await follower.follow())[EVERYONE].keys() == {two, memory}
        await pen.erase(two)
        assert await pen.find(memory) is None

    async def test_a_thread_takes_its_messages_and_episodes_and_what_rests_on_them_alone(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread, other = await pen.open(), await pen.open()
        said, elsewhere = await pen.say(thread, "tea", "cake"), await pen.say(other, "tea")
        episode = an_episode(pen.owner, sources=(said[0], elsewhere[0]))
        await pen.write(CloseThread(thread, ThreadStatus.COMPLETED, None, episode, b""))
        told = await pen.remember("told in it", thread=thread)
        derived = await pen.remember("rests on it", sources=(said[1],))
        mixed = await pen.remember("rests on both", thread=thread, sources=(said[0], elsewhere[0]))
        outside = await pen.remember("rests elsewhere", thread=thread, sources=elsewhere)
        receipt = await pen.erase(thread)
        assert {record.id for record in await pen.scan()} == {other, *elsewhere, mixed, outside}
        assert set(receipt.kept) == {mixed, outside}
        for id in (mixed, outside):
            assert ((await pen.read(id)).sources, (await pen.read(id)).thread) == (elsewhere, None)
        assert [await pen.find(id) for id in (thread, *said, episode.id, told, derived)] == [
            None
        ] * 6
        with pytest.raises(NotFound):
            await pen.say(thread, "more")

    async def test_what_rests_on_a_key_goes_with_the_owner_whom_it_opened(
        self, engine: Engine
    ) -> None:
        pen, tenant = Pen(engine), Pen(engine, Owner(kind=OwnerKind.TENANT, id="default"))
        await pen.remember("likes tea")
        key = Key(id=new_id(), owner=tenant.owner, name="web", digest="0" * 64, opens=ANN)
        await tenant.write(PutNamed(key))
        told = await tenant.remember("the web has a key", sources=(key.id,))
        other = await tenant.remember("the web is slow")
        receipt = await pen.erase_all()
        assert {key.id, told} <= set(receipt.ids)
        assert [await tenant.find(id) for id in (key.id, told)] == [None, None]
        assert await tenant.find(other) is not None

    async def test_what_went_with_another_owner_counts_no_more(self, engine: Engine) -> None:
        pen, other = (
            Pen(engine),
            Pen(engine, BEN, limits=Limits(memories_per_owner=1, at_capacity="reject")),
        )
        told = await pen.remember("likes tea")
        heard = await other.write(
            Import(a_memory(BEN, "ann likes tea", sources=(told,)), packed("tea"))
        )
        await pen.erase_all()
        assert await other.find(heard.id) is None
        await other.remember("likes cake")
        with pytest.raises(LimitReached):
            await other.remember("likes bread")

    async def test_what_a_forgotten_statement_had_superseded_is_named_and_stays(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        old = await pen.remember("likes tea", key="drink")
        new = await pen.remember("likes gin", key="drink")
        receipt = await pen.erase(new)
        assert receipt.superseded == (old,)
        assert (await pen.read(old)).status == "superseded"
        assert (await pen.read(await pen.remember("likes rum", key="drink"))).supersedes == ()

    async def test_what_is_not_there_for_this_view_is_refused_and_nothing_is_forgotten(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        theirs, hidden, nowhere = (
            await other.remember("ben's"),
            await pen.remember("a's", agent="a"),
            new_id(),
        )
        own = await pen.remember("b's", agent="b", audience=EVERYONE)
        ledgers = (len(await pen.ledger()), len(await other.ledger()))
        for id in (theirs, hidden, nowhere):
            with pytest.raises(NotFound, match=str(id)):
                await pen.erase(own, id, view=AT_B)
        assert (await other.read(theirs)).active
        assert [(await pen.read(id)).active for id in (hidden, own)] == [True, True]
        assert (len(await pen.ledger()), len(await other.ledger())) == ledgers
        nobody = Pen(engine, Owner(id="nobody"))
        with pytest.raises(NotFound):
            await nobody.erase(theirs)
        assert await nobody.ledger() == []

    async def test_what_was_forgotten_before_is_named_to_any_view_of_its_owner_and_to_no_other(
        self, engine: Engine
    ) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        await other.remember("ben's")
        thread = await pen.open(audience=FOR_A)
        (said,) = await pen.say(thread, "tea", audience=FOR_A)
        derived = await pen.remember("likes tea", sources=(said,), agent="a")
        stays = await pen.remember("b's", agent="b", audience=EVERYONE)
        await pen.erase(said)
        for view in (WHOLE, AT_A, AT_B, View()):
            again = await pen.erase(said, derived, said, view=view)
            assert (again.repeated, again.ids, dict(again.removed)) == ((said, derived), (), {})
        with pytest.raises(NotFound):
            await other.erase(said)
        last = await pen.erase(said, stays, view=AT_B)
        assert (last.repeated, last.ids) == ((said,), (stays,))
        await pen.erase_all()
        with pytest.raises(NotFound):
            await pen.erase(said)
        await pen.remember("starts again")
        with pytest.raises(NotFound):
            await pen.erase(said)

    async def test_an_agent_forgets_for_good_only_what_is_its_own(self, engine: Engine) -> None:
        pen = Pen(engine)
        own, others = (
            await pen.remember("a's", agent="a", audience=EVERYONE),
            await pen.remember("b's", agent="b", audience=EVERYONE),
        )
        nobodys = await pen.remember("nobody's")
        for ids in ((others,), (nobodys,), (own, others)):
            with pytest.raises(NotAllowed):
                await pen.erase(*ids, view=AT_A)
        with pytest.raises(NotAllowed):
            await pen.erase(own, view=View())
        await pen.erase(own, view=AT_A)
        assert {record.id for record in await pen.scan()} == {others, nobodys}
        with pytest.raises(NotAllowed):
            await engine.erase(
                Target(pen.owner, AT_A, Actor("agent", "a"), everything=True), pen.tick()
            )
        assert len(await pen.scan()) == 2

    async def test_an_erased_id_is_recognised_and_does_not_come_back(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        (line,) = (await pen.ledger())[0].lines
        assert line.hash is not None
        await pen.erase(memory)
        first, last = await pen.ledger()
        assert [(line.hash, line.erased, line.id) for line in first.lines] == [(None, True, memory)]
        assert [(line.verb, line.hash, line.id) for line in last.lines] == [
            (Verb.ERASE, None, memory)
        ]
        assert [(entry.actor.kind, entry.actor.id) for entry in (first, last)] == [
            ("application", "the suite"),
            ("owner", "ann"),
        ]
        with pytest.raises(Erased):
            await pen.write(Undo(1))

    async def test_a_line_of_experience_loses_the_evidence_that_was_forgotten(
        self, engine: Engine
    ) -> None:
        guide, ann, ben = Pen(engine, GUIDE), Pen(engine), Pen(engine, BEN)
        hers, his = await ann.remember("ann's"), await ben.remember("ben's")
        both = a_line(GUIDE, "ask for the date", [(ann.owner, hers), (ben.owner, his)])
        only = a_line(GUIDE, "ann likes tea", [(ann.owner, hers)])
        free = a_line(GUIDE, "be kind")
        await guide.write(*map(AddExperience, (both, only, free)))
        receipt = await ann.erase(hers)
        assert receipt.kept == (both.id,)
        assert [part.owner for part in (await guide.read(both.id)).evidence] == [ben.owner]
        assert await guide.find(only.id) is None
        assert (await guide.read(free.id)).version == 1
        assert [[line.verb for line in entry.lines] for entry in await guide.ledger()] == [
            [Verb.ADD, Verb.ADD, Verb.ADD],
            [Verb.UNSOURCE],
        ]
        assert [line.erased for line in (await guide.ledger())[0].lines] == [False, True, False]
        await ben.erase_all()
        assert {record.id for record in await guide.scan()} == {free.id}

    async def test_a_line_goes_with_whom_it_may_tell_of_unless_it_was_approved(
        self, engine: Engine
    ) -> None:
        guide, ann, ben = Pen(engine, GUIDE), Pen(engine), Pen(engine, BEN)
        hers, his = await ann.remember("ann's"), await ben.remember("ben's")
        more = await ann.remember("ann's, too")
        evidence = [(ann.owner, hers), (ben.owner, his)]
        telling = a_line(GUIDE, "ann likes tea", evidence, guarded=False)
        read = a_line(GUIDE, "people like tea", evidence, guarded=False, approved_at=START)
        kept = a_line(GUIDE, "tea is liked", [(ann.owner, hers), (ben.owner, his)], guarded=False)
        kept = kept.changed(
            evidence=(
                kept.evidence[0].model_copy(update={"sources": (hers, more)}),
                kept.evidence[1],
            )
        )
        await guide.write(*map(AddExperience, (telling, read, kept)))
        await ann.erase(hers)
        assert await guide.find(telling.id) is None
        assert [part.owner for part in (await guide.read(read.id)).evidence] == [ben.owner]
        assert (await guide.read(kept.id)).evidence[0].sources == (more,)
        await ann.erase_all()
        assert {record.id for record in await guide.scan()} == {read.id}

    async def test_an_owner_ends_an_era_and_begins_anew_empty(self, engine: Engine) -> None:
        pen, other = Pen(engine), Pen(engine, BEN)
        await other.remember("ben's")
        thread = await pen.open(name="order 7", agent="a", audience=FOR_A)
        await pen.say(thread, "tea")
        memory = await pen.remember("likes tea", key="drink")
        await pen.write(Retract(memory))
        await pen.write(PatchProfile(new_id(), "Profile", EVERYONE, {"name": "Ann"}))
        old = await pen.era()
        receipt = await pen.erase_all()
        assert {
            kind: receipt.removed[kind]
            for kind in ("thread", "message", "memory", "profile", "versions")
        } == {
            "thread": 1,
            "message": 1,
            "memory": 1,
            "profile": 1,
            "versions": 1,
        }
        assert (await pen.scan(), await pen.ledger(), await Follower(engine).follow()) == (
            [],
            [],
            {},
        )
        assert pen.owner not in await engine.owners("default")
        again = await pen.open(name="order 7")
        assert (await pen.read(again)).version == 1
        assert [(entry.position, entry.era == old) for entry in await pen.ledger()] == [(1, False)]
        with pytest.raises(NotFound):
            await pen.write(Retract(memory))
        assert len(await other.scan()) == 1

    async def test_forgetting_an_owner_that_is_not_there_does_nothing(self, engine: Engine) -> None:
        pen = Pen(engine)
        receipt = await pen.erase_all()
        assert dict(receipt.removed) == {}
        assert await pen.ledger() == []
        await pen.remember("tea")
        await pen.erase_all()
        await pen.erase_all()
        await pen.remember("tea")
        assert len(await pen.scan()) == 1

    async def test_forgetting_twice_finds_nothing_the_second_time(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        assert (await pen.erase(memory, memory)).removed["memory"] == 1
        assert (await pen.erase(memory)).repeated == (memory,)
        assert [line.verb for entry in await pen.ledger() for line in entry.lines] == [
            Verb.REMEMBER,
            Verb.ERASE,
        ]

    async def test_the_books_files_are_clear_when_erasing_is_complete(self, engine: Engine) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        receipt = await pen.erase(memory)
        # An engine whose files are cleared by others' leave says so, and does it when it is asked.
        assert receipt.state == ("pending" if receipt.pending_because else "complete")
        cleared = await engine.scrub()
        # Of a server's files that is said to the end only to whoever may ask it for a checkpoint.
        assert cleared.complete or "checkpoint" in cleared.pending_because
        assert packed("tea") not in [
            row.terms
            for shelf in (await Follower(engine).follow()).values()
            for row in shelf.values()
        ]

    async def test_forgetting_again_is_pending_as_long_as_the_first_forgetting_is(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        memory = await pen.remember("tea")
        with self.read_elsewhere(engine):
            first = await pen.erase(memory)
            again = await pen.erase(memory)
        assert (again.state, bool(again.pending_because)) == (first.state, first.state == "pending")
        cleared = await engine.scrub()
        after = await pen.erase(memory)
        assert after.state == ("complete" if cleared.complete else "pending")
        assert dict(after.removed) == {}

    async def test_a_book_lists_everything_that_was_erased_from_it(self, engine: Engine) -> None:
        ann, ben = Pen(engine), Pen(engine, BEN)
        tea = await ann.remember("likes tea")
        await ann.remember("likes cake")
        await ben.remember("likes rain")
        (entry,) = await engine.entries(BEN, 0, 10)
        await ann.erase(tea)
        await engine.erase(Target(BEN, WHOLE, Actor("owner"), everything=True), START)
        past = await engine.erasures()
        assert (past.eras, tea in past.records) == ((entry.era,), True)

    async def test_a_receipt_tells_an_agent_nothing_of_what_others_concluded(
        self, engine: Engine
    ) -> None:
        async def said(owner: Owner) -> tuple[UUID, UUID]:
            at_a = Pen(engine, owner, view=AT_A)
            thread = await at_a.open(audience=EVERYONE, agent="a")
            tea, cake = await at_a.say(thread, "tea", "cake", agent="a")
            await at_a.remember("likes tea", sources=(tea,), agent="a", audience=FOR_A)
            return tea, cake

        tea, cake = await said(ANN)
        at_b = Pen(engine, view=AT_B)
        theirs = await at_b.remember(
            "drinks too much tea", sources=(tea,), agent="b", audience=FOR_B
        )
        both = await at_b.remember("eats at noon", sources=(tea, cake), agent="b", audience=FOR_B)
        receipt = await Pen(engine, view=AT_A).erase(tea)
        assert theirs in receipt.ids and receipt.kept == (both,)
        assert await Pen(engine).find(theirs) is None
        other, _ = await said(BEN)
        alone = await Pen(engine, BEN, view=AT_A).erase(other)
        shown = receipt.as_seen()
        assert (shown.removed, shown.kept, len(shown.ids)) == (alone.removed, (), len(alone.ids))
        assert theirs not in shown.ids
        assert alone.as_seen() is alone

    async def test_a_dry_run_says_what_would_go_and_only_that_goes(self, engine: Engine) -> None:
        pen, at_a = Pen(engine), Pen(engine, view=AT_A)
        thread = await pen.open(agent="a", audience=EVERYONE)
        tea, cake = await pen.say(thread, "tea", "cake", agent="a")
        seen = await pen.remember("likes tea", sources=(tea,), agent="a", audience=FOR_A)
        unseen = await pen.remember("buys tea", sources=(tea,), agent="b", audience=FOR_B)
        both = await pen.remember("likes both", sources=(tea, cake))
        before, entries = await pen.scan(), await pen.ledger()
        target = Target(ANN, AT_A, Actor("agent", "a"), (tea,), dry_run=True)
        would = (await engine.erase(target, pen.tick())).as_seen()
        assert (would.state, set(would.ids), would.removed["memory"]) == ("planned", {tea, seen}, 1)
        assert would.left[both].sources == (cake,)  # type: ignore[attr-defined]
        assert (await pen.scan(), await pen.ledger()) == (before, entries)
        for expected in ({tea}, {tea, seen, both}):
            wrong = replace(target, dry_run=False, expected=frozenset(expected))
            with pytest.raises(
                Stale, match="what was shown has changed since, and nothing was forgotten"
            ):
                await engine.erase(wrong, pen.tick())
        await engine.erase(
            replace(target, dry_run=False, expected=frozenset(would.ids)), pen.tick()
        )
        assert {await at_a.find(tea), await pen.find(unseen), await at_a.find(seen)} == {None}

    async def test_a_summary_is_emptied_without_a_message_that_goes(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await pen.say(thread, "tea", "cake")
        await pen.write(SummariseThread(thread, "Likes tea.", 2))
        await engine.erase(Target(ANN, WHOLE, Actor("owner"), (), emptied=(thread,)), pen.tick())
        assert ((await pen.read(thread)).summary, len(await pen.scan())) == ("", 3)
