"""Records and their ledger: what is asked before a batch or an erasure is decided, and what is
stored and removed then.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from examples.extending.dict_engine.beside import make_vectors_due, owner_of_era
from examples.extending.dict_engine.tables import (
    Row,
    Session,
    handles,
    named,
    place_of,
    read_record,
)
from memoranda.errors import Conflict
from memoranda.model.book_rows import SECRET, VersionPiece
from memoranda.model.ledger import Entry, Erasures, aged_of
from memoranda.model.records import PASSAGE_TYPES, Owner, Record
from memoranda.model.service_records import Appends
from memoranda.model.values import keyed, micros, owner_digest
from memoranda.storage import conditions as c
from memoranda.storage import questions as q
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.decide.state import Put
from memoranda.storage.rows import StoredRow, audience_columns, audience_of
from memoranda.storage.use_case import OwnerBase
from memoranda.storage.use_cases.erasure import erased_by
from memoranda.text.terms import RULE

handles(q.Base, q.FindOwner)(lambda on, asked: _base(on, asked.owner, on.present_era(asked.owner)))


@handles(u.FindEra)
def _base_of_era(on: Session, asked: u.FindEra) -> OwnerBase | None:
    era = on.tables["eras"].get(asked.era)
    return None if era is None else _base(on, owner_of_era(on, asked.era), era)


def _base(on: Session, owner: Owner | None, era: Row | None) -> OwnerBase:
    """Return the base of an owner, and remember that the next questions are about that owner."""
    on.era = b"" if era is None else era["era"]
    on.base = OwnerBase(
        owner,
        on.properties[SECRET],
        era=None if era is None else UUID(bytes=era["era"]),
        position=0 if era is None else era["position"],
        held=len(on.find("records", c.Own(), c.Is("type", "memory"), c.Is("status", "active"))),
        items=_count_items(on, q.CountItems()),
    )
    if owner is not None:
        restriction = on.tables["restrictions"].get(owner_digest(on.base.secret, owner.parts))
        on.base.restricted = None if restriction is None else Appends.stored(restriction["mode"])
    return on.base


@handles(q.CountItems)
def _count_items(on: Session, asked: q.CountItems) -> int:
    found = on.find("records", c.Own(), c.Is("type", "item"), c.Is("status", None))
    return sum(
        asked.at is None or row["valid_to"] is None or row["valid_to"] > asked.at for row in found
    )


handles(q.Secret)(lambda on, _: on.properties[SECRET])
handles(q.CountActive)(lambda on, _: on.base.held)
# Writes exclude each other here.
handles(w.Reserve)(lambda on, _: None)


@handles(q.ByOperation)
def _by_operation(on: Session, asked: q.ByOperation) -> q.Applied | None:
    for row in on.find("ledger", c.Among("operation", (asked.digest, asked.brought))):
        return q.Applied(row["entry"], ended=on.tables["eras"][row["era"]]["erased_at"] is not None)
    return None


@handles(q.Aged)
def _aged(on: Session, _: q.Aged) -> dict[UUID, UUID]:
    entries = [row["entry"] for row in on.find("ledger", c.Own())]
    return {id: thread for entry in entries for id, thread in aged_of(entry).items()}


@handles(q.PositionsTouching)
def _positions_touching(on: Session, asked: q.PositionsTouching) -> list[int]:
    versions = (version for row in _own(on, asked.ids) for version in all_versions(row))
    return sorted({version["position"] for version in versions})


@handles(q.ErasedAmong)
def _erased_among(on: Session, asked: q.ErasedAmong) -> frozenset[UUID]:
    secret = on.properties[SECRET]
    digests = {id: keyed(secret, "record", id.bytes) for id in asked.ids}
    return frozenset(id for id, digest in digests.items() if digest in on.tables["tombstones"])


@handles(u.PastErasures)
def _past_erasures(on: Session, _: u.PastErasures) -> Erasures:
    ended = on.find("eras", c.Not(c.Is("erased_at", None)))
    entries = [row["entry"] for row in on.find("ledger")]
    return erased_by(
        [UUID(bytes=row["era"]) for row in ended], ((one.lines, one.note) for one in entries)
    )


def put_entry(on: Session, era: bytes, entry: Entry) -> None:
    """Store an entry in the ledger of an era; it names no owner there."""
    row = {"era": era, "position": entry.position, "operation": entry.operation}
    on.put("ledger", {**row, "entry": replace(entry, owner=None)})


def all_versions(row: Row) -> list[Row]:
    """Return all versions of a record, oldest first, each as a row that reads like the current
    one.
    """
    return [*({**row, **version._asdict()} for version in row["earlier"]), row]


def _own(on: Session, ids: Iterable[UUID]) -> list[Row]:
    return on.find("records", c.Own(), c.Among("id", [id.bytes for id in ids]))


@handles(q.VersionOf)
def _version_of(on: Session, asked: q.VersionOf) -> Record | None:
    versions = (version for row in _own(on, [asked.id]) for version in all_versions(row))
    found = [one for one in versions if one["version"] == asked.version and one["body"]]
    return read_record(found[0]) if found else None


@handles(q.EndOf)
def _end_of(on: Session, asked: q.EndOf) -> q.ThreadEnd | None:
    for row in _own(on, [asked.thread]):
        if row["type"] == "thread" and row["status"] != "withdrawn":
            return q.ThreadEnd(
                audience_of(*row["readers"]), row["agent"], row["seq"], row["valid_to"]
            )
    return None


@handles(q.Members)
def _members(on: Session, asked: q.Members) -> list[tuple[UUID, UUID]]:
    page, row = asked.page, on.tables["records"].get(asked.record.bytes)
    pairs = [
        (UUID(bytes=group), UUID(bytes=one))
        for group, one in (() if row is None else row["unlisted"])
    ]
    pairs = [
        (group, source) for group, source in pairs if group in asked.groups and source > page.after
    ]
    found = [pair for pair in pairs if page.among is None or pair[1] in page.among]
    return sorted(found, key=lambda pair: (pair[1], pair[0]))[: page.limit]


@handles(q.OtherHolders)
def _other_holders(on: Session, _: q.OtherHolders) -> list[Record]:
    assert on.base.owner is not None
    holds = c.Among("owner_kind", ("tenant", "agent")), c.Among("type", ("key", "experience"))
    return [
        read_record(row) for row in on.find("records", c.Is("tenant", on.base.owner.tenant), *holds)
    ]


@handles(u.Belongings)
def _belongings(on: Session, asked: u.Belongings) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in _own(on, asked.ids):
        found["versions"] += len(row["earlier"])
        found["terms"] += row["terms"] is not None
        found["uses"] += row["strength"] is not None
        found["vectors"] += len(row["vectors"])
        found["links"] += len(row["sources"]) + len(row["unlisted"])
    return found


handles(u.CountFilled)(
    lambda on, asked: sum(
        bool(version.body) for row in _own(on, asked.ids) for version in row["earlier"]
    )
)


@handles(w.StoreRecords)
def _store_records(on: Session, write: w.StoreRecords) -> None:
    era = on.era_of(write.base)
    before = {row.id: on.tables["records"].get(row.id) for row in write.rows}
    for put, row in zip(write.puts, write.rows, strict=True):
        _store(on, put, row, era, write.entry.position)
    stored = [on.tables["records"][id] for id in before]
    passages = [new for new in stored if new["type"] in PASSAGE_TYPES]
    left = [
        old for new in passages if (old := before[new["id"]]) and place_of(old) != place_of(new)
    ]
    on.remark(passages, left)
    for slot in {new["slot"] for new in stored} - {None}:
        if len(holders := on.find("records", c.Is("era", era), c.Is("slot", slot))) > 1:
            what = holders[0]["type"]
            raise Conflict(f"{what}: another record holds this key or name; read it, then decide")
    for thread, tail in write.tails.items():
        on.change_record(thread.bytes, seq=tail)
    put_entry(on, era, write.entry)
    on.put("eras", {**on.tables["eras"][era], "position": write.entry.position})
    if any(put.terms is not None for put in write.puts):
        make_vectors_due(on, write.entry.at)


def _store(on: Session, put: Put, row: StoredRow, era: bytes, position: int) -> None:
    """Store a new record, or the next version of one; each stands on a shelf."""
    before = on.tables["records"].get(row.id)
    if before is None:
        terms = None if put.terms is None else (RULE, put.terms)
        before = {
            "run": put.run, "terms": terms, "learnt": row.recorded_at, "ended": None, "earlier": (), "unlisted": (),
            "mark": 0, "strength": None, "used_at": None, "used": None, "vectors": {}, **named(put.record.owner),
        }  # fmt: skip
    elif put.before is None:
        raise Conflict(
            f"id: record {put.record.id} is in this book already; give a new one another id"
        )
    else:
        version = VersionPiece._make(before[name] for name in VersionPiece._fields)
        before = {**before, "earlier": (*before["earlier"], version)}
        row = row._replace(seq=before["seq"] if row.type == "thread" else row.seq)
    linked, unlinked = (
        {(a.bytes, b.bytes) for a, b in pairs} for pairs in (put.linked, put.unlinked)
    )
    readers = audience_columns(put.record.audience)
    on.tables["records"][row.id] = {**before, **columns_of(row), "era": era, "readers": readers}
    on.change_record(
        row.id,
        position=position,
        ended=None if row.held else before["ended"] or row.recorded_at,
        sources=tuple(sorted({source.bytes for source in put.record.links()})),
        unlisted=tuple(sorted({*before["unlisted"], *linked} - unlinked)),
    )
    on.shelf(era, readers)


def columns_of(row: StoredRow) -> Row:
    """Return the columns of a record's row and, one by one, the facets in it."""
    facets = json.loads(row.facets) if row.facets else []
    return {**row._asdict(), **dict(itertools.zip_longest(c.FACETS, facets))}


# ── removing ──────────────────────────────────────────────────────────────────────────────────────


@handles(w.ScrubDigests)
def _scrub_digests(on: Session, write: w.ScrubDigests) -> None:
    erased, stripped = frozenset(write.erased), frozenset(write.stripped)
    for row in on.find(
        "ledger", c.Is("era", on.era_of(write.base)), c.Among("position", write.positions)
    ):
        on.put("ledger", {**row, "entry": row["entry"].scrubbed(erased, stripped, write.redacted)})


@handles(w.ScrubLedger)
def _scrub_ledger(on: Session, write: w.ScrubLedger) -> None:
    for row in on.find("ledger", c.Is("era", on.era_of(write.base))):
        on.put("ledger", {**row, "entry": row["entry"].scrubbed(None)})


@handles(w.BlankVersions)
def _blank_versions(on: Session, write: w.BlankVersions) -> None:
    for id in write.ids:
        earlier = on.tables["records"][id.bytes]["earlier"]
        on.change_record(
            id.bytes, earlier=tuple(one._replace(body="", hash=b"") for one in earlier)
        )


@handles(w.RemoveRecords)
def _remove_records(on: Session, write: w.RemoveRecords) -> None:
    # All that belongs to a record is in its row.
    rows = [on.tables["records"].pop(leaving.id.bytes) for leaving in write.records]
    on.remark((), [row for row in rows if row["type"] in PASSAGE_TYPES])


@handles(w.EndEra)
def _end_era(on: Session, write: w.EndEra) -> None:
    era = on.era_of(write.base)
    of_era = c.Is("era", era)
    on.drop("gone", c.Among("shelf", [row["number"] for row in on.find("shelves", of_era)]))
    on.drop("shelves", of_era)
    on.drop("kept", c.Among("job", [row["id"] for row in on.find("jobs", of_era)]))
    on.drop("jobs", of_era)
    on.put("eras", {**on.tables["eras"][era], **named(None), "erased_at": micros(write.at)})
