"""Filters of documents with a part left out: each part that says whose a document is, of each
command that a program of random work sends.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from memoranda.engines.mongo.server import session
from memoranda.engines.mongo.server.session import NAMES, Session

#: Fields that bind a document to one owner, beside those that name the owner.
_BOUND = ("era", "owner")
_SHELF = "shelf"
#: Numbers and ids are given out once in a book: beside them a name alone binds nothing more, and it
#: stands there because each command begins with its owner.
_UNIQUE = frozenset(("_id", "id", _SHELF, *_BOUND))
#: Functions whose filters bind an owner a second time, and why that is not noticed where it lacks.
#: These parts are there all the same: each command begins with its owner, and with the index.
_IMPLIED = {
    "ids, positions and eras are given out once in a book, and these were read as the owner's": (
        "_belongings",
        "_blank_versions",
        "_by_operation",
        "_count_filled",
        "_due_job",
        "_in_transaction",
        "_jobs",
        "_other_holders",
        "_positions_touching",
        "_put_uses",
        "_put_vectors",
        "_recount in owners",
        "_remark",
        "_remove_records",
        "_rows in owners",
        "_store_records",
        "_version_of",
        "_versions",
        "answer of InThread",
        "answer of LastUserTurn",
        "answer of PlaceTaken",
        "head_of in owners",
        "put_all in records",
    ),
    "each memory that may make room is fetched once more as the owner's": (
        "answer of OwnMemories",
    ),
    "a shelf's owner binds its records": ("_pieces_after in records: shelf",),
    "the ids of records bind their versions": ("_pieces_after in versions",),
    "these programs make their runs' and operations' digests with the owner's name, as the door does": (
        "answer of CountRun",
    ),
    "it only matters where two write at the same moment; tests of interleaved commands have that": (
        "_due in jobs",
        "_reserve",
    ),
    "only doctor asks it of a tenant; every engine's suite counts two tenants": ("_counts",),
    "a job that makes vectors is the book's, and its kind says so": (
        "_remove_set DeleteMany in jobs",
        "make_embedding_due in jobs",
    ),
    "jobs of an era that ended are removed one by one before": ("_end_era in jobs",),
}
#: Functions that serve many questions.
_FOR_MANY = ("answer", "carry_out")


@dataclass(frozen=True, order=True)
class Part:
    """A part of the filter of one command."""

    #: Who asks: a function, and the question that it answers.
    place: str
    collection: str
    #: What is left out: "owner" for all that says whose, or a field.
    what: str

    def __str__(self) -> str:
        return f"{self.place} in {self.collection}: {self.what}"

    @property
    def fields(self) -> frozenset[str]:
        """The fields that are left out."""
        if self.what == "owner":
            return frozenset((*NAMES, *_BOUND, _SHELF))
        return frozenset((self.what,))


def why_implied(part: Part) -> str:
    """Return why nobody notices that a part is left out; empty if it must be noticed."""
    return next(
        (
            why
            for why, places in _IMPLIED.items()
            if any(f"{part}:".startswith((f"{place} ", f"{place}:")) for place in places)
        ),
        "",
    )


def parts_of(place: str, collection: str, filter: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the parts of a filter that can be left out."""
    fields = set(_fields(filter))
    if fields & {*NAMES, *_BOUND}:
        yield Part(place, collection, "owner")
    if _SHELF in fields:
        yield Part(place, collection, _SHELF)
    elif not fields & _UNIQUE:
        for name in NAMES:
            if name in fields:
                yield Part(place, collection, name)


def _fields(filter: Mapping[str, Any]) -> Iterator[str]:
    for name, value in filter.items():
        if name == "$and":
            for one in value:
                yield from _fields(one)
        else:
            yield name


def without(filter: Mapping[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    """Return a filter without some fields."""
    rest: dict[str, Any] = {}
    for name, value in filter.items():
        if name == "$and":
            parts = [found for one in value if (found := without(one, left_out))]
            rest |= {"$and": parts} if parts else {}
        elif name not in left_out:
            rest[name] = value
    return rest


@contextmanager
def sent(found: Counter[Part]) -> Iterator[None]:
    """Count the parts of all filters that are sent meanwhile."""

    def note(place: str, collection: str, filter: Mapping[str, Any]) -> Mapping[str, Any]:
        found.update(parts_of(place, collection, filter))
        return filter

    with _changed(note):
        yield


@contextmanager
def left_out(part: Part) -> Iterator[None]:
    """Leave out a part of a filter wherever it is sent."""

    def cut(place: str, collection: str, filter: Mapping[str, Any]) -> Mapping[str, Any]:
        if (place, collection) == (part.place, part.collection):
            return without(filter, part.fields)
        return filter

    with _changed(cut):
        yield


@contextmanager
def _changed(change: Callable[[str, str, Any], Any]) -> Iterator[None]:
    """Let each filter that a session sends go through a function."""
    kept: Any = {
        name: getattr(Session, name) for name in ("find", "count", "group", "lock", "bulk")
    }

    def find(self: Session, name: str, filter: Any, *more: Any, **named: Any) -> Any:
        return kept["find"](self, name, change(_asker(), name, filter), *more, **named)

    def count(self: Session, name: str, filter: Any) -> Any:
        return kept["count"](self, name, change(_asker(), name, filter))

    def lock(self: Session, name: str, filter: Any) -> Any:
        return kept["lock"](self, name, change(_asker(), name, filter))

    def group(self: Session, name: str, stages: Sequence[Any]) -> Any:
        place = _asker()
        changed = [
            {"$match": change(place, name, one["$match"])} if "$match" in one else one
            for one in stages
        ]
        return kept["group"](self, name, changed)

    def bulk(self: Session, name: str, operations: Sequence[Any]) -> Any:
        place = _asker()
        for one in operations:
            if hasattr(one, "_filter"):
                one._filter = change(f"{place} {type(one).__name__}", name, one._filter)
        return kept["bulk"](self, name, operations)

    made: Any = {"find": find, "count": count, "lock": lock, "group": group, "bulk": bulk}
    with patch.multiple(Session, **made):
        yield


def _asker() -> str:
    """Return the function that asks; for one that serves many questions, with the question."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename in (session.__file__, __file__):
        frame = frame.f_back
    name: str = frame.f_code.co_name
    if name not in _FOR_MANY:
        return name
    while not {"question", "write"} & frame.f_locals.keys():
        frame = frame.f_back
    asked = frame.f_locals.get("question", frame.f_locals.get("write"))
    return f"{name} of {type(asked).__name__}"
