"""Speed of the service under load: a client in a process of its own, beside a bare endpoint, and
what overload does.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import memoranda
from bench.figures import Address, Place, Row
from bench.service_client import OWNERS
from bench.text import Talk
from memoranda import Book
from memoranda.model.messages import Message

_CONNECTIONS = 64
#: Overload: so many times the connections.
_TIMES = 4
#: Requests that the service takes at once while it is overloaded.
_AT_ONCE = 64
#: To reach: requests a second, and milliseconds of the slowest hundredth.
_LEAST, _SLOWEST = 250, 400
#: Memories of each owner before the load.
_MEMORIES, _AT_A_TIME = 50, 10


def service(place: Place) -> Iterator[Row]:
    """Measure `memoranda serve` with 60 % recalls, 30 % appends and 10 % contexts."""
    path = place.book("service")
    asyncio.run(_fill(path, place.seed))
    seconds = place.seconds
    with running(serve(path)) as (process, port):
        seen = _asked(port, _CONNECTIONS, seconds, place.seed)
        memory = resident(process.pid)
    yield from _rows(seen)
    yield Row("  memory of the service", memory / 2**20, "MiB")
    missing, backlog = asyncio.run(_missing(path, seen["acknowledged"]))
    yield Row(
        "  acknowledged writes that are missing",
        missing,
        "",
        target=0,
        note=f"of {len(seen['acknowledged'])}",
    )
    yield Row("  passages that wait for a vector", backlog, "")
    with running([sys.executable, "-m", "bench.bare_endpoint"]) as (_, port):
        bare = _asked(port, _CONNECTIONS, min(seconds, 10.0), place.seed, bare=True)
    yield Row("a bare FastAPI endpoint", bare["served"] / bare["seconds"], "/s", note=_times(bare))
    yield from _overload(path, place, seconds)


def _rows(seen: dict[str, Any]) -> Iterator[Row]:
    rate = seen["served"] / seen["seconds"]
    note = f"{_CONNECTIONS} connections, {seen['seconds']:.0f} s"
    yield Row("requests", rate, "/s", least=_LEAST, note=note)
    for verb in ("all", "recall", "append", "context"):
        if verb in seen["by_verb"]:
            median, p95, p99 = seen["by_verb"][verb]
            target = _SLOWEST if verb == "all" else None
            yield Row(f"  {verb}", median, "ms", p95, p99)
            if target is not None:
                yield Row("  the slowest hundredth", p99, "ms", target=target)
    yield Row("  errors", seen["error_count"], "", target=0, note="; ".join(seen["errors"][:2]))


def _overload(path: Address, place: Place, seconds: float) -> Iterator[Row]:
    with running(serve(path), {"MEMORANDA_SERVICE_MAX_CONCURRENT": str(_AT_ONCE)}) as (_, port):
        seen = _asked(port, _TIMES * _CONNECTIONS, min(seconds, 20.0), place.seed + 1)
    refused = sum(count for status, count in seen["statuses"].items() if status in ("429", "503"))
    rate = seen["served"] / seen["seconds"]
    yield Row(
        f"overload: served, {_TIMES * _CONNECTIONS} connections", rate, "/s", note=_times(seen)
    )
    told = f"{seen['told_when']} with a time to come back"
    yield Row("  refused", refused, "", note=f"{told}; at most {_AT_ONCE} at once")
    yield Row(
        "  other errors", seen["error_count"], "", target=0, note="; ".join(seen["errors"][:2])
    )


def _times(seen: dict[str, Any]) -> str:
    median, p95, p99 = seen["by_verb"].get("all", (0.0, 0.0, 0.0))
    return f"{median:.1f} ms median, p95 {p95:.1f}, p99 {p99:.1f}"


async def _fill(path: Address, seed: int) -> None:
    talk = Talk(seed)
    async with memoranda.open(path, embed=None, worker=False) as book:
        for number in range(OWNERS):
            await book.thread(f"owner{number}", name="talk", agent="guide")
            for _ in range(_MEMORIES // _AT_A_TIME):
                told = [{"content": talk.passage()} for _ in range(_AT_A_TIME)]
                await book.memories.remember_all(f"owner{number}", told, agent="guide")


async def _missing(path: Address, acknowledged: list[str]) -> tuple[int, int]:
    """Return how many acknowledged messages are not stored, and how many passages have no vector
    yet.
    """
    async with memoranda.open(path, embed=None, worker=False) as book:
        found = [name for number in range(OWNERS) for name in await _names(book, f"owner{number}")]
        facts = await book.admin.facts(whole=True)
    waiting = facts.details.get("passages without a vector", facts.jobs.get("waiting", 0))
    lost = len(set(acknowledged) - set(found))
    return lost + len(found) - len(set(found)), int(waiting)


async def _names(book: Book, owner: str) -> list[str]:
    """Return the names with which the client's messages end."""
    thread = await book.thread(owner, name="talk", agent="guide")
    found: list[str] = []
    cursor = None
    while True:
        page = await thread.messages(limit=1000, cursor=cursor)
        found += [
            one.content.rpartition(" ")[2] for one in page.records if isinstance(one, Message)
        ]
        cursor = page.cursor
        if cursor is None:
            return found


def serve(path: Address) -> list[str]:
    """Return the command that serves a book."""
    return [
        sys.executable,
        "-m",
        "memoranda",
        "serve",
        "--json",
        "--port",
        "0",
        "--book",
        str(path),
    ]


@contextmanager
def running(
    command: list[str], settings: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a server until the end; it tells its address as JSON."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "MEMORANDA_SERVICE_REQUESTS_PER_MINUTE": "0", **(settings or {})},
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with status {process.wait()} before it listened")
        yield process, int(json.loads(line)["listening"].rpartition(":")[2])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        process.stdout.close()


def _asked(
    port: int, connections: int, seconds: float, seed: int, *, bare: bool = False
) -> dict[str, Any]:
    task = {
        "port": port,
        "connections": connections,
        "seconds": seconds,
        "seed": seed,
        "bare": bare,
    }
    command = [sys.executable, "-m", "bench.service_client"]
    done = subprocess.run(
        command, input=json.dumps(task), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(
            f"the client of the service ended with {done.returncode}: {done.stderr[-500:]}"
        )
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def resident(process: int) -> int:
    """Return the bytes of memory that a process has; 0 if the system does not say."""
    status = Path(f"/proc/{process}/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0
