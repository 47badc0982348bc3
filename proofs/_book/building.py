"""Builds worlds once, with the notes about them, and copies them for each trial."""

from __future__ import annotations

import pickle
import random
import shutil
from pathlib import Path
from uuid import UUID

from proofs._book import world
from proofs._book.canaries import Mint
from proofs._book.oracle import Oracle
from proofs._book.session import OTHER_EMBEDDER, Notes, Session


async def build(path: Path) -> Notes:
    """Make a world's file; return the notes that belong to it."""
    notes = Notes(Oracle(world.AGENTS, world.GROUPS), Mint(), world.TickingClock())
    session = await Session.open(path, notes, random.Random(0))
    try:
        for tenant in world.TENANTS:
            taught: dict[str, UUID | None] = {}
            for party in world.parties(tenant):
                taught.setdefault(party.id, await session.populate(party, taught.get(party.id)))
        await session.books[world.TENANTS[0]].engine.begin_set(OTHER_EMBEDDER.embedding)
        await session.embed()
    finally:
        await session.close()
    return notes


def copied(original: Path, notes: bytes, target: Path) -> tuple[Path, Notes]:
    """Return a copy of the original world."""
    shutil.copyfile(original, target)
    found: Notes = pickle.loads(notes)
    return target, found


def kept(notes: Notes) -> bytes:
    """Return the notes in a form that can be stored beside a world's file."""
    return pickle.dumps(notes)
