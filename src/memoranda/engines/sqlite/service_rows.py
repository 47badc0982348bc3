"""Restrictions, uses of keys and lines about reads, in the SQLite tables."""

from __future__ import annotations

from typing import Any

from memoranda.engines.sqlite.file.connections import Answers, Session, Writes
from memoranda.model.book_rows import KeyUseRow, ReadPiece, RestrictionRow
from memoranda.storage import service_questions as s


def _restrictions(on: Session, question: s.RestrictionRows) -> list[RestrictionRow]:
    if question.digests is None:
        return on.all("restrictions")
    return sorted(on.many("restrictions_of", question.digests))


def _key_uses(on: Session, question: s.KeyUseRows) -> list[KeyUseRow]:
    return (
        on.all("key_uses") if question.ids is None else sorted(on.many("key_uses_of", question.ids))
    )


def _reads(on: Session, question: s.ReadPieces) -> list[ReadPiece]:
    given: dict[str, Any] = {
        "tenant": question.tenant,
        "at": question.at,
        "id": question.id,
        "limit": question.limit,
    }
    if question.owner is None:
        rows = on.all("reads_of_tenant", **given)
    else:
        rows = on.all("reads_of_owner", owner=question.owner, **given)
    return [ReadPiece(*row) for row in rows]


def _erasures(on: Session, question: s.ErasuresOf) -> list[int]:
    return [at for (at,) in on.all("erasures_of", question.digest)]


def _put_restrictions(on: Session, write: s.PutRestrictions) -> None:
    for row in write.rows:
        on.run("put_restriction", *row)


def _lift_restriction(on: Session, write: s.LiftRestriction) -> None:
    on.run("lift_restriction", write.digest)


def _put_key_uses(on: Session, write: s.PutKeyUses) -> None:
    for row in write.rows:
        on.run("put_key_use", *row)


def put_reads(on: Session, write: s.PutReads) -> None:
    """Store lines about reads, unless they are there."""
    for piece in write.pieces:
        on.run("put_read", *piece)


def _drop_reads(on: Session, write: s.DropReads) -> None:
    on.run("drop_reads", write.before, write.tenant)


ANSWERS: Answers = {
    s.RestrictionRows: _restrictions,
    s.KeyUseRows: _key_uses,
    s.ReadPieces: _reads,
    s.ErasuresOf: _erasures,
}
WRITES: Writes = {
    s.PutRestrictions: _put_restrictions,
    s.LiftRestriction: _lift_restriction,
    s.PutKeyUses: _put_key_uses,
    s.PutReads: put_reads,
    s.DropReads: _drop_reads,
}
