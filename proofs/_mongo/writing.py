"""The process that writes to a book on a MongoDB server until it is killed, and the check of that
book.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from pymongo.write_concern import WriteConcern

from memoranda import Book
from memoranda.engines.mongo.server import transactions
from memoranda.engines.mongo.server.session import Session
from memoranda.engines.mongo.server.transactions import Transactions, _Attempt
from proofs._kill.operations import JOB
from proofs._kill.reckoning import Stored
from proofs._server.writing import (
    Assignment,
    Point,
    ServerReckoning,
    Writer,
    before,
    behind,
    hasty,
    meanwhile,
    striking,
)


def live(connection: Connection) -> None:
    """Wait for an assignment, then write until the end or until told to stop."""
    assignment: Assignment = connection.recv()
    _strike_at(assignment.point, striking(assignment.after))
    if assignment.trusting:
        transactions._SNAPSHOT["write_concern"] = WriteConcern(1, j=False)
    if assignment.hasty:
        Transactions.write = hasty(Transactions.write)  # type: ignore[method-assign]
    asyncio.run(Writer(assignment, connection).write())


def _strike_at(point: Point, strike: Callable[[], None]) -> None:
    if point is Point.WITHIN:
        for name in ("find", "bulk", "lock"):
            setattr(Session, name, before(getattr(Session, name), strike))
    elif point is Point.BEFORE_COMMIT:
        _Attempt._commit = before(_Attempt._commit, strike)  # type: ignore[method-assign]
    elif point is Point.IN_COMMIT:
        _Attempt._commit = meanwhile(_Attempt._commit, strike)  # type: ignore[method-assign]
    elif point is Point.AFTER_COMMIT:
        _Attempt._commit = behind(_Attempt._commit, strike)  # type: ignore[method-assign]


class MongoReckoning(ServerReckoning):
    """The same check for a book on a MongoDB server."""

    async def stored(self, book: Book, thorough: bool) -> Stored:
        async def read(on: Session) -> Stored:
            jobs = [
                (doc["key"],) for doc in await on.find("jobs", {"kind": JOB}, fields={"key": 1})
            ]
            records = await on.find("records", {}, fields={"sources": 1, "terms": 1, "rule": 1})
            links = [
                (doc["_id"].bytes, source.bytes) for doc in records for source in doc["sources"]
            ]
            terms = [(doc["_id"].bytes, doc["terms"]) for doc in records if "rule" in doc]
            ids = {doc["_id"] for doc in records}
            versions = await on.find("versions", {}, fields={"id": 1})
            return Stored(
                jobs, links, terms, [doc["id"] for doc in versions if doc["id"] not in ids]
            )

        server: Any = book.engine.server  # type: ignore[attr-defined]
        found: Stored = await server.read(read)
        return found
