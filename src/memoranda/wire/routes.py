"""Routes: which verb a method and a path mean, and the path of a verb; parts are percent-encoded
one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote_to_bytes

from memoranda.book.all_operations import OPERATIONS
from memoranda.operations import Operation


@dataclass
class _Node:
    """One part of a path: what may follow it, and the verbs that end here."""

    fixed: dict[str, _Node] = field(default_factory=dict)
    any: _Node | None = None
    ends: dict[str, Operation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    """The verb that a request means, and the arguments in its path; no verb where only the method
    is wrong.
    """

    verb: Operation | None
    given: dict[str, str]
    methods: tuple[str, ...]


def _tree() -> _Node:
    root = _Node()
    for verb in OPERATIONS.values():
        node = root
        for part in verb.path.strip("/").split("/"):
            if part.startswith("{"):
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.fixed.setdefault(part, _Node())
        node.ends[verb.method] = verb
    return root


_ROOT = _tree()


def match(method: str, raw_path: bytes) -> Match | None:
    """Return what a request means by its path as it was sent; None if there is no such path.

    A part that is not UTF-8 names nothing, so there is no such path either.
    """
    try:
        parts = [unquote_to_bytes(part).decode() for part in raw_path.strip(b"/").split(b"/")]
    except UnicodeDecodeError:
        return None
    found = _ends(_ROOT, parts, 0, ())
    for ends, values in found:
        if (verb := ends.get(method)) is not None:
            return Match(verb, dict(zip(verb.in_path, values, strict=True)), ())
    methods = {method for ends, _ in found for method in ends}
    return Match(None, {}, tuple(sorted(methods))) if methods else None


def _ends(
    node: _Node, parts: list[str], at: int, values: tuple[str, ...]
) -> list[tuple[dict[str, Operation], tuple[str, ...]]]:
    """Return the ends that a path may mean, a fixed part before a value."""
    if at == len(parts):
        return [(node.ends, values)] if node.ends else []
    fixed = node.fixed.get(parts[at])
    found = _ends(fixed, parts, at + 1, values) if fixed is not None else []
    if node.any is not None and parts[at]:
        found += _ends(node.any, parts, at + 1, (*values, parts[at]))
    return found


def path_of(verb: Operation, given: Mapping[str, object]) -> str:
    """Return the path of a verb with its arguments, percent-encoded."""
    parts = verb.path.split("/")
    return "/".join(
        _encoded(str(given[part[1:-1]])) if part.startswith("{") else part for part in parts
    )


def _encoded(part: str) -> str:
    # A client would take a part of dots alone for a step up.
    return quote(part, safe="") if part.strip(".") else part.replace(".", "%2E")
