"""Mutants: the product with one condition left out, in this process and for a limited time."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memoranda.engines.sqlite.file import connections

#: Columns that say whose, for whom, or which; others filter what an owner may see anyway.
_BOUNDS = (
    *(
        "tenant",
        "kind",
        "id",
        "owner",
        "erased_at",
        "audience",
        "agent",
        "groups",
        "shelf",
        "no",
        "name",
    ),
    *(
        "record",
        "source",
        "thread",
        "digest",
        "era",
        "operation",
        "run",
        "position",
        "slot",
        "place",
    ),
)
_COLUMN = rf"(?:\w+\.)?(?:{'|'.join(_BOUNDS)})|json_extract\(r\.body, '\$\.agent'\)"
#: A vector's place is told by its set and its record.
_SET = r"(?:\?|:set)"
_PLACE = rf"\({_SET} << 40\) \+ (?:\?|\w+\.\w+)"
_VALUE = (
    rf"{_PLACE}|\?|:\w+|'\w*'|NULL|\w+\.\w+|\(\{{\w+\}}\)|\(SELECT value FROM json_each\(:\w+\)\)"  # noqa: S608
)
#: A row that is bounded already looks up its own owner, shelf or record by number: no filter.
_LOOKUP = re.compile(
    r"[os]\.no = \w\.(?:owner|shelf)|r\.no = \w\.record|\w\.record = r\.no|r\.id = l\.record"
)
_CONDITION = re.compile(rf"(?<![\w.'])(?:{_COLUMN})\s+(?:=|<>|IN|IS NOT|IS)\s+(?:{_VALUE})(?!\w)")


@dataclass(frozen=True)
class Mutant:
    """A condition that is left out."""

    #: Where: a statement's name, or a function's.
    place: str
    #: The condition, with its number where it stands there more than once.
    condition: str
    apply: Callable[[], Any]

    @property
    def name(self) -> str:
        return f"{self.place}: {self.condition}"


def of_statements() -> list[Mutant]:
    """Return a mutant for each limiting condition of each statement, in the order of the file."""
    return [
        Mutant(
            name,
            f"{found.group()}{f' ({place})' if place else ''}",
            _without(name, found.group(), place),
        )
        for name, text in connections.statements().items()
        for place, found in _numbered(text)
    ]


def _numbered(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the conditions after WHERE or ON; repeated ones are numbered from 2."""
    begin = re.search(r"\b(?:WHERE|ON)\b", text)
    times: dict[str, int] = {}
    for found in _CONDITION.finditer(text, begin.end() if begin else len(text)):
        if _LOOKUP.fullmatch(found.group()):
            continue
        times[found.group()] = times.get(found.group(), 0) + 1
        yield (times[found.group()] if times[found.group()] > 1 else 0), found


def _without(name: str, condition: str, place: int) -> Callable[[], Any]:
    @contextmanager
    def patched() -> Iterator[None]:
        # Looked for anew: another condition of the same statement may be left out already.
        text = connections.statements()[name]
        found = next(
            f for number, f in _numbered(text) if (number, f.group()) == (place, condition)
        )
        with replaced(name, text[: found.start()] + _always(condition) + text[found.end() :]):
            yield

    return patched


def _always(condition: str) -> str:
    """Return a condition that is always true and takes the same parameters in the same order."""
    if "?" in condition:
        return f"({'? IS NOT NULL OR ' * condition.count('?')}1)"
    listed = re.search(r"\((\{\w+\})\)", condition)
    return f"(coalesce({listed.group(1)}, 1) IS NOT NULL OR 1)" if listed else "1"


@contextmanager
def replaced(name: str, text: str) -> Iterator[None]:
    """Replace a statement's text for a while."""
    known = connections.statements()
    original = known[name]
    known[name] = text
    connections.sql.cache_clear()
    try:
        yield
    finally:
        known[name] = original
        connections.sql.cache_clear()


@contextmanager
def rewritten(function: Any, old: str, new: str) -> Iterator[None]:
    """Replace a part of a function's source for a while, in every module that imported it."""
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(old) != 1:
        raise LookupError(
            f"{function.__qualname__} holds {old!r} {source.count(old)} times, not once"
        )
    made: dict[str, Any] = {}
    # Deferred annotations need not be evaluated again.
    code = "from __future__ import annotations\n" + source.replace(old, new)
    exec(
        compile(code, f"<{function.__qualname__} rewritten>", "exec"),
        dict(function.__globals__),
        made,
    )
    original = function.__code__
    function.__code__ = made[function.__name__].__code__
    try:
        yield
    finally:
        function.__code__ = original


def of_function(function: Any, old: str, new: str) -> Mutant:
    """Return a mutant of a function without one condition."""
    name = f"{function.__module__.removeprefix('memoranda.')}.{function.__qualname__}"
    return Mutant(name, old, lambda: rewritten(function, old, new))


@contextmanager
def both(first: Callable[[], Any], second: Callable[[], Any]) -> Iterator[None]:
    """Leave both conditions out for a while."""
    with first(), second():
        yield
