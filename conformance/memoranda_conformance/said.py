"""Statements with many sources, for the conformance suites: memories, and fields of profiles."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoranda.model.changes import Confirm, PatchProfile
from memoranda.model.ledger import Receipt
from memoranda.model.memories import Cited, Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.model.records import EVERYONE, WHOLE
from memoranda.model.unlisted import MOST_LISTED, unlisted_of
from memoranda.model.values import new_id
from memoranda.ports import Engine
from memoranda_conformance.builders import Pen


class Said:
    """A memory or a profile with many messages as its sources."""

    def __init__(
        self, pen: Pen, thread: UUID, said: Sequence[UUID], record: UUID, position: int
    ) -> None:
        self.pen = pen
        self.thread = thread
        self.said = [*said]
        self.record = record
        #: The position of each confirmation.
        self.positions = [position]

    @classmethod
    async def tea(cls, pen: Pen, times: int) -> Said:
        """Return a memory that this many messages state, each in a run of its own."""
        thread = await pen.open()
        said = await pen.say(thread, *(f"I like tea {n}" for n in range(times)))
        change = pen.remembering("likes tea", sources=said[:1])
        receipt = await pen.write(change)
        made = cls(pen, thread, said[:1], receipt.id, receipt.position)
        for message in said[1:]:
            await made.again(message)
        return made

    @classmethod
    async def field(cls, pen: Pen, times: int) -> Said:
        """Return a profile with an item of a list that this many messages state, and another that
        the first one states.
        """
        thread = await pen.open()
        said = await pen.say(thread, *(f"I like tea {n}" for n in range(times)))
        receipt = await pen.write(patched(said[0], {"likes": ["tea", "cake"]}))
        made = cls(pen, thread, said[:1], receipt.id, receipt.position)
        for message in said[1:]:
            await made.again(message)
        return made

    async def again(self, *messages: UUID) -> Receipt:
        """Confirm it with these messages, in one run."""
        quotes = tuple(Cited(message=id, quote="I like tea") for id in messages)
        change: Confirm | PatchProfile = Confirm(self.record, messages, quotes)
        if isinstance(await self.pen.find(self.record), ProfileDocument):
            change = patched(messages[0], {}, {"likes": ["tea"]})
        receipt = await self.pen.write(change)
        self.said += messages
        self.positions.append(receipt.position)
        return receipt

    async def sources(self, engine: Engine | None = None) -> set[UUID]:
        """Return all sources of it, listed or not."""
        return await sources_of(engine or self.pen.engine, self.pen, self.record)


def patched(
    message: UUID, set: dict[str, object], again: dict[str, object] | None = None
) -> PatchProfile:
    """Return a change of the common profile that one message makes."""
    return PatchProfile(new_id(), "Profile", EVERYONE, set, sources=(message,), again=again or {})


async def sources_of(engine: Engine, pen: Pen, id: UUID) -> set[UUID]:
    """Return all sources of a memory or a profile, listed or not, and check that none is there
    twice.
    """
    record = (await engine.get(pen.owner, WHOLE, [id]))[id]
    groups = {group.id for group in unlisted_of(record)}
    unlisted = [source for _, source in await engine.unlisted(pen.owner, WHOLE, id)]
    listed = [source for source in record.stands_on() if source not in groups]
    assert len({*listed, *unlisted}) == len(listed) + len(unlisted)
    if isinstance(record, Memory):
        assert len(listed) <= MOST_LISTED
        assert record.source_count == len(listed) + len(unlisted)
    return {*listed, *unlisted}
