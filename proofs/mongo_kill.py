"""Kills on a MongoDB server: writers and the server itself are killed, and every acknowledged write
is there.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from pathlib import Path

from memoranda import open as open_book
from proofs._mongo.own import OwnMongo
from proofs._mongo.writing import MongoReckoning, live
from proofs.server_kill import Series, hasty, told, unsynced

ABOUT = "on a MongoDB server, killed writers and killed servers lose no acknowledged write and leave none in part"
#: Writers killed; the server is killed a third as often.
CI_COUNT = 6
FULL_COUNT = 300
COVERS = "model storage door.py engines/mongo"


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="mongo-kill-") as folder, OwnMongo() as server:
        asyncio.run(_warm(server))
        series = Series(server, Path(folder), rng, live, MongoReckoning)
        try:
            while series.kills < count:
                series.kill_writers()
            series.put_away()
            for _ in range(max(1, count // 3)):
                series.kill_server()
            series.put_away()
            done = told(series)
            controls = [hasty(series), unsynced(series)]
        finally:
            series.end()
    return f"{done}; controls caught after {controls[0]} and {controls[1]} rounds"


async def _warm(server: OwnMongo) -> None:
    """Import what a writer needs, before there are any."""
    async with open_book(server.new_book(), embed=None, worker=False) as book:
        await (await book.thread("ann", agent="helper")).append("user", "the kettle is on")
        await book.remember("ann", "likes tea", agent="helper")
