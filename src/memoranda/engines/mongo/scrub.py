"""Writes the collections anew without what was erased, because the server keeps that in free blocks
of its files.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from pymongo.errors import PyMongoError

from memoranda.engines.mongo.collections import COLLECTIONS
from memoranda.engines.mongo.server.faults import message_of
from memoranda.engines.mongo.server.rewriting import begin, rewrite
from memoranda.engines.mongo.server.transactions import Transactions
from memoranda.errors import Busy
from memoranda.model.ledger import Scrubbed
from memoranda.model.values import new_id
from memoranda.storage.writes import SetProperty

#: Places that may still contain erased content, and that no book can see.
UNSEEN = (
    "exports and copies that others made of this book",
    "the server's journal and oplog, the files of its other members, its backups and dumps",
    "snapshots and freed blocks of the server's disks",
)
PENDING = "free blocks: the server's files still contain the removed documents until the collections are written anew (forget --scrub)"
#: A dropped collection's file goes with the first checkpoint after the server's history of its
#: snapshots: five minutes, usually.
_MINUTES = 10
_NO_CHECKPOINT = (
    "a checkpoint: the removed documents are in no collection, but the files of the old ones stay until the server's history "
    f"of snapshots has passed them (minSnapshotHistoryWindowInSeconds, and a checkpoint): wait {_MINUTES} minutes"
)
_REFUSED = (
    "free blocks: the server did not write the collections anew ({}); scrub again (forget --scrub)"
)
_BUSY = "free blocks: others wrote all the time; scrub again (forget --scrub)"

#: The marks of the latest erasure, of the latest one before a scrub began, and of the moment at
#: which that ended.
_ERASED, _SCRUBBED, _AT = "erased", "scrubbed", "scrubbed_at"


def mark_erasure() -> SetProperty:
    """Return the write that marks an erasure: the mark stays until a scrub that began after it is
    noted.
    """
    return SetProperty(_ERASED, new_id().bytes)


async def is_needed(book: Transactions) -> str:
    """Return why the files may contain what was erased; empty if they do not."""
    since: Any = {"$dateDiff": {"startDate": f"${_AT}", "endDate": "$$NOW", "unit": "minute"}}
    fields = {
        _ERASED: 1,
        _SCRUBBED: 1,
        "since": {"$cond": [{"$gt": [f"${_AT}", None]}, since, None]},
    }
    marks = await book.db.book.find_one({"_id": "book"}, fields) or {}
    if _ERASED not in marks:
        return ""
    if marks[_ERASED] != marks.get(_SCRUBBED):
        return PENDING
    return "" if marks["since"] >= _MINUTES else _NO_CHECKPOINT


async def scrub(book: Transactions) -> Scrubbed:
    """Write each collection anew, while nobody else writes."""
    token = uuid4().hex
    marks = await book.db.book.find_one({"_id": "book"}) or {}
    try:
        await book.write(lambda on: begin(on, token), alone=True, guarded=False)
        await rewrite(
            book.db,
            token,
            [(name, *parts) for name, parts in COLLECTIONS.items() if name not in _KEPT],
        )
        done: Any = {_SCRUBBED: marks.get(_ERASED), _AT: "$$NOW"}
        await book.db.book.update_one({"_id": "book"}, [{"$set": done}])
    except Busy:
        return Scrubbed(_BUSY)
    except PyMongoError as exc:
        return Scrubbed(_REFUSED.format(message_of(exc)))
    return Scrubbed(_NO_CHECKPOINT)


#: They have no content, and whoever waits looks at them.
_KEPT = ("book", "gates")
