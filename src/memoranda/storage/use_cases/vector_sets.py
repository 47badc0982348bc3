"""Changes of sets of vectors, and of the terms and uses stored beside records; none has a ledger
entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from memoranda.model.memories import searched_text
from memoranda.model.passages import Use
from memoranda.model.records import Owner, Record, View
from memoranda.model.vectors import Embedding, SetState, VectorSet, check_packed
from memoranda.storage import questions as q
from memoranda.storage import upkeep_questions as u
from memoranda.storage import writes as w
from memoranda.storage.use_case import Deciding, ask
from memoranda.text.terms import pack_text


def note_use(owner: Owner, view: View, uses: Mapping[UUID, Use]) -> Deciding[int]:
    """Store the use of the memories that the view may see; returns how many there are."""
    seen = yield from ask(q.MemoriesInView(owner, view, list(uses)))
    if seen:
        yield w.PutUses([(key, uses[id]) for id, key in seen.items()])
    return len(seen)


def put_terms(
    rule: int, terms: Mapping[UUID, bytes], versions: Mapping[UUID, int]
) -> Deciding[int]:
    """Store recomputed terms of the passages that still exist as they were read; returns how many
    there are.
    """
    there = yield from _unless_reworded((yield from ask(u.PassagesAmong(list(terms)))), versions)
    if there:
        yield w.PutTerms(rule, [(key, terms[id]) for id, key in there.items()])
    return len(there)


def new_terms(records: Iterable[Record]) -> Deciding[list[tuple[Any, bytes]]]:
    """Return the terms of passages whose text changes, each with its engine's key, for the write
    ``Reword``.
    """
    texts = {record.id: searched_text(record) or "" for record in records}
    there = (yield from ask(u.PassagesAmong(list(texts)))) if texts else {}
    return [(key, pack_text(texts[id])) for id, key in there.items()]


def _unless_reworded(
    found: Mapping[UUID, Any], versions: Mapping[UUID, int]
) -> Deciding[dict[UUID, Any]]:
    """Return passages without those whose text has changed since the given versions were read."""
    now = (yield from ask(u.RewordedAmong(list(found)))) if found else {}
    return {
        id: key
        for id, key in found.items()
        if id not in now or now[id] == versions.get(id, now[id])
    }


def list_sets() -> Deciding[list[VectorSet]]:
    """Return all sets of vectors, the active one first."""
    return [found.set for found in (yield from ask(u.Sets()))]


def find_set(embedding: Embedding) -> Deciding[VectorSet | None]:
    """Return the set of an embedding; None if there is none."""
    return next((found for found in (yield from list_sets()) if found.name == embedding.name), None)


def begin_set(embedding: Embedding) -> Deciding[VectorSet]:
    """Return an embedding's set; make an empty one if there is none. No passage may be stored at
    the same time.
    """
    sets = yield from list_sets()
    for found in sets:
        if found.name == embedding.name:
            return found
    is_active = not any(found.state is SetState.ACTIVE for found in sets)
    yield w.AddSet(embedding, is_active)
    state = SetState.ACTIVE if is_active else SetState.MAKING
    return VectorSet(embedding.name, embedding.dimension, 0, state)


def put_vectors(
    embedding: Embedding, vectors: Mapping[UUID, bytes], versions: Mapping[UUID, int]
) -> Deciding[int]:
    """Store vectors of passages that still exist as they were read, if the set does too; returns
    how many.
    """
    check_packed(embedding, vectors.values())
    found = yield from ask(u.LockSet(embedding.name))
    if found is None:
        return 0
    there = yield from _unless_reworded((yield from ask(u.PassagesAmong(list(vectors)))), versions)
    if there:
        yield w.PutVectors(found, [(key, vectors[id]) for id, key in there.items()])
    return len(there)


def switch_set(embedding: Embedding) -> Deciding[bool]:
    """Make a set the active one, which recall reads, and delete all others; False if there is no
    such set.
    """
    chosen = yield from ask(u.LockSet(embedding.name))
    if chosen is None:
        return False
    if not chosen.is_active:
        for other in (yield from ask(u.Sets())):
            if other.key != chosen.key:
                yield w.RemoveSet(other)
        yield w.ActivateSet(chosen)
    return True


def drop_set(embedding: Embedding) -> Deciding[bool]:
    """Delete a set that is not active; False if there is none, or it is the active one."""
    found = yield from ask(u.LockSet(embedding.name))
    if found is None or found.is_active:
        return False
    yield w.RemoveSet(found)
    return True
