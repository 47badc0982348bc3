"""The recorder's log of one process's operations on one folder."""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass
from pathlib import Path

#: The file in the recorded folder whose writes are marks.
MARKS = "acknowledged"

_MAGIC = 0x43504C31
_HEAD = struct.Struct("<IIQQQII")


class Kind(enum.IntEnum):
    CREATE = 1
    MKDIR = 2
    WRITE = 3
    LENGTH = 4
    SYNC_BEGIN = 5
    SYNC_END = 6
    RENAME = 7
    UNLINK = 8
    LINK = 9
    MARK = 10
    UNRECORDABLE = 11


class BrokenRecord(Exception):
    """The log is not a whole and faithful account of the folder, so nothing can be concluded from
    it.
    """


@dataclass(frozen=True, slots=True)
class Event:
    """One operation, in the place where it took effect."""

    #: Position in the record, from 0, without gaps.
    sequence: int
    kind: Kind
    #: The file, until another CREATE takes its number over; 0 where only names are concerned.
    inode: int = 0
    #: Of a WRITE in bytes; of a LENGTH the new length; of a SYNC_END the sequence of its begin.
    offset: int = 0
    #: Relative to the folder; of a sync only where a directory is synced ("." is the folder
    #: itself).
    path: str = ""
    #: The new name of a RENAME or LINK.
    other: str = ""
    #: What was written, or the mark.
    data: bytes = b""


def parsed(log: bytes) -> list[Event]:
    """Return the events of a log; refuse a log with gaps or with operations that could not be
    recorded.
    """
    events: list[Event] = []
    position = 0
    while position < len(log):
        if position + _HEAD.size > len(log):
            raise BrokenRecord(f"the log ends within the head of event {len(events)}")
        magic, number, sequence, inode, offset, path_length, data_length = _HEAD.unpack_from(
            log, position
        )
        if magic != _MAGIC or sequence != len(events):
            raise BrokenRecord(
                f"event {len(events)} is not where it should be: two processes, or a torn log"
            )
        middle = position + _HEAD.size + path_length
        end = middle + data_length
        if end > len(log):
            raise BrokenRecord(f"the log ends within event {sequence}")
        path, _, other = log[position + _HEAD.size : middle].decode().partition("\0")
        kind = Kind(number)
        if kind is Kind.UNRECORDABLE:
            raise BrokenRecord(f"event {sequence} could not be recorded: {path}")
        events.append(Event(sequence, kind, inode, offset, path, other, log[middle:end]))
        position = end
    return events


def read_record(log: Path) -> list[Event]:
    return parsed(log.read_bytes())
