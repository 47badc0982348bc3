"""Killed writers: every acknowledged write is there, and no operation is applied in part."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import tempfile
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path

from proofs._kill.marks import OWN_HAND, Aim, Marks, Point
from proofs._kill.reckoning import Broken, Lost, Reckoning
from proofs._kill.writer import Assignment, live, opened, said

ABOUT = (
    "a writer killed at any point of a commit loses no acknowledged write and leaves none in part"
)
CI_COUNT = 500
FULL_COUNT = 5000
COVERS = "model storage door.py engines/sqlite"

#: How often each point comes in a round of kills; a random time is as good a point as any other.
ROUND = {
    Point.BEFORE_BEGIN: 1,
    Point.BEGUN: 1,
    Point.FIRST_WRITE: 3,
    Point.WITHIN: 4,
    Point.BETWEEN: 4,
    Point.BEFORE_COMMIT: 2,
    Point.IN_COMMIT: 4,
    Point.AFTER_COMMIT: 3,
    Point.TELLING: 2,
    Point.CHECKPOINT: 1,
    Point.OPENING: 1,
    Point.ANY_TIME: 6,
}
#: Least share of kills between a commit's first write and its receipts.
STRUCK_SHARE = 0.4
#: A book is put away after this many kills, so that looking through it stays quick.
KILLS_OF_A_BOOK = 10
THOROUGH_EVERY = 5
#: Every so many kills another process writes to the same book, and goes on.
BESIDE_EVERY = 3
CONTROL_KILLS = 60
#: A writer that does not come to its point by then never will.
PATIENCE_SECONDS = 30.0

_fork = multiprocessing.get_context("fork")


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kill-") as folder:
        asyncio.run(_warm(Path(folder, "warm.db")))
        series = Series(Path(folder), rng)
        series.kill(count)
        if series.struck < STRUCK_SHARE * count:
            raise Broken(
                f"only {series.struck} of {count} kills struck between first write and receipt"
            )
        caught = control(Path(folder), rng)
    points = ", ".join(f"{point.value} {times}" for point, times in sorted(series.points.items()))
    return (
        f"{series.struck} struck between first write and receipt, {series.acknowledged} acknowledged writes, 0 lost; "
        f"{series.resent} sent again, of which {series.survived} had been committed; groups of up to "
        f"{series.largest}; control caught after {caught} kills ({points})"
    )


def control(folder: Path, rng: random.Random) -> int:
    """Check that a build that acknowledges before the commit loses something; return after how many
    kills.
    """
    series = Series(folder, rng, hasty=True)
    for kills in range(1, CONTROL_KILLS + 1):
        try:
            series.kill(1, (Point.WITHIN, Point.BETWEEN, Point.BEFORE_COMMIT))
        except Lost:
            return kills
    raise Broken(f"a build that acknowledges too early lost nothing in {CONTROL_KILLS} kills")


async def _warm(path: Path) -> None:
    """Import and compile what a writer needs, before there are any writers."""
    async with opened(path) as book:
        thread = await book.thread("ann", agent="helper")
        await thread.append("user", "the kettle is on")
        await book.remember("ann", "likes tea", agent="helper")
        await book.recall("ann", "tea", agent="helper")


@dataclass(slots=True)
class Warm:
    """A writer that waits for its assignment."""

    process: ForkProcess
    connection: Connection
    marks: Marks

    @classmethod
    def fork(cls) -> Warm:
        ours, theirs = _fork.Pipe()
        marks = Marks()
        process = _fork.Process(target=live, args=(theirs, marks), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours, marks)

    def end(self) -> None:
        """Kill it, and wait until the system has released its resources."""
        self.process.kill()
        self.process.join()
        self.connection.close()


@dataclass(slots=True)
class Series:
    """A series of kills, each followed by a check."""

    folder: Path
    rng: random.Random
    hasty: bool = False
    struck: int = 0
    acknowledged: int = 0
    resent: int = 0
    survived: int = 0
    largest: int = 0
    points: Counter[Point] = field(default_factory=Counter)
    _kills: int = 0
    _pool: deque[Warm] = field(default_factory=deque)
    _book: Reckoning | None = None
    _points_to_come: list[Point] = field(default_factory=list)

    def kill(self, count: int, points: tuple[Point, ...] = ()) -> None:
        """Kill this many writers, at these points or at all of them in turn."""
        try:
            for left in range(count, 0, -1):
                self._one(self.rng.choice(points) if points else self._next_point())
                if left == 1 or self._kills % KILLS_OF_A_BOOK == 0:
                    self._put_away()
        finally:
            while self._pool:
                self._pool.pop().end()

    def _next_point(self) -> Point:
        if not self._points_to_come:
            self._points_to_come = [point for point, times in ROUND.items() for _ in range(times)]
            self.rng.shuffle(self._points_to_come)
        return self._points_to_come.pop()

    def _one(self, point: Point) -> None:
        self._kills += 1
        book = self._book = self._book or Reckoning(self._fresh_path(point))
        if point is Point.OPENING and self.rng.random() < 0.5:
            # Half of them hit a book while it is created.
            self._put_away()
            book = self._book = Reckoning(self._fresh_path(point))
        beside = (
            self._begin(None)
            if self._kills % BESIDE_EVERY == 0 and point is not Point.OPENING
            else None
        )
        victim = self._begin(self._aim(point))
        self._wait_for_death(victim, point)
        self.points[point] += 1
        self.struck += victim.marks.struck
        self.largest = max(self.largest, victim.marks["largest"])
        if beside is not None:
            self._let_finish(beside)
        lately = [
            each
            for log in sorted(self.folder.glob(f"{book.path.name}-{self._kills}*.log"))
            for each in said(log)
        ]
        asyncio.run(book.check(lately, thorough=self._kills % THOROUGH_EVERY == 0))

    def _aim(self, point: Point) -> Aim:
        if point is Point.OPENING:
            return Aim(point, 0, 0, self.rng.randrange(50))
        return Aim(point, self.rng.randint(1, 12), self.rng.randint(0, 4), self.rng.randint(1, 5))

    def _fresh_path(self, point: Point) -> Path:
        return (self.folder / f"book{'-hasty' if self.hasty else ''}{self._kills}.db").resolve()

    def _begin(self, aim: Aim | None) -> Warm:
        """Give a warm writer its assignment, and warm up others."""
        while len(self._pool) < 3:
            self._pool.append(Warm.fork())
        warm = self._pool.popleft()
        assert self._book is not None
        name = f"{self._kills}{'a' if aim else 'b'}"
        log = self.folder / f"{self._book.path.name}-{name}.log"
        seed = self.rng.getrandbits(64)
        warm.connection.send(Assignment(self._book.path, log, name, seed, aim, self.hasty))
        return warm

    def _wait_for_death(self, victim: Warm, point: Point) -> None:
        try:
            if point not in OWN_HAND:
                self._strike(victim, point)
            victim.process.join(PATIENCE_SECONDS)
            if victim.process.exitcode is None:
                raise Broken(f"a writer never came to its point: {point.value}")
            if victim.process.exitcode >= 0:
                raise Broken(
                    f"a writer ended by itself, status {victim.process.exitcode}, before {point.value}"
                )
        finally:
            victim.end()

    def _strike(self, victim: Warm, point: Point) -> None:
        """Kill the writer at the moment that it announces, or a little later."""
        wanted, delay = (b"writing", 0.08) if point is Point.ANY_TIME else (b"here", 0.0015)
        while True:
            if not victim.connection.poll(PATIENCE_SECONDS):
                raise Broken(f"a writer never came to its point: {point.value}")
            try:
                told = victim.connection.recv_bytes()
            except EOFError:
                raise Broken(f"a writer ended by itself before {point.value}") from None
            if told == wanted:
                break
        time.sleep(self.rng.random() ** 2 * delay)
        victim.process.kill()

    def _let_finish(self, beside: Warm) -> None:
        """Let the other writer continue for a moment, then end normally."""
        time.sleep(0.02)
        beside.marks["stop"] = 1
        beside.process.join(PATIENCE_SECONDS)
        status = beside.process.exitcode
        beside.end()
        if status != 0:
            raise Broken(f"the writer beside the one that was killed ended with status {status}")

    def _put_away(self) -> None:
        """Check a book for the last time."""
        book, self._book = self._book, None
        if book is None:
            return
        asyncio.run(book.check([], thorough=True))
        self.acknowledged += book.acknowledged
        self.resent += book.resent
        self.survived += book.survived
        for path in self.folder.glob(f"{book.path.name}*"):
            path.unlink()
