"""The threads that read a file, each read from one consistent snapshot."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from memoranda.engines.sqlite.calls import Call, Intake, deliver
from memoranda.engines.sqlite.migrations import check_version


class Readers:
    """One thread a connection; whichever is free takes the next call."""

    def __init__(self, connections: Sequence[sqlite3.Connection], path: Path, version: int) -> None:
        self._path = path
        self._version = version
        self._intake = Intake(path)
        self._threads = [
            threading.Thread(target=self._run, args=(connection,), name="memoranda-reader", daemon=True)
            for connection in connections
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Call) -> None:
        self._intake.put(call)

    def finish(self) -> None:
        """Answer what waits, close the connections, and refuse what still comes."""
        self._intake.end()
        for thread in self._threads:
            thread.join()

    def _run(self, connection: sqlite3.Connection) -> None:
        try:
            while (call := self._intake.take()) is not None:
                if call.abandoned:
                    continue
                try:
                    self._read(connection, call)
                finally:
                    deliver([call])
        finally:
            connection.close()
            self._intake.shut()

    def _read(self, connection: sqlite3.Connection, call: Call) -> None:
        try:
            connection.execute("BEGIN")
            # This first look at the file is also what fixes the snapshot.
            check_version(connection, self._version, self._path)
            call.result = call.work(connection)
        except BaseException as exc:  # noqa: BLE001 - whatever it is, it belongs to the caller, not to this thread
            call.refuse(exc, self._path)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
