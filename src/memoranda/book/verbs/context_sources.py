"""Contexts: gathers the records that an agent should read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import tzinfo
from itertools import islice
from typing import Any, Final, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memoranda.book.agent_settings import ContextSettings
from memoranda.book.input import as_count, as_counter, as_id, as_limit, as_names, as_text, as_types
from memoranda.book.services import Services
from memoranda.book.verbs.advice import log_narrow_view
from memoranda.book.verbs.windows import itself, newest_turns, page_of, turns_of
from memoranda.errors import InvalidInput
from memoranda.formation.formation_settings import CONTEXT
from memoranda.model.experience_lines import ExperienceLine, serves
from memoranda.model.memories import HELD, Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Because, Filter, Hit
from memoranda.model.records import PASSAGE_TYPES, WHOLE, Owner, OwnerKind, Record, RecordType, View, those_of
from memoranda.ports import Scan
from memoranda.recall.context.blocks import now_line
from memoranda.recall.context.composer import (
    PART,
    Composer,
    Context,
    Material,
    is_users_turn,
    turns_since_silence,
)
from memoranda.recall.context.echoes import Echo, Echoes
from memoranda.secrets.masks import shown
from memoranda.text.token_count import Count


class Finding(Protocol):
    """Finds passages of these types for a question, memories of these kinds only, as the book's own verb does."""

    def __call__(
        self,
        question: str,
        types: AbstractSet[RecordType],
        most: int,
        kinds: AbstractSet[str] | None = None,
        /,
    ) -> Awaitable[Sequence[Hit]]: ...


#: The types of the records that a context may contain besides the conversation.
_PLACED: Final = PASSAGE_TYPES | {RecordType.EXPERIENCE, RecordType.PROFILE}


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The checked arguments of ``book.context`` that say what goes in."""

    #: None: the last message of the thread's user.
    question: str | None
    thread: UUID | None
    budget: int
    limit: int
    count: Count | None
    types: frozenset[RecordType]
    #: The kinds of memories; None: all.
    kinds: frozenset[str] | None
    #: The reader's zone, if the context is to tell the time.
    zone: tzinfo | None

    def wants(self, memory: Memory) -> bool:
        """True if a memory may be placed."""
        return RecordType.MEMORY in self.types and (self.kinds is None or memory.kind in self.kinds)


def request_of(
    question: Any, thread: Any, budget: Any, limit: Any, count: Any, types: Any, kinds: Any, zone: Any
) -> ContextRequest:
    """Check the arguments of ``book.context``."""
    wanted = _PLACED if types is None else as_types(types)
    assert wanted is not None
    if not wanted <= _PLACED:
        known = ", ".join(sorted(_PLACED))
        raise InvalidInput(f"types: a context has no records of other types than {known}", field="types")
    return ContextRequest(
        None if question is None else as_text(question, "query"),
        None if thread is None else as_id(thread, "thread"),
        as_count(budget, "budget", 1),
        as_limit(limit),
        as_counter(count),
        wanted,
        None
        if kinds is None
        else frozenset(as_names((kinds,) if isinstance(kinds, str) else kinds, "kinds")),
        None if zone is None else _as_zone(zone),
    )


def check_context_settings(chosen: ContextSettings) -> None:
    """Raise ``InvalidInput`` if an agent's settings of contexts cannot be used."""
    try:
        request_of(
            None, None, chosen.budget, chosen.limit, None, chosen.types, chosen.kinds, chosen.time_zone
        )
    except InvalidInput as exc:
        at = f"settings.{CONTEXT}.{exc.field}"
        raise InvalidInput(f"{at}: {exc}", field=at) from exc


def usable_here(chosen: ContextSettings) -> ContextSettings:
    """Return an agent's stored settings of contexts; the usual ones if this process cannot use them."""
    try:
        check_context_settings(chosen)
    except InvalidInput:
        return ContextSettings()
    return chosen


def _as_zone(given: Any) -> tzinfo:
    """Return a time zone, given as such or by its name."""
    if isinstance(given, tzinfo):
        return given
    try:
        return ZoneInfo(as_text(given, "time_zone"))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            f"time_zone: {given!r} is not known here; give a name such as 'Europe/Lisbon', or a tzinfo",
            field="time_zone",
        ) from None


#: Profiles and pinned memories, which do not wait for a question.
_KEPT_TYPES: Final = frozenset({RecordType.PROFILE, RecordType.MEMORY})
_KEPT = Filter(types=_KEPT_TYPES, pinned=True)
_NEWEST = Filter(types=frozenset({RecordType.MEMORY}), statuses=HELD, newest_first=True)
_LAST_EPISODES = Filter(types=frozenset({RecordType.EPISODE}), newest_first=True)
_LEARNT = Filter(types=frozenset({RecordType.EXPERIENCE}), newest_first=True)

#: The fewest tokens of a turn in a conversation: its label's, and one for so many bytes.
_LABEL, _BYTES_A_TOKEN = 12, 6
#: So much of a turn is enough of a question.
_QUESTION = 2000
_MOST = 1000
#: As many of a view's groups have their memories read.
_GROUPS = 10


@dataclass(frozen=True, slots=True)
class _Beside:
    """The records a context includes besides the answers to its question."""

    #: Profiles and pinned memories.
    kept: Sequence[Record]
    #: Newest first, as the following.
    newest: Sequence[Memory]
    #: Memories of the groups that the view names, pinned ones first.
    of_groups: Sequence[Memory]
    episodes: Sequence[Episode]
    #: What the agent has learnt, as far as it may serve this owner.
    learnt: Sequence[ExperienceLine]
    #: Oldest first.
    turns: Sequence[Message]
    turns_whole: bool
    #: The thread, for its summary.
    thread: Thread | None


class Contexts:
    """Builds contexts from the records of a book."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def make(
        self,
        owner: Owner,
        view: View,
        finding: Finding,
        request: ContextRequest,
    ) -> tuple[Context, list[Memory]]:
        """Return a context, and the memories that were placed in it."""
        question, limit, now = request.question, request.limit, self._services.door.clock()
        types = request.types & PASSAGE_TYPES
        found: Sequence[Hit] = ()
        if question is None or not types:
            beside = await self._beside(owner, view, request)
            question = _question_of(beside.turns) if question is None else question
            if question is not None and types:
                found = await finding(question, types, limit)
        else:
            found, beside = await asyncio.gather(
                finding(question, types, limit), self._beside(owner, view, request)
            )
        told = _memories_of(found)
        few = sum(map(request.wants, told)) <= limit // 3
        if question is not None and few and len(beside.newest) == limit:
            # Messages are many and must not crowd out what was concluded from them.
            told = _memories_of(await finding(question, {RecordType.MEMORY}, limit, request.kinds))
        turns = turns_since_silence(beside.turns, now, self._services.forming.window_ttl)
        known = [*those_of(Memory, beside.kept), *told, *beside.newest]
        memories = _chosen([memory for memory in known if request.wants(memory)], limit)
        profile = those_of(ProfileDocument, beside.kept)
        judge = Echoes([*memories, *profile, *beside.learnt, *_shown(found)], question)
        passages, echoes = await _passages(found, judge, question, finding, limit)
        material = Material(
            experience=beside.learnt,
            profile=profile,
            memories=memories,
            group_memories=beside.of_groups,
            episodes=beside.episodes if question is None else those_of(Episode, _shown(found)),
            passages=passages,
            echoes=echoes,
            told_by={
                one.record.id: hit.id for hit in found for one in hit.folded if one.because is Because.SOURCE
            },
            turns=turns,
            turns_whole=beside.turns_whole and len(turns) == len(beside.turns),
            thread=beside.thread,
            now="" if request.zone is None else now_line(now, request.zone),
        )
        context = Composer(material, request.budget, request.count).compose()
        if not context.blocks:
            only = Filter(types=request.types - {RecordType.EXPERIENCE})
            await log_narrow_view(self._services.engine, owner, view, only, "context")
        placed = set(context.memories)
        return context, [memory for memory in memories if memory.id in placed]

    def _groups(self, view: View) -> list[Owner]:
        """Return the groups of a view as owners: the application names them, so it lets the agent read what is theirs."""
        names = view.groups[:_GROUPS]
        return [Owner(tenant=self._services.tenant, kind=OwnerKind.GROUP, id=name) for name in names]

    async def _beside(self, owner: Owner, view: View, request: ContextRequest) -> _Beside:
        """Read everything a context includes besides the answers to its question, in one call to the engine."""
        types, thread, budget = request.types, request.thread, request.budget
        scans = [Scan(owner, view, replace(_KEPT, types=_KEPT_TYPES & types), None, _MOST)]
        if RecordType.MEMORY in types:
            scans.append(Scan(owner, view, replace(_NEWEST, kinds=request.kinds), None, request.limit))
            for group in self._groups(view):
                if group != owner:
                    pinned = replace(_KEPT, types=_NEWEST.types, kinds=request.kinds)
                    scans.append(Scan(group, view, pinned, None, _MOST))
                    scans.append(
                        Scan(group, view, replace(_NEWEST, kinds=request.kinds), None, request.limit)
                    )
        if request.question is None and RecordType.EPISODE in types:
            scans.append(Scan(owner, view, _LAST_EPISODES, None, max(request.limit // 4, 1)))
        if view.agent is not None and RecordType.EXPERIENCE in types:
            agent = Owner(tenant=self._services.tenant, kind=OwnerKind.AGENT, id=view.agent)
            scans.append(Scan(agent, WHOLE, _LEARNT, None, _MOST))
        if thread is not None:
            scans.append(Scan(owner, view, itself(thread), None, 1))
            scans.append(Scan(owner, view, turns_of(thread), None, page_of(budget)))
        found, mode = await self._services.engine.scans(scans), self._services.door.secrets
        pages = [replace(page, records=tuple(shown(page.records, mode, native=False))) for page in found]
        users = self._services.door.limits.experience_min_users
        read = [record for page in pages[1:] for record in page.records]
        turns: list[Message] = []
        whole = True
        if thread is not None:
            turns, whole = await newest_turns(
                self._services,
                owner,
                view,
                thread,
                budget,
                lambda turn: _at_least(turn, budget),
                first=pages[-1],
            )
        return _Beside(
            kept=pages[0].records,
            newest=[memory for memory in those_of(Memory, read) if memory.owner == owner],
            of_groups=_chosen(
                _newest_first(one for one in those_of(Memory, read) if one.owner != owner), request.limit
            ),
            episodes=those_of(Episode, read),
            learnt=[line for line in those_of(ExperienceLine, read) if serves(line, owner, users)],
            turns=shown(turns, mode, native=False),
            turns_whole=whole,
            thread=next(iter(those_of(Thread, read)), None),
        )


def _at_least(turn: Message, budget: int) -> int:
    """Return the fewest tokens a turn may take, without counting them; so more turns are read than fit, never too few."""
    return _LABEL + min(len(turn.content.encode("utf-8", "replace")) // _BYTES_A_TOKEN, budget // PART)


def _newest_first(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (memory.recorded_at, memory.id), reverse=True)


def _chosen(memories: Sequence[Memory], limit: int) -> list[Memory]:
    """Return all pinned active memories, then at most ``limit`` others, in the order given; no disputed ones."""
    known = {memory.id: memory for memory in memories if memory.active and memory.disputes is None}.values()
    return [memory for memory in known if memory.pinned] + [memory for memory in known if not memory.pinned][
        :limit
    ]


def _memories_of(found: Sequence[Hit]) -> list[Memory]:
    """Return the memories among the hits and among the records folded into them."""
    return those_of(Memory, _shown(found))


def _shown(found: Sequence[Hit]) -> list[Record]:
    """Return the records of the hits and of those folded into them, except repetitions of the same statement."""
    return [
        record
        for hit in found
        for record in (hit.record, *(one.record for one in hit.folded if one.because is not Because.SAME))
    ]


async def _passages(
    found: Sequence[Hit], judge: Echoes, question: str | None, finding: Finding, limit: int
) -> tuple[list[Message], dict[UUID, Echo]]:
    """Return the messages found, and those among them that only repeat; if these are many, find others in their place."""
    messages = those_of(Message, _shown(found))
    echoes = {one.id: why for one in messages if (why := judge.reason(one)) is not None}
    if question is None or len(found) < limit or len(echoes) <= limit // 3:
        return messages, echoes
    known = {message.id for message in messages}
    further = await finding(question, {RecordType.MESSAGE}, min(limit * 3, _MOST))
    others = (message for message in those_of(Message, _shown(further)) if message.id not in known)
    useful = (message for message in others if judge.reason(message) is None)
    return [*messages, *islice(useful, len(echoes))], echoes


def _question_of(turns: Sequence[Message]) -> str | None:
    """Return the end of the newest message of the thread's user, or None."""
    said = next((turn.content for turn in reversed(turns) if is_users_turn(turn)), None)
    return None if said is None else said[-_QUESTION:]
