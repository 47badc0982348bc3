"""A program that is killed while it writes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def killed_after(program: str, place: Path, lines: int) -> Iterator[list[str]]:
    """Run a program until it has printed so many lines, then kill it; yield all lines that it
    printed.
    """
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = subprocess.Popen(
        [sys.executable, "-c", program, str(place)],
        stdout=subprocess.PIPE,
        text=True,
        env=surroundings,
    )
    with running:
        assert running.stdout is not None
        printed = [running.stdout.readline() for _ in range(lines)]
        running.kill()
        printed += running.stdout.readlines()
    yield [line for line in printed if line.strip()]
