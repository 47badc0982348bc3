"""Facts about the server that a book's safety depends on."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from pymongo.errors import PyMongoError

from memoranda.engines.mongo.server.faults import from_server
from memoranda.engines.mongo.server.transactions import Transactions
from memoranda.engines.mongo.views import SETS, is_ours
from memoranda.model.server_facts import ReplicaFacts


async def examine(book: Transactions) -> ReplicaFacts:
    """Return the server's version, its members, and what it keeps of changes."""
    admin = book.client.admin
    try:
        started = time.perf_counter()
        hello = await admin.command("hello")
        seconds = time.perf_counter() - started
        version = str((await admin.command("buildInfo"))["version"])
    except PyMongoError as exc:
        raise from_server(exc, book.place) from exc
    return ReplicaFacts(
        version,
        hello.get("setName"),
        len(hello.get("hosts", ())) + len(hello.get("passives", ())),
        len(hello.get("arbiters", ())),
        await _oplog_hours(book),
        seconds,
        await _taken(book),
    )


async def _taken(book: Transactions) -> tuple[str, ...]:
    with suppress(PyMongoError):
        found = {one["name"]: one async for one in await book.db.list_collections()}
        return tuple(name for name in SETS[""] if name in found and not is_ours(found[name], name))
    return ()


async def _oplog_hours(book: Transactions) -> float | None:
    oplog: Any = book.client["local"]["oplog.rs"]
    with suppress(PyMongoError):
        first, last = [
            await oplog.find_one({}, {"ts": 1}, sort=[("$natural", way)]) for way in (1, -1)
        ]
        if first is not None and last is not None:
            return float(last["ts"].time - first["ts"].time) / 3600
    return None
