"""The process that copies: it kills itself at a named step, is killed at any time, or runs to its
end.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import memoranda
from memoranda.assembly import engine_addresses
from memoranda.book.admin import book_copy
from memoranda.book.admin.book_copy import CopyRun
from memoranda.errors import InvalidInput, MemorandaError
from memoranda.ports import Engine
from memoranda.storage.writes import EmptyBook

#: The steps at which a copier kills itself: it marks the source, and calls the target; ``pieces``
#: is read to compare.
STEPS = ("mark", "arrive", "lay_book", "lay_frame", "lay", "pieces")
#: The steps by which a copy ends: "moved" tells the source, and "end_arrival" the target.
ENDS = ("moved", "end_arrival")
_CALLS = ("depart", "arrive", "lay_book", "lay_frame", "lay", "pieces", "end_arrival")
#: The exit code of a copier that noticed by itself that a step was left out.
NOTICED = 3


@dataclass(frozen=True, slots=True)
class Aim:
    """The call before or after which the process kills itself; at the latest it does so before the
    copy ends.
    """

    step: str
    call: int
    after: bool


def copy(source: str, target: str, switch: bool, aim: Aim | None, omission: str = "") -> None:
    """Copy; leave a step out on purpose if one is named."""
    with ExitStack() as changed:
        # Small pages, so that there are more steps to kill at.
        changed.enter_context(patch.object(book_copy, "PAGE", 20))
        if aim is not None:
            changed.enter_context(patch.object(engine_addresses, "_open_engine", _mortal(aim)))
        if omission:
            changed.enter_context(_OMISSIONS[omission]())
        try:
            asyncio.run(memoranda.copy(source, target, switch=switch))
        except MemorandaError:
            if not omission:
                raise
            raise SystemExit(NOTICED) from None


def cancel(source: str, target: str) -> None:
    """Let the source be written again, if a killed copier left it marked."""
    with suppress(InvalidInput):
        asyncio.run(memoranda.cancel_copy(source, target))


def _mortal(aim: Aim) -> Any:
    opened, left = engine_addresses._open_engine, [aim.call]

    def wrapped(name: str, there: Any) -> Any:
        async def call(*given: Any, **named: Any) -> Any:
            step = name
            if name == "depart":
                step = "moved" if given[0] is not None and given[0].whole else "mark"
            left[0] -= step == aim.step
            struck = step == aim.step and left[0] == 0
            if (struck and not aim.after) or (step in ENDS and aim.step not in ENDS):
                os.kill(os.getpid(), signal.SIGKILL)
            done = await there(*given, **named)
            if struck:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return call

    async def open_engine(*given: Any, **named: Any) -> Engine:
        engine = await opened(*given, **named)
        for name in _CALLS:
            setattr(engine, name, wrapped(name, getattr(engine, name)))
        return engine

    return open_engine


def _goes_on_with_what_was_there() -> Any:
    """Do not empty a copy that is begun again."""

    def nothing(*_: Any) -> None:
        """Delete no rows."""

    return patch.dict("memoranda.engines.sqlite.engine._WRITES", {EmptyBook: nothing})


def _lets_writers_go_on() -> Any:
    async def nothing(*_: Any, **__: Any) -> None:
        """Do not mark the source."""

    return patch("memoranda.engines.sqlite.engine.SqliteEngine.depart", nothing)


def _forgets_tombstones() -> Any:
    bring, compare = CopyRun._bring, CopyRun._compare_pieces

    async def brought(self: CopyRun, copy: str, kind: Any, era: bytes) -> None:
        if era:
            await bring(self, copy, kind, era)

    async def compared(self: CopyRun, kind: Any, era: bytes, counts: Any) -> None:
        if era:
            await compare(self, kind, era, counts)

    return patch.multiple(CopyRun, _bring=brought, _compare_pieces=compared)


#: The step left out → the patch that does it; each must be noticed.
_OMISSIONS = {
    "a copy is emptied before it is begun anew": _goes_on_with_what_was_there,
    "the source is not written": _lets_writers_go_on,
    "tombstones are brought": _forgets_tombstones,
}
OMISSIONS = tuple(_OMISSIONS)
