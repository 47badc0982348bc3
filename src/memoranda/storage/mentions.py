"""Hides from a view the ids of records that it may not see, where records that it sees name
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

from memoranda.model.memories import Memory
from memoranda.model.messages import Episode
from memoranda.model.records import Record, View
from memoranda.model.values import expired

R = TypeVar("R", bound=Record)
K = TypeVar("K")


def unexpired(view: View, found: dict[K, R]) -> dict[K, R]:
    """Return the records, by any key, that had not expired at the moment of the read."""
    late = [key for key, record in found.items() if expired(record, view.at)]
    return {key: record for key, record in found.items() if key not in late} if late else found


def mentioned(view: View, records: Iterable[Record]) -> list[UUID]:
    """Return the ids in these records that the view may not be allowed to see, each once; the
    caller looks them up.

    Only memories lose readers, so a message from which a record quotes needs no look. Nor do the
    sources of a thread's episode and of a profile, where formation puts only messages.
    """
    found: list[UUID] = []
    if not view.whole:
        for record in records:
            # On the way of every read: most memories name nothing but messages that they quote.
            if type(record) is Memory:
                own = record.__dict__
                tied = (
                    own["supersedes"]
                    or own["superseded_by"]
                    or own["disputes"]
                    or own["past"]
                    or own["unlisted"]
                )
                # A quote is from one of the sources, so a single source is quoted.
                quoted = own["quotes"] and len(own["sources"]) == 1
                if tied or ((own["sources"] or own["thread"]) and not quoted):
                    found += _of_memory(record)
            elif type(record) is Episode and record.thread is None:
                found += record.sources
    return list(set(found)) if len(found) > 1 else found


def _of_memory(memory: Memory) -> list[UUID]:
    own = memory.__dict__
    quoted = {one.__dict__["message"] for one in own["quotes"]}
    named = [id for id in own["sources"] if id not in quoted]
    if own["thread"] is not None and not quoted:
        named.append(own["thread"])
    if own["supersedes"] or own["past"]:
        named += [*own["supersedes"], *(id for id in own["past"] if id not in quoted)]
    for group in own["unlisted"]:
        named += [id for id in (*group.added, *group.dropped) if id not in quoted]
    return named + [id for id in (own["superseded_by"], own["disputes"]) if id is not None]


def without_ids(record: R, unseen: frozenset[UUID]) -> R:
    """Return a record without these ids of other records, which the view may not see."""
    if isinstance(record, Memory) and not unseen.isdisjoint(_of_memory(record)):
        return record.changed(  # type: ignore[no-any-return]
            sources=_seen(record.sources, unseen),
            past=_seen(record.past, unseen),
            unlisted=tuple(
                group.model_copy(
                    update={
                        "added": _seen(group.added, unseen),
                        "dropped": _seen(group.dropped, unseen),
                    }
                )
                for group in record.unlisted
            ),
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
