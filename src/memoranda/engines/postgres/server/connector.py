"""Opens connections to a server, one of several hosts, and watches those that run long
statements.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import asyncpg

from memoranda.engines.postgres.server.address import Place
from memoranda.engines.postgres.server.faults import LOST
from memoranda.errors import InvalidInput

#: A connection of the driver, which has no types.
Connection: TypeAlias = Any

#: Longer than the server's own limits, so that the server cancels first, reports why, and keeps the
#: connection.
_SILENCE = 1.5
#: A server that does not answer so often in a row is considered gone.
_MOST_UNANSWERED = 2
#: An address may lead to several servers: attempts to reach the right one,
_MOST_ASKED = 4
#: and how many such checks may miss it in a row, though others answer, before it is considered
#: gone.
_MOST_MISSED = 20
#: Identifies a server: no two were started in the same microsecond.
_WHICH = "pg_postmaster_start_time()::text || coalesce(host(inet_server_addr()), '')"
#: Errors after which the next host is tried.
_NEXT_HOST = (*LOST, asyncpg.TooManyConnectionsError)

_log = logging.getLogger("memoranda.postgres")


class Connector:
    """Opens the connections of one open book."""

    def __init__(self, place: Place, *, read_only: bool) -> None:
        self._urls = list(place.urls)
        #: The address of each connection.
        self._url_of: WeakKeyDictionary[Connection, str] = WeakKeyDictionary()
        self._wants = (
            "read-write" if len(place.urls) > 1 and not (place.chooses or read_only) else None
        )
        self.read_only = read_only
        self._statement = place.longest_statement
        self._wait = place.longest_wait
        #: Seconds to wait for a lock in work that can be done later, because others wait behind it.
        self.patience = min(1.0, place.longest_wait / 4)
        #: Seconds to wait for the answer to an ordinary statement; a server that takes longer is
        #: considered silent.
        self.silence = _SILENCE * max(place.longest_statement, place.longest_wait)
        self._settings = {
            "search_path": f'"{place.schema}"',
            "application_name": place.application,
            "statement_timeout": _milliseconds(place.longest_statement),
            "lock_timeout": _milliseconds(place.longest_wait),
            # A client that vanished during a transaction must not block others.
            "idle_in_transaction_session_timeout": _milliseconds(2 * self.silence),
            # Every statement has an index. It is planned once, and must not be planned for tables
            # that were small, or that were not analysed yet.
            "plan_cache_mode": "force_generic_plan",
            "enable_seqscan": "off",
            # Tables are joined in the order of the statement. The planner takes columns for
            # independent that are not (an owner, a shelf of the owner), and its guess for both may
            # be a thousand times wrong.
            "join_collapse_limit": "1",
            # A role may have it off, which makes row policies raise errors instead of filtering.
            "row_security": "on",
            "tcp_keepalives_idle": "30",
            "tcp_keepalives_interval": "10",
            "tcp_keepalives_count": "3",
        }
        if read_only:
            self._settings["default_transaction_read_only"] = "on"

    async def connect(self) -> Connection:
        """Open a connection to the first host that accepts one; the host that did so last is tried
        first.
        """
        for left, url in reversed(list(enumerate(reversed(self._urls)))):
            try:
                connection = await self._to(url, self._wants)
            except _NEXT_HOST as exc:
                if not left:
                    raise
                _log.info("a host of the book is skipped: %s", str(exc) or "it did not answer")
            else:
                self._urls.remove(url)
                self._urls.insert(0, url)
                return connection
        raise AssertionError("the last host connects or raises")

    async def _to(self, url: str, wants: str | None) -> Connection:
        try:
            connection = await asyncpg.connect(
                url,
                timeout=self._wait / len(self._urls),
                server_settings=self._settings,
                target_session_attrs=wants,
            )
            self._url_of[connection] = url
            return connection
        except asyncpg.exceptions.ClientConfigurationError as exc:
            raise InvalidInput(f"address: {exc}", field="address") from None
        except (
            asyncpg.UndefinedObjectError,
            asyncpg.CantChangeRuntimeParamError,
            asyncpg.InvalidParameterValueError,
        ) as exc:
            # The driver passes unknown options on as settings of the server.
            raise InvalidInput(
                f"address: the server does not know this option: {exc}", field="address"
            ) from None
        except ssl.SSLError:
            raise
        except (ValueError, OverflowError):
            # The driver's message may quote a part of the password.
            raise InvalidInput("address: the driver cannot read it", field="address") from None

    @asynccontextmanager
    async def watched(self, connection: Connection) -> AsyncIterator[None]:
        """Let a long statement run while its server answers other connections; otherwise close the
        connection.
        """
        pid, which = await connection.fetchrow(
            f"SELECT pg_backend_pid(), {_WHICH}",
            timeout=self.silence,
        )
        watching = asyncio.create_task(self._watch(connection, pid, which))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def _watch(self, connection: Connection, pid: int, which: str) -> None:
        unanswered = missed = 0
        while unanswered < _MOST_UNANSWERED and missed < _MOST_MISSED:
            await asyncio.sleep(self._statement)
            try:
                is_there = await self._is_there(self._url_of[connection], pid, which)
            except LOST:
                unanswered += 1
                continue
            except asyncpg.TooManyConnectionsError:
                unanswered = 0
                continue
            except asyncpg.PostgresError:
                # A refusal is an answer, but perhaps of another server.
                is_there = None
            except Exception as exc:  # noqa: BLE001 - no error of the check may end the watching
                _log.info("the check whether a server still works failed: %s", type(exc).__name__)
                is_there = None
            unanswered = 0
            missed = missed + 1 if is_there is None else 0
            if is_there is False:
                break
        connection.terminate()

    async def _is_there(self, url: str, pid: int, which: str) -> bool | None:
        """True if the server still runs the statement; None if every try reached another server."""
        for _ in range(_MOST_ASKED):
            probe = await self._to(url, "any")
            try:
                asked = (
                    f"SELECT {_WHICH} = $2, EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = $1)"  # noqa: S608 - as above
                )
                is_same, is_there = await probe.fetchrow(asked, pid, which, timeout=self.silence)
            finally:
                probe.terminate()
            if is_same:
                return bool(is_there)
        return None


def _milliseconds(seconds: float) -> str:
    return str(max(round(seconds * 1000), 1))
