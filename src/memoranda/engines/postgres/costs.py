"""Usage and cost of language models, in the PostgreSQL tables."""

from __future__ import annotations

from memoranda.engines.postgres.batches import number_of
from memoranda.engines.postgres.server.session import Answers, Row, Session, Writes
from memoranda.model.records import Owner
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import owner_of


async def _rows(on: Session, question: u.SpentRows) -> list[tuple[Owner | None, Row]]:
    rows = await on.all("spent", **question.where.named())
    return [(None if id is None else owner_of(row[0], kind, id), row) for kind, id, *row in rows]


async def _sum(on: Session, question: u.SpentSum) -> tuple[int, ...]:
    row = await on.one("spent_in_all", **question.where.named())
    return tuple(int(part or 0) for part in row or ())


async def _of(on: Session, question: u.SpentOf) -> list[Row]:
    return await on.all("spent_of_owner", question.base.no)


async def _add(on: Session, write: w.AddSpent) -> None:
    no = 0 if write.base is None else await number_of(on, write.base)
    await on.run("add_spent", no, *zip(*write.rows, strict=True))


async def _drop(on: Session, write: w.DropSpent) -> None:
    await on.run("delete_spent_of_owner", write.base.no)


ANSWERS: Answers = {u.SpentRows: _rows, u.SpentSum: _sum, u.SpentOf: _of}
WRITES: Writes = {w.AddSpent: _add, w.DropSpent: _drop}
