"""The process that copies: it kills itself at a named step, is killed at any time, or runs to its end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import memoranda
from memoranda.assembly import engine_addresses
from memoranda.book import bringing
from memoranda.book.bringing import Bringing
from memoranda.errors import StorageError
from memoranda.ports import Engine

#: Steps of a copy at which it can kill itself; ``depart`` is the source's, the others are the target's.
STEPS = ("arrive", "lay_book", "lay_frame", "lay", "depart", "end_arrival")
#: Exit code if the copy's own comparison noticed the step that was left out.
NOTICED = 3
_UNLIKE = "the copy stays unlike the book"


@dataclass(frozen=True, slots=True)
class Aim:
    """The step and call before or after which the process kills itself."""

    step: str
    call: int
    after: bool


def copy(source: str, target: str, switch: bool, aim: Aim | None, omission: str = "") -> None:
    """Copy; leave a step out on purpose if one is named."""
    with ExitStack() as changed:
        # Small pages, so that there are more steps to kill at.
        changed.enter_context(patch.object(bringing, "PAGE", 20))
        if aim is not None:
            changed.enter_context(patch.object(engine_addresses, "_open_engine", _mortal(aim)))
        if omission:
            changed.enter_context(_OMISSIONS[omission]())
        try:
            asyncio.run(memoranda.copy(source, target, switch=switch))
        except StorageError as error:
            if not omission or _UNLIKE not in str(error):
                raise
            raise SystemExit(NOTICED) from None


def _mortal(aim: Aim) -> Any:
    opened, left = engine_addresses._open_engine, [aim.call]

    async def open_engine(*given: Any, **named: Any) -> Engine:
        engine = await opened(*given, **named)
        there = getattr(engine, aim.step)

        async def step(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] == 0 and not aim.after:
                os.kill(os.getpid(), signal.SIGKILL)
            done = await there(*given, **named)
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        async def end(*_: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        # A copy that should be killed must not switch the book, even if it never reaches the step.
        own_hand = {} if (aim.step, aim.call) == ("depart", 2) else {"end_arrival": end}
        for name, call in {**own_hand, aim.step: step}.items():
            setattr(engine, name, call)
        return engine

    return open_engine


def _keeps_what_is_gone() -> Any:
    lay = Bringing._lay

    async def without(self: Bringing, kind: Any, era: bytes, pieces: Sequence[Any], gone: Any = ()) -> None:
        await lay(self, kind, era, pieces)

    return patch.object(Bringing, "_lay", without)


def _lets_writers_go_on() -> Any:
    async def nothing(*_: Any, **__: Any) -> None:
        """Do nothing, so that the source does not know that it is being moved."""

    return patch("memoranda.engines.sqlite.moving.Moving.depart", nothing)


def _forgets_tombstones() -> Any:
    level = Bringing.level_pieces

    async def without(self: Bringing, kind: Any, era: bytes, tally: Any) -> None:
        if era:
            await level(self, kind, era, tally)

    return patch.object(Bringing, "level_pieces", without)


#: The step left out → the patch that does it; each must be noticed.
_OMISSIONS = {
    "erasures are caught up with": _keeps_what_is_gone,
    "the source is written no more": _lets_writers_go_on,
    "tombstones are brought": _forgets_tombstones,
}
OMISSIONS = tuple(_OMISSIONS)
