"""The façade object that an application holds: append, remember, recall, explain, correct, undo, forget."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
    Set,
)
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, Unpack
from uuid import UUID

from memoranda import telemetry
from memoranda.book.admin.across_owners import Admin
from memoranda.book.admin.backup_files import Backups, OpenCopy
from memoranda.book.admin.forget_all import BulkForgetting
from memoranda.book.admin.job_verbs import Jobs
from memoranda.book.admin.restriction_verbs import Restricting
from memoranda.book.admin.transfer import ImportReport, Transfer
from memoranda.book.context_requests import request_of, usable_here
from memoranda.book.forgetting.decisions import ForgetSettings, PendingForgettings
from memoranda.book.forgetting.hidden_facts import Hiding
from memoranda.book.forgetting.verbs import Forgetting
from memoranda.book.forming_jobs import Forming
from memoranda.book.input import (
    Conditions,
    Only,
    Who,
    as_confidence,
    as_filter,
    as_flag,
    as_limit,
    as_mode_of_types,
    as_names,
    as_offset,
    as_path,
    as_text,
    as_types,
    as_vector,
    as_view,
    each,
    names_records,
    owner_named,
)
from memoranda.book.items import Items
from memoranda.book.record_ids import record_ids, thread_id, with_thread_id
from memoranda.book.schema_verbs import Schemas
from memoranda.book.service_keys import Keys
from memoranda.book.services import Embeddings, OnDemand, Services
from memoranda.book.verb_fields import spelled_out
from memoranda.book.verbs.advice import log_narrow_view
from memoranda.book.verbs.background_work import BackgroundWork
from memoranda.book.verbs.context_sources import Contexts
from memoranda.book.verbs.documents import Agents, Profiles
from memoranda.book.verbs.episodes import Episodes
from memoranda.book.verbs.experience import Experience
from memoranda.book.verbs.reads import Reads
from memoranda.book.verbs.statements import Statements
from memoranda.book.verbs.thread_handle import ThreadHandle, taken_up
from memoranda.book.verbs.upkeep import Upkeep
from memoranda.door import Door
from memoranda.errors import InvalidInput
from memoranda.formation.bound_profiles import BoundProfiles
from memoranda.formation.who_forms import WhoForms
from memoranda.model.changes import OpenThread
from memoranda.model.messages import Thread
from memoranda.model.profiles import Agent, Key
from memoranda.model.query import Findings, Hit, Hits
from memoranda.model.records import PASSAGE_TYPES, Audience, Owner, RecordType
from memoranda.model.values import new_id
from memoranda.operations import Awaited, Role, W, no_offer, offer, offer_lines
from memoranda.ports import Engine, Finder, Models
from memoranda.recall.context.result import Context
from memoranda.secrets.masks import masked_hits
from memoranda.secrets.modes import SecretsMode
from memoranda.text.token_count import Count
from memoranda.worker import Worker

#: How long closing waits for the job in hand, and then for its end once it is cancelled: it stays for later.
_LAST_JOB_SECONDS = 10.0


@spelled_out
class BookOperations(
    Statements[W],
    Reads[W],
    Upkeep[W],
    BackgroundWork[W],
    Forgetting[W],
    BulkForgetting[W],
    Hiding[W],
    PendingForgettings[W],
    Restricting[W],
):
    """The operations of a book itself; those of its parts are theirs."""

    engine: Engine
    door: Door
    finder: Finder
    tenant: str
    transfer: Transfer
    backups: Backups
    _contexts: Contexts
    _on_erased: Callable[[], None]
    _refresh_terms: Callable[[], Awaitable[int]]

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────

    @offer(
        Role.VIEWER,
        "POST /recall",
        command="recall",
        example={"query": "What do I like to drink?", "limit": 5},
    )
    async def recall(
        self,
        owner: str | Owner,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        types: Iterable[str] | str | None = None,
        only: Conditions | None = None,
        mode: str = "hybrid",
        pinned_first: bool = False,
        at_least: float | None = None,
        vector: Sequence[float] | None = None,
        explain: bool | Iterable[UUID | str] | UUID | str = False,
        **who: Unpack[Who],
    ) -> Hits:
        """Return the passages that best answer a query, best first, each with the reasons why it was found.

        ``mode`` is ``hybrid`` (words and meaning, as far as each is there), ``words`` or ``meaning``; ``recent``, the
        newest, or ``most_used``, the memories used most with one place in five for the newest, whatever the query.
        By meaning alone it is an error that there are no vectors to compare. ``at_least``, from 0 to 1, leaves out hits
        with less confidence. ``vector`` is the query's, made with the book's own embedding. ``offset`` leaves out the
        first hits. ``explain`` names ids; the answer's ``missing`` says why each is no hit, with True of what comes next.
        """
        party, view = owner_named(owner, self.tenant), as_view(who)
        as_text(query, "query")
        wanted = PASSAGE_TYPES if types is None else as_types(types)
        assert wanted is not None
        if not wanted <= PASSAGE_TYPES:
            raise InvalidInput("types: recall finds messages, memories, episodes and items", field="types")
        chosen = as_mode_of_types(mode, wanted)
        why_not: tuple[UUID, ...] | None = () if explain is True else None
        if not isinstance(explain, bool):
            why_not = await record_ids(self.engine, party, view, explain, "explain")
        if only and names_records(only):
            only = await with_thread_id(self.engine, party, view, only)
        begin, most = as_offset(offset, as_limit(limit))
        maker = self.embeddings.maker
        asked = None if vector is None else as_vector(vector, maker)
        now = self.door.clock()
        filter = as_filter(wanted, only or {}, now=now)
        find = partial(
            self.finder.find,
            party,
            view,
            query,
            limit=begin + most,
            types=wanted if filter.types is None else filter.types,
            only=filter,
            mode=chosen,
            vectors=maker.embedding.name if maker is not None else "",
            pinned_first=as_flag(pinned_first, "pinned_first"),
            at_least=as_confidence(at_least, chosen),
            why_not=why_not,
            now=now,
        )
        found = await self.embeddings.search(find, query, asked, chosen)
        del found[:begin]
        if self.door.secrets != "keep":
            await masked_hits(found)
        if not found:
            await log_narrow_view(self.engine, party, view, filter, "recall")
        return found

    @offer(
        Role.VIEWER,
        "POST /context",
        command="context",
        title="make_context",
        example={"query": "What do I like to drink?", "budget": 500},
    )
    async def context(
        self: BookOperations,
        owner: str | Owner,
        query: str | None = None,
        *,
        thread: UUID | str | ThreadHandle[Any] | None = None,
        conversation: bool = True,
        budget: int | None = None,
        limit: int | None = None,
        count: Count | None = None,
        types: Iterable[str] | str | None = None,
        kinds: Iterable[str] | str | None = None,
        time_zone: str | tzinfo | None = None,
        mark_used: bool = True,
        vector: Sequence[float] | None = None,
        **who: Unpack[Who],
    ) -> Context:
        """Return the text that an agent should read before it answers, in at most ``budget`` tokens (2000), and its parts.

        Without a query, what was last said in the ``thread`` is the question. ``count`` counts tokens as the agent's
        model does; without it they are estimated. ``types`` and ``kinds`` choose records and kinds of memories; ``time_zone``
        adds the time. ``limit`` is the most hits and memories; without it, as many as the budget holds. The memories that
        are placed count as used, unless ``mark_used`` is False. ``conversation=False`` leaves out the turns of the ``thread``,
        for a program that gives them to the model itself.
        ``vector`` is the query's, as ``recall`` takes it.
        """
        party, view = owner_named(owner, self.tenant), as_view(who)
        if query is None and vector is not None:
            raise InvalidInput("vector: it needs the query it belongs to; give query, too", field="vector")
        where = thread.id if isinstance(thread, ThreadHandle) else thread
        where = await thread_id(self.engine, party, view, where, needed=conversation)
        own = usable_here(await self._services.forming.of_agents.context(view.agent))
        request = request_of(
            query,
            where,
            own.budget if budget is None else budget,
            own.limit if limit is None else limit,
            count,
            own.types if types is None else types,
            own.kinds if kinds is None else kinds,
            own.time_zone if time_zone is None else time_zone,
            conversation,
        )

        async def finding(
            question: str, types: Set[RecordType], most: int, kinds: Set[str] | None = None
        ) -> Sequence[Hit]:
            only: Only = {"kinds": kinds}
            return await self.recall(
                party, question, types=types, only=only, limit=most, vector=vector, **who
            )

        with telemetry.span("context"):
            made, placed = await self._contexts.make(party, view, finding, request)
        telemetry.count("contexts")
        if as_flag(mark_used, "mark_used"):
            self._uses.note(party, view, placed)
        return made

    # ── whole books ──────────────────────────────────────────────────────────────────────────────────────────────

    @offer(Role.ADMIN, "POST /v1/import", command="import", title="import_lines")
    async def import_(
        self, lines: Iterable[str] | AsyncIterable[str], progress: Callable[[int, int], None] | None = None
    ) -> ImportReport:
        """Import an export: what was erased here stays erased, and records that exist here stay unchanged."""
        return await self.transfer.import_(lines, progress)

    @no_offer("its target is a path of the machine that has the book: run memoranda backup there")
    async def backup(
        self, target: str | Path, progress: Callable[[int, int], None] | None = None
    ) -> Findings:
        """Write a copy of the book to a new file while it is in use, and verify it; also if the book is on a server."""
        return await self.backups.backup(as_path(target, "target"), progress)

    @offer(Role.ADMIN, "POST /v1/rebuild", command="rebuild")
    async def rebuild(self, progress: Callable[[int, int], None] | None = None) -> Mapping[str, int]:
        """Recompute what code derives from records, search terms included; records, ledger and uses stay unchanged."""
        done = dict(await self.engine.rebuild(progress))
        done["terms"] = await self._refresh_terms()
        self._on_erased()
        return done


@spelled_out
class Book(BookOperations[Awaited]):
    """One open book. Get one from ``memoranda.open``; close it, or use it with ``async with``."""

    def __init__(
        self,
        engine: Engine,
        door: Door,
        finder: Finder,
        worker: Worker,
        *,
        tenant: str,
        embeddings: Embeddings,
        forming: Forming,
        who_forms: WhoForms,
        models: Models | None,
        on_erased: Callable[[], None],
        refresh_terms: Callable[[], Awaitable[int]],
        open_copy: OpenCopy,
        on_demand: OnDemand,
        forgetting: ForgetSettings,
    ) -> None:
        bound = BoundProfiles(engine, tenant)
        services = Services(engine, door, tenant, embeddings, forming, on_demand, bound, worker, who_forms)
        super().__init__(services)
        self._prepare(worker, who_forms)
        self.engine = engine
        self.door = door
        self.finder = finder
        self.tenant = tenant
        self.forming = forming
        self.embeddings = embeddings
        self._on_erased = on_erased
        self._refresh_terms = refresh_terms
        self.transfer = Transfer(engine, door, tenant, forming)
        self.backups = Backups(engine, door.clock, open_copy)
        self._models = models
        self._follow_hidden = self._retracting.hidden
        self._find = self.recall
        #: The settings of what is hidden before it is erased.
        self.forgetting = forgetting
        self.profile = Profiles(services)
        self.episodes = Episodes(services, self.recall)
        self.items = Items(services, self.recall, finder)
        self.experience = Experience(services)
        self.agents = Agents(services, Agent)
        self.schemas = Schemas(services, self.list)
        self.keys = Keys(services, Key)
        self.admin = Admin(engine, tenant)
        self.jobs = Jobs(engine)
        self._contexts = Contexts(services)

    # ── life ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @no_offer("the service closes its book when it stops")
    async def close(self) -> None:
        """Close the book: finish the current job if it ends soon, finish all writes, and release files and connections."""
        self._stop.set()
        self.embeddings.stop()
        tasks = [task for task in (self._working, self.embeddings.working) if task is not None]
        self._working = self.embeddings.working = None
        try:
            # An event loop that has ended, or another thread's, never reports that the worker has ended.
            if tasks and tasks[0].get_loop() is asyncio.get_running_loop():
                _, late = await asyncio.wait(tasks, timeout=_LAST_JOB_SECONDS)
                for task in late:
                    task.cancel()
                if late:
                    await asyncio.wait(late, timeout=_LAST_JOB_SECONDS)
            await self._uses.settled()
            await self._tell_what_waits()
        finally:
            await self.engine.close()
            await self.embeddings.close()
            if self._models is not None:
                await self._models.close()

    @property
    def no_vectors_because(self) -> str:
        """The reason why recall compares no vectors; empty if it does."""
        return self.embeddings.no_vectors_because

    @property
    def secrets(self) -> SecretsMode:
        """The mode in which this book treats secrets: ``hide``, ``mask`` or ``keep``."""
        return self.door.secrets

    # ── what was said, and all of it ─────────────────────────────────────────────────────────────────────────────────

    @offer(
        Role.EDITOR,
        "POST /threads",
        command="append",
        title="open_thread",
        example={"name": "chat-17", "agent": "chef"},
    )
    async def thread(
        self,
        owner: str | Owner,
        *,
        id: UUID | str | None = None,
        name: str | None = None,
        title: str = "",
        status: Literal["created", "running"] = "running",
        tags: Sequence[str] = (),
        audience: str | Audience | None = None,
        expires_at: datetime | None = None,
        operation: str | None = None,
        **who: Unpack[Who],
    ) -> ThreadHandle:
        """Create a thread, or open the one with this ``id``, or with this ``name`` that the application gave it.

        The name is your own id for the thread: ``id`` takes it too, and then no thread is created.
        """
        party, view = owner_named(owner, self.tenant), as_view(who)
        if id is not None:
            return await taken_up(self._services, party, id, view)
        if status not in ("created", "running"):
            raise InvalidInput(f"status: a new thread is created or running, not {status!r}", field="status")
        readers = await self._services.audience_of(audience, view)
        fields = {
            "name": name,
            "title": title,
            "status": status,
            "tags": as_names(tags, "tags"),
            "agent": view.agent,
            # A field that is not given is no part of the request, so requests of before have the same digest.
            **({} if expires_at is None else {"expires_at": expires_at}),
        }
        now = self.door.clock()
        late = {"expires_at": self.door.limits.thread_expiry(now), "started_at": now, "owner": party}
        made = each([fields], "thread", lambda d: Thread(id=new_id(), audience=readers, **{**late, **d}))[0]
        receipt = await self._services.write(
            party, view, [OpenThread(made)], ["thread", fields, str(readers)], operation
        )
        if receipt.items:
            # The last one: an expired thread may have lost its name to it.
            return ThreadHandle(self._services, party, receipt.items[-1].id, view, view.agent)
        there = receipt.ignored[0].id
        assert there is not None
        return await taken_up(self._services, party, there, view)

    @offer_lines(
        Role.VIEWER, "GET /v1/export", command="export", title="export_lines", of_the_person="an export"
    )
    def export(
        self, owner: str | Owner | None = None, *, masked: bool = False, everything: bool = False
    ) -> AsyncIterator[str]:
        """Yield the lines of an export of the book, or of one owner.

        With ``masked`` it shows masks in place of secrets; it is for people to read, and cannot be imported.
        With ``everything`` the export of one owner also tells what is stored elsewhere about them: records of agents and keys,
        a restriction, who read their data, usage of models, and when something was erased. An import skips these lines.
        """
        party = None if owner is None else owner_named(owner, self.tenant)
        whole = as_flag(everything, "everything")
        if whole and party is None:
            raise InvalidInput("everything: name the owner whom the export is about", field="everything")
        return self.transfer.export(party, masked=as_flag(masked, "masked"), everything=whole)
