"""Checks of a book's health, its file and its server; each reports what it found and what to do."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import memoranda
from memoranda.cli.output.terminal import counted
from memoranda.model.changes import Job
from memoranda.model.query import BookFacts
from memoranda.model.server_facts import ReplicaFacts, ServerFacts

T = TypeVar("T")

#: File systems whose locks or syncs are not reliable enough for a shared log.
NETWORK = frozenset(
    "9p afs afpfs ceph cifs davfs fuse.davfs2 fuse.gcsfuse fuse.glusterfs fuse.juicefs fuse.rclone fuse.s3fs "
    "fuse.sshfs gfs2 glusterfs lustre ncpfs nfs nfs4 ocfs2 smb2 smb3 smbfs virtiofs".split()
)
IN_MEMORY = frozenset({"tmpfs", "ramfs"})

#: A larger log means that a reader keeps it from being truncated.
_LARGE_LOG = 64 * 1024 * 1024
_SLOW_SYNC_SECONDS = 0.05
_LEAST_FREE = 64 * 1024 * 1024
_OVERDUE = timedelta(hours=1)
_SYNCS = 5
#: The oldest SQLite with all features that the engine uses.
_OLDEST_SQLITE = (3, 37, 0)
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    #: ``note`` is worth knowing; ``warning`` makes the book unhealthy.
    state: Literal["ok", "note", "warning"]
    found: str
    #: What to do about it; empty if nothing is to be done.
    advice: str = ""


class HoldsFile(Protocol):
    """The open SQLite file of an engine."""

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query on the connection that reads."""

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query on the connection that writes."""


@runtime_checkable
class OnFile(Protocol):
    """An engine that keeps its book in a file on this machine."""

    @property
    def path(self) -> Path:
        """The path of the file."""

    @property
    def file(self) -> Any:
        """The engine's open SQLite file."""


def size_of(path: str | Path) -> int:
    """Return a file's size, or 0 if it does not exist."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


# ── the book ──────────────────────────────────────────────────────────────────────────────────────


async def integrity(file: HoldsFile) -> Check:
    """Check the structure of the SQLite file; ``memoranda verify`` checks more."""
    found = await file.read(lambda c: [str(row[0]) for row in c.execute("PRAGMA quick_check(5)")])
    if found == ["ok"]:
        return Check("integrity", "ok", "the file's structure is sound")
    return Check(
        "integrity",
        "warning",
        "; ".join(found),
        "restore a backup, or export what can still be read",
    )


async def durability(file: HoldsFile, *, writable: bool) -> Check:
    """Check that a commit is on the disk when it returns."""
    journal = await file.read(lambda c: str(c.execute("PRAGMA journal_mode").fetchone()[0]))
    if not writable:
        return Check("durability", "note", f"log {journal}, opened read-only")
    level = _SYNCHRONOUS[
        await file.write(lambda c: int(c.execute("PRAGMA synchronous").fetchone()[0]))
    ]
    if level in ("FULL", "EXTRA"):
        return Check(
            "durability",
            "ok",
            f"log {journal}, synchronous {level}: what has a receipt is on the disk",
        )
    return Check(
        "durability",
        "warning",
        f"synchronous is {level}",
        "a power cut loses writes that have a receipt: use synchronous FULL",
    )


def upkeep(facts: BookFacts, oldest: Job | None, now: datetime) -> list[Check]:
    """Check waiting jobs, dead jobs (given up until retried) and outdated search terms."""
    checks = []
    waiting, dead = facts.jobs.get("waiting", 0), facts.jobs.get("dead", 0)
    if oldest is not None and now - oldest.run_at > _OVERDUE:
        found = f"{waiting} waiting; the oldest has been due for {span(now - oldest.run_at)}"
        checks.append(Check("jobs", "warning", found, "run: memoranda jobs run"))
    else:
        checks.append(Check("jobs", "ok", f"{waiting} waiting" if waiting else "none waiting"))
    if dead:
        advice = "see: memoranda jobs list --state dead; then retry or drop each"
        checks.append(
            Check(
                "dead jobs",
                "warning",
                f"{counted(dead, 'job')} {'was' if dead == 1 else 'were'} given up",
                advice,
            )
        )
    if facts.stale_terms:
        found = f"{facts.stale_terms} passages have search terms of an older version; recall still finds them"
        checks.append(Check("terms", "note", found, "run: memoranda jobs run"))
    return checks


def meaning(vectors: Mapping[str, Any]) -> list[Check]:
    """Check that passages have vectors; a book without an embedder gets a note, not a warning."""
    reads, passages, lack = vectors["reads"], vectors["passages"], vectors["lack"]
    have = f"{vectors['have']} of {passages} passages have vectors of {reads}"
    if vectors["no_vectors_because"]:
        why, _, advice = vectors["no_vectors_because"].partition("; run: ")
        found = f"recall uses words alone: {why}" + (f"; {have}" if reads else "")
        checks = [Check("meaning", "note", found, f"run: {advice}" if advice else "")]
    elif lack:
        advice = "any open book computes them; to do it now, run: memoranda jobs run"
        checks = [
            Check("meaning", "note", f"recall uses words and meaning; {have}, {lack} wait", advice)
        ]
    else:
        checks = [Check("meaning", "ok", f"recall uses words and meaning; {have}")]
    for name, made in vectors["making"].items():
        found = (
            f"{made} of {passages} passages have vectors of {name}, which recall does not use yet"
        )
        advice = "to finish them and switch, run: memoranda reembed"
        checks.append(Check("new vectors", "note", found, advice))
    return checks


def backups(paths: list[str], now: float) -> Check:
    """Check which of the book's own backups still exist."""
    standing = [path for path in paths if os.path.exists(path)]
    if not standing:
        return Check("backups", "note", "the book knows of none", "make one: memoranda backup FILE")
    newest = max(os.path.getmtime(path) for path in standing)
    return Check(
        "backups",
        "ok",
        f"{len(standing)}, the newest {span(timedelta(seconds=max(now - newest, 0)))} old",
    )


def span(span: timedelta) -> str:
    """Format a span of time for people."""
    minutes = int(span.total_seconds() // 60)
    if minutes >= 48 * 60:
        return f"{minutes // 1440} days"
    return f"{minutes // 60} hours" if minutes >= 60 else f"{minutes} minutes"


# ── where it lives ────────────────────────────────────────────────────────────────────────────────


def permissions(path: Path) -> Check:
    """Check that other users of the machine cannot read the book."""
    if os.name == "nt":
        return Check("permissions", "note", "not examined on Windows")
    open_to_others = [
        beside
        for suffix in ("", "-wal", "-shm")
        if (beside := Path(f"{path}{suffix}")).exists() and _mode(beside) & 0o077
    ]
    if open_to_others:
        names = ", ".join(f"{beside.name} ({_mode(beside):03o})" for beside in open_to_others)
        return Check(
            "permissions", "warning", f"other users can access {names}", f"run: chmod 600 {path}*"
        )
    return Check("permissions", "ok", f"only its user can access it ({_mode(path):03o})")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def log_size(path: Path) -> Check:
    """Check the size of the write-ahead log, which keeps growing while a reader never ends its
    transaction.
    """
    size = size_of(f"{path}-wal")
    if size > _LARGE_LOG:
        advice = "a process reads without end, or died while reading: stop it, then run: memoranda jobs run"
        return Check("log", "warning", f"the log has {megabytes(size)}", advice)
    return Check("log", "ok", f"the log has {megabytes(size)}")


def room(size: int, free: int) -> Check:
    """Check the free disk space: clearing erased content rewrites the file, which takes up to twice
    its size.
    """
    needed = max(2 * size, _LEAST_FREE)
    if free < needed:
        found = f"{megabytes(free)} free; erasures and backups may need {megabytes(needed)}"
        return Check(
            "free space", "warning", found, "free some space, or move the book to a larger one"
        )
    return Check("free space", "ok", f"{megabytes(free)} free")


def file_system(path: Path, mounts: str) -> Check:
    """Check the file system on which the book lies, from the text of ``/proc/mounts``."""
    kind = mounted_kind(path, mounts)
    if kind is None:
        return Check("file system", "note", "unknown on this system", "keep books on a local disk")
    if kind in NETWORK:
        advice = "locks and syncing are not reliable there: move the book to a local disk, and back up to this one"
        return Check("file system", "warning", f"{kind}, a network file system", advice)
    if kind in IN_MEMORY:
        return Check(
            "file system",
            "warning",
            f"{kind}, which is empty after a restart",
            "move the book to a disk",
        )
    return Check("file system", "ok", kind)


def mounted_kind(path: Path, mounts: str) -> str | None:
    """Return the kind of file system at a path: the one of the longest mount point above it,
    mounted last.
    """
    best: tuple[int, str] | None = None
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(_unescaped(fields[1]))
        if path.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), fields[2])
    return None if best is None else best[1]


def _unescaped(field: str) -> str:
    """Decode a mount point, in which blanks are written as octal numbers."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def sync_time(folder: Path) -> Check:
    """Measure how long the disk takes to make a small write durable."""
    try:
        median = statistics.median(_timed_syncs(folder))
    except OSError as exc:
        return Check("sync", "note", f"not measured: {exc.strerror}")
    shown = f"{median * 1000:.2f} ms"
    if median > _SLOW_SYNC_SECONDS:
        advice = "each write waits so long: write from several tasks at once, which share the wait, or use a faster disk"
        return Check("sync", "warning", f"{shown} to make a write durable", advice)
    return Check("sync", "ok", f"{shown} to make a write durable")


def _timed_syncs(folder: Path) -> list[float]:
    times = []
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".memoranda-sync-") as file:
        for _ in range(_SYNCS):
            file.write(b"\0" * 4096)
            file.flush()
            started = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - started)
    return times


def program() -> Check:
    """Say which build of the program runs, and whether it runs from a checkout that may have
    changed since.
    """
    notes = "{}"
    with contextlib.suppress(PackageNotFoundError):
        notes = distribution("memoranda").read_text("direct_url.json") or notes
    editable = json.loads(notes).get("dir_info", {}).get("editable")
    more = ", editable: it runs the source as it is now" if editable else ""
    return Check("program", "ok", memoranda.__version__ + more)


def sqlite_version() -> Check:
    """Check the version of SQLite that comes with Python."""
    found = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        oldest = ".".join(map(str, _OLDEST_SQLITE))
        return Check("sqlite", "warning", found, f"use a Python with SQLite {oldest} or newer")
    return Check("sqlite", "ok", found)


def megabytes(size: float) -> str:
    """Format a size for people."""
    return f"{size / 1_000_000_000:,.1f} GB" if size >= 1e9 else f"{size / 1_000_000:,.1f} MB"


_SLOW_ANSWER_SECONDS = 0.1
#: If a larger share of the server's connections is in use, the next program may get none.
_CROWDED = 0.9
#: The oldest server with all features that the engine uses.
_OLDEST = 15


@runtime_checkable
class OnServer(Protocol):
    """An engine that keeps its book on a server."""

    async def examine(self) -> ServerFacts | ReplicaFacts:
        """Return facts about the server."""


def server_checks(facts: ServerFacts) -> list[Check]:
    """Make all checks from the facts about a server."""
    return [
        _version(facts),
        _durability(facts),
        _wall(facts),
        _room(facts),
        latency(facts.answer_seconds),
        _vectors(facts),
        Check(
            "backups", "note", "the book knows of none: it does not note them",
            "make one in a file: memoranda backup FILE; the server's own backups hold it, too",
        ),
    ]  # fmt: skip


def _version(facts: ServerFacts) -> Check:
    found = f"PostgreSQL {facts.version}" + (
        ", a replica, which is read-only" if facts.replica else ""
    )
    if facts.release < _OLDEST * 10_000:
        return Check(
            "server", "warning", found, f"Memoranda is tested from version {_OLDEST} on: upgrade"
        )
    return Check("server", "note" if facts.replica else "ok", found)


def _durability(facts: ServerFacts) -> Check:
    settings = (("fsync", facts.syncs), ("full_page_writes", facts.whole_pages))
    wrong = [name for name, right in settings if not right]
    if wrong:
        found = f"off: {', '.join(wrong)}"
        return Check(
            "durability",
            "warning",
            found,
            "a power cut loses writes that have a receipt, or the book: turn it on",
        )
    return Check(
        "durability",
        "ok",
        "fsync is on, and commits wait for it: what has a receipt is on the disk",
    )


def _wall(facts: ServerFacts) -> Check:
    if facts.passes_walls:
        return Check(
            "row security", "warning", "this role bypasses row-level security: only the book's own checks separate owners",
            "use a role that is neither superuser nor has BYPASSRLS",
        )  # fmt: skip
    return Check(
        "row security", "ok", "the server itself shows a reader the content of one owner only"
    )


def _room(facts: ServerFacts) -> Check:
    found = f"{facts.connections} of {facts.most_connections} in use"
    if facts.connections >= facts.most_connections * _CROWDED:
        return Check(
            "connections",
            "warning",
            found,
            "raise max_connections, or put a connection pooler in front of it",
        )
    return Check("connections", "ok", found)


def latency(seconds: float) -> Check:
    """Check how long a server takes to answer."""
    found = f"answers in {seconds * 1000:.1f} ms"
    if seconds > _SLOW_ANSWER_SECONDS:
        return Check(
            "latency",
            "note",
            found,
            "every call takes several times as long: run the program near the server",
        )
    return Check("latency", "ok", found)


def _vectors(facts: ServerFacts) -> Check:
    if facts.vectors is None:
        return Check(
            "pgvector",
            "note",
            "not installed in this database: large shelves are searched in memory",
        )
    return Check("pgvector", "ok", f"version {facts.vectors}")
