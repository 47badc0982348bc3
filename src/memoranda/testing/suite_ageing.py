"""Ageing: messages leave, and what was derived from them stays until it is forgotten by its id."""

from __future__ import annotations

from uuid import UUID

import pytest

from memoranda.errors import InvalidInput, NotAllowed
from memoranda.model.changes import (
    AddExperience,
    Import,
    MarkFormed,
    SummariseThread,
    Undo,
)
from memoranda.model.cited import Cited
from memoranda.model.erasure import ErasureReceipt, Target
from memoranda.model.ids import new_id
from memoranda.model.ledger import Actor, Verb
from memoranda.model.owner import EVERYONE, WHOLE
from memoranda.ports import Engine
from memoranda.testing.builders import (
    AT_A,
    FOR_A,
    GUIDE,
    Follower,
    Pen,
    a_line,
    a_message,
    packed,
)
from memoranda.testing.suite import Suite
from memoranda.testing.suite_grounds import derived


async def aged(pen: Pen, *ids: UUID) -> ErasureReceipt:
    """Let messages leave by age."""
    return await pen.engine.erase(Target(pen.owner, WHOLE, Actor("system"), ids, ageing=True), pen.tick())


class AgeingSuite(Suite):
    """Messages that were formed leave by age, and take nothing with them."""

    async def test_a_message_leaves_by_age_and_what_rests_on_it_stays_as_it_is(self, engine: Engine) -> None:
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
        assert (set(receipt.ids), receipt.kept, len(receipt.not_found)) == ({one, two}, (), 3)
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
        assert (await pen.say(thread, "on it goes")) and (await pen.scan(thread=thread))[-1].seq == 4

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
        assert (receipt.not_found, receipt.kept, receipt.ids) == ((), (memory,), (profile,))
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

    async def test_only_the_owners_whole_view_lets_messages_leave_by_age(self, engine: Engine) -> None:
        pen = Pen(engine)
        thread = await pen.open(agent="a", audience=FOR_A)
        (said,) = await pen.say(thread, "tea")
        await pen.write(MarkFormed(thread, 1))
        with pytest.raises(NotAllowed):
            await engine.erase(Target(pen.owner, AT_A, Actor("agent", "a"), (said,), ageing=True), pen.tick())
        assert await pen.find(said) is not None
