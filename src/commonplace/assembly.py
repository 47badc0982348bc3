"""Wires a book: settings, engine, door, recall and worker; the only file that knows engines."""

from __future__ import annotations

import logging
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import Field, ValidationError

from commonplace.book import Book
from commonplace.book.backups import NOTE, note_erasure
from commonplace.book.meaning import Meaning
from commonplace.door import Door, pack_terms
from commonplace.embedding import AUTO, EmbeddingSettings, Maker, Missing, find
from commonplace.engines.inmemory import InMemoryEngine
from commonplace.engines.sqlite.engine import SqliteEngine
from commonplace.errors import Busy, InvalidInput
from commonplace.model.jobs import Job, JobDraft
from commonplace.model.owner import DEFAULT_TENANT, Owner
from commonplace.model.trust import Limits
from commonplace.model.values import Value, refused, utc_now
from commonplace.model.vectors import EMBED, embed_job
from commonplace.ports import Clock, Embedder, Engine
from commonplace.recall.recall import INDEX_BYTES, Recall
from commonplace.settings import read_file, settings
from commonplace.text.terms import RULE, forget_words
from commonplace.worker import Handler, Worker

#: Passages whose terms are made anew in one step.
_TERMS_STEP = 500
#: Between tries to clear the file while another process reads it.
_SCRUB_SECONDS = 5.0
#: Before work for another embedder is looked at again.
_OTHERS_SECONDS = 60.0


_log = logging.getLogger("commonplace.embedding")


class RecallSettings(Value):
    """How much recall may hold."""

    index_bytes: int = Field(default=INDEX_BYTES, ge=1_048_576)


#: The sections that a settings file may have.
_SECTIONS = frozenset({"embedding", "limits", "recall"})


class Opening:
    """A book that is being opened: ``await`` it, or enter it with ``async with``."""

    def __init__(self, **how: Any) -> None:
        self._how = how
        self._book: Book | None = None

    def __await__(self) -> Generator[Any, None, Book]:
        return _open(**self._how).__await__()

    async def __aenter__(self) -> Book:
        self._book = await _open(**self._how)
        return self._book

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._book is not None:
            await self._book.close()


def open(
    address: str | Path = "commonplace.db",
    *,
    tenant: str = DEFAULT_TENANT,
    limits: Limits | None = None,
    config: str | Path | None = None,
    worker: bool | None = None,
    create: bool = True,
    read_only: bool = False,
    clock: Clock = utc_now,
    embed: Any = AUTO,
) -> Opening:
    """Open a book: a file's path, ``sqlite:///path`` or ``memory://``.

    ``limits`` are the guardrails; without them those of the ``config`` file and the environment hold. ``worker``: True
    runs the book's upkeep in this process, False none of it; left out, it makes vectors of what is stored, and no more.
    ``embed`` says what makes vectors: ``"auto"``, what the settings name, else the local model where it is installed,
    else none; None, words alone; a folder with the model's files; ``"provider:model"``; or an embedder.
    """
    return Opening(
        address=address,
        tenant=tenant,
        limits=limits,
        config=config,
        worker=worker,
        create=create,
        read_only=read_only,
        clock=clock,
        embed=embed,
    )


async def _open(
    *,
    address: str | Path,
    tenant: str,
    limits: Limits | None,
    config: str | Path | None,
    worker: bool | None,
    create: bool,
    read_only: bool,
    clock: Clock,
    embed: Any,
) -> Book:
    try:
        Owner(tenant=tenant, id=tenant)
    except ValidationError as exc:
        raise refused(exc) from exc
    if limits is not None and not isinstance(limits, Limits):
        raise InvalidInput(f"limits: give Limits, not {type(limits).__name__}", field="limits")
    file = read_file(config, _SECTIONS) if config is not None else {}
    guardrails = settings("limits", Limits, file) if limits is None else limits
    holding = settings("recall", RecallSettings, file)
    if worker and read_only:
        raise InvalidInput("worker: a book that is opened to be read only does no upkeep", field="worker")
    embedder = await find(embed, settings("embedding", EmbeddingSettings, file))
    engine = await open_engine(address, create=create, read_only=read_only)
    maker = None if isinstance(embedder, Missing) else Maker(engine, embedder)
    try:
        if not read_only and await engine.stale_terms(RULE, 1):
            await engine.put(JobDraft(kind="terms", key=str(RULE)), clock())
        if maker is not None:
            await _begin(maker, engine, clock, read_only=read_only)
        why_words = await _why_words(embedder, engine)
    except BaseException:
        await engine.close()
        raise

    def forget() -> None:
        forget_words()
        if not isinstance(embedder, Missing):
            embedder.let_go()

    finder = Recall(engine, index_bytes=holding.index_bytes, forget=forget)
    embedding = None if maker is None else {EMBED: _embedding(engine, clock, maker)}
    making = None if embedding is None or read_only else Worker(engine, embedding, clock)
    meaning = Meaning(engine, maker, making, why_words=why_words)

    book = Book(
        engine,
        Door(engine, guardrails, clock),
        finder,
        Worker(engine, upkeep(engine, clock, maker), clock),
        tenant=tenant,
        meaning=meaning,
        on_erased=finder.let_go,
        refresh_terms=lambda: refresh_terms(engine),
        open_copy=lambda path: open_engine(path, create=False),
    )
    if worker:
        book.start_worker()
    elif worker is None:
        # What is written here becomes vectors here, even where nobody runs the book's other upkeep.
        meaning.start()
    return book


async def _begin(maker: Maker, engine: Engine, clock: Clock, *, read_only: bool) -> None:
    """Begin a book's first set, and make due what lacks in it, where it may be written."""
    if read_only:
        return
    sets = await engine.vector_sets() or [await engine.begin_set(maker.embedding)]
    if sets[0].name == maker.embedding.name and await engine.lacking(maker.embedding, 1):
        await engine.put(embed_job(maker.embedding.name), clock())


async def _why_words(embedder: Embedder | Missing, engine: Engine) -> str:
    """Why recall goes by words alone, which the log tells; empty where it goes by meaning too."""
    sets = await engine.vector_sets()
    if isinstance(embedder, Missing):
        # A book with vectors was meant to be found by meaning, too.
        level = logging.WARNING if embedder.failed or (sets and not embedder.asked) else logging.INFO
        _log.log(level, "recall goes by words alone: %s", embedder.reason)
        return embedder.reason
    name = embedder.embedding.name
    if not sets or sets[0].name == name:
        _log.info("recall goes by words and by meaning, with %s", name)
        return ""
    why = f"recall reads vectors of {sets[0].name}, not of {name}; run: commonplace reembed"
    _log.warning("recall goes by words alone: %s", why)
    return why


async def open_engine(address: str | Path, *, create: bool = True, read_only: bool = False) -> Engine:
    """The engine behind an address."""
    if isinstance(address, Path):
        return await SqliteEngine.open(address, create=create, read_only=read_only)
    if not isinstance(address, str) or not address:
        raise _refused(f"give {_ADDRESSES}, not {address!r}")
    if address in (":memory:", "memory:"):
        raise _refused(f"{address} would be a file of that name; a book in memory is memory://")
    if "://" not in address:
        return await SqliteEngine.open(Path(address), create=create, read_only=read_only)
    return await _engine_at(address, create=create, read_only=read_only)


async def _engine_at(url: str, *, create: bool, read_only: bool) -> Engine:
    try:
        parts = urlsplit(url)
    except ValueError as exc:
        raise _refused(f"{url} cannot be read: {exc}") from exc
    if parts.scheme == "memory":
        if url.lower() != "memory://":
            raise _refused("a book in memory has no name; give memory://")
        if read_only or not create:
            raise _refused("a book in memory is always new and empty: there is none to be only read or found")
        return InMemoryEngine()
    if parts.scheme == "sqlite":
        if "?" in url or "#" in url:
            raise _refused("sqlite:/// takes a path and nothing more; write ? as %3F and # as %23 in it")
        if not parts.netloc and len(parts.path) > 1:
            return await SqliteEngine.open(Path(unquote(parts.path[1:])), create=create, read_only=read_only)
    raise _refused(f"{parts.scheme}:// names no engine here; give {_ADDRESSES}")


_ADDRESSES = "a path, sqlite:///path or memory://"


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"address: {why}", field="address")


async def refresh_terms(engine: Engine) -> int:
    """Make the terms anew that another rule made; the old ones serve until theirs are there."""
    done = 0
    while stale := await engine.stale_terms(RULE, _TERMS_STEP):
        done += await engine.put_terms(RULE, {record.id: pack_terms(record) or b"" for record in stale})
    return done


def _embedding(engine: Engine, clock: Clock, maker: Maker) -> Handler:
    async def embed(job: Job) -> None:
        if job.key == maker.embedding.name:
            await maker.catch_up()
        else:
            # Another embedding's: whoever has that one takes it.
            await engine.put(JobDraft(kind=job.kind, key=job.key, delay=_OTHERS_SECONDS), clock())

    return embed


def upkeep(engine: Engine, clock: Clock, maker: Maker | None = None) -> dict[str, Handler]:
    """What a worker does for the book itself."""

    async def scrub(job: Job) -> None:
        try:
            clear = await engine.scrub()
        except Busy:
            clear = False
        if not clear:
            # Another process has the file. Put again, it waits anew, and no failure is counted.
            await engine.put(JobDraft(kind=job.kind, key=job.key, delay=_SCRUB_SECONDS), clock())

    async def terms(job: Job) -> None:
        await refresh_terms(engine)

    async def note(job: Job) -> None:
        await note_erasure(engine, job)

    handlers: dict[str, Handler] = {"scrub": scrub, "terms": terms, NOTE: note}
    return handlers if maker is None else {**handlers, EMBED: _embedding(engine, clock, maker)}
