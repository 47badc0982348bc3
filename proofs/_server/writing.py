"""The process that writes to a book on a server until it is killed, and logs its receipts in a
file.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import memoranda
from memoranda import Book, MemorandaError, OutcomeUnknown
from memoranda.assembly import Opening
from memoranda.engines.postgres.server import server as servers
from memoranda.engines.postgres.server.server import Server
from memoranda.engines.postgres.server.session import Session
from proofs._kill.operations import OWNERS, Known, perform
from proofs._kill.reckoning import QUERIES, Reckoning, Stored
from proofs._kill.writer import LIMITS, spelled

TASKS = 6
#: Between tries while the server is away.
_PAUSE_SECONDS = 0.02


class Point(StrEnum):
    """The point at which a writer kills itself; at ``ANY_TIME`` another process kills it."""

    WITHIN = "within"
    BEFORE_COMMIT = "before the commit"
    IN_COMMIT = "in the commit"
    AFTER_COMMIT = "after the commit"
    ANY_TIME = "any time"


@dataclass(frozen=True, slots=True)
class Assignment:
    """Task of a writer until it is killed or stopped."""

    address: str
    log: Path
    name: str
    seed: int
    point: Point
    #: At which occasion.
    after: int
    #: The control: it acknowledges writes before they are committed.
    hasty: bool = False
    #: Commit as the server is set to.
    trusting: bool = False


def opened(address: str) -> Opening:
    """Open a book with this proof's limits."""
    return memoranda.open(address, limits=LIMITS, embed=None, worker=False)


def live(connection: Connection) -> None:
    """Wait for an assignment, then write until the end or until told to stop."""
    assignment = connection.recv()
    _strike_at(assignment.point, striking(assignment.after))
    if assignment.trusting:
        servers._WRITE = servers._WRITE.partition("; SELECT")[0]
    if assignment.hasty:
        Server.write = hasty(Server.write)  # type: ignore[method-assign]
    asyncio.run(Writer(assignment, connection).write())


class Writer:
    """Writes to a book, and logs what it asked and was told."""

    def __init__(self, assignment: Assignment, connection: Connection) -> None:
        self._assignment = assignment
        self._connection = connection
        self._rng = random.Random(assignment.seed)
        self._log = os.open(assignment.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._count = 0

    async def write(self) -> None:
        async with opened(self._assignment.address) as book:
            known = {owner: await Known.read(book, owner) for owner in OWNERS}
            self._connection.send_bytes(b"writing")
            await asyncio.gather(
                *(self._task(book, known, OWNERS[place % len(OWNERS)]) for place in range(TASKS))
            )

    async def _task(self, book: Book, known: dict[str, Known], owner: str) -> None:
        while not self._connection.poll():
            self._count += 1
            id = f"zq{self._assignment.name}x{self._count}qz"
            operation = known[owner].choose(id, owner, self._rng)
            self._say({"asked": asdict(operation)})
            try:
                receipt = await perform(book, operation)
            except OutcomeUnknown:
                await asyncio.sleep(_PAUSE_SECONDS)  # nobody was told anything
            except MemorandaError as error:
                self._say({"refused": id, "code": error.code})
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                self._say({"told": id, **spelled(receipt)})
                known[owner].learn(operation, receipt)

    def _say(self, line: dict[str, Any]) -> None:
        """Write in one system call, so that a line written before a kill is complete in the
        file.
        """
        os.write(self._log, json.dumps(line).encode() + b"\n")


class ServerReckoning(Reckoning):
    """The same check for a book on a server."""

    def __init__(self, address: str) -> None:
        super().__init__(Path(address))
        self.address = address

    def open(self) -> AbstractAsyncContextManager[Book]:
        return opened(self.address)

    async def stored(self, book: Book, thorough: bool) -> Stored:
        async def read(session: Session) -> Stored:
            return Stored(*[await session.text(query) for query in QUERIES])

        server: Server = book.engine.server  # type: ignore[attr-defined]
        return await server.read(read, whole=True)


# ── death ─────────────────────────────────────────────────────────────────────────────────────────


def striking(after: int) -> Callable[[], None]:
    """Return the function that kills this process when it is called for the n-th time."""
    left = after

    def strike() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return strike


def _strike_at(point: Point, strike: Callable[[], None]) -> None:
    if point is Point.WITHIN:
        Session._touch = before(Session._touch, strike)  # type: ignore[method-assign]
    elif point is Point.BEFORE_COMMIT:
        Server._commit = before(Server._commit, strike)  # type: ignore[method-assign]
    elif point is Point.IN_COMMIT:
        Server._commit = meanwhile(Server._commit, strike)  # type: ignore[method-assign]
    elif point is Point.AFTER_COMMIT:
        Server._commit = behind(Server._commit, strike)  # type: ignore[method-assign]


def before(call: Any, strike: Callable[[], None]) -> Any:
    """Patch a call: strike before it."""

    async def struck(self: Any, *values: Any, **named: Any) -> Any:
        strike()
        return await call(self, *values, **named)

    return struck


def meanwhile(call: Any, strike: Callable[[], None]) -> Any:
    """Patch a call: strike while its answer is awaited."""

    async def struck(self: Any, *values: Any, **named: Any) -> Any:
        # The word has gone to the server when this runs, and its answer has not been read.
        asyncio.get_running_loop().call_soon(strike)
        return await call(self, *values, **named)

    return struck


def behind(call: Any, strike: Callable[[], None]) -> Any:
    """Patch a call: strike after it."""

    async def struck(self: Any, *values: Any, **named: Any) -> Any:
        done = await call(self, *values, **named)
        strike()
        return done

    return struck


def hasty(write: Any) -> Any:
    """Patch the product so that it acknowledges before the commit."""

    async def acknowledging(self: Any, work: Any, **how: Any) -> Any:
        early: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def eager(session: Any) -> Any:
            result = await work(session)
            if not early.done():
                early.set_result(result)
            await asyncio.sleep(0.001)
            return result

        def settle_error(task: asyncio.Task[Any]) -> None:
            if (
                not task.cancelled()
                and (error := task.exception()) is not None
                and not early.done()
            ):
                early.set_exception(error)

        asyncio.ensure_future(write(self, eager, **how)).add_done_callback(settle_error)
        return await early

    return acknowledging
