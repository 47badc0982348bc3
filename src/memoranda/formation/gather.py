"""Reads what forming a thread (turning it into memories) needs: new messages, and the records they
may affect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast
from uuid import UUID, uuid4

from memoranda.errors import EmbeddingFailed
from memoranda.formation.bound_profiles import BoundProfiles
from memoranda.formation.extract.by_rules import Wanted
from memoranda.formation.formation_settings import agent_named
from memoranda.formation.owner_names import as_read, owner_speakers
from memoranda.formation.prompts.turn_lines import shown_turns
from memoranda.formation.reconcile.lesson_lines import lines_to_show
from memoranda.formation.reconcile.reconciler import CurrentRecords
from memoranda.formation.schemas.definitions import EXPERIENCE
from memoranda.formation.schemas.request_schemas import wanted_schemas
from memoranda.model.drafts import Formed, Reading, WantedSchema
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.ledger import Actor
from memoranda.model.memories import STANDING, Memory
from memoranda.model.messages import FINISHED, Episode, Message, Thread
from memoranda.model.profiles import Agent, ProfileDocument, Schema, Trigger
from memoranda.model.query import Filter
from memoranda.model.records import (
    COMMITMENT,
    STRANGERS,
    WHOLE,
    WITH_EXPIRED,
    AudienceKind,
    Owner,
    OwnerKind,
    Record,
    RecordType,
    Trust,
    View,
    those_of,
    with_expired,
)
from memoranda.model.unlisted import SourcePage, unlisted_of
from memoranda.model.values import Name
from memoranda.paging import every_page, every_record
from memoranda.ports import Finder, MakesVectors, Records
from memoranda.secrets.masks import shown
from memoranda.secrets.modes import SecretsMode
from memoranda.text.token_count import estimate

#: The actor of all changes by formation.
ACTOR: Final = Actor("system", "formation")
#: A view with groups needs the name of an agent. No agent has this name, so the view shows no
#: agent's own records.
_NOBODY: Final = f"formation {uuid4()}"


def writing_view(thread: Thread) -> View:
    """Return the view with which the results of a thread are written."""
    audience = thread.audience
    if audience.kind is AudienceKind.SELF:
        return View(agent=audience.agent)
    if audience.kind is AudienceKind.GROUP:
        return View(agent=thread.agent or _NOBODY, groups=audience.groups)
    return View(agent=thread.agent)


def reading_view(thread: Thread) -> View:
    """Return the view for reading related records: it shows only what every reader of the thread
    may see.
    """
    audience = thread.audience
    if audience.kind is AudienceKind.SELF:
        return View(agent=audience.agent)
    if audience.kind is AudienceKind.GROUP:
        return View(agent=_NOBODY, groups=audience.groups)
    return View()


_M = TypeVar("_M", bound=Record)

#: The tag of memories that rules formed while no answer of the model could be used.
BY_RULES: Final = "by rules"
#: Earlier turns that are shown as context of the new ones.
_CONTEXT: Final = 6
#: Newest turns that are used as questions to find memories, the most memories found with each, and
#: characters of a turn.
_ASKING, _EACH, _QUESTION = 24, 8, 2_000
#: The most candidates, and the most commitments beside them; the prompt shows as many as fit.
_CANDIDATES, _COMMITMENTS = 60, 8
_PAGE: Final = 200
#: Records per page when all are read.
_AT_A_TIME: Final = 1_000
_MEMORY = frozenset({RecordType.MEMORY})
_NO_REQUEST: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A thread with some of its messages: the new ones, and earlier ones as context."""

    thread: Thread
    #: Messages before the new ones, oldest first; then the messages to learn from.
    context: tuple[Message, ...] = ()
    new: tuple[Message, ...] = ()

    @property
    def closed(self) -> bool:
        """True if the thread is finished."""
        return self.thread.status in FINISHED


class ThreadReader:
    """Reads a thread and what forming it needs: the owner's records that all its readers may see;
    the agent's experience.
    """

    def __init__(
        self,
        records: Records,
        finder: Finder,
        vectors: MakesVectors | None,
        tenant: str,
        users: int,
        secrets: SecretsMode = "hide",
    ) -> None:
        self._records = records
        self._finder = finder
        self._vectors = vectors
        #: Users that must have taught a line of experience before it serves others.
        self._users = users
        self._tenant = Owner(tenant=tenant, kind=OwnerKind.TENANT, id=tenant)
        self._bound = BoundProfiles(records, tenant)
        self.secrets = secrets

    async def thread(self, owner: Owner, id: UUID) -> Thread | None:
        """Return the current thread."""
        found = (await self._records.get(owner, WITH_EXPIRED, [id])).get(id)
        return next(iter(shown([found], self.secrets)), None) if isinstance(found, Thread) else None

    async def excerpt(self, thread: Thread, after: int, through: int | None = None) -> Excerpt:
        """Return the messages after one message number, up to another, with a few earlier turns as
        context.
        """
        only = Filter(types=frozenset({RecordType.MESSAGE}), thread=thread.id, newest_first=True)
        view = with_expired(reading_view(thread))
        read: list[Message] = []
        async for page in every_page(self._records, thread.owner, view, only, _PAGE):
            read += those_of(Message, page.records)
            if sum(message.seq <= after for message in read) >= _CONTEXT:
                break
        read = shown(
            (one for one in reversed(read) if through is None or one.seq <= through), self.secrets
        )
        before = [message for message in read if message.seq <= after]
        return Excerpt(thread, tuple(before[-_CONTEXT:]), tuple(m for m in read if m.seq > after))

    async def next_messages(self, excerpt: Excerpt, most: int) -> Excerpt:
        """Return at most ``most`` new messages from an excerpt; leave out those erased since."""
        wanted = (*excerpt.context, *excerpt.new[:most])
        view = with_expired(reading_view(excerpt.thread))
        found = await self._records.get(
            excerpt.thread.owner, view, [message.id for message in wanted]
        )
        return Excerpt(
            excerpt.thread,
            tuple(message for message in excerpt.context if message.id in found),
            tuple(message for message in excerpt.new[:most] if message.id in found),
        )

    async def agent(self, name: str | None) -> Agent | None:
        """Return the record of an agent."""
        return await agent_named(self._records, self._tenant, name)

    async def schemas(
        self,
        agent: str | None,
        triggers: Iterable[Trigger],
        request: Mapping[str, Any] = _NO_REQUEST,
    ) -> tuple[WantedSchema, ...]:
        """Return the schemas of an agent's conversations, or of a job's ``request``; those to be
        filled are marked due.
        """
        only = Filter(types=frozenset({RecordType.SCHEMA}))
        known = those_of(Schema, await self._all(self._tenant, WHOLE, only))
        return wanted_schemas(agent, triggers, known, request)

    async def reading(
        self,
        excerpt: Excerpt,
        schemas: tuple[WantedSchema, ...],
        now: datetime,
        language: Name | None,
    ) -> Reading:
        """Return the data of a prompt for an excerpt, still without memories."""
        thread, view = excerpt.thread, reading_view(excerpt.thread)
        learns = any(schema.due and schema.name == EXPERIENCE.name for schema in schemas)
        learnt = await self._experience(thread) if learns else ()
        lines = lines_to_show(learnt, thread.owner, self._users, excerpt.new)
        profiles = await self._bound.of_thread(thread, view, schemas, now)
        owners = await owner_speakers(
            self._records, thread, view, (*excerpt.context, *excerpt.new), profiles
        )
        return Reading(
            thread=thread,
            messages=tuple(
                as_read(message, owners, context=place < len(excerpt.context))
                for place, message in enumerate(_never_back((*excerpt.context, *excerpt.new)))
            ),
            profiles=tuple(shown(profiles, self.secrets)),
            summary=thread.summary,
            experience=tuple(shown(lines, self.secrets)),
            schemas=schemas,
            now=now,
            language=language,
            keeps_secrets=self.secrets == "keep",
        )

    async def with_candidates(self, reading: Reading, excerpt: Excerpt) -> Reading:
        """Return the data of a prompt with the memories that the excerpt may repeat, correct,
        replace or settle.
        """
        thread, view = excerpt.thread, reading_view(excerpt.thread)
        open_ones = Filter(
            types=_MEMORY, kinds=frozenset({COMMITMENT}), statuses=STANDING, newest_first=True
        )
        # Words such as "Sent!" find no commitment.
        page = await self._records.scan(thread.owner, view, open_ones, None, _COMMITMENTS)
        found = (
            *those_of(Memory, page.records),
            *await self._candidates(excerpt, view, reading.now),
        )
        once = {one.id: one for one in found}
        return reading.model_copy(update={"candidates": tuple(shown(once.values(), self.secrets))})

    async def with_statements(self, reading: Reading, wanted: Wanted) -> Reading:
        """Return what was read, with the owner's statements that the new messages may end: formed
        ones, not pinned.
        """
        thread, view = reading.thread, reading_view(reading.thread)
        found: dict[UUID, Memory] = {}
        if wanted.all:
            only = Filter(types=_MEMORY, statuses=STANDING, trust=frozenset({Trust.USER}))
            found = {
                one.id: one for one in those_of(Memory, await self._all(thread.owner, view, only))
            }
        for value in wanted.values:
            close = await self._find_memories(thread.owner, view, value, STANDING, reading.now)
            found |= {one.id: one for one in close}
        candidates = tuple(
            shown((one for one in found.values() if _is_formed_statement(one)), self.secrets)
        )
        return reading.model_copy(update={"candidates": candidates})

    async def source_texts(self, reading: Reading) -> dict[UUID, str]:
        """Return the texts of the first message that each candidate was formed from."""
        ids = [
            *dict.fromkeys(source for memory in reading.candidates for source in memory.sources[:1])
        ]
        found = (
            await self._records.get(reading.thread.owner, reading_view(reading.thread), ids)
            if ids
            else {}
        )
        return {
            one.id: one.content for one in shown(those_of(Message, found.values()), self.secrets)
        }

    async def formed_by_rules(self, thread: Thread) -> list[Memory]:
        """Return a thread's memories that rules formed while no answer of the model could be used,
        and that hold.
        """
        only = Filter(
            types=_MEMORY, statuses=STANDING, thread=thread.id, tags=frozenset({BY_RULES})
        )
        return those_of(Memory, await self._all(thread.owner, writing_view(thread), only))

    async def current_records(self, reading: Reading, formed: Formed) -> CurrentRecords:
        """Return the records that results may affect: similar memories, those with the same key,
        their successors.
        """
        thread, view = reading.thread, reading_view(reading.thread)
        owner = thread.owner
        meant = [
            *(one.memory for one in formed.taken_back),
            *(one.memory for one in formed.confirmations),
        ]
        found = await self._records.get(
            owner, view, [*(one.id for one in reading.candidates), *meant]
        )
        # What strangers say stays with the agent: it may have noted the same before, for itself
        # alone.
        asked = (
            (one.content, one.trust in STRANGERS or one.subject is not None) for one in formed.notes
        )
        for said, alone in dict.fromkeys(asked):
            at = writing_view(thread) if alone else view
            for memory in await self._find_memories(owner, at, said, None, reading.now):
                found.setdefault(memory.id, memory)
        keys = {note.key for note in formed.notes if note.key is not None}
        keys |= {
            f"{note.subject}: {note.key}" for note in formed.notes if note.key and note.subject
        }
        if keys:
            holders = Filter(types=_MEMORY, keys=frozenset(keys))
            found |= {record.id: record for record in await self._all(owner, view, holders)}
        winners = {
            one.superseded_by
            for one in those_of(Memory, found.values())
            if one.superseded_by is not None
        }
        found |= await self._records.get(owner, view, [*winners - set(found)])
        new = [message.id for message in reading.new]
        return CurrentRecords(
            memories=tuple(
                [
                    await self._with_sources(thread, one, new)
                    for one in those_of(Memory, found.values())
                ]
            ),
            profiles=tuple(
                [
                    await self._with_sources(thread, one, new)
                    for one in await self._bound.of_thread(
                        thread, view, reading.schemas, reading.now
                    )
                ]
            ),
            experience=await self._experience(thread) if formed.experience else (),
            episodes=await self.episodes(thread),
        )

    async def _with_sources(self, thread: Thread, record: _M, new: list[UUID]) -> _M:
        """Return a record that lists, beside the sources that it always lists, those among the new
        messages.
        """
        if not unlisted_of(record):
            return record
        said = SourcePage(among=new)
        found = await self._records.unlisted(thread.owner, writing_view(thread), record.id, said)
        return _listing(record, found) if found else record

    async def was_applied(self, owner: Owner, operation: str) -> bool:
        """True if the operation with this id was applied before."""
        return await self._records.find_operation(owner, operation, ACTOR) is not None

    async def episodes(self, thread: Thread) -> tuple[Episode, ...]:
        """Return the episodes of a thread."""
        only = Filter(types=frozenset({RecordType.EPISODE}), thread=thread.id)
        return tuple(those_of(Episode, await self._all(thread.owner, reading_view(thread), only)))

    async def _experience(self, thread: Thread) -> tuple[ExperienceLine, ...]:
        """Return all lines of the agent's experience, including retired ones."""
        if thread.agent is None:
            return ()
        agent = Owner(tenant=thread.owner.tenant, kind=OwnerKind.AGENT, id=thread.agent)
        only = Filter(types=frozenset({RecordType.EXPERIENCE}))
        return tuple(those_of(ExperienceLine, await self._all(agent, WHOLE, only)))

    async def _all(self, owner: Owner, view: View, only: Filter) -> list[Record]:
        """Return all records that a filter selects."""
        return [one async for one in every_record(self._records, owner, view, only, _AT_A_TIME)]

    async def _candidates(self, excerpt: Excerpt, view: View, now: datetime) -> tuple[Memory, ...]:
        """Return memories that the excerpt may repeat, correct or replace: the best hit of each
        turn first.
        """
        said = [m for m in excerpt.new if m.role in ("user", "assistant")][-_ASKING:]
        ranked = [
            await self._find_memories(excerpt.thread.owner, view, message.content, STANDING, now)
            for message in said
        ]
        found: dict[UUID, Memory] = {}
        for place in range(_EACH):
            found |= {
                one.id: one
                for memories in ranked
                for one in memories[place : place + 1]
                if one.id not in found
            }
        return tuple(found.values())[:_CANDIDATES]

    async def _find_memories(
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
        shown = [
            record for hit in found for record in (hit.record, *(one.record for one in hit.folded))
        ]
        return those_of(Memory, shown)


def _listing(record: _M, found: list[tuple[UUID, UUID]]) -> _M:
    """Return a record that lists these of its unlisted sources, too; it is only compared, and never
    stored.
    """
    if isinstance(record, Memory):
        return cast(_M, record.changed(sources=(*record.sources, *(source for _, source in found))))
    if not isinstance(record, ProfileDocument):
        return record
    more: dict[UUID, list[UUID]] = {}
    for group, source in found:
        more.setdefault(group, []).append(source)
    grounds = {
        name: tuple(
            (*entry, *(source for part in entry for source in more.get(part, ()))) for entry in held
        )
        for name, held in record.grounds.items()
    }
    return cast(_M, record.changed(grounds=grounds))


def _never_back(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield a thread's messages; where a clock went back between two of them, the later one has the
    time of the earlier.

    Only times of receipt are read so. Times that the application gave stay.
    """
    latest: datetime | None = None
    for message in messages:
        if not message.observed_assumed:
            yield message
            continue
        latest = message.observed_at if latest is None else max(latest, message.observed_at)
        yield message if message.observed_at == latest else message.changed(observed_at=latest)


def _is_formed_statement(memory: Memory) -> bool:
    """True if a memory was formed from the user's own words, and no person holds on to it."""
    return memory.trust is Trust.USER and bool(memory.quotes) and not memory.pinned


def with_schema_due(reading: Reading, name: str, *, due: bool = True) -> Reading:
    """Return what was read, with one more schema marked as due, or as not due."""
    schemas = tuple(
        schema.model_copy(update={"due": due}) if schema.name == name else schema
        for schema in reading.schemas
    )
    return reading.model_copy(update={"schemas": schemas})


def newest_within(excerpt: Excerpt, tokens: int) -> Excerpt:
    """Return an excerpt's newest messages without context: about half of so many tokens, and at
    most 48 messages.
    """
    room, start = tokens // 2, len(excerpt.new)
    turns = shown_turns(excerpt.new)
    while start and room > 0 and len(excerpt.new) - start < _ASKING * 2:
        start -= 1
        room -= estimate(turns[start].content)
    return replace(excerpt, context=(), new=excerpt.new[start:])


def remaining_after(excerpt: Excerpt, through: int) -> Excerpt:
    """Return an excerpt's messages after a given message number, with the turns before it as
    context.
    """
    before = [message for message in (*excerpt.context, *excerpt.new) if message.seq <= through]
    return replace(
        excerpt,
        context=tuple(before[-_CONTEXT:]),
        new=tuple(message for message in excerpt.new if message.seq > through),
    )


def up_to(excerpt: Excerpt, through: int) -> Excerpt:
    """Return an excerpt's messages up to a given message number."""
    return replace(excerpt, new=tuple(message for message in excerpt.new if message.seq <= through))
