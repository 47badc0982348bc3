"""The services of an open book, which its verbs use: engine, door, tenant, embeddings, and the jobs of formation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias
from uuid import UUID

from memoranda.book.forming import Forming
from memoranda.book.meaning import Embeddings
from memoranda.book.parsing import (
    as_actor,
    as_audience,
    as_limit,
    as_text,
    as_versions,
    as_wait,
    each,
    memory_of,
)
from memoranda.door import Door
from memoranda.errors import InvalidInput
from memoranda.model.changes import Change, Expect, Remember
from memoranda.model.ledger import Receipt
from memoranda.model.owner import Audience, Owner, View
from memoranda.model.query import Filter
from memoranda.model.records import Record
from memoranda.ports import Engine

#: What a write waits for: its durable commit, or that its passages are found by their meaning, too.
WaitFor: TypeAlias = Literal["stored", "embedded"]


@dataclass(frozen=True, slots=True)
class Services:
    """The services that a book's verbs use."""

    engine: Engine
    door: Door
    tenant: str
    embeddings: Embeddings
    forming: Forming
    #: The longest gap between messages within a thread's window; None: no gap ends it.
    window_ttl: timedelta | None = None

    async def write(
        self,
        owner: Owner,
        view: View,
        changes: Sequence[Change],
        request: Sequence[Any],
        operation: str | None,
        expect: Mapping[UUID, int] | None = None,
    ) -> Receipt:
        """Write changes through the door. The same operation id with the same request is applied once."""
        versions = as_versions(expect or {})
        return await self.door.write(
            owner,
            view,
            as_actor(view),
            changes,
            request=[*request, {str(id): version for id, version in versions.items()}],
            operation=operation,
            expect=Expect(versions=versions),
        )

    async def remember(
        self,
        owner: Owner,
        view: View,
        statements: Sequence[Mapping[str, Any]],
        audience: str | Audience | None,
        run: str | None,
        operation: str | None,
        expect: Mapping[UUID, int] | None,
        wait_for: WaitFor,
    ) -> Receipt:
        """Write statements through the door, all or none."""
        waiting = as_wait(wait_for)
        readers, now = as_audience(audience, view), self.door.clock()
        memories = each(statements, "statements", lambda draft: memory_of(draft, owner, view.agent, now))
        if not memories:
            raise InvalidInput("statements: none given", field="statements")
        if run is not None:
            as_text(run, "run")
        changes: list[Change] = [Remember(memory, audience=readers, run=run) for memory in memories]
        request = ["remember", list(statements), str(audience), run]
        receipt = await self.write(owner, view, changes, request, operation, expect)
        return await self.embeddings.reached(receipt, waiting)


class RecordVerbs:
    """The base of the verbs over one type of record."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def _write(
        self, owner: Owner, view: View, change: Change, request: Sequence[Any], operation: str | None
    ) -> Receipt:
        return await self._services.write(owner, view, [change], request, operation)

    async def _all(self, owner: Owner, view: View, only: Filter, limit: int) -> list[Record]:
        page = await self._services.engine.scan(owner, view, only, None, as_limit(limit))
        return list(page.records)
