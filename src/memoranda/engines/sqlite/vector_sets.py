"""Sets of vectors in the SQLite tables, and the search terms and uses that are stored beside
records.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from memoranda.engines.sqlite import jobs
from memoranda.engines.sqlite.file.connections import Answers, Row, Session, Writes
from memoranda.errors import Corrupt
from memoranda.model.records import Record
from memoranda.model.vectors import EMBED, SetState, VectorSet
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.rows import record_of


class Place(NamedTuple):
    """A passage's row number, and its shelf."""

    no: int
    shelf: int


def _passages_among(on: Session, question: u.PassagesAmong) -> dict[UUID, Place]:
    rows = ((id, on.one("where_passage_is", id.bytes)) for id in question.ids)
    return {id: Place(*row) for id, row in rows if row is not None}


def _stale_terms(on: Session, question: u.StaleTerms) -> list[Record]:
    return [record_of(row) for row in on.all("stale_terms", question.rule, question.limit)]


def _put_uses(on: Session, write: w.PutUses) -> None:
    for no, use in write.uses:
        on.run("put_use", no, *use.columns)


def _put_terms(on: Session, write: w.PutTerms | w.Reword) -> None:
    for place, packed in write.terms:
        on.run("put_terms", place.no, write.rule, packed)
    _remark(on, [place for place, _ in write.terms])


def _reword(on: Session, write: w.Reword) -> None:
    numbers = [place.no for place, _ in write.terms]
    for number, *_ in on.all("vector_sets"):
        gone = on.run_many("delete_vectors", [(number << 40) + no for no in numbers])
        on.run("lose_vectors", gone, min(numbers) - 1, number)
    _put_terms(on, write)
    jobs.make_embedding_due(on.connection, write.at)


def _reworded_among(on: Session, question: u.RewordedAmong) -> dict[UUID, int]:
    rows = on.many("reworded_among", [id.bytes for id in question.ids])
    return {UUID(bytes=row[0]): row[1] for row in rows}


def _remark(on: Session, touched: Sequence[Place]) -> None:
    """Increase the revisions of shelves whose passages' terms or vectors changed, so that indexes
    fetch them again.
    """
    marks = {
        shelf: on.value("move_mark", shelf)
        for shelf in dict.fromkeys(place.shelf for place in touched)
    }
    for place in touched:
        on.run("mark_record", marks[place.shelf], place.no)


def _stored_set(row: Row) -> u.StoredSet:
    no, name, dimension, count, is_active, *_ = row
    state = SetState.ACTIVE if is_active else SetState.MAKING
    return u.StoredSet(no, VectorSet(name, dimension, count, state))


def _sets(on: Session, _: u.Sets) -> list[u.StoredSet]:
    return [_stored_set(row) for row in on.all("vector_sets")]


def _lock_set(on: Session, question: u.LockSet) -> u.StoredSet | None:
    row = on.one("vector_set", question.name)
    return None if row is None else _stored_set(row)


def _lacking(on: Session, question: u.Lacking) -> list[Record]:
    records: list[Record] = []
    found = on.one("vector_set", question.name)
    if found is None:
        return records
    through = found[-1]
    while (left := question.limit - len(records)) > 0:
        rows = on.all("lacking", set=found[0], through=through, limit=left)
        for row in rows:
            through = row[-1]
            with contextlib.suppress(Corrupt):
                records.append(record_of(row))
        if len(rows) < left:
            break
    return records


def _add_set(on: Session, write: w.AddSet) -> None:
    on.run("add_vector_set", write.embedding.name, write.embedding.dimension, write.is_active)


def _put_vectors(on: Session, write: w.PutVectors) -> None:
    number = write.set.key
    added = 0
    for place, packed in write.vectors:
        if on.run("add_vector", number, place.no, packed):
            added += 1
        else:
            on.run("renew_vector", packed, number, place.no)
    if added:
        on.run("grow_vector_set", added, _through(on, write.set), number)
    if write.set.is_active:
        _remark(on, [place for place, _ in write.vectors])


def _through(on: Session, stored: u.StoredSet) -> int:
    """Return the record number up to which no vector is missing; it never decreases."""
    row = on.one("vector_set", stored.set.name)
    through: int = 0 if row is None else row[-1]
    first = on.value("first_lacking", set=stored.key, through=through)
    if first is None:
        first = on.value("last_passage")
    return max(through, first or 0)


def _remove_set(on: Session, write: w.RemoveSet) -> None:
    on.run("delete_vectors_of_set", set=write.set.key)
    on.run("delete_vector_set", write.set.key)
    on.run("delete_upkeep", EMBED, write.set.set.name)


def _activate_set(on: Session, write: w.ActivateSet) -> None:
    on.run("activate_vector_set", write.set.key)
    on.run("renew_shelves")


ANSWERS: Answers = {
    u.StaleTerms: _stale_terms,
    u.PassagesAmong: _passages_among,
    u.RewordedAmong: _reworded_among,
    u.Sets: _sets,
    u.LockSet: _lock_set,
    u.Lacking: _lacking,
}

WRITES: Writes = {
    w.PutUses: _put_uses,
    w.PutTerms: _put_terms,
    w.Reword: _reword,
    w.AddSet: _add_set,
    w.PutVectors: _put_vectors,
    w.RemoveSet: _remove_set,
    w.ActivateSet: _activate_set,
}
