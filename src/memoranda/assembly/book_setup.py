"""Opening of a book: reads the settings and connects engine, door, recall, models and workers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import Field, ValidationError

from memoranda.assembly.engine_addresses import find_book, open_engine
from memoranda.assembly.job_handlers import embedding, refresh_terms, upkeep
from memoranda.book import Book
from memoranda.book.admin.retention import RETAIN, Retention, expiring, first_retention, retaining
from memoranda.book.agent_settings import SharingSettings
from memoranda.book.dream.dream_settings import DreamSettings
from memoranda.book.dream.schedule import NIGHT, next_night, nights
from memoranda.book.embeddings import Embeddings
from memoranda.book.forgetting.decisions import ForgetSettings, finishing
from memoranda.book.forming_jobs import FORMATION_JOBS, Forming
from memoranda.book.services import OnDemand
from memoranda.door import Door
from memoranda.embedding import (
    AUTO,
    CachedEmbedder,
    EmbeddingSettings,
    NoEmbedder,
    VectorMaker,
    find,
)
from memoranda.errors import InvalidInput, Moved
from memoranda.first_use import dataclass
from memoranda.formation.budget import Budgets
from memoranda.formation.formation_settings import FormingSettings
from memoranda.formation.who_forms import WhoForms
from memoranda.model.changes import FINISH_FORGETTING, MOST_JOBS, Job, JobDraft, JobState
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.model.messages import TaskSummary
from memoranda.model.records import Limits, Owner
from memoranda.model.values import EXPIRE, Value, refused, utc_now
from memoranda.model.vectors import EMBED, embed_job
from memoranda.models import NONE, ModelsSettings
from memoranda.models import find as find_models
from memoranda.ports import Clock, Embedder, Engine, Models, SearchesLargeShelves
from memoranda.recall.recall import INDEX_BYTES, LARGE_SHELF, Recall
from memoranda.secrets.modes import SecretsSettings
from memoranda.settings import read_file, refuse_unknown, settings
from memoranda.text.similarity import clear_similarity_caches
from memoranda.text.terms import RULE, forget_words
from memoranda.worker import Handler, Worker


def cache_clearer(embedder: CachedEmbedder | NoEmbedder) -> Callable[[], None]:
    """Return a function that clears every cache outside the engine, called after an erasure."""

    def forget() -> None:
        forget_words()
        clear_similarity_caches()
        if not isinstance(embedder, NoEmbedder):
            embedder.clear()

    return forget


#: An open book looks for jobs after so many seconds: the first calls of a program do not wait for
#: that.
_FIRST_LOOK_SECONDS = 0.05

_log = logging.getLogger("memoranda.embedding")


class RecallSettings(Value):
    """Limits of the memory (RAM) that recall uses."""

    index_bytes: int = Field(
        default=INDEX_BYTES,
        ge=1_048_576,
        description="Bytes of memory for all of recall's indexes together; the ones not read for longest are dropped first.",
    )
    large_shelf: int = Field(
        default=LARGE_SHELF,
        ge=100,
        description="From this number of passages with the same owner and readers on, PostgreSQL searches them, not this process.",
    )


@dataclass(frozen=True, slots=True)
class BookSettings:
    """The sections of a book's settings, each with its class, in the order of the reference."""

    limits: Limits
    embedding: EmbeddingSettings
    recall: RecallSettings
    forming: FormingSettings
    models: ModelsSettings
    budgets: Budgets
    sharing: SharingSettings
    secrets: SecretsSettings
    forget: ForgetSettings
    retention: Retention
    dream: DreamSettings


#: The sections that a settings file may have; a service reads its own.
SECTIONS = frozenset({*BookSettings.__annotations__, "service"})
#: Variables that belong to no section: of the command line, and of programs that open a service.
OTHER_VARIABLES = ("book", "debug", "key", "private_hosts")


async def open_here(
    *,
    address: str | Path,
    tenant: str,
    limits: Limits | None,
    config: str | Path | None,
    worker: bool | None,
    create: bool,
    read_only: bool,
    clock: Clock | None,
    embed: Any,
    models: Any,
    audience: str | None,
    secrets: str | None,
) -> Book:
    clock = clock or utc_now
    _refuse(address, tenant, limits, worker=worker, read_only=read_only)
    given = _given(config, limits, audience, secrets)
    asked = await _models_of(models, given.models)
    embedder = await find(embed, given.embedding)
    engine, found = await find_book(address, create=create, read_only=read_only)
    engine.clock = clock
    if isinstance(engine, SearchesLargeShelves):
        engine.large_shelves.threshold = given.recall.large_shelf
    # A book that is moving, or has moved, is read-only.
    read_only = read_only or found.departure is not None
    maker = None if isinstance(embedder, NoEmbedder) else VectorMaker(engine, embedder)
    who_forms = WhoForms(engine, tenant, asked, clock)
    try:
        if asked is not None or worker is not False:
            # A process without a model that does no jobs, such as most commands, is not told.
            await who_forms.compare()
        if not read_only:
            read_only = not await _put_jobs_unless_moving(engine, maker, given, clock)
        no_vectors_because = await _no_vectors_because(embedder, engine)
    except BaseException:
        await engine.close()
        raise
    book, by_itself = _book(
        engine, tenant, given, asked, embedder, maker, who_forms, clock, no_vectors_because
    )
    if read_only or worker is False:
        return book
    if worker:
        book.start_worker()
        return book
    # This process does the jobs of its own tenant, and computes the vectors of what it writes.
    start_working(book, by_itself)
    book.embeddings.start()
    return book


def start_working(book: Book, worker: Worker) -> None:
    """Let a book do jobs by itself; not at once, so that what only opens it and reads is not slowed
    down.
    """
    book.own_work.start(worker, delay=_FIRST_LOOK_SECONDS)


def _book(
    engine: Engine,
    tenant: str,
    given: BookSettings,
    models: Models | None,
    embedder: CachedEmbedder | NoEmbedder,
    maker: VectorMaker | None,
    who_forms: WhoForms,
    clock: Clock,
    no_vectors_because: str,
) -> tuple[Book, Worker]:
    """Connect a book's parts; return it with the worker that it runs by itself, for its own
    tenant.
    """
    finder = Recall(engine, index_bytes=given.recall.index_bytes, forget=cache_clearer(embedder))
    making = (
        None if maker is None else Worker(engine, {EMBED: embedding(engine, clock, maker)}, clock)
    )

    def former() -> Mapping[str, Handler]:
        # Formation is imported by the first job that needs it: most programs and commands open a
        # book without one.
        from memoranda.assembly.formation_setup import former_of, handlers, hiding_unkept  # noqa: PLC0415

        settings = (given.limits, given.forming, given.budgets, given.secrets.mode)
        former = former_of(engine, finder, maker, models, who_forms, *settings, tenant, clock)
        return handlers(former, hiding_unkept(engine, given.limits, clock, given.forget))

    work = {**upkeep(engine, clock, maker), **_when_needed(former, FORMATION_JOBS)}
    door = Door(engine, given.limits, clock, given.secrets.mode)
    work[RETAIN] = retaining(engine, door, tenant, given.retention)
    forming = Forming(engine, tenant, given.forming, given.sharing, given.limits, given.dream)
    work |= nights(engine, door, tenant, forming.of_agents.dreams)
    work |= {
        EXPIRE: expiring(engine, clock),
        FINISH_FORGETTING: finishing(engine, clock, finder.clear),
    }
    book = Book(
        engine,
        door,
        finder,
        Worker(
            engine,
            work,
            clock,
            asked_of=tenant,
            left=partial(who_forms.left, FORMATION_JOBS, whole=True),
        ),
        tenant=tenant,
        forming=forming,
        who_forms=who_forms,
        models=models,
        embeddings=Embeddings(engine, maker, making, no_vectors_because=no_vectors_because),
        on_erased=finder.clear,
        refresh_terms=lambda: refresh_terms(engine),
        open_copy=lambda path, create=False: open_engine(path, create=create),
        on_demand=OnDemand(
            _summarising(engine, finder, models, given, tenant, clock),
            None if models is None else _asking(engine, models, given, clock),
        ),
        forgetting=given.forget,
        retention=given.retention,
    )
    # Vectors have a worker of their own.
    own = {kind: handler for kind, handler in work.items() if kind != EMBED}
    left = partial(who_forms.left, FORMATION_JOBS, whole=False)
    return book, Worker(engine, own, clock, tenant=tenant, left=left, listens=False)


def _summarising(
    engine: Engine,
    finder: Recall,
    models: Models | None,
    given: BookSettings,
    tenant: str,
    clock: Clock,
) -> Callable[[Owner, UUID], Awaitable[TaskSummary]]:
    """Return the function that summarises a thread on demand; formation is imported by its first
    call.
    """

    async def summarise(owner: Owner, thread: UUID) -> TaskSummary:
        from memoranda.assembly.formation_setup import summaries_of  # noqa: PLC0415

        given_settings = (given.limits, given.forming, given.budgets, given.secrets.mode)
        made = summaries_of(engine, finder, models, *given_settings, tenant, clock)
        return await made.of(owner, thread)

    return summarise


def _asking(
    engine: Engine, models: Models, given: BookSettings, clock: Clock
) -> Callable[[Owner, ModelRequest], Awaitable[ModelAnswer]]:
    """Return the function that asks a model for a caller who waits; formation is imported by its
    first call.
    """

    async def ask(owner: Owner, request: ModelRequest) -> ModelAnswer:
        from memoranda.assembly.formation_setup import calls_of  # noqa: PLC0415

        return await calls_of(engine, models, given.budgets, clock).direct(owner, None, request)

    return ask


def _when_needed(
    make: Callable[[], Mapping[str, Handler]], kinds: Sequence[str]
) -> dict[str, Handler]:
    """Return handlers for jobs of these kinds that are made with the first job."""
    made: dict[str, Handler] = {}

    def handler(kind: str) -> Handler:
        async def handle(job: Job) -> None:
            if not made:
                made.update(await asyncio.to_thread(make))
            await made[kind](job)

        return handle

    return {kind: handler(kind) for kind in kinds}


async def _models_of(wish: Any, settings: ModelsSettings) -> Models | None:
    """Return the models that the caller or the settings name; in an OS thread, because the import
    may be slow.
    """
    if wish is None or wish == NONE:
        return None
    return await asyncio.to_thread(find_models, None if wish == AUTO else wish, settings)


def _refuse(
    address: str | Path, tenant: str, limits: Limits | None, *, worker: bool | None, read_only: bool
) -> None:
    """Check the arguments of ``open`` before anything is opened."""
    try:
        Owner(tenant=tenant, id=tenant)
    except ValidationError as exc:
        raise refused(exc) from exc
    if limits is not None and not isinstance(limits, Limits):
        raise InvalidInput(f"limits: give Limits, not {type(limits).__name__}", field="limits")
    if worker and read_only:
        raise InvalidInput(
            "worker: a book that is opened with read_only=True cannot run a worker; leave one of them out",
            field="worker",
        )


def _given(
    config: str | Path | None, limits: Limits | None, audience: str | None, secrets: str | None
) -> BookSettings:
    """Read the settings of the file and the environment; what the caller gives takes precedence."""
    refuse_unknown(SECTIONS, OTHER_VARIABLES)
    file = read_file(config, SECTIONS) if config is not None else {}
    return BookSettings(
        limits=settings("limits", Limits, file) if limits is None else limits,
        recall=settings("recall", RecallSettings, file),
        forming=settings("forming", FormingSettings, file),
        budgets=settings("budgets", Budgets, file),
        retention=settings("retention", Retention, file),
        models=settings("models", ModelsSettings, file),
        embedding=settings("embedding", EmbeddingSettings, file),
        sharing=settings("sharing", SharingSettings, file).preferring(audience),
        secrets=settings("secrets", SecretsSettings, file).preferring(secrets),
        forget=settings("forget", ForgetSettings, file),
        dream=settings("dream", DreamSettings, file),
    )


async def _job_exists(engine: Engine, kind: str) -> bool:
    """True if the book has a job of this kind, due or not."""
    return any(job.kind == kind for job in await engine.jobs(None, MOST_JOBS))


async def _put_jobs_unless_moving(
    engine: Engine, maker: VectorMaker | None, given: BookSettings, clock: Clock
) -> bool:
    """Add the jobs that this book needs; return False if the book has just begun to move."""
    try:
        await _put_jobs(engine, maker, given, clock)
    except Moved:
        return False
    return True


async def _put_jobs(
    engine: Engine, maker: VectorMaker | None, given: BookSettings, clock: Clock
) -> None:
    """Add the jobs that this book needs: refresh outdated search terms, the first retention and
    night, compute vectors.
    """
    if await engine.stale_terms(RULE, 1):
        await engine.put(JobDraft(kind="terms", key=str(RULE)), clock())
    if given.retention.removes and not await _job_exists(engine, RETAIN):
        await engine.put(first_retention(), clock())
    if given.dream.enabled and not await _job_exists(engine, NIGHT):
        await engine.put(next_night(None, given.dream, clock()), clock())
    for job in await engine.jobs(JobState.DEAD, MOST_JOBS):
        if job.kind == NIGHT:
            # A night that died would have put the next one.
            await engine.put(JobDraft(NIGHT, job.key, insists=True), clock())
    if maker is not None:
        sets = await engine.vector_sets() or [await engine.begin_set(maker.embedding)]
        if sets[0].name == maker.embedding.name and await engine.lacking(maker.embedding, 1):
            await engine.put(embed_job(maker.embedding.name), clock())


async def _no_vectors_because(embedder: Embedder | NoEmbedder, engine: Engine) -> str:
    """Log how recall searches; return why it uses words alone, or an empty text if it uses meaning
    too.
    """
    sets = await engine.vector_sets()
    if isinstance(embedder, NoEmbedder):
        # A book with vectors is expected to be searched by meaning, too.
        level = (
            logging.WARNING if embedder.failed or (sets and not embedder.asked) else logging.INFO
        )
        _log.log(level, "recall uses words alone: %s", embedder.reason)
        return embedder.reason
    name = embedder.embedding.name
    if not sets or sets[0].name == name:
        _log.info("recall uses words and meaning, with %s", name)
        return ""
    why = f"recall reads vectors of {sets[0].name}, not of {name}; run: memoranda reembed"
    _log.warning("recall uses words alone: %s", why)
    return why
