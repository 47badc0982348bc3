"""Dumps: everything of one owner as JSON-ready lines, the same from every engine and for every engine."""

from memoranda.settle.dumps.forms import OwnerLine
from memoranda.settle.dumps.held import (
    LARGEST,
    SECRET_SIZE,
    Blank,
    BookDump,
    DumpedVersion,
    EndedEra,
    OwnerDump,
)
from memoranda.settle.dumps.parsing import broken, parse, parse_book, parse_owner_line, with_digests
from memoranda.settle.dumps.writing import book_line, ended, entry_line, owner_line, use_line, version_line

__all__ = [
    "LARGEST",
    "SECRET_SIZE",
    "Blank",
    "BookDump",
    "DumpedVersion",
    "EndedEra",
    "OwnerDump",
    "OwnerLine",
    "book_line",
    "broken",
    "ended",
    "entry_line",
    "owner_line",
    "parse",
    "parse_book",
    "parse_owner_line",
    "use_line",
    "version_line",
    "with_digests",
]
