"""Restrictions, uses of keys and lines about reads, in the PostgreSQL tables."""

from __future__ import annotations

from typing import Any

from memoranda.engines.postgres.server.session import Answers, Session, Writes
from memoranda.model.book_rows import KeyUseRow, ReadPiece, RestrictionRow
from memoranda.storage import service_questions as s


async def _restrictions(on: Session, question: s.RestrictionRows) -> list[RestrictionRow]:
    if question.digests is None:
        rows = await on.all("restrictions")
    else:
        rows = await on.all("restrictions_of", list(question.digests))
    return [(row[0], row[1], row[2]) for row in rows]


async def _key_uses(on: Session, question: s.KeyUseRows) -> list[KeyUseRow]:
    rows = await (
        on.all("key_uses") if question.ids is None else on.all("key_uses_of", list(question.ids))
    )
    return [(row[0], row[1]) for row in rows]


async def _reads(on: Session, question: s.ReadPieces) -> list[ReadPiece]:
    given: dict[str, Any] = {
        "tenant": question.tenant,
        "at": question.at,
        "id": question.id,
        "limit": question.limit,
    }
    if question.owner is None:
        rows = await on.all("reads_of_tenant", **given)
    else:
        rows = await on.all("reads_of_owner", owner=question.owner, **given)
    return [ReadPiece(*row) for row in rows]


async def _erasures(on: Session, question: s.ErasuresOf) -> list[int]:
    return [at for (at,) in await on.all("erasures_of", question.digest)]


async def _put_restrictions(on: Session, write: s.PutRestrictions) -> None:
    if write.rows:
        await on.run("put_restrictions", *map(list, zip(*write.rows, strict=True)))


async def _lift_restriction(on: Session, write: s.LiftRestriction) -> None:
    await on.run("lift_restriction", write.digest)


async def _put_key_uses(on: Session, write: s.PutKeyUses) -> None:
    if write.rows:
        await on.run("put_key_uses", *map(list, zip(*write.rows, strict=True)))


async def put_reads(on: Session, write: s.PutReads) -> None:
    """Store lines about reads, unless they are there."""
    if write.pieces:
        await on.run("put_reads", *map(list, zip(*write.pieces, strict=True)))


async def _drop_reads(on: Session, write: s.DropReads) -> None:
    await on.run("drop_reads", write.before, write.tenant)


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
