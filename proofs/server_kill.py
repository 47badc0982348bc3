"""Kills on a server: writers and the server itself are killed, and every acknowledged write is
there.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from proofs._kill.reckoning import Broken
from proofs._kill.writer import said
from proofs._server.own import ROLE, OwnServer
from proofs._server.writing import Assignment, Point, ServerReckoning, live, opened

ABOUT = "on a server, killed writers and killed servers lose no acknowledged write and leave none in part"
#: Writers killed; the server is killed a tenth as often.
CI_COUNT = 60
FULL_COUNT = 2_000
COVERS = "model storage door.py engines/postgres"

#: Writers that write at once, and are killed in one round.
_TOGETHER = 3
_WRITERS_BESIDE = 2
#: A book is put away after so many rounds, so that looking through it stays quick.
_ROUNDS_OF_A_BOOK = 6
_CONTROL_ROUNDS = 20
_PATIENCE_SECONDS = 60.0
#: How often each point comes.
_POINTS = {
    Point.WITHIN: 3,
    Point.BEFORE_COMMIT: 2,
    Point.IN_COMMIT: 3,
    Point.AFTER_COMMIT: 2,
    Point.ANY_TIME: 4,
}

_fork = multiprocessing.get_context("fork")


class Unruly(Exception):
    """A writer did not do its task, which says nothing about the book."""


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    # Syncing is on, as by default: what is proven is how a real server is run.
    with tempfile.TemporaryDirectory(prefix="server-kill-") as folder, OwnServer() as server:
        asyncio.run(_warm(server))
        series = Series(server, Path(folder), rng)
        try:
            while series.kills < count:
                series.kill_writers()
            series.put_away()
            # The role's default is to acknowledge before the log is written, unless a session asks
            # for more.
            server.say(
                f"ALTER ROLE {ROLE} SET synchronous_commit = off",
                "ALTER SYSTEM SET wal_writer_delay = '10s'",
                "SELECT pg_reload_conf()",
            )
            for _ in range(max(1, count // 10)):
                series.kill_server()
            series.put_away()
            done = told(series)
            controls = [hasty(series), unsynced(series)]
        finally:
            series.end()
    return f"{done}; controls caught after {controls[0]} and {controls[1]} rounds"


def told(series: Series) -> str:
    points = ", ".join(f"{point} {times}" for point, times in sorted(series.points.items()))
    return (
        f"{series.kills} writers killed ({points}), the server killed {series.servers} times under load; "
        f"{series.acknowledged} acknowledged writes, 0 lost; {series.resent} sent again, of which {series.survived} had "
        f"been committed"
    )


async def _warm(server: OwnServer) -> None:
    """Import what a writer needs, before there are any."""
    async with opened(server.new_book()) as book:
        thread = await book.thread("ann", agent="helper")
        await thread.append("user", "the kettle is on")
        await book.remember("ann", "likes tea", agent="helper")


def hasty(series: Series) -> int:
    """Check that a build loses a write if it acknowledges before the commit."""
    series.hasty = True
    try:
        return _caught(series, series.kill_writers, "a build that acknowledges too early")
    finally:
        series.hasty = False


def unsynced(series: Series) -> int:
    """Check that a build loses a write if the server acknowledges before its log is written."""
    series.trusting = True
    # A writer also ends with an error, and hears nothing more, where an acknowledged owner is gone.
    noticed = (Broken, Unruly, BrokenPipeError)
    return _caught(
        series, series.kill_server, "a build that lets its server not wait for its log", noticed
    )


def _caught(
    series: Series,
    strike: Callable[[], object],
    what: str,
    noticed: tuple[type[Exception], ...] = (Broken,),
) -> int:
    series.abandon()
    for round_ in range(1, _CONTROL_ROUNDS + 1):
        try:
            strike()
            series.put_away()
        except noticed:
            series.abandon()
            return round_
    raise Broken(f"{what} lost nothing in {_CONTROL_ROUNDS} rounds")


@dataclass(slots=True)
class Warm:
    """A writer that waits for its assignment."""

    process: ForkProcess
    connection: Connection

    @classmethod
    def fork(cls, writing: Callable[[Connection], None]) -> Warm:
        ours, theirs = _fork.Pipe()
        process = _fork.Process(target=writing, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def await_writing(self) -> None:
        """Wait until it writes or is dead."""
        if not self.connection.poll(_PATIENCE_SECONDS):
            raise Unruly("a writer never began")
        with suppress(EOFError):
            self.connection.recv_bytes()

    def end(self) -> None:
        """Kill it, and wait until the system has released its resources."""
        self.process.kill()
        self.process.join()
        self.connection.close()


@dataclass(slots=True)
class Series:
    """Rounds of kills, each followed by a check."""

    server: Any
    folder: Path
    rng: random.Random
    #: What a writer does, and the check of its book.
    writing: Callable[[Connection], None] = live
    reckoning: type[ServerReckoning] = ServerReckoning
    hasty: bool = False
    trusting: bool = False
    kills: int = 0
    servers: int = 0
    acknowledged: int = 0
    resent: int = 0
    survived: int = 0
    points: Counter[Point] = field(default_factory=Counter)
    _rounds: int = 0
    _pool: deque[Warm] = field(default_factory=deque)
    _running: list[Warm] = field(default_factory=list)
    _book: ServerReckoning | None = None

    def kill_writers(self) -> None:
        """Let some writers write to one book until each is dead."""
        book = self._next_book()
        points = self.rng.choices([*_POINTS], [*_POINTS.values()], k=_TOGETHER)
        writers = [self._begin(book, point) for point in points]
        for writer, point in zip(writers, points, strict=True):
            self._await_death(writer, point)
            self.points[point] += 1
        self.kills += 0 if self.hasty else _TOGETHER
        self._reckon(book)

    def kill_server(self) -> None:
        """Kill the server while writers write, start it again, and let them write on for a
        moment.
        """
        book = self._next_book()
        writers = [self._begin(book, Point.ANY_TIME) for _ in range(_WRITERS_BESIDE)]
        for writer in writers:
            writer.await_writing()
        time.sleep(self.rng.uniform(0.02, 0.3))
        self.server.kill()
        time.sleep(self.rng.uniform(0, 0.1))
        self.server.start_again()
        time.sleep(self.rng.uniform(0.05, 0.2))
        for writer in writers:
            writer.connection.send_bytes(b"enough")
            writer.process.join(_PATIENCE_SECONDS)
            if writer.process.exitcode != 0:
                raise Unruly(
                    f"a writer did not outlive its server: status {writer.process.exitcode}"
                )
        self.servers += 1
        self._reckon(book)

    def put_away(self) -> None:
        """Check a book for the last time."""
        book, self._book = self._book, None
        if book is not None:
            asyncio.run(book.check([], thorough=True))
            self.acknowledged += book.acknowledged
            self.resent += book.resent
            self.survived += book.survived

    def abandon(self) -> None:
        """Begin with another book."""
        self._book = None

    def end(self) -> None:
        """Stop all processes that still run."""
        for writer in (*self._pool, *self._running):
            writer.end()

    def _next_book(self) -> ServerReckoning:
        self._rounds += 1
        if self._rounds % _ROUNDS_OF_A_BOOK == 0:
            self.put_away()
        self._book = self._book or self.reckoning(self.server.new_book())
        return self._book

    def _begin(self, book: ServerReckoning, point: Point) -> Warm:
        while len(self._pool) < _TOGETHER:
            self._pool.append(Warm.fork(self.writing))
        writer = self._pool.popleft()
        self._running.append(writer)
        name = f"{self._rounds}{'abc'[len(self._running) - 1]}"
        after = self.rng.randint(1, 120 if point is Point.WITHIN else 40)
        log = self.folder / f"{self._rounds}-{name}.log"
        seed = self.rng.getrandbits(64)
        writer.connection.send(
            Assignment(book.address, log, name, seed, point, after, self.hasty, self.trusting)
        )
        return writer

    def _await_death(self, writer: Warm, point: Point) -> None:
        if point is Point.ANY_TIME:
            writer.await_writing()
            time.sleep(self.rng.uniform(0, 0.1))
            writer.process.kill()
        writer.process.join(_PATIENCE_SECONDS)
        if writer.process.exitcode is None or writer.process.exitcode >= 0:
            raise Unruly(f"a writer did not die {point}: status {writer.process.exitcode}")

    def _reckon(self, book: ServerReckoning) -> None:
        for writer in self._running:
            writer.end()
        self._running.clear()
        logs = sorted(self.folder.glob(f"{self._rounds}-*.log"))
        asyncio.run(book.check([each for log in logs for each in said(log)], thorough=False))
