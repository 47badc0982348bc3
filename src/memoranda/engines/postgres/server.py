"""A book's place on a server: transactions on its connections, and what is done when one goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import asyncpg

from memoranda.engines.postgres.address import parse
from memoranda.engines.postgres.faults import (
    AGAIN,
    LOST,
    MARKED,
    SILENT,
    is_lost,
    outcome_unknown,
    translated,
)
from memoranda.engines.postgres.migrations import bring_forward
from memoranda.engines.postgres.pool import Pool
from memoranda.engines.postgres.session import ALWAYS_UNLIMITED, UNLIMITED, Session
from memoranda.engines.postgres.waking import Waking
from memoranda.engines.postgres.way import Connection, Way
from memoranda.errors import OutcomeUnknown, StorageError

T = TypeVar("T")
Work = Callable[[Session], Awaitable[T]]

#: How often a transaction is begun again that others stood in the way of.
ATTEMPTS = 5
#: How often it is begun again after its connection was lost, or its server turned out to be a replica.
_FRESH_ATTEMPTS = 1
#: Seconds between tries to reach a server that was here before: a restart takes as long, a failover may take longer.
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
#: Nothing hangs on the end of a transaction that keeps nothing.
_FAREWELL_SECONDS = 5.0

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#: A server or role that is set to tell of commits before they are on the disk is not followed in that.
_WRITE = (
    "BEGIN ISOLATION LEVEL READ COMMITTED{}; SET LOCAL memoranda.whole = 'on'; "
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
)
_WHOLE = "; SET LOCAL memoranda.whole = 'on'"
#: Upkeep is attended instead; whoever vanishes within it gives way to others all the same.
_LONG = f"; {UNLIMITED}; SET LOCAL idle_in_transaction_session_timeout = '10min'"
#: Writes share this lock and an erasure has it alone: no write can build on records that are being removed. It keeps the
#: name it had before the product was renamed: a program of then and one of now exclude each other while a book is upgraded.
_TOGETHER = "; SELECT pg_advisory_xact_lock_shared(hashtext('commonplace book'), hashtext(current_schema()))"
_ALONE = "; SELECT pg_advisory_xact_lock(hashtext('commonplace book'), hashtext(current_schema()))"
#: Held until its connection ends.
_TURN = "SELECT pg_try_advisory_lock(hashtext('turn ' || current_schema()), hashtext($1))"
#: Asked once the lock is held: a book that moves, or that a copy is making, is written by nobody else.
_UNMARKED = f"""; DO $$
DECLARE mark text;
BEGIN
    SELECT name || ' ' || convert_from(value, 'UTF8') INTO mark FROM properties WHERE name IN ('departure', 'arrival')
    ORDER BY name DESC LIMIT 1;
    IF FOUND THEN RAISE EXCEPTION USING ERRCODE = '{MARKED}', MESSAGE = mark; END IF;
END $$"""  # noqa: S608 - a constant of ours


class Server:
    """One open book's side of its server."""

    def __init__(self, way: Way, pool: Pool, schema: str, place: str, version: int) -> None:
        self._way = way
        self._pool = pool
        self._farewell = min(_FAREWELL_SECONDS, way.silence)
        self.patience = way.patience
        self.schema = schema
        #: The address without a password.
        self.place = place
        self.version = version
        self.waking = Waking(way, schema)

    @classmethod
    async def open(
        cls, url: str, *, create: bool = True, read_only: bool = False, connections: int | None = None
    ) -> Server:
        """Connect, and bring the schema forward."""
        place = parse(url)
        way = Way(place, read_only=read_only)
        pool = Pool(way, connections or place.connections, place.longest_wait, place.name)
        with translated(place.name):
            connection = await pool.take()
            try:
                async with way.attended(connection):
                    version = await bring_forward(
                        connection, place, way.silence, create=create, read_only=read_only
                    )
            except BaseException:
                connection.terminate()
                raise
            finally:
                pool.give_back(connection)
        return cls(way, pool, place.schema, place.name, version)

    async def close(self) -> None:
        """Let what is under way end, and let go of the connections."""
        await self.waking.close()
        await self._pool.close()
        # Connections that were ended let go of their sockets in the loop's next turn.
        await asyncio.sleep(0)

    async def read(self, work: Work[T], *, whole: bool = False, long: bool = False) -> T:
        """Read of one moment; ``whole`` is for what reads across owners, ``long`` for what may take its time.

        ``work`` may be called again from its beginning.
        """
        begin = _READ + (_WHOLE if whole else "") + (_LONG if long else "")

        async def keep_nothing(connection: Connection) -> None:
            try:
                await connection.execute("COMMIT", timeout=self._farewell)
            except (asyncpg.PostgresError, *LOST):
                connection.terminate()  # what was asked has been answered

        return await self._repeated(begin, lambda on: self._transact(on, work, keep_nothing, long=long))

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
        """Write all or nothing; returns after the commit. ``work`` may be called again from its beginning.

        Whoever writes ``alone`` may take their time. What is ``repeatable`` is known again where it was written already.
        Only what moves a book is not ``guarded`` against its being moved. ``patience``: how many seconds it waits for
        each lock, for whoever comes later waits behind it.
        """
        long = long or alone
        # Said here too: what a connection was set to does not come through every pooler.
        begin = _WRITE.format(" READ ONLY" if self._way.read_only else "") + (_LONG if long else "")
        begin += "" if patience is None else f"; SET LOCAL lock_timeout = {round(patience * 1000)}"
        begin += _ALONE if alone else _TOGETHER
        begin += _UNMARKED if guarded else ""

        async def keep(connection: Connection) -> None:
            await self._commit(connection, None if long else self._way.silence)

        return await self._repeated(
            begin, lambda on: self._transact(on, work, keep, long=long), repeatable=repeatable
        )

    async def outside(self, *statements: str, turn: str = "", unless: str = "") -> None:
        """Run what no transaction can hold, however long it takes; what the server warns of was not done.

        Of those who come with the same ``turn`` the first does it, where ``unless`` finds nothing, and the others leave it.
        """
        warnings: list[str] = []
        with translated(self.place):
            connection = await self._way.connect()
            try:
                connection.add_log_listener(lambda _, told: _note(warnings, told))
                async with self._way.attended(connection):
                    await connection.execute(ALWAYS_UNLIMITED, timeout=self._way.silence)
                    if turn and not await connection.fetchval(_TURN, turn, timeout=self._way.silence):
                        return
                    if unless and await connection.fetchval(unless, timeout=self._way.silence):
                        return
                    for statement in statements:
                        await connection.execute(statement)
                    await asyncio.sleep(0)  # what was told with it is heard in the loop's next turn
            finally:
                connection.terminate()
        if warnings:
            raise StorageError(
                f"{self.place} did not do all of this ({warnings[0]}): see who owns its tables."
            )

    async def _repeated(
        self, begin: str, attempt: Callable[[Connection], Awaitable[T]], *, repeatable: bool = False
    ) -> T:
        """Begin again what may go well then, a bounded number of times."""
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
                if isinstance(exc.__cause__, AGAIN):
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
            async with self._way.attended(connection) if long else nullcontext():
                try:
                    found = await work(Session(connection, self.schema, None if long else self._way.silence))
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
        """A connection with an open transaction; while the server is gone for a moment, it is looked for again."""
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
            await connection.execute(begin, timeout=self._way.silence)
        except BaseException as exc:
            self._distrust(connection, exc)
            self._pool.give_back(connection)
            raise
        return connection

    async def _give_up(self, connection: Connection, exc: BaseException) -> None:
        """Leave no transaction open: a connection whose state is not known is not used again."""
        if not isinstance(exc, Exception) or is_lost(exc):
            connection.terminate()
            return
        try:
            await connection.execute("ROLLBACK", timeout=self._farewell)
        except (asyncpg.PostgresError, *LOST):
            connection.terminate()

    def _distrust(self, connection: Connection, exc: BaseException) -> None:
        """End a connection whose state is not known, and those that may have gone the way of this one."""
        is_common = is_lost(exc) or isinstance(exc, (asyncpg.ReadOnlySQLTransactionError, OutcomeUnknown))
        if is_common:
            self._pool.let_go_of_idle()
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
            # So ends a transaction in which a statement failed, and nobody minded.
            raise StorageError(f"{self.place} has kept nothing of this: a part of it failed.")


def _is_lost_at_once(exc: BaseException | None) -> bool:
    """Whether a connection was lost, and not waited for in vain: a silent server would only be waited for again."""
    return exc is not None and is_lost(exc) and not isinstance(exc, SILENT)


def _is_worth_a_fresh_try(exc: BaseException | None) -> bool:
    """Nothing of it was kept, and another connection may do; or a table is gone that an older moment knew."""
    return _is_lost_at_once(exc) or isinstance(
        exc, (asyncpg.ReadOnlySQLTransactionError, asyncpg.UndefinedTableError)
    )


def _note(warnings: list[str], told: Any) -> None:
    if told.severity_en == "WARNING":
        warnings.append(told.message)
