"""The settings of a database server that holds a book."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class ReplicaFacts:
    """The settings of a replica set that a book's safety depends on."""

    version: str
    #: The name of the set; None for a cluster of shards.
    set: str | None
    #: Members that store documents, and those that only vote.
    members: int
    arbiters: int
    #: How many hours of changes the primary keeps for members that come back; None if this user may
    #: not see it.
    oplog_hours: float | None
    answer_seconds: float
    #: Names of the book's own views that something else has.
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewsMade:
    """The views that were made, those that were there, and names that something else has."""

    made: tuple[str, ...]
    there: tuple[str, ...]
    taken: tuple[str, ...]
