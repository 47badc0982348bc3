"""Exports, one JSON object on each line: written from a book's records, and read, checked and
imported again.
"""

from typing import TYPE_CHECKING

from memoranda.package_names import names_of

if TYPE_CHECKING:
    from memoranda.storage.export.digests import DIGEST, key_name, line_digest
    from memoranda.storage.export.forms import OwnerLine
    from memoranda.storage.export.owner_data import (
        BookDump,
        DumpedVersion,
        EndedEra,
        OwnerDump,
        TermsOf,
    )
    from memoranda.storage.export.person_lines import ABOUT, about_lines
    from memoranda.storage.export.read import broken, parse, parse_book, parse_owner_line
    from memoranda.storage.export.write import book_line, owner_lines, unchanged
else:
    __getattr__, __dir__ = names_of(
        __name__,
        {
            "memoranda.storage.export.digests": "DIGEST key_name line_digest",
            "memoranda.storage.export.forms": "OwnerLine",
            "memoranda.storage.export.owner_data": "BookDump DumpedVersion EndedEra OwnerDump TermsOf",
            "memoranda.storage.export.person_lines": "ABOUT about_lines",
            "memoranda.storage.export.read": "broken parse parse_book parse_owner_line",
            "memoranda.storage.export.write": "book_line owner_lines unchanged",
        },
    )

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
