"""The process that is killed: it warms up first, and logs its receipts in a file beside the
book.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

from memoranda import Book, Limits, MemorandaError, Receipt
from memoranda.assembly import engine_addresses
from memoranda.assembly import open as open_book
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.testing.embedder import StubEmbedder
from proofs._kill.marks import Aim, Marks, Point, Watch, watched
from proofs._kill.operations import OWNERS, Known, Operation, perform

#: So few that a statement often archives another one.
LIMITS = Limits(memories_per_owner=40, at_capacity="evict_oldest")
TASKS = 9


@dataclass(frozen=True, slots=True)
class Assignment:
    """Task of a writer until it is killed or stopped."""

    book: Path
    log: Path
    name: str
    seed: int
    aim: Aim | None
    #: The control: it acknowledges writes before they are committed.
    hasty: bool = False


def live(connection: Connection, marks: Marks) -> None:
    """Wait for an assignment, then write until the end."""
    assignment = connection.recv()
    asyncio.run(_Writer(assignment, connection, marks).write())


@asynccontextmanager
async def opened(path: Path, **options: Any) -> AsyncIterator[Book]:
    """Open a book with this proof's limits and connections."""

    async def open_engine(
        address: Path, *, create: bool = True, read_only: bool = False
    ) -> SqliteEngine:
        return await SqliteEngine.open(address, create=create, read_only=read_only, **options)

    with patch.object(engine_addresses, "_open_engine", open_engine):
        async with open_book(path, limits=LIMITS, embed=StubEmbedder()) as book:
            yield book


class _Writer:
    def __init__(self, assignment: Assignment, connection: Connection, marks: Marks) -> None:
        self._assignment = assignment
        self._marks = marks
        self._watch = Watch(marks, assignment.aim, connection.send_bytes)
        self._rng = random.Random(assignment.seed)
        self._log = os.open(assignment.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._connection = connection
        self._count = 0

    async def write(self) -> None:
        if self._assignment.hasty:
            SqliteFile.write = _hasty(SqliteFile.write)  # type: ignore[method-assign]
        async with opened(self._assignment.book, connect=watched(self._watch)) as book:
            known = {owner: await Known.read(book, owner) for owner in OWNERS}
            self._watch.opened()
            self._connection.send_bytes(b"writing")
            tasks = [self._task(book, known, OWNERS[place % len(OWNERS)]) for place in range(TASKS)]
            if self._aims_at_checkpoints():
                tasks.append(self._checkpoints(book))
            await asyncio.gather(*tasks)

    def _aims_at_checkpoints(self) -> bool:
        aim = self._assignment.aim
        return aim is not None and aim.point is Point.CHECKPOINT

    async def _task(self, book: Book, known: dict[str, Known], owner: str) -> None:
        while not self._marks["stop"]:
            self._count += 1
            id = f"zq{self._assignment.name}x{self._count}qz"
            operation = known[owner].choose(id, owner, self._rng)
            self._say({"asked": asdict(operation)})
            try:
                receipt = await perform(book, operation)
            except MemorandaError as error:
                self._say({"refused": id, "code": error.code})
            else:
                self._watch.received()
                self._say({"told": id, **spelled(receipt)})
                known[owner].learn(operation, receipt)
            self._watch.told()

    async def _checkpoints(self, book: Book) -> None:
        engine = book.engine
        assert isinstance(engine, SqliteEngine)
        while not self._marks["stop"]:
            await asyncio.sleep(0.005)
            await engine.file.checkpoint()

    def _say(self, line: dict[str, Any]) -> None:
        """Write in one system call, so that a line written before a kill is complete in the file,
        but perhaps for the last one.
        """
        os.write(self._log, json.dumps(line).encode() + b"\n")


def spelled(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt in the form that is logged and compared."""
    return {
        "position": receipt.position,
        "items": [
            [item.verb.value, item.type.value, str(item.id), item.version] for item in receipt.items
        ],
        "ignored": [[part.item, part.code, str(part.id)] for part in receipt.ignored],
    }


def said(log: Path) -> list[tuple[Operation, dict[str, Any] | None]]:
    """Return each operation with its answer; None if there was no answer."""
    # The system may cut the write of a line short when it kills the process: nobody has read what
    # has no end.
    whole = log.read_bytes().split(b"\n")[:-1] if log.exists() else []
    lines = [json.loads(line) for line in whole]
    answers = {
        line.get("told") or line.get("refused"): line for line in lines if "asked" not in line
    }
    return [
        (operation, answers.get(operation.id))
        for operation in (Operation(**line["asked"]) for line in lines if "asked" in line)
    ]


def _hasty(write: Any) -> Any:
    """Return a write that acknowledges before the commit."""

    async def hasty(self: SqliteFile, work: Any) -> Any:
        loop = asyncio.get_running_loop()
        early: asyncio.Future[Any] = loop.create_future()

        def settle(result: Any) -> None:
            if not early.done():
                early.set_result(result)

        def eager(connection: Any) -> Any:
            result = work(connection)
            loop.call_soon_threadsafe(settle, result)
            return result

        def settle_error(task: asyncio.Task[Any]) -> None:
            if (
                not task.cancelled()
                and (error := task.exception()) is not None
                and not early.done()
            ):
                early.set_exception(error)

        asyncio.ensure_future(write(self, eager)).add_done_callback(settle_error)
        return await early

    return hasty
