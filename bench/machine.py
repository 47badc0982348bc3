"""Facts about the machine, without which the figures mean little."""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
import time
from pathlib import Path

from bench.figures import percentile


def facts(folder: Path) -> dict[str, str]:
    """Return facts about the machine, its Python, and the folder of the books."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "folder": f"{folder} ({_file_system(folder)})",
        "fsync": f"{fsync_ms(folder):.2f} ms median of 4 KiB",
        "pace": pace(),
        "load": load(),
    }


def pace() -> str:
    """Return the machine's speed at this moment; other load slows a processor down, and increases
    CPU time, too.
    """
    best = min(_loop() for _ in range(5))
    return f"{best * 1000:.1f} ms of CPU for 300,000 turns of a Python loop"


def _loop() -> float:
    began = time.process_time()
    total = 0
    for number in range(300_000):
        total += number * number % 7
    return time.process_time() - began


def load() -> str:
    """Return the load by other processes, with a warning if it is too high."""
    cores = os.cpu_count() or 1
    heavy = "" if load_now() < cores * 0.7 else ": busy with other things, so wall times say little"
    return f"{load_now()} on {cores} cores{heavy}"


def load_now() -> float:
    """Return the average number of runnable tasks in the last minute; 0 if the system does not
    count them.
    """
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0


def fsync_ms(folder: Path, times: int = 60) -> float:
    """Return the median time of a small durable write in the folder."""
    samples = []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(times):
            file.write(os.urandom(4096))
            began = time.perf_counter()
            os.fsync(file.fileno())
            samples.append((time.perf_counter() - began) * 1000)
    return percentile(samples, 0.5)


def resident_bytes() -> int | None:
    """Return the memory that this process uses; None if the system does not say."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return None
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _file_system(folder: Path) -> str:
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "file system not known"
    best = ("", "")
    for line in mounts.read_text().splitlines():
        _, where, kind = line.split()[:3]
        if folder.resolve().is_relative_to(where) and len(where) > len(best[0]):
            best = (where, kind)
    return best[1]
