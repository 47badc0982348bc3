"""Reads of the SQLite tables, limited to the shelves (passages or records of one audience) a view may see."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.engines.sqlite.file.connections import sql
from memoranda.model.ledger import Entry
from memoranda.model.passages import Choose, PassageRows, Shelf, ShelfDelta, Sight, Use, cited_by
from memoranda.model.query import Filter, HistoryStep, Page, place_of
from memoranda.model.records import Audience, Owner, Record, RecordType, View
from memoranda.model.values import micros, moment
from memoranda.ports import Scan
from memoranda.storage.rows import TAKEN_BACK, audience_of, cursor_of, decode, entry_of

#: The most placeholders of one statement; longer lists need several statements.
MANY = 500


@dataclass(slots=True)
class OwnerRow:
    """The row of an owner's present era (its time since the last whole erasure)."""

    no: int
    era: UUID
    position: int
    held: int


def find_owner(connection: sqlite3.Connection, owner: Owner) -> OwnerRow | None:
    """Return the row of the owner's present era; None if the owner has none."""
    row = connection.execute(sql("owner"), owner.parts).fetchone()
    return None if row is None else OwnerRow(row[0], UUID(bytes=row[1]), row[2], row[3])


def view_parameters(owner: Owner, view: View) -> dict[str, Any]:
    """Return the parameters of the statement ``visible_shelves``."""
    return {
        "tenant": owner.tenant,
        "kind": owner.kind.value,
        "id": owner.id,
        "whole": view.whole,
        "agent": view.agent,
        "groups": json.dumps(list(view.groups)),
    }


def conditions(filter: Filter) -> tuple[str, dict[str, Any]]:
    """Return a filter as a condition on the SQL alias ``r``, and its parameters; the caller adds types and threads."""
    parts: list[str] = ["r.status IS NOT 'withdrawn'"]
    values: dict[str, Any] = {}
    for column, wanted in (("kind", filter.kinds), ("status", filter.statuses)):
        if wanted is not None:
            parts.append(f"r.{column} IN (SELECT value FROM json_each(:{column}s))")  # noqa: S608 - our own names
            values[f"{column}s"] = json.dumps(sorted(wanted))
    if filter.slots is not None:
        names = [f"slot{place}" for place in range(len(filter.slots))]
        parts.append(f"r.slot IN ({', '.join(':' + name for name in names)})")
        values.update(zip(names, filter.slots, strict=True))
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
        parts.append("coalesce(r.status, '') NOT IN (SELECT value FROM json_each(:taken_back))")
        values["taken_back"] = json.dumps(sorted(TAKEN_BACK))
    if filter.known_at is not None:
        parts.append("r.learnt <= :known_at AND (r.ended IS NULL OR r.ended > :known_at)")
        values["known_at"] = micros(filter.known_at)
    if filter.pinned:
        parts.append("(r.type <> 'memory' OR json_extract(r.body, '$.pinned') = 1)")
    for name, facet, condition in _FACETS:
        if (wanted := getattr(filter, name)) is not None:
            parts.append(condition.format(f"nullif(r.facets, ''), '$[{facet}]'", f":{name}"))
            values[name] = wanted if isinstance(wanted, str) else json.dumps(sorted(wanted))
    return " AND ".join(parts), values


_AMONG = "json_extract({0}) IN (SELECT value FROM json_each({1}))"

#: A filter's field, the place of its facet, and the condition over the two.
_FACETS = (
    ("agent", 1, "json_extract({0}) = {1}"),
    ("keys", 2, _AMONG),
    ("subject", 3, "json_extract({0}) = {1}"),
    ("trust", 4, _AMONG),
    ("tags", 5, "EXISTS (SELECT 1 FROM json_each({0}) WHERE value IN (SELECT value FROM json_each({1})))"),
)


def chunks(items: list[bytes]) -> list[list[bytes]]:
    """Split a list into parts that are short enough for one statement."""
    return [items[start : start + MANY] for start in range(0, len(items), MANY)]


def fetch_many(
    connection: sqlite3.Connection, statement: str, items: list[bytes], *fixed: Any, list_name: str = "ids"
) -> list[tuple[Any, ...]]:
    """Return all rows of an SQL statement with a long list, read in parts; ``fixed`` values precede the list."""
    from_list = list(dict.fromkeys(items))
    found: list[tuple[Any, ...]] = []
    for piece in chunks(from_list):
        found += connection.execute(sql(statement, **{list_name: len(piece)}), (*fixed, *piece)).fetchall()
    return found


_PAST_ALL = 2**62
#: Rows of passages that exist as tuples at a time: too few to start the garbage collector.
_AT_A_TIME = 256


class Seen(NamedTuple):
    """A shelf (all passages of one owner and audience) that a view may see."""

    number: int
    audience: Audience
    mark: int
    #: A cache of an earlier revision is invalid.
    renewed: int


def visible(connection: sqlite3.Connection, owner: Owner, view: View) -> dict[int, Seen]:
    """Return the shelves of an owner that a view may see, by number."""
    rows = connection.execute(sql("visible_shelves"), view_parameters(owner, view))
    return {row[0]: Seen(row[0], audience_of(*row[1:4]), *row[4:]) for row in rows}


def _in_shelves(
    connection: sqlite3.Connection, statement: str, ids: list[bytes], shelves: dict[int, Seen]
) -> Iterator[tuple[Any, ...]]:
    if not shelves:
        return
    for piece in chunks(ids):
        yield from connection.execute(
            sql(statement, ids=len(piece), shelves=len(shelves)), (*piece, *shelves)
        )


def get(connection: sqlite3.Connection, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Record]:
    """Return records by id, in the order asked for."""
    return _on_shelves(connection, owner, visible(connection, owner, view), ids)


def _on_shelves(
    connection: sqlite3.Connection, owner: Owner, shelves: dict[int, Seen], ids: Sequence[UUID]
) -> dict[UUID, Record]:
    asked = {id.bytes: id for id in ids}
    found: dict[bytes, Record] = {}
    for type_, raw, shelf, version, recorded_at, body, status in _in_shelves(
        connection, "get", list(asked), shelves
    ):
        if status != "withdrawn":
            found[raw] = decode(type_, asked[raw], owner, shelves[shelf].audience, version, recorded_at, body)
    return {id: found[raw] for raw, id in asked.items() if raw in found}


def scan(
    connection: sqlite3.Connection, owner: Owner, view: View, filter: Filter, cursor: str | None, limit: int
) -> Page:
    """Return one page of the records that a view may see."""
    return _scan(connection, visible(connection, owner, view), Scan(owner, view, filter, cursor, limit))


def scans(connection: sqlite3.Connection, asked: Sequence[Scan]) -> list[Page]:
    """Return several pages of records, all read at one moment."""
    seen: dict[tuple[Owner, View], dict[int, Seen]] = {}
    pages = []
    for scan in asked:
        who = scan.owner, scan.view
        if who not in seen:
            seen[who] = visible(connection, *who)
        pages.append(_scan(connection, seen[who], scan))
    return pages


def _scan(connection: sqlite3.Connection, shelves: dict[int, Seen], asked: Scan) -> Page:
    """Return one page ordered by id; it merges the shelves and types, each read through its index."""
    owner, _, filter, cursor, limit = asked
    if filter.by_places:
        return _scan_places(connection, owner, shelves, filter, cursor, limit)
    condition, values = conditions(filter)
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
    values["cursor"] = cursor_of(cursor, filter.newest_first)
    values["limit"] = limit + 1
    streams = [
        connection.execute(
            sql(_statement(filter, type_)).replace("{conditions}", condition),
            {**values, "shelf": shelf, "type": type_.value},
        )
        for shelf in shelves
        for type_ in sorted(RecordType if filter.types is None else filter.types)
    ]
    # No name holds what is merged: it ends here, whatever goes wrong below, and not once the connection is closed.
    rows = list(islice(heapq.merge(*streams, key=lambda row: row[1], reverse=filter.newest_first), limit + 1))
    records = tuple(
        decode(type_, UUID(bytes=id), owner, shelves[shelf].audience, version, recorded_at, body)
        for type_, id, shelf, version, recorded_at, body in rows[:limit]
    )
    return Page(records, records[-1].id.hex if len(rows) > limit else None)


def _statement(filter: Filter, type_: RecordType) -> str:
    """Return the name of the SQL statement that reads this type under a filter."""
    if filter.thread is not None:
        name = "scan_thread"
    elif filter.pinned and type_ is RecordType.MEMORY:
        name = "scan_pinned"
    else:
        name = "scan"
    return f"{name}_down" if filter.newest_first else f"{name}_up"


def _scan_places(
    connection: sqlite3.Connection,
    owner: Owner,
    shelves: dict[int, Seen],
    filter: Filter,
    cursor: str | None,
    limit: int,
) -> Page:
    """Return one page of a thread's messages, in the order in which they were said."""
    assert filter.thread is not None
    condition, values = conditions(filter)
    last = place_of(cursor)
    values |= {"thread": filter.thread.bytes, "limit": limit + 1, "shelves": json.dumps(list(shelves))}
    values["place"] = last if last is not None else _PAST_ALL if filter.newest_first else 0
    text = sql("places_down" if filter.newest_first else "places_up").replace("{conditions}", condition)
    rows = connection.execute(text, values).fetchall()
    records = tuple(
        decode(type_, UUID(bytes=id), owner, shelves[shelf].audience, version, recorded_at, body)
        for type_, id, shelf, version, recorded_at, body, _ in rows[:limit]
    )
    return Page(records, str(rows[limit - 1][6]) if len(rows) > limit else None)


def count(connection: sqlite3.Connection, owner: Owner, view: View, filter: Filter) -> int:
    """Return the number of records that a scan with this filter would return."""
    condition, values = conditions(filter)
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
    text = sql("count_thread" if filter.thread else "count").replace("{conditions}", condition)
    total = 0
    for shelf in visible(connection, owner, view):
        for type_ in RecordType if filter.types is None else filter.types:
            total += connection.execute(text, {**values, "shelf": shelf, "type": type_.value}).fetchone()[0]
    return total


def history(connection: sqlite3.Connection, owner: Owner, view: View, id: UUID) -> list[HistoryStep]:
    """Return all versions of a record, each with the ledger line that wrote it."""
    shelves = visible(connection, owner, view)
    rows = list(_in_shelves(connection, "get", [id.bytes], shelves))
    if not rows:
        return []
    type_, raw, shelf, version, recorded_at, body, _ = rows[0]
    present = connection.execute(sql("record_position"), (raw,)).fetchone()
    steps = []
    for earlier, position, since_, old, *readers in connection.execute(sql("versions_of"), (raw,)).fetchall():
        kept = decode(type_, id, owner, audience_of(*readers), earlier, since_, old) if old else None
        # A version that this view could not read is listed without its content.
        shown = kept if kept is not None and kept.audience.readable_by(view) else None
        steps.append(_step(connection, owner, present[0], position, id, earlier, shown))
    now = decode(type_, id, owner, shelves[shelf].audience, version, recorded_at, body)
    return [*steps, _step(connection, owner, present[0], present[1], id, version, now)]


def _step(
    connection: sqlite3.Connection,
    owner: Owner,
    no: int,
    position: int,
    id: UUID,
    version: int,
    record: Record | None,
) -> HistoryStep:
    entry = entry_of(connection.execute(sql("entry_at"), (no, position)).fetchone(), owner)
    line = next(line for line in entry.lines if line.id == id)
    return HistoryStep(position, entry.at, entry.actor, line.verb, version, record)


def entries(connection: sqlite3.Connection, owner: Owner, after: int, limit: int) -> list[Entry]:
    """Return the owner's ledger entries after a position."""
    row = find_owner(connection, owner)
    if row is None:
        return []
    return [
        entry_of(found, owner) for found in connection.execute(sql("entries_after"), (row.no, after, limit))
    ]


def since(
    connection: sqlite3.Connection, owner: Owner, view: View, cached: Callable[[int], int | None]
) -> list[tuple[Shelf, ShelfDelta]]:
    """Return the shelves that the view may see, each with its changes since the revision that the caller has cached."""
    return _since(connection, visible(connection, owner, view), cached)


def look(
    connection: sqlite3.Connection,
    owner: Owner,
    view: View,
    cached: Callable[[int], int | None],
    choose: Choose,
) -> Sight:
    """Return the changes of the view's shelves, and the records that ``choose`` picks from them."""
    visible_ = visible(connection, owner, view)
    shelves = _since(connection, visible_, cached)
    chosen = choose(shelves)
    if chosen is None:
        return Sight(shelves, None)
    records = _on_shelves(connection, owner, visible_, chosen)
    memories = [id for id, record in records.items() if record.type is RecordType.MEMORY]
    grounds = cited_by(records.values())
    return Sight(
        shelves,
        records,
        _uses(connection, visible_, memories) if memories else {},
        _on_shelves(connection, owner, visible_, grounds) if grounds else {},
    )


def _since(
    connection: sqlite3.Connection, shelves: dict[int, Seen], cached: Callable[[int], int | None]
) -> list[tuple[Shelf, ShelfDelta]]:
    found = []
    for seen in shelves.values():
        mark = cached(seen.number)
        if mark is not None and mark < seen.renewed:
            mark = None
        if mark == seen.mark:
            delta = ShelfDelta(seen.mark, False, (), ())
        else:
            passages = _passages(connection, seen.number, mark or 0)
            gone = (
                () if mark is None else connection.execute(sql("gone_since"), (seen.number, mark)).fetchall()
            )
            active = connection.execute(sql("active_vector_set")).fetchone()
            delta = ShelfDelta(
                seen.mark, mark is None, passages, [row[0] for row in gone], active[0] if active else ""
            )
        found.append((Shelf(seen.number, seen.audience), delta))
    return found


def _passages(connection: sqlite3.Connection, shelf: int, after: int) -> PassageRows:
    rows = connection.execute(sql("passages_since"), (shelf, after))
    return PassageRows.of(iter(lambda: rows.fetchmany(_AT_A_TIME), []))


def uses(connection: sqlite3.Connection, owner: Owner, view: View, ids: Sequence[UUID]) -> dict[UUID, Use]:
    """Return the use of memories: how often and when each was placed in a prompt."""
    return _uses(connection, visible(connection, owner, view), ids)


def _uses(connection: sqlite3.Connection, shelves: dict[int, Seen], ids: Sequence[UUID]) -> dict[UUID, Use]:
    found = {}
    for id, strength, used_at, times in _in_shelves(connection, "uses", [id.bytes for id in ids], shelves):
        used = None if used_at is None else moment(used_at)
        found[UUID(bytes=id)] = Use(strength=strength, used_at=used, count=times)
    return found


def most_used(
    connection: sqlite3.Connection, owner: Owner, view: View, filter: Filter, limit: int
) -> list[UUID]:
    """Return memories that were placed in prompts, the most used first."""
    condition, values = conditions(filter)
    values["limit"] = limit
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
        condition = f"{condition} AND r.thread = :thread"
    statement = sql("most_used").replace("{conditions}", condition)
    found: list[tuple[int, int, bytes]] = []
    for shelf in visible(connection, owner, view):
        found += connection.execute(statement, {**values, "shelf": shelf})
    return [UUID(bytes=id) for *_, id in sorted(found)[:limit]]


def numbers(
    connection: sqlite3.Connection, ids: Sequence[UUID], shelves: dict[int, Seen]
) -> list[tuple[bytes, int, int]]:
    """Return those of the records that are on these shelves, with row number and shelf."""
    return list(_in_shelves(connection, "numbers_in_view", [id.bytes for id in ids], shelves))
