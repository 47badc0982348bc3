"""Two engines that are given the same work, side by side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from memoranda.errors import Busy, HasDependents, MemorandaError
from memoranda.model.changes import Job
from memoranda.model.records import Owner, View
from memoranda.ports import Engine
from memoranda_conformance.builders import Follower
from tests.engines.shapes import difference

T = TypeVar("T")


@dataclass
class Pair:
    """Two engines, and what is held of each."""

    engines: tuple[Engine, Engine]
    followers: dict[tuple[Owner, View, int], Follower] = field(default_factory=dict)
    #: The eras that each owner has had, by engine: they are made there.
    eras: dict[tuple[Owner, int], list[UUID]] = field(default_factory=dict)
    leases: list[tuple[Job, Job]] = field(default_factory=list)

    async def both(self, call: Callable[[int, Engine], Awaitable[T]]) -> list[T | None]:
        """Do the same on both; raises where one refuses and the other does not, or for another
        reason.
        """
        done: list[tuple[Any, T | None]] = []
        for number, engine in enumerate(self.engines):
            try:
                done.append((None, await call(number, engine)))
            except Busy:
                raise  # an engine that is away has not answered
            except MemorandaError as exc:
                positions = exc.positions if isinstance(exc, HasDependents) else ()
                done.append(((type(exc), positions, str(exc)), None))
        (one, _), (two, _) = done
        assert (one and one[:2]) == (two and two[:2]), f"{one} is not {two}"
        return [value for _, value in done]

    async def same(self, call: Callable[[int, Engine], Awaitable[Any]]) -> Any:
        """Do the same on both, to the same effect."""
        one, two = await self.both(call)
        assert one == two, difference(one, two)
        return one
