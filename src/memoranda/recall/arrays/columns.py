"""Columns: one property of all passages in a segment, as codes or numbers; and the conditions of a
filter on them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import Corrupt
from memoranda.first_use import dataclass
from memoranda.model.data_filters import DataFilter
from memoranda.text.terms import query_groups

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Kept = Mask | slice
Code = str | bytes | None

#: Approximate bytes that the interpreter takes for one distinct value and its dictionary entry.
_VALUE_BYTES = 150
#: Up to so many values, comparing the column with each is faster than looking every code up.
_FEW = 16
#: The end of what does not expire.
_NEVER = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class Column:
    """A property with few distinct values, as codes in the smallest type that holds them."""

    values: Mapping[Code, int]
    codes: NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, given: Sequence[Code]) -> Column:
        """Encode the values of all rows; codes count from 0 in the order in which values first
        occur.
        """
        values = {value: code for code, value in enumerate(dict.fromkeys(given))}
        codes = np.fromiter(
            map(values.__getitem__, given), np.min_scalar_type(len(values)), len(given)
        )
        return cls(values, codes)

    @classmethod
    def joined(cls, columns: Sequence[Column], kept: Sequence[Kept]) -> Column:
        """Join the kept rows of several columns, in their order; values that no kept row has are
        dropped.
        """
        values: dict[Code, int] = {}
        codes = []
        for column, keep in zip(columns, kept, strict=True):
            codes_kept, named = column.codes[keep], list(column.values)
            renumbered = np.zeros(len(named), dtype=np.int64)
            for code in np.flatnonzero(np.bincount(codes_kept)).tolist():
                renumbered[code] = values.setdefault(named[code], len(values))
            codes.append(renumbered.take(codes_kept))
        return cls(values, np.concatenate(codes).astype(np.min_scalar_type(len(values))))

    def within(self, chosen: Iterable[Code]) -> Mask | None:
        """Return a mask of the rows whose value is one of these; None: all rows."""
        return self.where([self.values[value] for value in chosen if value in self.values])

    def where(self, chosen: Sequence[int]) -> Mask | None:
        """Return a mask of the rows whose code is one of these; None: all rows."""
        if len(chosen) == len(self.values):
            return None
        if len(self.values) > _FEW:
            admitted = np.zeros(len(self.values), dtype=np.bool_)
            admitted[list(chosen)] = True
            return admitted.take(self.codes)
        refused: list[Mask] = [
            self.codes != code for code in self.values.values() if code not in chosen
        ]
        together: Mask = reduce(np.logical_and, refused)
        return together

    def admitting(self, codes: Mask) -> Mask | None:
        """Return a mask of the rows whose code is marked; None: all rows."""
        if len(codes) > _FEW:
            return None if codes.all() else codes.take(self.codes)
        return self.where(np.flatnonzero(codes).tolist())

    def nbytes(self) -> int:
        """Return the approximate memory of the column in bytes, with its dictionary of values."""
        return self.codes.nbytes + len(self.values) * _VALUE_BYTES


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers with their least and greatest value, which often decide a condition for all of
    them.
    """

    numbers: Numbers
    least: int
    greatest: int

    @classmethod
    def of(cls, numbers: Numbers) -> Series:
        """Measure the bounds of numbers; raise ValueError if there are none."""
        return cls(numbers, int(numbers.min()), int(numbers.max()))

    @classmethod
    def joined(cls, series: Sequence[Series], kept: Sequence[Kept]) -> Series:
        """Join the kept rows of several series, in their order, and measure the bounds again."""
        return cls.of(
            np.concatenate([one.numbers[keep] for one, keep in zip(series, kept, strict=True)])
        )

    def below(self, bound: int) -> Mask | None:
        """Return a mask of the rows below a bound; None: all rows."""
        return None if self.greatest < bound else self.numbers < bound

    def at_least(self, bound: int) -> Mask | None:
        """Return a mask of the rows at or above a bound; None: all rows."""
        return None if self.least >= bound else self.numbers >= bound


@dataclass(frozen=True, slots=True)
class PassageFilter:
    """Conditions on the passages that a search may return. None sets no condition.

    Excluded passages still count in how rare a word is. None in a set admits passages without that
    property. Moments are microseconds since the epoch.
    """

    types: frozenset[str] | None = None
    kinds: frozenset[str | None] | None = None
    #: The kind begins with this.
    kind_prefix: str | None = None
    statuses: frozenset[str | None] | None = None
    #: Excludes passages with one of these statuses.
    not_statuses: frozenset[str] | None = None
    threads: frozenset[bytes | None] | None = None
    #: Earliest ``at``.
    since: int | None = None
    #: ``at`` is before this.
    until: int | None = None
    #: Valid at this moment; without an end of validity a passage stays valid.
    valid_at: int | None = None
    #: Valid at this other moment, too.
    as_of: int | None = None
    #: Excludes memories whose validity had ended by this moment, except commitments, which are then
    #: overdue.
    current_at: int | None = field(default=None, compare=False)
    #: Excludes what had expired by this moment.
    read_at: int | None = field(default=None, compare=False)
    #: Recorded by this moment, and not ended at it.
    known_at: int | None = None
    agents: frozenset[str] | None = None
    keys: frozenset[str] | None = None
    subjects: frozenset[str] | None = None
    trusts: frozenset[str] | None = None
    #: Has at least one of these tags.
    tags: frozenset[str] | None = None
    #: Only pinned ones of the memories; other types are not affected.
    pinned: bool = False
    data: DataFilter | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    """The facets (agent, key, subject, tags and so on) of one passage, in the order in which they
    are stored.
    """

    speaker: str | None = None
    agent: str | None = None
    key: str | None = None
    subject: str | None = None
    trust: str | None = None
    tags: frozenset[str] = frozenset()
    pinned: bool = False
    #: When it expires; None if it does not.
    expires: int | None = None

    @classmethod
    def read(cls, stored: str) -> Facet:
        """Parse the stored text of the facets; it is empty if a passage has no facets."""
        if not stored:
            return cls()
        try:
            speaker, agent, key, subject, trust, tags, *last = json.loads(stored)
            pinned, expires = (*last, None, None)[:2]
        except ValueError:
            raise Corrupt("The stored facets of a passage are damaged. Rebuild the book.") from None
        return cls(speaker, agent, key, subject, trust, frozenset(tags), bool(pinned), expires)


class Facets:
    """A column of facets, parsed."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self.distinct = tuple(Facet.read(str(value)) for value in column.values)
        self._codes: dict[str, Mapping[Any, Numbers]] = {}

    def where(self, meets: Mapping[str, frozenset[str]]) -> Mask | None:
        """Return a mask of the rows whose facets meet all conditions; None: all rows."""
        admitted = np.ones(len(self.distinct), dtype=np.bool_)
        for name, values in meets.items():
            codes_of = self._codes_by(name)
            having = np.zeros(len(self.distinct), dtype=np.bool_)
            for value in values:
                having[codes_of.get(value, [])] = True
            admitted &= having
        return self._column.admitting(admitted)

    def pinned(self) -> Mask | None:
        """Return a mask of the pinned rows; None: all rows."""
        return self._column.admitting(self._pinned)

    def unexpired(self, at: int) -> Mask | None:
        """Return a mask of the rows that have not expired at a moment; None: all rows."""
        return self._column.admitting(self._expiries > at)

    def _codes_by(self, name: str) -> Mapping[Any, Numbers]:
        """Return the codes of the facets with each value of one property; of tags, with each
        tag.
        """
        known = self._codes.get(name)
        if known is None:
            found: dict[Any, list[int]] = {}
            for code, facet in enumerate(self.distinct):
                value = getattr(facet, name)
                for one in value if name == "tags" else (value,):
                    found.setdefault(one, []).append(code)
            known = {value: np.array(codes, dtype=np.int64) for value, codes in found.items()}
            self._codes[name] = known
        return known

    @cached_property
    def _pinned(self) -> Mask:
        return np.array([facet.pinned for facet in self.distinct], dtype=np.bool_)

    @cached_property
    def _expiries(self) -> Numbers:
        ends = (_NEVER if facet.expires is None else facet.expires for facet in self.distinct)
        return np.fromiter(ends, np.int64, len(self.distinct))

    @cached_property
    def speakers(self) -> tuple[tuple[str, ...], NDArray[np.integer]] | None:
        """The speakers' names, the empty name first, and each row's speaker by number; None if
        nobody has a name.
        """
        names = list(dict.fromkeys(facet.speaker or "" for facet in self.distinct))
        if names in ([], [""]):
            return None
        names = ["", *(name for name in names if name)]
        number = {name: place for place, name in enumerate(names)}
        of_code = np.array([number[facet.speaker or ""] for facet in self.distinct], dtype=np.int32)
        return tuple(names), of_code.take(self._column.codes)


class SegmentVoices(NamedTuple):
    """The speakers in the messages of a segment."""

    #: The roles in its living messages.
    roles: frozenset[str]
    #: A mask of the messages that are not the user's.
    by_others: Mask

    @classmethod
    def of(cls, types: Column, kinds: Column, living: Mask | None) -> SegmentVoices:
        """Read them from two columns; the kind of a message is its role."""
        messages = types.codes == types.values.get("message", -1)
        there = messages if living is None else messages & living
        counted = np.bincount(kinds.codes[there], minlength=len(kinds.values)).tolist()
        roles = frozenset(
            str(kind) for kind, count in zip(kinds.values, counted, strict=False) if count
        )
        return cls(roles, messages & (kinds.codes != kinds.values.get("user", -1)))


def called_by(names: Iterable[str]) -> dict[int, list[int]]:
    """Return the hash of each first name → the positions of the names that begin with it."""
    called: dict[int, list[int]] = {}
    for place, name in enumerate(names):
        for group in query_groups(name)[:1]:
            called.setdefault(group.hashes[0], []).append(place)
    return called
