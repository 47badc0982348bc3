"""Retention of memories: by kind, what nobody used is archived, and what stayed archived is erased
for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from memoranda.book.dream.night import STANDING_MEMORIES, archivable, last_touch
from memoranda.door import Door
from memoranda.errors import Stale
from memoranda.first_use import dataclass
from memoranda.model.changes import Archive
from memoranda.model.ledger import Actor, ErasureReceipt, Receipt, Target
from memoranda.model.memories import Memory
from memoranda.model.passages import UNUSED
from memoranda.model.records import WHOLE, Owner
from memoranda.paging import PAGE, every_record
from memoranda.ports import Engine
from memoranda.storage.decide.archive import is_kept

#: The kind that stands for all kinds that are not named.
ANY_KIND = "*"
_SYSTEM = Actor("system", "retention")


@dataclass(frozen=True, slots=True)
class Retained:
    """What retention did with an owner's memories, or with ``dry_run`` would do; None where there
    was nothing to do.
    """

    owner: Owner
    archived: Receipt | None = None
    erased: ErasureReceipt | None = None


async def retain_memories(
    engine: Engine,
    door: Door,
    owner: Owner,
    archive_days: Mapping[str, float],
    erase_days: Mapping[str, float],
    *,
    dry_run: bool = False,
) -> Retained:
    """Archive an owner's memories that were not used for as many days as their kind has, and erase
    what stayed archived for so many; a memory on which another one rests stays as long as that.

    At most 500 of each in one call; a restricted owner is left alone.
    """
    if await engine.restriction(owner) is not None:
        return Retained(owner)
    now = door.clock()
    found = [one async for one in every_record(engine, owner, WHOLE, STANDING_MEMORIES)]
    standing = [one for one in found if isinstance(one, Memory)]
    uses = await engine.uses(owner, WHOLE, [one.id for one in standing])

    def is_due(one: Memory) -> bool:
        table = erase_days if one.archived else archive_days
        days = table.get(one.kind, table.get(ANY_KIND))
        return days is not None and last_touch(one, uses.get(one.id, UNUSED)) < now - timedelta(
            days=days
        )

    due = [one for one in standing if is_due(one) and not is_kept(one)]
    archiving = [
        Archive(one.id, one.version, "kept long enough") for one in due if not one.archived
    ]
    most = min(PAGE, door.limits.batch)
    write = partial(door.write, owner, WHOLE, _SYSTEM, request=None)
    archived = erased = None
    if changes := await archivable(write, archiving, most):
        archived = await write(changes, dry_run=dry_run)
    idle = tuple(one.id for one in due if one.archived)[:PAGE]
    if erasing := await _nothing_rests_on(engine, owner, idle, now):
        target = Target(
            owner, WHOLE, _SYSTEM, erasing, dry_run=dry_run, expected=frozenset(erasing)
        )
        # Somebody built on one of them just now: they go another day.
        with suppress(Stale):
            erased = await engine.erase(target, now)
    return Retained(owner, archived if archived and archived.items else None, erased)


async def _nothing_rests_on(
    engine: Engine, owner: Owner, ids: tuple[UUID, ...], at: datetime
) -> tuple[UUID, ...]:
    """Return those of the memories with which nothing else would go."""
    if not ids:
        return ()
    would = await engine.erase(Target(owner, WHOLE, _SYSTEM, ids, dry_run=True), at)
    if set(would.ids) <= set(ids):
        return ids
    if len(ids) == 1:
        return ()
    half = len(ids) // 2
    first = await _nothing_rests_on(engine, owner, ids[:half], at)
    second = await _nothing_rests_on(engine, owner, ids[half:], at)
    if not first or not second:
        return first or second
    # What rests on one of each would go with both.
    would = await engine.erase(Target(owner, WHOLE, _SYSTEM, (*first, *second), dry_run=True), at)
    return (*first, *second) if len(would.ids) == len(first) + len(second) else first
