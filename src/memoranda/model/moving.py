"""The pieces that a book is made of when it moves, told alike by every engine, and the marks of a book that moves.

Times are microseconds since the epoch. Pieces are equal where what they tell of is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from memoranda.errors import Conflict, Moved, UnfinishedCopy
from memoranda.model.jobs import FOLLOW

#: Work of an engine on its own files and tables: no part of what moves.
OWN_UPKEEP = ("note", "scrub", FOLLOW)

#: An audience as it is stored: its kind, its agent or nothing, its groups as JSON.
Readers: TypeAlias = tuple[str, str, str]


class PieceKind(StrEnum):
    """What comes in any number, and is given in the order of its keys."""

    RECORD = "record"
    ENTRY = "entry"
    #: Of no owner: the tombstones.
    STONE = "stone"


class VersionPiece(NamedTuple):
    """An earlier version of a record; without a body where it was emptied."""

    version: int
    position: int
    recorded_at: int
    readers: Readers
    hash: bytes
    body: str


class RecordPiece(NamedTuple):
    """A record with its earlier versions, oldest first, and all that stands beside it."""

    #: As ``StoredRow`` has it; a thread's ``seq`` is the last place given out in it.
    row: tuple[Any, ...]
    readers: Readers
    position: int
    learnt: int
    ended: int | None
    run: bytes | None
    mark: int
    earlier: tuple[VersionPiece, ...]
    sources: tuple[bytes, ...]
    #: The rule that made them, and they themselves.
    terms: tuple[int, bytes] | None
    #: Strength, last use, count.
    use: tuple[float, int | None, int] | None
    #: The name of each set that has one, and the vector.
    vectors: tuple[tuple[str, bytes], ...]

    @property
    def key(self) -> bytes:
        """Its place among others: its id."""
        key: bytes = self.row[0]
        return key


class EntryPiece(NamedTuple):
    """An entry of the ledger."""

    position: int
    at: int
    actor_kind: str
    actor: str | None
    operation: bytes | None
    request: bytes | None
    body: str

    @property
    def key(self) -> bytes:
        """Its place among others: its position."""
        return position_key(self.position)


class StonePiece(NamedTuple):
    """A tombstone."""

    digest: bytes
    at: int

    @property
    def key(self) -> bytes:
        """Its place among others: its digest."""
        return self.digest


Piece: TypeAlias = RecordPiece | EntryPiece | StonePiece


class JobPiece(NamedTuple):
    """A job, and what is kept with it: all that it tells of, and the text."""

    id: bytes
    kind: str
    key: str
    payload: str
    records: tuple[bytes, ...]
    state: str
    run_at: int
    first_at: int
    attempts: int
    postponed: int
    not_before: int
    generation: int
    leased_generation: int
    worker: str | None
    leased_until: int | None
    error: str
    kept: tuple[tuple[bytes, ...], str] | None


class ShelfPiece(NamedTuple):
    """A shelf, with its mark, and the mark at which all its passages changed."""

    readers: Readers
    mark: int
    renewed: int


#: Tenant, day, agent, task and model, the six counts, and the price in its smallest steps.
SpentPiece: TypeAlias = tuple[str, str, str, str, str, int, int, int, int, int, int, int]


class Frame(NamedTuple):
    """What an owner's records and ledger stand in, in one of the owner's eras."""

    era: bytes
    #: Tenant, kind and id; None once everything was erased.
    names: tuple[str, str, str] | None
    digest: bytes
    position: int
    erased_at: int | None
    shelves: tuple[ShelfPiece, ...]
    jobs: tuple[JobPiece, ...]
    spent: tuple[SpentPiece, ...]

    def begun(self) -> Frame:
        """The frame of an owner of whom nothing is here yet."""
        return self._replace(position=0, shelves=(), jobs=(), spent=())


class BookFrame(NamedTuple):
    """What belongs to no owner, but for the tombstones."""

    #: The name and the dimension of each set of vectors, the one that recall reads first.
    sets: tuple[tuple[str, int], ...]
    jobs: tuple[JobPiece, ...]
    spent: tuple[SpentPiece, ...]


def takes_away(there: Frame | BookFrame | None, laid: Frame | BookFrame) -> bool:
    """Whether a frame has what the one that is laid over it lacks: that may have been erased where it comes from."""
    if there is None:
        return False
    if isinstance(there, Frame) and isinstance(laid, Frame):
        if there.names not in (None, laid.names):
            return True
        if not {shelf.readers for shelf in there.shelves} <= {shelf.readers for shelf in laid.shelves}:
            return True
    # Spending is told by whom it names; that it grew takes nothing away.
    named, still = ({row[:5] for row in frame.spent} for frame in (there, laid))
    return not set(there.jobs) <= set(laid.jobs) or not named <= still


class Departure(NamedTuple):
    """The mark of a book that moves, or has moved: it is written no more."""

    address: str
    #: The other book is whole: there is no way back.
    whole: bool
    #: Which copy it moves to: another one may stand under the same address.
    copy: str = ""
    #: The run that set it: no other run makes the copy whole while this stands.
    run: str = ""


class Arrival(NamedTuple):
    """The mark of a book that a copy is making: only that copy writes it, and nobody opens it."""

    source: str
    #: Another run of the copy that takes over has a name of its own.
    run: str
    #: Which copy it is, in all runs.
    copy: str = ""


class Whereabouts(NamedTuple):
    """Which book an engine holds, and what becomes of it."""

    address: str
    #: Under which its digests are made: a copy has the same, and so has a backup, or a book that took in a whole export.
    secret: bytes
    departure: Departure | None
    arrival: Arrival | None
    #: The run of a copy that made it whole. A backup keeps it, for it is this book at an earlier time; what is brought
    #: from here, as a copy or an export, does not.
    made_by: str | None = None


#: Under which names an engine keeps the marks, as JSON.
DEPARTURE, ARRIVAL = "departure", "arrival"
#: Under which name it keeps who made it whole: no mark, for it hinders nobody.
MADE_BY = "made_by"


def position_key(position: int) -> bytes:
    """A position as the key of its entry."""
    return position.to_bytes(8, "big")


def mark_text(mark: Departure | Arrival) -> bytes:
    """A mark as it is kept."""
    return json.dumps(mark).encode()


def marks_of(kept: Mapping[str, bytes]) -> tuple[Departure | None, Arrival | None]:
    """The marks that are kept under their names."""
    departure, arrival = kept.get(DEPARTURE), kept.get(ARRIVAL)
    return (
        None if departure is None else Departure(*json.loads(departure)),
        None if arrival is None else Arrival(*json.loads(arrival)),
    )


def refuse_marked(kept: Mapping[str, bytes]) -> None:
    """Refuse to write a book that moves, has moved, or is being made by a copy."""
    if kept:
        raise refusal(kept)


def refusal(kept: Mapping[str, bytes]) -> Moved | UnfinishedCopy:
    """The refusal of a book that has at least one of the marks."""
    departure, arrival = marks_of(kept)
    if departure is not None:
        return moved(departure)
    assert arrival is not None
    return unfinished(arrival)


def refuse_other_departure(
    kept: Mapping[str, bytes], departure: Departure | None, expected: Departure | None
) -> None:
    """Refuse to change a departure that is not the one that was read."""
    refuse_unknown_departure(marks_of(kept)[0], departure, expected)


def refuse_unknown_departure(stands: Departure | None, *known: Departure | None) -> None:
    """Refuse to go on where the departure that stands is none of those that are known."""
    if stands not in known:
        raise Conflict(
            "another copy of this book let it move, or took that back, meanwhile: run this one again to see where it is"
        )


def refuse_other_run(kept: Mapping[str, bytes], run: str) -> None:
    """Refuse a copy that another took over from, or that has ended."""
    refuse_overtaken(marks_of(kept)[1], run)


def refuse_overtaken(arrival: Arrival | None, run: str) -> None:
    """Refuse a run of a copy where the mark names another, or is gone."""
    if arrival is None or arrival.run != run:
        raise Conflict("another copy to the same place took over from this one: let that one go on")


def moved(departure: Departure) -> Moved:
    """The refusal of a book that moves, or has moved."""
    if departure.whole:
        return Moved(f"this book has moved to {departure.address}: open it there", departure.address)
    return Moved(
        f"this book is moving to {departure.address}, and written no more here: wait until it is there, "
        "or take it back by copying to the same place without --switch; if that is lost for good, with --give-up",
        departure.address,
    )


def unfinished(arrival: Arrival) -> UnfinishedCopy:
    """The refusal of a book that a copy is making."""
    return UnfinishedCopy(
        f"this is the unfinished copy of {arrival.source}: finish it by running the same copy again, with --switch, "
        "or delete it"
    )


def job_payload(text: str) -> str:
    """A payload in the one spelling that pieces have."""
    return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
