"""Retracts everything derived only from a faulty source, in an owner's records and in agents'
experience.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable
from dataclasses import replace
from uuid import UUID

from memoranda.book.input import as_actor
from memoranda.book.services import Services
from memoranda.errors import MemorandaError
from memoranda.first_use import expression
from memoranda.model.changes import Change, DoubtEvidence, RetractSource
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.ledger import Actor, Entry, Receipt
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, OwnerKind, RecordType, View
from memoranda.model.values import new_id
from memoranda.paging import every_record
from memoranda.storage.decide.source_retraction import FAULTY

_LINES = Filter(types=frozenset({RecordType.EXPERIENCE}))
_ID = expression(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: Undone, and the undoing undone, and so on: as far as that is followed back.
_MOST_TURNS = 100


async def _completed(receipt: Receipt, following: Awaitable[None], named: str) -> Receipt:
    """Change agents' lines and return the receipt, which names an error: the operation is committed
    already.
    """
    try:
        await following
    except MemorandaError as exc:
        left = f"agents' experience does not follow this yet ({exc}): make the same call again with operation={named!r}"
        return replace(receipt, left_to_do=left)
    return receipt


class Retracting:
    """Retracts what came from a faulty source, as one operation in the owner's ledger; agents'
    experience follows it.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def retract_source(
        self,
        owner: Owner,
        view: View,
        source: UUID,
        reason: str,
        operation: str | None,
        *,
        dry_run: bool,
    ) -> Receipt:
        """Retract every statement derived only from this source; with ``dry_run`` return what would
        be retracted.
        """
        if dry_run:
            change, door = RetractSource(source, reason), self._services.door
            return await door.write(
                owner, view, as_actor(view), [change], request=None, dry_run=True
            )
        request = ["retract from", str(source), reason]
        # It has an id in any case: an operation that only agents' lines follow is in the ledger,
        # too, to be undone.
        named = operation or f"retract from {new_id()}"
        receipt = await self._services.write(
            owner, view, [RetractSource(source, reason)], request, named
        )
        following = self._follow(owner, {source, *receipt.ids(RecordType.MEMORY)}, faulty=True)
        return await _completed(receipt, following, named)

    async def hidden(self, owner: Owner, receipt: Receipt, named: str) -> Receipt:
        """After records were hidden, no line of agents' experience counts them as evidence; return
        the receipt.
        """
        return await _completed(receipt, self._hidden(owner, receipt.position), named)

    async def _hidden(self, owner: Owner, position: int) -> None:
        entry = await self._entry(owner, position)
        if entry is not None and FAULTY in entry.note and (ids := _noted(entry)):
            await self._follow(owner, ids, faulty=True)

    async def undone(self, owner: Owner, receipt: Receipt, named: str) -> Receipt:
        """After an operation was undone, restore or withdraw its records as evidence of agents'
        experience.

        Return the receipt. ``named`` is the id of the operation that undid it.
        """
        return await _completed(receipt, self._undone(owner, receipt.position), named)

    async def _undone(self, owner: Owner, position: int) -> None:
        entry = await self._entry(owner, position)
        faulty, ids = False, set[UUID]()
        waiting = [] if entry is None else [(entry, True)]
        for _ in range(_MOST_TURNS):
            if not waiting:
                break
            entry, faulty_then = waiting.pop()
            if FAULTY in entry.note:
                faulty = faulty_then
                ids |= _noted(entry) | {line.id for line in entry.lines}
            for before in entry.note.get("undoes", ()):
                earlier = await self._entry(owner, before)
                if earlier is not None:
                    waiting.append((earlier, not faulty_then))
        if ids:
            await self._follow(owner, ids, faulty=faulty)

    async def _entry(self, owner: Owner, position: int) -> Entry | None:
        found = await self._services.engine.entries(owner, position - 1, 1)
        return next((entry for entry in found if entry.position == position), None)

    async def _follow(self, owner: Owner, ids: Iterable[UUID], *, faulty: bool) -> None:
        """Withdraw these records as evidence of agents' experience (``faulty=True``), or restore
        them.
        """
        records = tuple(sorted(ids, key=lambda id: id.int))
        for agent in await self._services.engine.owners(self._services.tenant):
            if agent.kind is not OwnerKind.AGENT:
                continue
            changes: list[Change] = [
                DoubtEvidence(line.id, owner, records, faulty)
                async for line in self._lines(agent)
                if _counts(line, owner, records, faulty)
            ]
            most = self._services.door.limits.batch
            for at in range(0, len(changes), most):
                await self._services.door.write(
                    agent, WHOLE, Actor("system"), changes[at : at + most], request=None
                )

    async def _lines(self, agent: Owner) -> AsyncIterator[ExperienceLine]:
        async for record in every_record(self._services.engine, agent, WHOLE, _LINES):
            if isinstance(record, ExperienceLine):
                yield record


def _noted(entry: Entry) -> set[UUID]:
    """Return the sources that a ledger entry names; values that are not ids, as an import may
    bring, are skipped.
    """
    noted = entry.note[FAULTY]
    texts = [each for each in noted if isinstance(each, str)] if isinstance(noted, list) else []
    return {UUID(each) for each in texts if _ID.fullmatch(each)}


def _counts(line: ExperienceLine, owner: Owner, records: Iterable[UUID], faulty: bool) -> bool:
    part = line.part_of(owner)
    return part is not None and not set(records).isdisjoint(part.sources if faulty else part.faulty)
