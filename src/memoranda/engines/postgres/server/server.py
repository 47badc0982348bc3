"""Runs transactions of an open book on its server, and retries failed ones if that is safe."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import asyncpg

from memoranda.engines.postgres.server.address import parse
from memoranda.engines.postgres.server.connector import Connection, Connector
from memoranda.engines.postgres.server.faults import (
    LOST,
    MARKED,
    NO_ANSWER,
    RETRYABLE,
    is_lost,
    outcome_unknown,
    translated,
)
from memoranda.engines.postgres.server.listener import JobListener
from memoranda.engines.postgres.server.migrations import upgrade_schema
from memoranda.engines.postgres.server.pool import Pool
from memoranda.engines.postgres.server.session import ALWAYS_UNLIMITED, UNLIMITED, Session
from memoranda.errors import OutcomeUnknown, StorageError

T = TypeVar("T")
Work = Callable[[Session], Awaitable[T]]

#: Attempts at a transaction that conflicts with others.
ATTEMPTS = 5
#: Further attempts after its connection was lost, or its server was found to be a replica.
_FRESH_ATTEMPTS = 1
#: Seconds between attempts to reach a server again: together as long as a restart; a failover may
#: take longer.
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
#: Seconds to wait for the end of a transaction that stores nothing.
_FAREWELL_SECONDS = 5.0

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#: A setting of the server or role that acknowledges commits before they are on the disk is
#: overruled.
_WRITE = (
    "BEGIN ISOLATION LEVEL READ COMMITTED{}; SET LOCAL memoranda.whole = 'on'; "
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
)
_WHOLE = "; SET LOCAL memoranda.whole = 'on'"
#: Upkeep has no time limits, but is watched; if its client vanishes, the transaction still ends.
_LONG = f"; {UNLIMITED}; SET LOCAL idle_in_transaction_session_timeout = '10min'"
#: Writes share this lock and an erasure has it alone: no write can build on records that are being
#: removed. It keeps the name it had before the product was renamed: a program of then and one of
#: now exclude each other while a book is upgraded.
_TOGETHER = (
    "; SELECT pg_advisory_xact_lock_shared(hashtext('memoranda book'), hashtext(current_schema()))"
)
_ALONE = "; SELECT pg_advisory_xact_lock(hashtext('memoranda book'), hashtext(current_schema()))"
#: Held until its connection is closed.
_TURN = "SELECT pg_try_advisory_lock(hashtext('turn ' || current_schema()), hashtext($1))"
#: Checked once the lock is held: a book that moves, or that a copy is creating, must not be written
#: by others.
_UNMARKED = f"""; DO $$
DECLARE mark text;
BEGIN
    SELECT name || ' ' || convert_from(value, 'UTF8') INTO mark FROM book WHERE name IN ('departure', 'arrival')
    ORDER BY name DESC LIMIT 1;
    IF FOUND THEN RAISE EXCEPTION USING ERRCODE = '{MARKED}', MESSAGE = mark; END IF;
END $$"""  # noqa: S608 - a constant of ours


class Server:
    """The connections and transactions of one open book."""

    def __init__(
        self, connector: Connector, pool: Pool, schema: str, place: str, version: int
    ) -> None:
        self._connector = connector
        self._pool = pool
        self._farewell = min(_FAREWELL_SECONDS, connector.silence)
        self.patience = connector.patience
        self.schema = schema
        #: The address without a password.
        self.place = place
        self.version = version
        self.listener = JobListener(connector, schema)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        create: bool = True,
        read_only: bool = False,
        connections: int | None = None,
    ) -> Server:
        """Connect, and create or upgrade the schema."""
        place = parse(url)
        connector = Connector(place, read_only=read_only)
        pool = Pool(connector, connections or place.connections, place.longest_wait, place.name)
        with translated(place.name):
            connection = await pool.take()
            try:
                async with connector.watched(connection):
                    version = await upgrade_schema(
                        connection, place, connector.silence, create=create, read_only=read_only
                    )
            except BaseException:
                connection.terminate()
                raise
            finally:
                pool.give_back(connection)
        return cls(connector, pool, place.schema, place.name, version)

    async def close(self) -> None:
        """Wait a bounded time for open transactions, then close all connections."""
        await self.listener.close()
        await self._pool.close()
        # Closed connections free their sockets in the loop's next iteration.
        await asyncio.sleep(0)

    async def read(self, work: Work[T], *, whole: bool = False, long: bool = False) -> T:
        """Read from one snapshot; ``whole`` is for reads across owners, ``long`` removes the time
        limits.

        ``work`` may be called again from its beginning.
        """
        begin = _READ + (_WHOLE if whole else "") + (_LONG if long else "")

        async def keep_nothing(connection: Connection) -> None:
            try:
                await connection.execute("COMMIT", timeout=self._farewell)
            except (asyncpg.PostgresError, *LOST):
                connection.terminate()  # the answer is complete

        return await self._repeated(
            begin, lambda on: self._transact(on, work, keep_nothing, long=long)
        )

    async def write(
        self,
        work: Work[T],
        *,
        alone: bool = False,
        long: bool = False,
        repeatable: bool = False,
        guarded: bool = True,
        patience: float | None = None,
    ) -> T:
        """Write all or nothing; returns after the commit. ``work`` may be called again from its
        beginning.

        ``alone`` takes the book's exclusive lock, and removes the time limits as ``long`` does.
        ``repeatable`` work recognizes what an earlier attempt stored. ``guarded`` raises if the
        book moves; only moving itself is not guarded. ``patience``: seconds to wait for each lock,
        because later transactions wait behind this one.
        """
        long = long or alone
        # Repeated here, because not every pooler passes the settings of a connection on.
        begin = _WRITE.format(" READ ONLY" if self._connector.read_only else "") + (
            _LONG if long else ""
        )
        begin += "" if patience is None else f"; SET LOCAL lock_timeout = {round(patience * 1000)}"
        begin += _ALONE if alone else _TOGETHER
        begin += _UNMARKED if guarded else ""

        async def keep(connection: Connection) -> None:
            await self._commit(connection, None if long else self._connector.silence)

        return await self._repeated(
            begin, lambda on: self._transact(on, work, keep, long=long), repeatable=repeatable
        )

    async def outside(self, *statements: str, turn: str = "", unless: str = "") -> None:
        """Run statements outside a transaction, without time limits; raises if the server warns
        that it skipped any.

        Of several callers with the same ``turn`` only the first runs them, and only if ``unless``
        finds no row.
        """
        warnings: list[str] = []
        with translated(self.place):
            connection = await self._connector.connect()
            try:
                connection.add_log_listener(lambda _, told: _note(warnings, told))
                async with self._connector.watched(connection):
                    await connection.execute(ALWAYS_UNLIMITED, timeout=self._connector.silence)
                    if turn and not await connection.fetchval(
                        _TURN, turn, timeout=self._connector.silence
                    ):
                        return
                    if unless and await connection.fetchval(
                        unless, timeout=self._connector.silence
                    ):
                        return
                    for statement in statements:
                        await connection.execute(statement)
                    await asyncio.sleep(0)  # warnings are delivered in the loop's next iteration
            finally:
                connection.terminate()
        if warnings:
            raise StorageError(
                f"{self.place} did not do all of this ({warnings[0]}): see who owns its tables."
            )

    async def _repeated(
        self, begin: str, attempt: Callable[[Connection], Awaitable[T]], *, repeatable: bool = False
    ) -> T:
        """Retry an attempt that may succeed later, a bounded number of times."""
        contended, fresh = ATTEMPTS - 1, _FRESH_ATTEMPTS
        unknown: OutcomeUnknown | None = None
        while True:
            try:
                with translated(self.place):
                    connection = await self._begun(begin)
            except StorageError as exc:
                raise unknown or exc from exc.__cause__
            try:
                with translated(self.place):
                    return await attempt(connection)
            except OutcomeUnknown as exc:
                if unknown is not None or not repeatable:
                    raise
                unknown = exc
            except StorageError as exc:
                if isinstance(exc.__cause__, RETRYABLE):
                    contended -= 1
                    is_over = contended < 0
                else:
                    fresh -= 1
                    is_over = fresh < 0 or not _is_worth_a_fresh_try(exc.__cause__)
                if is_over:
                    raise unknown or exc from exc.__cause__

    async def _transact(
        self,
        connection: Connection,
        work: Work[T],
        keep: Callable[[Connection], Awaitable[None]],
        *,
        long: bool,
    ) -> T:
        try:
            async with self._connector.watched(connection) if long else nullcontext():
                try:
                    found = await work(
                        Session(connection, self.schema, None if long else self._connector.silence)
                    )
                except BaseException as exc:
                    await self._give_up(connection, exc)
                    raise
                await keep(connection)
                return found
        except BaseException as exc:
            self._distrust(connection, exc)
            raise
        finally:
            self._pool.give_back(connection)

    async def _begun(self, begin: str) -> Connection:
        """Return a connection with an open transaction; retries while the server is gone for a
        moment.
        """
        for pause in (*_PAUSES, None):
            try:
                return await self._begin(begin)
            except (asyncpg.TooManyConnectionsError, *LOST) as exc:
                if pause is None or not (
                    _is_lost_at_once(exc) or isinstance(exc, asyncpg.TooManyConnectionsError)
                ):
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _begin(self, begin: str) -> Connection:
        connection = await self._pool.take()
        try:
            await connection.execute(begin, timeout=self._connector.silence)
        except BaseException as exc:
            self._distrust(connection, exc)
            self._pool.give_back(connection)
            raise
        return connection

    async def _give_up(self, connection: Connection, exc: BaseException) -> None:
        """Roll back; a connection whose state is not known is closed instead."""
        if not isinstance(exc, Exception) or is_lost(exc):
            connection.terminate()
            return
        try:
            await connection.execute("ROLLBACK", timeout=self._farewell)
        except (asyncpg.PostgresError, *LOST):
            connection.terminate()

    def _distrust(self, connection: Connection, exc: BaseException) -> None:
        """Close a connection whose state is unknown, and all idle connections, which are probably
        broken too.
        """
        is_common = is_lost(exc) or isinstance(
            exc, (asyncpg.ReadOnlySQLTransactionError, OutcomeUnknown)
        )
        if is_common:
            self._pool.close_idle()
        if is_common or not isinstance(exc, Exception):
            connection.terminate()

    async def _commit(self, connection: Connection, seconds: float | None) -> None:
        try:
            ended = await connection.execute("COMMIT", timeout=seconds)
        except BaseException as exc:
            connection.terminate()
            if is_lost(exc):
                raise outcome_unknown(self.place, exc) from exc
            raise
        if ended != "COMMIT":
            # The server answers ROLLBACK if a statement failed and its error was ignored.
            raise StorageError(
                f"{self.place} stored nothing, because a statement of the transaction failed."
            )


def _is_lost_at_once(exc: BaseException | None) -> bool:
    """True if a connection was lost without a timeout; a silent server would only cost the same
    wait again.
    """
    return exc is not None and is_lost(exc) and not isinstance(exc, NO_ANSWER)


def _is_worth_a_fresh_try(exc: BaseException | None) -> bool:
    """True if a retry may succeed: the connection was lost or read-only, or a table was dropped
    after the snapshot.
    """
    return _is_lost_at_once(exc) or isinstance(
        exc, (asyncpg.ReadOnlySQLTransactionError, asyncpg.UndefinedTableError)
    )


def _note(warnings: list[str], told: Any) -> None:
    if told.severity_en == "WARNING":
        warnings.append(told.message)
