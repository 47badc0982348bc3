"""A process that stops a server after the proof that started it has ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_PATIENCE_SECONDS, _PAUSE_SECONDS = 5.0, 0.05


def watch(room: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start a process that stops the server and removes its folder when this process ends, however
    it ends.
    """
    # In a session of its own: whoever stops a proof kills its whole group.
    command = [sys.executable, __file__, str(room), str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def main(room: Path, folder: Path) -> None:
    """Wait until the proof's process has ended; if its folder still exists, stop the server."""
    sys.stdin.buffer.read()
    if room.exists():
        with suppress(OSError, ValueError, IndexError):
            _end(int((folder / "postmaster.pid").read_text().split()[0]))
        shutil.rmtree(room, ignore_errors=True)


def _end(server: int) -> None:
    os.kill(server, signal.SIGQUIT)
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until:
        os.kill(server, 0)  # raises once it is gone
        time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
