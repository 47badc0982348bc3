"""Tests of redaction: parts of messages are taken out for good, or hidden until somebody
decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from memoranda.errors import Conflict, Erased, InvalidInput, NotAllowed, NotFound, Stale
from memoranda.model.changes import (
    FINISH_FORGETTING,
    Confirm,
    Hide,
    Import,
    Job,
    JobDraft,
    PatchProfile,
    RecordEpisode,
    Undo,
)
from memoranda.model.ledger import REDACTED, Actor, Target, Verb
from memoranda.model.memories import Cited
from memoranda.model.messages import NO_WORDS, SummariseThread
from memoranda.model.query import Filter
from memoranda.model.records import EVERYONE, WHOLE, RecordType
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, new_id
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
    a_memory,
    an_episode,
    packed,
    vectors_of,
)
from memoranda_conformance.suite import Suite

HOME = "I live in Oslo."
SAID = f"Good morning. {HOME} I like tea."
LEFT = "Good morning. I like tea."


def part(text: str, words: str, path: str | None = None) -> Span:
    """Return the place of some words in a text, with the space after them."""
    start = text.index(words)
    end = start + len(words)
    return Span(start=start, end=end + text[end:].startswith(" "), path=path)


def taking(message: UUID, *spans: Span, version: int | None = 1) -> tuple[Redaction, ...]:
    return (Redaction(message, spans, version),)


def target(pen: Pen, *ids: UUID, redactions: Sequence[Redaction] = (), **fields: Any) -> Target:
    actor = Actor("owner", pen.owner.id)
    return Target(pen.owner, pen.view, actor, ids, redactions=tuple(redactions), **fields)


async def waiting(engine: Engine) -> list[Job]:
    """Return the jobs that wait for hidden words."""
    return [job for job in await engine.jobs(None, 100) if job.kind == FINISH_FORGETTING]


class RedactionSuite(Suite):
    """Tests that words taken out of a message are nowhere any more, and that everything else
    stays.
    """

    async def test_a_message_stays_without_the_words_that_are_taken_out(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, SAID)
        follower = Follower(engine)
        await follower.follow()
        receipt = await engine.erase(
            target(pen, redactions=taking(said, part(SAID, HOME))), pen.tick()
        )

        left = await pen.read(said)
        assert (left.content, left.version, left.removed) == (LEFT, 2, (part(SAID, HOME),))
        assert receipt.redacted == (Redaction(said, left.removed),)
        assert (receipt.removed["parts of messages"], receipt.removed["versions"]) == (1, 1)
        assert [(step.verb, step.record) for step in await engine.history(ANN, WHOLE, said)] == [
            (Verb.APPEND, None),
            (Verb.REDACT, left),
        ]
        assert (await follower.follow())[EVERYONE][said].terms == packed(LEFT)
        assert any(REDACTED in entry.note for entry in await pen.ledger())

    async def test_the_words_that_were_taken_out_before_count_in_the_places_of_the_next_ones(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        (said,) = await pen.say(await pen.open(), SAID)
        await engine.erase(target(pen, redactions=taking(said, part(SAID, HOME))), pen.tick())
        next_one = taking(said, part(LEFT, "I like tea."), version=2)
        await engine.erase(target(pen, redactions=next_one), pen.tick())

        left = await pen.read(said)
        assert (left.content, left.removed) == ("Good morning. ", (Span(start=14, end=len(SAID)),))
        again = taking(said, part(SAID, HOME), version=None)
        await engine.erase(target(pen, redactions=again), pen.tick())
        assert (await pen.read(said)).content == "Good morning. "

    async def test_the_native_form_loses_the_same_words_and_keeps_its_calls(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        call = {
            "type": "tool_use",
            "id": "t1",
            "name": "save",
            "input": {"fact": HOME, "tag": "home"},
        }
        native = {"role": "assistant", "content": [{"type": "text", "text": SAID}, call]}
        thread = await pen.open()
        (said,) = await pen.say(thread, SAID, native=native, role="assistant")
        (bare,) = await pen.say(thread, NO_WORDS, native={"content": [call]}, role="assistant")
        spans = taking(said, part(SAID, HOME))
        whole = taking(bare, Span(start=0, end=len(HOME), path="/content/0/input/fact"))
        await engine.erase(target(pen, redactions=(*spans, *whole)), pen.tick())

        left, rest = await pen.read(said), await pen.read(bare)
        assert left.native["content"][0]["text"] == LEFT
        assert left.native["content"][1] == {**call, "input": {"fact": "", "tag": "home"}}
        assert (rest.content, rest.native) == (NO_WORDS, {"content": [left.native["content"][1]]})

    async def test_a_message_of_which_nothing_is_left_is_erased(self, engine: Engine) -> None:
        pen = Pen(engine)
        (said,) = await pen.say(await pen.open(), HOME)
        memory = await pen.remember("Is in Norway", sources=(said,))
        receipt = await engine.erase(
            target(pen, redactions=taking(said, Span(start=0, end=len(HOME)))), pen.tick()
        )
        assert set(receipt.ids) == {said, memory}
        assert receipt.redacted == ()

    async def test_what_came_from_the_words_goes_and_what_came_from_others_stays(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        said, again = await pen.say(await pen.open(), SAID, "I live in Oslo, as I said.")

        def citing(message: UUID, quote: str, *more: UUID) -> dict[str, Any]:
            return {"sources": (message, *more), "quotes": (Cited(message=message, quote=quote),)}

        home = await pen.remember("Home is Oslo", **citing(said, HOME))
        north = await pen.remember("Is at home up north", **citing(said, "live in Oslo"))
        tea = await pen.remember("Likes tea", **citing(said, "I like tea."))
        twice = await pen.remember("Oslo is home", **citing(said, "in Oslo", again))
        bare = await pen.remember("Lives in Oslo", sources=(said,))
        other = await pen.remember("Is polite", sources=(said,))
        await pen.write(
            PatchProfile(
                new_id(),
                "Profile",
                EVERYONE,
                {"places": ["Oslo", "Bergen"], "drink": "tea"},
                sources=(said,),
            )
        )
        episode = (
            await pen.write(
                RecordEpisode(an_episode(ANN, "say hello", sources=(said,)), packed("say hello"))
            )
        ).id
        receipt = await engine.erase(
            target(pen, home, redactions=taking(said, part(SAID, HOME))), pen.tick()
        )

        assert set(receipt.ids) == {home, north, bare, episode}
        left = await pen.read(twice)
        assert (left.sources, left.quotes) == ((again,), ())
        assert (await pen.read(tea)).quotes == (Cited(message=said, quote="I like tea."),)
        assert (await pen.read(other)).sources == (said,)
        assert {(await pen.read(id)).version for id in (tea, other)} == {1}
        (document,) = await pen.scan(types=frozenset({RecordType.PROFILE}))
        assert document.body == {"places": ["Bergen"], "drink": "tea"}

    async def test_summaries_that_cover_the_message_are_emptied(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, SAID)
        await pen.write(SummariseThread(thread, "Lives in Oslo.", 1))
        await engine.erase(target(pen, redactions=taking(said, part(SAID, HOME))), pen.tick())
        left = await pen.read(thread)
        assert (left.summary, left.summary_through) == ("", 0)
        # It is made anew.
        assert [job.key for job in await engine.jobs(None, 10) if job.kind == "form"] == [
            str(thread)
        ]

    async def test_vectors_of_the_words_are_gone_and_old_ones_are_not_stored_any_more(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        await engine.begin_set(SMALL)
        said, other = await pen.say(await pen.open(), SAID, "Good evening.")
        await engine.put_vectors(SMALL, vectors_of(SMALL, said, other))
        late = {record.id: record.version for record in [await pen.read(said)]}
        await engine.erase(target(pen, redactions=taking(said, part(SAID, HOME))), pen.tick())

        assert [record.id for record in await engine.lacking(SMALL, 10)] == [said]
        assert [found.count for found in await engine.vector_sets()] == [1]
        assert await engine.put_vectors(SMALL, vectors_of(SMALL, said), late) == 0
        assert await engine.put_vectors(SMALL, vectors_of(SMALL, said), {said: 2}) == 1
        assert await engine.lacking(SMALL, 10) == []
        assert (await engine.verify()).faults == ()

    async def test_later_versions_of_a_statement_keep_their_vectors(self, engine: Engine) -> None:
        pen = Pen(engine)
        await engine.begin_set(SMALL)
        memory = await pen.remember("Likes tea")
        await pen.write(Confirm(memory))
        assert await engine.put_vectors(SMALL, vectors_of(SMALL, memory), {memory: 2}) == 1
        assert await engine.put_terms(RULE, {memory: packed("Likes tea")}, {memory: 2}) == 1

    async def test_a_copy_of_the_book_loses_the_words_that_its_original_lost(
        self, engine: Engine
    ) -> None:
        pen, ben = Pen(engine), Pen(engine, BEN)
        (said,) = await pen.say(await pen.open(), SAID)
        (bens,) = await ben.say(await ben.open(), SAID)
        await engine.erase(target(pen, redactions=taking(said, part(SAID, HOME))), pen.tick())
        await engine.erase(target(ben, bens), ben.tick())
        past = await engine.erasures()
        assert past.redactions == (Redaction(said, (part(SAID, HOME),)),)
        assert bens in past.records

    async def test_an_imported_statement_does_not_quote_the_words(self, engine: Engine) -> None:
        pen = Pen(engine)
        (said,) = await pen.say(await pen.open(), SAID)
        await engine.erase(target(pen, redactions=taking(said, part(SAID, HOME))), pen.tick())
        quotes = (Cited(message=said, quote=HOME), Cited(message=said, quote="I like tea."))
        memory = a_memory(ANN, "Likes tea", sources=(said,), quotes=quotes)
        await pen.write(Import(memory, packed(memory.passage_text())))
        gone = Cited(message=said, forgotten=(await pen.read(said)).observed_at.date())
        assert (await pen.read(memory.id)).quotes == (gone, quotes[1])

    async def test_a_message_that_changed_in_between_is_refused(self, engine: Engine) -> None:
        pen = Pen(engine)
        (said,) = await pen.say(await pen.open(), SAID)
        await engine.erase(target(pen, redactions=taking(said, part(SAID, HOME))), pen.tick())
        with pytest.raises(Stale, match="version 1"):
            await engine.erase(target(pen, redactions=taking(said, part(SAID, HOME))), pen.tick())
        with pytest.raises(InvalidInput, match="characters"):
            await engine.erase(
                target(pen, redactions=taking(said, Span(start=0, end=99), version=2)), pen.tick()
            )
        with pytest.raises(NotFound):
            await engine.erase(
                target(pen, redactions=taking(new_id(), Span(start=0, end=9))), pen.tick()
            )

    async def test_an_agent_takes_words_out_of_its_own_messages_only(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a", audience=EVERYONE)
        (said,) = await pen.say(thread, SAID, agent="a")
        private = await pen.open(agent="a", audience=FOR_A)
        (hidden,) = await pen.say(private, SAID, agent="a")
        spans = part(SAID, HOME)
        for view, message, refusal in ((AT_B, said, NotAllowed), (AT_B, hidden, NotFound)):
            asked = target(Pen(engine, view=view), redactions=taking(message, spans))
            with pytest.raises(refusal):
                await engine.erase(asked, pen.tick())
        await engine.erase(
            target(Pen(engine, view=AT_A), redactions=taking(said, spans)), pen.tick()
        )
        assert (await pen.read(said)).content == LEFT

    async def test_what_is_hidden_is_out_of_every_read_and_an_undo_brings_all_of_it_back(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said, whole = await pen.say(thread, SAID, HOME)
        memory = await pen.remember("Lives in Oslo", key="home", sources=(said, whole))
        north = await pen.remember("Lives in the north", sources=(memory,))
        await pen.write(SummariseThread(thread, "Lives in Oslo.", 2))
        before = {record.id: record for record in await pen.scan()}
        follower = Follower(engine)
        await follower.follow()
        spans = (*taking(said, part(SAID, HOME)), *taking(whole, Span(start=0, end=len(HOME))))
        receipt = await pen.write(Hide((memory,), spans))

        assert {record.id for record in await pen.scan()} == {thread, said}
        assert (await pen.read(said)).content == LEFT
        assert (await pen.read(thread)).summary == ""
        shelf = (await follower.follow())[EVERYONE]
        assert shelf[said].terms == packed(LEFT)
        assert {shelf[id].status for id in (memory, north, whole) if id in shelf} <= {"withdrawn"}
        assert await engine.count(ANN, WHOLE, Filter()) == 2

        await pen.write(Undo(receipt.position))
        after = {record.id: record for record in await pen.scan()}
        same = {"version": 0, "recorded_at": START, "past": ()}
        assert {id: record.model_copy(update=same) for id, record in after.items()} == {
            id: record.model_copy(update=same) for id, record in before.items()
        }
        assert (await follower.follow())[EVERYONE][said].terms == packed(SAID)
        with pytest.raises(Conflict, match="undone"):
            await engine.erase(target(pen, hidden=receipt.position), pen.tick())
        assert (await engine.verify()).faults == ()

    async def test_what_is_hidden_is_erased_when_that_is_finished(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        said, whole = await pen.say(thread, SAID, HOME)
        memory = await pen.remember("Lives in Oslo", key="home", sources=(said,))
        spans = (*taking(said, part(SAID, HOME)), *taking(whole, Span(start=0, end=len(HOME))))
        receipt = await pen.write(Hide((memory,), spans))
        late = await pen.remember("Is in Norway", sources=(said,))
        erased = await engine.erase(target(pen, hidden=receipt.position), pen.tick())

        assert set(erased.ids) == {memory, whole}
        assert erased.redacted == (Redaction(said, (part(SAID, HOME),)),)
        assert [record.id for record in await pen.scan()] == [thread, said, late]
        steps = await engine.history(ANN, WHOLE, said)
        assert [(step.verb, step.record is None) for step in steps] == [
            (Verb.APPEND, True),
            (Verb.HIDE, True),
            (Verb.REDACT, False),
        ]
        with pytest.raises(Erased):
            await pen.write(Undo(receipt.position))
        assert (await engine.erasures()).redactions == erased.redacted

    async def test_a_summary_alone_is_hidden_brought_back_and_erased(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        await pen.say(thread, "Good morning.")
        await pen.write(SummariseThread(thread, "Lives in Oslo.", 1))
        receipt = await pen.write(Hide(emptied=(thread,)))
        assert (await pen.read(thread)).summary == ""
        undone = await pen.write(Undo(receipt.position))
        assert (await pen.read(thread)).summary == "Lives in Oslo."
        await pen.write(Undo(undone.position))
        assert (await pen.read(thread)).summary == ""
        await engine.erase(target(pen, hidden=receipt.position), pen.tick())
        steps = await engine.history(ANN, WHOLE, thread)
        assert not any(
            "Oslo" in repr(step.record.model_dump()) for step in steps if step.record is not None
        )

    async def test_only_who_hid_it_or_the_owner_finishes(self, engine: Engine) -> None:
        pen = Pen(engine)
        (said,) = await pen.say(await pen.open(agent="a", audience=FOR_A), SAID, agent="a")
        actor = Actor("agent", "a")
        receipt = await pen.write(Hide((), taking(said, part(SAID, HOME))), view=AT_A, actor=actor)
        for position, view in (
            (receipt.position, AT_B),
            (receipt.position - 1, WHOLE),
            (99, WHOLE),
        ):
            asked = Target(ANN, view, Actor("agent", "b"), hidden=position)
            with pytest.raises(NotFound, match="hid"):
                await engine.erase(asked, pen.tick())
        erased = await engine.erase(Target(ANN, AT_A, actor, hidden=receipt.position), pen.tick())
        assert [one.message for one in erased.redacted] == [said]

    async def test_answers_about_hidden_words_are_not_kept(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open()
        (said,) = await pen.say(thread, SAID)
        await pen.write(
            pen.saying(thread, "More."), jobs=(JobDraft("form", str(thread), records=(thread,)),)
        )
        job = await engine.lease(("form",), "w", pen.tick(), 60)
        assert job is not None
        await engine.keep(job, {"answer": "Lives in Oslo"}, (said,))
        await pen.write(Hide((), taking(said, part(SAID, HOME))))
        again = await engine.lease(("form",), "w", pen.tick(120), 60)
        assert again is not None
        assert again.kept is None

    async def test_what_is_hidden_waits_in_a_job_until_it_is_undone_or_erased(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        said, whole = await pen.say(await pen.open(), SAID, HOME)
        memory = await pen.remember("Lives in Oslo", sources=(said,))
        spans = (*taking(said, part(SAID, HOME)), *taking(whole, Span(start=0, end=len(HOME))))
        receipt = await pen.write(Hide((memory,), spans))
        (job,) = await waiting(engine)
        assert (job.owner, job.key, job.payload) == (ANN, str(receipt.position), {"decided": False})
        assert await engine.lease((FINISH_FORGETTING,), "w", pen.tick(10**8), 60) is None

        undone = await pen.write(Undo(receipt.position))
        assert await waiting(engine) == []
        again = await pen.write(Undo(undone.position))
        (job,) = await waiting(engine)
        assert (job.key, job.payload) == (str(receipt.position), {"decided": False})
        twice = await pen.write(Undo(again.position))
        assert await waiting(engine) == []
        await pen.write(Undo(twice.position))
        assert [job.key for job in await waiting(engine)] == [str(receipt.position)]

        await engine.erase(target(pen, hidden=receipt.position), pen.tick())
        assert await waiting(engine) == []
        assert (await engine.verify()).faults == ()

    async def test_what_is_hidden_is_due_when_somebody_has_decided(self, engine: Engine) -> None:
        pen = Pen(engine)
        (said,) = await pen.say(await pen.open(), SAID)
        receipt = await pen.write(Hide((), taking(said, part(SAID, HOME)), finish_after=3600))
        kinds = (FINISH_FORGETTING,)
        assert await engine.lease(kinds, "w", pen.tick(60), 60) is None
        job = await engine.lease(kinds, "w", pen.tick(3600), 60)
        assert job is not None
        assert (job.key, job.payload) == (str(receipt.position), {"decided": True})
        await engine.erase(target(pen, hidden=receipt.position), pen.tick())
        assert await waiting(engine) == []

    async def test_what_is_left_of_hidden_records_waits_when_one_of_them_is_erased(
        self, engine: Engine
    ) -> None:
        pen = Pen(engine)
        one, other = await pen.remember("Lives in Oslo"), await pen.remember("Likes tea")
        receipt = await pen.write(Hide((one, other)))
        await engine.erase(target(pen, one), pen.tick())
        assert [job.key for job in await waiting(engine)] == [str(receipt.position)]
        await engine.erase(target(pen, other), pen.tick())
        assert await waiting(engine) == []
        await pen.write(Hide((await pen.remember("Likes milk"),)))
        await engine.erase(target(pen, everything=True), pen.tick())
        assert await waiting(engine) == []
