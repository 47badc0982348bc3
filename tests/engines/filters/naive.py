"""A second evaluator of filters over data, written from their description alone: slow, and in no
part that of the product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

#: Stands where a path leads to nothing.
NOTHING = object()


def meets(data: Any, schema: str | None, only: Mapping[str, Any]) -> bool:
    """True if a record with this data, which is ``NOTHING`` if it has none, meets all conditions of
    ``only``.
    """
    if data is NOTHING:
        return False
    for name, wanted in only.items():
        if name == "schema":
            names = [wanted] if isinstance(wanted, str) else wanted
            if schema is None or schema not in names:
                return False
            continue
        value = found_at(data, parts_of(name))
        operators = wanted if isinstance(wanted, dict) else {"eq": wanted}
        if not all(holds(operator, value, operand) for operator, operand in operators.items()):
            return False
    return True


def parts_of(name: str) -> list[str]:
    """Return the keys of a path; a backslash takes the next character as it is."""
    keys: list[str] = [""]
    place = 0
    while place < len(name):
        if name[place] == "\\":
            keys[-1] += name[place + 1]
            place += 2
        elif name[place] == ".":
            keys.append("")
            place += 1
        else:
            keys[-1] += name[place]
            place += 1
    assert keys[0] == "data"
    return keys[1:]


def found_at(data: Any, keys: Sequence[str]) -> Any:
    """Return the value below these keys."""
    if not keys:
        return data
    if type(data) is dict and keys[0] in data:
        return found_at(data[keys[0]], keys[1:])
    return NOTHING


def holds(operator: str, value: Any, operand: Any) -> bool:
    """True if a value compares so with an operand."""
    there = value is not NOTHING
    match operator:
        case "exists":
            return there is bool(operand)
        case "eq":
            return there and same(value, operand)
        case "ne":
            return not (there and same(value, operand))
        case "in":
            return there and any(same(value, one) for one in operand)
        case "contains":
            return there and type(value) is list and any(same(one, operand) for one in value)
    sort = sort_of(value) if there else ""
    if sort not in ("number", "text") or sort != sort_of(operand):
        return False
    one: Any
    other: Any
    one, other = (
        (exact(value), exact(operand))
        if sort == "number"
        else (list(map(ord, value)), list(map(ord, operand)))
    )
    return bool(
        {"gt": one > other, "gte": one >= other, "lt": one < other, "lte": one <= other}[operator]
    )


def sort_of(value: Any) -> str:
    """Return the type of a JSON value."""
    for types, name in (
        ((type(None),), "null"),
        ((bool,), "truth"),
        ((int, float), "number"),
        ((str,), "text"),
        ((list, tuple), "list"),
    ):
        if type(value) in types:
            return name
    return "object"


def exact(number: float) -> Fraction:
    """Return the number that JSON's digits say."""
    return Fraction(repr(number))


def same(one: Any, other: Any) -> bool:
    """True if two JSON values are equal."""
    sort = sort_of(one)
    if sort != sort_of(other):
        return False
    if sort == "number":
        return exact(one) == exact(other)
    if sort == "list":
        return len(one) == len(other) and all(map(same, one, other))
    if sort == "object":
        return set(one) == set(other) and all(same(one[key], other[key]) for key in one)
    return bool(one == other)
