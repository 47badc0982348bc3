"""A plugin of pytest that runs the tests of LangGraph's own stores against a book: each store they
make is a fresh one.

It runs in a process of its own, in the folder of an unpacked source archive. ``UPSTREAM_ENGINE`` is
``memory``, ``sqlite``, or the address of a PostgreSQL database; ``UPSTREAM_RESULTS`` is the file
for the outcomes. Sleeping moves the book's clock and takes no time.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import langgraph.store.memory
import psycopg
import pytest

try:
    import langgraph.store.postgres
    import langgraph.store.sqlite
    import langgraph.store.sqlite.aio
except ImportError:
    raise SystemExit("langgraph-checkpoint-sqlite and -postgres are not installed") from None

import memoranda
from memoranda.integrations.langgraph import LangChainEmbedder, MemorandaStore
from memoranda.model.query import Filter
from memoranda.model.records import WITH_EXPIRED, RecordType

ENGINE = os.environ["UPSTREAM_ENGINE"]
RESULTS = Path(os.environ["UPSTREAM_RESULTS"])
_FOLDER = tempfile.TemporaryDirectory(prefix="memoranda-upstream-")
_NUMBERS = itertools.count()


class Clock:
    """The present, moved on by every sleep."""

    slept = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.slept

    def sleep(self, seconds: float) -> None:
        """Move on, as a sleeping program finds the clock."""
        self.slept += timedelta(seconds=seconds)


CLOCK = Clock()


def _address() -> str:
    """Return the address of a book that is not there yet."""
    if ENGINE == "memory":
        return "memory://"
    if ENGINE == "sqlite":
        return str(Path(_FOLDER.name, f"{next(_NUMBERS)}.db"))
    return f"{ENGINE}{'&' if '?' in ENGINE else '?'}schema=upstream_{os.getpid()}_{next(_NUMBERS)}"


def _opening(index: Any) -> dict[str, Any]:
    embed = None if index is None else LangChainEmbedder(index["embed"], index["dims"])
    return {"clock": CLOCK, "worker": False, "embed": embed, "models": None}


def _owner_of(_namespace: tuple[str, ...]) -> str:
    """Return the one owner of everything: these tests have no tenants."""
    return "everybody"


class _Tools:
    """Calls of LangGraph's own stores that a book does not need, and the age of rows."""

    ttl_config: Any

    @property
    def MIGRATIONS(self) -> list[Any]:  # noqa: N802 - their name
        return []

    @MIGRATIONS.setter
    def MIGRATIONS(self, _: Any) -> None:  # noqa: N802
        """Take the statements that a fixture changes, and do nothing with them."""

    def start_ttl_sweeper(self, *_: Any) -> Any:
        return _Nothing()

    def stop_ttl_sweeper(self, *_: Any, **__: Any) -> Any:
        return _Nothing()

    def setup(self) -> Any:
        return _Nothing()

    def _cursor(self) -> Any:
        return _Cursor()


class _Nothing:
    """A result that may be awaited, and holds nothing."""

    def __await__(self) -> Iterator[Any]:
        return iter(())


class _Cursor:
    """A cursor that takes the statement by which a fixture drops a table of LangGraph's own, and no
    other.
    """

    def execute(self, text: str, *_: Any) -> Any:
        assert text.startswith("DROP TABLE IF EXISTS store_migrations"), "a book has no such table"
        return _Nothing()

    def __enter__(self) -> _Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> _Cursor:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class SyncStore(_Tools, MemorandaStore):
    """A book under the names of LangGraph's synchronous stores."""

    def __init__(self, *, index: Any = None, ttl: Any = None) -> None:
        self._opened = memoranda.open_sync(_address(), **_opening(index))
        super().__init__(self._opened, owner_of=_owner_of, index=index, ttl=ttl)

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, _conn: str, *, index: Any = None, ttl: Any = None, **_: Any
    ) -> Iterator[Any]:
        store = cls(index=index, ttl=ttl)
        try:
            yield store
        finally:
            store._opened.close()


class AsyncStore(_Tools, MemorandaStore):
    """A book under the names of LangGraph's asynchronous stores."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, _conn: str, *, index: Any = None, ttl: Any = None, **_: Any
    ) -> AsyncIterator[Any]:
        async with memoranda.open(_address(), **_opening(index)) as book:
            yield cls(book, owner_of=_owner_of, index=index, ttl=ttl)

    def sweep_ttl(self) -> Any:
        """Sweep as LangGraph's asynchronous stores do: the call is awaited."""
        return self.asweep_ttl()


# ── the age of rows, which these tests read and change by SQL ─────────────────────────────────────


async def _expire(store: Any, namespace: tuple[str, ...], key: str) -> None:
    item = await store.aget(namespace, key, refresh_ttl=False)
    await store.aput(namespace, key, item.value, ttl=1 / 60)
    CLOCK.sleep(1.01)


async def _row(store: Any, namespace: tuple[str, ...], key: str) -> Any:
    async def find() -> Any:
        book = store._home.book
        owner = (await book.admin.owners())[0]
        only = Filter(types=frozenset({RecordType.ITEM}))
        page = await book.engine.scan(owner, WITH_EXPIRED, only, None, 1000)
        return next(
            (one for one in page.records if (one.namespace, one.name) == (namespace, key)), None
        )

    return await store._home.run(find())


async def _exists(store: Any, namespace: tuple[str, ...], key: str) -> bool:
    return await _row(store, namespace, key) is not None


async def _expiry(store: Any, namespace: tuple[str, ...], key: str) -> Any:
    return (await _row(store, namespace, key)).expires_at


def _waiting(work: Any) -> Any:
    return lambda store, *of: asyncio.run_coroutine_threadsafe(
        work(store, *of), store._loop
    ).result()


_AGES = {"expire_now": _expire, "row_exists": _exists, "stored_expires_at": _expiry}


class _Slept:
    """A module whose ``sleep`` moves the clock."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def sleep(self, seconds: float) -> Any:
        CLOCK.sleep(seconds)
        return self._module.sleep(min(seconds, 0.01))


class _Connection:
    """A connection to a server that is not asked anything."""

    def __class_getitem__(cls, _: Any) -> Any:
        return cls

    @classmethod
    def connect(cls, *_: Any, **__: Any) -> _Connection:
        return cls()

    def execute(self, *_: Any) -> Any:
        return _Nothing()

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> _Connection:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def __await__(self) -> Any:
        yield from ()
        return self


psycopg.Connection = _Connection
psycopg.AsyncConnection = _Connection
langgraph.store.memory.InMemoryStore = SyncStore
langgraph.store.sqlite.SqliteStore = SyncStore
langgraph.store.sqlite.AsyncSqliteStore = AsyncStore
langgraph.store.sqlite.aio.AsyncSqliteStore = AsyncStore
langgraph.store.postgres.PostgresStore = SyncStore
langgraph.store.postgres.AsyncPostgresStore = AsyncStore
_outcomes: dict[str, str] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests' modules a clock that sleeping moves, and ways to read and change the age of
    items.
    """
    modules: set[Any] = {getattr(item, "module", None) for item in items} - {None}
    for module in modules:
        if hasattr(module, "time"):
            module.time = _Slept(time)
        if hasattr(module, "asyncio"):
            module.asyncio = _Slept(asyncio)
        for name, work in _AGES.items():
            if hasattr(module, f"_{name}"):
                setattr(module, f"_{name}", _waiting(work))
            if hasattr(module, f"_a{name}"):
                setattr(module, f"_a{name}", work)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the outcome of each case: the worst of its setup, call and teardown."""
    if report.failed:
        _outcomes[report.nodeid] = "failed"
    elif report.when == "call" or report.skipped:
        _outcomes.setdefault(report.nodeid, report.outcome)


def pytest_sessionfinish() -> None:
    """Write the outcomes."""
    RESULTS.write_text(json.dumps(_outcomes))
    _FOLDER.cleanup()
