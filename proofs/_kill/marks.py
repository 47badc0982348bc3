"""Marks in shared memory that outlive a killed process, and the watched connection that makes
them.
"""

from __future__ import annotations

import mmap
import os
import signal
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum, auto
from typing import Any


class Point(StrEnum):
    """The point at which a writer is killed."""

    BEFORE_BEGIN = "before begin"
    BEGUN = "after begin"
    FIRST_WRITE = "after the first write"
    WITHIN = "between writes of one operation"
    BETWEEN = "between operations"
    BEFORE_COMMIT = "before commit"
    #: Python cannot time a signal between the log's write and its sync: these kill anywhere inside
    #: the commit.
    IN_COMMIT = "inside commit"
    AFTER_COMMIT = "after commit"
    TELLING = "between receipts"
    CHECKPOINT = "inside a checkpoint"
    OPENING = "while opening"
    ANY_TIME = "at any time"


#: Points at which the writer kills itself; at the others the test does, a moment after the
#: announcement.
OWN_HAND = frozenset(Point) - {Point.IN_COMMIT, Point.CHECKPOINT, Point.ANY_TIME}


#: Commits after which a writer no longer waits for a group of three.
_SOON = 200
_LATE = 3 * _SOON


class Place(IntEnum):
    """The position of the writing thread."""

    OUTSIDE = 0
    BEGINNING = auto()
    INSIDE = auto()
    COMMITTING = auto()
    COMMITTED = auto()
    ROLLED_BACK = auto()
    CHECKPOINTING = auto()


class Marks:
    """A few counters that the test reads after their process has died; each is written by one
    thread only.
    """

    _NAMES = ("place", "commits", "writes", "done", "told", "group", "largest", "stop")

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self._cells = memoryview(self._memory).cast("q")

    def __getitem__(self, name: str) -> int:
        return self._cells[self._NAMES.index(name)]

    def __setitem__(self, name: str, value: int) -> None:
        self._cells[self._NAMES.index(name)] = value

    def clear(self) -> None:
        for name in self._NAMES:
            self[name] = 0

    @property
    def struck(self) -> bool:
        """Return True if a commit had begun to write and a caller still waited for its receipt."""
        if not self["writes"]:
            return False
        return self["place"] in (Place.INSIDE, Place.COMMITTING) or self["done"] > self["told"]


@dataclass(slots=True)
class Aim:
    """The moment of a writer's death: at its n-th commit, or the first later one that reaches the
    point.
    """

    point: Point
    commit: int
    #: Operations of the group before the one in which it dies.
    operation: int
    #: Writes of that operation, or statements of an opening, before it dies.
    write: int


class Watch:
    """Watches the writing connection's statements, keeps the marks, and kills the process at the
    chosen point.
    """

    def __init__(
        self, marks: Marks, aim: Aim | None, signal_harness: Callable[[bytes], None]
    ) -> None:
        self._marks = marks
        self._aim = aim
        self._signal_harness = signal_harness
        self._statements = 0
        self._told_before = 0
        self._writes_of_operation = 0
        self._writing = False

    def opened(self) -> None:
        """Note that opening is done; commits count from here."""
        self._strike(Point.OPENING)
        self._writing = True

    def before(self, statement: str) -> None:
        marks = self._marks
        word = statement[:9]
        self._statements += 1
        if not self._writing:
            self._strike(Point.OPENING, self._statements > self._write)
        elif word.startswith("BEGIN IMM"):
            marks["place"] = Place.BEGINNING
            marks["commits"] += 1
            self._strike(Point.BEFORE_BEGIN)
        elif word.startswith("SAVEPOINT"):
            self._writes_of_operation = 0
            self._strike(Point.BETWEEN, marks["group"] > 0 and marks["writes"] > 0)
        elif word.startswith("COMMIT"):
            if not marks["group"]:
                # The only operation of a commit has no savepoint.
                self._count_operation()
            self._strike(Point.BEFORE_COMMIT, marks["writes"] > 0)
            marks["place"] = Place.COMMITTING
            self._call(Point.IN_COMMIT, marks["writes"] > 0)
        elif "wal_checkpoint" in statement:
            marks["place"] = Place.CHECKPOINTING
            self._call(Point.CHECKPOINT, True)
        elif _writes(word):
            enough = self._writes_of_operation >= self._write and marks["group"] >= self._operation
            self._strike(Point.WITHIN, enough)

    def after(self, statement: str) -> None:
        marks = self._marks
        word = statement[:9]
        if not self._writing:
            return
        if word.startswith("BEGIN IMM"):
            marks["writes"] = marks["group"] = self._writes_of_operation = 0
            self._told_before = marks["told"]
            marks["place"] = Place.INSIDE
            self._strike(Point.BEGUN)
        elif word.startswith("RELEASE"):
            self._count_operation()
        elif word.startswith("COMMIT"):
            marks["place"] = Place.COMMITTED
            marks["largest"] = max(marks["largest"], marks["group"])
            self._strike(Point.AFTER_COMMIT, marks["writes"] > 0)
        elif statement == "ROLLBACK":
            marks["place"] = Place.ROLLED_BACK
        elif "wal_checkpoint" in statement:
            marks["place"] = Place.OUTSIDE
        elif _writes(word):
            marks["writes"] += 1
            self._writes_of_operation += 1
            self._strike(Point.FIRST_WRITE, marks["writes"] == 1)

    def _count_operation(self) -> None:
        self._marks["group"] += 1
        self._marks["done"] += 1

    def received(self) -> None:
        """Die here if the chosen point lies between a receipt and its caller."""
        marks = self._marks
        some_told = marks["told"] > self._told_before
        # Where a commit takes no time, groups of three are rare, and on a busy machine groups of
        # two: after a while one caller that still waits is enough, and then any caller.
        waited = 0 if self._aim is None else marks["commits"] - self._aim.commit
        some_told = some_told or waited > _LATE
        self._strike(
            Point.TELLING,
            some_told and marks["done"] > marks["told"] + (0 if waited > _SOON else 1),
        )

    def told(self) -> None:
        """Note that the receipt was logged outside the book."""
        self._marks["told"] += 1

    @property
    def _write(self) -> int:
        return self._aim.write if self._aim else 0

    @property
    def _operation(self) -> int:
        """Return the operation to die at; if groups stay small, any operation after a while."""
        late = self._aim is None or self._marks["commits"] > self._aim.commit + 3
        return 0 if late or self._aim is None else self._aim.operation

    def _due(self, point: Point) -> bool:
        aim = self._aim
        return aim is not None and aim.point is point and self._marks["commits"] >= aim.commit

    def _strike(self, point: Point, here: bool = True) -> None:
        if here and self._due(point):
            os.kill(os.getpid(), signal.SIGKILL)

    def _call(self, point: Point, here: bool) -> None:
        if here and self._due(point):
            self._aim = None
            self._signal_harness(b"here")


def _writes(word: str) -> bool:
    return word.startswith(("INSERT", "UPDATE", "DELETE"))


def watched(watch: Watch) -> Callable[..., sqlite3.Connection]:
    """Return a maker of connections that watches the writing one."""

    class Watched(sqlite3.Connection):
        def execute(self, statement: str, parameters: Any = (), /) -> sqlite3.Cursor:
            watch.before(statement)
            cursor = super().execute(statement, parameters)
            watch.after(statement)
            return cursor

    def connect(database: str, **options: Any) -> sqlite3.Connection:
        if "mode=rw" in database:
            options["factory"] = Watched
        made: sqlite3.Connection = sqlite3.connect(database, **options)
        return made

    return connect
