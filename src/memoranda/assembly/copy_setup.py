"""Copies a book to another engine, and on request moves it there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

from memoranda.assembly.engine_addresses import (
    MEMORY,
    find_book,
    name_of,
    open_engine,
    read_address,
)
from memoranda.book.admin.book_copy import CopyReport, CopyRun, cancel, refuse_other_place
from memoranda.errors import InvalidInput, NotABook, StorageError
from memoranda.model.book_rows import Departure, moved
from memoranda.ports import Engine


async def copy(
    source: str | Path,
    target: str | Path,
    *,
    switch: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CopyReport:
    """Copy the book at one address to another, on any engine, and compare both.

    The source cannot be written while it is copied: writers are refused with ``Moved``. The copy
    cannot be opened before it is complete. Without ``switch`` it is a second book then, and the
    source is written as before. With ``switch`` it is the book, and the source is never written
    again. If a run is killed, the same call goes on; ``cancel_copy`` gives up instead.
    """
    if read_address(target) == MEMORY:
        raise InvalidInput(
            "target: a book in memory would end with the copy; give a path or a server",
            field="target",
        )
    here_engine, here = await find_book(source, create=False)
    try:
        if here.departure is not None:
            refuse_other_place(here.departure, name_of(target))
        there_engine = await _open_target(target, here.departure)
        try:
            report = await CopyRun(
                here_engine, there_engine, switch=switch, progress=progress
            ).run()
        except BaseException:
            await there_engine.close()
            raise
        await _close(there_engine, report)
    except BaseException:
        await here_engine.close()
        raise
    await _close(here_engine, report)
    return report


async def cancel_copy(source: str | Path, target: str | Path) -> None:
    """Make a book writable again after a copy to ``target`` was stopped; the target is not opened.

    Nothing is lost by it: a copy that is not complete holds nothing that the book does not. Raises
    ``Moved`` once the book has moved.
    """
    engine, here = await find_book(source, create=False)
    try:
        # The address may be the one that an error message showed, which has no password.
        same = here.departure is not None and str(target) == here.departure.address
        await cancel(engine, str(target) if same else name_of(target))
    finally:
        await engine.close()


async def _close(engine: Engine, report: CopyReport) -> None:
    """Close an engine; if the book has moved, an error of closing is ignored, since it would look
    like a failed move.
    """
    with suppress(StorageError) if report.switched else nullcontext():
        await engine.close()


async def _open_target(target: str | Path, departure: Departure | None) -> Engine:
    """Open the target; create no file if the book has moved to it."""
    has_moved = departure is not None and departure.whole
    try:
        return await open_engine(target, create=not has_moved, unfinished=True)
    except NotABook as exc:
        if departure is None or not has_moved:
            raise
        raise moved(departure) from exc
