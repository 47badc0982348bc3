"""Reads a book's tables directly, without the product: current records, and a fingerprint for each
owner.
"""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.model.language_models import Spent, price_of
from memoranda.model.records import Audience, AudienceKind, Owner, OwnerKind


class Row(NamedTuple):
    """A record as the tables hold it."""

    id: UUID
    owner: Owner
    audience: Audience
    type: str
    version: int
    status: str | None
    kind: str | None
    thread: UUID | None
    seq: int
    #: The shelf's owner is the record's.
    in_place: bool
    body: dict[str, Any]
    text: str


_ROW = """
SELECT r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.type, r.version, r.status, r.kind, r.thread, r.seq,
    s.owner = r.owner, r.body
FROM records AS r LEFT JOIN owners AS o ON o.no = r.owner LEFT JOIN shelves AS s ON s.no = r.shelf WHERE r.id = ?
"""

#: Every table's rows with the number of the owner that they belong to.
_TABLES = {
    "owners": "SELECT no, tenant, kind, id, era, position, held, items, erased_at FROM owners",
    "shelves": "SELECT owner, no, audience, agent, groups, mark FROM shelves",
    "shelf_groups": "SELECT s.owner, g.* FROM shelf_groups AS g LEFT JOIN shelves AS s ON s.no = g.shelf",
    "records": "SELECT owner, no, id, shelf, type, version, position, seq, slot, thread, status, kind, mark, run, hash FROM records",
    "versions": "SELECT r.owner, v.* FROM versions AS v LEFT JOIN records AS r ON r.no = v.record",
    "links": "SELECT r.owner, l.* FROM links AS l LEFT JOIN records AS r ON r.id = l.record",
    "terms": "SELECT r.owner, t.* FROM terms AS t LEFT JOIN records AS r ON r.no = t.record",
    "vectors": "SELECT r.owner, v.* FROM vectors AS v LEFT JOIN records AS r ON r.no = v.place & 1099511627775",
    "uses": "SELECT r.owner, u.* FROM uses AS u LEFT JOIN records AS r ON r.no = u.record",
    "gone": "SELECT s.owner, g.* FROM gone AS g LEFT JOIN shelves AS s ON s.no = g.shelf",
    "ledger": "SELECT * FROM ledger",
    "spent": "SELECT owner, s.* FROM spent AS s",
    "jobs": "SELECT owner, id, kind, key, payload, records, state, attempts, generation, worker, leased_until FROM jobs",
}


class Truth:
    """A connection of its own to a book's file."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None
        )

    def close(self) -> None:
        self._connection.close()

    def row(self, id: UUID) -> Row | None:
        """A record as it stands."""
        found = self._connection.execute(_ROW, (id.bytes,)).fetchone()
        if found is None:
            return None
        raw, tenant, kind, owner, readers, agent, groups, *rest, in_place, body = found
        type_, version, status, record_kind, thread, seq = rest
        return Row(
            UUID(bytes=raw),
            _owner(tenant, kind, owner),
            _audience(readers, agent, groups),
            type_,
            version,
            status,
            record_kind,
            None if thread is None else UUID(bytes=thread),
            seq,
            bool(in_place),
            json.loads(body),
            body,
        )

    def standing(self, owner: Owner) -> dict[UUID, tuple[int, tuple[str, ...]]]:
        """Return an owner's records, each with its version and audience."""
        query = """SELECT r.id, r.version, s.audience, s.agent, s.groups
            FROM owners AS o JOIN records AS r ON r.owner = o.no LEFT JOIN shelves AS s ON s.no = r.shelf
            WHERE o.tenant = ? AND o.kind = ? AND o.id = ?"""
        rows = self._connection.execute(query, owner.parts)
        return {UUID(bytes=row[0]): (row[1], row[2:]) for row in rows}

    def numbers(self) -> dict[int, tuple[str, ...]]:
        """The living owners by their numbers."""
        rows = self._connection.execute(
            "SELECT no, tenant, kind, id FROM owners WHERE erased_at IS NULL"
        )
        return {row[0]: row[1:] for row in rows}

    def ended(self) -> set[int]:
        """The numbers of eras that have ended."""
        return {
            row[0]
            for row in self._connection.execute("SELECT no FROM owners WHERE erased_at IS NOT NULL")
        }

    def era(self, owner: Owner) -> tuple[UUID, int] | None:
        """An owner's present era and ledger position."""
        row = self._connection.execute(
            "SELECT era, position FROM owners WHERE tenant = ? AND kind = ? AND id = ?", owner.parts
        ).fetchone()
        return None if row is None else (UUID(bytes=row[0]), row[1])

    def touched(self, owner: Owner, position: int) -> set[UUID]:
        """The records that an entry of an owner's ledger names."""
        query = """SELECT l.body FROM ledger AS l JOIN owners AS o ON o.no = l.owner
            WHERE o.tenant = ? AND o.kind = ? AND o.id = ? AND l.position = ?"""
        row = self._connection.execute(query, (*owner.parts, position)).fetchone()
        return set() if row is None else {UUID(hex=line[2]) for line in json.loads(row[0])["l"]}

    def belongings(self) -> dict[str, int]:
        """How many rows of each kind an erasure counts; ``blank`` are the earlier versions without
        content.
        """
        counted = {
            "versions": "versions",
            "blank": "versions WHERE body = ''",
            "jobs": "jobs WHERE owner <> 0",
            **{table: table for table in ("terms", "uses", "vectors", "links")},
        }
        row = self._connection.execute(
            f"SELECT {', '.join(f'(SELECT count(*) FROM {rows})' for rows in counted.values())}"  # noqa: S608
        ).fetchone()
        return dict(zip(counted, row, strict=True))

    def uses(self, id: UUID) -> int:
        """How often a record was used."""
        query = "SELECT u.count FROM uses AS u JOIN records AS r ON r.no = u.record WHERE r.id = ?"
        row = self._connection.execute(query, (id.bytes,)).fetchone()
        return 0 if row is None else int(row[0])

    def worked_on(self) -> set[UUID]:
        """The records that jobs are about."""
        return {
            UUID(hex=id)
            for row in self._connection.execute("SELECT records FROM jobs")
            for id in json.loads(row[0])
        }

    def leases(self) -> dict[UUID, tuple[str, str | None, int, int | None, str | None]]:
        """Every job's state, worker and attempts, when its lease ends, and what is kept with it."""
        query = """SELECT j.id, j.state, j.worker, j.attempts, j.leased_until, k.payload
            FROM jobs AS j LEFT JOIN kept AS k ON k.job = j.id"""
        rows = self._connection.execute(query)
        return {UUID(bytes=row[0]): row[1:] for row in rows}

    def spent(self) -> list[Spent]:
        """Return everyone's costs of calls to language models; an erased owner has no name."""
        query = """SELECT s.tenant, o.kind, o.id, s.agent, s.day, s.task, s.model, s.calls, s.price
            FROM spent AS s LEFT JOIN owners AS o ON o.no = s.owner"""
        return [
            Spent.model_validate(
                {"tenant": tenant, "owner": None if id is None else _owner(tenant, kind, id), "agent": agent or None,
                 "day": day, "task": task, "model": model, "calls": calls, "price": price_of(price)}
            )
            for tenant, kind, id, agent, day, task, model, calls, price in self._connection.execute(query)
        ]  # fmt: skip

    def calls(self) -> list[tuple[str, int]]:
        """How many calls to language models each tenant's owners have come to, those who are no
        more among them.
        """
        query = "SELECT tenant, sum(calls) FROM spent GROUP BY tenant ORDER BY tenant"
        return self._connection.execute(query).fetchall()

    def miscounted(self) -> list[tuple[str, ...]]:
        """The living owners whose count of held memories, or of items, is not what they hold."""
        query = """SELECT o.tenant, o.kind, o.id FROM owners AS o WHERE o.erased_at IS NULL AND (o.held <> (
            SELECT count(*) FROM records AS r WHERE r.owner = o.no AND r.type = 'memory' AND r.status = 'active')
            OR o.items <> (SELECT count(*) FROM records AS r
            WHERE r.owner = o.no AND r.type = 'item' AND r.status IS NOT 'withdrawn'))"""
        return self._connection.execute(query).fetchall()

    def lacking_vectors(self) -> list[tuple[str, int, int, int]]:
        """The sets without a vector for every passage, or with another count: name, count, vectors,
        passages.
        """
        query = """SELECT name, count,
            (SELECT count(*) FROM vectors AS v JOIN terms AS t ON t.record = v.place & 1099511627775
             WHERE v.place >> 40 = s.no), (SELECT count(*) FROM terms) FROM vector_sets AS s"""
        sets = self._connection.execute(query).fetchall()
        return [found for found in sets if len({*found[1:]}) > 1]

    def fingerprints(self) -> dict[int | None, int]:
        """For each owner's number what its rows in all tables come to, in whatever order they
        lie.
        """
        sums: dict[int | None, int] = {}
        self._connection.execute("BEGIN")
        for table, query in _TABLES.items():
            for row in self._connection.execute(query):
                sums[row[0]] = sums.get(row[0], 0) + hash((table, row))
        self._connection.execute("COMMIT")
        return sums


@cache
def _owner(tenant: str, kind: str, id: str) -> Owner:
    return Owner(tenant=tenant, kind=OwnerKind(kind), id=id)


@cache
def _audience(kind: str, agent: str, groups: str) -> Audience:
    return Audience(kind=AudienceKind(kind), agent=agent or None, groups=tuple(json.loads(groups)))


@cache
def columns_of(audience: Audience) -> tuple[str, ...]:
    """An audience as the tables spell it."""
    return (
        audience.kind.value,
        audience.agent or "",
        json.dumps(list(audience.groups), ensure_ascii=False),
    )
