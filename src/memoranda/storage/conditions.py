"""Conditions, rows and changes as data: what an engine needs one executor for, instead of a
function for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from memoranda.model.data_filters import DataFilter


class Of:
    """A value that the question has: a path of attributes, or a function of each item of a list
    there.
    """

    __slots__ = ("get", "name")

    def __init__(self, name: str, each: Callable[[Any], Any] | None = None) -> None:
        self.name = name
        path = attrgetter(name)
        self.get: Callable[[Any], Any] = (
            path
            if each is None
            else (
                lambda question: (
                    None if path(question) is None else [each(one) for one in path(question)]
                )
            )
        )


# ── conditions: of a missing value (None) all are false but ``Is(column, None)``; ``Not`` turns fal


class Is(NamedTuple):
    """The column has this value; None: it has none."""

    column: str
    value: Any
    #: True if a question's value may be None. An index of the rows that have a value is not used
    #: then.
    or_none: bool = False


class Among(NamedTuple):
    """The column has one of these values."""

    column: str
    values: Any


class Than(NamedTuple):
    """The column is less or greater than a value: ``sign`` is ``<``, ``<=``, ``>`` or ``>=``."""

    column: str
    sign: str
    value: Any


class Begins(NamedTuple):
    """The column's text begins with this one."""

    column: str
    text: Any


class Shares(NamedTuple):
    """The column's list has one of these values."""

    column: str
    values: Any


class Meets(NamedTuple):
    """The record's data meets a caller's filter."""

    filter: DataFilter


class Past(NamedTuple):
    """The row comes after this place in the order of these columns: where a page begins."""

    columns: tuple[str, ...]
    place: tuple[Any, ...]


class Own(NamedTuple):
    """The row belongs to the owner that the questions are about."""


class Not(NamedTuple):
    """The condition is not met."""

    part: Any


class Either(NamedTuple):
    """At least one of the conditions is met."""

    parts: tuple[Any, ...]


class Every(NamedTuple):
    """All conditions are met."""

    parts: tuple[Any, ...]


class Given(NamedTuple):
    """The condition, if the question has a value there; else none."""

    value: Of
    part: Any


# ── what is asked ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table: those that meet all conditions, in an order (``-`` before a column:
    downward), at most so many.

    The answer is a list of tuples with these columns; without columns it is a list of whole
    records, or entries.
    """

    table: str
    where: tuple[Any, ...] = ()
    columns: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    limit: Any = None
    #: Answer with stand-ins for what cannot be read, if the question says so.
    damaged: Any = False
    #: The column by which the rows are found, where a planner would choose another; the other
    #: conditions only check them.
    by: str = ""


@dataclass(frozen=True, eq=False)
class Count:
    """The number of rows that meet all conditions."""

    table: str
    where: tuple[Any, ...] = ()


# ── what is written ───────────────────────────────────────────────────────────────────────────────


class Put(NamedTuple):
    """Store rows. A row whose key is taken ``keep``s the old one, or is ``replace``d, or its
    columns become the ``max``imum.
    """

    table: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    taken: str = "keep"


class Change(NamedTuple):
    """Set columns of the rows that meet all conditions."""

    table: str
    where: tuple[Any, ...]
    values: dict[str, Any]


class Delete(NamedTuple):
    """Delete the rows that meet all conditions."""

    table: str
    where: tuple[Any, ...]


#: The columns of a record that stand in its facets, in their order.
FACETS = ("speaker", "agent", "key", "subject", "trust", "tags", "pinned", "expires")

#: The columns of a table by which a row is found again.
KEYS: dict[str, tuple[str, ...]] = {
    "properties": ("name",),
    "restrictions": ("digest",),
    "key_uses": ("id",),
    "reads": ("at", "id"),
    "tombstones": ("digest",),
    "jobs": ("id",),
    "kept": ("job",),
}


def value_of(value: Any, question: Any) -> Any:
    """Return a value of a condition as the question has it."""
    return value.get(question) if type(value) is Of else value


def settled(parts: Sequence[Any], question: Any) -> list[Any]:
    """Return conditions with the question's own values in them, without those that it does not
    give.
    """
    found: list[Any] = []
    for part in parts:
        kind = type(part)
        if kind is Given:
            if part.value.get(question) is not None:
                found += settled((part.part,), question)
        elif kind is Own or kind is Meets:
            found.append(part)
        elif kind is Not:
            found.append(Not(settled((part.part,), question)[0]))
        elif kind is Either or kind is Every:
            found.append(kind(tuple(settled(part.parts, question))))
        elif kind is Past:
            found.append(Past(part.columns, tuple(value_of(one, question) for one in part.place)))
        else:
            found.append(kind(*(value_of(one, question) for one in part)))
    return found
