"""The recorder, compiled with the machine's own C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

_SOURCE = Path(__file__).with_name("recorder.c")


class CannotRecord(Exception):
    """This machine cannot compile or preload the recorder; the message says why."""


def compiler() -> str:
    """Return the C compiler; raise if this machine cannot record."""
    if sys.platform != "linux":
        raise CannotRecord(
            f"writes are recorded through LD_PRELOAD, on Linux only; this is {sys.platform}"
        )
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    raise CannotRecord(
        "no C compiler: install one (say `apt-get install gcc libc6-dev`), or set CC"
    )


def compiled_recorder(folder: Path) -> Path:
    """Build the recorder in the folder, as a library that can be preloaded."""
    name, library = compiler(), folder / "recorder.so"
    options = ["-O1", "-Wall", "-shared", "-fPIC", "-o", str(library)]
    command = [name, *options, str(_SOURCE), "-ldl", "-lpthread"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        raise CannotRecord(f"{name} could not build the recorder: {outcome.stderr.strip()}")
    return library
