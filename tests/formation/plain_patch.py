"""A second JSON Patch, written as the standard tells it and as slowly as it likes; tests compare
the two.
"""

from __future__ import annotations

import json
import re
from typing import Any


class Refused(Exception):
    """The standard says that this patch fails."""


def plain_patch(document: Any, operations: list[dict[str, Any]]) -> Any:
    """The document after the operations, one by one; None where any of them fails."""
    try:
        for operation in operations:
            document = _applied(json.loads(json.dumps(document)), operation)
    except Refused:
        return None
    return document


def _applied(document: Any, operation: dict[str, Any]) -> Any:
    path = _parts(operation["path"])
    match operation["op"]:
        case "remove":
            return _changed(document, path, "remove", None)
        case "add" | "replace" as how:
            return _changed(document, path, how, operation["value"])
    raise Refused


def _changed(place: Any, path: list[str], how: str, value: Any) -> Any:
    if not path:
        raise Refused
    head, rest = path[0], path[1:]
    if rest:
        if isinstance(place, dict) and head in place:
            return {**place, head: _changed(place[head], rest, how, value)}
        if isinstance(place, list):
            at = _index(head, len(place))
            return [*place[:at], _changed(place[at], rest, how, value), *place[at + 1 :]]
        raise Refused
    if isinstance(place, dict):
        if how != "add" and head not in place:
            raise Refused
        others = {key: inner for key, inner in place.items() if key != head}
        return others if how == "remove" else {**others, head: value}
    if isinstance(place, list):
        if how == "add":
            at = len(place) if head == "-" else _index(head, len(place) + 1)
            return [*place[:at], value, *place[at:]]
        at = _index(head, len(place))
        return [*place[:at], *([] if how == "remove" else [value]), *place[at + 1 :]]
    raise Refused


def _index(part: str, length: int) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]*", part) or int(part) >= length:
        raise Refused
    return int(part)


def _parts(pointer: str) -> list[str]:
    if pointer and pointer[0] != "/":
        raise Refused
    parts = pointer.split("/")[1:]
    if any(re.search("~(?![01])", part) for part in parts):
        raise Refused
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    numbers = {type(one), type(other)} <= {int, float}
    return bool((numbers or type(one) is type(other)) and one == other)


def differences(before: Any, after: Any, at: str = "") -> list[dict[str, Any]]:
    """Operations that make one document of the other."""
    if equal(before, after):
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        found = [{"op": "remove", "path": _below(at, key)} for key in before if key not in after]
        for key, value in after.items():
            if key not in before:
                found.append({"op": "add", "path": _below(at, key), "value": value})
            else:
                found += differences(before[key], value, _below(at, key))
        return found
    if isinstance(before, list) and isinstance(after, list):
        found = []
        for place, (one, other) in enumerate(zip(before, after, strict=False)):
            found += differences(one, other, f"{at}/{place}")
        found += [
            {"op": "remove", "path": f"{at}/{place}"} for place in range(len(after), len(before))
        ]
        found += [
            {"op": "add", "path": f"{at}/-", "value": value} for value in after[len(before) :]
        ]
        return found
    return [{"op": "replace", "path": at, "value": after}]


def _below(at: str, key: str) -> str:
    return f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
