"""Usage and cost of language models, in a book in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memoranda.engines.inmemory.batches import era_of
from memoranda.engines.inmemory.tables import Answers, Session, Tables, Writes
from memoranda.model.book_rows import SpentPiece
from memoranda.model.records import Owner
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w


def pieces(tables: Tables, number: int) -> tuple[SpentPiece, ...]:
    """Return the sums of an owner's spending; ``number`` 0 is for those that name nobody."""
    return tuple(sorted((*place, *sums) for place, sums in tables.spent.get(number, {}).items()))


def add(tables: Tables, number: int, rows: Iterable[SpentPiece]) -> None:
    """Add to an owner's sums of spending."""
    for row in rows:
        own = tables.spent.setdefault(number, {})
        before = own.get(row[:5], (0,) * len(row[5:]))
        own[row[:5]] = tuple(one + other for one, other in zip(before, row[5:], strict=True))


def _meeting(on: Session, where: u.SpentWhere) -> Iterator[tuple[Owner | None, SpentPiece]]:
    owners = {era.number: era.owner for era in on.tables.living.values()}
    numbers = on.tables.spent if where.base is None else [where.base.no or -1]
    for number in numbers:
        for piece in pieces(on.tables, number):
            tenant, day, agent, *_ = piece
            meets = tenant == where.tenant and where.since <= day < where.until
            if meets and where.agent in (None, agent):
                yield owners.get(number), piece


def _sum(on: Session, question: u.SpentSum) -> tuple[int, ...]:
    found = [piece[5:] for _, piece in _meeting(on, question.where)]
    return tuple(map(sum, zip(*found, strict=True))) if found else (0,) * 7


def _add(on: Session, write: w.AddSpent) -> None:
    add(on.tables, 0 if write.base is None else era_of(on, write.base).number, write.rows)


def _drop(on: Session, write: w.DropSpent) -> None:
    on.tables.spent.pop(write.base.no or 0, None)


ANSWERS: Answers = {
    u.SpentRows: lambda on, question: list(_meeting(on, question.where)),
    u.SpentSum: _sum,
    u.SpentOf: lambda on, question: pieces(on.tables, question.base.no),
}
WRITES: Writes = {w.AddSpent: _add, w.DropSpent: _drop}
