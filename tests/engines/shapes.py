"""Two engines' answers without the parts in which they may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from memoranda.model.changes import Job
from memoranda.model.ledger import Entry, ErasureReceipt


def difference(one: Any, two: Any) -> str:
    """Where two answers part, in few words."""
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)) and len(one) == len(two):
        parts = [difference(a, b) for a, b in zip(one, two, strict=True) if a != b]
        return "; ".join(parts[:3])
    if isinstance(one, dict) and isinstance(two, dict) and list(one) == list(two):
        return difference(list(one.values()), list(two.values()))
    return f"{one!r} is not {two!r}"


def erasure(receipt: ErasureReceipt) -> tuple[Any, ...]:
    """The parts of an erasure's receipt that must be equal on all engines."""
    parts = (receipt.kept, receipt.repeated, receipt.ids, receipt.superseded)
    return (receipt.removed, *map(sorted, parts), receipt.era is None)


def entry_shape(entry: Entry, eras: Sequence[UUID]) -> tuple[Any, ...]:
    """An entry without what each book makes by itself: eras, digests."""
    lines = [replace(line, hash=None if line.hash is None else b"") for line in entry.lines]
    digests = (entry.operation is None, entry.request is None)
    assert entry.era in eras, f"an entry of an era that is not the owner's: {entry}"
    era = eras.index(entry.era)
    return (
        entry.owner,
        era,
        entry.position,
        entry.at,
        entry.actor,
        sorted(lines, key=repr),
        entry.ignored,
        entry.note,
        digests,
    )


def job_shape(job: Job | None) -> Any:
    """A job without its id and era."""
    return None if job is None else replace(job, id=UUID(int=0), era=None)
