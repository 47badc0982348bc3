"""Contexts: gathers the records that an agent should read, and counts the use of memories."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from memoranda import telemetry
from memoranda.book.services import Services
from memoranda.book.verbs.windows import itself, newest_turns, page_of, turns_of
from memoranda.errors import MemorandaError
from memoranda.model.experience_lines import ExperienceLine, serves
from memoranda.model.memories import HELD, Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.passages import Use
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Because, Filter, Hit
from memoranda.model.records import WHOLE, Owner, OwnerKind, Record, RecordType, View, those_of
from memoranda.ports import Scan
from memoranda.recall.context.composer import (
    PART,
    Composer,
    Context,
    Material,
    is_users_turn,
    turns_since_silence,
)
from memoranda.recall.context.echoes import Echo, Echoes
from memoranda.text.token_count import Count

#: As long as what was used waits for more, to be noted in one write.
_TOGETHER_SECONDS = 0.2


class Placing(NamedTuple):
    """One use of a memory: it was placed in a prompt at a time. The memory's content is not stored here."""

    id: UUID
    observed_at: datetime
    at: datetime


class Uses:
    """Counts the use of memories (their placing in prompts), which refreshes their strength."""

    def __init__(self, services: Services) -> None:
        self._services = services
        #: What was placed and is not yet being noted, by the loop that will note it.
        self._waiting: dict[asyncio.AbstractEventLoop, dict[tuple[Owner, View], list[Placing]]] = {}
        self._noting: set[asyncio.Task[None]] = set()

    def note(self, owner: Owner, view: View, placed: Sequence[Memory]) -> None:
        """Store in the background that memories were used: no reader waits for it or fails because of it.

        What several contexts place within a moment is noted together.
        """
        if placed:
            loop = asyncio.get_running_loop()
            if loop not in self._waiting:
                # What a loop that has ended was to note is lost with it.
                self._waiting = {other: was for other, was in self._waiting.items() if not other.is_closed()}
                self._waiting[loop] = {}
                loop.call_later(_TOGETHER_SECONDS, self._begin, loop)
            self._waiting[loop].setdefault((owner, view), []).extend(self._placings(placed))

    def _placings(self, memories: Sequence[Memory]) -> list[Placing]:
        """Return a use of each of these memories, at the present time."""
        now = self._services.door.clock()
        return [Placing(memory.id, memory.observed_at, now) for memory in memories]

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start storing the uses that wait, unless ``settled`` has started it already."""
        for (owner, view), placed in self._waiting.pop(loop, {}).items():
            task = loop.create_task(self._note(owner, view, placed))
            self._noting.add(task)
            task.add_done_callback(self._noting.discard)

    async def _note(self, owner: Owner, view: View, placed: Sequence[Placing]) -> None:
        try:
            await self._refresh(owner, view, placed)
        except MemorandaError:
            telemetry.count("uses_lost")

    async def use(self, owner: Owner, view: View, placed: Sequence[Memory]) -> int:
        """Store that memories were placed in a prompt, which refreshes their strength; returns the number of memories."""
        return await self._refresh(owner, view, self._placings(placed))

    async def _refresh(self, owner: Owner, view: View, placed: Sequence[Placing]) -> int:
        ids = list(dict.fromkeys(one.id for one in placed))
        before = await self._services.engine.uses(owner, view, ids)
        after = {id: before.get(id, Use()) for id in ids}
        for one in placed:
            after[one.id] = after[one.id].again(one.at, one.observed_at)
        return await self._services.engine.note_use(owner, view, after)

    async def settled(self) -> None:
        """Store all uses up to now, and wait until they are stored."""
        loop = asyncio.get_running_loop()
        self._begin(loop)
        if mine := [task for task in self._noting if task.get_loop() is loop]:
            await asyncio.wait(mine)


#: Finds passages for a question, as the book's own verb does.
Finding = Callable[[str, RecordType | None, int], Awaitable[Sequence[Hit]]]

#: Profiles and pinned memories, which do not wait for a question.
_KEPT = Filter(types=frozenset({RecordType.PROFILE, RecordType.MEMORY}), pinned=True)
_NEWEST = Filter(types=frozenset({RecordType.MEMORY}), statuses=HELD, newest_first=True)
_LAST_EPISODES = Filter(types=frozenset({RecordType.EPISODE}), newest_first=True)
_LEARNT = Filter(types=frozenset({RecordType.EXPERIENCE}), newest_first=True)

#: The fewest tokens of a turn in a conversation: its label's, and one for so many bytes.
_LABEL, _BYTES_A_TOKEN = 12, 6
#: So much of a turn is enough of a question.
_QUESTION = 2000
_MOST = 1000


@dataclass(frozen=True, slots=True)
class _Beside:
    """The records a context includes besides the answers to its question."""

    #: Profiles and pinned memories.
    kept: Sequence[Record]
    #: Newest first, as the following.
    newest: Sequence[Memory]
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
        question: str | None,
        thread: UUID | None,
        budget: int,
        limit: int,
        count: Count | None,
    ) -> tuple[Context, list[Memory]]:
        """Return a context, and the memories that were placed in it."""
        found: Sequence[Hit] = ()
        if question is None:
            beside = await self._beside(owner, view, thread, budget, limit, episodes=True)
            question = _question_of(beside.turns)
            if question is not None:
                found = await finding(question, None, limit)
        else:
            found, beside = await asyncio.gather(
                finding(question, None, limit),
                self._beside(owner, view, thread, budget, limit, episodes=False),
            )
        told = _memories_of(found)
        if question is not None and len(told) <= limit // 3 and len(beside.newest) == limit:
            # Messages are many and must not crowd out what was concluded from them.
            told = _memories_of(await finding(question, RecordType.MEMORY, limit))
        turns = turns_since_silence(beside.turns, self._services.door.clock(), self._services.window_ttl)
        memories = _chosen([*those_of(Memory, beside.kept), *told, *beside.newest], limit)
        profile = those_of(ProfileDocument, beside.kept)
        judge = Echoes([*memories, *profile, *beside.learnt, *_shown(found)], question)
        passages, echoes = await _passages(found, judge, question, finding, limit)
        material = Material(
            experience=beside.learnt,
            profile=profile,
            memories=memories,
            episodes=beside.episodes if question is None else those_of(Episode, _shown(found)),
            passages=passages,
            echoes=echoes,
            told_by={
                one.record.id: hit.id for hit in found for one in hit.folded if one.because is Because.SOURCE
            },
            turns=turns,
            turns_whole=beside.turns_whole and len(turns) == len(beside.turns),
            thread=beside.thread,
        )
        context = Composer(material, budget, count).compose()
        placed = set(context.memories)
        return context, [memory for memory in memories if memory.id in placed]

    async def _beside(
        self, owner: Owner, view: View, thread: UUID | None, budget: int, limit: int, *, episodes: bool
    ) -> _Beside:
        """Read everything a context includes besides the answers to its question, in one call to the engine."""
        scans = [Scan(owner, view, _KEPT, None, _MOST), Scan(owner, view, _NEWEST, None, limit)]
        if episodes:
            scans.append(Scan(owner, view, _LAST_EPISODES, None, max(limit // 4, 1)))
        if view.agent is not None:
            agent = Owner(tenant=self._services.tenant, kind=OwnerKind.AGENT, id=view.agent)
            scans.append(Scan(agent, WHOLE, _LEARNT, None, _MOST))
        if thread is not None:
            scans.append(Scan(owner, view, itself(thread), None, 1))
            scans.append(Scan(owner, view, turns_of(thread), None, page_of(budget)))
        pages = await self._services.engine.scans(scans)
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
            newest=those_of(Memory, read),
            episodes=those_of(Episode, read),
            learnt=[line for line in those_of(ExperienceLine, read) if serves(line, owner, users)],
            turns=turns,
            turns_whole=whole,
            thread=next(iter(those_of(Thread, read)), None),
        )


def _at_least(turn: Message, budget: int) -> int:
    """Return the fewest tokens a turn may take, without counting them; so more turns are read than fit, never too few."""
    return _LABEL + min(len(turn.content.encode("utf-8", "replace")) // _BYTES_A_TOKEN, budget // PART)


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
    further = await finding(question, RecordType.MESSAGE, min(limit * 3, _MOST))
    others = (message for message in those_of(Message, _shown(further)) if message.id not in known)
    useful = (message for message in others if judge.reason(message) is None)
    return [*messages, *islice(useful, len(echoes))], echoes


def _question_of(turns: Sequence[Message]) -> str | None:
    """Return the end of the newest message of the thread's user, or None."""
    said = next((turn.content for turn in reversed(turns) if is_users_turn(turn)), None)
    return None if said is None else said[-_QUESTION:]
