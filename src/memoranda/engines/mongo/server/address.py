"""Reads the address of a book on a MongoDB server, and refuses options that weaken what a book
promises.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from memoranda.errors import InvalidInput

SCHEMES = ("mongodb", "mongodb+srv")

#: Option, in small letters → the values that it may have; a write waits for a majority, and its
#: journal.
_KEPT = {
    "w": ("majority",),
    "journal": ("true",),
    "j": ("true",),
    "readpreference": ("primary",),
    "retrywrites": ("true",),
}
#: Options that a book sets itself for each transaction.
_OWN = (
    "readconcernlevel",
    "maxstalenessseconds",
    "readpreferencetags",
    "wtimeoutms",
    "wtimeout",
    "timeoutms",
)
#: Characters that no database's name may have.
_NAME = re.compile(r'[^/\\. "$*<>:|?\0]{1,63}')


class Place(NamedTuple):
    """Where a book is."""

    #: For the driver; it may contain a password.
    url: str
    database: str
    #: The address without user, password and options: for messages, and to compare places.
    name: str


def parse(url: str) -> Place:
    """Parse an address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        # The parser's message may contain a password.
        raise _refused(
            "it cannot be read; write @ : / ? # and % in a password as %40 %3A %2F %3F %23 %25"
        ) from None
    whose, _, hosts = parts.netloc.rpartition("@")
    if "@" in whose or parts.fragment or not hosts:
        raise _refused(
            "this is not mongodb://user:password@host/database; write @ : / ? # and % in a password as %40 %3A %2F %3F %23 %25"
        )
    database = unquote(parts.path[1:])
    if not database:
        given = f"{parts.scheme}://{hosts}/memory"
        raise _refused(f"it names no database; put one behind the hosts, such as {given}")
    if not _NAME.fullmatch(database) or database in ("admin", "local", "config"):
        raise _refused(f"{database!r} cannot be the name of a book's database")
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        wanted = _KEPT.get(name.lower())
        if wanted is not None and value.lower() not in wanted:
            raise _refused(
                f"{name}={value} weakens what a book promises; leave it out, or write {name}={wanted[0]}"
            )
        if name.lower() in _OWN:
            raise _refused(f"a book sets {name} itself; leave it out")
    return Place(url, database, f"{parts.scheme}://{hosts.lower()}/{database}")


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"address: {why}", field="address")
