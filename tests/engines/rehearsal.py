"""An engine in memory that treats each use case as an engine without transactions over many
statements would.

Such an engine answers from the state before the write, runs a use case again after it lost a race,
and commits the writes owner by owner. A use case that passes the suite on this engine depends on
none of that.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, TypeVar

from memoranda.engines.inmemory import InMemoryEngine
from memoranda.engines.inmemory.engine import answer, carry_out
from memoranda.engines.inmemory.tables import Session, Tables
from memoranda.errors import MemorandaError
from memoranda.model.book_rows import refuse_marked
from memoranda.model.changes import Batch, Remember
from memoranda.model.ledger import Actor
from memoranda.model.records import WHOLE, Owner
from memoranda.model.values import new_id, utc_now
from memoranda.storage.use_case import Deciding, OwnerBase, Question, Write, run
from memoranda.storage.use_cases.apply import apply_batch
from memoranda.storage.use_cases.verify import verify
from memoranda.storage.writes import Reserve
from memoranda_conformance.builders import ROOMY, a_memory, packed

A = TypeVar("A")


class RehearsingEngine(InMemoryEngine):
    """Runs each use case several times before its writes count, and carries them out owner by
    owner.
    """

    def __init__(self) -> None:
        super().__init__()
        #: Pairs of an owner, and another one that has records which name the first.
        self.reserved: set[tuple[Owner, Owner | None]] = set()

    async def read(self, make: Callable[[], Deciding[A]], **_: Any) -> A:
        with self._lock:
            first = run(make(), partial(answer, Session.of(self._tables)))[0]
            again = run(make(), partial(answer, Session.of(self._tables)))[0]
            assert plain(first) == plain(again), (
                "a use case that reads gave another result the second time"
            )
            return again

    async def write(self, make: Callable[[], Deciding[A]], *, guarded: bool = True, **_: Any) -> A:
        with self._lock:
            if guarded:
                refuse_marked(self._tables.properties)
            first = _outcome(make, self._tables)
            # The race is lost: others wrote to these owners and to new ones. All is asked anew, and
            # that race is lost, too.
            _outcome(make, _disturbed(self._tables))
            found, writes = run_blind(make(), self._tables)
            assert plain(first) == plain(found), (
                "an earlier run left something behind that changed this one"
            )
            first_owner: Owner | None = None
            for group in groups(writes):
                carry_out(Session.of(self._tables), group)
                self._check_legal(group)
                first_owner = self._check_reserved(first_owner, group)
            return found

    def _check_reserved(self, first: Owner | None, group: Sequence[Write]) -> Owner | None:
        """Raise if a use case about one owner writes to another that never declared that it names
        the first.
        """
        for write in group:
            base = getattr(write, "base", None)
            if isinstance(write, Reserve):
                self.reserved.add((write.owner, write.base.owner))
            elif isinstance(base, OwnerBase):
                first = first or base.owner
                assert base.owner == first or (first, base.owner) in self.reserved, (
                    f"{write} was not reserved"
                )
        return first

    def _check_legal(self, group: Sequence[Write]) -> None:
        """Raise if the book is not legal between the writes of two owners."""
        if any(isinstance(getattr(write, "base", None), OwnerBase) for write in group):
            found, _ = run(verify(None), partial(answer, Session.of(self._tables)))
            assert found.faults == (), (
                f"after {[type(write).__name__ for write in group]}: {found.faults}"
            )


def groups(writes: Iterable[Write]) -> list[list[Write]]:
    """Return the writes of each owner in the order of the owners; a write without an owner joins
    the one before it.
    """
    found: dict[Any, list[Write]] = {}
    era: Any = None
    for write in writes:
        base = getattr(write, "base", None)
        if isinstance(write, Reserve):
            found.setdefault(write.owner, []).append(write)
            continue
        era = base.era if isinstance(base, OwnerBase) else era
        found.setdefault(era, []).append(write)
    return list(found.values())


def run_blind(deciding: Deciding[A], tables: Tables) -> tuple[A, list[Write]]:
    """Run a use case; raise if a question has another answer once the writes before it are carried
    out.
    """
    on = Session.of(tables)
    writes: list[Write] = []
    try:
        step = next(deciding)
        while True:
            if isinstance(step, Write):
                writes.append(step)
                step = next(deciding)
                continue
            told = answer(on, step)
            if writes:
                after = _answer_after(tables, writes, on, step)
                assert plain(told) == plain(after), f"{step} asks about what this use case writes"
            step = deciding.send(told)
    except StopIteration as done:
        return done.value, writes


def _answer_after(
    tables: Tables, writes: Sequence[Write], on: Session, question: Question[Any]
) -> Any:
    """Answer a question as if the writes were carried out already."""
    later, carried = pickle.loads(pickle.dumps((tables, list(writes))))
    carry_out(Session.of(later), carried)
    session = Session.of(later)
    if on.base is not None:
        session.base = on.base
        session.era = later.living.get(on.base.owner) or later.eras.get(on.base.era) or session.era
    return answer(session, question)


def _outcome(make: Callable[[], Deciding[Any]], tables: Tables) -> Any:
    """Run a use case whose writes are thrown away; returns its result, or its error as text."""
    try:
        return run(make(), partial(answer, Session.of(tables)))[0]
    except MemorandaError as exc:
        return repr(exc)


def _disturbed(tables: Tables) -> Tables:
    """Return a copy in which every owner, and a new one, got another memory."""
    copy: Tables = pickle.loads(pickle.dumps(tables))
    for owner in [*copy.living, Owner(id="newcomer")]:
        if owner in copy.living and copy.restricted(copy.living[owner].digest) is not None:
            # Nobody writes for it.
            continue
        at = utc_now()
        memory = a_memory(owner, "written in between", at)
        change = Remember(memory, packed("written in between"))
        batch = Batch(owner, WHOLE, Actor("system"), at, (change,), ROOMY)
        on = Session.of(copy)
        carry_out(on, run(apply_batch(batch, new_id()), partial(answer, on))[1])
    return copy


def plain(value: Any) -> Any:
    """Return a value in a form that can be compared: without classes that compare by identity, and
    new eras.
    """
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            *(plain(getattr(value, field.name)) for field in fields(value)),
        ]
    return value
