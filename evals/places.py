"""Creates the books of a measurement on any engine, and removes them afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import memoranda
from memoranda import Book, InvalidInput

_SERVERS = ("postgresql://", "postgres://")


@asynccontextmanager
async def new_book(engine: str = "", **how: Any) -> AsyncIterator[Book]:
    """Create a temporary book: in a file, or in a schema of its own in the database that ``engine``
    names.
    """
    if not engine:
        with tempfile.TemporaryDirectory() as folder:
            async with memoranda.open(Path(folder, "book.db"), **how) as book:
                yield book
        return
    if not engine.startswith(_SERVERS):
        raise InvalidInput(
            f"engine: give the address of a database, as {_SERVERS[0]}user@host/database"
        )
    schema = f"measured_{uuid4().hex[:12]}"
    address = f"{engine}{'&' if '?' in engine else '?'}schema={schema}"
    try:
        async with memoranda.open(address, **how) as book:
            yield book
    finally:
        # Opened once more: nobody works in it any longer.
        async with memoranda.open(address, embed=None, worker=False) as book:
            await book.engine.server.outside(f'DROP SCHEMA "{schema}" CASCADE')  # type: ignore[attr-defined]
