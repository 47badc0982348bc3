"""Sets of vectors in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from uuid import UUID

from memoranda.engines.inmemory.reads import remark
from memoranda.engines.inmemory.tables import Kept, Tables
from memoranda.model.records import Record
from memoranda.model.vectors import EMBED, Embedding, SetState, VectorSet, check_packed


def listed(tables: Tables) -> list[VectorSet]:
    """Return all sets of vectors, the active one first."""
    return [_told(tables, name) for name in tables.sets]


def _told(tables: Tables, name: str) -> VectorSet:
    count = sum(name in kept.vectors for kept in tables.records.values())
    state = SetState.ACTIVE if name == tables.active else SetState.MAKING
    return VectorSet(name, tables.sets[name].dimension, count, state)


def begin(tables: Tables, embedding: Embedding) -> VectorSet:
    """Return the embedding's set; make an empty one if there is none."""
    tables.sets.setdefault(embedding.name, embedding)
    return _told(tables, embedding.name)


def lacking(tables: Tables, embedding: Embedding, limit: int) -> list[Record]:
    """Return passages without a vector in the set, oldest first."""
    return [kept.record() for kept in islice(_lacking(tables, embedding.name), limit)]


def _lacking(tables: Tables, name: str) -> Iterator[Kept]:
    if name in tables.sets:
        for kept in tables.records.values():
            if kept.terms is not None and name not in kept.vectors:
                yield kept


def put(tables: Tables, embedding: Embedding, vectors: Mapping[UUID, bytes]) -> int:
    """Store vectors whose passages and set still exist; returns how many were stored."""
    check_packed(embedding, vectors.values())
    if embedding.name not in tables.sets:
        return 0
    found = [tables.records[id] for id in vectors if id in tables.records]
    there = [kept for kept in found if kept.terms is not None]
    for kept in there:
        kept.vectors[embedding.name] = vectors[kept.id]
    if embedding.name == tables.active:
        remark(there)
    return len(there)


def switch(tables: Tables, embedding: Embedding) -> bool:
    """Make this set of vectors the active one, which recall uses, and delete all others."""
    if embedding.name not in tables.sets:
        return False
    if embedding.name != tables.active:
        for name in [name for name in tables.sets if name != embedding.name]:
            _remove(tables, name)
        for era in tables.living.values():
            for shelf in era.shelves.values():
                shelf.mark += 1
                shelf.renewed = shelf.mark
    return True


def drop(tables: Tables, embedding: Embedding) -> bool:
    """Delete a set of vectors that is not active."""
    if embedding.name not in tables.sets or embedding.name == tables.active:
        return False
    _remove(tables, embedding.name)
    return True


def _remove(tables: Tables, name: str) -> None:
    del tables.sets[name]
    for kept in tables.records.values():
        kept.vectors.pop(name, None)
    for id in [id for id, row in tables.jobs.items() if (row.piece.kind, row.piece.key) == (EMBED, name)]:
        del tables.jobs[id]
