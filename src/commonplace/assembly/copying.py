"""Copies a book to another engine, and on request lets it move there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from commonplace.assembly.engines import open_engine
from commonplace.book.moving import CopyReport, Moving


async def copy(
    source: str | Path,
    target: str | Path,
    *,
    switch: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CopyReport:
    """Copy the book at one address to another, on whichever engine, while it is in use.

    A copy is no book yet, and is not opened as one; run again, it catches up. With ``switch`` it catches up a last time
    while nobody writes, is compared with the source owner by owner, and is the book from then on: whoever writes at the
    source is refused with ``Moved``. A run that was stopped, at any moment, is gone on with by the same call.
    """
    leaving = await open_engine(source, create=False, unfinished=False)
    try:
        arriving = await open_engine(target, unfinished=True)
        try:
            return await Moving(leaving, arriving, switch=switch, progress=progress).run()
        finally:
            await arriving.close()
    finally:
        await leaving.close()
