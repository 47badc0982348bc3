"""Contexts: gathers the records that an agent should read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from memoranda.book.advice import log_narrow_view
from memoranda.book.context_requests import ContextRequest
from memoranda.book.services import Services
from memoranda.book.windows import itself, newest_turns, page_of, turns_of
from memoranda.first_use import dataclass
from memoranda.formation.bound_profiles import keyed
from memoranda.model.experience_lines import ExperienceLine, serves
from memoranda.model.memories import ARCHIVED, HELD, INSTRUCTION, Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.passages import UNUSED
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Because, Filter, Hit, Scan
from memoranda.model.records import (
    PASSAGE_TYPES,
    WHOLE,
    Owner,
    OwnerKind,
    Record,
    RecordType,
    Trust,
    View,
    those_of,
)
from memoranda.recall.context.blocks import now_line
from memoranda.recall.context.composer import OTHERS_PART, PART, STANDING_PART, Composer, Material
from memoranda.recall.context.echoes import Echoes
from memoranda.recall.context.passage_parts import MARKS
from memoranda.recall.context.repetitions import each_once
from memoranda.recall.context.result import Context
from memoranda.recall.context.turns import is_users_turn, turns_since_silence
from memoranda.secrets.masks import shown
from memoranda.text.token_count import estimate
from memoranda.text.written_days import is_past


class Finding(Protocol):
    """Finds passages of these types for a question, memories of these kinds only, as the book's own
    verb does.
    """

    def __call__(
        self,
        question: str,
        types: AbstractSet[RecordType],
        most: int,
        kinds: AbstractSet[str] | None = None,
        /,
    ) -> Awaitable[Sequence[Hit]]: ...


#: Profiles and pinned memories, which do not wait for a question.
_KEPT_TYPES: Final = frozenset({RecordType.PROFILE, RecordType.MEMORY})
_KEPT = Filter(types=_KEPT_TYPES, pinned=True)
_NEWEST = Filter(types=frozenset({RecordType.MEMORY}), statuses=HELD, newest_first=True)
#: Instructions of the user or the operator: they hold whatever is asked.
_STANDING = replace(
    _NEWEST,
    kinds=frozenset({INSTRUCTION}),
    trust=frozenset({Trust.USER.value, Trust.OPERATOR.value}),
)
#: What no longer holds, because something replaced it or because it was taken back.
_ENDED = Filter(types=_NEWEST.types, statuses=frozenset(status.value for status in MARKS))
_LAST_EPISODES = Filter(types=frozenset({RecordType.EPISODE}), newest_first=True)
#: What the user said and is not formed yet; never what an assistant, a tool or a page said.
_UNFORMED = replace(turns_of(None), unformed=True, kinds=frozenset({"user"}), trust=_STANDING.trust)
_LEARNT = Filter(types=frozenset({RecordType.EXPERIENCE}), newest_first=True)

#: The fewest tokens of a turn in a conversation: its label's, and one for so many bytes.
_LABEL, _BYTES_A_TOKEN = 12, 6
#: So much of a turn is enough of a question.
_QUESTION = 2000
_MOST = 1000
#: As many standing instructions are read, of which the strongest go in.
_STANDING_MOST = 200
#: For so many tokens of the budget one hit and one memory are read at first, and so many at least;
#: then so many times more.
_TOKENS_A_LINE, _FEWEST, _MORE = 32, 10, 4
#: As many of a view's groups have their memories read.
_GROUPS = 10


@dataclass(frozen=True, slots=True)
class _Beside:
    """The records a context includes besides the answers to its question."""

    #: Pinned memories.
    kept: Sequence[Memory]
    #: Profile documents with the fields that memories hold.
    profile: Sequence[ProfileDocument]
    #: Instructions that hold whatever is asked.
    standing: Sequence[Memory]
    #: Newest first, as the following.
    newest: Sequence[Memory]
    #: Memories of the groups that the view names, disputed ones too.
    of_groups: Sequence[Memory]
    episodes: Sequence[Episode]
    #: What the user said in other threads and is not formed yet.
    unformed: Sequence[Message]
    #: What the agent has learnt, as far as it may serve this owner.
    learnt: Sequence[ExperienceLine]
    #: Oldest first.
    turns: Sequence[Message]
    turns_whole: bool
    #: The thread, for its summary.
    thread: Thread | None


class _Gathered(NamedTuple):
    """The records that a context may contain."""

    material: Material
    #: True if more could not be found.
    all_read: bool


#: Blocks whose records are of another owner.
_NOT_THE_OWNERS = frozenset({"agent_experience", "group_memories"})


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
        if view.whole and await self._services.engine.restriction(owner) is not None:
            # Storage shows a restricted owner's records to the person; placing them in a context is
            # use.
            return _nothing(request)
        most = _most_for(request.budget) if request.limit is None else request.limit
        while True:
            gathered = await self._gathered(owner, view, finding, request, most)
            context = Composer(gathered.material, request.budget, request.count).compose()
            # Short entries fill a budget only if more of them are read.
            if (
                request.limit is not None
                or gathered.all_read
                or most == _MOST
                or _is_full(context, request)
            ):
                break
            most = min(most * _MORE, _MOST)
        if (
            {block.name for block in context.blocks} <= _NOT_THE_OWNERS
            and context.blocks
            and await self._services.engine.restriction(owner) is not None
        ):
            # What an agent learnt of this owner, and for them, is not used either.
            return _nothing(request)
        if not context.blocks:
            only = Filter(types=request.types - {RecordType.EXPERIENCE})
            await log_narrow_view(self._services.engine, owner, view, only, "context")
        placed = set(context.memories)
        return context, [memory for memory in gathered.material.memories if memory.id in placed]

    async def _gathered(
        self, owner: Owner, view: View, finding: Finding, request: ContextRequest, most: int
    ) -> _Gathered:
        """Read and find what a context of at most so many hits and memories may contain."""
        question, now = request.question, self._services.door.clock()
        types = request.types & PASSAGE_TYPES
        found: Sequence[Hit] = ()
        if question is None or not types:
            beside = await self._beside(owner, view, request, most)
            question = _question_of(beside.turns) if question is None else question
            if question is not None and types:
                found = await finding(question, types, most)
        else:
            found, beside = await asyncio.gather(
                finding(question, types, most), self._beside(owner, view, request, most)
            )
        told = _memories_of(found)
        if question is not None and not all(map(request.wants, told)):
            # Memories of other kinds must not take the places of messages.
            told = _memories_of(await finding(question, {RecordType.MEMORY}, most, request.kinds))
            others = types - {RecordType.MEMORY}
            found = await finding(question, others, most) if others else ()
        few = sum(map(request.wants, told)) <= most // 3
        if question is not None and few and len(beside.newest) >= most:
            # Messages are many and must not crowd out what was concluded from them.
            told = _memories_of(await finding(question, {RecordType.MEMORY}, most, request.kinds))
        turns = turns_since_silence(beside.turns, now, self._services.forming.window_ttl)
        known = [
            memory
            for memory in (*beside.kept, *told, *beside.newest, *beside.standing)
            if request.wants(memory)
        ]
        memories = _chosen([memory for memory in known if not is_past(memory, now)], most)
        unformed = each_once(
            beside.unformed, [record for hit in found for record in _records_of(hit)]
        )
        judge = Echoes(
            [*memories, *beside.profile, *beside.learnt, *unformed, *_shown(found)], question
        )
        passages, hits = await _passages(found, judge, question, finding, request.limit)
        groups = [memory for memory in beside.of_groups if not is_past(memory, now)]
        every = _each_once((*known, *beside.of_groups))
        material = Material(
            experience=beside.learnt,
            profile=beside.profile,
            memories=memories,
            group_memories=_chosen(groups, most),
            standing=await self._strongest(
                owner, view, request.budget, [*memories, *_chosen(groups, most)]
            ),
            expired=[memory for memory in every if is_past(memory, now)],
            disputed=[
                memory
                for memory in every
                if memory.active and memory.disputes is not None and not is_past(memory, now)
            ],
            ended=await self._ended(owner, view, [*unformed, *passages]),
            episodes=beside.episodes if question is None else those_of(Episode, _shown(found)),
            unformed=unformed,
            passages=passages,
            hits={record.id: hit for hit in reversed(hits) for record in _records_of(hit)},
            turns=turns,
            turns_whole=beside.turns_whole and len(turns) == len(beside.turns),
            thread=beside.thread,
            question=question,
            echoes=judge,
            now="" if request.zone is None else now_line(now, request.zone),
        )
        return _Gathered(material, len(found) < most and len(beside.newest) < most)

    async def _strongest(
        self, owner: Owner, view: View, budget: int, memories: Sequence[Memory]
    ) -> list[UUID]:
        """Return the standing instructions among the memories, the strongest first if there are too
        many.
        """
        standing = [memory for memory in memories if _is_standing(memory)]
        ids = [memory.id for memory in standing]
        if sum(estimate(memory.content) + _LABEL for memory in standing) <= budget // STANDING_PART:
            return ids
        now, uses = self._services.door.clock(), await self._services.engine.uses(owner, view, ids)
        strength = {
            memory.id: uses.get(memory.id, UNUSED).strength_at(now, memory.observed_at)
            for memory in standing
        }
        return sorted(ids, key=lambda id: strength[id], reverse=True)

    async def _ended(self, owner: Owner, view: View, passages: Sequence[Message]) -> list[Memory]:
        """Return the memories that no longer hold and cite one of the passages."""
        if not passages:
            return []
        only = replace(_ENDED, sources=frozenset(message.id for message in passages))
        page = await self._services.engine.scan(owner, view, only, None, _MOST)
        # Their quotes are compared with what the context shows of the messages.
        return those_of(Memory, shown(page.records, self._services.door.secrets, native=False))

    def _other_groups(self, owner: Owner, view: View) -> list[Owner]:
        """Return the groups of a view as owners: the application names them, so it lets the agent
        read what is theirs.
        """
        names = view.groups[:_GROUPS]
        groups = [
            Owner(tenant=self._services.tenant, kind=OwnerKind.GROUP, id=name) for name in names
        ]
        return [group for group in groups if group != owner]

    async def _beside(
        self, owner: Owner, view: View, request: ContextRequest, most: int
    ) -> _Beside:
        """Read everything a context includes besides the answers to its question, in one call to
        the engine.
        """
        types, thread, budget = request.types, request.quoted_thread, request.budget
        unformed = replace(_UNFORMED, types=types & {RecordType.MESSAGE}, not_thread=request.thread)
        scans = [
            Scan(owner, view, replace(_KEPT, types=_KEPT_TYPES & types), None, _MOST),
            Scan(owner, view, unformed, None, min(budget // OTHERS_PART // _LABEL + 1, _MOST)),
        ]
        if RecordType.MEMORY in types:
            newest = replace(_NEWEST, kinds=request.kinds)
            if request.kinds is None or INSTRUCTION in request.kinds:
                scans.append(Scan(owner, view, _STANDING, None, _STANDING_MOST))
            scans.append(Scan(owner, view, newest, None, most))
            # They come last, where room is left: after a long absence all may be archived.
            scans.append(
                Scan(owner, view, replace(newest, statuses=frozenset({ARCHIVED})), None, most)
            )
            for group in self._other_groups(owner, view):
                pinned = replace(_KEPT, types=_NEWEST.types, kinds=request.kinds)
                scans.append(Scan(group, view, pinned, None, _MOST))
                scans.append(Scan(group, view, _STANDING, None, _STANDING_MOST))
                scans.append(Scan(group, view, newest, None, most))
        bound = await self._services.bound.schemas() if RecordType.PROFILE in types else {}
        if bound:
            scans.append(Scan(owner, view, keyed(bound), None, _MOST))
        at_keys = len(scans) - 1
        if request.question is None and RecordType.EPISODE in types:
            scans.append(Scan(owner, view, _LAST_EPISODES, None, max(most // 4, 1)))
        if view.agent is not None and RecordType.EXPERIENCE in types:
            agent = Owner(tenant=self._services.tenant, kind=OwnerKind.AGENT, id=view.agent)
            scans.append(Scan(agent, WHOLE, _LEARNT, None, _MOST))
        if thread is not None:
            scans.append(Scan(owner, view, itself(thread), None, 1))
            scans.append(Scan(owner, view, turns_of(thread), None, page_of(budget)))
        found, mode = await self._services.engine.scans(scans), self._services.door.secrets
        pages = [
            replace(page, records=tuple(shown(page.records, mode, native=False))) for page in found
        ]
        users = self._services.door.limits.experience_min_users
        keyed_ones = pages.pop(at_keys).records if bound else ()
        read = [record for page in pages[1:] for record in page.records]
        stored, now = those_of(ProfileDocument, pages[0].records), self._services.door.clock()
        profile = await self._services.bound.joined(
            owner, view, stored, keyed_ones, now, schemas=bound
        )
        said = await self._services.forming.still_formed(
            owner, view, those_of(Message, pages[1].records)
        )
        turns: list[Message] = []
        whole = True
        if thread is not None:

            def cost(turn: Message) -> int:
                return _at_least(turn, budget)

            turns, whole = await newest_turns(
                self._services, owner, view, thread, budget, cost, first=pages[-1]
            )
        own = [memory for memory in those_of(Memory, read) if memory.owner == owner]
        of_groups = _newest_first(one for one in those_of(Memory, read) if one.owner != owner)
        return _Beside(
            kept=those_of(Memory, pages[0].records),
            profile=profile,
            standing=[memory for memory in own if _is_standing(memory)],
            newest=_each_once(own),
            of_groups=of_groups,
            episodes=those_of(Episode, read),
            unformed=said,
            learnt=[line for line in those_of(ExperienceLine, read) if serves(line, owner, users)],
            turns=shown(turns, mode, native=False),
            turns_whole=whole,
            thread=next(iter(those_of(Thread, read)), None),
        )


def _nothing(request: ContextRequest) -> tuple[Context, list[Memory]]:
    return Composer(Material(), request.budget, request.count).compose(), []


def _at_least(turn: Message, budget: int) -> int:
    """Return the fewest tokens a turn may take, without counting them; so more turns are read than
    fit, never too few.
    """
    return _LABEL + min(
        len(turn.content.encode("utf-8", "replace")) // _BYTES_A_TOKEN, budget // PART
    )


def _newest_first(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (memory.recorded_at, memory.id), reverse=True)


def _chosen(memories: Sequence[Memory], limit: int) -> list[Memory]:
    """Return all pinned and standing memories and at most ``limit`` others, pinned ones first; no
    disputed ones.
    """
    known = _each_once(memory for memory in memories if memory.active and memory.disputes is None)
    counted = [memory.id for memory in known if not (memory.pinned or _is_standing(memory))]
    beyond = frozenset(counted[limit:])
    return sorted((one for one in known if one.id not in beyond), key=lambda one: not one.pinned)


def _each_once(memories: Iterable[Memory]) -> list[Memory]:
    return [*{memory.id: memory for memory in memories}.values()]


def _is_standing(memory: Memory) -> bool:
    """True for an instruction of the user or the operator: it holds whatever is asked."""
    return memory.kind == INSTRUCTION and memory.trust in (_STANDING.trust or ())


def _most_for(budget: int) -> int:
    """Return how many hits and memories are read at first for a budget of tokens."""
    return min(max(budget // _TOKENS_A_LINE, _FEWEST), _MOST)


def _is_full(context: Context, request: ContextRequest) -> bool:
    """True if a context has no room for another line, or left one out for want of room."""
    full = request.budget - context.tokens < _TOKENS_A_LINE
    return full or any(one.reason == "budget" for one in context.left_out)


def _memories_of(found: Sequence[Hit]) -> list[Memory]:
    """Return the memories among the hits and among the records folded into them."""
    return those_of(Memory, _shown(found))


def _shown(found: Sequence[Hit]) -> list[Record]:
    """Return the records of the hits and of those folded into them, except repetitions of the same
    statement.
    """
    shown = [
        (score, record)
        for hit in found
        for score, record in (
            (hit.score, hit.record),
            *((one.score, one.record) for one in hit.folded if one.because is not Because.SAME),
        )
    ]
    return [record for _, record in sorted(shown, key=lambda one: -one[0])]


async def _passages(
    found: Sequence[Hit], judge: Echoes, question: str | None, finding: Finding, limit: int | None
) -> tuple[list[Message], Sequence[Hit]]:
    """Return the messages found, and their hits; under a limit, replace those that only repeat by
    further messages.
    """
    messages = those_of(Message, _shown(found))
    if question is None or limit is None or len(found) < limit:
        return messages, found
    echoes = sum(judge.reason(message) is not None for message in messages)
    if echoes <= limit // 3:
        return messages, found
    known = {message.id for message in messages}
    further = await finding(question, {RecordType.MESSAGE}, min(limit * 3, _MOST))
    others = (message for message in those_of(Message, _shown(further)) if message.id not in known)
    useful = islice((one for one in others if judge.reason(one) is None), echoes)
    return [*messages, *useful], [*found, *further]


def _records_of(hit: Hit) -> Sequence[Record]:
    return [hit.record, *(one.record for one in hit.folded)]


def _question_of(turns: Sequence[Message]) -> str | None:
    """Return the end of the newest message of the thread's user, or None."""
    said = next((turn.content for turn in reversed(turns) if is_users_turn(turn)), None)
    return None if said is None else said[-_QUESTION:]
