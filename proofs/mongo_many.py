"""Many processes on one MongoDB server: repeated operations and workers with wrong clocks do each
thing once.
"""

from __future__ import annotations

from proofs._mongo.own import OwnMongo
from proofs.server_many import many

ABOUT = "on a MongoDB server, the same operation from many processes leaves one record; workers with wrong clocks do each job once; no agent exceeds its limit"
#: Jobs; a quarter as many operations are sent by every process.
CI_COUNT = 60
FULL_COUNT = 2_000
COVERS = "model storage door.py engines/mongo worker.py"


def run(count: int, seed: int) -> str:
    with OwnMongo() as server:
        return many(server, count, seed)
