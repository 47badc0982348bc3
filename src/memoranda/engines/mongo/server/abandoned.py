"""Ends the transactions of programs that were killed, which the server would keep for a minute with
all that they wrote.

A transaction is abandoned if nothing was asked in it for some seconds. One that may think for
longer between two commands, an erasure or an import, announces itself: nobody ends it while its
program says that it goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

import pymongo
from pymongo.errors import PyMongoError

#: The name of a book's connections in the server's own lists.
APPLICATION = "memoranda"
#: Seconds in which nothing was asked.
IDLE_SECONDS = 3.0
#: Seconds for which an announcement is believed, and after which it is renewed.
_BELIEVED_SECONDS, _TOLD_SECONDS = 60, 10

_UNTIL: Any = {"$add": ["$$NOW", _BELIEVED_SECONDS * 1000]}


async def end_abandoned(client: Any, db: Any, seconds: float) -> None:
    """End abandoned transactions, if that takes no longer than so many seconds; a program that goes
    on with one begins it anew.
    """
    idle: Any = {
        "type": "idleSession",
        "appName": APPLICATION,
        "transaction.timeInactiveMicros": {"$gt": IDLE_SECONDS * 1e6},
    }
    stages: list[dict[str, Any]] = [
        {"$currentOp": {"idleSessions": True, "allUsers": False}},
        {"$match": idle},
    ]
    with suppress(PyMongoError), pymongo.timeout(seconds):
        goes_on = {"session": {"$exists": True}, "$expr": {"$gt": ["$until", "$$NOW"]}}
        announced = {bytes(doc["session"]) async for doc in db.gates.find(goes_on)}
        found = [doc["lsid"] async for doc in await client.admin.aggregate(stages)]
        if left := [lsid for lsid in found if _id_of(lsid) not in announced]:
            await client.admin.command("killSessions", left)


@asynccontextmanager
async def announced(db: Any, session: Any) -> AsyncIterator[None]:
    """Say that the transaction of a session goes on, however long nothing is asked in it."""
    key = {"_id": f"long {uuid4().hex}"}
    told = [{"$set": {"session": _id_of(session.session_id), "until": _UNTIL}}]
    await db.gates.update_one(key, told, upsert=True)

    async def tell() -> None:
        while True:
            await asyncio.sleep(_TOLD_SECONDS)
            with suppress(PyMongoError):
                await db.gates.update_one(key, told)

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling
        with suppress(PyMongoError):
            await db.gates.delete_one(key)


def _id_of(lsid: Any) -> bytes:
    """Return the bytes of a session's id, however it was decoded."""
    id = lsid["id"]
    return id.bytes if hasattr(id, "bytes") else bytes(id)
