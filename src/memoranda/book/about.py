"""The answer to "what do you know about me": profile, memories with sources and readers, and what
the view cannot see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from memoranda.book.admin.pending_threads import parts_aside
from memoranda.book.dream.contradictions import Contradiction, contradictions
from memoranda.book.explanation import explain
from memoranda.book.forgetting.decisions import PendingForgetting, pending_forgettings
from memoranda.first_use import dataclass
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.forming_results import conversations_wait, part_waits
from memoranda.model.memories import STANDING, Memory
from memoranda.model.profiles import ProfileDocument
from memoranda.model.query import Filter, Source
from memoranda.model.records import (
    WHOLE,
    WIDEST_FIRST,
    Audience,
    AudienceKind,
    Owner,
    OwnerKind,
    RecordType,
    View,
)
from memoranda.paging import every_record
from memoranda.ports import Engine

_LINES = Filter(types=frozenset({RecordType.EXPERIENCE}))


@dataclass(frozen=True, slots=True)
class Known:
    """One memory with the sources that it was made from, quoted; ``memory.audience`` says who may
    read it.
    """

    memory: Memory
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class About:
    """The knowledge of a book about an owner, as one view sees it."""

    owner: Owner
    #: The profile documents; each has its own audience.
    profile: tuple[ProfileDocument, ...]
    #: The newest active memories.
    memories: tuple[Known, ...]
    #: How many active memories this view sees in all.
    total: int
    #: How many records this view sees, by type; memories that are not active any more are counted
    #: too.
    records: Mapping[str, int]
    #: What even the owner's own view does not show, because it belongs to agents: lines of
    #: experience learnt from the owner. Only the owner's own view is told.
    unseen: Mapping[str, int] | None
    #: What is hidden and not erased yet, oldest first; an agent's view shows what that agent hid.
    pending: tuple[PendingForgetting, ...] = ()
    #: How many conversations wait to be formed, which this view sees.
    waiting: int = 0
    #: Where these memories have several values though one holds at a time.
    contradictions: tuple[Contradiction, ...] = ()
    #: Parts of conversations of which no answer of a model could be used so far, each with when it
    #: is asked again and the command.
    unread: tuple[str, ...] = ()

    @property
    def shared(self) -> tuple[Known, ...]:
        """The memories that more than one agent may read."""
        return tuple(
            known for known in self.memories if known.memory.audience.kind is not AudienceKind.SELF
        )

    def __repr__(self) -> str:
        told = [*filter(None, [conversations_wait(self.waiting)]), *self.unread]
        waits = "".join(f"; {one}" for one in told)
        return f"<About {self.owner}: profiles {len(self.profile)}, memories {len(self.memories)} of {self.total}{waits}>"


async def about(
    engine: Engine,
    owner: Owner,
    view: View,
    limit: int,
    profile: Sequence[ProfileDocument],
    waiting: int,
) -> About:
    """Return what the book knows about an owner, with these profile documents and the newest
    ``limit`` memories.
    """
    active = Filter(types=frozenset({RecordType.MEMORY}), statuses=STANDING, newest_first=True)
    page = await engine.scan(owner, view, active, None, limit)
    memories = [record for record in page.records if isinstance(record, Memory)]
    known = [
        Known(memory, (await explain(engine, owner, view, memory.id)).sources)
        for memory in memories
    ]
    counts = {
        type_.value: await engine.count(owner, view, Filter(types=frozenset({type_})))
        for type_ in RecordType
    }
    clashes = contradictions(memories)
    return About(
        owner,
        tuple(profile),
        tuple(known),
        await engine.count(owner, view, active),
        {name: count for name, count in counts.items() if count},
        {"experience": await _lines_about(engine, owner)} if view.whole else None,
        await pending_forgettings(engine, owner, view),
        waiting,
        tuple(clashes),
        tuple(map(part_waits, await parts_aside(engine, engine, owner, view))),
    )


@dataclass(frozen=True, slots=True)
class Readers:
    """One audience of an owner's records, and how many records of each type it reads beside those
    of wider audiences.
    """

    audience: Audience
    records: Mapping[str, int]


async def readers(engine: Engine, owner: Owner) -> list[Readers]:
    """Return the audiences of an owner's records, the widest first, with counts by type; no content
    is kept.
    """
    counts: dict[Audience, Counter[str]] = {}
    async for record in every_record(engine, owner, WHOLE, Filter()):
        counts.setdefault(record.audience, Counter())[record.type.value] += 1
    order = sorted(
        counts, key=lambda one: (WIDEST_FIRST.index(one.kind), one.groups, one.agent or "")
    )
    return [Readers(audience, dict(sorted(counts[audience].items()))) for audience in order]


async def _lines_about(engine: Engine, owner: Owner) -> int:
    """Return how many lines of experience agents learnt from an owner's records."""
    count = 0
    for agent in await engine.owners(owner.tenant):
        if agent.kind is OwnerKind.AGENT:
            async for line in every_record(engine, agent, WHOLE, _LINES):
                if isinstance(line, ExperienceLine):
                    count += line.retired_at is None and line.part_of(owner) is not None
    return count
