"""What a server says of itself, as far as a book's safety hangs on it."""

from __future__ import annotations

import time

from memoranda.engines.postgres.session import Session
from memoranda.model.facts import ServerFacts


async def examine(session: Session) -> ServerFacts:
    """Ask the server; every answer is of this moment."""
    began = time.perf_counter()
    row = await session.one("server_facts")
    took = time.perf_counter() - began
    assert row is not None
    version, release, syncs, whole_pages, passes_walls, replica, most, used, vectors = row
    return ServerFacts(
        version=version,
        release=release,
        syncs=syncs,
        whole_pages=whole_pages,
        passes_walls=passes_walls,
        replica=replica,
        most_connections=most,
        connections=used,
        vectors=vectors,
        answer_seconds=took,
    )
