"""Facts about a whole book: its format and counts, and the faults that ``verify`` found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

#: Called with the pages done and the total.
Progress: TypeAlias = Callable[[int, int], None]
#: Verifies a copy at a path; an error refuses the copy.
Prove: TypeAlias = Callable[[Path], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of ``verify``."""

    records: int
    versions: int
    entries: int
    #: One sentence for each thing that is not as the ledger says.
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BookFacts:
    """Facts about a book and its content, for people and for monitoring."""

    engine: str
    address: str
    format: int
    owners: int
    records: Mapping[str, int]
    jobs: Mapping[str, int]
    bytes: int
    stale_terms: int
    details: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        held = ", ".join(f"{type} {count}" for type, count in self.records.items() if count) or "no records"
        return f"<BookFacts {self.engine} {self.address}: owners {self.owners}; {held}; {self.bytes:,} bytes>"


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The settings of a database server that a book's safety depends on."""

    version: str
    #: The version as a number: 160004 is 16.4, and 180000 any 18 before its first release too.
    release: int
    #: Whether it forces what is committed to the disk, and mends pages that were written in part.
    syncs: bool
    whole_pages: bool
    #: Whether the book's user passes the server's own wall between owners.
    passes_walls: bool
    replica: bool
    most_connections: int
    #: Those in use, by all programs.
    connections: int
    #: The version of the extension for vectors; None where the database has none.
    vectors: str | None
    #: How long it took to say all this.
    answer_seconds: float
