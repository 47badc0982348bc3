"""Gathering: what is read to form a thread: what was said since it was formed last, and what is known that it may touch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from memoranda.errors import EmbeddingFailed
from memoranda.formation.reconcile import Held
from memoranda.formation.schemas import FormationSchema, serving
from memoranda.formation.viewing import readers_of
from memoranda.formation.wishes import agent_named
from memoranda.model.episodes import Episode
from memoranda.model.experience import ExperienceLine, serves
from memoranda.model.forming import Formed, Reading, ReadMessage, WantedSchema
from memoranda.model.memories import HELD, Memory
from memoranda.model.messages import FINISHED, Message, Thread
from memoranda.model.owner import WHOLE, Owner, OwnerKind, View
from memoranda.model.profiles import Agent, ProfileDocument, Schema, Trigger
from memoranda.model.query import Filter
from memoranda.model.records import Record, RecordType, those_of
from memoranda.model.values import Name
from memoranda.ports import Finder, MakesVectors, Records
from memoranda.text.tokens import estimate

#: Turns before the new ones that are shown, to understand these.
_CONTEXT: Final = 6
#: Turns that are asked with for what is known, the newest first, and memories that each may bring.
_ASKING, _EACH = 24, 8
#: The most memories that may be touched; the prompt shows as many of them as fit.
_CANDIDATES: Final = 60
#: So much of a turn is enough of a question.
_QUESTION: Final = 2_000
_PAGE: Final = 200
#: Records that are read at a time where all of them are read.
_AT_A_TIME: Final = 1_000
#: The most lines of experience that are read for one question, and kept with it; the prompt shows as many as fit.
_LINES: Final = 1_000
_MEMORY = frozenset({RecordType.MEMORY})


@dataclass(frozen=True, slots=True)
class Talk:
    """A thread, and what of it is to be read."""

    thread: Thread
    #: Before the new ones, oldest first, and those to learn from.
    context: tuple[Message, ...] = ()
    new: tuple[Message, ...] = ()

    @property
    def closed(self) -> bool:
        """Whether the thread is finished."""
        return self.thread.status in FINISHED


class Gatherer:
    """Reads threads, and what is known beside them, as their own readers see it."""

    def __init__(
        self, records: Records, finder: Finder, vectors: MakesVectors | None, tenant: str, users: int
    ) -> None:
        self._records = records
        self._finder = finder
        self._vectors = vectors
        #: So many have to bear a line of experience before it serves others.
        self._users = users
        self._tenant = Owner(tenant=tenant, kind=OwnerKind.TENANT, id=tenant)

    async def thread(self, owner: Owner, id: UUID) -> Thread | None:
        """The thread as it stands."""
        found = (await self._records.get(owner, WHOLE, [id])).get(id)
        return found if isinstance(found, Thread) else None

    async def talk(self, thread: Thread, after: int, through: int | None = None) -> Talk:
        """What was said behind one place, up to another, with a few turns before."""
        only = Filter(types=frozenset({RecordType.MESSAGE}), thread=thread.id, newest_first=True)
        read: list[Message] = []
        cursor: str | None = None
        while True:
            page = await self._records.scan(thread.owner, readers_of(thread), only, cursor, _PAGE)
            read += those_of(Message, page.records)
            cursor = page.cursor
            if cursor is None or sum(message.seq <= after for message in read) >= _CONTEXT:
                break
        read = [message for message in reversed(read) if through is None or message.seq <= through]
        before = [message for message in read if message.seq <= after]
        return Talk(thread, tuple(before[-_CONTEXT:]), tuple(m for m in read if m.seq > after))

    async def portion(self, talk: Talk, most: int) -> Talk:
        """The next messages of a talk, but for those that are gone by now."""
        wanted = (*talk.context, *talk.new[:most])
        found = await self._records.get(
            talk.thread.owner, readers_of(talk.thread), [message.id for message in wanted]
        )
        return Talk(
            talk.thread,
            tuple(message for message in talk.context if message.id in found),
            tuple(message for message in talk.new[:most] if message.id in found),
        )

    async def agent(self, name: str | None) -> Agent | None:
        """What the tenant says of an agent."""
        return await agent_named(self._records, self._tenant, name)

    async def schemas(self, agent: str | None, triggers: Iterable[Trigger]) -> tuple[WantedSchema, ...]:
        """What an agent's conversations are formed into, and which of it is due at one of these occasions."""
        only = Filter(types=frozenset({RecordType.SCHEMA}))
        known = those_of(Schema, await self._all(self._tenant, WHOLE, only))
        due = frozenset(triggers)
        return tuple(_wanted(schema, due) for schema in serving(agent, known))

    async def reading(
        self, talk: Talk, schemas: tuple[WantedSchema, ...], now: datetime, language: Name | None
    ) -> Reading:
        """What an extractor is given for a talk, but for candidates."""
        thread, view = talk.thread, readers_of(talk.thread)
        learnt = await self._experience(thread)
        return Reading(
            thread=thread,
            messages=(
                *(ReadMessage(message=message, context=True) for message in talk.context),
                *(ReadMessage(message=message) for message in talk.new),
            ),
            profiles=await self._profiles(thread, view),
            summary=thread.summary,
            experience=tuple(line for line in learnt if serves(line, thread.owner, self._users))[:_LINES],
            schemas=schemas,
            now=now,
            language=language,
        )

    async def with_candidates(self, reading: Reading, talk: Talk) -> Reading:
        """The same reading of what is left of its talk, with the memories that it may repeat, correct or replace."""
        found = await self._candidates(talk, readers_of(talk.thread), reading.now)
        return reading.model_copy(update={"candidates": found})

    async def held(self, reading: Reading, formed: Formed) -> Held:
        """What is known now of all that was formed: what says the same, what has the same key, what gave way to what."""
        thread, view = reading.thread, readers_of(reading.thread)
        owner = thread.owner
        found = await self._records.get(owner, view, [memory.id for memory in reading.candidates])
        for note in formed.notes:
            for memory in await self._find(owner, view, note.content, None, reading.now):
                found.setdefault(memory.id, memory)
        keys = {note.key for note in formed.notes if note.key is not None}
        keys |= {f"{note.subject}: {note.key}" for note in formed.notes if note.key and note.subject}
        if keys:
            holders = Filter(types=_MEMORY, keys=frozenset(keys))
            found |= {record.id: record for record in await self._all(owner, view, holders)}
        winners = {
            one.superseded_by for one in those_of(Memory, found.values()) if one.superseded_by is not None
        }
        found |= await self._records.get(owner, view, [*winners - set(found)])
        return Held(
            memories=tuple(those_of(Memory, found.values())),
            profiles=await self._profiles(thread, view),
            experience=await self._experience(thread) if formed.experience else (),
            episodes=await self.episodes(thread),
        )

    async def was_done(self, owner: Owner, operation: str) -> bool:
        """Whether an operation was applied before."""
        return await self._records.find_operation(owner, operation) is not None

    async def episodes(self, thread: Thread) -> tuple[Episode, ...]:
        """The episodes that record a thread."""
        only = Filter(types=frozenset({RecordType.EPISODE}), thread=thread.id)
        return tuple(those_of(Episode, await self._all(thread.owner, readers_of(thread), only)))

    async def _experience(self, thread: Thread) -> tuple[ExperienceLine, ...]:
        """All that the agent has learnt, retired lines too."""
        if thread.agent is None:
            return ()
        agent = Owner(tenant=thread.owner.tenant, kind=OwnerKind.AGENT, id=thread.agent)
        only = Filter(types=frozenset({RecordType.EXPERIENCE}))
        return tuple(those_of(ExperienceLine, await self._all(agent, WHOLE, only)))

    async def _profiles(self, thread: Thread, view: View) -> tuple[ProfileDocument, ...]:
        """The documents that a thread's readers share: one for each schema."""
        only = Filter(types=frozenset({RecordType.PROFILE}))
        shared = [
            document
            for document in those_of(ProfileDocument, await self._all(thread.owner, view, only))
            if document.audience == thread.audience
        ]
        return tuple({document.schema_name: document for document in shared}.values())

    async def _all(self, owner: Owner, view: View, only: Filter) -> list[Record]:
        """Every record that a scan gives, page by page."""
        found: list[Record] = []
        cursor: str | None = None
        while True:
            page = await self._records.scan(owner, view, only, cursor, _AT_A_TIME)
            found += page.records
            cursor = page.cursor
            if cursor is None:
                return found

    async def _candidates(self, talk: Talk, view: View, now: datetime) -> tuple[Memory, ...]:
        """What the talk may repeat, correct or replace: of every turn's finds the best ones first."""
        said = [m for m in talk.new if m.role in ("user", "assistant")][-_ASKING:]
        ranked = [await self._find(talk.thread.owner, view, message.content, HELD, now) for message in said]
        found: dict[UUID, Memory] = {}
        for place in range(_EACH):
            found |= {
                one.id: one
                for memories in ranked
                for one in memories[place : place + 1]
                if one.id not in found
            }
        return tuple(found.values())[:_CANDIDATES]

    async def _find(
        self, owner: Owner, view: View, text: str, statuses: frozenset[str] | None, now: datetime
    ) -> list[Memory]:
        question = text[:_QUESTION]
        vector = None
        if self._vectors is not None:
            try:
                vector = await self._vectors.query(question)
            except EmbeddingFailed:
                vector = None
        found = await self._finder.find(
            owner,
            view,
            question,
            limit=_EACH,
            types=_MEMORY,
            only=Filter(types=_MEMORY, statuses=statuses),
            vector=vector,
            vectors="" if self._vectors is None else self._vectors.embedding.name,
            now=now,
        )
        shown = [record for hit in found for record in (hit.record, *(one.record for one in hit.folded))]
        return those_of(Memory, shown)


def with_due(reading: Reading, name: str) -> Reading:
    """The same reading, where one schema more is to be formed."""
    schemas = tuple(
        schema.model_copy(update={"due": True}) if schema.name == name else schema
        for schema in reading.schemas
    )
    return reading.model_copy(update={"schemas": schemas})


def fitting_newest(talk: Talk, tokens: int) -> Talk:
    """The newest messages of a talk that take about half of so many tokens."""
    room, start = tokens // 2, len(talk.new)
    while start and room > 0 and len(talk.new) - start < _ASKING * 2:
        start -= 1
        room -= estimate(talk.new[start].content)
    return replace(talk, context=(), new=talk.new[start:])


def behind(talk: Talk, through: int) -> Talk:
    """What of a talk is left behind a place, with the turns before it."""
    before = [message for message in (*talk.context, *talk.new) if message.seq <= through]
    return replace(
        talk,
        context=tuple(before[-_CONTEXT:]),
        new=tuple(message for message in talk.new if message.seq > through),
    )


def shortened(talk: Talk, through: int) -> Talk:
    """The same talk, up to a place."""
    return replace(talk, new=tuple(message for message in talk.new if message.seq <= through))


def _wanted(schema: FormationSchema, due: frozenset[Trigger]) -> WantedSchema:
    return WantedSchema(
        name=schema.name,
        description=schema.description,
        parameters=dict(schema.parameters),
        update_mode=schema.update_mode,
        instructions=schema.instructions,
        due=schema.trigger in due and not schema.unusable,
    )
