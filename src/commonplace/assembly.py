"""Wires a book: settings, engine, door, recall and worker; the only file that knows engines."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import Field, ValidationError

from commonplace.book import Book
from commonplace.door import Door, pack_terms
from commonplace.engines.inmemory import InMemoryEngine
from commonplace.engines.sqlite.engine import SqliteEngine
from commonplace.errors import InvalidInput
from commonplace.model.jobs import Job, JobDraft
from commonplace.model.owner import DEFAULT_TENANT, Owner
from commonplace.model.trust import Limits
from commonplace.model.values import Value, refused, utc_now
from commonplace.ports import Clock, Engine
from commonplace.recall.recall import INDEX_BYTES, Recall
from commonplace.settings import read_file, settings
from commonplace.text.terms import RULE
from commonplace.worker import Handler, NotYet, Worker

#: Passages whose terms are made anew in one step.
_TERMS_STEP = 500


class RecallSettings(Value):
    """How much recall may hold."""

    index_bytes: int = Field(default=INDEX_BYTES, ge=1_048_576)


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
    worker: bool = False,
    create: bool = True,
    read_only: bool = False,
    clock: Clock = utc_now,
) -> Opening:
    """Open a book: a file's path, ``sqlite:///path`` or ``memory://``.

    ``limits`` are the guardrails; without them those of the ``config`` file and the environment hold. ``worker`` runs
    the book's upkeep in this process.
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
    )


async def _open(
    *,
    address: str | Path,
    tenant: str,
    limits: Limits | None,
    config: str | Path | None,
    worker: bool,
    create: bool,
    read_only: bool,
    clock: Clock,
) -> Book:
    try:
        Owner(tenant=tenant, id=tenant)
    except ValidationError as exc:
        raise refused(exc) from exc
    file = read_file(config) if config is not None else {}
    guardrails = limits or settings("limits", Limits, file)
    holding = settings("recall", RecallSettings, file)
    engine = await open_engine(address, create=create, read_only=read_only)
    finder = Recall(engine, engine, index_bytes=holding.index_bytes)
    book = Book(
        engine,
        Door(engine, guardrails, clock),
        finder,
        Worker(engine, upkeep(engine), clock),
        tenant=tenant,
        on_erased=finder.let_go,
        refresh_terms=lambda: refresh_terms(engine),
        open_copy=lambda path: open_engine(path, create=False),
    )
    if not read_only and await engine.stale_terms(RULE, 1):
        await engine.put(JobDraft(kind="terms", key=str(RULE)), clock())
    if worker:
        book.start_worker()
    return book


async def open_engine(address: str | Path, *, create: bool = True, read_only: bool = False) -> Engine:
    """The engine behind an address."""
    if isinstance(address, Path) or "://" not in address:
        return await SqliteEngine.open(Path(address), create=create, read_only=read_only)
    parts = urlsplit(address)
    if parts.scheme == "sqlite" and not parts.netloc and len(parts.path) > 1:
        return await SqliteEngine.open(Path(unquote(parts.path[1:])), create=create, read_only=read_only)
    if parts.scheme == "memory":
        return InMemoryEngine()
    raise InvalidInput(
        f"address: {parts.scheme}:// names no engine here; give a path, sqlite:///path or memory://",
        field="address",
    )


async def refresh_terms(engine: Engine) -> int:
    """Make the terms anew that another rule made; the old ones serve until theirs are there."""
    done = 0
    while stale := await engine.stale_terms(RULE, _TERMS_STEP):
        done += await engine.put_terms(RULE, {record.id: pack_terms(record) or b"" for record in stale})
    return done


def upkeep(engine: Engine) -> dict[str, Handler]:
    """What a worker does for the book itself."""

    async def scrub(job: Job) -> None:
        if not await engine.scrub():
            raise NotYet("another process is reading the book")

    async def terms(job: Job) -> None:
        await refresh_terms(engine)

    return {"scrub": scrub, "terms": terms}
