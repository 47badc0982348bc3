"""Answers questions about records, limited to the shelves (an owner's records with one audience)
that a view may see.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from memoranda.engines.mongo.documents import (
    body_out,
    names_of,
    record_out,
    value_out,
    vector_out,
)
from memoranda.engines.mongo.rows import filter_of, meets
from memoranda.engines.mongo.server.session import Answers, Document, Session
from memoranda.model.changes import FORM
from memoranda.model.passages import (
    PassageRows,
    Shelf,
    ShelfDelta,
    Sight,
    Use,
    cited_by,
    data_body,
    usable_mark,
)
from memoranda.model.query import Filter, Page, Scan
from memoranda.model.records import Owner, Record, RecordType, View
from memoranda.model.values import gone
from memoranda.storage import questions as q
from memoranda.storage.filter_conditions import conditions_of
from memoranda.storage.filters import page_of, passage_types, start_of, touched
from memoranda.storage.mentions import mentioned, unexpired, without_ids
from memoranda.storage.rows import audience_of

K = TypeVar("K")

_ALL_TYPES = [type.value for type in RecordType]


class Seen(NamedTuple):
    """The shelves of an owner that a view may see, and the condition that a record stands on one of
    them.
    """

    era: UUID | None
    shelves: dict[int, Document]
    condition: Document
    #: True if it sees every shelf of the owner, so that nothing of this owner is hidden from it.
    all: bool = False


async def visible(on: Session, owner: Owner, view: View) -> Seen:
    """Return what a view may see of an owner: every read uses it."""
    head = await on.first("owners", names_of(owner))
    if head is None or (not view.whole and "restricted" in head):
        return Seen(None, {}, {"shelf": {"$in": []}})
    shelves = {
        one["no"]: one for one in head["shelves"] if audience_of(*one["readers"]).readable_by(view)
    }
    condition = {**names_of(owner), "shelf": {"$in": list(shelves)}}
    return Seen(head["_id"], shelves, condition, len(shelves) == len(head["shelves"]))


async def _told(
    on: Session, owner: Owner, view: View, seen: Seen, found: dict[K, Record]
) -> dict[K, Record]:
    """Return the records, by any key, without the ids in them that the view may not see."""
    found = unexpired(view, found)
    ids = () if seen.all else mentioned(view, found.values())
    hidden = {**names_of(owner), "_id": {"$in": list(ids)}, "shelf": {"$nin": list(seen.shelves)}}
    docs = await on.find("records", hidden, fields={"_id": 1}) if ids else ()
    unseen = frozenset(doc["_id"] for doc in docs)
    return {id: without_ids(record, unseen) for id, record in found.items()} if unseen else found


async def _on_shelves(on: Session, seen: Seen, ids: Iterable[UUID]) -> dict[UUID, Document]:
    asked = list(dict.fromkeys(ids))
    if not asked or not seen.shelves:
        return {}
    docs = await on.find("records", {**seen.condition, "_id": {"$in": asked}})
    there = {doc["_id"]: doc for doc in docs}
    return {id: there[id] for id in asked if id in there}


def _built(docs: dict[UUID, Document]) -> dict[UUID, Record]:
    return {id: record_out(doc) for id, doc in docs.items() if doc.get("status") != "withdrawn"}


async def _get(on: Session, question: q.GetRecords) -> dict[UUID, Record]:
    seen = await visible(on, question.owner, question.view)
    found = _built(await _on_shelves(on, seen, question.ids))
    return await _told(on, question.owner, question.view, seen, found)


async def _matching(
    on: Session,
    seen: Seen,
    filter: Filter,
    view: View,
    more: Document,
    sort: Any = None,
    limit: int = 0,
    skip: int = 0,
) -> list[Document]:
    """Return documents that meet a filter; what only Python can decide is decided on the way."""
    if not seen.shelves:
        return []
    wanted, rest = filter_of("records", conditions_of(filter, view.at))
    condition = {"$and": [seen.condition, wanted, more]}
    if not rest:
        return await on.find("records", condition, sort, limit, skip=skip)
    kept = [doc for doc in await on.find("records", condition, sort) if meets(doc, rest)]
    return kept[skip : skip + limit] if limit else kept[skip:]


async def _scans(on: Session, question: q.ScanRecords) -> list[Page]:
    return [await _scan(on, scan) for scan in question.asked]


async def _scan(on: Session, asked: Scan) -> Page:
    owner, view, filter, cursor, limit = asked
    seen = await visible(on, owner, view)
    (start,) = start_of(filter, cursor).values()
    place, start = ("seq", start) if filter.by_places else ("_id", UUID(bytes=start))
    more: Document = {place: {"$lt" if filter.newest_first else "$gt": start}}
    if place == "_id":
        # With each type the server reads an index in order.
        more["type"] = {"$in": _ALL_TYPES}
    if filter.unformed and seen.shelves:
        more = {"$and": [more, await _unformed(on, seen)]}
    order = [(place, -1 if filter.newest_first else 1)]
    docs = await _matching(on, seen, filter, view, more, order, limit + 1)
    page = touched(filter, docs[:limit], lambda doc: body_out(doc["body"]))
    told = await _told(on, owner, view, seen, {doc["_id"]: record_out(doc) for doc in page})
    return page_of(filter, tuple(told.values()), len(docs) <= limit)


async def _unformed(on: Session, seen: Seen) -> Document:
    """Return the condition of a thread that a job forms and of its messages that are not formed
    yet.
    """
    forming = await on.find(
        "jobs", {"era": seen.era, "kind": FORM}, fields={"records": {"$slice": 1}}
    )
    ids = [job["records"][0] for job in forming if job["records"]]
    threads = await on.find("records", {**seen.condition, "_id": {"$in": ids}}, fields={"body": 1})
    found = []
    for thread in threads:
        formed = json.loads(body_out(thread["body"])).get("formed_through", 0)
        found.append({"thread": thread["_id"], "seq": {"$gt": formed}})
    return {"$or": found} if found else {"_id": {"$in": []}}


async def _count(on: Session, question: q.CountRecords) -> int:
    seen = await visible(on, question.owner, question.view)
    wanted, rest = filter_of("records", conditions_of(question.filter, question.view.at))
    if rest or not seen.shelves:
        return len(await _matching(on, seen, question.filter, question.view, {}))
    return await on.count("records", {"$and": [seen.condition, wanted]})


async def _newest(on: Session, question: q.NewestPassages) -> list[Record]:
    owner, view, filter = question.owner, question.view, question.filter
    seen = await visible(on, owner, view)
    more = {"mark": {"$gt": 0}, "type": {"$in": sorted(passage_types(filter))}}
    order = [("at", -1), ("_id", -1)]
    docs = await _matching(on, seen, filter, view, more, order, question.limit, question.offset)
    return list(
        (await _told(on, owner, view, seen, {doc["_id"]: record_out(doc) for doc in docs})).values()
    )


async def _kinds(on: Session, question: q.CountKinds) -> dict[str | None, int]:
    seen = await visible(on, question.owner, question.view)
    types = {"mark": {"$gt": 0}, "type": {"$in": sorted(passage_types(question.filter))}}
    docs = await _matching(on, seen, question.filter, question.view, types)
    return dict(Counter(doc.get("kind") for doc in docs))


async def _versions(on: Session, question: q.VersionsInView) -> list[q.SeenVersion]:
    owner, view, id = question.owner, question.view, question.id
    seen = await visible(on, owner, view)
    now = (await _on_shelves(on, seen, [id])).get(id)
    if now is None or gone(record_out(now), view.at):
        return []
    earlier = await on.find("versions", {**names_of(owner), "id": id}, [("version", 1)])
    docs = [*({**now, **doc, "_id": id} for doc in earlier), now]
    built = {doc["version"]: record_out(doc) for doc in docs if doc["body"]}
    told = await _told(on, owner, view, seen, built)
    return [
        q.SeenVersion(
            doc["version"], doc["position"], audience_of(*doc["readers"]), told.get(doc["version"])
        )
        for doc in docs
    ]


# ── shelves ───────────────────────────────────────────────────────────────────────────────────────

_PASSAGE: Document = {
    **dict.fromkeys(
        (
            "type",
            "kind",
            "status",
            "thread",
            "seq",
            "at",
            "valid_from",
            "valid_to",
            "terms",
            "facets",
            "learnt",
            "ended",
        ),
        1,
    ),
    "vector": 1,
    "scale": 1,
    # The content is the most of it, and an index needs it of these alone.
    "body": {"$cond": [{"$in": ["$type", ["item", "memory"]]}, "$body", ""]},
}


def _passage(doc: Document) -> tuple[Any, ...]:
    get = doc.get
    return (
        doc["_id"].bytes, doc["type"], get("kind"), get("status"), value_out(get("thread")), doc["seq"], doc["at"],
        get("valid_from"), get("valid_to"), get("terms", b""), vector_out(get("vector"), get("scale")), doc["facets"],
        doc["learnt"], get("ended"), data_body(doc["type"], body_out(doc["body"])),
    )  # fmt: skip


async def _since(
    on: Session, owner: Owner, seen: Seen, cached: Callable[[int], int | None]
) -> list[tuple[Shelf, ShelfDelta]]:
    found = []
    active: str | None = None
    for number, shelf in seen.shelves.items():
        mark = usable_mark(cached(number), shelf["renewed"])
        if mark == shelf["mark"]:
            delta = ShelfDelta(shelf["mark"], False, (), ())
        else:
            if active is None:
                sets = await on.find("vector_sets", {"active": True}, fields={"_id": 1})
                active = sets[0]["_id"] if sets else ""
            came = {**names_of(owner), "shelf": number, "mark": {"$gt": mark or 0}}
            docs = await on.find("records", came, [("mark", 1)], fields=_PASSAGE)
            went = {**names_of(owner), "shelf": number, "mark": {"$gt": mark}}
            left = [] if mark is None else await on.find("gone", went, [("mark", 1)])
            rows = PassageRows.of([[_passage(doc) for doc in docs]])
            delta = ShelfDelta(
                shelf["mark"], mark is None, rows, [doc["id"].bytes for doc in left], active
            )
        found.append((Shelf(number, audience_of(*shelf["readers"])), delta))
    return found


async def _shelves_since(on: Session, question: q.ShelvesSince) -> list[tuple[Shelf, ShelfDelta]]:
    return await _since(
        on, question.owner, await visible(on, question.owner, question.view), question.cached
    )


async def _look(on: Session, question: q.Look) -> Sight:
    owner, view = question.owner, question.view
    seen = await visible(on, owner, view)
    shelves = await _since(on, owner, seen, question.cached)
    chosen = await asyncio.to_thread(question.choose, shelves)
    if chosen is None:
        return Sight(shelves, None)
    docs = await _on_shelves(on, seen, chosen)
    records = await _told(on, owner, view, seen, _built(docs))
    if question.bare:
        return Sight(shelves, records)
    grounds = await _on_shelves(on, seen, cited_by(records.values()))
    told = await _told(on, owner, view, seen, _built(grounds))
    return Sight(shelves, records, _used({id: docs[id] for id in records}), told)


def _used(docs: dict[UUID, Document]) -> dict[UUID, Use]:
    uses = ((id, doc["use"]) for id, doc in docs.items() if "use" in doc)
    return {id: Use.of_columns(use["strength"], use["used_at"], use["count"]) for id, use in uses}


async def _uses(on: Session, question: q.Uses) -> dict[UUID, Use]:
    seen = await visible(on, question.owner, question.view)
    return _used(await _on_shelves(on, seen, question.ids))


async def _most_used(on: Session, question: q.MostUsed) -> list[UUID]:
    seen = await visible(on, question.owner, question.view)
    more = {"type": "memory", "use.count": {"$gt": 0}}
    order = [("use.count", -1), ("use.used_at", -1), ("_id", 1)]
    docs = await _matching(on, seen, question.filter, question.view, more, order, question.limit)
    return [doc["_id"] for doc in docs]


async def _memories(on: Session, question: q.MemoriesInView) -> dict[UUID, Any]:
    seen = await visible(on, question.owner, question.view)
    docs = await _on_shelves(on, seen, question.ids)
    return {id: doc for id, doc in docs.items() if doc["type"] == "memory"}


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
