"""Writes collections anew while nobody else writes, and does not lose a write if the program that
does it is killed or stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from pymongo import IndexModel, UpdateOne
from pymongo.errors import PyMongoError

from memoranda.engines.mongo.server.session import Session
from memoranda.errors import StorageError

#: The field of the book that keeps writers out; it names who rewrites, and until when that is
#: believed.
MARK = "rewriting"
_BELIEVED_SECONDS, _TOLD_SECONDS = 60, 10
_ANEW = "_anew_"

_UNTIL: Any = {"$add": ["$$NOW", _BELIEVED_SECONDS * 1000]}


async def begin(on: Session, token: str) -> None:
    """Keep writers out; in a write that is alone, so that nobody else's is under way."""
    mark = [{"$set": {MARK: {"token": token, "until": _UNTIL}}}]
    await on.bulk("book", [UpdateOne({"_id": "book"}, mark)])


async def rewrite(
    db: Any, token: str, collections: Iterable[tuple[str, Sequence[IndexModel], Mapping[str, Any]]]
) -> None:
    """Write each collection anew under its name, and drop the old one; then let writers in
    again.
    """
    telling = asyncio.create_task(_tell(db, token))
    try:
        for name, indexes, validator in collections:
            await _write_anew(db, token, name, indexes, validator)
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling
        await _end(db, token)


async def end_abandoned_rewriting(db: Any) -> None:
    """Let writers in again if whoever rewrites has not said for long that it goes on.

    Should it go on after all, it finds that its new collections are dropped, or that another holds
    the mark: it renames none.
    """
    token = uuid4().hex
    late = {"_id": "book", MARK: {"$exists": True}, "$expr": {"$lt": [f"${MARK}.until", "$$NOW"]}}
    if await db.book.find_one_and_update(
        late, [{"$set": {MARK: {"token": token, "until": _UNTIL}}}]
    ):
        await _end(db, token)


async def _tell(db: Any, token: str) -> None:
    while True:
        await asyncio.sleep(_TOLD_SECONDS)
        with suppress(PyMongoError):
            await db.book.update_one(_held(token), [{"$set": {f"{MARK}.until": _UNTIL}}])


async def _write_anew(
    db: Any, token: str, name: str, indexes: Sequence[IndexModel], validator: Mapping[str, Any]
) -> None:
    fresh = f"{name}{_ANEW}{token}"
    await db.create_collection(fresh, check_exists=False, validator=validator)
    if indexes:
        await db[fresh].create_indexes(list(indexes))
    await (await db[name].aggregate([{"$merge": {"into": fresh, "whenMatched": "fail"}}])).to_list()
    if await db.book.find_one(_held(token), {"_id": 1}) is None:
        raise StorageError(
            "this took so long that another program let writers in again: scrub again"
        )
    await db[fresh].rename(name, dropTarget=True)


def _held(token: str) -> dict[str, Any]:
    return {"_id": "book", f"{MARK}.token": token}


async def _end(db: Any, token: str) -> None:
    for name in await db.list_collection_names():
        if _ANEW in name:
            await db[name].drop()
    await db.book.update_one(_held(token), {"$unset": {MARK: 1}})
