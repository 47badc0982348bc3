"""The data of a segment's passages: their JSON texts, and for each path that was asked for an index
of its values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

from memoranda.model.data_filters import (
    MISSING,
    ORDERING,
    Condition,
    DataFilter,
    Operator,
    RecordData,
    is_number,
    json_key,
    number_key,
    record_data,
    value_at,
)
from memoranda.model.records import Record
from memoranda.recall.arrays.columns import Kept, Mask

#: Most paths whose values a segment keeps.
_MOST_PATHS = 32
#: Approximate bytes that the interpreter takes for a text, and for the values of one path in it.
_TEXT_BYTES = 100
#: Stands for the name of the schema, beside paths.
_SCHEMA: Final = ("\0schema",)

Path = tuple[str, ...]
Rows = NDArray[np.int32]
Objects = NDArray[np.object_]


class Unread:
    """The data of a passage that is too large to be cached; the values at the paths asked for are
    read and kept.
    """

    __slots__ = ("_values", "absent")

    def __init__(self) -> None:
        #: True if it was read, and there is no data.
        self.absent = False
        self._values: dict[Path, Any] = {}

    def knows(self, path: Path) -> bool:
        """True if the value at a path was read."""
        return path in self._values

    def value(self, path: Path) -> Any:
        """Return the value that was read."""
        return self._values[path]

    def learn(self, paths: Iterable[Path], record: Record | None) -> None:
        """Keep the values at these paths of a record; without a record there are none."""
        data = None if record is None else record_data(record.type.value, dict(record))
        self.absent = data is None
        for path in paths:
            self._values[path] = _value(data, path)


class DataUnread(Exception):
    """Raised by a filter that needs data which is not cached."""

    def __init__(self, rows: Mapping[UUID, Unread], paths: Sequence[Path]) -> None:
        super().__init__("data that is not cached is needed")
        self.rows = rows
        self._paths = paths

    def learn(self, records: Mapping[UUID, Record]) -> None:
        """Keep what the filter needs of these records."""
        for id, row in self.rows.items():
            row.learn(self._paths, records.get(id))


#: At most so many records are read for their data at a time.
MOST_UNREAD = 32


class DataColumn:
    """The data of all rows of a segment; None for a row without data. It is not changed, except for
    its caches.
    """

    def __init__(self, data: Objects, schemas: Objects) -> None:
        self._data = data
        #: The names of the schemas of inserted documents that are cached.
        self._schemas = schemas
        self._paths: dict[Path, PathValues] = {}
        self._present = data != None  # noqa: E711 - of each element
        self._unread: list[tuple[int, Unread]] = []
        #: The approximate memory of the texts in bytes.
        self.nbytes = 17 * len(data)
        for row in np.flatnonzero(self._present).tolist():
            one = data[row]
            if isinstance(one, str):
                self.nbytes += _TEXT_BYTES + len(one)
            else:
                self._unread.append((row, one))

    @classmethod
    def of(cls, types: Sequence[str], bodies: Sequence[str | None]) -> DataColumn | None:
        """Take the data out of stored bodies: None for rows without data, empty where the body is
        too large.
        """
        data, schemas = (np.full(len(bodies), None, dtype=object) for _ in range(2))
        for row, body in enumerate(bodies):
            if body is None:
                continue
            if not body:
                data[row] = Unread()
            elif (found := _read(types[row], body)) is not None:
                data[row], schemas[row] = to_json(found.value).decode(), found.schema
        return None if all(body is None for body in bodies) else cls(data, schemas)

    @classmethod
    def joined(
        cls, columns: Sequence[DataColumn | None], kept: Sequence[Kept], sizes: Sequence[int]
    ) -> DataColumn | None:
        """Join the kept rows of several columns with so many rows, in their order."""
        if all(column is None for column in columns):
            return None
        nothing = [np.full(size, None, dtype=object) for size in sizes]
        data, schemas = (
            [
                (empty if column is None else parts(column))[keep]
                for column, keep, empty in zip(columns, kept, nothing, strict=True)
            ]
            for parts in (_data_of, _schemas_of)
        )
        return cls(np.concatenate(data), np.concatenate(schemas))

    def within(self, only: DataFilter, id_of: Callable[[int], UUID], living: Mask | None) -> Mask:
        """Return a mask of the rows that meet a filter; raise ``DataUnread`` if data that is not
        cached is needed.
        """
        paths = [*only.paths(), *([] if only.schemas is None else [_SCHEMA])]
        if self._unread:
            self._check_read(paths, id_of, living)
        mask: Mask = self._present.copy()
        mask[[row for row, one in self._unread if one.absent]] = False
        if only.schemas is not None:
            mask &= self._mask(self._values(_SCHEMA).rows_equal(only.schemas))
        for condition in only.conditions:
            mask &= self._meeting(condition)
        return mask

    def _meeting(self, condition: Condition) -> Mask:
        mask = self._mask(self._values(condition.path).rows_meeting(condition))
        negative = condition.operator is Operator.NE or (
            condition.operator is Operator.EXISTS and not condition.given
        )
        return ~mask if negative else mask

    def _mask(self, rows: Iterable[Rows]) -> Mask:
        mask = np.zeros(len(self._data), dtype=np.bool_)
        for some in rows:
            mask[some] = True
        return mask

    def _check_read(
        self, paths: Sequence[Path], id_of: Callable[[int], UUID], living: Mask | None
    ) -> None:
        wanted: dict[UUID, Unread] = {}
        for row, one in self._unread:
            if (living is None or living[row]) and not all(map(one.knows, paths)):
                wanted[id_of(row)] = one
                if len(wanted) == MOST_UNREAD:
                    break
        if wanted:
            raise DataUnread(wanted, paths)

    def _values(self, path: Path) -> PathValues:
        found = self._paths.get(path)
        if found is None:
            if len(self._paths) >= _MOST_PATHS:
                self._paths = {}
            found = self._paths[path] = PathValues(self._found_at(path))
        return found

    def _found_at(self, path: Path) -> Iterator[tuple[int, Any]]:
        """Yield the rows that have a value at a path, ascending, with the value."""
        if path == _SCHEMA:
            known = (
                (row, self._schemas[row])
                for row in np.flatnonzero(self._schemas != None).tolist()  # noqa: E711
            )
        else:
            # A text without the last key has no value at the path, and need not be parsed.
            key = to_json(path[-1]).decode() if path else ""
            known = (
                (row, value_at(from_json(one), path))
                for row, one in enumerate(self._data)
                if isinstance(one, str) and key in one
            )
        large = ((row, one.value(path)) for row, one in self._unread if one.knows(path))
        return ((row, value) for row, value in chain(known, large) if value is not MISSING)


class PathValues:
    """The values at one path: numbers and texts in their order, and all others and the items of
    lists by equality.
    """

    def __init__(self, values: Iterable[tuple[int, Any]]) -> None:
        numbers: list[tuple[int | float, int]] = []
        texts: list[tuple[str, int]] = []
        others: dict[Hashable, list[int]] = {}
        items: dict[Hashable, list[int]] = {}
        rows = []
        for row, value in values:
            rows.append(row)
            if isinstance(value, str):
                texts.append((value, row))
            elif is_number(value):
                numbers.append((number_key(value), row))
            else:
                others.setdefault(json_key(value), []).append(row)
                if isinstance(value, list):
                    for key in {json_key(one) for one in value}:
                        items.setdefault(key, []).append(row)
        self._rows = np.array(rows, dtype=np.int32)
        self._ordered = {True: _Ordered(texts), False: _Ordered(numbers)}
        self._others = {key: np.array(found, dtype=np.int32) for key, found in others.items()}
        self._items = {key: np.array(found, dtype=np.int32) for key, found in items.items()}

    def rows_meeting(self, condition: Condition) -> list[Rows]:
        """Return the rows that meet a condition; of ``ne`` and of a missing value those that do
        not.
        """
        operator, wanted = condition.operator, condition.given
        if operator is Operator.EXISTS:
            return [self._rows]
        if operator in ORDERING:
            key = wanted if isinstance(wanted, str) else number_key(wanted)
            return [self._ordered[isinstance(wanted, str)].within(operator, key)]
        if operator is Operator.CONTAINS:
            found = self._items.get(json_key(wanted))
            return [] if found is None else [found]
        return self.rows_equal(wanted if operator is Operator.IN else (wanted,))

    def rows_equal(self, wanted: Iterable[Any]) -> list[Rows]:
        """Return the rows whose value equals one of these."""
        found = []
        for one in wanted:
            key = json_key(one)
            if isinstance(one, str) or is_number(one):
                found.append(self._ordered[isinstance(one, str)].within(Operator.EQ, key))
            elif (rows := self._others.get(key)) is not None:
                found.append(rows)
        return found


class _Ordered:
    """Values of one sort in their order, each with its row."""

    def __init__(self, values: list[tuple[Any, int]]) -> None:
        values.sort()
        self._keys = [key for key, _ in values]
        self._rows = np.array([row for _, row in values], dtype=np.int32)

    def within(self, operator: Operator, key: Any) -> Rows:
        """Return the rows of the values that compare so with a key."""
        low, high = 0, len(self._keys)
        if operator in (Operator.EQ, Operator.GTE):
            low = bisect_left(self._keys, key)
        elif operator is Operator.GT:
            low = bisect_right(self._keys, key)
        if operator in (Operator.EQ, Operator.LTE):
            high = bisect_right(self._keys, key)
        elif operator is Operator.LT:
            high = bisect_left(self._keys, key)
        return self._rows[low:high]


def _data_of(column: DataColumn) -> Objects:
    return column._data


def _schemas_of(column: DataColumn) -> Objects:
    return column._schemas


def _read(type_: str, body: str) -> RecordData | None:
    """Return the data in a stored body; None if it is damaged, which reading the record reports."""
    try:
        return record_data(type_, from_json(body))
    except (ValueError, AttributeError):
        return None


def _value(data: RecordData | None, path: Path) -> Any:
    if data is None:
        return MISSING
    if path == _SCHEMA:
        return MISSING if data.schema is None else data.schema
    return value_at(data.value, path)
