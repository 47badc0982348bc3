"""Usage and cost of language models, in the SQLite tables."""

from __future__ import annotations

from typing import Any

from memoranda.engines.sqlite.batches import number_of
from memoranda.engines.sqlite.file.connections import Answers, Row, Session, Writes
from memoranda.model.language_models import PRICE_DECIMALS
from memoranda.model.records import Owner
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import owner_of


def _rows(on: Session, question: u.SpentRows) -> list[tuple[Owner | None, list[Any]]]:
    rows = on.all("spent", **question.where.named())
    return [(None if id is None else owner_of(row[0], kind, id), row) for kind, id, *row in rows]


def _sum(on: Session, question: u.SpentSum) -> tuple[int, ...]:
    row = on.one("spent_in_all", **question.where.named())
    *counts, dollars, rest = (part or 0 for part in row or ())
    return (*counts, dollars * 10**PRICE_DECIMALS + rest)


def _of(on: Session, question: u.SpentOf) -> list[Row]:
    return on.all("spent_of_owner", question.base.no)


def _add(on: Session, write: w.AddSpent) -> None:
    no = 0 if write.base is None else number_of(on, write.base)
    for row in write.rows:
        on.run("add_spent", no, *row)


def _drop(on: Session, write: w.DropSpent) -> None:
    on.run("delete_spent_of_owner", write.base.no)


ANSWERS: Answers = {u.SpentRows: _rows, u.SpentSum: _sum, u.SpentOf: _of}
WRITES: Writes = {w.AddSpent: _add, w.DropSpent: _drop}
