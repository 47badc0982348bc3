"""The book that an application holds: ten operations for every day, and a part for each noun."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence, Set
from datetime import datetime, tzinfo
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self, Unpack
from uuid import UUID

from memoranda import telemetry
from memoranda.book.admin.backup_files import Backups, OpenCopy
from memoranda.book.admin.retention import Retention
from memoranda.book.admin.transfer import Transfer
from memoranda.book.advice import log_narrow_view
from memoranda.book.context_requests import request_of, usable_here
from memoranda.book.context_sources import Contexts
from memoranda.book.embeddings import Embeddings
from memoranda.book.forgetting.decisions import ForgetSettings
from memoranda.book.forming_jobs import Forming
from memoranda.book.forming_runs import form_owner
from memoranda.book.input import (
    BY_MEANING,
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
    as_text,
    as_types,
    as_vector,
    as_view,
    each,
    names_records,
    owner_named,
)
from memoranda.book.nouns.admin import Admin
from memoranda.book.nouns.agents import Agents
from memoranda.book.nouns.dreams import Dreams
from memoranda.book.nouns.episodes import Episodes
from memoranda.book.nouns.experience import Experience
from memoranda.book.nouns.forgetting import Forgetting
from memoranda.book.nouns.items import Items
from memoranda.book.nouns.jobs import Jobs
from memoranda.book.nouns.keys import Keys
from memoranda.book.nouns.memories import Memories
from memoranda.book.nouns.profiles import Profiles
from memoranda.book.nouns.records import Records
from memoranda.book.nouns.schemas import Schemas
from memoranda.book.nouns.threads import ThreadHandle, taken_up
from memoranda.book.own_work import OwnWork
from memoranda.book.record_ids import record_ids, thread_id, with_thread_id
from memoranda.book.services import OnDemand, Services
from memoranda.book.verb_fields import spelled_out
from memoranda.door import Door
from memoranda.errors import InvalidInput
from memoranda.formation.bound_profiles import BoundProfiles
from memoranda.formation.who_forms import WhoForms
from memoranda.model.changes import OpenThread
from memoranda.model.forming_results import FormingReport
from memoranda.model.memories import Memory
from memoranda.model.messages import Thread
from memoranda.model.profiles import Agent, Key
from memoranda.model.query import Hit, Hits
from memoranda.model.records import PASSAGE_TYPES, Audience, Owner, RecordType, those_of
from memoranda.model.service_records import CALLER
from memoranda.model.values import new_id
from memoranda.operations import Awaited, Part, Role, W, no_offer, offer, top
from memoranda.ports import Engine, Finder, Models
from memoranda.recall.context.result import Context
from memoranda.secrets.masks import masked_hits
from memoranda.secrets.modes import SecretsMode
from memoranda.text.token_count import Count
from memoranda.worker import Worker

#: Of a recall the first ones count as used; not in the modes that list, whatever is asked.
_USED_OF_RECALL = 5
_LISTING = frozenset({"recent", "most_used"})
#: How long closing waits for the job in hand, and then for its end once it is cancelled: it stays
#: for later.
_LAST_JOB_SECONDS = 10.0


@spelled_out
class BookOperations(Part[W]):
    """The operations of a book itself; those of its parts are theirs."""

    engine: Engine
    door: Door
    tenant: str
    memories: Memories[W]
    records: Records[W]
    forgetting: Forgetting[W]
    finder: Finder
    _services: Services
    _contexts: Contexts

    remember = top("memories", Memories.remember)
    update = top("memories", Memories.update)
    undo = top("memories", Memories.undo)
    about = top("records", Records.about)
    why = top("records", Records.why)
    forget = top("forgetting", Forgetting.forget)

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
        """Return the passages that best answer a query, best first, each with the reasons why it
        was found.

        ``mode`` is ``hybrid`` (words and meaning, as far as each is there), ``words`` or
        ``meaning``; ``recent``, the newest, or ``most_used``, the memories used most with one place
        in five for the newest, whatever the query. By meaning alone it is an error that there are
        no vectors to compare. ``at_least``, from 0 to 1, leaves out hits with less confidence.
        ``vector`` is the query's, made with the book's own embedding. ``offset`` leaves out the
        first hits. ``explain`` names ids; the answer's ``missing`` says why each is no hit, with
        True of what comes next. The first five memories are not archived by the nights to come, if
        the caller may write.
        """
        party, view = owner_named(owner, self.tenant), as_view(who)
        as_text(query, "query")
        wanted = PASSAGE_TYPES if types is None else as_types(types)
        assert wanted is not None
        if not wanted <= PASSAGE_TYPES:
            raise InvalidInput(
                "types: recall finds messages, memories, episodes and items", field="types"
            )
        chosen = as_mode_of_types(mode, wanted)
        why_not: tuple[UUID, ...] | None = () if explain is True else None
        if not isinstance(explain, bool):
            why_not = await record_ids(self.engine, party, view, explain, "explain")
        if only and names_records(only):
            only = await with_thread_id(self.engine, party, view, only)
        begin, most = as_offset(offset, as_limit(limit))
        maker = self._services.embeddings.maker
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
        if chosen in BY_MEANING and CALLER.get().writes:
            await self._services.embeddings.embed_new(party)
        found = await self._services.embeddings.search(find, query, asked, chosen)
        del found[:begin]
        if self.door.secrets != "keep":
            await masked_hits(found)
        if not found:
            await log_narrow_view(self.engine, party, view, filter, "recall")
        if CALLER.get().writes and mode not in _LISTING:
            first = [hit.record for hit in found[:_USED_OF_RECALL]]
            self.memories.uses.note_found(party, view, those_of(Memory, first))
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
        """Return the text that an agent should read before it answers, in at most ``budget`` tokens
        (2000), and its parts.

        Without a query, what was last said in the ``thread`` is the question. ``count`` counts
        tokens as the agent's model does; without it they are estimated. ``types`` and ``kinds``
        choose records and kinds of memories; ``time_zone`` adds the time. ``limit`` is the most
        hits and memories; without it, as many as the budget holds. The memories that are placed
        count as used, unless ``mark_used`` is False or a viewer asks. ``conversation=False`` leaves
        out the turns of the ``thread``, for a program that gives them to the model itself.
        ``vector`` is the query's, as ``recall`` takes it.
        """
        party, view = owner_named(owner, self.tenant), as_view(who)
        if query is None and vector is not None:
            raise InvalidInput(
                "vector: it needs the query it belongs to; give query, too", field="vector"
            )
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
            # What is placed counts as used, not what is found for it.
            before = CALLER.set(CALLER.get()._replace(writes=False))
            try:
                return await self.recall(
                    party, question, types=types, only=only, limit=most, vector=vector, **who
                )
            finally:
                CALLER.reset(before)

        with telemetry.span("context"):
            made, placed = await self._contexts.make(party, view, finding, request)
        telemetry.count("contexts")
        if as_flag(mark_used, "mark_used") and CALLER.get().writes:
            self.memories.uses.note(party, view, placed)
        return made

    @offer(Role.EDITOR, "POST /form", command="form")
    async def form(
        self, owner: str | Owner, *, wait: bool = True, **who: Unpack[Who]
    ) -> FormingReport:
        """Form now (turn into memories) what waits of an owner and this view sees; return what was
        made and left out.

        Each thread is formed here, or waited for where another worker has it. A thread that cannot
        be formed says why: it waits, was given up, or forming is off. ``wait=False`` only makes the
        threads due, for a worker or an open book.
        """
        party, waits = owner_named(owner, self._services.tenant), as_flag(wait, "wait")
        return await form_owner(self._services, party, as_view(who), wait=waits)


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
        retention: Retention,
    ) -> None:
        bound = BoundProfiles(engine, tenant)
        services = Services(
            engine, door, tenant, embeddings, forming, on_demand, bound, worker, who_forms
        )
        self.engine = engine
        self.door = door
        self.tenant = tenant
        self.forming = forming
        self.embeddings = embeddings
        self.worker = worker
        #: The settings of what is hidden before it is erased.
        self.forget_settings = forgetting
        self.finder = finder
        self._services = services
        self._models = models
        self._contexts = Contexts(services)
        backups = Backups(engine, door.clock, open_copy, on_erased)
        self.memories = Memories(services)
        self.records = Records(services, finder)
        self.forgetting = Forgetting(
            services, backups, self.recall, self.memories.retracting.hidden
        )
        self.profiles = Profiles(services)
        self.episodes = Episodes(services, self.recall)
        self.dreams = Dreams(services)
        self.items = Items(services, self.recall, finder)
        self.experience = Experience(services)
        self.agents = Agents(services, Agent)
        self.schemas = Schemas(services, self.records.list)
        self.keys = Keys(services, Key)
        #: What this process does beside the program.
        self.own_work = OwnWork(services, worker)
        self.jobs = Jobs(services, self.own_work)
        self.admin = Admin(
            services,
            Transfer(engine, door, tenant, forming),
            backups,
            on_erased,
            refresh_terms,
            retention,
        )

    # ── life ──────────────────────────────────────────────────────────────────────────────────────

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @no_offer("the service closes its book when it stops")
    async def close(self) -> None:
        """Close the book: finish the current job if it ends soon, finish all writes, and release
        files and connections.
        """
        self.embeddings.stop()
        tasks = [
            task for task in (self.own_work.stop(), self.embeddings.working) if task is not None
        ]
        self.embeddings.working = None
        try:
            # An event loop that has ended, or another thread's, never reports that the worker has
            # ended.
            if tasks and tasks[0].get_loop() is asyncio.get_running_loop():
                _, late = await asyncio.wait(tasks, timeout=_LAST_JOB_SECONDS)
                for task in late:
                    task.cancel()
                if late:
                    await asyncio.wait(late, timeout=_LAST_JOB_SECONDS)
            await self.memories.uses.settled()
            await self.own_work.tell_what_waits()
        finally:
            await self.engine.close()
            await self.embeddings.close()
            if self._models is not None:
                await self._models.close()

    @no_offer("memoranda serve and memoranda worker do jobs")
    def start_worker(self) -> None:
        """Start a worker in this process; it does background jobs until the book is closed."""
        self.own_work.start(self.worker)

    @property
    def forms_by_model(self) -> bool:
        """True if a language model forms memories from conversations; False if rules do."""
        return self._services.who_forms.by_model

    @property
    def cannot_form_because(self) -> str:
        """The reason why this process leaves threads to another one to form; empty if it forms them
        itself.
        """
        return self._services.who_forms.cannot_form_because

    @property
    def no_vectors_because(self) -> str:
        """The reason why recall compares no vectors; empty if it does."""
        return self.embeddings.no_vectors_because

    @property
    def secrets(self) -> SecretsMode:
        """The mode in which this book treats secrets: ``hide``, ``mask`` or ``keep``."""
        return self.door.secrets

    # ── threads ───────────────────────────────────────────────────────────────────────────────────

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
        """Create a thread, or open the one with this ``id``, or with this ``name`` that the
        application gave it.

        The name is your own id for the thread: ``id`` takes it too, and then no thread is created.
        """
        party, view = owner_named(owner, self.tenant), as_view(who)
        if id is not None:
            return await taken_up(self._services, party, id, view)
        if status not in ("created", "running"):
            raise InvalidInput(
                f"status: a new thread is created or running, not {status!r}", field="status"
            )
        readers = await self._services.audience_of(audience, view)
        fields = {
            "name": name,
            "title": title,
            "status": status,
            "tags": as_names(tags, "tags"),
            "agent": view.agent,
            # A field that is not given is no part of the request, so requests of before have the
            # same digest.
            **({} if expires_at is None else {"expires_at": expires_at}),
        }
        now = self.door.clock()
        late = {
            "expires_at": self.door.limits.thread_expiry(now),
            "started_at": now,
            "owner": party,
        }
        made = each(
            [fields], "thread", lambda d: Thread(id=new_id(), audience=readers, **{**late, **d})
        )[0]
        receipt = await self._services.write(
            party, view, [OpenThread(made)], ["thread", fields, str(readers)], operation
        )
        if receipt.items:
            # The last one: an expired thread may have lost its name to it.
            return ThreadHandle(self._services, party, receipt.items[-1].id, view, view.agent)
        there = receipt.ignored[0].id
        assert there is not None
        return await taken_up(self._services, party, there, view)
