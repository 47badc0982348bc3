"""A killed service: every acknowledged write is there, and none is doubled by its repetition."""

from __future__ import annotations

import asyncio
import http.client
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import memoranda
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from proofs._service.serving import Caller, Service, serve

ABOUT = "a service that is killed under load loses no acknowledged write, and repeating a write stores it once"
CI_COUNT = 10
FULL_COUNT = 50
COVERS = "model storage door.py engines/sqlite access service compatible wire"

_CALLERS = 8
_OWNER = "ann"
#: The longest time until a kill, and the kills after which a broken build must be noticed.
_LONGEST_SECONDS, _BROKEN_ROUNDS = 0.8, 1
#: Acknowledged writes that are sent again after each kill.
_REPEATED = 20


class Broken(Exception):
    """A write is missing, doubled, or refused."""


@dataclass(frozen=True)
class Write:
    """A request, its idempotency key, and the text by which what it stores is found."""

    kind: str
    path: str
    body: dict[str, Any]
    key: str
    text: str


@dataclass
class Load:
    """Writes that callers sent to a service, and those that it acknowledged."""

    rng: Random
    acknowledged: dict[str, Write] = field(default_factory=dict)
    unanswered: list[Write] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    resent: int = 0


def run(count: int, seed: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        load = _kill(Path(folder), count, Random(seed), ())
        caught = [_noticed(Path(folder), name, seed) for name in ("without keys", "too early")]
    return (
        f"{count} services killed, {len(load.acknowledged)} acknowledged writes are there once, {load.resent} of them sent "
        f"again; {' and '.join(caught)} were noticed"
    )


def _noticed(folder: Path, name: str, seed: int) -> str:
    """Raise if a broken build passes."""
    inside = folder / name.replace(" ", "-")
    inside.mkdir()
    try:
        _kill(inside, _BROKEN_ROUNDS, Random(seed), (name,))
    except Broken:
        return f"a build {name}" if name == "without keys" else "one that acknowledges too early"
    raise AssertionError(f"a service {name} was not noticed after {_BROKEN_ROUNDS} kill")


def _kill(folder: Path, rounds: int, rng: Random, broken: tuple[str, ...]) -> Load:
    path = folder / "book.db"
    asyncio.run(_make(path))
    load = Load(rng)
    module = "proofs._service.broken_service" if broken else "memoranda"
    service = serve(path, module=module, before=broken)
    try:
        for number in range(rounds):
            _loaded(service, load, number)
            service = serve(path, module=module, before=broken)
            _send_again(service, load)
    finally:
        service.kill()
    asyncio.run(_check(path, load))
    return load


async def _make(path: Path) -> None:
    async with memoranda.open(path, worker=False, embed=None) as book:
        for number in range(_CALLERS):
            await book.thread(_OWNER, name=f"t{number}")


def _loaded(service: Service, load: Load, number: int) -> None:
    """Kill the service while several callers write."""
    callers = [
        threading.Thread(target=_write, args=(service, load, f"{number}-{one}", one))
        for one in range(_CALLERS)
    ]
    for one in callers:
        one.start()
    time.sleep(0.1 + load.rng.random() * _LONGEST_SECONDS)
    service.kill()
    for one in callers:
        one.join()
    if load.refused:
        raise Broken(f"refused: {load.refused[0]}")


def _write(service: Service, load: Load, name: str, number: int) -> None:
    """Send writes until there is no answer."""
    caller = Caller(service.port)
    count = 0
    while True:
        write = _drawn(number, f"{name}-{count}", count)
        count += 1
        try:
            status, answer = caller.ask("POST", write.path, write.body, write.key)
            if count % 25 == 0:
                # It gives the worker something to do meanwhile.
                caller.ask("POST", f"/v1/owners/{_OWNER}/threads/t{number}/form", {})
        except (OSError, http.client.HTTPException):
            if write.key not in load.acknowledged:
                load.unanswered.append(write)
            caller.close()
            return
        if status != 200:
            load.refused.append(f"{status} {answer}")
            return
        load.acknowledged[write.key] = write


def _drawn(number: int, name: str, count: int) -> Write:
    base = f"/v1/owners/{_OWNER}"
    match count % 3:
        case 0:
            text = f"statement {name}"
            return Write("memory", f"{base}/memories", {"content": text}, name, text)
        case 1:
            text = f"batch {name}"
            statements = [{"content": f"{text} first"}, {"content": f"{text} second"}]
            return Write("batch", f"{base}/memories/batch", {"statements": statements}, name, text)
    text = f"said {name}"
    body = {"messages": [{"role": "user", "content": text}]}
    return Write("message", f"{base}/threads/t{number}/messages", body, name, text)


def _send_again(service: Service, load: Load) -> None:
    """Repeat what got no answer, and some of what did, as a client does after a lost connection."""
    caller = Caller(service.port)
    some = load.rng.sample([*load.acknowledged.values()], min(_REPEATED, len(load.acknowledged)))
    for write in (*load.unanswered, *some):
        status, answer = caller.ask("POST", write.path, write.body, write.key)
        if status != 200:
            raise Broken(f"sent again, and refused: {status} {answer}")
        load.acknowledged[write.key] = write
    load.resent += len(load.unanswered) + len(some)
    load.unanswered.clear()
    caller.close()


async def _check(path: Path, load: Load) -> None:
    """Raise Broken unless each acknowledged write is there once, and nothing else."""
    found: Counter[str] = Counter()
    async with memoranda.open(path, worker=False, embed=None) as book:
        for number in range(_CALLERS):
            thread = await book.thread(_OWNER, name=f"t{number}")
            page = await thread.messages(limit=1000)
            while True:
                found.update(one.content for one in page.records if isinstance(one, Message))
                if page.cursor is None:
                    break
                page = await thread.messages(cursor=page.cursor, limit=1000)
        cursor = None
        while True:
            listed = await book.records.list(
                _OWNER, types="memory", cursor=cursor, limit=1000, as_owner=True
            )
            # The worker makes memories of what was said, too.
            texts = [one.content for one in listed.records if isinstance(one, Memory)]
            found.update(text for text in texts if text.startswith(("statement ", "batch ")))
            cursor = listed.cursor
            if cursor is None:
                break
        faults = await book.admin.verify()
    wanted = Counter(text for write in load.acknowledged.values() for text in _texts(write))
    if wanted != found:
        raise Broken(f"missing {[*(wanted - found)][:5]}, too many {[*(found - wanted)][:5]}")
    if faults.faults:
        raise Broken(f"the book is damaged: {faults}")


def _texts(write: Write) -> list[str]:
    return (
        [f"{write.text} first", f"{write.text} second"] if write.kind == "batch" else [write.text]
    )
