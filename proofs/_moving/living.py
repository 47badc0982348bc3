"""Processes that write to a book, and one that forgets, while it moves: each logs its receipts in a
file.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import memoranda
from memoranda import Book, Limits, MemorandaError, Moved, NotFound, OutcomeUnknown
from memoranda.model.changes import AddExperience
from memoranda.model.ledger import Actor
from memoranda.model.records import WHOLE, Owner, OwnerKind
from memoranda.model.values import new_id
from memoranda_conformance.builders import a_line

TENANTS = ("default", "other")
#: In each tenant there are owners of the same names, and an agent who learns from them.
OWNERS = tuple(
    Owner(tenant=tenant, id=f"owner {number}") for tenant in TENANTS for number in range(3)
)
GUIDES = {tenant: Owner(tenant=tenant, kind=OwnerKind.AGENT, id="guide") for tenant in TENANTS}
LIMITS = Limits(writes_per_run=10**6, memories_per_agent=10**6, batch=1000)
#: Between two writes of one process: what is compared in the end stays small enough.
_PAUSE = (0.01, 0.05)

#: A book for each tenant.
Books = Mapping[str, Book]


def write(address: str, log: Path, name: str, seed: int, stop: Event) -> None:
    """Write until the book has moved or the event stops it."""
    asyncio.run(_live(address, stop, _Writer(log, name, random.Random(seed)).once))


def erase(address: str, log: Path, seed: int, stop: Event) -> None:
    """Forget from time to time what others wrote, or all data of an owner."""
    asyncio.run(_live(address, stop, _Eraser(log, random.Random(seed)).once))


async def _live(address: str, stop: Event, once: Callable[[Books], Any]) -> None:
    rng = random.Random(os.getpid())
    async with AsyncExitStack() as opened:
        books = {}
        for tenant in TENANTS:
            book = memoranda.open(address, tenant=tenant, worker=False, limits=LIMITS, embed=None)
            books[tenant] = await opened.enter_async_context(book)
        while not stop.is_set():
            try:
                await once(books)
            except Moved:
                departure = (await books[TENANTS[0]].engine.whereabouts()).departure
                if departure is not None and departure.whole:
                    return
            except MemorandaError:
                pass  # somebody forgot, or replaced, what this one built upon
            await asyncio.sleep(rng.uniform(*_PAUSE))


class _Log:
    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def say(self, **line: Any) -> None:
        """Write a line in one system call, so that a reader sees all of it or nothing."""
        os.write(self._file, json.dumps(line).encode() + b"\n")


class _Writer:
    def __init__(self, log: Path, name: str, rng: random.Random) -> None:
        self._log = _Log(log)
        self._name = name
        self._rng = rng
        self._count = 0
        #: Memories of one's own, by owner.
        self._mine: list[tuple[Owner, Any, int]] = []

    async def once(self, books: Books) -> None:
        """Do one write with an operation id."""
        self._count += 1
        canary, began = f"zq{self._name}x{self._count}qz", time.monotonic_ns()
        chance = self._rng.random() if self._mine else 0.0
        chosen: tuple[Owner, Any, int] = (self._rng.choice(OWNERS), None, 0)
        owner, id, position = self._rng.choice(self._mine) if chance >= 0.7 else chosen
        book = books[owner.tenant]
        if chance < 0.5:
            key = self._rng.choice((None, None, "drink", "mood"))
            receipt = await book.remember(owner, f"likes {canary}", key=key, operation=canary)
            self._mine.append((owner, receipt.id, receipt.position))
        elif chance < 0.7:
            thread = await book.thread(owner, name=f"talk of {self._name}")
            receipt = await thread.append("user", f"said {canary}", operation=canary)
        elif chance < 0.8:
            receipt = await book.memories.retract(owner, id, operation=canary, as_owner=True)
        elif chance < 0.9:
            receipt = await book.undo(owner, position, operation=canary, as_owner=True)
        else:
            whose, owner = owner, GUIDES[owner.tenant]
            line = a_line(owner, f"ask of {canary}", [(whose, id)])
            receipt = await book.door.write(
                owner,
                WHOLE,
                Actor("agent", "guide"),
                [AddExperience(line)],
                request=canary,
                operation=canary,
            )
        ids = [str(item.id) for item in receipt.items]
        told = {
            "owner": owner.parts,
            "operation": canary,
            "position": receipt.position,
            "began": began,
        }
        self._log.say(**told, ids=ids, tells="" if 0.7 <= chance < 0.9 else str(receipt.id))


class _Eraser:
    def __init__(self, log: Path, rng: random.Random) -> None:
        self._log = _Log(log)
        self._rng = rng

    async def once(self, books: Books) -> None:
        """Forget some of the data."""
        owner = self._rng.choice(OWNERS)
        book = books[owner.tenant]
        if self._rng.random() < 0.04:
            await self._end(book, owner)
        else:
            page = await book.records.list(
                owner, types=("memory", "message"), limit=50, as_owner=True
            )
            if not page.records:
                return
            chosen = self._rng.choice(page.records)
            # The whole owner may have been forgotten since.
            with suppress(NotFound):
                receipt = await book.forget(owner, chosen.id, as_owner=True)
                self._log.say(ids=[str(id) for id in receipt.ids])

    async def _end(self, book: Book, owner: Owner) -> None:
        """Forget all data of an owner; whatever is written after this returns stays."""
        self._log.say(ending=owner.parts)
        try:
            receipt = await book.forget(owner, everything=True, as_owner=True)
        except OutcomeUnknown:
            raise
        except MemorandaError:
            self._log.say(kept=owner.parts)
            raise
        self._log.say(
            ended=owner.parts, at=time.monotonic_ns(), ids=[str(id) for id in receipt.ids]
        )


def told(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the logs of all processes of a kind."""
    return [
        json.loads(line)
        for path in sorted(folder.glob(f"{name}*.log"))
        for line in path.read_bytes().splitlines()
    ]


def new_name() -> str:
    """Return a name that no other writer uses."""
    return new_id().hex[-8:]
