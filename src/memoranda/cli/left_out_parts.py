"""Lists what forming left out of a model's answers, for the command line."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from memoranda.book.verbs.thread_handle import ThreadHandle

#: Formed parts of each thread that are read.
NEWEST: Final = 100


async def left_out_since(handle: ThreadHandle, known: Collection[int]) -> list[dict[str, str]]:
    """Return what the newest operations left out, but for those at known positions of the ledger."""
    parts = [part for part in await handle.formed(limit=NEWEST) if part.position not in known]
    return [
        {"thread": str(handle.id), "part": one.part, "code": one.code, "reason": one.reason}
        for part in parts
        for one in part.left_out
    ]
