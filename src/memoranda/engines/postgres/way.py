"""The way to a server: which of its hosts is asked, for how long, and what a connection of ours is set to."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import asyncpg

from memoranda.engines.postgres.address import Place
from memoranda.engines.postgres.faults import LOST
from memoranda.errors import InvalidInput

#: A connection of the driver, which has no types.
Connection: TypeAlias = Any

#: The server gives up first, where it still can: it tells why, and keeps the connection.
_SILENCE = 1.5
#: How often in a row a server may not answer before it is taken to be gone.
_MOST_UNANSWERED = 2
#: An address may lead to one of several servers: so often it is asked for the one that is meant,
_MOST_ASKED = 4
#: and so often in a row it may not be met, though others answer, before it is taken to be gone.
_MOST_MISSED = 20
#: Which server this is: no two were started in the same microsecond.
_WHICH = "pg_postmaster_start_time()::text || coalesce(host(inet_server_addr()), '')"
#: What another host may do better.
_NEXT_HOST = (*LOST, asyncpg.TooManyConnectionsError)

_log = logging.getLogger("memoranda.postgres")


class Way:
    """How one open book comes to its server."""

    def __init__(self, place: Place, *, read_only: bool) -> None:
        self._urls = list(place.urls)
        #: Where each connection leads.
        self._led: WeakKeyDictionary[Connection, str] = WeakKeyDictionary()
        self._wants = "read-write" if len(place.urls) > 1 and not (place.chooses or read_only) else None
        self.read_only = read_only
        self._statement = place.longest_statement
        self._wait = place.longest_wait
        #: Seconds for which others are kept waiting by what can be done later, and never for as long as they would wait.
        self.patience = min(1.0, place.longest_wait / 4)
        #: After so many seconds without an answer to an ordinary statement the server is taken to be silent.
        self.silence = _SILENCE * max(place.longest_statement, place.longest_wait)
        self._settings = {
            "search_path": f'"{place.schema}"',
            "application_name": place.application,
            "statement_timeout": _milliseconds(place.longest_statement),
            "lock_timeout": _milliseconds(place.longest_wait),
            # Whoever vanishes within a transaction does not keep others from the book.
            "idle_in_transaction_session_timeout": _milliseconds(2 * self.silence),
            # Every statement has its index, whatever is known of the tables: planned once, and not for tables that
            # were small, or that nobody has looked at yet.
            "plan_cache_mode": "force_generic_plan",
            "enable_seqscan": "off",
            # Tables are joined in the order in which a statement names them: what is guessed of a table's columns
            # apart (an owner, a shelf of the owner) may be a thousand times wrong of both.
            "join_collapse_limit": "1",
            # A role may be set to be told of the second wall instead of being kept behind it.
            "row_security": "on",
            "tcp_keepalives_idle": "30",
            "tcp_keepalives_interval": "10",
            "tcp_keepalives_count": "3",
        }
        if read_only:
            self._settings["default_transaction_read_only"] = "on"

    async def connect(self) -> Connection:
        """A new connection to the first host that serves; the one that served last is asked first."""
        for left, url in reversed(list(enumerate(reversed(self._urls)))):
            try:
                connection = await self._to(url, self._wants)
            except _NEXT_HOST as exc:
                if not left:
                    raise
                _log.info("a host of the book is passed over: %s", str(exc) or "it did not answer")
            else:
                self._urls.remove(url)
                self._urls.insert(0, url)
                return connection
        raise AssertionError("the last host serves or is told")

    async def _to(self, url: str, wants: str | None) -> Connection:
        try:
            connection = await asyncpg.connect(
                url,
                timeout=self._wait / len(self._urls),
                server_settings=self._settings,
                target_session_attrs=wants,
            )
            self._led[connection] = url
            return connection
        except asyncpg.exceptions.ClientConfigurationError as exc:
            raise InvalidInput(f"address: {exc}", field="address") from None
        except (
            asyncpg.UndefinedObjectError,
            asyncpg.CantChangeRuntimeParamError,
            asyncpg.InvalidParameterValueError,
        ) as exc:
            # What the driver does not know it hands on as a setting of the server.
            raise InvalidInput(f"address: the server takes no such option: {exc}", field="address") from None
        except ssl.SSLError:
            raise
        except (ValueError, OverflowError):
            # What it quotes may be a part of a password.
            raise InvalidInput("address: the driver cannot read it", field="address") from None

    @asynccontextmanager
    async def attended(self, connection: Connection) -> AsyncIterator[None]:
        """Let what takes long take as long as it needs, while its server answers others; then the connection is ended."""
        pid, which = await connection.fetchrow(
            f"SELECT pg_backend_pid(), {_WHICH}",
            timeout=self.silence,
        )
        attending = asyncio.create_task(self._attend(connection, pid, which))
        try:
            yield
        finally:
            attending.cancel()
            await asyncio.wait([attending])

    async def _attend(self, connection: Connection, pid: int, which: str) -> None:
        unanswered = missed = 0
        while unanswered < _MOST_UNANSWERED and missed < _MOST_MISSED:
            await asyncio.sleep(self._statement)
            try:
                is_there = await self._is_there(self._led[connection], pid, which)
            except LOST:
                unanswered += 1
                continue
            except asyncpg.TooManyConnectionsError:
                unanswered = 0
                continue
            except asyncpg.PostgresError:
                # A refusal is an answer, though it may be another's.
                is_there = None
            except Exception as exc:  # noqa: BLE001 - whatever keeps us from asking, nobody is waited for without end
                _log.info("it cannot be asked whether a server still works: %s", type(exc).__name__)
                is_there = None
            unanswered = 0
            missed = missed + 1 if is_there is None else 0
            if is_there is False:
                break
        connection.terminate()

    async def _is_there(self, url: str, pid: int, which: str) -> bool | None:
        """Whether the server still works on it; None where others answered in its stead."""
        for _ in range(_MOST_ASKED):
            probe = await self._to(url, "any")
            try:
                asked = f"SELECT {_WHICH} = $2, EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = $1)"  # noqa: S608 - as above
                is_same, is_there = await probe.fetchrow(asked, pid, which, timeout=self.silence)
            finally:
                probe.terminate()
            if is_same:
                return bool(is_there)
        return None


def _milliseconds(seconds: float) -> str:
    return str(max(round(seconds * 1000), 1))
