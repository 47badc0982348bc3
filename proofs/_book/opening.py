"""Opens books for proofs that do not concern the disk: without syncs, and on request without
threads.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest.mock import patch

from memoranda.assembly import engine_addresses
from memoranda.engines.sqlite import engine as sqlite_engine
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.engines.sqlite.file.connections import Connector
from memoranda.engines.sqlite.file.faults import translated
from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.engines.sqlite.file.writer import Counters
from memoranda.ports import Engine

T = TypeVar("T")


async def _open_engine(
    address: str | Path, *, create: bool = True, read_only: bool = False
) -> Engine:
    return await SqliteEngine.open(
        Path(address), create=create, read_only=read_only, synchronous="OFF"
    )


@contextmanager
def without_syncs(*, rewriting: bool = True) -> Iterator[None]:
    """Open every book without syncs; if ``rewriting`` is off, erasures leave the rewriting of the
    file to a worker.
    """
    at_once = sqlite_engine.SCRUB_AT_ONCE_BYTES if rewriting else -1
    with (
        patch.object(engine_addresses, "_open_engine", _open_engine),
        patch.object(os, "fsync", lambda descriptor: None),
        patch.object(sqlite_engine, "SCRUB_AT_ONCE_BYTES", at_once),
    ):
        yield


class _ThreadlessFile:
    """A file whose work runs in the caller's thread, for callers that wait for each answer
    anyway.
    """

    def __init__(self, path: Path) -> None:
        connector = Connector(path.resolve(), "OFF", 30.0, sqlite3.connect)
        self.path = path
        self._writing = connector.writing()
        self._reading = connector.reading()
        self.counters = Counters()

    async def read(self, work: Callable[[sqlite3.Connection], T], **_: Any) -> T:
        with translated(self.path):
            self._reading.execute("BEGIN")
            try:
                return work(self._reading)
            finally:
                self._reading.execute("ROLLBACK")

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with translated(self.path):
            self._writing.execute("BEGIN IMMEDIATE")
            try:
                answer = work(self._writing)
                self._writing.execute("COMMIT")
            finally:
                if self._writing.in_transaction:
                    self._writing.execute("ROLLBACK")
            return answer

    async def checkpoint(self) -> bool:
        """Leave the log as it is, as while another process reads."""
        return False

    async def close(self) -> None:
        self._reading.close()
        self._writing.close()


async def _open_threadless(address: str | Path, **options: Any) -> Engine:
    path = Path(address)
    if not path.exists():
        await (await _open_engine(path, **options)).close()
    return SqliteEngine(cast(SqliteFile, _ThreadlessFile(path)), path)


@contextmanager
def without_threads() -> Iterator[None]:
    """Open every book, within ``without_syncs``, so that calls run in the caller's thread."""
    with patch.object(engine_addresses, "_open_engine", _open_threadless):
        yield
