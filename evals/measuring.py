"""What a process holds of this machine; without anything but the standard library."""

from __future__ import annotations

import os
from pathlib import Path


def resident() -> int | None:
    """Bytes of this process in memory; None where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
