"""Addresses of books: reads each address, and opens the engine it names; only this module imports
engines.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from memoranda.engines.mongo.server.address import SCHEMES as MONGO_SCHEMES
from memoranda.engines.mongo.server.address import parse as mongo_place
from memoranda.engines.postgres.server.address import ESCAPES
from memoranda.engines.postgres.server.address import parse as server_place
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.errors import InvalidInput, installing
from memoranda.model.book_rows import Whereabouts
from memoranda.model.book_rows import unfinished as refuse_unfinished
from memoranda.ports import Engine

if TYPE_CHECKING:
    from memoranda.engines.inmemory import InMemoryEngine

#: The address of every book in memory.
MEMORY = "memory://"


async def open_engine(
    address: str | Path, *, create: bool = True, read_only: bool = False, unfinished: bool = False
) -> Engine:
    """Open the engine behind an address; the target of an unfinished copy opens only if
    ``unfinished`` is True.
    """
    if unfinished:
        return await _open_engine(address, create=create, read_only=read_only)
    return (await find_book(address, create=create, read_only=read_only))[0]


async def find_book(
    address: str | Path, *, create: bool = True, read_only: bool = False
) -> tuple[Engine, Whereabouts]:
    """Open the engine behind an address; return it with the marks of the book's move, if there are
    any.
    """
    engine = await _open_engine(address, create=create, read_only=read_only)
    try:
        found = await engine.whereabouts()
        if found.arrival is not None:
            raise refuse_unfinished(found.arrival)
    except BaseException:
        await engine.close()
        raise
    return engine, found


def read_address(address: str | Path) -> Path | str:
    """Return what an address means: a file's path, ``MEMORY``, or a server's address unchanged."""
    if isinstance(address, Path):
        return address
    if not isinstance(address, str) or not address:
        raise _refused(f"give {_ADDRESSES}, not {address!r}")
    if address in (":memory:", "memory:"):
        raise _refused(
            f"{address} would be the name of a file; for a book in memory give memory://"
        )
    return _read_url(address) if "://" in address else Path(address)


def name_of(address: str | Path) -> str:
    """Return how the engine behind an address names the place of the book, without opening the
    book.
    """
    where = read_address(address)
    if isinstance(where, Path):
        if "\0" in str(where):
            raise _refused("a path must not contain a NUL character")
        return str(where.resolve())
    if where == MEMORY:
        return _in_memory().address
    return (mongo_place if _is_mongo(where) else server_place)(where).name


def _is_mongo(url: str) -> bool:
    return url.partition("://")[0].strip().lower() in MONGO_SCHEMES


def _read_url(url: str) -> Path | str:
    if _is_mongo(url) or url.partition("://")[0].strip().lower() in ("postgresql", "postgres"):
        # Its engine reads it; not every version of ``urlsplit`` reads an address of several hosts.
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        # Neither the parser's message nor the address is shown: both may contain a password.
        raise _refused(f"it is not a valid URL; {ESCAPES}") from None
    if parts.scheme == "memory":
        if url.lower() != MEMORY:
            raise _refused("a book in memory has no name: give memory://")
        return MEMORY
    if parts.scheme == "sqlite":
        if "?" in url or "#" in url:
            raise _refused("sqlite:/// takes only a path; write ? as %3F and # as %23 in it")
        if not parts.netloc and len(parts.path) > 1:
            return Path(unquote(parts.path[1:]))
    raise _refused(f"{parts.scheme}:// names no engine; give {_ADDRESSES}")


async def _open_engine(address: str | Path, *, create: bool, read_only: bool) -> Engine:
    where = read_address(address)
    if isinstance(where, Path):
        return await SqliteEngine.open(where, create=create, read_only=read_only)
    if where != MEMORY:
        return await (_mongo_at if _is_mongo(where) else _postgres_at)(
            where, create=create, read_only=read_only
        )
    if read_only or not create:
        raise _refused(
            "a book in memory is always new, so it cannot be opened with read_only=True or create=False"
        )
    return _in_memory()()


def _in_memory() -> type[InMemoryEngine]:
    # Most books are files, and programs should start soon.
    from memoranda.engines.inmemory import InMemoryEngine  # noqa: PLC0415

    return InMemoryEngine


async def _postgres_at(url: str, *, create: bool, read_only: bool) -> Engine:
    try:
        # The driver is imported only for a book on a server.
        from memoranda.engines.postgres.engine import PostgresEngine  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        if exc.name != "asyncpg":
            raise
        raise _refused(f"a book on PostgreSQL needs its driver: {installing('postgres')}") from exc
    return await PostgresEngine.open(url, create=create, read_only=read_only)


async def _mongo_at(url: str, *, create: bool, read_only: bool) -> Engine:
    try:
        # The driver is imported only for a book on a server.
        from memoranda.engines.mongo.engine import MongoEngine  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        if exc.name not in ("pymongo", "bson"):
            raise
        raise _refused(f"a book on MongoDB needs its driver: {installing('mongodb')}") from exc
    return await MongoEngine.open(url, create=create, read_only=read_only)


_ADDRESSES = (
    "a path, sqlite:///path, postgresql://user@host/database, mongodb://host/database or memory://"
)


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"address: {why}", field="address")
