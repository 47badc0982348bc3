"""Answers questions about records, limited to the shelves (an owner's records with one audience) a
view may see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from memoranda.engines.postgres.data_conditions import data_condition
from memoranda.engines.postgres.server.session import Answers, Row, Session
from memoranda.model.ledger import Entry
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
from memoranda.model.records import Audience, Owner, Record, RecordType, View
from memoranda.model.values import gone
from memoranda.storage import questions as q
from memoranda.storage.filters import (
    Dialect,
    page_of,
    passage_types,
    start_of,
    statement_of,
    touched,
)
from memoranda.storage.mentions import mentioned, unexpired, without_ids
from memoranda.storage.rows import audience_of, decode, entry_of, view_parameters

K = TypeVar("K")


class ShelfState(NamedTuple):
    """The facts about a shelf that decide if the server's index of large shelves can be used for
    it.
    """

    owner: int
    shelf: int
    passages: int
    #: The mark up to which the server's index of a large shelf is complete; None where there is no
    #: such index.
    indexed: int | None


#: Tells whether the server searches a shelf, so that its passages need not be fetched.
IsSearched = Callable[[Session, ShelfState], Awaitable[bool]]


DIALECT = Dialect(
    present="r.status IS DISTINCT FROM 'withdrawn'",
    among="{0} = ANY({1}::text[])",
    begins="starts_with({0}, {1}::text)",
    pinned="(r.type <> 'memory' OR nullif(r.facets, '')::jsonb ->> 6 = 'true')",
    holds="position('{0}' IN r.body) > 0",
    facet="nullif(r.facets, '')::jsonb ->> {0}",
    expiry="(nullif(r.facets, '')::jsonb ->> 7)::bigint",
    tagged="EXISTS (SELECT 1 FROM jsonb_array_elements_text(nullif(r.facets, '')::jsonb -> 5) AS t (tag) "
    "WHERE t.tag = ANY({0}::text[]))",
    texts=list,
    slots=lambda slots: ("r.slot = ANY(:slots::bytea[])", {"slots": list(slots)}),
    citing=lambda sources: (
        "r.id IN (SELECT l.record FROM links AS l WHERE l.owner = r.owner AND l.source = ANY(:sources::bytea[]))",
        {"sources": sources},
    ),
    data=data_condition,
)


def parameters(owner: Owner, view: View) -> dict[str, Any]:
    """Return the parameters of the statement ``visible_shelves``."""
    return view_parameters(owner, view, list(view.groups))


def conditions(filter: Filter, view: View) -> tuple[str, dict[str, Any]]:
    """Return a filter as a condition on the SQL alias ``r``, with its thread, and its parameters;
    the caller adds types.
    """
    condition, values = DIALECT.conditions(filter, view.at)
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
        condition += " AND r.thread = :thread"
    return condition, values


class Seen(NamedTuple):
    """A shelf (an owner's records with one audience) that a view may see."""

    number: int
    audience: Audience
    mark: int
    #: A cached index with an earlier mark is invalid.
    renewed: int
    passages: int
    #: The mark up to which the server's index of a large shelf is complete; None where there is no
    #: such index.
    indexed: int | None


class Visible(NamedTuple):
    """The shelves of an owner that a view may see, by number; the owner's number is 0 if there are
    none.
    """

    owner: int
    shelves: dict[int, Seen]

    @property
    def numbers(self) -> list[int]:
        """The shelves' numbers, as statements take them; empty if the view sees no shelf."""
        return list(self.shelves)


async def visible(on: Session, owner: Owner, view: View) -> Visible:
    """Return the shelves of an owner that a view may see."""
    rows = await on.all("visible_shelves", **parameters(owner, view))
    shelves = {
        row[0]: Seen(row[0], audience_of(*row[1:4]), row[4], row[5], *row[8:]) for row in rows
    }
    return Visible(rows[0][6] if rows else 0, shelves)


async def _in_shelves(on: Session, name: str, ids: Iterable[bytes], seen: Visible) -> list[Row]:
    asked = list(ids)
    return await on.all(name, seen.owner, asked, seen.numbers) if seen.shelves and asked else []


async def _get(on: Session, question: q.GetRecords) -> dict[UUID, Record]:
    owner, view = question.owner, question.view
    asked = {id.bytes: id for id in question.ids}
    if not asked:
        return {}
    rows = await on.all("get_in_view", ids=list(asked), **parameters(owner, view))
    found = {
        row[1]: decode(row[0], asked[row[1]], owner, audience_of(*row[2:5]), row[5], row[6], row[7])
        for row in rows
    }
    return await _told(
        on, owner, view, {id: found[raw] for raw, id in asked.items() if raw in found}
    )


async def _told(on: Session, owner: Owner, view: View, found: dict[K, Record]) -> dict[K, Record]:
    """Return the records, by any key, without the ids in them that the view may not see."""
    found = unexpired(view, found)
    ids = [id.bytes for id in mentioned(view, found.values())]
    rows = await on.all("out_of_view", ids=ids, **parameters(owner, view)) if ids else []
    unseen = frozenset(UUID(bytes=row[0]) for row in rows)
    return {id: without_ids(record, unseen) for id, record in found.items()} if unseen else found


async def _on_shelves(
    on: Session, owner: Owner, seen: Visible, ids: Sequence[UUID]
) -> tuple[dict[UUID, Record], dict[UUID, Use]]:
    """Return records by id, in the order of the ids, and the use of those that are memories."""
    asked = {id.bytes: id for id in ids}
    found: dict[bytes, Record] = {}
    served: dict[UUID, Use] = {}
    for type_, raw, shelf, version, recorded_at, body, status, *use in await _in_shelves(
        on, "get", asked, seen
    ):
        if status == "withdrawn":
            continue
        readers = seen.shelves[shelf].audience
        found[raw] = decode(type_, asked[raw], owner, readers, version, recorded_at, body)
        if use[-1] is not None:
            served[asked[raw]] = Use.of_columns(*use)
    return {id: found[raw] for raw, id in asked.items() if raw in found}, served


async def _scans(on: Session, question: q.ScanRecords) -> list[Page]:
    return [await _scan(on, scan) for scan in question.asked]


async def _scan(on: Session, asked: Scan) -> Page:
    """Return one page in the order of ids: each shelf and type is read by its index, and the server
    merges them.
    """
    owner, view, filter, cursor, limit = asked
    condition, values = DIALECT.conditions(filter, view.at)
    values |= {**parameters(owner, view), **start_of(filter, cursor), "limit": limit + 1}
    values["types"] = _types(filter)
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
    if few := DIALECT.few(filter, filter.types):
        condition = f"{few[1]} AND {condition}"
    rows = await on.all(statement_of(filter), conditions=condition, **values)
    records = tuple(
        decode(row[0], UUID(bytes=row[1]), owner, audience_of(*row[5:8]), row[2], row[3], row[4])
        for row in touched(filter, rows[:limit], itemgetter(4))
    )
    told = await _told(on, owner, view, {record.id: record for record in records})
    return page_of(filter, tuple(told.values()), len(rows) <= limit)


def _types(filter: Filter) -> list[str]:
    return sorted(RecordType if filter.types is None else filter.types)


async def _count(on: Session, question: q.CountRecords) -> int:
    condition, values = conditions(question.filter, question.view)
    seen = await visible(on, question.owner, question.view)
    values |= {"owner": seen.owner, "shelves": seen.numbers, "types": _types(question.filter)}
    total: int = await on.value("count", conditions=condition, **values)
    return total


async def _newest(on: Session, question: q.NewestPassages) -> list[Record]:
    owner, view = question.owner, question.view
    condition, values = conditions(question.filter, view)
    values |= {**parameters(owner, view), "types": sorted(passage_types(question.filter))}
    values |= {"limit": question.limit, "offset": question.offset}
    rows = await on.all("newest_passages", conditions=condition, **values)
    records = [
        decode(row[0], UUID(bytes=row[1]), owner, audience_of(*row[5:8]), row[2], row[3], row[4])
        for row in rows
    ]
    return list((await _told(on, owner, view, {record.id: record for record in records})).values())


async def _kinds(on: Session, question: q.CountKinds) -> dict[str | None, int]:
    condition, values = conditions(question.filter, question.view)
    seen = await visible(on, question.owner, question.view)
    values |= {
        "owner": seen.owner,
        "shelves": seen.numbers,
        "types": sorted(passage_types(question.filter)),
    }
    return {row[0]: row[1] for row in await on.all("count_kinds", conditions=condition, **values)}


async def _versions(on: Session, question: q.VersionsInView) -> list[q.SeenVersion]:
    owner, id = question.owner, question.id
    found: list[q.SeenVersion] = []
    records: dict[int, Record] = {}
    rows = await on.all("versions_in_view", record=id.bytes, **parameters(owner, question.view))
    for type_, version, position, recorded_at, body, *readers in rows:
        audience = audience_of(*readers)
        found.append(q.SeenVersion(version, position, audience, None))
        if body:
            records[version] = decode(type_, id, owner, audience, version, recorded_at, body)
    if found and gone(records.get(found[-1].version), question.view.at):
        return []
    told = await _told(on, owner, question.view, records)
    return [one._replace(record=told.get(one.version)) for one in found]


async def _entries_after(on: Session, question: q.EntriesAfter) -> list[Entry]:
    rows = await on.all("entries_after", on.no, question.after, question.limit)
    return [entry_of(row, None) for row in rows]


async def _shelves_since(
    is_searched: IsSearched, on: Session, question: q.ShelvesSince
) -> list[tuple[Shelf, ShelfDelta]]:
    """Return changes of the view's shelves since the cached revisions; none for shelves that the
    server searches.
    """
    seen = await visible(on, question.owner, question.view)
    return await _since(on, seen, question.cached, is_searched)


async def _look(is_searched: IsSearched, on: Session, question: q.Look) -> Sight:
    owner = question.owner
    seen = await visible(on, owner, question.view)
    shelves = await _since(on, seen, question.cached, is_searched)
    chosen = await asyncio.to_thread(question.choose, shelves)
    if chosen is None:
        return Sight(shelves, None)
    records, served = await _on_shelves(on, owner, seen, chosen)
    records = await _told(on, owner, question.view, records)
    if question.bare:
        return Sight(shelves, records)
    grounds, _ = await _on_shelves(on, owner, seen, cited_by(records.values()))
    grounds = await _told(on, owner, question.view, grounds)
    return Sight(shelves, records, served, grounds)


async def _since(
    on: Session, seen: Visible, cached: Callable[[int], int | None], is_searched: IsSearched
) -> list[tuple[Shelf, ShelfDelta]]:
    found = []
    active: str | None = None
    for shelf in seen.shelves.values():
        mark = usable_mark(cached(shelf.number), shelf.renewed)
        state = ShelfState(seen.owner, shelf.number, shelf.passages, shelf.indexed)
        if await is_searched(on, state):
            delta = ShelfDelta(shelf.mark, False, (), (), large=True)
        elif mark == shelf.mark:
            delta = ShelfDelta(shelf.mark, False, (), ())
        else:
            if active is None:
                active = await on.value("active_vector_set") or ""
            rows, gone = await _came(on, seen.owner, shelf.number, mark)
            delta = ShelfDelta(shelf.mark, mark is None, rows, gone, active)
        found.append((Shelf(shelf.number, shelf.audience), delta))
    return found


async def _came(
    on: Session, owner: int, shelf: int, mark: int | None
) -> tuple[PassageRows, Sequence[bytes]]:
    """Return a shelf's passages since a revision, and the ids of removed ones; a whole shelf is
    read in parts.
    """
    asked = owner, shelf, mark or 0
    if mark is None:
        parts = [part async for part in on.walk_named("passages_since", *asked)]
        return PassageRows.of(parts), ()  # type: ignore[arg-type]  # the driver's rows are as good as tuples
    rows = await on.all("passages_since", *asked)
    left = await on.all("gone_since", *asked)
    return PassageRows.of([rows]), [row[0] for row in left]  # type: ignore[list-item]  # as above


async def _uses(on: Session, question: q.Uses) -> dict[UUID, Use]:
    seen = await visible(on, question.owner, question.view)
    rows = await _in_shelves(on, "uses", (id.bytes for id in question.ids), seen)
    return {UUID(bytes=id): Use.of_columns(*use) for id, *use in rows}


async def _most_used(on: Session, question: q.MostUsed) -> list[UUID]:
    condition, values = conditions(question.filter, question.view)
    seen = await visible(on, question.owner, question.view)
    values |= {"owner": seen.owner, "shelves": seen.numbers, "limit": question.limit}
    return [UUID(bytes=row[0]) for row in await on.all("most_used", conditions=condition, **values)]


async def _memories(on: Session, question: q.MemoriesInView) -> dict[UUID, Row]:
    """Return owner and number of each memory."""
    seen = await visible(on, question.owner, question.view)
    rows = await _in_shelves(on, "numbers_in_view", (id.bytes for id in question.ids), seen)
    return {UUID(bytes=row[0]): row[1:] for row in rows}


def answers(is_searched: IsSearched) -> Answers:
    """Return the functions that answer the questions about records; ``is_searched`` is the open
    book's own.
    """
    return {
        q.GetRecords: _get,
        q.ScanRecords: _scans,
        q.CountRecords: _count,
        q.NewestPassages: _newest,
        q.CountKinds: _kinds,
        q.VersionsInView: _versions,
        q.EntriesAfter: _entries_after,
        q.ShelvesSince: partial(_shelves_since, is_searched),
        q.Look: partial(_look, is_searched),
        q.Uses: _uses,
        q.MostUsed: _most_used,
        q.MemoriesInView: _memories,
    }
