"""Exports, one JSON object on each line: written from a book's records, and read, checked and imported again."""

from memoranda.storage.export.digests import DIGEST, key_name, line_digest
from memoranda.storage.export.forms import OwnerLine
from memoranda.storage.export.owner_data import BookDump, DumpedVersion, EndedEra, OwnerDump, TermsOf
from memoranda.storage.export.person_lines import ABOUT, about_lines
from memoranda.storage.export.read import broken, parse, parse_book, parse_owner_line
from memoranda.storage.export.write import book_line, owner_lines, unchanged

__all__ = [
    "ABOUT",
    "DIGEST",
    "BookDump",
    "DumpedVersion",
    "EndedEra",
    "OwnerDump",
    "OwnerLine",
    "TermsOf",
    "about_lines",
    "book_line",
    "broken",
    "key_name",
    "line_digest",
    "owner_lines",
    "parse",
    "parse_book",
    "parse_owner_line",
    "unchanged",
]
