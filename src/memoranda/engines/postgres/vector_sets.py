"""Sets of vectors in the PostgreSQL tables, and the search terms and uses that are stored beside
records.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from uuid import UUID

from memoranda.engines.postgres import jobs
from memoranda.engines.postgres.reads import ShelfState
from memoranda.engines.postgres.server.session import Answers, PutJobIfBehind, Row, Session, Writes
from memoranda.errors import Corrupt
from memoranda.model.records import Record
from memoranda.model.vectors import EMBED, SetState, VectorSet, embed_job
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import record_of


async def passages_among(on: Session, question: u.PassagesAmong) -> dict[UUID, Row]:
    """Return id, owner, number and shelf of each passage, sorted by shelf."""
    rows = await on.all("where_passages_are", [id.bytes for id in question.ids])
    return {UUID(bytes=row[0]): row for row in rows}


async def _stale_terms(on: Session, question: u.StaleTerms) -> list[Record]:
    return [record_of(row) for row in await on.all("stale_terms", question.rule, question.limit)]


async def _put_uses(on: Session, write: w.PutUses) -> None:
    rows = [(*key, *use.columns) for key, use in write.uses]
    await on.run("put_uses", *map(list, zip(*rows, strict=True)))


async def _put_terms(on: Session, write: w.PutTerms) -> None:
    passages = [passage for passage, _ in write.terms]
    packed = [packed for _, packed in write.terms]
    await on.run("put_terms", write.rule, *_columns(passages), packed)
    await remark(on, passages)


async def _reword(on: Session, write: w.Reword) -> None:
    passages = [passage for passage, _ in write.terms]
    for owner, rows in groupby(passages, key=lambda row: row[1]):
        numbers = [row[2] for row in rows]
        await on.run("delete_vectors", owner=owner, records=numbers)
        # With the terms goes what large shelves made of them.
        await on.run("take_away_terms", owner, numbers)
        await on.run("unmade_again", owner=owner, records=numbers)
    packed = [packed for _, packed in write.terms]
    await on.run("put_terms", write.rule, *_columns(passages), packed)
    await remark(on, passages)
    for row in await on.all("sets_not_due", EMBED):
        await jobs.put(on, 0, embed_job(row[0]), write.at)


async def _reworded_among(on: Session, question: u.RewordedAmong) -> dict[UUID, int]:
    rows = await on.all("reworded_among", [id.bytes for id in question.ids])
    return {UUID(bytes=row[0]): row[1] for row in rows}


def _columns(passages: Sequence[Row]) -> tuple[list[int], list[int]]:
    """Return owners and numbers of passages."""
    return [passage[1] for passage in passages], [passage[2] for passage in passages]


async def remark(on: Session, touched: Sequence[Row]) -> list[ShelfState]:
    """Increase the revisions of the shelves of these passages, so that indexes in memory fetch the
    passages again.
    """
    shelves: dict[int, ShelfState] = {}
    while touched:
        moved_away: list[bytes] = []
        for (owner, shelf), rows in groupby(touched, key=lambda row: (row[1], row[3])):
            moved = await on.one("move_mark", owner, shelf)
            assert moved is not None
            ids = [row[0] for row in rows]
            marked = {row[0] for row in await on.all("mark_records", moved[0], owner, shelf, ids)}
            moved_away += [id for id in ids if id not in marked]
            shelves[shelf] = ShelfState(owner, shelf, moved[1], moved[2])
        # Another transaction moved these to other shelves after they were looked up: look them up
        # again.
        touched = await on.all("where_passages_are", moved_away) if moved_away else []
    return list(shelves.values())


def _stored_set(row: Row) -> u.StoredSet:
    no, name, dimension, count, is_active = row
    state = SetState.ACTIVE if is_active else SetState.MAKING
    return u.StoredSet(no, VectorSet(name, dimension, count, state))


async def _sets(on: Session, _: u.Sets) -> list[u.StoredSet]:
    return [_stored_set(row) for row in await on.all("vector_sets")]


async def _lock_set(on: Session, question: u.LockSet) -> u.StoredSet | None:
    row = await on.one("lock_vector_set", question.name)
    return None if row is None else _stored_set(row)


async def _lacking(on: Session, question: u.Lacking) -> list[Record]:
    records: list[Record] = []
    number = await on.value("vector_set", question.name)
    if number is None:
        return records
    through = 0
    while (left := question.limit - len(records)) > 0:
        rows = await on.all("lacking", set=number, through=through, limit=left)
        for row in rows:
            through = row[-1]
            with contextlib.suppress(Corrupt):
                records.append(record_of(row))
        if len(rows) < left:
            break
    return records


async def _add_set(on: Session, write: w.AddSet) -> None:
    added = await on.value(
        "add_vector_set", write.embedding.name, write.embedding.dimension, write.is_active
    )
    await on.run("all_unmade", set=added)


async def _put_vectors(on: Session, write: w.PutVectors) -> None:
    passages = [passage for passage, _ in write.vectors]
    owners, records = _columns(passages)
    given = {
        "owners": owners,
        "records": records,
        "packed": [packed for _, packed in write.vectors],
    }
    added = await on.run("add_vectors", set=write.set.key, **given)
    if added < len(passages):
        await on.run("renew_vectors", set=write.set.key, **given)
    await on.run("grow_vector_set", added, write.set.key)
    if write.set.is_active:
        on.changed_shelves += await remark(on, passages)


async def _remove_set(on: Session, write: w.RemoveSet) -> None:
    """Remove a set with its vectors and its waiting job.

    The table of its index for large shelves loses its rows by foreign key; upkeep drops that table
    later, because a drop waits for all transactions that read vectors.
    """
    await on.run("delete_vectors_of_set", set=write.set.key)
    await on.run("delete_vector_set", write.set.key)
    await on.run("delete_upkeep", EMBED, write.set.set.name)


async def _activate_set(
    put_job_if_behind: PutJobIfBehind, on: Session, write: w.ActivateSet
) -> None:
    await on.run("activate_vector_set", write.set.key)
    await on.run("renew_shelves")
    await put_job_if_behind(on)


ANSWERS: Answers = {
    u.StaleTerms: _stale_terms,
    u.PassagesAmong: passages_among,
    u.RewordedAmong: _reworded_among,
    u.Sets: _sets,
    u.LockSet: _lock_set,
    u.Lacking: _lacking,
}


def writes(put_job_if_behind: PutJobIfBehind) -> Writes:
    """Return the functions that carry out writes; ``put_job_if_behind`` is the open book's own."""
    return {
        w.PutUses: _put_uses,
        w.PutTerms: _put_terms,
        w.Reword: _reword,
        w.AddSet: _add_set,
        w.PutVectors: _put_vectors,
        w.RemoveSet: _remove_set,
        w.ActivateSet: partial(_activate_set, put_job_if_behind),
    }
