"""Copies a book to another engine, and on request lets it move there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

from memoranda.assembly.engine_addresses import MEMORY, find_book, name_of, open_engine, read_address
from memoranda.book.elsewhere import another_copy, give_up, refuse_elsewhere
from memoranda.book.moving import CopyReport, Moving
from memoranda.errors import InvalidInput, NotABook, StorageError
from memoranda.model.moving import Departure
from memoranda.ports import Engine


async def copy(
    source: str | Path,
    target: str | Path,
    *,
    switch: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CopyReport:
    """Copy the book at one address to another, on whichever engine, while it is in use.

    A copy is no book yet, and is not opened as one; run again, it catches up. With ``switch`` it catches up a last time
    while nobody may write, is compared with the source owner by owner, and is the book from then on: whoever writes at
    the source is refused with ``Moved``. A run that was stopped, at any moment, is gone on with by the same call.
    """
    if read_address(target) == MEMORY:
        raise InvalidInput(
            "target: a book in memory would end with the copy; give a path or a server", field="target"
        )
    leaving, here = await find_book(source, create=False)
    try:
        if here.departure is not None:
            refuse_elsewhere(here.departure, name_of(target))
        arriving = await _open_target(target, here.departure)
        try:
            report = await Moving(leaving, arriving, switch=switch, progress=progress).run()
        except BaseException:
            # It stays, if only as an empty book: another run may have opened it by now.
            await arriving.close()
            raise
        await _close(arriving, report)
    except BaseException:
        await leaving.close()
        raise
    await _close(leaving, report)
    return report


async def give_up_copy(source: str | Path, target: str | Path) -> None:
    """Let a book be written again that began to move to a place which is lost for good; that place is not asked.

    Nobody may be copying any more. Where the copy became whole after all, and is found again, there are two books: then
    what was written to one of them since is not in the other.
    """
    leaving, here = await find_book(source, create=False)
    try:
        # As it is told of the book, or as it was given to the copy.
        same = here.departure is not None and str(target) == here.departure.address
        await give_up(leaving, str(target) if same else name_of(target))
    finally:
        await leaving.close()


async def _close(engine: Engine, report: CopyReport) -> None:
    """Close it; what fails once the book has moved does not look as if it had not."""
    with suppress(StorageError) if report.switched else nullcontext():
        await engine.close()


async def _open_target(target: str | Path, departure: Departure | None) -> Engine:
    """Open the target; where the book moves there already, nothing is made in the place of what was begun."""
    try:
        return await open_engine(target, create=departure is None, unfinished=True)
    except NotABook as exc:
        if departure is None:
            raise
        raise another_copy(departure) from exc
