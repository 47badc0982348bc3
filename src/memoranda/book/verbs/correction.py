"""Corrections: what a newer memory takes over from the one that it replaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from memoranda.book.input import as_actor
from memoranda.errors import Conflict, NotFound
from memoranda.model.memories import SOURCES, Memory, MemoryStatus
from memoranda.model.records import Owner, View
from memoranda.model.unlisted import FIRST, SourcePage, unlisted_of
from memoranda.ports import Engine
from memoranda.text.scripts import comparable_text

#: Fields that a correction has from the corrected memory unless they are given.
_KEPT: Final = ("kind", "key", "subject", "cardinality", "applies_when", "tags", "pinned", "expires_at")
#: Fields that belong to the words: they are kept only if these stay the same.
_OF_WORDS: Final = (
    "data observed_at valid_from valid_to valid_from_granularity valid_to_granularity happened".split()
)


async def corrected(engine: Engine, owner: Owner, view: View, id: UUID, operation: str | None) -> Memory:
    """Return the memory to correct; raise ``Conflict`` if it is not active, unless this operation was applied before."""
    held = (await engine.get(owner, view, [id])).get(id)
    if not isinstance(held, Memory):
        raise NotFound(f"no memory {id} that this view may see")
    if held.active or (
        operation is not None and await engine.find_operation(owner, operation, as_actor(view)) is not None
    ):
        return held
    if held.status is MemoryStatus.SUPERSEDED:
        raise Conflict(f"id: memory {id} was superseded already; read what holds now, and update that")
    state = "undone" if held.withdrawn else held.status.value
    raise Conflict(f"id: memory {id} is {state}; store a new statement with remember")


async def correction(
    engine: Engine, owner: Owner, view: View, held: Memory, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of a memory that corrects ``held``."""
    content = given.get("content")
    kept = {name: getattr(held, name) for name in _KEPT}
    if isinstance(content, str) and comparable_text(content) == comparable_text(held.content):
        kept |= {name: getattr(held, name) for name in _OF_WORDS}
        sources = await _sources(engine, owner, view, held)
        there = await engine.get(owner, view, [*sources, *([held.thread] if held.thread else [])])
        kept |= {"sources": [id for id in sources if id in there]}
        kept |= {"thread": held.thread if held.thread in there else None}
    kept |= {
        f"{name}_granularity": None for name in ("valid_from", "valid_to") if given.get(name) is not None
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    replaced = chosen.get("supersedes", ())
    also = [replaced] if isinstance(replaced, (str, UUID)) else replaced
    return {**kept, **chosen, "content": content, "supersedes": [held.id, *also]}


async def _sources(engine: Engine, owner: Owner, view: View, held: Memory) -> list[UUID]:
    """Return all sources of a memory: the unlisted ones stand between the first listed ones and the others."""
    if not unlisted_of(held):
        return list(held.sources)
    page = SourcePage(limit=SOURCES - len(held.sources))
    others = [id for _, id in await engine.unlisted(owner, view, held.id, page)]
    return [*held.sources[:FIRST], *others, *held.sources[FIRST:]]
