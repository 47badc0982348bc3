"""A provider is away for an hour: new messages wait, are found, and are formed afterwards."""

from __future__ import annotations

import asyncio
import logging
import random
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import memoranda
from memoranda import Book, Limits
from memoranda.errors import ModelDown
from memoranda.model.changes import Job, JobState
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.model.records import Owner, RecordType
from memoranda.testing.scripted_models import Said, ScriptedModels, entries
from proofs._book.forming import Ticking
from proofs._book.opening import without_syncs, without_threads
from tests.comparison import all_records

ABOUT = "while a provider is away for an hour, no message is lost, no job dies, recall works, and all is formed afterwards"
CI_COUNT = 10_000
FULL_COUNT = 50_000
COVERS = "model storage paging.py door.py engines/sqlite formation language worker.py book"

_START = datetime(2026, 3, 2, 9, tzinfo=UTC)
_MINUTES = 60
_OWNERS = 50
_THREADS = 300
#: As many messages as come at a time.
_TURNS = 4
#: How often a provider that is away may be asked in that hour: its pauses grow to ten minutes.
_IN_VAIN = 15
_LIMITS = Limits(memories_per_agent=1_000_000)


class Lost(Exception):
    """A message is lost or not found, a job is dead, or the provider was asked too often."""


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)
    with (
        tempfile.TemporaryDirectory(prefix="drain-") as folder,
        without_syncs(rewriting=False),
        without_threads(),
    ):
        return asyncio.run(_Hour(Path(folder, "book.db"), random.Random(seed)).run(count))


class _Hour:
    """Users who write messages while no model can read them."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        self._path = path
        self._rng = rng
        self._clock = Ticking(_START)
        self._models = ScriptedModels(self._answer)
        self._away = True
        #: By owner, all words that were said.
        self._said: dict[str, list[str]] = {}

    def _answer(self, request: ModelRequest) -> Said:
        if self._away:
            return ModelDown("the provider is away")
        if request.task == "summary":
            return {}
        new = {
            name: line for name, (label, line) in entries(request).items() if "context" not in label
        }
        return {
            "notes": [
                {"content": f"Likes {line.split()[2]}", "sources": [{"message": name}]}
                for name, line in new.items()
                if name.startswith("m")
            ]
        }

    async def run(self, count: int) -> str:
        """Simulate an hour without the provider, and check the result."""
        async with memoranda.open(
            self._path, clock=self._clock, models=self._models, worker=False, limits=_LIMITS
        ) as book:
            for minute in range(_MINUTES):
                await self._talk(book, count * (minute + 1) // _MINUTES)
                self._clock.now = _START + timedelta(minutes=minute + 1)
                await book.worker.drain()
                await self._recalled(book)
            waiting = await self._jobs(book)
            in_vain = len(self._models.asked)
            self._judge_waiting(waiting, in_vain)
            self._away = False
            minutes = await self._drained(book)
            await self._judge(book)
        said = sum(map(len, self._said.values()))
        return (
            f"{said} messages in {len(waiting)} threads, asked {in_vain} times in vain, none dead; all found meanwhile, all "
            f"formed once {minutes} minutes after, with {len(self._models.asked) - in_vain} calls"
        )

    async def _talk(self, book: Book, until: int) -> None:
        place = sum(map(len, self._said.values()))
        while place < until:
            number = self._rng.randrange(_THREADS)
            owner = f"owner {number % _OWNERS}"
            words = [f"thing{place + turn}x" for turn in range(min(_TURNS, until - place))]
            thread = await book.thread(owner, agent="guide", name=f"thread {number}")
            await thread.append(
                [{"role": "user", "content": f"I like {word} and much besides."} for word in words]
            )
            self._said.setdefault(owner, []).extend(words)
            place += len(words)

    async def _recalled(self, book: Book) -> None:
        """Check that a message that was just appended is found unchanged."""
        owner = self._rng.choice(sorted(self._said))
        word = self._said[owner][-1]
        found = await book.recall(owner, word, agent="guide")
        if not any(word in getattr(hit.record, "content", "") for hit in found):
            raise Lost(f"{word} is not found while the provider is away")

    async def _jobs(self, book: Book) -> list[Job]:
        return [job for job in await book.engine.jobs(None, 10 * _THREADS) if job.kind == "form"]

    def _judge_waiting(self, waiting: list[Job], in_vain: int) -> None:
        if dead := [job for job in waiting if job.state is not JobState.WAITING or job.tries]:
            raise Lost(f"{len(dead)} jobs are dead, or were counted as tried: {dead[0].error}")
        if in_vain > _IN_VAIN:
            raise Lost(f"a provider that was away was asked {in_vain} times")

    async def _drained(self, book: Book) -> int:
        """Return the minutes until no work is left."""
        for minute in range(1, 121):
            self._clock.now = _START + timedelta(minutes=_MINUTES + minute)
            await book.worker.drain()
            if not await self._jobs(book):
                return minute
        raise Lost(f"{len(await self._jobs(book))} threads wait two hours later")

    async def _judge(self, book: Book) -> None:
        """Check that every message became one memory."""
        for owner, words in self._said.items():
            memories = await all_records(book, Owner(id=owner), RecordType.MEMORY)
            known = Counter(
                one.content for one in memories if isinstance(one, Memory) and one.active
            )
            if known != Counter(f"Likes {word}" for word in words):
                lacking = sorted(Counter(f"Likes {word}" for word in words) - known)
                raise Lost(
                    f"{owner}: {len(lacking)} of {len(words)} messages are not known: {lacking[:3]}"
                )
        if faults := (await book.admin.verify(whole=True)).faults:
            raise Lost(faults[0])
