"""Filters over the JSON data of records: conditions on paths, compared as JSON's types are."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from pydantic_core import from_json

from memoranda.errors import InvalidInput
from memoranda.first_use import dataclass
from memoranda.model.values import DATA_DEPTH, text_fault

#: The most conditions of one filter, characters of a path, parts of a path, and values after
#: ``in``.
MOST_CONDITIONS, MOST_PATH, MOST_PARTS, MOST_CHOICES = 64, 4_096, DATA_DEPTH, 1_000
#: The most characters of an operand as JSON.
OPERAND_SIZE = 65_536
#: A path begins with this name: of a memory its ``data``, of an inserted document its own fields,
#: of an item its value.
ROOT: Final = "data"
#: From here on not every whole number is a floating-point number.
_EXACT: Final = 2**53


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


#: Stands where a path leads to nothing.
MISSING: Final = _Missing()


class Operator(StrEnum):
    """How a value is compared with an operand."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"
    CONTAINS = "contains"
    EXISTS = "exists"


ORDERING: Final = frozenset({Operator.GT, Operator.GTE, Operator.LT, Operator.LTE})
_OPERATORS: Final = ", ".join(one.value for one in Operator)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the value at one path; the operand is kept as JSON, so that conditions can be
    hashed.
    """

    path: tuple[str, ...]
    operator: Operator
    operand: str

    @property
    def given(self) -> Any:
        """The operand; do not change it."""
        return _parsed(self.operand)

    @property
    def name(self) -> str:
        """The path as it is given to ``only``."""
        return data_path(*self.path)

    def met_by(self, value: Any) -> bool:
        """True if a value, or ``MISSING``, meets the condition."""
        wanted = self.given
        if self.operator is Operator.EXISTS:
            return (value is not MISSING) is wanted
        if self.operator is Operator.NE:
            return value is MISSING or json_key(value) != json_key(wanted)
        if value is MISSING:
            return False
        if self.operator is Operator.EQ:
            return json_key(value) == json_key(wanted)
        if self.operator is Operator.IN:
            return json_key(value) in {json_key(one) for one in wanted}
        if self.operator is Operator.CONTAINS:
            return isinstance(value, list) and json_key(wanted) in map(json_key, value)
        return self._in_order(value, wanted)

    def _in_order(self, value: Any, wanted: Any) -> bool:
        mine: Any
        other: Any
        if isinstance(value, str) or isinstance(wanted, str):
            if not (isinstance(value, str) and isinstance(wanted, str)):
                return False
            mine, other = value, wanted
        elif is_number(value):
            mine, other = number_key(value), number_key(wanted)
        else:
            return False
        if self.operator is Operator.GT:
            return bool(mine > other)
        if self.operator is Operator.GTE:
            return bool(mine >= other)
        return bool(mine < other if self.operator is Operator.LT else mine <= other)


@dataclass(frozen=True, slots=True)
class DataFilter:
    """Conditions on the data of records, all of which must be met; a record without data meets
    none.
    """

    #: The schema of an inserted document is one of these; None sets no condition.
    schemas: frozenset[str] | None = None
    conditions: tuple[Condition, ...] = ()

    def met_by(self, data: RecordData | None) -> bool:
        """True if a record with this data meets all conditions."""
        if data is None or (self.schemas is not None and data.schema not in self.schemas):
            return False
        return all(one.met_by(value_at(data.value, one.path)) for one in self.conditions)

    def spelled(self) -> str:
        """Return the filter as a text, which ``body_meets`` reads."""
        schemas = None if self.schemas is None else sorted(self.schemas)
        return _spell([schemas, [[one.path, one.operator, one.operand] for one in self.conditions]])

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Yield the path of each condition."""
        return (one.path for one in self.conditions)

    def each(self) -> Iterator[tuple[str, DataFilter]]:
        """Yield each condition as a filter of its own, by its name."""
        if self.schemas is not None:
            yield "schema", DataFilter(self.schemas)
        for one in self.conditions:
            yield one.name, DataFilter(None, (one,))

    def as_given(self) -> dict[str, Any]:
        """Return the conditions as ``only`` takes them."""
        given: dict[str, Any] = {} if self.schemas is None else {"schema": sorted(self.schemas)}
        for one in self.conditions:
            given.setdefault(one.name, {})[one.operator.value] = one.given
        return given


@dataclass(frozen=True, slots=True)
class RecordData:
    """The data of a record that filters read: of an inserted document its own fields, and the name
    of its schema.
    """

    value: Any
    schema: str | None = None


def record_data(type_: str, fields: Mapping[str, Any]) -> RecordData | None:
    """Return the data of a record from its type and fields; None if it has none."""
    if type_ == "item":
        return RecordData(fields.get("value"))
    data = fields.get("data") if type_ == "memory" else None
    if isinstance(data, dict):
        schema, document = data.get("schema"), data.get("document")
        if isinstance(schema, str) and isinstance(document, dict):
            return RecordData(document, schema)
    return None if data is None else RecordData(data)


def body_meets(type_: str, body: str, spelled: str) -> bool:
    """True if the data in a stored body meets a filter that is given as a text; false for a damaged
    body.
    """
    try:
        return _filter_of(spelled).met_by(record_data(type_, from_json(body)))
    except (ValueError, AttributeError):
        return False


@lru_cache(maxsize=256)
def _filter_of(spelled: str) -> DataFilter:
    schemas, conditions = json.loads(spelled)
    return DataFilter(
        None if schemas is None else frozenset(schemas),
        tuple(
            Condition(tuple(path), Operator(operator), operand)
            for path, operator, operand in conditions
        ),
    )


def value_at(value: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path, which leads through objects only; ``MISSING`` if there is
    none.
    """
    for part in path:
        if not isinstance(value, dict) or part not in value:
            return MISSING
        value = value[part]
    return value


def is_number(value: Any) -> bool:
    """True for a JSON number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number_key(number: float) -> int | float:
    """Return a number that is compared as the decimal number which JSON shows: 1 equals 1.0, and
    big ones are exact.
    """
    if isinstance(number, float) and abs(number) >= _EXACT:
        return int(Decimal(repr(number)))
    return number


def json_key(value: Any) -> Hashable:
    """Return a hashable value that is equal exactly if the JSON values are equal: 1 equals 1.0, and
    neither is true.
    """
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return (value,)
    if isinstance(value, dict):
        return ("object", frozenset((key, json_key(inner)) for key, inner in value.items()))
    if isinstance(value, (list, tuple)):
        return ("array", tuple(map(json_key, value)))
    return number_key(value)


# ── what a caller gives ───────────────────────────────────────────────────────────────────────────


def data_path(*parts: str) -> str:
    """Return the name of a condition on a path: its parts after ``data``, each after a dot; a
    backslash hides a dot in a part.
    """
    return ".".join((ROOT, *(part.replace("\\", "\\\\").replace(".", "\\.") for part in parts)))


def names_data(name: str) -> bool:
    """True if a condition's name is that of a path."""
    return name == ROOT or name.startswith(f"{ROOT}.")


def conditions_at(name: str, given: Any) -> Iterator[Condition]:
    """Check the conditions at one path, given as operators with their operands or as the value that
    it must equal.
    """
    at = f"only.{name if len(name) <= 100 else name[:100] + '…'}"
    path = _read_path(name, at)
    operators = given if isinstance(given, Mapping) else {Operator.EQ.value: given}
    if not operators:
        raise InvalidInput(f"{at}: give at least one operator; they are {_OPERATORS}", field=at)
    for spelled, operand in operators.items():
        try:
            operator = Operator(spelled)
        except ValueError:
            raise InvalidInput(
                f"{at}: {_shown(spelled)} is no operator; they are {_OPERATORS}; to compare with a whole object write "
                '{"eq": {…}}',
                field=at,
            ) from None
        yield Condition(path, operator, _operand(operator, operand, f"{at}.{operator.value}"))


def data_filter(schemas: frozenset[str] | None, given: Mapping[str, Any]) -> DataFilter | None:
    """Check all conditions on data, by the names of their paths; None if there is none."""
    conditions = tuple(
        one for name, operators in given.items() for one in conditions_at(name, operators)
    )
    if len(conditions) > MOST_CONDITIONS:
        raise InvalidInput(
            f"only: it has {len(conditions)} conditions on data; give at most {MOST_CONDITIONS}",
            field="only",
        )
    return None if schemas is None and not conditions else DataFilter(schemas, conditions)


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else type(value).__name__
    return text if len(text) <= 60 else text[:60] + "…'"


def _read_path(name: str, at: str) -> tuple[str, ...]:
    if len(name) > MOST_PATH:
        raise InvalidInput(
            f"{at}: the path has {len(name)} characters; at most {MOST_PATH} are read", field=at
        )
    if (fault := text_fault(name)) is not None:
        raise InvalidInput(f"{at}: the path {fault}", field=at)
    parts, hidden = [""], False
    for character in name:
        if hidden and character not in ".\\":
            break
        if hidden or character not in ".\\":
            parts[-1] += character
            hidden = False
        elif character == "\\":
            hidden = True
        else:
            parts.append("")
    if hidden:
        raise InvalidInput(
            f"{at}: a backslash hides a dot or a backslash that follows it; write two for one in a key",
            field=at,
        )
    if len(parts) > MOST_PARTS + 1:
        raise InvalidInput(
            f"{at}: the path has {len(parts) - 1} parts; data is at most {MOST_PARTS} levels deep",
            field=at,
        )
    return tuple(parts[1:])


def _operand(operator: Operator, given: Any, at: str) -> str:
    if operator is Operator.EXISTS and not isinstance(given, bool):
        raise InvalidInput(f"{at}: give True or False, not {type(given).__name__}", field=at)
    if operator is Operator.IN:
        if not isinstance(given, (list, tuple, set, frozenset)):
            raise InvalidInput(f"{at}: give a list of values, not {type(given).__name__}", field=at)
        if len(given) > MOST_CHOICES:
            raise InvalidInput(
                f"{at}: it has {len(given)} values; give at most {MOST_CHOICES}", field=at
            )
        given = sorted(given, key=repr) if isinstance(given, (set, frozenset)) else list(given)
    if operator in ORDERING and not (isinstance(given, str) or is_number(given)):
        found = "null" if given is None else type(given).__name__
        raise InvalidInput(
            f"{at}: only numbers and texts have an order; {found} has none", field=at
        )
    if (fault := _fault(given, 0)) is not None:
        raise InvalidInput(f"{at}: {fault}", field=at)
    try:
        text = _spell(given)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{at}: it cannot be written as JSON: give finite numbers", field=at
        ) from None
    if len(text) > OPERAND_SIZE:
        raise InvalidInput(
            f"{at}: it takes {len(text)} characters as JSON; give at most {OPERAND_SIZE}", field=at
        )
    return text


#: Spells an operand; its keys are ordered, so that equal conditions have equal texts.
_spell = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def _fault(value: Any, depth: int) -> str | None:
    """Return what is wrong with an operand, or None."""
    if depth > DATA_DEPTH:
        return f"it is nested deeper than {DATA_DEPTH} levels"
    if isinstance(value, str):
        fault = text_fault(value)
        return None if fault is None else f"a text {fault}"
    if isinstance(value, dict):
        if any(not isinstance(key, str) for key in value):
            return "it has a key that is no text; JSON objects have text keys"
        value = [*value, *value.values()]
    elif value is None or isinstance(value, (int, float)):
        return None
    elif not isinstance(value, (list, tuple)):
        return f"{type(value).__name__} is no type of JSON; give a text, number, True, False, None, list or mapping"
    return next((fault for inner in value if (fault := _fault(inner, depth + 1)) is not None), None)


@lru_cache(maxsize=1024)
def _parsed(operand: str) -> Any:
    return json.loads(operand)
