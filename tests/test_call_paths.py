"""The lists of files in ARCHITECTURE.md are the files that a write and a recall really enter, in that order."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Awaitable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import memoranda
from tools.checkout import ROOT

#: The most files that a call may enter.
MOST = 31

PACKAGE = Path(memoranda.__file__).parent


def listed(heading: str) -> list[str]:
    """The files that ARCHITECTURE.md lists under a heading."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    section = text.split(f"### {heading}\n", 1)[1].split("\n#", 1)[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", section, re.MULTILINE)


class Tracer:
    """Notes each file of the package when a call first enters it, on every thread."""

    def __init__(self) -> None:
        self.entered: dict[str, None] = {}
        self.on = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if self.on and event == "call" and name.startswith(str(PACKAGE)):
            self.entered.setdefault(Path(name).relative_to(PACKAGE).as_posix())

    async def files_of(self, call: Awaitable[object]) -> list[str]:
        """Return the files that a call enters, in the order of their first entry."""
        self.entered.clear()
        self.on = True
        try:
            await call
        finally:
            self.on = False
        return list(self.entered)


@pytest.fixture
def tracer() -> Any:
    """A tracer that is installed on threads before a book starts them."""
    made, before = Tracer(), sys.getprofile()
    threading.setprofile(made)
    sys.setprofile(made)
    yield made
    sys.setprofile(before)
    threading.setprofile(None)


async def test_a_write_and_a_recall_enter_the_files_that_the_architecture_lists(
    tmp_path: Path, tracer: Tracer
) -> None:
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        await book.remember("ana", "Lives in Boston", key="town", agent="h")
        await book.recall("ana", "which town?", agent="h")
        write = await tracer.files_of(book.remember("ana", "Lives in New York", key="town", agent="h"))
        await book.recall("ana", "which town?", agent="h")
        # On a busy machine a reading thread may answer instead of the event loop, through more files.
        recalls = [await tracer.files_of(book.recall("ana", "which town?", agent="h")) for _ in range(20)]
    assert write == listed("One write, file by file")
    recall = min(recalls, key=len)
    assert recall == listed("One recall, file by file")
    assert len(write) <= MOST and len(recall) <= MOST
