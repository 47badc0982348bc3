"""Stand-ins for records and ledger entries whose rows cannot be read, so that they can be erased
all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import UUID

from memoranda.errors import Corrupt
from memoranda.model.ledger import Actor, Entry
from memoranda.model.memories import MemoryStatus
from memoranda.model.records import Record
from memoranda.model.values import moment
from memoranda.storage.rows import CLASS_OF, audience_of, entry_of, owner_of, record_of


class Damaged:
    """The mark of a stand-in: it has the columns of its row, and neither content nor sources."""


def erasable_of(row: Sequence[Any]) -> Record:
    """Build a record from a row that ends with its thread, place and status; a stand-in if its
    content cannot be read.
    """
    try:
        return record_of(row)
    except Corrupt:
        type_, id, tenant, kind, owner_id, audience, agent, groups, version = row[:9]
        thread, seq, status = row[-3:]
        fields: dict[str, Any] = {
            "id": UUID(bytes=id),
            "owner": owner_of(tenant, kind, owner_id),
            "audience": audience_of(audience, agent, groups),
            "version": version,
            # Of a memory only: it counts in the owner's number of active ones.
            "status": MemoryStatus(status) if type_ == "memory" else None,
            "seq": seq,
            "thread": None if thread is None else UUID(bytes=thread),
        }
        made = _class_of(type_)
        return made.model_construct(
            **{name: fields[name] for name in fields if name in made.model_fields}
        )


def erasable_entry(row: Sequence[Any]) -> Entry:
    """Build a ledger entry from a row; one without lines if its content cannot be read."""
    try:
        return entry_of(row, None)
    except Corrupt:
        _, position, at, kind, _, operation, request, _, era, _ = row
        return Entry(
            None, UUID(bytes=era), position, moment(at), Actor(kind), (), (), {}, operation, request
        )


@cache
def _class_of(type_: str) -> type[Record]:
    """Return the class of stand-ins for records of a type."""
    of = CLASS_OF[type_]
    return type(f"Damaged{of.__name__}", (Damaged, of), {})
