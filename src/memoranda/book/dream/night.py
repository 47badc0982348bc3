"""A night: archives what nobody used for long, brings back what was used again, and tells what
contradicts itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from functools import partial
from time import perf_counter
from uuid import UUID

from memoranda import telemetry
from memoranda.book.dream.contradictions import Contradiction, contradicting, contradictions
from memoranda.book.dream.dream_settings import DreamSettings
from memoranda.door import Door
from memoranda.errors import LimitReached, Restricted
from memoranda.first_use import dataclass
from memoranda.model.changes import Archive, Change, Restore, Supersede
from memoranda.model.ledger import Actor, Receipt, Verb
from memoranda.model.memories import STANDING, Memory
from memoranda.model.passages import UNUSED, Use
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, RecordType, View, lowest
from memoranda.paging import every_record
from memoranda.ports import Engine
from memoranda.storage.decide.archive import is_kept

#: All active memories, archived or not.
STANDING_MEMORIES = Filter(types=frozenset({RecordType.MEMORY}), statuses=STANDING)
_SYSTEM = Actor("system", "dream")


@dataclass(frozen=True, slots=True)
class DreamReport:
    """What a night did with one owner's memories, or with ``dry_run`` would do."""

    owner: Owner
    agent: str | None
    dry_run: bool = False
    archived: tuple[UUID, ...] = ()
    #: What was archived before, was used since, and came back.
    restored: tuple[UUID, ...] = ()
    #: What a newer value of its key superseded.
    superseded: tuple[UUID, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    #: What was to be archived and was not: a code for each.
    kept: Mapping[UUID, str] = field(default_factory=dict)
    #: None if there was nothing to do, and nothing was written; ``undo`` of its position reverses
    #: the night.
    receipt: Receipt | None = None
    seconds: float = 0.0


async def dream(
    engine: Engine,
    door: Door,
    owner: Owner,
    agent: str | None,
    settings: DreamSettings,
    *,
    apart: Collection[str] = (),
    dry_run: bool = False,
) -> DreamReport:
    """Do one owner's night in one operation; without an agent for all agents but those
    ``apart``.
    """
    began, now = perf_counter(), door.clock()
    if await engine.restriction(owner) is not None:
        raise Restricted(
            "owner: their data may not be processed until the restriction is lifted; nothing was done"
        )
    found = [one async for one in every_record(engine, owner, WHOLE, STANDING_MEMORIES)]
    standing = [one for one in found if isinstance(one, Memory)]
    everybody = settings.cross_agent_maintenance
    own = [
        one
        for one in standing
        if everybody or (one.agent not in apart if agent is None else one.agent == agent)
    ]
    uses = await engine.uses(owner, WHOLE, [one.id for one in own])
    waking = [
        Restore(one.id)
        for one in own
        if one.archived and _used_since(one, uses.get(one.id, UNUSED))
    ]
    days = settings.prune_stale_after_days
    why = f"not used for {days:g} days"
    stale = [
        Archive(one.id, one.version, why)
        for one in (_stale(own, uses, now - timedelta(days=days)) if days else ())
    ]
    write = partial(door.write, owner, WHOLE, _SYSTEM, request=None, note={"dream": agent or ""})
    most = door.limits.batch
    waking = waking[:most]
    changes: list[Change] = [*await archivable(write, stale, most)]
    if settings.contradiction_resolution == "keep_newest":
        changes += _settling(own, {one.memory for one in stale}, now)
    receipt = await _written(partial(write, dry_run=dry_run), changes[: most - len(waking)], waking)
    done = {
        verb: tuple(i.id for i in receipt.items if i.verb is verb) if receipt else ()
        for verb in _TOLD
    }
    read = standing
    if agent is not None and not everybody:
        read = [one for one in standing if one.audience.readable_by(View(agent=agent))]
    report = DreamReport(
        owner,
        agent,
        dry_run,
        done[Verb.ARCHIVE],
        done[Verb.RESTORE],
        tuple(
            one.loser
            for one in changes
            if isinstance(one, Supersede) and one.loser in done[Verb.SUPERSEDE]
        ),
        tuple(contradictions(read, now)) if settings.detect_contradictions else (),
        {part.id: part.code for part in receipt.ignored if part.id is not None} if receipt else {},
        receipt if receipt and receipt.items else None,
        perf_counter() - began,
    )
    if not dry_run:
        telemetry.count("dream.users.processed")
        telemetry.count("dream.entries.pruned", len(report.archived))
        telemetry.count("dream.contradictions.found", len(report.contradictions))
        telemetry.measure("dream.duration", report.seconds)
    return report


_TOLD = (Verb.ARCHIVE, Verb.RESTORE, Verb.SUPERSEDE)


async def archivable(
    write: Callable[..., Awaitable[Receipt]], changes: Sequence[Archive], most: int
) -> Sequence[Archive]:
    """Return the first of the changes, at most so many; of more than these only such that archive
    something, so that what stays each time keeps nothing else back.
    """
    if len(changes) <= most:
        return changes
    found: list[Archive] = []
    for start in range(0, len(changes), most):
        part = changes[start : start + most]
        stay = {one.id for one in (await write(part, dry_run=True)).ignored}
        found += [one for one in part if one.memory not in stay]
        if len(found) >= most:
            break
    return found[:most]


async def _written(
    write: Callable[[Sequence[Change]], Awaitable[Receipt]],
    changes: Sequence[Change],
    waking: Sequence[Change],
) -> Receipt | None:
    """Write a night's changes; at the limit of memories nothing comes back, and recall finds it all
    the same.
    """
    if waking:
        try:
            return await write([*changes, *waking])
        except LimitReached:
            pass
    return await write(changes) if changes else None


def _used_since(memory: Memory, use: Use) -> bool:
    # What a recall found is noted at its full hour.
    since = memory.recorded_at.replace(minute=0, second=0, microsecond=0)
    return use.used_at is not None and use.used_at >= since


def _stale(memories: Sequence[Memory], uses: Mapping[UUID, Use], before: datetime) -> list[Memory]:
    """Return what was neither said, changed nor used since a moment, the longest unused first."""
    dated = sorted(
        (last_touch(one, uses.get(one.id, UNUSED)), one.id.int, one)
        for one in memories
        if one.counts and not is_kept(one)
    )
    return [one for at, _, one in dated if at < before]


def last_touch(memory: Memory, use: Use) -> datetime:
    """Return when a memory was last said, changed or used; to confirm, restore or undo it changes
    it.
    """
    return max(memory.observed_at, memory.recorded_at, use.used_at or memory.observed_at)


def _settling(
    memories: Sequence[Memory], going: Collection[UUID], now: datetime
) -> Iterator[Supersede]:
    """Yield the supersessions by the newest value of each key that is not archived, if there is
    one: of values that have no more readers or trust, and are not pinned.
    """
    for group in contradicting(memories, now):
        used = (one for one in group if one.counts and one.id not in going)
        newest = next(used, group[0])
        for one in group[group.index(newest) + 1 :]:
            if (
                one.audience.within(newest.audience, WHOLE)
                and lowest((one.trust, newest.trust)) is one.trust
                and not one.pinned
                and newest.disputes is None
            ):
                yield Supersede(one.id, newest.id)
