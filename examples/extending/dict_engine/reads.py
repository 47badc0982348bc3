"""Reads for a view: nothing that it may not see is in an answer, or changes one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from typing import Any, TypeVar
from uuid import UUID

from examples.extending.dict_engine.records import all_versions
from examples.extending.dict_engine.tables import (
    Row,
    Session,
    handles,
    meets,
    place_of,
    read_record,
)
from memoranda.model import passages as p
from memoranda.model.changes import FORM
from memoranda.model.query import Filter, Page, Scan
from memoranda.model.records import Owner, Record, View
from memoranda.model.values import gone
from memoranda.storage import conditions as c
from memoranda.storage import questions as q
from memoranda.storage.filter_conditions import conditions_of
from memoranda.storage.filters import page_of, start_of, touched
from memoranda.storage.mentions import mentioned, unexpired, without_ids
from memoranda.storage.rows import audience_of

K = TypeVar("K")


class Visible:
    """What a view may see of an owner: shelves, and the records on them. Every read begins here.

    While the processing of the owner's data is restricted, only the owner's own view sees anything.
    """

    def __init__(self, on: Session, owner: Owner, view: View) -> None:
        self._view = view
        present = on.present_era(owner)
        era = None if present is None else present["era"]
        own = c.Is("era", era if view.whole or not on.is_restricted(era) else None)
        shelves = on.find("shelves", own)
        self.shelves = [row for row in shelves if audience_of(*row["readers"]).readable_by(view)]
        places = set(map(place_of, self.shelves))
        records = on.find("records", own)
        self.rows = {row["id"]: row for row in records if place_of(row) in places}
        self._hidden = {row["id"] for row in records} - self.rows.keys()

    def among(self, ids: Iterable[UUID]) -> list[Row]:
        """Return those of these records that are visible, in the order of the ids."""
        return [self.rows[id.bytes] for id in ids if id.bytes in self.rows]

    def matching(self, filter: Filter) -> list[Row]:
        """Return the records that meet a filter."""
        where = conditions_of(filter, self._view.at)
        return [row for row in self.rows.values() if all(meets(row, part, b"") for part in where)]

    def passages(self, filter: Filter) -> list[Row]:
        """Return the passages that meet a filter."""
        return [row for row in self.matching(filter) if row["terms"] is not None]

    def told(self, found: dict[K, Record]) -> dict[K, Record]:
        """Return records, by any key, without expired ones, and without the ids in them that the
        view may not see.
        """
        found = unexpired(self._view, found)
        unseen = frozenset(
            id for id in mentioned(self._view, found.values()) if id.bytes in self._hidden
        )
        return {key: without_ids(record, unseen) for key, record in found.items()}

    def records(self, rows: Iterable[Row]) -> dict[UUID, Record]:
        """Return the records of rows, in their order."""
        return self.told({record.id: record for record in map(read_record, rows)})

    def present(self, ids: Iterable[UUID]) -> dict[UUID, Record]:
        """Return those of these records that are visible and not withdrawn."""
        return self.records(row for row in self.among(ids) if row["status"] != "withdrawn")

    def uses(self, ids: Iterable[UUID]) -> dict[UUID, p.Use]:
        """Return the uses of memories; those that were never used are left out."""
        used = [row for row in self.among(ids) if row["strength"] is not None]
        columns = itemgetter("strength", "used_at", "used")
        return {UUID(bytes=row["id"]): p.Use.of_columns(*columns(row)) for row in used}


def _visible(on: Session, asked: Any) -> Visible:
    return Visible(on, asked.owner, asked.view)


handles(q.GetRecords)(lambda on, asked: _visible(on, asked).present(asked.ids))
handles(q.ScanRecords)(lambda on, asked: [_scan(on, scan) for scan in asked.asked])
handles(q.CountRecords)(lambda on, asked: len(_visible(on, asked).matching(asked.filter)))
handles(q.CountKinds)(
    lambda on, asked: Counter(row["kind"] for row in _visible(on, asked).passages(asked.filter))
)
handles(q.Uses)(lambda on, asked: _visible(on, asked).uses(asked.ids))


def _scan(on: Session, asked: Scan) -> Page:
    filter, visible = asked.filter, _visible(on, asked)
    by = itemgetter("seq" if filter.by_places else "id")
    found = sorted(visible.matching(filter), key=by, reverse=filter.newest_first)
    if filter.unformed:
        found = [row for row in found if _is_unformed(on, row)]
    (start,) = start_of(filter, asked.cursor).values()
    rest = [row for row in found if (by(row) < start if filter.newest_first else by(row) > start)]
    page = visible.records(touched(filter, rest[: asked.limit], itemgetter("body")))
    return page_of(filter, tuple(page.values()), is_last=len(rest) <= asked.limit)


def _is_unformed(on: Session, row: Row) -> bool:
    """True if a row is a thread that a job forms, or in such a thread, and lies after what was
    formed.
    """
    jobs = on.find("jobs", c.Is("era", row["era"]), c.Is("kind", FORM))
    if row["thread"] not in {id for job in jobs for id in job["records"][:1]}:
        return False
    thread = json.loads(on.tables["records"][row["thread"]]["body"])
    return bool(row["seq"] > thread.get("formed_through", 0))


@handles(q.NewestPassages)
def _newest_passages(on: Session, asked: q.NewestPassages) -> list[Record]:
    visible = _visible(on, asked)
    found = sorted(visible.passages(asked.filter), key=itemgetter("at", "id"), reverse=True)
    return list(visible.records(found[asked.offset : asked.offset + asked.limit]).values())


@handles(q.VersionsInView)
def _versions_in_view(on: Session, asked: q.VersionsInView) -> list[q.SeenVersion]:
    visible = _visible(on, asked)
    rows = [row for row in visible.among([asked.id]) if not gone(read_record(row), asked.view.at)]
    versions = [version for row in rows for version in all_versions(row)]
    told = visible.told({one["version"]: read_record(one) for one in versions if one["body"]})
    return [
        q.SeenVersion(
            one["version"], one["position"], audience_of(*one["readers"]), told.get(one["version"])
        )
        for one in versions
    ]


@handles(q.ShelvesSince)
def _shelves_since(
    on: Session, asked: q.ShelvesSince | q.Look
) -> list[tuple[p.Shelf, p.ShelfDelta]]:
    visible = _visible(on, asked)
    active = next((row["name"] for row in on.find("sets", c.Is("active", True))), "")
    found = []
    for shelf in visible.shelves:
        # The caller has everything up to this revision; None: nothing.
        mark = p.usable_mark(asked.cached(shelf["number"]), shelf["renewed"])
        after = c.Than("mark", ">", mark or 0)
        there = [row for row in visible.rows.values() if place_of(row) == place_of(shelf)]
        came = [_passage(row, active) for row in there if row["terms"] and meets(row, after, b"")]
        left = on.find("gone", c.Is("shelf", shelf["number"]), after)
        gone = [] if mark is None else [row["id"] for row in left]
        delta = p.ShelfDelta(shelf["mark"], mark is None, p.PassageRows.of([came]), gone, active)
        found.append((p.Shelf(shelf["number"], audience_of(*shelf["readers"])), delta))
    return found


def _passage(row: Row, active: str) -> p.PassageRow:
    _, packed = row["terms"]
    made = {
        "terms": packed,
        "vector": row["vectors"].get(active),
        "data": p.data_body(row["type"], row["body"]),
    }
    return p.PassageRow._make({**row, **made}[name] for name in p.PassageRow._fields)


@handles(q.Look)
def _look(on: Session, asked: q.Look) -> p.Sight:
    shelves = _shelves_since(on, asked)
    chosen = asked.choose(shelves)
    if chosen is None:
        return p.Sight(shelves, None)
    visible = _visible(on, asked)
    records = visible.present(chosen)
    if asked.bare:
        return p.Sight(shelves, records)
    return p.Sight(
        shelves, records, visible.uses(records), visible.present(p.cited_by(records.values()))
    )


@handles(q.MostUsed)
def _most_used(on: Session, asked: q.MostUsed) -> list[UUID]:
    found = [row for row in _visible(on, asked).matching(asked.filter) if row["used"]]
    found.sort(key=lambda row: (-row["used"], -(row["used_at"] or 0), row["id"]))
    return [UUID(bytes=row["id"]) for row in found[: asked.limit]]


@handles(q.MemoriesInView)
def _memories_in_view(on: Session, asked: q.MemoriesInView) -> dict[UUID, bytes]:
    rows = [row for row in _visible(on, asked).among(asked.ids) if row["type"] == "memory"]
    return {UUID(bytes=row["id"]): row["id"] for row in rows}
