"""The questions and writes that are rows of tables: an engine carries them out with one executor.

A question that needs an index, a join or a lock of its own has a function in the engine instead;
there it is not looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.model.book_rows import JobPiece, ReadPiece
from memoranda.model.memories import ARCHIVED
from memoranda.model.passages import UNUSED, Use
from memoranda.model.service_records import RESTRICTING
from memoranda.model.values import micros
from memoranda.storage import questions as q
from memoranda.storage import service_questions as s
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.conditions import (
    Among,
    Change,
    Count,
    Delete,
    Every,
    Given,
    Is,
    Not,
    Of,
    Own,
    Past,
    Put,
    Rows,
    Shares,
    Than,
)
from memoranda.storage.rows import owner_of
from memoranda.storage.use_case import Question, Write


class Asked(NamedTuple):
    """What a question asks of the tables, and its answer from what was found."""

    of: Rows | Count
    answer: Callable[[Any], Any] = lambda found: found


def _raw(id: UUID) -> bytes:
    return id.bytes


def _ids(rows: Sequence[tuple[Any, ...]]) -> list[UUID]:
    return [UUID(bytes=row[0]) for row in rows]


def _column(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [row[0] for row in rows]


def _own_memory(
    id: bytes, recorded: int, at: int, key: Any, trust: str, pinned: Any, thread: Any, *use: Any
) -> q.OwnMemory:
    used = UNUSED if use[0] is None else Use.of_columns(*use)
    return q.OwnMemory(
        UUID(bytes=id), recorded, at, key, trust, bool(pinned), thread is not None, used
    )


def _job(row: tuple[Any, ...]) -> u.JobRow:
    *piece, tenant, kind, id, era = row
    owner = None if id is None else owner_of(tenant, kind, id)
    return u.JobRow(JobPiece._make((*piece, None)), owner, None if era is None else UUID(bytes=era))


def _first_job(rows: Sequence[tuple[Any, ...]]) -> u.JobRow | None:
    return _job(rows[0]) if rows else None


_ACTIVE = (Own(), Is("type", "memory"), Is("status", "active"))
_OWNERS = ("tenant", "owner_kind", "owner_id")
_OF_OWNER = (
    Is("tenant", Of("owner.tenant")),
    Is("owner_kind", Of("owner.kind.value")),
    Is("owner_id", Of("owner.id")),
)
_JOB = (*JobPiece._fields[:-1], *_OWNERS, "era")
ASKED: dict[type[Question[Any]], Asked] = {
    # ── a batch ──
    q.Load: Asked(
        Rows("records", (Own(), Among("id", Of("ids", _raw))), damaged=Of("damaged"), by="id"),
        lambda found: {record.id: record for record in found},
    ),
    q.Holders: Asked(
        Rows("records", (Own(), Among("slot", Of("slots")))),
        lambda found: {slot: record for record in found if (slot := record.slot()) is not None},
    ),
    q.LastUserTurn: Asked(
        Rows(
            "records",
            (Is("thread", Of("thread.bytes")), Own(), Is("type", "message"), Is("kind", "user")),
            ("seq",),
            ("-seq",),
            1,
            by="thread",
        ),
        lambda found: found[0][0] if found else 0,
    ),
    q.PlaceTaken: Asked(
        Rows(
            "records",
            (Is("thread", Of("thread.bytes")), Is("seq", Of("seq")), Own(), Is("type", "message")),
            ("seq",),
            (),
            1,
            by="thread",
        ),
        bool,
    ),
    q.CountOwn: Asked(Count("records", (*_ACTIVE, Is("agent", Of("agent"), True)))),
    q.CountArchived: Asked(Count("records", (Own(), Is("type", "memory"), Is("status", ARCHIVED)))),
    q.CountRun: Asked(Count("records", (Own(), Is("run", Of("run"))))),
    q.WritersOfExpired: Asked(
        Rows("records", (*_ACTIVE, Than("expires", "<=", Of("at"))), ("agent",)), _column
    ),
    q.OwnMemories: Asked(
        Rows(
            "records",
            (*_ACTIVE, Is("agent", Of("agent"), True)),
            (
                "id",
                "recorded_at",
                "at",
                "key",
                "trust",
                "pinned",
                "thread",
                "strength",
                "used_at",
                "used",
            ),
        ),
        lambda found: [_own_memory(*row) for row in found],
    ),
    q.OldestOwn: Asked(
        Rows(
            "records",
            (*_ACTIVE, Is("agent", Of("agent"), True), Is("pinned", None)),
            (),
            ("recorded_at", "id"),
            Of("limit"),
        )
    ),
    q.RestingOn: Asked(
        Rows("records", (Shares("links", Of("ids", _raw)),), order=("id",), damaged=Of("damaged"))
    ),
    q.InThread: Asked(
        Rows(
            "records",
            (Is("thread", Of("thread.bytes")), Own(), Not(Is("type", "thread"))),
            ("id",),
            by="thread",
        ),
        _ids,
    ),
    q.EntriesAt: Asked(
        Rows("ledger", (Own(), Among("position", Of("positions"))), order=("position",))
    ),
    q.EntriesAfter: Asked(
        Rows(
            "ledger",
            (Own(), Than("position", ">", Of("after"))),
            order=("position",),
            limit=Of("limit"),
        )
    ),
    q.ErasedEras: Asked(
        Rows("eras", (Among("era", Of("eras", _raw)), Not(Is("erased_at", None))), ("era",)),
        lambda found: frozenset(_ids(found)),
    ),
    # ── erasure and upkeep ──
    u.AllRecords: Asked(Rows("records", (Own(),), damaged=True)),
    u.OwnersOfRecords: Asked(
        Rows("records", (Among("id", Of("ids", _raw)),), ("id", *_OWNERS)),
        lambda found: {
            UUID(bytes=row[0]): owner_of(*row[1:]) for row in found if row[3] is not None
        },
    ),
    u.OwnersOfEras: Asked(
        Rows("eras", (Among("era", Of("eras", _raw)), Is("erased_at", None)), _OWNERS),
        lambda found: [owner_of(*row) for row in found],
    ),
    u.RewordedAmong: Asked(
        Rows(
            "records",
            (Among("id", Of("ids", _raw)), Is("type", "message"), Than("version", ">", 1)),
            ("id", "version"),
        ),
        lambda found: {UUID(bytes=row[0]): row[1] for row in found},
    ),
    u.ErasAfter: Asked(
        Rows("eras", (Than("era", ">", Of("after")),), ("era",), ("era",), Of("limit")), _column
    ),
    u.OwnersOf: Asked(
        Rows("eras", (Is("tenant", Of("tenant")), Than("position", ">", 0)), _OWNERS, _OWNERS),
        lambda found: [owner_of(*row) for row in found],
    ),
    # ── jobs ──
    u.OwnJobs: Asked(Rows("jobs", (Own(),), ("id",)), _column),
    u.JobOf: Asked(
        Rows(
            "jobs",
            (*_OF_OWNER, Is("kind", Of("kind")), Is("key", Of("key"))),
            _JOB,
        ),
        _first_job,
    ),
    u.JobsIn: Asked(
        Rows(
            "jobs",
            (Given(Of("state"), Is("state", Of("state"))), Given(Of("owner"), Every(_OF_OWNER))),
            _JOB,
            ("run_at", "id"),
            Of("limit"),
        ),
        lambda found: [_job(row) for row in found],
    ),
    # ── restrictions, uses of keys, lines about reads ──
    s.RestrictionRows: Asked(
        Rows(
            "restrictions",
            (Given(Of("digests"), Among("digest", Of("digests"))),),
            ("digest", "at", "mode"),
            ("digest",),
        )
    ),
    s.KeyUseRows: Asked(
        Rows("key_uses", (Given(Of("ids"), Among("id", Of("ids"))),), ("id", "at"), ("id",))
    ),
    s.ReadPieces: Asked(
        Rows(
            "reads",
            (
                Is("tenant", Of("tenant")),
                Given(Of("owner"), Is("owner", Of("owner"))),
                Past(("at", "id"), (Of("at"), Of("id"))),
            ),
            ReadPiece._fields,
            ("at", "id"),
            Of("limit"),
        ),
        lambda found: [ReadPiece(*row) for row in found],
    ),
    s.ErasuresOf: Asked(
        Rows(
            "eras",
            (Is("digest", Of("digest")), Not(Is("erased_at", None))),
            ("erased_at",),
            ("erased_at",),
        ),
        _column,
    ),
}

Changes = Sequence[Put | Change | Delete]
CHANGED: dict[type[Write], Callable[[Any], Changes]] = {
    s.PutRestrictions: lambda write: [
        Put("restrictions", ("digest", "at", "mode"), write.rows, "replace")
    ],
    s.LiftRestriction: lambda write: [Delete("restrictions", (Is("digest", write.digest),))],
    s.PutKeyUses: lambda write: [Put("key_uses", ("id", "at"), write.rows, "max")],
    s.PutReads: lambda write: [Put("reads", ReadPiece._fields, write.pieces)],
    s.DropReads: lambda write: [
        Delete(
            "reads",
            (
                Is("tenant", write.tenant),
                Than("at", "<", write.before),
                Not(Among("verb", RESTRICTING)),
            ),
        )
    ],
    w.Bury: lambda write: [
        Put(
            "tombstones", ("digest", "at"), [(digest, micros(write.at)) for digest in write.digests]
        )
    ],
    w.DropJobs: lambda write: [
        Delete("kept", (Among("job", write.ids),)),
        Delete("jobs", (Among("id", write.ids),)),
    ],
    w.SilenceJobs: lambda write: [Change("jobs", (Among("id", write.ids),), {"error": ""})],
    w.ForgetKept: lambda write: [Delete("kept", (Among("job", write.ids),))],
    w.KeepAnswer: lambda write: [
        Put(
            "kept",
            ("job", "records", "payload"),
            [(write.job, tuple(write.about), write.text)],
            "replace",
        )
    ],
}
