"""Reads of the PostgreSQL tables, limited to the shelves (an owner's records with one audience) a view may see."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.engines.postgres.batches import find_owner
from memoranda.engines.postgres.server.session import Row, Session
from memoranda.model.ledger import Entry
from memoranda.model.passages import Choose, PassageRows, Shelf, ShelfDelta, Sight, Use, cited_by
from memoranda.model.query import Filter, HistoryStep, Page, place_of
from memoranda.model.records import Audience, Owner, Record, RecordType, View
from memoranda.model.values import micros, moment
from memoranda.ports import Scan
from memoranda.storage.rows import TAKEN_BACK, audience_of, cursor_of, decode, entry_of


class ShelfState(NamedTuple):
    """The facts about a shelf that decide if the server's index of large shelves can be used for it."""

    owner: int
    shelf: int
    passages: int
    #: The mark up to which the server's index of a large shelf is complete; None where there is no such index.
    indexed: int | None


#: Tells whether the server searches a shelf, so that its passages need not be fetched.
IsSearched = Callable[[Session, ShelfState], Awaitable[bool]]


def view_parameters(owner: Owner, view: View) -> dict[str, Any]:
    """Return the parameters of the statement ``visible_shelves``."""
    return {
        "tenant": owner.tenant,
        "kind": owner.kind.value,
        "id": owner.id,
        "whole": view.whole,
        "agent": view.agent,
        "groups": list(view.groups),
    }


def conditions(filter: Filter) -> tuple[str, dict[str, Any]]:
    """Return a filter as a condition on the SQL alias ``r``, and its parameters; the caller adds types and threads."""
    parts: list[str] = ["r.status IS DISTINCT FROM 'withdrawn'"]
    values: dict[str, Any] = {}
    for column, wanted in (("kind", filter.kinds), ("status", filter.statuses)):
        if wanted is not None:
            parts.append(f"r.{column} = ANY(:{column}s::text[])")
            values[f"{column}s"] = sorted(wanted)
    if filter.slots is not None:
        parts.append("r.slot = ANY(:slots::bytea[])")
        values["slots"] = list(filter.slots)
    for name, sign, limit in (("since", ">=", filter.since), ("until", "<", filter.until)):
        if limit is not None:
            parts.append(f"r.at {sign} :{name}")
            values[name] = micros(limit)
    for name, moment_ in (("valid_at", filter.valid_at), ("as_of", filter.as_of)):
        if moment_ is not None:
            parts.append(f"(r.valid_from IS NULL OR r.valid_from <= :{name})")
            parts.append(f"(r.valid_to IS NULL OR r.valid_to > :{name})")
            values[name] = micros(moment_)
    if filter.as_of is not None:
        parts.append("coalesce(r.status, '') <> ALL(:taken_back::text[])")
        values["taken_back"] = sorted(TAKEN_BACK)
    if filter.known_at is not None:
        parts.append("r.learnt <= :known_at AND (r.ended IS NULL OR r.ended > :known_at)")
        values["known_at"] = micros(filter.known_at)
    if filter.pinned:
        parts.append("(r.type <> 'memory' OR nullif(r.facets, '')::jsonb ->> 6 = 'true')")
    for name, facet, condition in _FACETS:
        if (wanted := getattr(filter, name)) is not None:
            parts.append(condition.format("nullif(r.facets, '')::jsonb", facet, f":of_{name}"))
            values[f"of_{name}"] = wanted if isinstance(wanted, str) else sorted(wanted)
    return " AND ".join(parts), values


_SAME = "{0} ->> {1} = {2}::text"
_AMONG = "{0} ->> {1} = ANY({2}::text[])"

#: A filter's field, the place of its facet, and the condition over the two.
_FACETS = (
    ("agent", 1, _SAME),
    ("keys", 2, _AMONG),
    ("subject", 3, _SAME),
    ("trust", 4, _AMONG),
    (
        "tags",
        5,
        "EXISTS (SELECT 1 FROM jsonb_array_elements_text({0} -> {1}) AS t (tag) WHERE t.tag = ANY({2}::text[]))",
    ),
)


_PAST_ALL = 2**62


class Seen(NamedTuple):
    """A shelf (an owner's records with one audience) that a view may see."""

    number: int
    audience: Audience
    mark: int
    #: A cached index with an earlier mark is invalid.
    renewed: int
    passages: int
    #: The mark up to which the server's index of a large shelf is complete; None where there is no such index.
    indexed: int | None


class Visible(NamedTuple):
    """The shelves of an owner that a view may see, by number; the owner's number is 0 if there are none."""

    owner: int
    shelves: dict[int, Seen]

    @property
    def numbers(self) -> list[int]:
        """The shelves' numbers, as statements take them; empty if the view sees no shelf."""
        return list(self.shelves)


async def visible(session: Session, owner: Owner, view: View) -> Visible:
    """Return the shelves of an owner that a view may see."""
    rows = await session.all("visible_shelves", **view_parameters(owner, view))
    shelves = {row[0]: Seen(row[0], audience_of(*row[1:4]), row[4], row[5], *row[8:]) for row in rows}
    return Visible(rows[0][6] if rows else 0, shelves)


async def _in_shelves(session: Session, statement: str, ids: Iterable[bytes], seen: Visible) -> list[Row]:
    if not seen.shelves:
        return []
    return await session.all(statement, seen.owner, list(ids), seen.numbers)


async def get(session: Session, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
    """Return records by id, in the order of the ids."""
    asked = {id.bytes: id for id in ids}
    if not asked:
        return {}
    rows = await session.all("get_in_view", ids=list(asked), **view_parameters(owner, view))
    found = {
        row[1]: decode(row[0], asked[row[1]], owner, audience_of(*row[2:5]), row[5], row[6], row[7])
        for row in rows
    }
    return {id: found[raw] for raw, id in asked.items() if raw in found}


async def _on_shelves(
    session: Session, owner: Owner, seen: Visible, ids: Sequence[UUID]
) -> tuple[dict[UUID, Record], dict[UUID, Use]]:
    """Return records by id, in the order of the ids, and the use of those that are memories."""
    asked = {id.bytes: id for id in ids}
    found: dict[bytes, Record] = {}
    served: dict[UUID, Use] = {}
    for row in await _in_shelves(session, "get", asked, seen) if asked else ():
        type_, raw, shelf, version, recorded_at, body, status, _, strength, used_at, times = row
        if status == "withdrawn":
            continue
        readers = seen.shelves[shelf].audience
        found[raw] = decode(type_, asked[raw], owner, readers, version, recorded_at, body)
        if times is not None:
            served[asked[raw]] = _use(strength, used_at, times)
    return {id: found[raw] for raw, id in asked.items() if raw in found}, served


async def scan(session: Session, asked: Scan) -> Page:
    """Return one page in the order of ids: each shelf and type is read by its index, and the server merges them."""
    owner, view, filter, cursor, limit = asked
    condition, values = conditions(filter)
    values |= view_parameters(owner, view)
    values["limit"] = limit + 1
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
    if filter.by_places:
        last = place_of(cursor)
        values["place"] = last if last is not None else _PAST_ALL if filter.newest_first else 0
    else:
        values["cursor"] = cursor_of(cursor, filter.newest_first)
        values["types"] = _types(filter)
    rows = await session.all(_statement(filter), conditions=condition, **values)
    records = tuple(_decoded(row, owner) for row in rows[:limit])
    if len(rows) <= limit:
        return Page(records, None)
    return Page(records, str(rows[limit - 1][8]) if filter.by_places else records[-1].id.hex)


async def scans(session: Session, asked: Sequence[Scan]) -> list[Page]:
    """Return several pages, all from one snapshot."""
    return [await scan(session, one) for one in asked]


def _decoded(row: Row, owner: Owner) -> Record:
    return decode(row[0], UUID(bytes=row[1]), owner, audience_of(*row[5:8]), row[2], row[3], row[4])


def _types(filter: Filter) -> list[str]:
    return sorted(RecordType if filter.types is None else filter.types)


def _statement(filter: Filter) -> str:
    """Return the name of the statement that has the best index for a filter."""
    if filter.by_places:
        name = "places"
    elif filter.thread is not None:
        name = "scan_thread"
    elif filter.pinned and filter.types == frozenset({RecordType.MEMORY}):
        name = "scan_pinned"
    else:
        name = "scan"
    return f"{name}_down" if filter.newest_first else f"{name}_up"


async def count(session: Session, owner: Owner, view: View, filter: Filter) -> int:
    """Return the number of records that a scan with this filter would return."""
    condition, values = conditions(filter)
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
        condition += " AND r.thread = :thread"
    seen = await visible(session, owner, view)
    values |= {"owner": seen.owner, "shelves": seen.numbers, "types": _types(filter)}
    total: int = await session.value("count", conditions=condition, **values)
    return total


async def history(session: Session, owner: Owner, view: View, id: UUID) -> list[HistoryStep]:
    """Return all versions of a record, each with the ledger line that wrote it."""
    seen = await visible(session, owner, view)
    rows = await _in_shelves(session, "get", [id.bytes], seen)
    if not rows:
        return []
    type_, raw, shelf, version, recorded_at, body, _, position, *_ = rows[0]
    told: list[tuple[int, int, Record | None]] = []
    for earlier, written, since_, old, *readers in await session.all("versions_of", seen.owner, raw):
        kept = decode(type_, id, owner, audience_of(*readers), earlier, since_, old) if old else None
        # A version that this view could not read is listed without its content.
        told.append(
            (written, earlier, kept if kept is not None and kept.audience.readable_by(view) else None)
        )
    now = decode(type_, id, owner, seen.shelves[shelf].audience, version, recorded_at, body)
    told.append((position, version, now))
    rows = await session.all("entries_at", seen.owner, [each[0] for each in told])
    entries = {row[1]: entry_of(row, owner) for row in rows}
    return [_step(entries[written], id, number, record) for written, number, record in told]


def _step(entry: Entry, id: UUID, version: int, record: Record | None) -> HistoryStep:
    line = next(line for line in entry.lines if line.id == id)
    return HistoryStep(entry.position, entry.at, entry.actor, line.verb, version, record)


async def entries(session: Session, owner: Owner, after: int, limit: int) -> list[Entry]:
    """Return the entries of the owner's ledger after a position."""
    row = await find_owner(session, owner)
    if row is None:
        return []
    await session.one("face_owner", str(row.no))
    return [entry_of(found, owner) for found in await session.all("entries_after", row.no, after, limit)]


Cached = Callable[[int], int | None]


async def since(
    session: Session, owner: Owner, view: View, cached: Cached, is_searched: IsSearched
) -> list[tuple[Shelf, ShelfDelta]]:
    """Return changes of the view's shelves since the cached revisions; none for shelves that the server searches."""
    return await _since(session, await visible(session, owner, view), cached, is_searched)


async def look(
    session: Session, owner: Owner, view: View, cached: Cached, choose: Choose, is_searched: IsSearched
) -> Sight:
    """Return the changes of the view's shelves, and the records that ``choose`` picks when it has seen them."""
    seen = await visible(session, owner, view)
    shelves = await _since(session, seen, cached, is_searched)
    chosen = await asyncio.to_thread(choose, shelves)
    if chosen is None:
        return Sight(shelves, None)
    records, served = await _on_shelves(session, owner, seen, chosen)
    grounds, _ = await _on_shelves(session, owner, seen, cited_by(records.values()))
    return Sight(shelves, records, served, grounds)


async def _since(
    session: Session, seen: Visible, cached: Cached, is_searched: IsSearched
) -> list[tuple[Shelf, ShelfDelta]]:
    found = []
    active: str | None = None
    for shelf in seen.shelves.values():
        mark = cached(shelf.number)
        if mark is not None and mark < shelf.renewed:
            mark = None
        state = ShelfState(seen.owner, shelf.number, shelf.passages, shelf.indexed)
        if await is_searched(session, state):
            delta = ShelfDelta(shelf.mark, False, (), (), large=True)
        elif mark == shelf.mark:
            delta = ShelfDelta(shelf.mark, False, (), ())
        else:
            if active is None:
                active = await session.value("active_vector_set") or ""
            rows, gone = await _came(session, seen.owner, shelf.number, mark)
            delta = ShelfDelta(shelf.mark, mark is None, rows, gone, active)
        found.append((Shelf(shelf.number, shelf.audience), delta))
    return found


async def _came(
    session: Session, owner: int, shelf: int, mark: int | None
) -> tuple[PassageRows, Sequence[bytes]]:
    """Return a shelf's passages since a revision, and the ids of removed ones; a whole shelf is read in parts."""
    asked = owner, shelf, mark or 0
    if mark is None:
        parts = [part async for part in session.walk_named("passages_since", *asked)]
        return PassageRows.of(parts), ()  # type: ignore[arg-type]  # the driver's rows are as good as tuples
    rows = await session.all("passages_since", *asked)
    left = await session.all("gone_since", *asked)
    return PassageRows.of([rows]), [row[0] for row in left]  # type: ignore[list-item]  # as above


async def uses(session: Session, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
    """Return the use of memories: how often and when each was placed in a prompt."""
    seen = await visible(session, owner, view)
    rows = await _in_shelves(session, "uses", (id.bytes for id in ids), seen)
    return {UUID(bytes=row[0]): _use(*row[1:]) for row in rows}


def _use(strength: float, used_at: int | None, times: int) -> Use:
    return Use(strength=strength, used_at=None if used_at is None else moment(used_at), count=times)


async def most_used(session: Session, owner: Owner, view: View, filter: Filter, limit: int) -> list[UUID]:
    """Return ids of memories that were placed in prompts, the most used first."""
    condition, values = conditions(filter)
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
        condition += " AND r.thread = :thread"
    seen = await visible(session, owner, view)
    named: dict[str, Any] = {"owner": seen.owner, "shelves": seen.numbers, "limit": limit}
    rows = await session.all("most_used", conditions=condition, **values, **named)
    return [UUID(bytes=row[0]) for row in rows]
