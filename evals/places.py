"""Creates the books of a measurement on any engine, and removes them afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import memoranda
from bench.servers import server_at
from memoranda import Book, InvalidInput


@asynccontextmanager
async def new_book(engine: str = "", **how: Any) -> AsyncIterator[Book]:
    """Create a temporary book: in a file, or on the server that ``engine`` names, in a schema or
    database of its own.
    """
    if not engine:
        with tempfile.TemporaryDirectory() as folder:
            async with memoranda.open(Path(folder, "book.db"), **how) as book:
                yield book
        return
    server = server_at(engine)
    if server is None:
        raise InvalidInput(
            "engine: give the address of a database, as postgresql://user@host/database"
        )
    name = f"measured_{uuid4().hex[:12]}"
    try:
        async with memoranda.open(server.book(name), **how) as book:
            yield book
    finally:
        await server.drop(name)
