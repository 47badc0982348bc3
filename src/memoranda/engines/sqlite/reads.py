"""Answers questions about records, limited to the shelves (passages or records of one audience) a
view may see.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from memoranda.engines.sqlite.file.connections import MANY, Answers, Row, Session, Writes, sql
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


def _slots(slots: tuple[bytes, ...]) -> tuple[str, dict[str, Any]]:
    names = [f"slot{place}" for place in range(len(slots))]
    return f"r.slot IN ({', '.join(':' + name for name in names)})", dict(
        zip(names, slots, strict=True)
    )


def _citing(sources: list[bytes]) -> tuple[str, dict[str, Any]]:
    values = {f"source{place}": id for place, id in enumerate(sources)}
    among = ", ".join(f":{name}" for name in values)
    return f"r.id IN (SELECT record FROM links WHERE source IN ({among}))", values  # noqa: S608 - names of parameters


DIALECT = Dialect(
    present="r.status IS NOT 'withdrawn'",
    among="{0} IN (SELECT value FROM json_each({1}))",
    begins="substr({0}, 1, length({1})) = {1}",
    pinned="(r.type <> 'memory' OR json_extract(r.body, '$.pinned') = 1)",
    holds="instr(r.body, '{0}') > 0",
    facet="json_extract(nullif(r.facets, ''), '$[{0}]')",
    expiry="json_extract(nullif(r.facets, ''), '$[7]')",
    tagged="EXISTS (SELECT 1 FROM json_each(nullif(r.facets, ''), '$[5]') WHERE value IN (SELECT value FROM json_each({0})))",
    texts=json.dumps,
    slots=_slots,
    citing=_citing,
    data=lambda only: ("meets_data(r.type, r.body, :of_data)", {"of_data": only.spelled()}),
)


#: Rows of passages that exist as tuples at a time: too few to start the garbage collector.
_AT_A_TIME = 256


class Seen(NamedTuple):
    """A shelf (all passages of one owner and audience) that a view may see."""

    number: int
    audience: Audience
    mark: int
    #: A cache of an earlier revision is invalid.
    renewed: int


def visible(on: Session, owner: Owner, view: View) -> dict[int, Seen]:
    """Return the shelves of an owner that a view may see, by number."""
    rows = on.all("visible_shelves", **view_parameters(owner, view, json.dumps(list(view.groups))))
    return {row[0]: Seen(row[0], audience_of(*row[1:4]), *row[4:]) for row in rows}


def _in_shelves(
    on: Session, name: str, ids: Sequence[bytes], shelves: dict[int, Seen], *more: int
) -> Iterator[Row]:
    if shelves:
        for start in range(0, len(ids), MANY):
            part = ids[start : start + MANY]
            text = sql(name, ids=len(part), shelves=len(shelves))
            yield from on.connection.execute(text, (*part, *shelves, *more)).fetchall()


def _get(on: Session, question: q.GetRecords) -> dict[UUID, Record]:
    owner, view = question.owner, question.view
    shelves = visible(on, owner, view)
    return _told(on, view, shelves, _on_shelves(on, owner, shelves, question.ids))


def _told(
    on: Session, view: View, shelves: dict[int, Seen], found: dict[K, Record]
) -> dict[K, Record]:
    """Return the records, by any key, without the ids in them that the view may not see."""
    found = unexpired(view, found)
    ids = [id.bytes for id in mentioned(view, found.values())]
    # Another owner's record reads like one that never was: its id stays, as every id does that
    # nobody has.
    rows = _in_shelves(on, "out_of_view", ids, shelves, *list(shelves)[:1])
    unseen = frozenset(UUID(bytes=row[0]) for row in rows)
    return {id: without_ids(record, unseen) for id, record in found.items()} if unseen else found


def _on_shelves(
    on: Session, owner: Owner, shelves: dict[int, Seen], ids: Sequence[UUID]
) -> dict[UUID, Record]:
    asked = {id.bytes: id for id in ids}
    found: dict[bytes, Record] = {}
    for type_, raw, shelf, version, at, body, status, _ in _in_shelves(
        on, "get", list(asked), shelves
    ):
        if status != "withdrawn":
            found[raw] = decode(
                type_, asked[raw], owner, shelves[shelf].audience, version, at, body
            )
    return {id: found[raw] for raw, id in asked.items() if raw in found}


def _scans(on: Session, question: q.ScanRecords) -> list[Page]:
    seen: dict[tuple[Owner, View], dict[int, Seen]] = {}
    pages = []
    for scan in question.asked:
        who = scan.owner, scan.view
        if who not in seen:
            seen[who] = visible(on, *who)
        pages.append(_scan(on, seen[who], scan))
    return pages


def _scan(on: Session, shelves: dict[int, Seen], asked: Scan) -> Page:
    owner, view, filter, cursor, limit = asked
    condition, values = _conditions(filter, view)
    values |= {**start_of(filter, cursor), "limit": limit + 1}
    if filter.by_places:
        values["shelves"] = json.dumps(list(shelves))
        text = sql(statement_of(filter)).replace("{conditions}", condition)
        rows = on.connection.execute(text, values).fetchall()
    else:
        rows = _merged(on, shelves, filter, condition, values)
    records = tuple(
        decode(type_, UUID(bytes=id), owner, shelves[shelf].audience, version, recorded_at, body)
        for type_, id, shelf, version, recorded_at, body in touched(
            filter, rows[:limit], itemgetter(5)
        )
    )
    told = _told(on, asked.view, shelves, {record.id: record for record in records})
    return page_of(filter, tuple(told.values()), len(rows) <= limit)


def _merged(
    on: Session, shelves: dict[int, Seen], filter: Filter, condition: str, values: dict[str, Any]
) -> list[Row]:
    """Return rows ordered by id; it merges the shelves and types, each read through its index."""
    streams = [
        on.connection.execute(
            stream(filter, type_, condition),
            {**values, "shelf": shelf, "type": type_.value},
        )
        for shelf in shelves
        for type_ in sorted(RecordType if filter.types is None else filter.types)
    ]
    # No name holds what is merged: it ends here, whatever goes wrong below, and not once the
    # connection is closed.
    return list(
        islice(
            heapq.merge(*streams, key=lambda row: row[1], reverse=filter.newest_first),
            values["limit"],
        )
    )


def stream(filter: Filter, type: RecordType, condition: str) -> str:
    """Return the statement that reads one type of a shelf in the order of ids, through the index
    with the fewest rows.
    """
    text = sql(statement_of(filter))
    if few := DIALECT.few(filter, frozenset({type})):
        text = text.replace("FROM records AS r", f"FROM records AS r INDEXED BY {few[0]}")
        condition = f"{few[1]} AND {condition}"
    return text.replace("{conditions}", condition)


def _conditions(filter: Filter, view: View) -> tuple[str, dict[str, Any]]:
    condition, values = DIALECT.conditions(filter, view.at)
    if filter.thread is not None:
        values["thread"] = filter.thread.bytes
    return condition, values


def _count(on: Session, question: q.CountRecords) -> int:
    filter = question.filter
    condition, values = _conditions(filter, question.view)
    text = sql("count_thread" if filter.thread else "count").replace("{conditions}", condition)
    return sum(
        on.connection.execute(text, {**values, "shelf": shelf, "type": type_.value}).fetchone()[0]
        for shelf in visible(on, question.owner, question.view)
        for type_ in (RecordType if filter.types is None else filter.types)
    )


def _newest(on: Session, question: q.NewestPassages) -> list[Record]:
    end = question.offset + question.limit
    shelves = visible(on, question.owner, question.view)
    rows = [
        row
        for one in _passages(on, "newest_passages", shelves, question, limit=end)
        for row in one.fetchall()
    ]
    rows.sort(key=lambda row: (row[-1], row[1]), reverse=True)
    records = {
        UUID(bytes=id): decode(
            type_,
            UUID(bytes=id),
            question.owner,
            shelves[shelf].audience,
            version,
            recorded_at,
            body,
        )
        for type_, id, shelf, version, recorded_at, body, _ in rows[question.offset : end]
    }
    return list(_told(on, question.view, shelves, records).values())


def _kinds(on: Session, question: q.CountKinds) -> dict[str | None, int]:
    shelves = visible(on, question.owner, question.view)
    found: Counter[str | None] = Counter()
    for rows in _passages(on, "count_kinds", shelves, question):
        found.update(dict(rows.fetchall()))
    return dict(found)


def _passages(
    on: Session,
    name: str,
    shelves: dict[int, Seen],
    question: q.NewestPassages | q.CountKinds,
    **values: Any,
) -> Iterator[sqlite3.Cursor]:
    """Yield the rows of a statement about the passages that meet a filter, for each shelf and
    type.
    """
    condition, given = _conditions(question.filter, question.view)
    if question.filter.thread is not None:
        condition += " AND r.thread = :thread"
    text = sql(name).replace("{conditions}", condition)
    for shelf in shelves:
        for type_ in sorted(passage_types(question.filter)):
            yield on.connection.execute(
                text, {**given, **values, "shelf": shelf, "type": type_.value}
            )


def _versions(on: Session, question: q.VersionsInView) -> list[q.SeenVersion]:
    owner, id = question.owner, question.id
    shelves = visible(on, owner, question.view)
    found: list[q.SeenVersion] = []
    records: dict[int, Record] = {}
    for type_, raw, shelf, version, recorded_at, body, _, position in _in_shelves(
        on, "get", [id.bytes], shelves
    ):
        for earlier, written, since, old, *readers in on.all("versions_of", raw):
            audience = audience_of(*readers)
            found.append(q.SeenVersion(earlier, written, audience, None))
            if old:
                records[earlier] = decode(type_, id, owner, audience, earlier, since, old)
        audience = shelves[shelf].audience
        found.append(q.SeenVersion(version, position, audience, None))
        records[version] = decode(type_, id, owner, audience, version, recorded_at, body)
    if found and gone(records.get(found[-1].version), question.view.at):
        return []
    told = _told(on, question.view, shelves, records)
    return [one._replace(record=told.get(one.version)) for one in found]


def _entries_after(on: Session, question: q.EntriesAfter) -> list[Entry]:
    return [
        entry_of(row, None)
        for row in on.all("entries_after", on.no, question.after, question.limit)
    ]


def _shelves_since(on: Session, question: q.ShelvesSince) -> list[tuple[Shelf, ShelfDelta]]:
    return _since(on, visible(on, question.owner, question.view), question.cached)


def _look(on: Session, question: q.Look) -> Sight:
    owner = question.owner
    seen = visible(on, owner, question.view)
    shelves = _since(on, seen, question.cached)
    chosen = question.choose(shelves)
    if chosen is None:
        return Sight(shelves, None)
    records = _told(on, question.view, seen, _on_shelves(on, owner, seen, chosen))
    if question.bare:
        return Sight(shelves, records)
    memories = [id for id, record in records.items() if record.type is RecordType.MEMORY]
    cited = cited_by(records.values())
    grounds = _told(on, question.view, seen, _on_shelves(on, owner, seen, cited)) if cited else {}
    return Sight(shelves, records, _uses(on, seen, memories), grounds)


def _since(
    on: Session, shelves: dict[int, Seen], cached: Callable[[int], int | None]
) -> list[tuple[Shelf, ShelfDelta]]:
    found = []
    for seen in shelves.values():
        mark = usable_mark(cached(seen.number), seen.renewed)
        if mark == seen.mark:
            delta = ShelfDelta(seen.mark, False, (), ())
        else:
            rows = on.connection.execute(sql("passages_since"), (seen.number, mark or 0))
            passages = PassageRows.of(iter(lambda: rows.fetchmany(_AT_A_TIME), []))  # noqa: B023 - read at once
            gone = (
                () if mark is None else [row[0] for row in on.all("gone_since", seen.number, mark)]
            )
            active = on.value("active_vector_set") or ""
            delta = ShelfDelta(seen.mark, mark is None, passages, gone, active)
        found.append((Shelf(seen.number, seen.audience), delta))
    return found


def _uses(on: Session, shelves: dict[int, Seen], ids: Sequence[UUID]) -> dict[UUID, Use]:
    rows = _in_shelves(on, "uses", [id.bytes for id in ids], shelves)
    return {UUID(bytes=id): Use.of_columns(*use) for id, *use in rows}


def _uses_in_view(on: Session, question: q.Uses) -> dict[UUID, Use]:
    return _uses(on, visible(on, question.owner, question.view), question.ids)


def _most_used(on: Session, question: q.MostUsed) -> list[UUID]:
    condition, values = _conditions(question.filter, question.view)
    values["limit"] = question.limit
    if question.filter.thread is not None:
        condition += " AND r.thread = :thread"
    text = sql("most_used").replace("{conditions}", condition)
    found: list[tuple[int, int, bytes]] = []
    for shelf in visible(on, question.owner, question.view):
        found += on.connection.execute(text, {**values, "shelf": shelf})
    return [UUID(bytes=id) for *_, id in sorted(found)[: question.limit]]


def _memories(on: Session, question: q.MemoriesInView) -> dict[UUID, int]:
    shelves = visible(on, question.owner, question.view)
    rows = _in_shelves(on, "numbers_in_view", [id.bytes for id in question.ids], shelves)
    return {UUID(bytes=id): no for id, no in rows}


ANSWERS: Answers = {
    q.GetRecords: _get,
    q.ScanRecords: _scans,
    q.CountRecords: _count,
    q.NewestPassages: _newest,
    q.CountKinds: _kinds,
    q.VersionsInView: _versions,
    q.EntriesAfter: _entries_after,
    q.ShelvesSince: _shelves_since,
    q.Look: _look,
    q.Uses: _uses_in_view,
    q.MostUsed: _most_used,
    q.MemoriesInView: _memories,
}
WRITES: Writes = {}
