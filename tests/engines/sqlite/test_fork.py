"""A forked child inherits an open file without its threads: it is told so, and the parent's file
stays whole.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memoranda.engines.sqlite.file.sqlite_file import SqliteFile
from memoranda.errors import StorageError
from tests.engines.sqlite.notes import bodies, open_notes, put

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")

#: A child that hangs is ended by the alarm, and its exit tells.
_SECONDS = 20


def in_child(work: Callable[[], Awaitable[None]]) -> int:
    """The exit code of a forked child that does the work on an event loop of its own."""
    with warnings.catch_warnings():
        # The very thing that is tested: a process with threads forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(_SECONDS)
            asyncio.run(work())  # type: ignore[arg-type]
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_every_use_of_an_inherited_file_is_refused_and_closing_it_does_nothing(tmp_path: Path):
    place = tmp_path / "notes.book"
    file = asyncio.run(open_notes(place))

    async def in_the_child() -> None:
        uses = (
            lambda: file.read(bodies),
            lambda: file.write(put("child")),
            file.checkpoint,
            file.rewrite,
            lambda: file.backup(tmp_path / "copy.book"),
        )
        for use in uses:
            with pytest.raises(StorageError, match="open the book again in this one"):
                await use()
        await file.close()
        again = await open_notes(place)
        await again.write(put("by the child"))
        await again.close()

    async def afterwards(file: SqliteFile) -> list[str]:
        await file.write(put("by the parent"))
        found = await file.read(bodies)
        await file.close()
        return found

    assert in_child(in_the_child) == 0
    assert asyncio.run(afterwards(file)) == ["by the child", "by the parent"]
    assert not (tmp_path / "copy.book").exists()


async def test_two_backups_to_one_target_leave_one_whole_copy(notes: SqliteFile, tmp_path: Path):
    await asyncio.gather(*(notes.write(put("x" * 1000)) for _ in range(300)))
    target = tmp_path / "copy.book"
    done = await asyncio.gather(*(notes.backup(target) for _ in range(4)), return_exceptions=True)
    refused = [error for error in done if error is not None]
    assert len(refused) == 3
    assert all(isinstance(error, StorageError | ValueError) for error in refused)
    assert all("is there already" in str(error) for error in refused)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == [
        "copy.book"
    ]
    copy = await open_notes(target)
    assert len(await copy.read(bodies)) == 300
    await copy.close()


async def test_a_file_system_without_links_takes_backups_too(
    notes: SqliteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refusing(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refusing)
    await notes.write(put("kept"))
    await notes.backup(tmp_path / "copy.book")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == [
        "copy.book"
    ]
    copy = await open_notes(tmp_path / "copy.book")
    assert await copy.read(bodies) == ["kept"]
    await copy.close()
