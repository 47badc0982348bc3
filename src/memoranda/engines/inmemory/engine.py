"""The in-memory engine: every protocol of ``ports``, with plain Python tables and one call at a
time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from memoranda.engines.inmemory import (
    batches,
    costs,
    erasure,
    jobs,
    maintenance,
    pieces,
    reads,
    rows,
    vector_sets,
)
from memoranda.engines.inmemory.tables import Answers, Session, Tables, Writes
from memoranda.model.book_rows import refuse_marked
from memoranda.model.ledger import Scrubbed
from memoranda.model.query import BookFacts
from memoranda.storage.asked import ASKED, CHANGED
from memoranda.storage.store import Store
from memoranda.storage.use_case import Deciding, Question, Write, run

A = TypeVar("A")

_PARTS = (batches, vector_sets, reads, pieces, costs, jobs, maintenance, erasure)
_ANSWERS: Answers = {asked: function for part in _PARTS for asked, function in part.ANSWERS.items()}
_WRITES: Writes = {given: function for part in _PARTS for given, function in part.WRITES.items()}


def answer(on: Session, question: Question[Any]) -> Any:
    """Answer a question from the tables."""
    own = _ANSWERS.get(type(question))
    if own is not None:
        return own(on, question)
    asked = ASKED[type(question)]
    return asked.answer(rows.answer(on, asked.of, question))


def carry_out(on: Session, writes: Sequence[Write]) -> None:
    """Carry out all writes or, if a check refuses one of them, none."""
    for write in writes:
        if (check := batches.CHECKS.get(type(write))) is not None:
            check(on, write)
    for write in writes:
        own = _WRITES.get(type(write))
        if own is not None:
            own(on, write)
        else:
            rows.carry_out(on, CHANGED[type(write)](write))


class InMemoryEngine(Store):
    """A book in this process's memory; it ends with the object."""

    name = "inmemory"
    #: The address of every book in memory.
    address = "memory"

    def __init__(self, secret: bytes | None = None) -> None:
        self._tables = Tables(secret or os.urandom(32))
        # Held for one call at a time. No call awaits while it holds the lock, so tasks cannot
        # interleave; threads wait for it.
        self._lock = threading.Lock()

    async def close(self) -> None:
        """Do nothing: the engine has no files and no connections."""

    async def read(self, make: Callable[[], Deciding[A]], **_: Any) -> A:
        with self._lock:
            return run(make(), partial(answer, Session.of(self._tables)))[0]

    async def write(self, make: Callable[[], Deciding[A]], *, guarded: bool = True, **_: Any) -> A:
        with self._lock:
            if guarded:
                refuse_marked(self._tables.properties)
            on = Session.of(self._tables)
            found, writes = run(make(), partial(answer, on))
            carry_out(on, writes)
            return found

    # ── erasure ───────────────────────────────────────────────────────────────────────────────────

    async def scrub(self) -> Scrubbed:
        return Scrubbed()

    # ── keeping ───────────────────────────────────────────────────────────────────────────────────

    async def facts(self, tenant: str | None = None) -> BookFacts:
        counts = asdict(await self.counts(tenant))
        details = {"vectors": counts.pop("vectors")}
        with self._lock:
            records = self._tables.records.values()
            bytes = sum(len(version.row.body) for kept in records for version in kept.versions)
        return BookFacts(
            engine=self.name, address=self.address, format=1, bytes=bytes, details=details, **counts
        )
