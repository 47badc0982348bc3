"""Why a record is in the book: its sources down to what was said, quoted as far as the view may see them."""

from __future__ import annotations

from datetime import datetime
from typing import cast
from uuid import UUID

from commonplace.errors import NotFound
from commonplace.model.episodes import Episode
from commonplace.model.experience import ExperienceLine
from commonplace.model.memories import Memory
from commonplace.model.messages import Message, Thread
from commonplace.model.owner import Owner, View
from commonplace.model.query import Source, Why, quote
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
    wanted = [id for id in record.rests_on() if id not in seen]
    if not wanted or not depth:
        return ()
    found = []
    for source in (await records.get(owner, view, wanted)).values():
        inner = await _sources(records, owner, view, source, seen | {source.id}, depth - 1)
        found.append(Source(source.id, source.type, _by(source), _at(source), quote(_text(source)), inner))
    return tuple(found)


def _by(record: Record) -> str:
    if isinstance(record, Message):
        return record.speaker or (record.agent or record.role if record.role == "assistant" else record.role)
    if isinstance(record, (Memory, Episode, Thread)):
        return record.agent or "application"
    return str(record.owner)


def _at(record: Record) -> datetime:
    for name in ("observed_at", "started_at"):
        if hasattr(record, name):
            return cast(datetime, getattr(record, name))
    return record.recorded_at


def _text(record: Record) -> str:
    if isinstance(record, Message):
        return record.content
    if isinstance(record, Thread):
        return record.title or record.name or "a conversation"
    if isinstance(record, ExperienceLine):
        return record.line
    return record.passage_text() or record.type.value
