"""The MongoDB engine: one book in a database of a replica set for many processes, with all
protocols of ``ports``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from memoranda.engines.mongo import (
    batches,
    costs,
    erasure,
    jobs,
    maintenance,
    pieces,
    reads,
    rows,
    scrub,
    vector_sets,
    views,
)
from memoranda.engines.mongo.collections import COLLECTIONS
from memoranda.engines.mongo.examining import examine
from memoranda.engines.mongo.server.opening import FORMAT, open_book
from memoranda.engines.mongo.server.session import Answers, Session, Writes
from memoranda.engines.mongo.server.transactions import Transactions
from memoranda.engines.mongo.server.waking import JobWatcher
from memoranda.errors import Busy, ReadOnly
from memoranda.model.book_rows import Frame
from memoranda.model.changes import ERASE_REST, Batch, Job, JobDraft
from memoranda.model.ledger import ErasureReceipt, Erasures, Scrubbed, Target
from memoranda.model.query import BookFacts, Filter
from memoranda.model.records import PASSAGE_TYPES, WHOLE, Limits, Owner, RecordType
from memoranda.model.server_facts import ReplicaFacts, ViewsMade
from memoranda.model.vectors import EMBED
from memoranda.ports import Engine
from memoranda.storage.asked import ASKED, CHANGED
from memoranda.storage.questions import Base
from memoranda.storage.store import Store
from memoranda.storage.upkeep_questions import ErasAfter, FindEra, TableFaults
from memoranda.storage.use_case import Deciding, Question, Write
from memoranda.storage.use_cases.jobs import find_due, lease_job
from memoranda.storage.writes import EndEra

A = TypeVar("A")

_PARTS = (batches, reads, jobs, vector_sets, erasure, pieces, costs, maintenance)
_ANSWERS: Answers = {asked: function for part in _PARTS for asked, function in part.ANSWERS.items()}
_WRITES: Writes = {
    given: function
    for part in _PARTS
    if hasattr(part, "WRITES")
    for given, function in part.WRITES.items()
}
#: Questions before which a long read takes a new moment: what follows is about some owners, one of
#: them, or whole tables.
_OF_ANOTHER_MOMENT = (ErasAfter, FindEra, TableFaults)
#: So many records are erased in one commit of an owner of whom more than twice as many are erased.
PART = 5_000
#: What rests on others first, so that nothing is rewritten for each part of its sources.
_IN_TURN = (RecordType.MEMORY, RecordType.EPISODE, RecordType.ITEM, RecordType.MESSAGE)
#: Seconds after which another program may go on with what was begun.
_RESUMED_SECONDS = 60.0
#: Seconds to wait for the book alone, to lease the job that makes vectors; other jobs go on
#: meanwhile.
_LEASING_PATIENCE = 1.0


async def _answer(on: Session, question: Question[Any]) -> Any:
    """Answer a question: by a function of its own, or as rows."""
    if type(question) in _OF_ANOTHER_MOMENT:
        await on.renew()
    own = _ANSWERS.get(type(question))
    if own is not None:
        return await own(on, question)
    asked = ASKED[type(question)]
    return asked.answer(await rows.answer(on, asked.of, question))


async def _run(on: Session, deciding: Deciding[A]) -> A:
    """Run a use case to its end: answer each question, then carry out its writes in order; returns
    its result.
    """
    writes: list[Write] = []
    try:
        step = next(deciding)
        while True:
            if isinstance(step, Write):
                writes.append(step)
                step = next(deciding)
            else:
                step = deciding.send(await _answer(on, step))
    except StopIteration as done:
        found: A = done.value
    on.ending = frozenset(write.base.era for write in writes if isinstance(write, EndEra))
    for write in writes:
        own = _WRITES.get(type(write))
        if own is not None:
            await own(on, write)
        else:
            await rows.carry_out(on, CHANGED[type(write)](write))
    return found


def _first_owner(deciding: Deciding[Any]) -> Owner | None:
    """Return the owner whom a use case locks first; it is run only up to its first question."""
    try:
        step = next(deciding)
    except Exception:  # noqa: BLE001 - it is raised again where it belongs
        return None
    finally:
        deciding.close()
    return step.owner if isinstance(step, Base) else None


class MongoEngine(Store):
    """A book in a database of a replica set."""

    name = "mongodb"
    takes_moments = True

    def __init__(self, book: Transactions) -> None:
        self._book = book
        self._watcher = JobWatcher(book.db)

    @classmethod
    async def open(cls, url: str, *, create: bool = True, read_only: bool = False) -> MongoEngine:
        """Open a book, or make one."""
        return cls(await open_book(url, COLLECTIONS, create=create, read_only=read_only))

    @property
    def address(self) -> str:
        return self._book.place

    @property
    def server(self) -> Transactions:
        """Return the open database."""
        return self._book

    async def close(self) -> None:
        await self._watcher.close()
        await self._book.close()

    async def read(self, make: Callable[[], Deciding[A]], *, long: bool = False, **_: Any) -> A:
        return await self._book.read(lambda on: _run(on, make()), long=long, renews=long)

    async def write(self, make: Callable[[], Deciding[A]], **how: Any) -> A:
        return await self._book.write(
            lambda on: _run(on, make()), owner=_first_owner(make()), **how
        )

    async def at_one_moment(self, work: Callable[[Engine], Awaitable[A]]) -> A:
        return await self._book.read(lambda on: work(_Moment(self, on)), long=True)

    # ── jobs ──────────────────────────────────────────────────────────────────────────────────────

    async def lease(
        self,
        kinds: Sequence[str],
        worker: str,
        at: datetime,
        seconds: float,
        tenant: str | None = None,
        only: UUID | None = None,
    ) -> Job | None:
        due = await self.read(lambda: find_due(kinds, at, tenant, only))
        if due is None:
            return None
        others = [kind for kind in kinds if kind != EMBED]
        if due != EMBED:
            return await self.write(lambda: lease_job(others, worker, at, seconds, tenant, only))
        # Alone: a write that found this job waiting, and left it to whoever leases it, is done
        # before.
        try:
            job = await self.write(
                lambda: lease_job([EMBED], worker, at, seconds, tenant, only),
                alone=True,
                patience=_LEASING_PATIENCE,
            )
        except Busy:
            job = None
        if job is not None or not others:
            return job
        return await self.lease(others, worker, at, seconds, tenant, only)

    def when_due(self, wake: Callable[[], None]) -> Callable[[], None]:
        return self._watcher.when_due(wake)

    # ── erasure ───────────────────────────────────────────────────────────────────────────────────

    async def erase(self, target: Target, at: datetime) -> ErasureReceipt:
        # What another view asks for is refused as a whole, so no part may go before.
        in_parts = target.everything and target.view.whole and not target.dry_run
        parts = await self._erase_parts(target, at) if in_parts else []
        receipt = await super().erase(target, at)
        removed = sum((Counter(one.removed) for one in parts), Counter(receipt.removed))
        ids = (*(id for one in parts for id in one.ids), *receipt.ids)
        return replace(receipt, removed=removed, ids=ids) if parts else receipt

    async def _erase_parts(self, target: Target, at: datetime) -> list[ErasureReceipt]:
        """Erase most of a large owner, each part in a commit of its own: all of it is more than a
        transaction holds.

        A job says that the rest must go, too, should this program be killed; it goes with the
        owner.
        """
        parts: list[ErasureReceipt] = []
        passages = Filter(types=PASSAGE_TYPES)
        if await self.count(target.owner, WHOLE, passages) <= 2 * PART:
            return parts
        draft = JobDraft(ERASE_REST, ERASE_REST, delay=_RESUMED_SECONDS)
        await self.apply(Batch(target.owner, WHOLE, target.actor, at, (), Limits(), (draft,)))
        for type in _IN_TURN:
            while (
                len(
                    found := (
                        await self.scan(
                            target.owner, WHOLE, Filter(types=frozenset({type})), None, PART
                        )
                    ).records
                )
                == PART
            ):
                ids = tuple(record.id for record in found)
                parts.append(await super().erase(replace(target, everything=False, ids=ids), at))
        return parts

    def upkeep_of(self, erasures: Erasures, at: datetime) -> Sequence[Write]:
        return [scrub.mark_erasure()]

    async def finish_erasure(self, receipt: ErasureReceipt, *, changed: bool) -> ErasureReceipt:
        pending = scrub.PENDING if changed else await scrub.is_needed(self._book)
        state = "pending" if pending else "complete"
        return replace(receipt, state=state, pending_because=pending, unchecked=scrub.UNSEEN)

    async def scrub(self) -> Scrubbed:
        return await scrub.scrub(self._book)

    # ── keeping ───────────────────────────────────────────────────────────────────────────────────

    async def examine(self) -> ReplicaFacts:
        """Return facts about the replica set."""
        return await examine(self._book)

    async def make_views(self, set: str = "", prefix: str = "") -> ViewsMade:
        """Make views of the records for people at a shell."""
        return await views.create(self._book, set, prefix)

    async def facts(self, tenant: str | None = None) -> BookFacts:
        counts = asdict(await self.counts(tenant))
        size = await self._book.db.command("dbStats")
        return BookFacts(
            engine=self.name,
            address=self.address,
            format=FORMAT,
            bytes=int(size["storageSize"] + size["indexSize"]),
            details={"vectors": counts.pop("vectors")},
            **counts,
        )


class _Moment(Store):
    """The book as snapshots see it, one for each owner: it is read, and never written."""

    name = MongoEngine.name

    def __init__(self, engine: MongoEngine, on: Session) -> None:
        self._engine, self._on = engine, on

    @property
    def address(self) -> str:
        return self._engine.address

    async def close(self) -> None:
        """Do nothing: the snapshot ends with its call."""

    async def read(self, make: Callable[[], Deciding[A]], **_: Any) -> A:
        return await _run(self._on, make())

    async def frame(self, era: bytes) -> Frame | None:
        # A copy asks for it first of all that it reads of an owner.
        await self._on.begin_anew(self._engine.server.snapshot())
        return await super().frame(era)

    async def write(self, make: Callable[[], Deciding[A]], **_: Any) -> A:
        raise ReadOnly(f"{self.address} is read as it was at one moment: write to the book itself")

    async def scrub(self) -> Scrubbed:
        raise ReadOnly(f"{self.address} is read as it was at one moment: scrub the book itself")

    async def facts(self, tenant: str | None = None) -> BookFacts:
        return await self._engine.facts(tenant)
