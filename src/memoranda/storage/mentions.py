"""Hides from a view the ids of records that it may not see, where records that it sees name them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

from memoranda.model.memories import Memory
from memoranda.model.messages import Episode
from memoranda.model.records import Record, View

R = TypeVar("R", bound=Record)


def mentioned(view: View, records: Iterable[Record]) -> list[UUID]:
    """Return the ids in these records that the view may not be allowed to see, each once; the caller looks them up.

    Only memories lose readers, so a message from which a record quotes needs no look.
    """
    found: dict[UUID, None] = {}
    if not view.whole:
        for record in records:
            if isinstance(record, Memory):
                found.update(dict.fromkeys(_of_memory(record)))
            elif isinstance(record, Episode) and record.thread is None:
                found.update(dict.fromkeys(record.sources))
    return list(found)


def _of_memory(memory: Memory) -> Iterable[UUID]:
    yield from memory.supersedes
    yield from (id for id in (memory.superseded_by, memory.disputes) if id is not None)
    quoted = {one.message for one in memory.quotes}
    yield from (id for id in (*memory.sources, *memory.past) if id not in quoted)
    if memory.thread is not None and not quoted:
        yield memory.thread


def without_ids(record: R, unseen: frozenset[UUID]) -> R:
    """Return a record as a view may read it that may not see the records with these ids."""
    if isinstance(record, Memory) and not unseen.isdisjoint(_of_memory(record)):
        return record.changed(  # type: ignore[no-any-return]
            sources=_seen(record.sources, unseen),
            past=_seen(record.past, unseen),
            supersedes=_seen(record.supersedes, unseen),
            superseded_by=None if record.superseded_by in unseen else record.superseded_by,
            disputes=None if record.disputes in unseen else record.disputes,
            thread=None if record.thread in unseen else record.thread,
        )
    if isinstance(record, Episode) and not unseen.isdisjoint(record.sources):
        return record.changed(sources=_seen(record.sources, unseen))  # type: ignore[no-any-return]
    return record


def _seen(ids: tuple[UUID, ...], unseen: frozenset[UUID]) -> tuple[UUID, ...]:
    return tuple(id for id in ids if id not in unseen)
