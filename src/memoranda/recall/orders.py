"""The order ``most_used``: memories by how often they were used, without a question."""

from __future__ import annotations

from dataclasses import replace

from memoranda.model.memories import HELD
from memoranda.model.owner import Owner, View
from memoranda.model.query import Filter, Hit
from memoranda.model.records import RecordType
from memoranda.ports import Readable
from memoranda.recall.hits import conditions_of

#: The mode's name.
MOST_USED = "most_used"
#: One place in so many is for the newest memories.
_NEWEST_SHARE = 5


async def most_used(engine: Readable, owner: Owner, view: View, limit: int, only: Filter) -> tuple[Hit, ...]:
    """Return memories by how often they were used, with some places for the newest."""
    statuses = HELD if only.statuses is None else only.statuses
    of_memories = replace(only, types=frozenset({RecordType.MEMORY}), statuses=statuses)
    reserved = max(1, limit // _NEWEST_SHARE) if limit > 1 else 0
    most = await engine.most_used(owner, view, of_memories, limit - reserved)
    page = await engine.scan(owner, view, replace(of_memories, newest_first=True), None, limit)
    newest = [record.id for record in page.records if record.id not in most]
    ids = [*most, *newest[: limit - len(most)]]
    records = await engine.get(owner, view, ids)
    uses = await engine.uses(owner, view, ids)
    conditions = conditions_of(frozenset({RecordType.MEMORY}), only)
    found = [(record, uses[id].count if id in uses else 0) for id, record in records.items()]
    return tuple(
        Hit(record, float(count), rank, uses=count, conditions=conditions)
        for rank, (record, count) in enumerate(found, start=1)
    )
