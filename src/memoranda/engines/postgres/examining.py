"""Reads the server's settings that matter for the safety of a book."""

from __future__ import annotations

import time

from memoranda.engines.postgres.session import Session
from memoranda.model.facts import ServerFacts


async def examine(session: Session) -> ServerFacts:
    """Return the server's version, settings and present connections."""
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
