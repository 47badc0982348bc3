"""Failures of the primary of three members: every write that was acknowledged outlives them."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import Counter
from pathlib import Path

from memoranda import open as open_book
from proofs._mongo.own import OwnSet
from proofs._mongo.writing import MongoReckoning, live
from proofs.server_kill import Series, unsynced

ABOUT = "of three members of MongoDB the primary is killed or frozen, or loses both others first: no acknowledged write is lost"
#: Failures of a primary.
CI_COUNT = 3
FULL_COUNT = 50
COVERS = "model storage door.py engines/mongo"

#: Of five failures two are kills and two are freezes.
_WAYS = ("kill", "freeze", "secondaries first", "kill", "freeze")


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="mongo-failover-") as folder, OwnSet() as members:
        asyncio.run(_warm(members))
        series = Series(members, Path(folder), rng, live, MongoReckoning)
        ways: Counter[str] = Counter()
        try:
            for number in range(count):
                members.way = _WAYS[number % len(_WAYS)]
                series.kill_server()
                ways[members.way] += 1
            series.put_away()
            acknowledged, survived = series.acknowledged, series.survived
            # A build that waits for the primary alone, which dies with what the others have not
            # got.
            members.way = "secondaries first"
            rounds = unsynced(series)
        finally:
            series.end()
    told = ", ".join(f"{times} x {way}" for way, times in sorted(ways.items()))
    again = f"; {members.hung} hung in a rollback and were made anew" if members.hung else ""
    return (
        f"{told} under load; {acknowledged} acknowledged writes, 0 lost; {survived} without an answer had been committed; "
        f"a build with w: 1 was noticed after {rounds} rounds{again}"
    )


async def _warm(members: OwnSet) -> None:
    async with open_book(members.new_book(), embed=None, worker=False) as book:
        await (await book.thread("ann", agent="helper")).append("user", "the kettle is on")
        await book.remember("ann", "likes tea", agent="helper")
