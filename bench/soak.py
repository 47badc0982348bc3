"""A service in use for long: does its memory, its descriptors or its log grow? `./dev bench
--seconds 3600 soak`

Six clients ask `memoranda serve` for the verbs of ``_SHARES``, about 300 owners in turn, at most 15
requests a second. The book stays small: an owner is erased as a whole after ``_LIFE`` requests and
begins anew, and the first erasures are spread over the first lives. So after 45 requests to each
owner, at full speed in 15 minutes, the number of records is steady, and what grows from then on is
the process. A few lines stay for each request: of the ledger, of the audit and of what was erased;
in an hour about 8 MiB of the file. The log is as large as the book whenever an erasure has the file
rewritten, and SQLite holds the new file in memory meanwhile: so a faster run, whose book grows
more, has more memory at the end. A line for each minute goes to stderr.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import Any
from urllib.parse import urlencode

from bench.figures import Place, Row, percentile
from bench.load import resident, running, serve
from bench.service_client import Connection
from bench.text import Talk

_CLIENTS, _OWNERS, _LIFE = 6, 300, 45
#: Requests of one client in a second, at most.
_PACE = 15 / _CLIENTS
#: Verbs of each hundred requests; besides, each life begins with `thread` and ends with `forget` of
#: everything.
_SHARES = {
    "append": 19,
    "newest": 8,
    "remember": 12,
    "update": 5,
    "confirm": 3,
    "retract": 3,
    "recall": 14,
    "context": 8,
    "list": 4,
    "count": 3,
    "why": 3,
    "history": 2,
    "ledger": 3,
    "items.put": 6,
    "items.get": 3,
    "items.search": 2,
    "forget": 2,
}
#: To keep: growth of the memory after a third of the time, and MiB of the write-ahead log.
_GROWTH, _LOG = 1.05, 16.0


@dataclass
class _Owner:
    """What is known of an owner in this life."""

    name: str
    asked: int
    memories: list[str] = field(default_factory=list)
    items: set[str] = field(default_factory=set)


@dataclass
class _Minute:
    """What was seen in a minute; samples are of each second."""

    milliseconds: list[float] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    log: list[float] = field(default_factory=list)
    book: float = 0.0


@dataclass
class _Seen:
    """Everything that was seen."""

    minutes: list[_Minute] = field(default_factory=lambda: [_Minute()])
    verbs: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


def soak(place: Place) -> Iterator[Row]:
    """Ask a service for long, and compare the process at the end with that after a third of the
    time.
    """
    path = place.book("soak")
    if not isinstance(path, Path) or not Path("/proc/self/statm").exists():
        yield Row("soak", None, "", note="needs a book in a file, and a system with /proc")
        return
    with running(serve(path), {"MEMORANDA_EMBEDDING_USE": "none"}) as (process, port):
        seen = asyncio.run(_asked(process.pid, port, path, place))
    yield from _rows(seen)


def _rows(seen: _Seen) -> Iterator[Row]:
    minutes = seen.minutes
    third = max(1, len(minutes) // 3)
    early, last = minutes[third - 1], minutes[-1]
    times = [one for minute in minutes for one in minute.milliseconds]
    p50, p95, p99 = (percentile(times, share) for share in (0.5, 0.95, 0.99))
    yield Row(f"requests, {len(minutes)} minutes", len(times), "", note=f"{len(seen.verbs)} verbs")
    yield Row("  all", p50, "ms", p95, p99, note=f"slowest {max(times):,.0f} ms")
    yield Row("  errors", len(seen.errors), "", target=0, note="; ".join(seen.errors[:2]))
    before, after = median(early.resident), median(last.resident)
    yield Row(f"memory in minute {third}", before, "MiB")
    yield Row(f"memory in minute {len(minutes)}", after, "MiB", target=before * _GROWTH)
    flat, now = median(early.descriptors), median(last.descriptors)
    yield Row(
        f"descriptors in minute {len(minutes)}",
        now,
        "",
        target=flat,
        note=f"in minute {third}: {flat:.0f}",
    )
    yield Row(f"threads in minute {len(minutes)}", median(last.threads), "")
    log = max(size for minute in minutes for size in minute.log)
    yield Row("largest write-ahead log", log, "MiB", target=_LOG)
    yield Row("book", last.book, "MiB", note=f"in minute {third}: {early.book:.1f} MiB")


async def _asked(process: int, port: int, path: Path, place: Place) -> _Seen:
    seen, until = _Seen(), time.monotonic() + place.seconds
    talk = Talk(place.seed)
    texts = [talk.passage() for _ in range(2000)]
    questions = [talk.question(text) for text in texts[:400]]
    async with asyncio.TaskGroup() as group:
        for number in range(_CLIENTS):
            client = _Client(port, Random(f"{place.seed} {number}"), texts, questions, seen)
            owners = [_Owner(f"owner{one}", -1) for one in range(number, _OWNERS, _CLIENTS)]
            group.create_task(client.ask_until(until, owners))
        group.create_task(_watch(process, path, seen, until))
    return seen


async def _watch(process: int, path: Path, seen: _Seen, until: float) -> None:
    """Take a sample each second, and tell each minute when it is over."""
    place, log = Path(f"/proc/{process}"), Path(f"{path}-wal")
    began = time.monotonic()
    while time.monotonic() < until:
        await asyncio.sleep(1)
        now = seen.minutes[-1]
        now.resident.append(resident(process) / 2**20)
        now.descriptors.append(len(os.listdir(place / "fd")))
        now.threads.append(len(os.listdir(place / "task")))
        now.log.append(log.stat().st_size / 2**20 if log.exists() else 0.0)
        now.book = path.stat().st_size / 2**20
        passed = time.monotonic() - began
        if passed >= 60 * len(seen.minutes) or time.monotonic() >= until:
            _tell(len(seen.minutes), now, len(seen.errors))
            if until - time.monotonic() > 30:
                seen.minutes.append(_Minute())


def _tell(number: int, now: _Minute, errors: int) -> None:
    times = now.milliseconds or [0.0]
    p50, p99 = (percentile(times, share) for share in (0.5, 0.99))
    sys.stderr.write(
        f"minute {number:3}: {len(now.milliseconds):5} requests, {errors} errors, p50 {p50:.0f} ms, p99 {p99:.0f} ms, "
        f"memory {median(now.resident):.1f} MiB, descriptors {median(now.descriptors):.0f} (most {max(now.descriptors)}), "
        f"threads {median(now.threads):.0f}, log {max(now.log):.1f} MiB, book {now.book:.1f} MiB\n"
    )
    sys.stderr.flush()


class _Client:
    """One client, who waits for each answer; its owners are its own, so that it knows what they
    have.
    """

    def __init__(
        self, port: int, rng: Random, texts: list[str], questions: list[str], seen: _Seen
    ) -> None:
        self._connection = Connection(port)
        self._rng, self._texts, self._questions, self._seen = rng, texts, questions, seen

    async def ask_until(self, until: float, owners: list[_Owner]) -> None:
        """Ask for one owner after the other."""
        for number, owner in enumerate(owners):
            # The first life of each is shorter by another part, so that erasures are spread from
            # the beginning.
            await self._ask(
                "thread", "POST", owner.name, "threads", {"name": "talk", "agent": "guide"}
            )
            owner.asked = _LIFE * number // len(owners)
        turn, due = 0, time.monotonic()
        while time.monotonic() < until:
            due = max(due + 1 / _PACE, time.monotonic() - 1)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await self._live(owners[turn % len(owners)])
            turn += 1
        await self._connection.close()

    async def _live(self, owner: _Owner) -> None:
        owner.asked += 1
        if owner.asked < _LIFE:
            verb = self._rng.choices(list(_SHARES), weights=list(_SHARES.values()))[0]
            await self._ask(verb, *self._request(verb, owner), owner=owner)
            return
        await self._ask(
            "forget everything",
            "POST",
            owner.name,
            "forget",
            {"everything": True, "as_owner": True},
        )
        await self._ask("thread", "POST", owner.name, "threads", {"name": "talk", "agent": "guide"})
        owner.asked, owner.memories, owner.items = 0, [], set()

    def _request(self, verb: str, owner: _Owner) -> tuple[str, str, str, Any]:
        """Return the method, the owner's name, the rest of the path, and the body or the query."""
        rng, space = self._rng, {"namespace": ["notes"]}
        text, question = rng.choice(self._texts), rng.choice(self._questions)
        one = rng.choice(owner.memories) if owner.memories else None
        if one is None and verb in ("update", "confirm", "retract", "why", "history", "forget"):
            verb = "remember"
        if not owner.items and verb == "items.get":
            verb = "items.put"
        item = rng.choice(sorted(owner.items)) if verb == "items.get" else f"item{rng.randrange(5)}"
        if verb in ("retract", "forget") and one is not None:
            owner.memories.remove(one)
        if verb == "items.put":
            owner.items.add(item)
        requests: dict[str, tuple[str, str, Any]] = {
            "append": (
                "POST",
                "threads/talk/messages",
                {"messages": [{"role": "user", "content": text}]},
            ),
            "newest": ("GET", "threads/talk/newest", {"limit": 20}),
            "remember": ("POST", "memories", {"content": text, "key": f"key{rng.randrange(6)}"}),
            "update": ("PUT", f"memories/{one}", {"content": text}),
            "confirm": ("POST", f"memories/{one}/confirm", {}),
            "retract": ("DELETE", f"memories/{one}", {}),
            "recall": ("POST", "recall", {"query": question}),
            "context": ("POST", "context", {"query": question, "thread": "talk", "budget": 1000}),
            "list": ("GET", "records", {"limit": 20}),
            "count": ("GET", "count", {}),
            "why": ("GET", f"records/{one}/why", {}),
            "history": ("GET", f"records/{one}/history", {}),
            "ledger": ("GET", "ledger", {"limit": 20, "as_owner": "true"}),
            "items.put": ("PUT", f"items/{item}", {**space, "value": {"text": text}}),
            "items.get": ("GET", f"items/{item}", space),
            "items.search": ("POST", "items/search", {**space, "query": question}),
            "forget": ("POST", "forget", {"ids": [one]}),
        }
        method, path, given = requests[verb]
        return (
            method,
            owner.name,
            path,
            given if "as_owner" in given else {**given, "agent": "guide"},
        )

    async def _ask(
        self, verb: str, method: str, name: str, path: str, given: Any, owner: _Owner | None = None
    ) -> None:
        """Send a request, and note its time, and an answer that is none; of a write also what the
        owner has now.
        """
        asked, body = f"/v1/owners/{name}/{path}", given
        if method == "GET":
            asked, body = f"{asked}?{urlencode(given, doseq=True)}", None
        began = time.perf_counter()
        try:
            status, _, answer = await self._connection.ask(method, asked, body)
        except (OSError, EOFError, TimeoutError) as exc:
            self._seen.errors.append(f"{verb}: {type(exc).__name__}: {exc}"[:200])
            await self._connection.close()
            return
        self._seen.minutes[-1].milliseconds.append((time.perf_counter() - began) * 1000)
        self._seen.verbs[verb] += 1
        if status >= 300:
            self._seen.errors.append(f"{verb}: {status} {answer[:200]!r}")
        elif owner is not None and verb in ("remember", "update"):
            for item in json.loads(answer)["items"]:
                owner.memories = [one for one in owner.memories if one != item["id"]]
                if item["verb"] == "remember":
                    owner.memories.append(item["id"])
