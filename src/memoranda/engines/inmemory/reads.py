"""Reads of a book in memory, limited to what the view may see; and the storing of uses and terms."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from memoranda.engines.inmemory.tables import Era, Kept, Tables, Version
from memoranda.errors import InvalidInput
from memoranda.model.ledger import Entry
from memoranda.model.passages import PassageRows, Shelf, ShelfDelta, Sight, Use, cited_by
from memoranda.model.query import Filter, HistoryStep, Page, place_of
from memoranda.model.records import Record, View
from memoranda.model.values import micros
from memoranda.storage import StoredRow
from memoranda.storage.rows import TAKEN_BACK


def get(era: Era, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
    """Return records by id, in the order asked for."""
    found = ((id, era.seen(view, id)) for id in ids)
    return {
        id: kept.record() for id, kept in found if kept is not None and kept.now.row.status != "withdrawn"
    }


def scan(era: Era, view: View, filter: Filter, cursor: str | None, limit: int) -> Page:
    """Return one page ordered by id; the messages of one thread are ordered by place."""
    if filter.by_places:
        return _scan_places(era, view, filter, cursor, limit)
    after = _cursor(cursor)
    found = sorted(matching(era, view, filter), key=lambda kept: kept.id, reverse=filter.newest_first)
    if after is not None:
        found = [kept for kept in found if (kept.id < after if filter.newest_first else kept.id > after)]
    page = found[:limit]
    return Page(tuple(kept.record() for kept in page), page[-1].id.hex if len(found) > limit else None)


def _scan_places(era: Era, view: View, filter: Filter, cursor: str | None, limit: int) -> Page:
    last = place_of(cursor)
    found = sorted(
        matching(era, view, filter), key=lambda kept: kept.now.row.seq, reverse=filter.newest_first
    )
    if last is not None:
        found = [k for k in found if (k.now.row.seq < last if filter.newest_first else k.now.row.seq > last)]
    page = found[:limit]
    more = len(found) > limit
    return Page(tuple(kept.record() for kept in page), str(page[-1].now.row.seq) if more else None)


def _cursor(cursor: str | None) -> UUID | None:
    try:
        return None if cursor is None else UUID(hex=cursor)
    except ValueError:
        raise InvalidInput("cursor: not one that a page gave; begin without one", field="cursor") from None


def matching(era: Era, view: View, filter: Filter) -> list[Kept]:
    """Return all records that a scan with this filter would return."""
    return [kept for kept in era.visible(view) if _meets(kept, filter)]


def _meets(kept: Kept, filter: Filter) -> bool:
    row = kept.now.row
    return (
        _meets_in_time(kept, filter)
        and _meets_facets(row, filter)
        and row.status != "withdrawn"
        and (filter.types is None or row.type in filter.types)
        and (filter.kinds is None or row.kind in filter.kinds)
        and (filter.statuses is None or row.status in filter.statuses)
        and (filter.thread is None or row.thread == filter.thread.bytes)
        and (filter.slots is None or row.slot in filter.slots)
        and (not filter.pinned or row.type != "memory" or json.loads(row.body).get("pinned", False))
        and (filter.since is None or row.at >= micros(filter.since))
        and (filter.until is None or row.at < micros(filter.until))
    )


def _meets_in_time(kept: Kept, filter: Filter) -> bool:
    row = kept.now.row
    return (
        (filter.valid_at is None or _valid(row, micros(filter.valid_at)))
        and (filter.as_of is None or (row.status not in TAKEN_BACK and _valid(row, micros(filter.as_of))))
        and (filter.known_at is None or _known(kept, micros(filter.known_at)))
    )


def _valid(row: StoredRow, at: int) -> bool:
    return (row.valid_from is None or row.valid_from <= at) and (row.valid_to is None or row.valid_to > at)


def _known(kept: Kept, at: int) -> bool:
    return kept.learnt <= at and (kept.ended is None or kept.ended > at)


def _meets_facets(row: StoredRow, filter: Filter) -> bool:
    _, agent, key, subject, trust, tags, *_ = json.loads(row.facets) if row.facets else _NO_FACETS
    return (
        (filter.agent is None or agent == filter.agent)
        and (filter.keys is None or key in filter.keys)
        and (filter.subject is None or subject == filter.subject)
        and (filter.trust is None or trust in filter.trust)
        and (filter.tags is None or not filter.tags.isdisjoint(tags))
    )


_NO_FACETS = (None, None, None, None, None, ())


def history(era: Era, view: View, id: UUID) -> list[HistoryStep]:
    """Return all versions of a record, each with the ledger line that wrote it."""
    kept = era.seen(view, id)
    return [] if kept is None else [_step(kept, version, view) for version in kept.versions]


def _step(kept: Kept, version: Version, view: View) -> HistoryStep:
    entry = kept.era.ledger[version.position - 1]
    line = next(line for line in entry.lines if line.id == kept.id)
    # A version that this view could not read is listed without its content.
    shown = kept.record(version) if version.row.body and version.audience.readable_by(view) else None
    return HistoryStep(version.position, entry.at, entry.actor, line.verb, version.row.version, shown)


def entries(era: Era, after: int, limit: int) -> list[Entry]:
    """Return the owner's ledger entries after a position."""
    return [replace(entry, owner=era.owner) for entry in era.ledger[after : after + limit]]


def since(
    tables: Tables, era: Era, view: View, cached: Callable[[int], int | None]
) -> list[tuple[Shelf, ShelfDelta]]:
    """Return the shelves that the view may see, each with its changes since the revision that the caller has cached."""
    found = []
    active = tables.active
    for shelf in era.shelves.values():
        if shelf.audience.readable_by(view):
            mark = cached(shelf.number)
            if mark is not None and mark < shelf.renewed:
                mark = None
            after = mark or 0
            there = [
                k for k in era.records.values() if k.now.audience == shelf.audience and k.terms is not None
            ]
            came = [kept for kept in sorted(there, key=lambda kept: kept.mark) if kept.mark > after]
            rows = PassageRows.of([[kept.passage(active) for kept in came]])
            gone = [] if mark is None else [id.bytes for id, left in shelf.gone.items() if left > after]
            found.append(
                (
                    Shelf(shelf.number, shelf.audience),
                    ShelfDelta(shelf.mark, mark is None, rows, gone, active or ""),
                )
            )
    return found


def seen(era: Era, view: View, shelves: list[tuple[Shelf, ShelfDelta]], chosen: Sequence[UUID]) -> Sight:
    """Return the chosen records with their uses and the records they cite."""
    records = get(era, view, chosen)
    return Sight(shelves, records, uses(era, view, list(records)), get(era, view, cited_by(records.values())))


def most_used(era: Era, view: View, filter: Filter, limit: int) -> list[UUID]:
    """Return memories that were placed in prompts, the most used first."""
    found = [
        (-kept.use.count, 0 if kept.use.used_at is None else -micros(kept.use.used_at), kept.id.bytes)
        for kept in matching(era, view, filter)
        if kept.use is not None and kept.use.count > 0 and kept.now.row.type == "memory"
    ]
    return [UUID(bytes=id) for *_, id in sorted(found)[:limit]]


def uses(era: Era, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
    """Return the use of memories: how often and when each was placed in a prompt."""
    found = ((id, era.seen(view, id)) for id in ids)
    return {id: kept.use for id, kept in found if kept is not None and kept.use is not None}


def note_use(era: Era, view: View, noted: Mapping[UUID, Use]) -> int:
    """Store the use of memories: how often and when each was placed in a prompt."""
    found = (era.seen(view, id) for id in noted)
    seen = [kept for kept in found if kept is not None and kept.now.row.type == "memory"]
    for kept in seen:
        kept.use = noted[kept.id]
    return len(seen)


def put_terms(tables: Tables, rule: int, terms: Mapping[UUID, bytes]) -> int:
    """Store recomputed search terms of passages."""
    there = [
        tables.records[id] for id in terms if id in tables.records and tables.records[id].terms is not None
    ]
    for kept in there:
        kept.terms, kept.rule = terms[kept.id], rule
    remark(there)
    return len(there)


def remark(touched: list[Kept]) -> None:
    """Increase the revisions of shelves whose passages' terms or vectors changed, so that indexes fetch them again."""
    shelves = {id(shelf): shelf for kept in touched for shelf in [kept.era.shelves[kept.now.audience]]}
    for shelf in shelves.values():
        shelf.mark += 1
    for kept in touched:
        kept.mark = kept.era.shelves[kept.now.audience].mark
