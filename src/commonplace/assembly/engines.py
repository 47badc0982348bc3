"""Which engine is behind an address; the only file that knows engines."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from commonplace.engines.inmemory import InMemoryEngine
from commonplace.engines.sqlite.engine import SqliteEngine
from commonplace.errors import InvalidInput
from commonplace.model.moving import unfinished as refuse_unfinished
from commonplace.ports import Engine


async def open_engine(
    address: str | Path, *, create: bool = True, read_only: bool = False, unfinished: bool = False
) -> Engine:
    """The engine behind an address; one that a copy has not ended is ``unfinished``, and refused where none is wanted."""
    engine = await _open_engine(address, create=create, read_only=read_only)
    try:
        arrival = None if unfinished else (await engine.whereabouts()).arrival
        if arrival is not None:
            raise refuse_unfinished(arrival)
    except BaseException:
        await engine.close()
        raise
    return engine


async def _open_engine(address: str | Path, *, create: bool, read_only: bool) -> Engine:
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
    if parts.scheme in ("postgresql", "postgres"):
        return await _postgres_at(url, create=create, read_only=read_only)
    if parts.scheme == "sqlite":
        if "?" in url or "#" in url:
            raise _refused("sqlite:/// takes a path and nothing more; write ? as %3F and # as %23 in it")
        if not parts.netloc and len(parts.path) > 1:
            return await SqliteEngine.open(Path(unquote(parts.path[1:])), create=create, read_only=read_only)
    raise _refused(f"{parts.scheme}:// names no engine here; give {_ADDRESSES}")


async def _postgres_at(url: str, *, create: bool, read_only: bool) -> Engine:
    try:
        # Only a book on a server needs the driver.
        from commonplace.engines.postgres.engine import PostgresEngine  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        if exc.name != "asyncpg":
            raise
        raise _refused("a book on PostgreSQL needs its driver: pip install 'commonplace[postgres]'") from exc
    return await PostgresEngine.open(url, create=create, read_only=read_only)


_ADDRESSES = "a path, sqlite:///path, postgresql://user@host/database or memory://"


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"address: {why}", field="address")
