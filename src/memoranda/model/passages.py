"""Passages (texts that recall can find) as rows for its index, and the sources that are quoted with
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, overload
from uuid import UUID

from pydantic import Field

from memoranda.first_use import dataclass
from memoranda.model.memories import Memory
from memoranda.model.messages import Episode
from memoranda.model.records import Audience, Record
from memoranda.model.values import Moment, Value, micros, moment

#: As many sources of a record are quoted where it is found.
MOST_CITED = 3


def cited(record: Record) -> tuple[UUID, ...]:
    """Return the sources of a record that are quoted when recall finds the record."""
    return record.sources[:MOST_CITED] if isinstance(record, (Memory, Episode)) else ()


def cited_by(records: Iterable[Record]) -> list[UUID]:
    """Return the quoted sources of several records, each once."""
    return list(dict.fromkeys(id for record in records for id in cited(record)))


#: What is not used has half its strength after so long.
HALF_LIFE = timedelta(days=30)
#: The share of a memory's lost strength that one use restores.
REFRESH = 0.3


class Use(Value):
    """The use of a memory: how often and when it was placed in a prompt; stored beside it, without
    versions.
    """

    #: Strength at the moment of last use, from 0 to 1.
    strength: float = Field(default=1.0, ge=0.0, le=1.0)
    used_at: Moment | None = None
    count: int = Field(default=0, ge=0)

    @classmethod
    def of_columns(cls, strength: float, used_at: int | None, count: int) -> Use:
        """Build a use from its three columns in a database."""
        return cls(
            strength=strength, used_at=None if used_at is None else moment(used_at), count=count
        )

    @property
    def columns(self) -> tuple[float, int | None, int]:
        """The three columns of a use in a database."""
        return self.strength, None if self.used_at is None else micros(self.used_at), self.count

    def strength_at(self, now: datetime, learnt: datetime) -> float:
        """Return a memory's strength after its decay since the last use, or since it was learnt;
        nothing is stored.
        """
        since = max(now - (learnt if self.used_at is None else self.used_at), timedelta())
        return float(self.strength * 0.5 ** (since / HALF_LIFE))

    def seen(self, now: datetime, learnt: datetime) -> Use:
        """Return this use as of the given hour: it is not counted, and the strength then and later
        stays what it was.
        """
        # Recall takes the strength at the full hour.
        hour = max(now.replace(minute=0, second=0, microsecond=0), self.used_at or learnt)
        return Use(strength=self.strength_at(hour, learnt), used_at=hour, count=self.count)

    def again(self, now: datetime, learnt: datetime) -> Use:
        """Return this use, with one more counted at the given time."""
        strength = self.strength_at(now, learnt)
        return Use(strength=strength + (1 - strength) * REFRESH, used_at=now, count=self.count + 1)


#: The use of a memory that was never placed in a prompt.
UNUSED = Use()


@dataclass(frozen=True, slots=True)
class Shelf:
    """All passages with the same owner and the same audience."""

    #: The engine's own number for it; never used again for another shelf.
    number: int
    audience: Audience


class PassageRow(NamedTuple):
    """One passage as an index needs it. Times are microseconds since the epoch."""

    id: bytes
    type: str
    #: A memory's kind, a message's role.
    kind: str | None
    status: str | None
    thread: bytes | None
    seq: int
    at: int
    valid_from: int | None
    valid_to: int | None
    terms: bytes
    #: Of the active set; None while it is not made.
    vector: bytes | None = None
    #: The text that ``facets_of`` makes of it; empty if it has no facets.
    facets: str = ""
    #: When the book first learnt it.
    learnt: int = 0
    #: When it stopped being active; None while it is.
    ended: int | None = None
    #: The stored body of a record with data; empty if that is larger than ``DATA_BODY``, None if
    #: there is no data.
    data: str | None = None


#: The most characters of a body whose data an index keeps; larger ones are read when a filter needs
#: them.
DATA_BODY = 8_192


def data_body(type_: str, body: str) -> str | None:
    """Return the stored body of a record if it has data, as a passage row has it."""
    if type_ != "item" and not (type_ == "memory" and '"data":' in body):
        return None
    return body if len(body) <= DATA_BODY else ""


class PassageRows(Sequence[PassageRow]):
    """Passage rows stored as columns, so that a large shelf needs no object for each passage.

    A hundred thousand tuples make the garbage collector look at all of them again and again while
    they are made.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Sequence[list[Any]]) -> None:
        self._columns = tuple(columns)

    @classmethod
    def of(cls, parts: Iterable[Sequence[tuple[Any, ...]]]) -> PassageRows:
        """Join several lists of rows; each row has its values in the order of ``PassageRow``'s
        fields.
        """
        columns: list[list[Any]] = [[] for _ in PassageRow._fields]
        for part in parts:
            for column, values in zip(columns, zip(*part, strict=True), strict=bool(part)):
                column += values
        return cls(columns)

    def column(self, name: str) -> list[Any]:
        """Return the values of one field, for all rows."""
        return self._columns[PassageRow._fields.index(name)]

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[PassageRow]:
        return map(PassageRow._make, zip(*self._columns, strict=True))

    @overload
    def __getitem__(self, place: int) -> PassageRow: ...

    @overload
    def __getitem__(self, place: slice) -> PassageRows: ...

    def __getitem__(self, place: int | slice) -> PassageRow | PassageRows:
        if isinstance(place, slice):
            return PassageRows([column[place] for column in self._columns])
        return PassageRow._make(column[place] for column in self._columns)


@dataclass(frozen=True, slots=True)
class ShelfDelta:
    """The changes of a shelf (all passages with one owner and audience) since a revision."""

    mark: int
    #: This is the entire shelf; drop everything cached of it.
    whole: bool
    #: Added or changed passages; a changed passage is repeated as a whole. Engines return
    #: ``PassageRows``.
    rows: Sequence[PassageRow]
    #: Ids that left.
    gone: Sequence[bytes]
    #: The set that the rows' vectors are of; empty where the book has none, or nothing came.
    vectors: str = ""
    #: The shelf is too large to cache: the engine searches it and returns no rows.
    large: bool = False


def usable_mark(mark: int | None, renewed: int) -> int | None:
    """Return the revision of a cached shelf; None if there is none, or if the shelf was renewed
    since.
    """
    return None if mark is None or mark < renewed else mark


#: Returns the revision at which a shelf is cached, given its number; None if it is not.
Cached = Callable[[int], int | None]
#: Chooses records of what is seen of a view's shelves; None where it cannot choose yet.
Choose = Callable[[Sequence[tuple[Shelf, ShelfDelta]]], Sequence[UUID] | None]


@dataclass(frozen=True, slots=True)
class Sight:
    """The shelves that a view may see and the records chosen from them, all read at one moment."""

    shelves: list[tuple[Shelf, ShelfDelta]]
    #: None where nothing could be chosen yet.
    records: dict[UUID, Record] | None
    #: How those that are memories have served.
    uses: Mapping[UUID, Use] = field(default_factory=dict)
    #: What they cite, as far as the view sees it.
    grounds: Mapping[UUID, Record] = field(default_factory=dict)
