"""Forgets many records of one owner by conditions, some in each commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Final, Unpack
from uuid import UUID

from memoranda.book.admin.backup_files import Backups
from memoranda.book.input import (
    Only,
    Who,
    as_actor,
    as_filter,
    as_flag,
    as_id,
    as_types,
    as_view,
    owner_named,
)
from memoranda.book.services import Services
from memoranda.book.verb_fields import spelled_out
from memoranda.errors import InvalidInput, MemorandaError, NotAllowed
from memoranda.first_use import dataclass
from memoranda.model.ledger import ErasureReceipt, Target
from memoranda.model.query import Filter
from memoranda.model.records import Owner, RecordType, View
from memoranda.model.values import EARLIEST
from memoranda.operations import Part, Role, W, offer

#: Records that one commit erases, with what was derived from them.
PORTION: Final = 500
_TYPES: Final = frozenset({RecordType.MEMORY, RecordType.MESSAGE, RecordType.EPISODE, RecordType.THREAD})


@dataclass(frozen=True, slots=True)
class BulkReceipt:
    """The result of forgetting by conditions: the records that meet them, and what was erased, summed over all commits."""

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
            left_to_do="; ".join(dict.fromkeys(filter(None, (self.left_to_do, receipt.left_to_do)))),
        )


@spelled_out
class BulkForgetting(Part[W]):
    """The verb of a book that forgets by conditions."""

    _services: Services
    backups: Backups
    _on_erased: Callable[[], None]

    @offer(Role.EDITOR, "POST /forget-all", final=True, command="forget-all")
    async def forget_all(
        self,
        owner: str | Owner,
        *,
        types: Iterable[str] | str = "memory",
        kind: Iterable[str] | str | None = None,
        before: datetime | None = None,
        source: UUID | str | None = None,
        thread: UUID | str | None = None,
        dry_run: bool = False,
        backups: bool = False,
        **who: Unpack[Who],
    ) -> BulkReceipt:
        """Erase all of an owner's records of these types that meet every condition given, as ``forget`` does by id.

        ``kind`` names kinds of memories, ``before`` the time before which they were observed, said or begun, ``source`` a record
        that they cite, ``thread`` the thread in which they were said. With ``dry_run`` nothing is erased, and ``found``
        counts what would be. An agent forgets what it wrote; everything else needs the owner's view. Many records are erased
        some at a time, each part in a commit of its own: if an error stops it in between, ``left_to_do`` says so.
        """
        services = self._services
        party, view = owner_named(owner, services.tenant), as_view(who)
        wanted = as_types(types) or frozenset()
        if not wanted or not wanted <= _TYPES:
            names = ", ".join(sorted(type_.value for type_ in _TYPES))
            raise InvalidInput(f"types: give some of {names}", field="types")
        only: Only = {"kinds": kind, "until": before, "thread": thread}
        chosen = as_filter(wanted, only)
        if source is not None:
            chosen = replace(chosen, sources=frozenset({as_id(source, "source")}))
        if chosen == Filter(types=wanted):
            raise InvalidInput(
                "forget_all: give kind, before, source or thread; forget(owner, everything=True) erases the owner"
            )
        if not view.whole and view.agent is None:
            raise NotAllowed(
                "forget_all: it erases what others wrote; ask with as_owner=True, or as the agent that wrote it"
            )
        if not view.whole:
            chosen = replace(chosen, agent=view.agent)
        found, ids = await self._matching(party, view, chosen)
        portions = [ids[start : start + PORTION] for start in range(0, len(ids), PORTION)]
        receipt = BulkReceipt(party, found, as_flag(dry_run, "dry_run"), all_portions=len(portions))
        return (
            receipt
            if dry_run
            else await self._erased(party, view, portions, receipt, as_flag(backups, "backups"))
        )

    async def _matching(
        self, owner: Owner, view: View, only: Filter
    ) -> tuple[Mapping[str, int], Sequence[UUID]]:
        """Return how many records of each type meet the conditions, and their ids, also of those that have expired."""
        found: Counter[str] = Counter()
        ids: list[UUID] = []
        cursor: str | None = None
        seeing = view.model_copy(update={"at": EARLIEST})
        while True:
            page = await self._services.engine.scan(owner, seeing, only, cursor, PORTION)
            found.update(record.type.value for record in page.records)
            ids += (record.id for record in page.records)
            cursor = page.cursor
            if cursor is None:
                return dict(found), ids

    async def _erased(
        self,
        owner: Owner,
        view: View,
        portions: Sequence[Sequence[UUID]],
        receipt: BulkReceipt,
        backups: bool,
    ) -> BulkReceipt:
        for ids in portions:
            target = Target(owner, view, as_actor(view), tuple(ids))
            try:
                receipt = receipt.with_portion(await self.backups.forget(target, backups=backups))
            except MemorandaError as exc:
                if not receipt.portions:
                    raise
                left = (
                    f"{receipt.portions} of {receipt.all_portions} parts are erased, then an error stopped it ({exc}); "
                    "call it again to erase the rest"
                )
                return replace(receipt, left_to_do="; ".join(filter(None, (receipt.left_to_do, left))))
            finally:
                self._on_erased()
        return receipt
