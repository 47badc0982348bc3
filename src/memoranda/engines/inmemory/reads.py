"""Answers questions about records in memory, limited to what the view may see."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeVar
from uuid import UUID

from memoranda.engines.inmemory.rows import record_meets
from memoranda.engines.inmemory.tables import Answers, Era, Kept, Session, Writes
from memoranda.model.changes import FORM
from memoranda.model.passages import (
    PassageRows,
    Shelf,
    ShelfDelta,
    Sight,
    Use,
    cited_by,
    usable_mark,
)
from memoranda.model.query import Filter, Page, Scan
from memoranda.model.records import Owner, Record, View
from memoranda.model.values import gone, micros
from memoranda.storage import questions as q
from memoranda.storage.filter_conditions import conditions_of
from memoranda.storage.filters import page_of, start_of, touched
from memoranda.storage.mentions import mentioned, unexpired, without_ids

K = TypeVar("K")


def _era(on: Session, owner: Owner, view: View) -> Era:
    """Return the owner's present era (since the last whole erasure); an empty, unsaved one if the
    view may see nothing.
    """
    era = on.tables.living.get(owner)
    if era is None or (on.tables.restricted(era.digest) is not None and not view.whole):
        return on.tables.new_era(owner)
    return era


def _get(on: Session, question: q.GetRecords) -> dict[UUID, Record]:
    return _seen(_era(on, question.owner, question.view), question.view, question.ids)


def _seen(era: Era, view: View, ids: Iterable[UUID]) -> dict[UUID, Record]:
    found = ((id, era.seen(view, id)) for id in ids)
    records = {
        id: kept.record()
        for id, kept in found
        if kept is not None and kept.now.row.status != "withdrawn"
    }
    return _told(era, view, records)


def _told(era: Era, view: View, found: dict[K, Record]) -> dict[K, Record]:
    """Return the records, by any key, without the ids in them that the view may not see."""
    found = unexpired(view, found)
    named = mentioned(view, found.values())
    unseen = frozenset(id for id in named if id in era.records and era.seen(view, id) is None)
    return {id: without_ids(record, unseen) for id, record in found.items()} if unseen else found


def _scans(on: Session, question: q.ScanRecords) -> list[Page]:
    return [_scan(on, scan) for scan in question.asked]


def _scan(on: Session, asked: Scan) -> Page:
    owner, view, filter, cursor, limit = asked
    (start,) = start_of(filter, cursor).values()

    def place(kept: Kept) -> Any:
        return kept.now.row.seq if filter.by_places else kept.now.row.id

    met = _matching(_era(on, owner, view), view, filter)
    if filter.unformed:
        met = _unformed(on, met)
    found = sorted(met, key=place, reverse=filter.newest_first)
    rest = [
        kept
        for kept in found
        if (place(kept) < start if filter.newest_first else place(kept) > start)
    ]
    page = touched(filter, rest[:limit], lambda kept: kept.now.row.body)
    told = _told(_era(on, owner, view), view, {kept.id: kept.record() for kept in page})
    return page_of(filter, tuple(told.values()), len(rest) <= limit)


def _unformed(on: Session, found: Iterable[Kept]) -> list[Kept]:
    """Return those of these records that are threads which a job forms, or their messages, not
    formed yet.
    """
    rows = on.tables.jobs.values()
    forming = {
        (row.era, id) for row in rows if row.piece.kind == FORM for id in row.piece.records[:1]
    }
    waiting = []
    for kept in found:
        id = kept.now.row.thread
        if id and (kept.era.id, id) in forming:
            thread = kept.era.records[UUID(bytes=id)]
            last = kept.tail if kept is thread else kept.now.row.seq
            if last > json.loads(thread.now.row.body).get("formed_through", 0):
                waiting.append(kept)
    return waiting


def _count(on: Session, question: q.CountRecords) -> int:
    return len(_matching(_era(on, question.owner, question.view), question.view, question.filter))


def _matching(era: Era, view: View, filter: Filter) -> list[Kept]:
    wanted = conditions_of(filter, view.at)
    return [kept for kept in era.visible(view) if record_meets(wanted, kept)]


def _newest(on: Session, question: q.NewestPassages) -> list[Record]:
    era, view, end = (
        _era(on, question.owner, question.view),
        question.view,
        question.offset + question.limit,
    )
    there = [kept for kept in _matching(era, view, question.filter) if kept.terms is not None]
    there.sort(key=lambda kept: (kept.now.row.at, kept.now.row.id), reverse=True)
    return list(
        _told(era, view, {kept.id: kept.record() for kept in there[question.offset : end]}).values()
    )


def _kinds(on: Session, question: q.CountKinds) -> dict[str | None, int]:
    found = _matching(_era(on, question.owner, question.view), question.view, question.filter)
    return dict(Counter(kept.now.row.kind for kept in found if kept.terms is not None))


def _versions(on: Session, question: q.VersionsInView) -> list[q.SeenVersion]:
    era, view, id = _era(on, question.owner, question.view), question.view, question.id
    kept = era.seen(view, id)
    if kept is None:
        return []
    if gone(kept.record(), view.at):
        return []
    told = _told(era, view, {v.row.version: kept.record(v) for v in kept.versions if v.row.body})
    return [
        q.SeenVersion(v.row.version, v.position, v.audience, told.get(v.row.version))
        for v in kept.versions
    ]


def _shelves_since(
    on: Session, question: q.ShelvesSince | q.Look
) -> list[tuple[Shelf, ShelfDelta]]:
    era = _era(on, question.owner, question.view)
    found = []
    active = on.tables.active
    for shelf in era.shelves.values():
        if shelf.audience.readable_by(question.view):
            mark = usable_mark(question.cached(shelf.number), shelf.renewed)
            after = mark or 0
            there = [
                k
                for k in era.records.values()
                if k.now.audience == shelf.audience and k.terms is not None
            ]
            came = [kept for kept in sorted(there, key=lambda kept: kept.mark) if kept.mark > after]
            rows = PassageRows.of([[kept.passage(active) for kept in came]])
            gone = (
                []
                if mark is None
                else [id.bytes for id, left in shelf.gone.items() if left > after]
            )
            delta = ShelfDelta(shelf.mark, mark is None, rows, gone, active or "")
            found.append((Shelf(shelf.number, shelf.audience), delta))
    return found


def _look(on: Session, question: q.Look) -> Sight:
    shelves = _shelves_since(on, question)
    chosen = question.choose(shelves)
    if chosen is None:
        return Sight(shelves, None)
    era, view = _era(on, question.owner, question.view), question.view
    records = _seen(era, view, chosen)
    if question.bare:
        return Sight(shelves, records)
    return Sight(
        shelves, records, _used(era, view, records), _seen(era, view, cited_by(records.values()))
    )


def _uses(on: Session, question: q.Uses) -> dict[UUID, Use]:
    return _used(_era(on, question.owner, question.view), question.view, question.ids)


def _used(era: Era, view: View, ids: Iterable[UUID]) -> dict[UUID, Use]:
    found = ((id, era.seen(view, id)) for id in ids)
    return {id: kept.use for id, kept in found if kept is not None and kept.use is not None}


def _most_used(on: Session, question: q.MostUsed) -> list[UUID]:
    found = [
        (
            -kept.use.count,
            0 if kept.use.used_at is None else -micros(kept.use.used_at),
            kept.id.bytes,
        )
        for kept in _matching(
            _era(on, question.owner, question.view), question.view, question.filter
        )
        if kept.use is not None and kept.use.count > 0 and kept.now.row.type == "memory"
    ]
    return [UUID(bytes=id) for *_, id in sorted(found)[: question.limit]]


def _memories(on: Session, question: q.MemoriesInView) -> dict[UUID, Kept]:
    era = _era(on, question.owner, question.view)
    found = ((id, era.seen(question.view, id)) for id in question.ids)
    return {id: kept for id, kept in found if kept is not None and kept.now.row.type == "memory"}


ANSWERS: Answers = {
    q.GetRecords: _get,
    q.ScanRecords: _scans,
    q.CountRecords: _count,
    q.NewestPassages: _newest,
    q.CountKinds: _kinds,
    q.VersionsInView: _versions,
    q.ShelvesSince: _shelves_since,
    q.Look: _look,
    q.Uses: _uses,
    q.MostUsed: _most_used,
    q.MemoriesInView: _memories,
}
WRITES: Writes = {}
