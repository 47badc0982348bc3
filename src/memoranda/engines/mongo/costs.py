"""Usage and cost of language models."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pymongo import DeleteMany, UpdateOne

from memoranda.engines.mongo.batches import head_of
from memoranda.engines.mongo.documents import owner_in, values_of
from memoranda.engines.mongo.server.session import Answers, Document, Session, Writes
from memoranda.model.book_rows import SpentPiece
from memoranda.model.records import Owner
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w

_KEY = ("tenant", "day", "agent", "task", "model")
_SUMS = ("calls", "answers", "tokens_in", "tokens_cached", "tokens_out", "unpriced", "price")
#: The owner of sums that name nobody.
NOBODY = UUID(int=0)


async def pieces(on: Session, owner: UUID) -> tuple[SpentPiece, ...]:
    """Return an owner's sums of spending."""
    docs = await on.find("usage", {"owner": owner}, [(name, 1) for name in _KEY])
    return tuple(values_of(doc, (*_KEY, *_SUMS)) for doc in docs)


async def add(on: Session, owner: UUID, rows: Any) -> None:
    """Add to an owner's sums of spending."""
    operations = []
    for row in rows:
        key = {"owner": owner, **dict(zip(_KEY, row, strict=False))}
        sums = dict(zip(_SUMS, row[len(_KEY) :], strict=True))
        operations.append(UpdateOne(key, {"$inc": sums}, upsert=True))
    await on.bulk("usage", operations)


def _owner_id(no: int | None) -> UUID:
    return UUID(int=no or (1 << 128) - 1)


async def _rows(
    on: Session, question: u.SpentRows | u.SpentSum
) -> list[tuple[Owner | None, SpentPiece]]:
    where = question.where
    filter: Document = {"tenant": where.tenant, "day": {"$gte": where.since, "$lt": where.until}}
    if where.base is not None:
        filter["owner"] = _owner_id(where.base.no)
    if where.agent is not None:
        filter["agent"] = where.agent
    docs = await on.find("usage", filter)
    known = {"_id": {"$in": [doc["owner"] for doc in docs]}, "owner_id": {"$exists": True}}
    owners = {head["_id"]: owner_in(head) for head in await on.find("owners", known)}
    return [(owners.get(doc["owner"]), values_of(doc, (*_KEY, *_SUMS))) for doc in docs]


async def _sum(on: Session, question: u.SpentSum) -> tuple[int, ...]:
    found = [row[len(_KEY) :] for _, row in await _rows(on, question)]
    return tuple(map(sum, zip(*found, strict=True))) if found else (0,) * len(_SUMS)


async def _of(on: Session, question: u.SpentOf) -> tuple[SpentPiece, ...]:
    return await pieces(on, _owner_id(question.base.no))


async def _add(on: Session, write: w.AddSpent) -> None:
    await add(
        on, NOBODY if write.base is None else (await head_of(on, write.base))["_id"], write.rows
    )


async def _drop(on: Session, write: w.DropSpent) -> None:
    await on.bulk("usage", [DeleteMany({"owner": _owner_id(write.base.no)})])


ANSWERS: Answers = {u.SpentRows: _rows, u.SpentSum: _sum, u.SpentOf: _of}
WRITES: Writes = {w.AddSpent: _add, w.DropSpent: _drop}
