"""The client of the bench's service, in a process of its own: `python -m bench.service_client`,
with its task as JSON on stdin.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bench.figures import percentile
from bench.text import Talk

OWNERS = 20
_QUESTIONS = 400
_SECONDS_OF_ANSWER = 60.0


@dataclass
class Seen:
    """Measurements of all connections."""

    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    acknowledged: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    #: Refusals that say when to come back.
    told_when: int = 0


class Connection:
    """One connection that is kept open; it waits for each answer."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: Any) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers and the body of the answer."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        assert self._reader is not None
        sent = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(sent)}\r\n\r\n".encode() + sent)
        async with asyncio.timeout(_SECONDS_OF_ANSWER):
            lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
            answer = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return int(lines[0].split()[1]), headers, answer

    async def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


@dataclass(frozen=True)
class Task:
    """One kind of load: how many connections, for how long, and what they ask."""

    port: int
    connections: int
    seconds: float
    seed: int
    bare: bool = False


async def load(task: Task) -> Seen:
    """Keep every connection busy until the time is over."""
    seen = Seen()
    talk = Talk(task.seed)
    questions = [talk.question(talk.passage()) for _ in range(_QUESTIONS)]
    passages = [talk.passage() for _ in range(_QUESTIONS)]
    until = time.perf_counter() + task.seconds
    async with asyncio.TaskGroup() as group:
        for number in range(task.connections):
            rng = Random(f"{task.seed} {number}")
            name = f"{task.seed}-{number}"
            group.create_task(
                _connected(task, seen, until, _drawing(rng, name, questions, passages))
            )
    return seen


async def _connected(
    task: Task, seen: Seen, until: float, draw: Callable[[], tuple[str, str, Any, str]]
) -> None:
    connection = Connection(task.port)
    while time.perf_counter() < until:
        verb, path, body, text = ("bare", "/bare", {"a": 1}, "") if task.bare else draw()
        began = time.perf_counter()
        try:
            status, headers, answer = await connection.ask("POST", path, body)
        except (OSError, asyncio.IncompleteReadError) as exc:
            seen.errors.append(f"{type(exc).__name__}: {exc}"[:200])
            await connection.close()
            continue
        spent = (time.perf_counter() - began) * 1000
        seen.statuses[status] += 1
        if status in (429, 503):
            seen.told_when += "retry-after" in headers
            seen.milliseconds.setdefault("refused", []).append(spent)
            await asyncio.sleep(float(headers.get("retry-after", 1)))
        elif status >= 300:
            seen.errors.append(f"{verb} {status} {answer[:200]!r}")
        else:
            seen.milliseconds.setdefault(verb, []).append(spent)
            if text:
                seen.acknowledged.append(text)
    await connection.close()


def _drawing(
    rng: Random, name: str, questions: list[str], passages: list[str]
) -> Callable[[], tuple[str, str, Any, str]]:
    """Return a function that draws 60 % recall, 30 % append and 10 % context."""
    count = 0

    def draw() -> tuple[str, str, Any, str]:
        nonlocal count
        owner = f"/v1/owners/owner{rng.randrange(OWNERS)}"
        kind = rng.random()
        if kind < 0.6:
            return (
                "recall",
                f"{owner}/recall",
                {"query": rng.choice(questions), "agent": "guide"},
                "",
            )
        if kind < 0.7:
            body = {"query": rng.choice(questions), "budget": 1000, "agent": "guide"}
            return "context", f"{owner}/context", body, ""
        count += 1
        text = f"{rng.choice(passages)} {name}-{count}"
        body = {"messages": [{"role": "user", "content": text}], "agent": "guide"}
        return "append", f"{owner}/threads/talk/messages", body, f"{name}-{count}"

    return draw


def main() -> None:
    """Read the task, carry it out, and print what was seen."""
    task = Task(**json.load(sys.stdin))
    began = time.perf_counter()
    seen = asyncio.run(load(task))
    seconds = time.perf_counter() - began
    served = [
        one for verb, times in seen.milliseconds.items() if verb != "refused" for one in times
    ]
    by_verb = {
        verb: [percentile(times, share) for share in (0.5, 0.95, 0.99)]
        for verb, times in {**seen.milliseconds, "all": served}.items()
        if times
    }
    told = {
        "seconds": seconds,
        "served": len(served),
        "by_verb": by_verb,
        "statuses": seen.statuses,
        "acknowledged": seen.acknowledged,
        "errors": seen.errors[:5],
        "error_count": len(seen.errors),
        "told_when": seen.told_when,
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
