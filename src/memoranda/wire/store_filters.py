"""Filters and field paths of LangGraph's stores, as the book's conditions and paths."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from memoranda.errors import InvalidInput
from memoranda.model.values import text_fault

_OPERATORS = {"$eq": "eq", "$ne": "ne", "$gt": "gt", "$gte": "gte", "$lt": "lt", "$lte": "lte"}
#: A key as a path can name it; dots step into objects.
_KEY = re.compile(r"[^.\[\]'\"()$\s\x00-\x1f]+(?:\.[^.\[\]'\"()$\s\x00-\x1f]+)*")
_CHOICE = re.compile(r"\{([^{}]*)\}")


class NothingMeets(Exception):
    """A filter that no JSON value meets, such as one that asks for a number above infinity."""


def conditions_of(filter: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a filter of LangGraph as the book's conditions on an item's value; raise ``NothingMeets`` if nothing can."""
    conditions: dict[str, Any] = {}
    for path, compared in _leaves(filter or {}, ""):
        if compared:
            conditions[f"data.{path}"] = compared
    return conditions


def _leaves(filter: Mapping[str, Any], above: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, wanted in filter.items():
        if not isinstance(key, str) or _KEY.fullmatch(key) is None:
            raise InvalidInput(
                f"filter: Invalid filter key {key!r}: name a field, with dots between the names of nested ones",
                field="filter",
            )
        path = above + key
        if not isinstance(wanted, Mapping) or not wanted:
            yield path, _compared(path, {"$eq": wanted})
        elif any(str(name).startswith("$") for name in wanted):
            yield path, _compared(path, wanted)
        else:
            yield from _leaves(wanted, f"{path}.")


def _compared(path: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    compared: dict[str, Any] = {}
    for name, value in wanted.items():
        if name not in _OPERATORS:
            raise InvalidInput(
                f"filter: {path}: {name!r} is unknown; the operators are {', '.join(_OPERATORS)}",
                field="filter",
            )
        operator = _OPERATORS[name]
        if isinstance(value, float) and not math.isfinite(value):
            operator, value = _beyond(operator, value)
            if operator == "":
                continue
        elif isinstance(value, str) and operator in ("eq", "ne") and text_fault(value) is not None:
            # No value has such a text, because the book stores none.
            if operator == "eq":
                raise NothingMeets
            continue
        # The stricter of two comparisons of one kind counts, which only an infinity can bring about.
        compared.setdefault(operator, value)
    return compared


def _beyond(operator: str, value: float) -> tuple[str, float]:
    """Return a comparison with an infinity as one with the largest number; an empty operator where everything meets it."""
    if operator == "ne":
        return "", value
    if operator in ("lt", "lte") and value > 0:
        return "lte", sys.float_info.max
    if operator in ("gt", "gte") and value < 0:
        return "gte", -sys.float_info.max
    raise NothingMeets


def paths_of(index: Sequence[str]) -> list[str]:
    """Return field paths of LangGraph as the book writes them: ``a.*`` becomes ``a[*]``, and ``{a,b.c}`` two paths."""
    paths: list[str] = []
    for given in index:
        if not isinstance(given, str):
            raise InvalidInput(f"index: give the paths as texts, not {given!r}", field="index")
        pieces = _CHOICE.split(given or "$")
        options = [
            [name.strip() for name in piece.split(",")] if number % 2 else [piece]
            for number, piece in enumerate(pieces)
        ]
        for parts in product(*options):
            path = re.sub(r"(^|\.)\*(?=$|[.\[])", "[*]", "".join(parts))
            if path not in paths:
                paths.append(path)
    return paths
