"""The services of an open book that its verbs use: engine, door, embeddings, and when threads are
formed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias
from uuid import UUID

from memoranda.book.embeddings import Embeddings
from memoranda.book.forming_jobs import Forming
from memoranda.book.input import (
    as_actor,
    as_audience,
    as_limit,
    as_text,
    as_versions,
    as_wait,
    each,
    memory_of,
    names_records,
)
from memoranda.book.record_ids import place_of_superseded, with_ids
from memoranda.door import Door, explained_limit
from memoranda.errors import InvalidInput, LimitReached
from memoranda.first_use import dataclass
from memoranda.formation.bound_profiles import BoundProfiles
from memoranda.formation.who_forms import WhoForms
from memoranda.model.changes import Change, Expect, Remember
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.model.ledger import Receipt
from memoranda.model.messages import TaskSummary
from memoranda.model.query import Filter
from memoranda.model.records import EVERYONE, Audience, Owner, Record, View
from memoranda.ports import Engine
from memoranda.worker import Worker

#: What a write waits for: its durable commit, or that its passages are found by their meaning, too.
WaitFor: TypeAlias = Literal["stored", "embedded"]

#: Asks a language model for an owner who waits.
AskModel: TypeAlias = Callable[[Owner, ModelRequest], Awaitable[ModelAnswer]]


class OnDemand(NamedTuple):
    """The uses of a language model for a caller who waits."""

    #: Summarises a thread.
    summarise: Callable[[Owner, UUID], Awaitable[TaskSummary]]
    #: None without a model.
    ask: AskModel | None


@dataclass(frozen=True, slots=True)
class Services:
    """The services that a book's verbs use."""

    engine: Engine
    door: Door
    tenant: str
    embeddings: Embeddings
    forming: Forming
    on_demand: OnDemand
    bound: BoundProfiles
    #: Does jobs of any tenant.
    worker: Worker
    who_forms: WhoForms

    async def door_for(self, view: View) -> Door:
        """Return the door with the limits of a view's agent."""
        limits = None if view.agent is None else await self.forming.of_agents.limits(view.agent)
        return self.door if limits is None else self.door.within(limits)

    async def write(
        self,
        owner: Owner,
        view: View,
        changes: Sequence[Change],
        request: Sequence[Any],
        operation: str | None,
        expect: Mapping[UUID, int] | None = None,
        also: tuple[Owner, Sequence[Change]] | None = None,
    ) -> Receipt:
        """Write changes through the door. The same operation id with the same request is applied
        once.
        """
        versions = as_versions(expect or {})
        door = await self.door_for(view)
        return await door.write(
            owner,
            view,
            as_actor(view),
            changes,
            request=[*request, {str(id): version for id, version in versions.items()}],
            operation=operation,
            expect=Expect(versions=versions),
            also=also,
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
        """Write statements through the door (the checks that every write passes): all or none."""
        waiting = as_wait(wait_for)
        changes = await self.remembered(owner, view, statements, audience, run)
        if not changes:
            raise InvalidInput("statements: none given; give at least one", field="statements")
        request = ["remember", list(statements), str(audience), run]
        writing = self.write(owner, view, changes, request, operation, expect)
        return await self.stored(writing, statements, view, waiting)

    async def remembered(
        self,
        owner: Owner,
        view: View,
        statements: Sequence[Mapping[str, Any]],
        audience: str | Audience | None,
        run: str | None,
        what: str = "statements",
    ) -> list[Remember]:
        """Return the changes that store statements."""
        readers, common, now = as_audience(audience, view), None, self.door.clock()
        if readers is None and view.agent is not None:
            # Its own also if all agents may read its sources or its thread, unless the settings
            # make it common.
            common = await self.forming.of_agents.common_audience(view)
            readers = Audience.of_agent(view.agent) if common is None else None
        drafts = [
            await with_ids(self.engine, owner, view, s) if names_records(s) else (s, ())
            for s in statements
        ]
        memories = each(
            [draft for draft, _ in drafts],
            what,
            lambda draft: memory_of(draft, owner, view.agent, now),
        )
        if run is not None:
            as_text(run, "run")
        return [
            Remember(memory, audience=readers, run=run, common=common, unknown=unknown)
            for memory, (_, unknown) in zip(memories, drafts, strict=True)
        ]

    async def stored(
        self,
        writing: Awaitable[Receipt],
        statements: Sequence[Mapping[str, Any]],
        view: View,
        waiting: str,
    ) -> Receipt:
        """Await a write of statements: explain a limit that refuses it, name what is unknown, and
        wait for its vectors if asked.
        """
        try:
            receipt = await writing
        except LimitReached as exc:
            raise explained_limit(exc, (await self.door_for(view)).limits.writes_per_run) from exc
        # The ledger has only the places of what could not be superseded, not the names that the
        # caller gave.
        names = {
            (item, place_of_superseded(place)): str(name)
            for item, statement in enumerate(statements)
            if isinstance(given := statement.get("supersedes"), (list, tuple))
            for place, name in enumerate(given)
        }
        told = (
            replace(part, name=names.get((part.item, part.field or ""))) for part in receipt.ignored
        )
        return await self.embeddings.reached(replace(receipt, ignored=tuple(told)), waiting)

    async def audience_of(self, given: str | Audience | None, view: View) -> Audience:
        """Return the audience that a call names, or else that the settings make common, or else the
        writer's own.
        """
        named = as_audience(given, view) or await self.forming.of_agents.common_audience(view)
        return named or (EVERYONE if view.agent is None else Audience.of_agent(view.agent))


class RecordVerbs:
    """The base class of verbs over one type of record."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def _write(
        self,
        owner: Owner,
        view: View,
        change: Change,
        request: Sequence[Any],
        operation: str | None,
    ) -> Receipt:
        return await self._services.write(owner, view, [change], request, operation)

    async def _all(self, owner: Owner, view: View, only: Filter, limit: int) -> list[Record]:
        page = await self._services.engine.scan(owner, view, only, None, as_limit(limit))
        return list(page.records)
