"""Sets of vectors in memory, and the search terms and uses that are stored beside records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from uuid import UUID

from memoranda.engines.inmemory import jobs
from memoranda.engines.inmemory.tables import Answers, Kept, Session, Writes
from memoranda.model.records import Record
from memoranda.model.vectors import EMBED, SetState, VectorSet
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w


def _passages(on: Session) -> Iterator[Kept]:
    return (kept for kept in on.tables.records.values() if kept.terms is not None)


def _unrestricted(on: Session) -> Iterator[Kept]:
    """Yield the passages of owners whose processing is not restricted."""
    return (kept for kept in _passages(on) if on.tables.restricted(kept.era.digest) is None)


def _passages_among(on: Session, question: u.PassagesAmong) -> dict[UUID, Kept]:
    found = ((id, on.tables.records.get(id)) for id in question.ids)
    return {id: kept for id, kept in found if kept is not None and kept.terms is not None}


def _stale_terms(on: Session, question: u.StaleTerms) -> list[Record]:
    stale = (kept for kept in _unrestricted(on) if kept.rule < question.rule)
    return [kept.record() for kept in islice(stale, question.limit)]


def _put_uses(_: Session, write: w.PutUses) -> None:
    for kept, use in write.uses:
        kept.use = use


def _put_terms(_: Session, write: w.PutTerms) -> None:
    for kept, packed in write.terms:
        kept.terms, kept.rule = packed, write.rule
    _remark([kept for kept, _ in write.terms])


def _reword(on: Session, write: w.Reword) -> None:
    for kept, packed in write.terms:
        kept.terms, kept.rule, kept.vectors = packed, write.rule, {}
    _remark([kept for kept, _ in write.terms])
    jobs.make_embedding_due(on.tables, write.at)


def _remark(touched: Iterable[Kept]) -> None:
    """Increase the revisions of shelves whose passages' terms or vectors changed, so that indexes
    fetch them again.
    """
    marked: set[int] = set()
    for kept in touched:
        shelf = kept.era.shelves[kept.now.audience]
        if shelf.number not in marked:
            marked.add(shelf.number)
            shelf.mark += 1
        kept.mark = shelf.mark


def _sets(on: Session, _: u.Sets) -> list[u.StoredSet]:
    return [_stored_set(on, name) for name in on.tables.sets]


def _stored_set(on: Session, name: str) -> u.StoredSet:
    count = sum(name in kept.vectors for kept in on.tables.records.values())
    state = SetState.ACTIVE if name == on.tables.active else SetState.MAKING
    return u.StoredSet(name, VectorSet(name, on.tables.sets[name].dimension, count, state))


def _lock_set(on: Session, question: u.LockSet) -> u.StoredSet | None:
    return _stored_set(on, question.name) if question.name in on.tables.sets else None


def _lacking(on: Session, question: u.Lacking) -> list[Record]:
    passages = _unrestricted(on) if question.name in on.tables.sets else ()
    lacking = (kept for kept in passages if question.name not in kept.vectors)
    return [kept.record() for kept in islice(lacking, question.limit)]


def _add_set(on: Session, write: w.AddSet) -> None:
    on.tables.sets[write.embedding.name] = write.embedding


def _put_vectors(_: Session, write: w.PutVectors) -> None:
    for kept, packed in write.vectors:
        kept.vectors[write.set.key] = packed
    if write.set.is_active:
        _remark(kept for kept, _ in write.vectors)


def _remove_set(on: Session, write: w.RemoveSet) -> None:
    name = write.set.key
    del on.tables.sets[name]
    for kept in on.tables.records.values():
        kept.vectors.pop(name, None)
    for id in [
        id for id, row in on.tables.jobs.items() if (row.piece.kind, row.piece.key) == (EMBED, name)
    ]:
        del on.tables.jobs[id]


def _activate_set(on: Session, write: w.ActivateSet) -> None:
    # The first set is the active one.
    on.tables.sets = {write.set.key: on.tables.sets[write.set.key], **on.tables.sets}
    for era in on.tables.living.values():
        for shelf in era.shelves.values():
            shelf.mark += 1
            shelf.renewed = shelf.mark


ANSWERS: Answers = {
    u.StaleTerms: _stale_terms,
    u.PassagesAmong: _passages_among,
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
