"""The ports of an engine, written once: each call is a use case over the questions that the engine answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from memoranda.model.changes import Batch
from memoranda.model.language_models import ALL_SPENT, Spent, SpentFilter, Sums
from memoranda.model.ledger import Receipt
from memoranda.model.records import Owner
from memoranda.model.values import new_id
from memoranda.storage.apply import apply_batch, find_operation
from memoranda.storage.questions import Deciding
from memoranda.storage.spending import list_spent, note_spent, sum_spent

A = TypeVar("A")


class Store(ABC):
    """The base of every engine. An engine runs use cases: it answers their questions and carries out their writes."""

    @abstractmethod
    async def read(self, make: Callable[[], Deciding[A]], *, whole: bool = False, long: bool = False) -> A:
        """Run a use case that writes nothing; every answer is of one moment.

        ``make`` may be called again. ``whole``: it asks about more than one owner. ``long``: it has no time limit.
        """

    @abstractmethod
    async def write(
        self,
        make: Callable[[], Deciding[A]],
        *,
        alone: bool = False,
        long: bool = False,
        repeatable: bool = False,
        guarded: bool = True,
        patience: float | None = None,
    ) -> A:
        """Run a use case, and carry out its writes, all or none; returns after the durable commit.

        ``make`` may be called again. ``alone``: no other write runs beside it. ``long``: it has no time limit.
        ``repeatable``: it recognises what an earlier attempt stored. ``guarded``: it is refused if the book is marked as
        copied, moved or an unfinished copy. ``patience``: seconds to wait for each lock.
        """

    # ── records ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def apply(self, batch: Batch) -> Receipt:
        era = new_id()
        return await self.write(lambda: apply_batch(batch, era), repeatable=batch.operation is not None)

    async def find_operation(self, owner: Owner, operation: str) -> Receipt | None:
        return await self.read(lambda: find_operation(owner, operation), whole=True)

    # ── spending ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def note_spent(self, spent: Spent) -> None:
        await self.write(lambda: note_spent(spent))

    async def spent(self, tenant: str, only: SpentFilter = ALL_SPENT) -> list[Spent]:
        return await self.read(lambda: list_spent(tenant, only))

    async def spent_in_all(self, tenant: str, only: SpentFilter = ALL_SPENT) -> Sums:
        return await self.read(lambda: sum_spent(tenant, only))
