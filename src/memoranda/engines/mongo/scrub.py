"""Clears the server's files of what was erased."""

from __future__ import annotations

from memoranda.engines.mongo.server.transactions import Transactions
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

#: The mark of the latest erasure, and of the latest one before a complete scrub began.
ERASED, SCRUBBED = "erased", "scrubbed"


def mark_erasure() -> SetProperty:
    """Return the write that marks an erasure: the mark stays until a complete scrub that began after it is noted."""
    return SetProperty(ERASED, new_id().bytes)


async def is_needed(book: Transactions) -> bool:
    """True if the files may contain what was erased: something was erased since the last complete scrub began."""
    marks = await book.db.book.find_one({"_id": "book"}) or {}
    return ERASED in marks and marks[ERASED] != marks.get(SCRUBBED)


async def scrub(book: Transactions) -> Scrubbed:
    return Scrubbed("checkpoint TODO")
