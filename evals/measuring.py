"""Memory and disk use of a process, with the standard library only."""

from __future__ import annotations

import os
from pathlib import Path


def resident() -> int | None:
    """Return the bytes of this process in memory; None if the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
