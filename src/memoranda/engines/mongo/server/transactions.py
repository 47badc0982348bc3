"""Runs the transactions and snapshots of an open book; a transaction that meets another is run
again.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

import pymongo
from pymongo import AsyncMongoClient, InsertOne, ReplaceOne, UpdateMany, UpdateOne
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from memoranda.engines.mongo.server.abandoned import IDLE_SECONDS, announced, end_abandoned
from memoranda.engines.mongo.server.faults import (
    TOO_OLD,
    UNKNOWN,
    code_of,
    from_server,
    may_read_again,
    may_write_again,
    outcome_unknown,
)
from memoranda.engines.mongo.server.rewriting import MARK, end_abandoned_rewriting
from memoranda.engines.mongo.server.session import NAMES, Document, Session, Standing, Taken
from memoranda.errors import Busy, Conflict, ReadOnly
from memoranda.model.book_rows import refuse_marked
from memoranda.model.records import Owner

A = TypeVar("A")
Work = Callable[[Session], Awaitable[A]]

#: Seconds that a call tries again, failovers included.
PATIENCE = 30.0
#: Seconds for which a write that wants the book alone keeps others waiting, and not longer if it
#: was killed.
_CLOSED_SECONDS = 20
#: Seconds after which a write that meets others again and again looks if one of them was abandoned.
_SUSPECT_SECONDS = 2.0
#: How often a commit without a time limit is asked about again.
_COMMITS = 40
#: How often a taken key is looked at again: whoever had it may have been under way at the same
#: time.
_TAKEN_AGAIN = 3
#: What is told of a write that met others each time, and of one that was alone.
_BUSY = {
    False: "{} is busy: other writers were faster each time; try again.",
    True: "{} did not carry this out: others wrote all the time, or it is more than the server's cache holds in one "
    "transaction. Try again; erase in parts, or give the server more memory (wiredTigerCacheSizeGB).",
}
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
#: Beside them are announcements of long transactions.
_ALL_GATES = {"epoch": {"$exists": True}}
_SNAPSHOT: dict[str, Any] = {
    "read_concern": ReadConcern("snapshot"),
    "write_concern": WriteConcern("majority", j=True),
    "read_preference": ReadPreference.PRIMARY,
}


class _GateShut(Exception):
    """The gate of a transaction was closed, removed or renewed: a write was alone, or wants to
    be.
    """


class Transactions:
    """The transactions of an open book.

    A write writes the document of its owner first, so that two writers of an owner meet there, and
    its gate last. A gate is a document of this process that only one transaction at a time uses. A
    write that must be alone writes all gates: so it meets every other write, and no ordinary write
    touches what belongs to all.
    """

    def __init__(
        self, client: AsyncMongoClient[Document], db: Any, place: str, *, read_only: bool
    ) -> None:
        self.client, self.db, self.place = client, db, place
        self._read_only = read_only
        self._standing: Standing | None = None
        #: Gates that no transaction uses now, and all of them.
        self._free: list[str] = []
        self._gates: set[str] = set()
        self._turns: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    async def close(self) -> None:
        """Remove the gates of this process, and close the connections."""
        with suppress(PyMongoError):
            if self._gates:
                with pymongo.timeout(1):
                    await self.db.gates.delete_many({"_id": {"$in": list(self._gates)}})
        await self.client.close()

    # ── reads ─────────────────────────────────────────────────────────────────────────────────────

    async def read(self, work: Work[A], *, long: bool = False, renews: bool = False) -> A:
        """Run a work whose answers are all of one moment; it may be run again from its beginning.

        ``renews``: the work takes a new moment between owners, because the server keeps one for
        minutes only.
        """
        until, tries = time.monotonic() + PATIENCE, 0
        while True:
            on = Session(
                self.db,
                self.snapshot(),
                None,
                writes=False,
                renewed=self.snapshot if renews else None,
            )
            try:
                with nullcontext() if long else pymongo.timeout(max(until - time.monotonic(), 0.1)):
                    return await work(on)
            except PyMongoError as exc:
                if (
                    not may_read_again(exc)
                    or time.monotonic() > until
                    or (long and code_of(exc) == TOO_OLD)
                ):
                    raise from_server(exc, self.place) from exc
            finally:
                await on.end()
            tries += 1
            await _pause(tries)

    def snapshot(self) -> Any:
        """Begin a snapshot."""
        return self.client.start_session(snapshot=True)

    # ── writes ────────────────────────────────────────────────────────────────────────────────────

    async def write(
        self,
        work: Work[A],
        *,
        owner: Owner | None = None,
        alone: bool = False,
        long: bool = False,
        guarded: bool = True,
        repeatable: bool = False,
        patience: float | None = None,
    ) -> A:
        """Run a work in a transaction until it is committed; it may be run again from its
        beginning.

        Writers of one owner in this process wait in line before they begin, because a snapshot that
        is older than the other's commit is refused.
        """
        if self._read_only:
            raise ReadOnly(
                f"{self.place} can only be read: the book was opened with read_only=True"
            )
        until = time.monotonic() + (PATIENCE if patience is None else patience)
        turn = asyncio.Lock() if owner is None else self._turns.setdefault(owner, asyncio.Lock())
        attempt = _Attempt(
            self, work, guarded=guarded, alone=alone, until=None if long or alone else until
        )
        async with turn:
            try:
                return await self._until_done(attempt, until, repeatable=repeatable)
            finally:
                if attempt.has_closed:
                    await self._open_gates()
                if attempt.gate is not None:
                    self._free.append(attempt.gate)

    async def _until_done(self, attempt: _Attempt[A], until: float, *, repeatable: bool) -> A:
        tries = taken = 0
        unknown: PyMongoError | None = None
        suspect = time.monotonic() + _SUSPECT_SECONDS
        while True:
            tries += 1
            if time.monotonic() > suspect:
                suspect = time.monotonic() + _SUSPECT_SECONDS
                await end_abandoned(self.client, self.db, _SUSPECT_SECONDS)
            try:
                return await attempt.run()
            except _GateShut:
                reason: Exception | None = None
            except Taken as exc:
                # Elsewhere it was stored by another at the same time, and is there the next time.
                taken, reason = taken + (exc.collection == "records"), exc
                if taken > _TAKEN_AGAIN:
                    raise _conflict(exc) from exc
            except PyMongoError as exc:
                reason = exc
                if exc.has_error_label(UNKNOWN):
                    if not repeatable:
                        raise outcome_unknown(self.place) from exc
                    unknown = exc
                elif not may_write_again(exc):
                    if unknown is not None:
                        raise outcome_unknown(self.place) from exc
                    raise from_server(exc, self.place) from exc
            if time.monotonic() > until:
                if unknown is not None:
                    raise outcome_unknown(self.place) from unknown
                if isinstance(reason, PyMongoError) and not reason.has_error_label(
                    "TransientTransactionError"
                ):
                    raise from_server(reason, self.place) from reason
                raise Busy(_BUSY[attempt.is_alone].format(self.place)) from reason
            await _pause(tries)

    # ── gates ─────────────────────────────────────────────────────────────────────────────────────

    async def standing(self) -> Standing:
        """Return what belongs to the whole book, as this process knows it; a transaction's gate
        tells if that is true still.
        """
        if self._standing is None:
            self._standing = await self.read(lambda on: on.standing())
        return self._standing

    def forget_standing(self) -> None:
        """Read what belongs to the whole book again when it is needed next."""
        self._standing = None

    async def gate(self, held: str | None) -> str:
        """Return a gate for one transaction: the one that it had, if it exists and is open, else a
        free one, or a new one.
        """
        while held is not None:
            shut = await self.db.gates.find_one(
                {"_id": held}, {"left": {"$subtract": ["$closed", "$$NOW"]}}
            )
            if shut is None:
                self._gates.discard(held)
                held = None
            elif (left := shut.get("left")) is not None and left > 0:
                await asyncio.sleep(random.uniform(0.002, 0.02))
            else:
                return held
        return self._free.pop() if self._free else await self._make_gate()

    async def _make_gate(self) -> str:
        """Make a gate; that meets a write that is alone at the document of the book."""
        name = uuid4().hex
        try:
            async with self.client.start_session() as session:
                await session.start_transaction(**_SNAPSHOT)
                on = Session(self.db, session, None, writes=True)
                book = await on.lock("book", {"_id": "book"})
                assert book is not None
                await on.bulk("gates", [InsertOne({"_id": name, "epoch": book.get("epoch", 0)})])
                await session.commit_transaction()
        except PyMongoError as exc:
            if exc.has_error_label(UNKNOWN) or may_write_again(exc):
                raise _GateShut from exc
            raise
        self._gates.add(name)
        return name

    async def close_gates(self) -> None:
        """Let the transactions end that are under way, and no other begin to be committed, until
        the book was had alone.
        """
        until = {"$add": ["$$NOW", _CLOSED_SECONDS * 1000]}
        try:
            with pymongo.timeout(IDLE_SECONDS + 1):
                await self.db.gates.update_many(_ALL_GATES, [{"$set": {"closed": until}}])
        except PyMongoError as exc:
            if not exc.timeout:
                raise
            await end_abandoned(self.client, self.db, _SUSPECT_SECONDS)
            raise _GateShut from exc

    async def _open_gates(self) -> None:
        with suppress(PyMongoError):
            await self.db.gates.update_many(
                {"closed": {"$exists": True}}, {"$unset": {"closed": 1}}
            )


class _Attempt(Generic[A]):
    """A write, each time as one transaction."""

    def __init__(
        self, book: Transactions, work: Work[A], *, guarded: bool, alone: bool, until: float | None
    ) -> None:
        self._book, self._work, self._guarded, self.is_alone, self._until = (
            book,
            work,
            guarded,
            alone,
            until,
        )
        self._tries = 0
        #: The gate of an ordinary write.
        self.gate: str | None = None
        #: True while a write that wants to be alone keeps others waiting.
        self.has_closed = False

    async def run(self) -> A:
        """Run the work, and commit it; an error means that nothing was stored, unless it has the
        label of an unknown result.
        """
        self._tries += 1
        left = None if self._until is None else max(self._until - time.monotonic(), 0.1)
        with nullcontext() if left is None else pymongo.timeout(left):
            if not self.is_alone:
                self.gate = await self._book.gate(self.gate)
            elif self._tries > 1:
                self.has_closed = True
                await self._book.close_gates()
            standing = None if self.is_alone else await self._book.standing()
            if standing is not None:
                await self._check(standing)
            async with self._book.client.start_session() as session:
                going_on = (
                    announced(self._book.db, session) if self._until is None else nullcontext()
                )
                async with going_on:
                    found = await self._transact(session, standing)
                if self.is_alone:
                    self.has_closed = False
                    self._book.forget_standing()
                return found

    async def _transact(self, session: Any, standing: Standing | None) -> A:
        await session.start_transaction(**_SNAPSHOT)
        assert session.in_transaction
        try:
            found = await self._in_transaction(
                Session(self._book.db, session, standing, writes=True)
            )
        except BaseException:
            with suppress(PyMongoError):
                await session.abort_transaction()
            raise
        await self._commit(session)
        return found

    async def _in_transaction(self, on: Session) -> A:
        if self.is_alone:
            await self._be_alone(on)
        found = await self._work(on)
        await on.bulk("owners", [_stored(head) for head in on.heads.values()])
        if self.gate is not None:
            await self._pass_gate(on)
        return found

    async def _be_alone(self, on: Session) -> None:
        """Write the book's document and all gates: whoever writes at the same time meets this
        transaction.
        """
        await on.bulk("book", [UpdateOne({"_id": "book"}, {"$inc": {"epoch": 1, "locks": 1}})])
        standing = await on.standing()
        renewed = {"$set": {"epoch": standing.epoch}, "$unset": {"closed": 1}}
        await on.bulk("gates", [UpdateMany(_ALL_GATES, renewed)])
        await self._check(standing)

    async def _check(self, standing: Standing) -> None:
        """Refuse a book that is marked as moving, and wait while its collections are written
        anew.
        """
        if self._guarded:
            refuse_marked(standing.book)
        if MARK in standing.book:
            self._book.forget_standing()
            await end_abandoned_rewriting(self._book.db)
            raise _GateShut

    async def _pass_gate(self, on: Session) -> None:
        """Write this transaction's gate, which is open if nobody wants the book alone, and tells if
        somebody had it alone.
        """
        standing = await on.standing()
        is_open = {"$lte": [{"$ifNull": ["$closed", _LONG_AGO]}, "$$NOW"]}
        through = {"_id": self.gate, "epoch": standing.epoch, "$expr": is_open}
        if not await on.bulk("gates", [UpdateOne(through, {"$currentDate": {"at": True}})]):
            self._book.forget_standing()
            raise _GateShut

    async def _commit(self, session: Any) -> None:
        """Commit, and ask again while the result is not known."""
        tries = 0
        while True:
            try:
                await session.commit_transaction()
                return
            except PyMongoError as exc:
                tries += 1
                late = tries > _COMMITS if self._until is None else time.monotonic() > self._until
                if not exc.has_error_label(UNKNOWN) or late:
                    raise
            await _pause(tries + 5)


def _stored(head: Document) -> ReplaceOne[Document]:
    """Return the write of an owner's document; one that has ended has no names any more."""
    names = {name: head[name] for name in NAMES if name in head}
    return ReplaceOne({**names, "_id": head["_id"]}, head, upsert=True)


def _conflict(exc: Taken) -> Conflict:
    if exc.collection == "records" and "_id" in exc.key:
        return Conflict("id: a record with this id is in this book already; leave ids to the book")
    return Conflict("another record holds this key or name; read it, then decide")


async def _pause(tries: int) -> None:
    await asyncio.sleep(random.random() * min(0.25, 0.002 * 1.6 ** min(tries, 12)))
