"""Notes of the use of memories: their placing in prompts, which refreshes their strength, and their
being found.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from memoranda import telemetry
from memoranda.book.services import Services
from memoranda.errors import MemorandaError
from memoranda.model.memories import Memory
from memoranda.model.passages import Use
from memoranda.model.records import Owner, View

#: A memory that recall found is noted at most once in so long, and so many are known to have been
#: noted.
_FOUND_AGAIN = timedelta(days=1)
_MOST_FOUND = 10_000
#: As long as what was used waits for more, to be noted in one write.
_TOGETHER_SECONDS = 0.2


class Placing(NamedTuple):
    """One use of a memory: it was placed in a prompt at a time, or only found. The memory's content
    is not stored here.
    """

    id: UUID
    observed_at: datetime
    at: datetime
    placed: bool = True


class Uses:
    """Counts the use of memories (their placing in prompts), which refreshes their strength."""

    def __init__(self, services: Services) -> None:
        self._services = services
        #: What was placed and is not yet being noted, by the loop that will note it.
        self._waiting: dict[asyncio.AbstractEventLoop, dict[tuple[Owner, View], list[Placing]]] = {}
        self._noting: set[asyncio.Task[None]] = set()
        #: When each memory was last noted as found.
        self._found: dict[UUID, datetime] = {}

    def note(self, owner: Owner, view: View, placed: Sequence[Memory]) -> None:
        """Store in the background that memories were used: no reader waits for it or fails because
        of it.

        What several contexts place within a moment is noted together.
        """
        self._note_later(owner, view, self._placings(placed))

    def note_found(self, owner: Owner, view: View, found: Sequence[Memory]) -> None:
        """Store in the background that memories were found, which changes no strength and no count;
        at most once a day each.
        """
        now = self._services.door.clock()
        if len(self._found) > _MOST_FOUND:
            self._found.clear()
        new = [
            one
            for one in found
            if self._found.get(one.id, now - _FOUND_AGAIN) <= now - _FOUND_AGAIN
        ]
        self._found |= {one.id: now for one in new}
        self._note_later(owner, view, [Placing(one.id, one.observed_at, now, False) for one in new])

    def _note_later(self, owner: Owner, view: View, placings: Sequence[Placing]) -> None:
        if placings:
            loop = asyncio.get_running_loop()
            if loop not in self._waiting:
                # What a loop that has ended was to note is lost with it.
                self._waiting = {
                    other: was for other, was in self._waiting.items() if not other.is_closed()
                }
                self._waiting[loop] = {}
                loop.call_later(_TOGETHER_SECONDS, self._begin, loop)
            self._waiting[loop].setdefault((owner, view), []).extend(placings)

    def _placings(self, memories: Sequence[Memory]) -> list[Placing]:
        """Return a use of each of these memories, at the present time."""
        now = self._services.door.clock()
        return [Placing(memory.id, memory.observed_at, now) for memory in memories]

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start storing the uses that wait, unless ``settled`` has started it already."""
        for (owner, view), placed in self._waiting.pop(loop, {}).items():
            task = loop.create_task(self._note(owner, view, placed))
            self._noting.add(task)
            task.add_done_callback(self._noting.discard)

    async def _note(self, owner: Owner, view: View, placed: Sequence[Placing]) -> None:
        try:
            await self._refresh(owner, view, placed)
        except MemorandaError:
            telemetry.count("uses_lost")

    async def use(self, owner: Owner, view: View, placed: Sequence[Memory]) -> int:
        """Store that memories were placed in a prompt, which refreshes their strength; returns the
        number of memories.
        """
        return await self._refresh(owner, view, self._placings(placed))

    async def _refresh(self, owner: Owner, view: View, placed: Sequence[Placing]) -> int:
        ids = list(dict.fromkeys(one.id for one in placed))
        before = await self._services.engine.uses(owner, view, ids)
        after = {id: before.get(id, Use()) for id in ids}
        for one in placed:
            use = after[one.id]
            if one.placed or use.used_at is None or use.used_at <= one.at - _FOUND_AGAIN:
                after[one.id] = (use.again if one.placed else use.seen)(one.at, one.observed_at)
        changed = {id: use for id, use in after.items() if use != before.get(id)}
        return await self._services.engine.note_use(owner, view, changed) if changed else 0

    async def settled(self) -> None:
        """Store all uses up to now, and wait until they are stored."""
        loop = asyncio.get_running_loop()
        self._begin(loop)
        if mine := [task for task in self._noting if task.get_loop() is loop]:
            await asyncio.wait(mine)
