"""Explanations of a record: its sources down to messages, quoted as far as the view may see
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from memoranda.errors import NotFound
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.ledger import Receipt
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.query import Filter, Source, Why
from memoranda.model.records import WHOLE, Owner, Record, RecordType, View, with_expired
from memoranda.model.unlisted import SourcePage, unlisted_of
from memoranda.ports import Records
from memoranda.storage.episode_links import EpisodeLinks, threads_of
from memoranda.storage.rows import cursor_of
from memoranda.text.origins import source_of

#: Levels of sources of sources that an explanation follows.
_DEPTH = 8
_EPISODES = frozenset({RecordType.EPISODE})
#: Episodes among which that of a memory is looked for.
_MOST_EPISODES = 1000


async def explain(
    records: Records,
    owner: Owner,
    view: View,
    id: UUID,
    cursor: str | None = None,
    limit: int = 100,
) -> Why:
    """Return a record with a page of its sources, and its history."""
    found = await _with_threads(records, owner, view, [id])
    if id not in found:
        raise NotFound(f"this view can see no record with the id {id}")
    record = await with_source_episode(records, owner, view, found[id])
    ids, more = await _page(records, owner, view, record, cursor, limit)
    sources = await _sources(records, owner, view, record, ids, {id}, _DEPTH)
    history = tuple(await records.history(owner, view, id))
    return Why(record, sources, history, _count(record), more)


async def _with_threads(
    records: Records, owner: Owner, view: View, ids: Sequence[UUID]
) -> dict[UUID, Record]:
    """Return these records as the view sees them, also threads and messages that have expired."""
    found = await records.get(owner, view, ids)
    missing = [id for id in ids if id not in found]
    past = await records.get(owner, with_expired(view), missing) if missing else {}
    return found | {
        id: record for id, record in past.items() if isinstance(record, (Thread, Message))
    }


async def with_source_episode(records: Records, owner: Owner, view: View, record: Record) -> Record:
    """Return a memory with its ``source_episode``, if this view sees one; other records are
    returned unchanged.
    """
    if not isinstance(record, Memory) or not (record.thread or record.sources):
        return record
    there = await records.get(owner, view, record.sources) if record.sources else {}
    threads = threads_of(record, there.values())
    found = [source for source in there.values() if isinstance(source, Episode)]
    if not found:
        only = Filter(types=_EPISODES, sources=frozenset((*record.sources, *threads)))
        if not record.sources:
            only = Filter(types=_EPISODES, thread=record.thread)
        page = await records.scan(owner, view, only, None, _MOST_EPISODES)
        found = [episode for episode in page.records if isinstance(episode, Episode)]
    link = EpisodeLinks(found).of(record, threads)
    return record if link is None else record.changed(source_episode=link)


async def _page(
    records: Records, owner: Owner, view: View, record: Record, cursor: str | None, limit: int
) -> tuple[list[UUID], str | None]:
    """Return the ids of a page of a record's sources, and the cursor of the next page."""
    listed = _listed(record) if cursor is None else []
    if not unlisted_of(record):
        return listed, None
    page = SourcePage(after=UUID(bytes=cursor_of(cursor, False)), limit=limit + 1)
    found = await records.unlisted(owner, view, record.id, page)
    ids = [source for _, source in found[:limit]]
    return list(dict.fromkeys((*listed, *ids))), ids[-1].hex if len(found) > limit else None


def _listed(record: Record) -> list[UUID]:
    """Return the sources that a record lists itself."""
    groups = {group.id for group in unlisted_of(record)}
    return [id for id in record.stands_on() if id not in groups]


def _count(record: Record) -> int:
    standing = set(record.stands_on())
    groups = [group for group in unlisted_of(record) if group.id in standing]
    return len(standing) - len(groups) + sum(group.count for group in groups)


async def seen_receipt(records: Records, owner: Owner, view: View, receipt: Receipt) -> Receipt:
    """Return an operation's receipt with the records that a view sees, and what agents learnt."""
    if view.whole:
        return receipt
    seen = {*(await records.get(owner, view, receipt.ids())), *receipt.ids(RecordType.EXPERIENCE)}
    return replace(
        receipt, items=tuple(item for item in receipt.items if item.id in seen), ignored=()
    )


async def _sources(
    records: Records,
    owner: Owner,
    view: View,
    record: Record,
    ids: list[UUID],
    seen: set[UUID],
    depth: int,
) -> tuple[Source, ...]:
    wanted = [id for id in ids if id not in seen]
    if not wanted or not depth:
        return ()
    found = []
    visible = await _with_threads(records, owner, view, wanted)
    for source in visible.values():
        inner = await _sources(
            records, owner, view, source, _listed(source), seen | {source.id}, depth - 1
        )
        found.append(source_of(source, record, inner))
    return (
        *found,
        *(await _left(records, owner, record, [id for id in wanted if id not in visible])),
    )


async def _left(records: Records, owner: Owner, record: Record, ids: list[UUID]) -> list[Source]:
    """Return the sources that were deleted because of their age, with the words of them that the
    record quotes.

    Erased sources are not cited any more. Undone ones did not leave: no view sees them, but they
    have a history.
    """
    if not ids or isinstance(record, ExperienceLine):
        # The evidence of a line belongs to the users it came from; a reader of the agent's records
        # must not see it.
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
            " … ".join(one.quote for one in quotes if one.message == id and one.quote),
            gone=True,
        )
        for id in ids
        if id not in hidden and not await records.history(owner, WHOLE, id)
    ]
