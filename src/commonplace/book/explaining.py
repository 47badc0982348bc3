"""Why a record is in the book: its sources down to what was said, quoted as far as the view may see them."""

from __future__ import annotations

from uuid import UUID

from commonplace.errors import NotFound
from commonplace.model.owner import Owner, View
from commonplace.model.query import Source, Why
from commonplace.model.quoting import source_of
from commonplace.model.records import Record
from commonplace.ports import Records

#: How far an explanation follows sources of sources.
_DEPTH = 8


async def explain(records: Records, owner: Owner, view: View, id: UUID) -> Why:
    """Why a record is in the book."""
    found = await records.get(owner, view, [id])
    if id not in found:
        raise NotFound(f"there is nothing under {id} that this view may see")
    record = found[id]
    sources = await _sources(records, owner, view, record, {id}, _DEPTH)
    return Why(record, sources, tuple(await records.history(owner, view, id)))


async def _sources(
    records: Records, owner: Owner, view: View, record: Record, seen: set[UUID], depth: int
) -> tuple[Source, ...]:
    wanted = [id for id in record.stands_on() if id not in seen]
    if not wanted or not depth:
        return ()
    found = []
    for source in (await records.get(owner, view, wanted)).values():
        inner = await _sources(records, owner, view, source, seen | {source.id}, depth - 1)
        found.append(source_of(source, inner))
    return tuple(found)
