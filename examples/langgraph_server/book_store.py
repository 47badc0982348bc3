"""The store of a LangGraph server: a book in a file, or at the address that the variable NOTES_BOOK
names.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import memoranda
from memoranda.integrations.langgraph import MemorandaStore, owner_at


@asynccontextmanager
async def make_store() -> AsyncIterator[MemorandaStore]:
    """Open the book on the server's event loop; the second label of a namespace names its owner."""
    async with memoranda.open(os.environ.get("NOTES_BOOK", "notes.db")) as book:
        yield MemorandaStore(book, owner_of=owner_at(1))
