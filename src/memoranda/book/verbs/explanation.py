"""Explanations of a record: its sources down to messages, quoted as far as the view may see them."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from memoranda.errors import NotFound
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.ledger import Receipt
from memoranda.model.memories import Memory
from memoranda.model.passages import source_of
from memoranda.model.query import Source, Why
from memoranda.model.records import WHOLE, Owner, Record, RecordType, View
from memoranda.ports import Records

#: Levels of sources of sources that an explanation follows.
_DEPTH = 8


async def explain(records: Records, owner: Owner, view: View, id: UUID) -> Why:
    """Return a record with its sources and history."""
    found = await records.get(owner, view, [id])
    if id not in found:
        raise NotFound(f"this view can see no record with the id {id}")
    record = found[id]
    sources = await _sources(records, owner, view, record, {id}, _DEPTH)
    return Why(record, sources, tuple(await records.history(owner, view, id)))


async def seen_receipt(records: Records, owner: Owner, view: View, receipt: Receipt) -> Receipt:
    """Return an operation's receipt with the records that a view sees."""
    if view.whole:
        return receipt
    seen = await records.get(owner, view, receipt.ids())
    return replace(receipt, items=tuple(item for item in receipt.items if item.id in seen), ignored=())


async def _sources(
    records: Records, owner: Owner, view: View, record: Record, seen: set[UUID], depth: int
) -> tuple[Source, ...]:
    wanted = [id for id in record.stands_on() if id not in seen]
    if not wanted or not depth:
        return ()
    found = []
    visible = await records.get(owner, view, wanted)
    for source in visible.values():
        inner = await _sources(records, owner, view, source, seen | {source.id}, depth - 1)
        found.append(source_of(source, inner))
    return (*found, *(await _left(records, owner, record, [id for id in wanted if id not in visible])))


async def _left(records: Records, owner: Owner, record: Record, ids: list[UUID]) -> list[Source]:
    """Return the sources that were deleted because of their age, with the words of them that the record quotes.

    Erased sources are not cited any more. Undone ones did not leave: no view sees them, but they have a history.
    """
    if not ids or isinstance(record, ExperienceLine):
        # The evidence of a line belongs to the users it came from; a reader of the agent's records must not see it.
        return []
    hidden = await records.get(owner, WHOLE, ids)
    quotes = record.quotes if isinstance(record, Memory) else ()
    at = record.observed_at if isinstance(record, Memory) else record.recorded_at
    return [
        Source(
            id,
            RecordType.MESSAGE,
            "",
            at,
            " … ".join(one.quote for one in quotes if one.message == id),
            gone=True,
        )
        for id in ids
        if id not in hidden and not await records.history(owner, WHOLE, id)
    ]
