"""The source records of each field of a document and, for a list, of each item."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

from memoranda.model.values import comparable

#: The sources of a value: for a list that is not empty, one entry for each item; for any other value, one entry.
#: An empty entry means that people or programs set the value.
Grounds: TypeAlias = tuple[tuple[UUID, ...], ...]


def places(value: Any) -> int:
    """Return how many source entries a value has."""
    return len(value) if isinstance(value, (list, tuple)) and value else 1


def all_of(grounds: Mapping[str, Grounds]) -> tuple[UUID, ...]:
    """Return all source records of a document, each once."""
    return joined(source for entries in grounds.values() for entry in entries for source in entry)


def joined(sources: Iterable[UUID]) -> tuple[UUID, ...]:
    """Each source once, in the order in which they came."""
    return tuple(dict.fromkeys(sources))


def of_change(before: Any, held: Grounds, after: Any, sources: tuple[UUID, ...]) -> Grounds:
    """Return the sources of a value that replaces another; an item that stays keeps its sources.

    A part of an object may be unchanged, so a changed object keeps its earlier sources and gets the new ones.
    """
    if comparable(before) == comparable(after):
        return _more(held, sources) if not isinstance(after, (list, tuple)) else held
    if not isinstance(after, (list, tuple)) or not after:
        kept = held[0] if isinstance(before, dict) and isinstance(after, dict) else ()
        return (joined((*kept, *sources)),)
    earlier = [*zip(before, held, strict=True)] if isinstance(before, (list, tuple)) and before else []
    return _of_items(earlier, after, sources)


def _of_items(
    earlier: list[tuple[Any, tuple[UUID, ...]]], after: Sequence[Any], sources: tuple[UUID, ...]
) -> Grounds:
    waiting: dict[Any, list[int]] = {}
    for place, (item, _) in enumerate(earlier):
        waiting.setdefault(comparable(item), []).append(place)
    matched = [found.pop(0) if (found := waiting.get(comparable(item))) else None for item in after]
    stayed = set(matched)
    entries: list[tuple[UUID, ...]] = []
    for place, (item, match) in enumerate(zip(after, matched, strict=True)):
        if match is not None:
            entries.append(earlier[match][1])
        elif isinstance(item, dict) and place < len(earlier) and place not in stayed:
            was, entry = earlier[place]
            entries.append(joined((*(entry if isinstance(was, dict) else ()), *sources)))
        else:
            entries.append(sources)
    return tuple(entries)


def said_again(value: Any, held: Grounds, again: Any, sources: tuple[UUID, ...]) -> Grounds:
    """Return the sources of a value after it, or some of its items, were said again; a value without sources stays without."""
    if not isinstance(value, (list, tuple)):
        return _more(held, sources) if comparable(value) == comparable(again) else held
    items = {comparable(item) for item in again} if isinstance(again, (list, tuple)) else set()
    if not value:
        return held
    return tuple(
        _more((entry,), sources)[0] if comparable(item) in items else entry
        for item, entry in zip(value, held, strict=True)
    )


def _more(held: Grounds, sources: tuple[UUID, ...]) -> Grounds:
    return tuple(joined((*entry, *sources)) if entry else () for entry in held)


def without(value: Any, held: Grounds, gone: Container[UUID]) -> tuple[Any, Grounds] | None:
    """A value without what rested only on what is gone; None where nothing is left of it."""
    left = [tuple(source for source in entry if source not in gone) for entry in held]
    stays = [bool(now) or not was for was, now in zip(held, left, strict=True)]
    if all(stays):
        return value, tuple(left)
    if not any(stays):
        return None
    # Only a list has several entries.
    return (
        [item for item, kept in zip(value, stays, strict=True) if kept],
        tuple(entry for entry, kept in zip(left, stays, strict=True) if kept),
    )
