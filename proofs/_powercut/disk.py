"""A model of the disk: durable content, pending writes, and the results that a power cut may
leave.
"""

from __future__ import annotations

import posixpath
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from proofs._powercut.record import BrokenRecord, Event, Kind

#: Bytes that a disk writes whole or not at all.
SECTOR = 512

#: The chance that a pending operation, named by its sequence, has reached the disk when the power
#: goes.
Fate = Callable[[int], float]

#: What a folder holds: the bytes of each file by its path; None is a directory.
Contents = dict[str, bytes | None]


@dataclass(slots=True, eq=False)
class StoredFile:
    """A file by its number, under any name: its durable content, and the writes after the last
    sync.
    """

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Event] = field(default_factory=list)

    def sync(self, begin: int) -> None:
        """Make everything durable that was logged before the sync began."""
        for event in self.pending:
            if event.sequence < begin:
                self.durable = _applied(self.durable, event)
        self.pending = [event for event in self.pending if event.sequence >= begin]

    def after_cut(self, fate: Fate, rng: random.Random) -> bytes:
        """Return the content that the cut may leave."""
        return _Survivors(self.durable, rng).settled(self.pending, fate)


@dataclass(frozen=True, slots=True, eq=False)
class NameChange:
    """A pending change of a directory, one step of the file system: a rename happens completely or
    not at all.
    """

    sequence: int
    directory: str
    gone: str | None
    come: str | None
    #: What the name that came stands for; None is a directory.
    target: StoredFile | None

    def apply(self, names: dict[str, StoredFile | None]) -> None:
        if self.gone is not None:
            names.pop(self.gone, None)
        if self.come is not None:
            names[self.come] = self.target


class Disk:
    """A disk that replays a record event by event, and returns what a power cut at any point may
    leave.
    """

    def __init__(self, trusted_sync: Callable[[], bool] = lambda: True) -> None:
        self._trusted_sync = trusted_sync
        self._files: dict[int, StoredFile] = {}
        self._names: dict[str, StoredFile | None] = {}
        self._durable_names: dict[str, StoredFile | None] = {}
        self._changes: list[NameChange] = []

    def follow(self, event: Event) -> None:
        match event.kind:
            case Kind.CREATE:
                self._files[event.inode] = StoredFile()
                self._rename(event, None, event.path, self._files[event.inode])
            case Kind.MKDIR:
                self._rename(event, None, event.path, None)
            case Kind.WRITE | Kind.LENGTH:
                self._file(event).pending.append(event)
            case Kind.SYNC_END if self._trusted_sync():
                self._sync(event)
            case Kind.RENAME | Kind.LINK:
                target = self._target(event)
                self._rename(
                    event, event.path if event.kind is Kind.RENAME else None, event.other, target
                )
            case Kind.UNLINK:
                self._rename(event, event.path, None, None)
            case Kind.SYNC_BEGIN | Kind.SYNC_END | Kind.MARK:
                pass
            case Kind.UNRECORDABLE:
                raise BrokenRecord(f"event {event.sequence} could not be recorded")

    def pending(self) -> list[int]:
        """Return the sequence numbers of unsynced operations of every file that may appear after a
        power cut.
        """
        reachable = {id(file): file for file in self._durable_names.values() if file is not None}
        reachable |= {
            id(change.target): change.target
            for change in self._changes
            if change.target is not None
        }
        sequences = [event.sequence for file in reachable.values() for event in file.pending]
        return sorted(sequences + [change.sequence for change in self._changes])

    def after_cut(self, fate: Fate, rng: random.Random) -> Contents:
        names = dict(self._durable_names)
        for change in self._changes:
            if _strikes(fate(change.sequence), rng):
                change.apply(names)
        # One file under two names must not be settled twice into two different contents.
        files = {id(file): file for file in names.values() if file is not None}
        settled = {identity: file.after_cut(fate, rng) for identity, file in files.items()}
        contents = {
            path: None if file is None else settled[id(file)] for path, file in names.items()
        }
        return {path: content for path, content in contents.items() if _reached(path, contents)}

    def _file(self, event: Event) -> StoredFile:
        if event.inode not in self._files:
            raise BrokenRecord(
                f"event {event.sequence} touches a file that was there before the record began"
            )
        return self._files[event.inode]

    def _target(self, event: Event) -> StoredFile:
        target = self._names.get(event.path)
        if target is None:
            raise BrokenRecord(
                f"event {event.sequence} moves a directory or an unknown name: not modelled"
            )
        return target

    def _rename(
        self, event: Event, gone: str | None, come: str | None, target: StoredFile | None
    ) -> None:
        directories = {posixpath.dirname(path) or "." for path in (gone, come) if path is not None}
        if len(directories) != 1:
            raise BrokenRecord(
                f"event {event.sequence} moves a name between directories: not modelled"
            )
        change = NameChange(event.sequence, directories.pop(), gone, come, target)
        change.apply(self._names)
        self._changes.append(change)

    def _sync(self, event: Event) -> None:
        if not event.path:
            self._file(event).sync(event.offset)
            return
        covered = [
            change
            for change in self._changes
            if change.directory == event.path and change.sequence < event.offset
        ]
        for change in covered:
            change.apply(self._durable_names)
        self._changes = [change for change in self._changes if change not in covered]


class _Survivors:
    """One file's content while the pending operations are dealt out over it.

    A sector has a history: the disk holds one of the states that it went through, so once a write
    to it is lost, later ones are lost to it as well. Sectors are independent of each other, and so
    is the length.
    """

    def __init__(self, durable: bytearray, rng: random.Random) -> None:
        self._content = bytearray(durable)
        self._length = len(durable)
        self._lengths = [self._length]
        self._stuck: set[int] = set()
        self._lost = False
        self._rng = rng

    def settled(self, pending: list[Event], fate: Fate) -> bytes:
        for event in pending:
            chance = fate(event.sequence)
            if event.kind is Kind.LENGTH:
                self._set_length(event.offset, chance)
            else:
                self._write(event.offset, event.data, chance)
        if self._lost and self._rng.random() < 0.125:
            self._length = self._rng.choice(self._lengths)
        self._reach(self._length)
        return bytes(self._content[: self._length])

    def _set_length(self, length: int, chance: float) -> None:
        self._lengths.append(length)
        if not _strikes(chance, self._rng):
            self._lost = True
            return
        self._overwrite(length, bytes(max(0, len(self._content) - length)))
        self._length = length

    def _write(self, offset: int, data: bytes, chance: float) -> None:
        self._lengths.append(max(self._lengths[-1], offset + len(data)))
        if 0.0 < chance < 1.0 and self._rng.random() < 0.5:
            for start, end in _sectors(offset, len(data)):
                self._write_whole(
                    start, data[start - offset : end - offset], _strikes(chance, self._rng)
                )
        else:
            self._write_whole(offset, data, _strikes(chance, self._rng))

    def _write_whole(self, offset: int, data: bytes, kept: bool) -> None:
        if kept:
            self._overwrite(offset, data)
            self._length = max(self._length, offset + len(data))
        elif data:
            self._lost = True
            self._stuck.update(range(offset // SECTOR, (offset + len(data) - 1) // SECTOR + 1))

    def _overwrite(self, offset: int, data: bytes) -> None:
        end = offset + len(data)
        self._reach(end)
        if self._stuck.isdisjoint(range(offset // SECTOR, end // SECTOR + 1)):
            self._content[offset:end] = data
            return
        for start, stop in _sectors(offset, len(data)):
            if start // SECTOR not in self._stuck:
                self._content[start:stop] = data[start - offset : stop - offset]

    def _reach(self, length: int) -> None:
        """Extend to this length; bytes that were never written are zeros."""
        self._content.extend(bytes(max(0, length - len(self._content))))


def _strikes(chance: float, rng: random.Random) -> bool:
    return chance >= 1.0 or (chance > 0.0 and rng.random() < chance)


def _sectors(offset: int, length: int) -> list[tuple[int, int]]:
    """Return the range, split at the borders of sectors."""
    end = offset + length
    borders = [offset, *range((offset // SECTOR + 1) * SECTOR, end, SECTOR), end]
    return [(start, stop) for start, stop in pairwise(borders) if start < stop]


def _reached(path: str, contents: Contents) -> bool:
    """Return True if every directory above the path is there; without them a file is lost."""
    parent = posixpath.dirname(path)
    return not parent or (
        parent in contents and contents[parent] is None and _reached(parent, contents)
    )


def _applied(content: bytearray, event: Event) -> bytearray:
    end = event.offset if event.kind is Kind.LENGTH else event.offset + len(event.data)
    if event.kind is Kind.LENGTH:
        del content[end:]
    content.extend(bytes(max(0, end - len(content))))
    content[event.offset : end] = event.data
    return content
