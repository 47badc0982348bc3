"""The lines of an export: written from pieces, and read, checked and made into pieces again."""

from memoranda.settle.dumps.forms import OwnerLine
from memoranda.settle.dumps.held import BookDump, DumpedVersion, EndedEra, OwnerDump, TermsOf
from memoranda.settle.dumps.parsing import broken, parse, parse_book, parse_owner_line
from memoranda.settle.dumps.writing import book_line, owner_lines

__all__ = [
    "BookDump",
    "DumpedVersion",
    "EndedEra",
    "OwnerDump",
    "OwnerLine",
    "TermsOf",
    "book_line",
    "broken",
    "owner_lines",
    "parse",
    "parse_book",
    "parse_owner_line",
]
