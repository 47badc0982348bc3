"""Notes of erasures beside a backup: ids of what its book has forgotten since the backup was made,
one JSON object in each line.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from memoranda.errors import StorageError
from memoranda.first_use import dataclass
from memoranda.model.changes import Job
from memoranda.model.ledger import Erasures
from memoranda.model.redactions import Redaction, joined, load_redactions
from memoranda.ports import CopiesItself, Engine

#: The kind of the job that an erasure adds in its commit.
NOTE = "note"
#: The line after one that a power cut or a full disk has torn.
_TORN = {"torn": True}


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes beside a backup, as far as they can be read."""

    erasures: Erasures
    #: Why the notes may not be complete; empty if they are.
    damage: str = ""


def notes_of(backup: Path) -> Path:
    """Return the path of a backup's notes."""
    return backup.with_name(backup.name + ".erasures")


def begin_notes(backup: Path, id: str, *, server: str = "") -> None:
    """Make the notes of a new backup, or go on in a file of the same name; the first line names the
    backup.

    ``server`` is the place of a book that writes no notes: what it erases later has to be asked of
    itself.
    """
    try:
        note_beside(backup, {"backup": id} | ({"server": server} if server else {}))
    except OSError as exc:
        raise StorageError(
            f"the notes of erasures beside {backup} cannot be written ({exc})"
        ) from exc


def note_beside(backup: Path, line: Mapping[str, Any]) -> None:
    """Add a line to a backup's notes; durable when it returns."""
    notes = notes_of(backup)
    with open(notes, "ab+", opener=private) as file:
        # A line that a power cut left unfinished was never acknowledged; the new line must not
        # continue it.
        end = file.seek(0, os.SEEK_END)
        torn = False
        if end:
            file.seek(end - 1)
            torn = file.read(1) != b"\n"
        before = b"\n" + json.dumps(_TORN).encode() + b"\n" if torn else b""
        file.write(before + json.dumps(line).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    sync_folder(notes.parent)


def read_notes(backup: Path, id: str | None = None) -> Notes:
    """Return the erasures noted beside a backup, and the damage of its notes; an unmarked backup
    has no ``id``.
    """
    notes = notes_of(backup)
    try:
        *lines, last = notes.read_bytes().split(b"\n") if notes.exists() else [b""]
    except OSError as exc:
        raise StorageError(f"the notes {notes} cannot be read ({exc}): make them readable") from exc
    if _noted(last) is not None:
        # Only the end of this line was lost.
        lines.append(last)
    eras: list[UUID] = []
    records: list[UUID] = []
    redactions: list[Redaction] = []
    begun, unreadable = id is None, ""
    found = [_noted(line) for line in lines]
    for number, noted in enumerate(found, 1):
        if noted is None:
            if begun and found[number : number + 1] != [_TORN]:
                unreadable = unreadable or f"line {number} of {notes} cannot be read"
        elif id is not None and noted.get("backup") == id:
            # What is unreadable before this line belongs to an earlier backup of the same name.
            begun, unreadable = True, ""
            if "server" in noted:
                unreadable = f"the book at {noted['server']} notes no erasures beside its backups"
        else:
            eras += [noted["era"]] if "era" in noted else []
            records += noted.get("records", ())
            redactions += noted.get("redactions", ())
    missing = "is not of this backup" if notes.exists() else "is missing"
    damage = unreadable if begun else f"{notes} {missing}"
    return Notes(Erasures(tuple(eras), tuple(records), joined(redactions)), damage)


def _noted(line: bytes) -> dict[str, Any] | None:
    """Return a line of the notes with its ids read; None if it cannot be read."""
    try:
        noted = json.loads(line)
        if not isinstance(noted, dict) or noted.keys().isdisjoint(
            {"backup", "era", "records", "torn"}
        ):
            return None
        if "era" in noted:
            noted["era"] = UUID(noted["era"])
        if "records" in noted:
            noted["records"] = [UUID(id) for id in noted["records"]]
        if "redactions" in noted:
            noted["redactions"] = [*load_redactions(noted["redactions"])]
    except (ValueError, TypeError, AttributeError):
        return None
    return noted


async def note_erasure(engine: Engine, job: Job) -> None:
    """Write an erasure's ids, without content, into a note beside each of the book's backups."""
    failed: OSError | None = None
    if isinstance(engine, CopiesItself):
        for path in await engine.known_backups():
            try:
                await asyncio.to_thread(note_beside, Path(path), job.payload)
            except OSError as exc:
                # The other backups get their note all the same.
                failed = failed or exc
    if failed is not None:
        raise failed


def private(path: str, flags: int) -> int:
    """Open a file that only its owner may read; an error if the name is a link, which may lead to
    another's file.
    """
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


def sync_folder(folder: Path) -> None:
    """Sync a folder's names to disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
