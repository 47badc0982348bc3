"""Forgets many records of one owner by conditions, some in each commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final
from uuid import UUID

from memoranda.book.forgetting.planning import Planning
from memoranda.book.input import as_actor
from memoranda.errors import MemorandaError
from memoranda.first_use import dataclass
from memoranda.model.ledger import ErasureReceipt, Target
from memoranda.model.query import Filter
from memoranda.model.records import Owner, RecordType, View
from memoranda.model.values import EARLIEST
from memoranda.paging import every_record
from memoranda.ports import Engine

#: Records that one commit erases, with what was derived from them.
PORTION: Final = 500
TYPES: Final = frozenset(
    {RecordType.MEMORY, RecordType.MESSAGE, RecordType.EPISODE, RecordType.THREAD}
)


@dataclass(frozen=True, slots=True)
class BulkReceipt:
    """The result of forgetting by conditions: the records that meet them, and what was erased,
    summed over all commits.
    """

    owner: Owner
    #: Type → how many records meet the conditions.
    found: Mapping[str, int]
    #: True if nothing was erased, because the caller only asked.
    dry_run: bool = False
    #: The commits that erased something, and how many all of them are.
    portions: int = 0
    all_portions: int = 0
    #: Place → how many things were removed there; with what was derived from the records found.
    removed: Mapping[str, int] = field(default_factory=dict)
    #: Every record that went, by id, and those that stay because they have other sources.
    ids: tuple[UUID, ...] = ()
    kept: tuple[UUID, ...] = ()
    #: As in the receipt of ``forget``, of the last commit.
    state: str = "complete"
    pending_because: str = ""
    still_in: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    #: Where an error stopped it, and how to go on; empty if nothing is left.
    left_to_do: str = ""

    def with_portion(self, receipt: ErasureReceipt) -> BulkReceipt:
        """Return this receipt with one more commit added to its sums."""
        ids = (*self.ids, *receipt.ids)
        gone = set(ids)
        return replace(
            self,
            portions=self.portions + 1,
            removed=dict(Counter(self.removed) + Counter(receipt.removed)),
            ids=ids,
            kept=tuple(id for id in dict.fromkeys((*self.kept, *receipt.kept)) if id not in gone),
            state=receipt.state,
            pending_because=receipt.pending_because,
            still_in=receipt.still_in,
            unchecked=receipt.unchecked,
            left_to_do="; ".join(
                dict.fromkeys(filter(None, (self.left_to_do, receipt.left_to_do)))
            ),
        )


async def forget_matching(
    planning: Planning,
    engine: Engine,
    owner: Owner,
    view: View,
    only: Filter,
    *,
    dry: bool,
    backups: bool,
) -> BulkReceipt:
    """Forget the records that a filter selects, some in each commit; with ``dry`` only count
    them.
    """
    found, ids = await _matching(engine, owner, view, only)
    portions = [ids[start : start + PORTION] for start in range(0, len(ids), PORTION)]
    receipt = BulkReceipt(owner, found, dry, all_portions=len(portions))
    for some in () if dry else portions:
        target = Target(owner, view, as_actor(view), tuple(some))
        try:
            receipt = receipt.with_portion(await planning.erase(target, dry=False, backups=backups))
        except MemorandaError as exc:
            if not receipt.portions:
                raise
            left = (
                f"{receipt.portions} of {receipt.all_portions} parts are erased, then an error stopped it ({exc}); "
                "call it again to erase the rest"
            )
            return replace(receipt, left_to_do="; ".join(filter(None, (receipt.left_to_do, left))))
    return receipt


async def _matching(
    engine: Engine, owner: Owner, view: View, only: Filter
) -> tuple[Mapping[str, int], Sequence[UUID]]:
    """Return how many records of each type meet the conditions, and their ids, also of those that
    have expired.
    """
    found: Counter[str] = Counter()
    ids: list[UUID] = []
    seeing = view.model_copy(update={"at": EARLIEST})
    async for record in every_record(engine, owner, seeing, only):
        found[record.type.value] += 1
        ids.append(record.id)
    return dict(found), ids
