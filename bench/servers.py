"""Books on a server: facts about the server, the size of a book there, and dropping it again."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_SIZES = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint,
    coalesce(sum(pg_total_relation_size(c.oid)) FILTER (WHERE c.relname ~ '^ledger(_[0-9]+)?$'), 0)::bigint
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'
"""
_OWN = ("schema", "partitions")


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
        whole, ledger = await connection.fetchrow(_SIZES, dict(parse_qsl(urlsplit(url).query))["schema"])
        return whole, ledger
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
    return await import_module("asyncpg").connect(urlunsplit(parts._replace(query=urlencode(query))))
