"""Facets of passages: speaker, agent, key, subject, trust, tags and pinned; each distinct value is parsed once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import Corrupt
from memoranda.recall.columns import Column, Mask
from memoranda.text.terms import query_groups


@dataclass(frozen=True, slots=True)
class Facet:
    """The facets of one passage in the order in which they are stored."""

    speaker: str | None = None
    agent: str | None = None
    key: str | None = None
    subject: str | None = None
    trust: str | None = None
    tags: frozenset[str] = frozenset()
    pinned: bool = False

    @classmethod
    def read(cls, stored: str) -> Facet:
        """Parse the stored spelling; it is empty if a passage has no facets."""
        if not stored:
            return cls()
        try:
            speaker, agent, key, subject, trust, tags, *pinned = json.loads(stored)
        except ValueError:
            raise Corrupt("The stored facets of a passage are damaged. Rebuild the book.") from None
        return cls(speaker, agent, key, subject, trust, frozenset(tags), bool(pinned))


class Facets:
    """A column of facets, parsed."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self.distinct = tuple(Facet.read(str(value)) for value in column.values)

    def where(self, meets: Mapping[str, frozenset[str]]) -> Mask | None:
        """Return a mask of the rows whose facets meet all conditions; None: all rows."""
        return self._column.where([code for code, facet in enumerate(self.distinct) if _meets(facet, meets)])

    def pinned(self) -> Mask | None:
        """Return a mask of the pinned rows; None: all rows."""
        return self._column.where([code for code, facet in enumerate(self.distinct) if facet.pinned])

    @cached_property
    def speakers(self) -> tuple[tuple[str, ...], NDArray[np.integer]] | None:
        """The speakers' names, the empty name first, and each row's speaker by number; None if nobody has a name."""
        names = list(dict.fromkeys(facet.speaker or "" for facet in self.distinct))
        if names in ([], [""]):
            return None
        names = ["", *(name for name in names if name)]
        number = {name: place for place, name in enumerate(names)}
        of_code = np.array([number[facet.speaker or ""] for facet in self.distinct], dtype=np.int32)
        return tuple(names), of_code.take(self._column.codes)


def _meets(facet: Facet, wanted: Mapping[str, frozenset[str]]) -> bool:
    for name, values in wanted.items():
        value: Any = getattr(facet, name)
        if values.isdisjoint(value) if name == "tags" else value not in values:
            return False
    return True


def called_by(names: Iterable[str]) -> dict[int, list[int]]:
    """Return the hash of each first name → the positions of the names that begin with it."""
    called: dict[int, list[int]] = {}
    for place, name in enumerate(names):
        for group in query_groups(name)[:1]:
            called.setdefault(group.hashes[0], []).append(place)
    return called
