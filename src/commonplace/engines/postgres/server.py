"""A book's place on a server: the pool of connections, and transactions on them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg

from commonplace.engines.postgres.faults import AGAIN, LOST, MARKED, outcome_unknown, translated
from commonplace.engines.postgres.migrations import bring_forward
from commonplace.engines.postgres.session import Session
from commonplace.errors import Busy, InvalidInput

T = TypeVar("T")
Work = Callable[[Session], Awaitable[T]]

#: The schema of a book whose address names none.
SCHEMA = "commonplace"
#: How often a transaction is begun again that others stood in the way of.
ATTEMPTS = 5
#: How long a call waits for a free connection, and a statement for a lock.
LONGEST_WAIT_SECONDS = 30
CONNECTIONS = 8
MOST_PARTITIONS = 1024

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL commonplace.whole = 'on'"
_WHOLE = "; SET LOCAL commonplace.whole = 'on'"
#: Writes hold the book together, an erasure alone: nothing new can come to rest on what it is removing.
_TOGETHER = "; SELECT pg_advisory_xact_lock_shared(hashtext('commonplace book'), hashtext(current_schema()))"
_ALONE = "; SELECT pg_advisory_xact_lock(hashtext('commonplace book'), hashtext(current_schema()))"
#: Asked once the lock is held: a book that moves, or that a copy is making, is written by nobody else.
_UNMARKED = f"""; DO $$
DECLARE mark text;
BEGIN
    SELECT name || ' ' || convert_from(value, 'UTF8') INTO mark FROM book WHERE name IN ('departure', 'arrival')
    ORDER BY name DESC LIMIT 1;
    IF FOUND THEN RAISE EXCEPTION USING ERRCODE = '{MARKED}', MESSAGE = mark; END IF;
END $$"""  # noqa: S608 - a constant of ours


class Place(NamedTuple):
    """What an address says."""

    #: As the driver wants it.
    url: str
    schema: str
    #: In how many parts a book that is made is spread by owner; 0: in none.
    partitions: int
    #: The address without a password, to be shown.
    name: str


def parse(url: str) -> Place:
    """Tell what is the book's in an address from what is the driver's."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    schema = query.pop("schema", SCHEMA)
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
        raise InvalidInput(
            "address: a schema's name has small letters, digits and _, at most 63", field="address"
        )
    partitions = query.pop("partitions", "0")
    if not partitions.isascii() or not partitions.isdigit() or int(partitions) > MOST_PARTITIONS:
        raise InvalidInput(f"address: partitions are 0 to {MOST_PARTITIONS}", field="address")
    name = f"postgresql://{parts.netloc.rpartition('@')[2] or query.get('host', '')}{parts.path} ({schema})"
    return Place(urlunsplit(parts._replace(query=urlencode(query))), schema, int(partitions), name)


async def _leave(_: Any) -> None:
    """Nothing is set beyond a transaction: a connection is given back as it is, without a way to the server."""


class Server:
    """The pool of one open book."""

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record], schema: str, place: str, version: int) -> None:
        self._pool = pool
        self.schema = schema
        #: The address without a password.
        self.place = place
        self.version = version

    @classmethod
    async def open(
        cls, url: str, *, create: bool = True, read_only: bool = False, connections: int = CONNECTIONS
    ) -> Server:
        """Connect, and bring the schema forward."""
        address, schema, partitions, place = parse(url)
        settings = {
            "search_path": f'"{schema}"',
            "application_name": "commonplace",
            "lock_timeout": f"{LONGEST_WAIT_SECONDS}s",
            "default_transaction_read_only": "on" if read_only else "off",
        }
        with translated(place):
            pool = await asyncpg.create_pool(
                address,
                min_size=1,
                max_size=connections,
                timeout=LONGEST_WAIT_SECONDS,
                server_settings=settings,
                reset=_leave,
            )
            try:
                async with pool.acquire() as connection:
                    version = await bring_forward(
                        connection, schema, place, create=create, read_only=read_only, partitions=partitions
                    )
            except BaseException:
                pool.terminate()
                raise
        return cls(pool, schema, place, version)

    async def close(self) -> None:
        """Let what is under way end, and let go of the connections."""
        try:
            await asyncio.wait_for(self._pool.close(), LONGEST_WAIT_SECONDS)
        except TimeoutError:
            self._pool.terminate()

    async def read(self, work: Work[T], *, whole: bool = False) -> T:
        """Read of one moment; ``whole`` is for what reads across owners."""
        return await self._transact(_READ + (_WHOLE if whole else ""), work)

    async def write(self, work: Work[T], *, alone: bool = False, guarded: bool = True) -> T:
        """Write all or nothing; returns after the commit. ``work`` may be called again from its beginning.

        Only what moves a book is not ``guarded`` against its being moved.
        """
        begin = _WRITE + (_ALONE if alone else _TOGETHER) + (_UNMARKED if guarded else "")
        for _ in range(ATTEMPTS - 1):
            try:
                return await self._transact(begin, work)
            except Busy as exc:
                if not isinstance(exc.__cause__, AGAIN):
                    raise
        return await self._transact(begin, work)

    async def outside(self, statement: str) -> None:
        """Run what no transaction can hold."""
        with translated(self.place):
            async with self._pool.acquire(timeout=LONGEST_WAIT_SECONDS) as connection:
                await connection.execute(statement)

    async def _transact(self, begin: str, work: Work[T]) -> T:
        with translated(self.place):
            connection = await self._begun(begin)
            try:
                found = await work(Session(connection, self.schema))
            except BaseException as exc:
                await _give_up(connection, exc)
                raise
            else:
                await self._commit(connection, begin)
                return found
            finally:
                await self._pool.release(connection)

    async def _begun(self, begin: str) -> Any:
        """A connection with an open transaction; of those that a server has let go of meanwhile others are taken."""
        for left in range(CONNECTIONS, -1, -1):
            connection = await self._pool.acquire(timeout=LONGEST_WAIT_SECONDS)
            try:
                await connection.execute(begin)
            except BaseException as exc:
                await _give_up(connection, exc)
                await self._pool.release(connection)
                if not left or not isinstance(exc, LOST):
                    raise
            else:
                return connection
        raise AssertionError("the last attempt returns or raises")

    async def _commit(self, connection: Any, begin: str) -> None:
        try:
            await connection.execute("COMMIT")
        except BaseException as exc:
            _drop(connection)
            if begin.startswith(_WRITE) and isinstance(exc, LOST):
                raise outcome_unknown(self.place, exc) from exc
            raise


async def _give_up(connection: Any, exc: BaseException) -> None:
    """Leave no transaction open: a connection whose state is not known is not used again."""
    if not isinstance(exc, Exception) or isinstance(exc, LOST):
        _drop(connection)
        return
    try:
        await connection.execute("ROLLBACK")
    except (asyncpg.PostgresError, *LOST):
        _drop(connection)


def _drop(connection: Any) -> None:
    with suppress(asyncpg.InterfaceError):  # where it was lost, the pool has taken it back already
        connection.terminate()
