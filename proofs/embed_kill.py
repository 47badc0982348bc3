"""Killed embedding: each passage gets one correct vector, and a reader always sees one complete
set.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import random
import signal
import tempfile
import time
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from itertools import product
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import get_args
from uuid import UUID

import memoranda
from memoranda import Book, Limits, NotFound
from memoranda.embedding.maker import STEP
from memoranda.model.query import Filter
from memoranda.model.records import PASSAGE_TYPES, WHOLE, Owner
from memoranda.model.values import utc_now
from memoranda.model.vectors import pack_vector
from memoranda.recall.recall import Recall
from proofs._book.embedding import Assignment, Manner, Moment, Task, work
from proofs._book.meanings import judge_vectors
from proofs._book.opening import without_syncs
from proofs._book.racing import EMBEDDERS, Returned

ABOUT = "processes killed at any moment lose no vector and make no wrong one; a change of model is one step"
CI_COUNT = 60
FULL_COUNT = 3_000
COVERS = "model storage door.py engines/sqlite embedding worker.py recall language"

_OWNERS = tuple(Owner(id=f"owner {number}") for number in range(3))
_LIMITS = Limits(writes_per_run=10**6, memories_per_agent=10**6)
#: Passages that there are at first, and that come between two kills at most.
_AT_FIRST, _MORE = 300, 40
#: Kills in one book before a new one begins: after each, all of a book's vectors are compared.
_OF_A_BOOK = 300
#: A control is given so many kills.
_CONTROL = 30
_CONTROLS: tuple[Manner, ...] = ("passes some over", "switches first", "switches without a word")
_PATIENCE_SECONDS = 30.0
_MOMENTS: dict[Task, tuple[Moment, ...]] = {
    "work": ("random", "before making", "made", "putting", "put"),
    "reembed": get_args(Moment),
}
_QUESTION = "word1 word2 word3"


class Wrong(Exception):
    """A vector is lost or wrong, work was repeated, or a reader saw an incomplete set."""


class Undetected(Exception):
    """A control was not noticed."""


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)  # of books that are read with another model's vectors
    with (
        tempfile.TemporaryDirectory(prefix="embed-kill-") as folder,
        without_syncs(rewriting=False),
    ):
        yards = []
        for done in range(0, count, _OF_A_BOOK):
            rng = random.Random(f"{seed} {done}")
            yards.append(_Yard(Path(folder, f"careful-{done}.db"), rng, "careful"))
            asyncio.run(yards[-1].run(min(_OF_A_BOOK, count - done)))
        missed = [manner for manner in _CONTROLS if not _noticed(Path(folder), manner, seed)]
    if missed:
        raise Undetected(f"nobody noticed one that {' or '.join(missed)}")
    struck = sum((yard.struck for yard in yards), Counter[str]())
    told = ", ".join(f"{number} {moment}" for moment, number in sorted(struck.items()))
    return (
        f"{struck.total()} kills ({told}), {sum(yard.switches for yard in yards)} changes of model, "
        f"{sum(yard.passages for yard in yards)} passages with one right vector each, "
        f"{sum(yard.made.value for yard in yards)} made, {sum(yard.looks for yard in yards)} looks at one whole set; "
        f"{len(_CONTROLS)} controls noticed"
    )


def _noticed(folder: Path, manner: Manner, seed: int) -> bool:
    try:
        asyncio.run(_Yard(folder / f"{manner}.db", random.Random(seed), manner).run(_CONTROL))
    except (Wrong, Returned):
        return True
    return False


class _Yard:
    """Writes, lets a process make vectors, kills it, and checks what a reader sees."""

    def __init__(self, path: Path, rng: random.Random, manner: Manner) -> None:
        self._path = path
        self._rng = rng
        self._manner = manner
        # Neither the proof nor the one that forks for it has threads that a fork would leave
        # behind.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["proofs._book.embedding"])
        self.made = self._context.Value("l", 0)
        self.struck: Counter[str] = Counter()
        self.switches = self.looks = self.passages = 0
        #: Passages that were there before the present process began.
        self._due: set[UUID] = set()
        self._there: set[UUID] = set()
        #: Those that the present set had when it was switched to.
        self._whole: set[UUID] = set()
        self._active = 0
        self._reembedding = False
        #: Vectors that had to be made, those of what was erased since included.
        self._needed = 0

    async def run(self, kills: int) -> None:
        """Kill this many processes, let the last one finish, and count."""
        async with memoranda.open(
            self._path, limits=_LIMITS, embed=EMBEDDERS[0], worker=False
        ) as book:
            self._held = Recall(book.engine)
            await self._write(book, _AT_FIRST)
            while self.struck.total() < kills:
                await self._round(book)
            await self._finish(book)

    async def _write(self, book: Book, count: int) -> None:
        for _ in range(count // 10):
            owner = self._rng.choice(_OWNERS)
            said = [{"role": "user", "content": self._text()} for _ in range(9)]
            thread = await book.thread(owner, name="talk")
            self._there |= {
                *(await thread.append(said)).ids(),
                (await book.remember(owner, self._text())).id,
            }
            self._needed += 10 * (1 + self._reembedding)
        if self._rng.random() < 0.3:
            gone = self._rng.choice(sorted(self._there))
            for owner in _OWNERS:
                # One of them has it.
                with suppress(NotFound):
                    await book.forget(owner, gone, as_owner=True)
            self._there.discard(gone)

    def _text(self) -> str:
        return " ".join(f"word{self._rng.randrange(300)}" for _ in range(6))

    # ── death ─────────────────────────────────────────────────────────────────────────────────────

    async def _round(self, book: Book) -> None:
        await self._write(book, self._rng.randrange(_MORE))
        if not self._reembedding and self._rng.random() < 0.3:
            self._reembedding = True
            self._needed += len(self._there)
        task: Task = "reembed" if self._reembedding and self._rng.random() < 0.8 else "work"
        self._due = set(self._there)
        process, moment = self._start(task)
        if moment == "random":
            await asyncio.sleep(self._rng.uniform(0.0, 0.15))
            process.kill()
        elif self._rng.random() < 0.5:
            await self._look(book)
        await self._ended(process, moment)
        await self._look(book)
        await self._compare(book)

    def _start(self, task: Task, moment: Moment | None = None) -> tuple[BaseProcess, Moment]:
        model = EMBEDDERS[1 - self._active if task == "reembed" else self._active].embedding.model
        chosen = self._rng.choice(_MOMENTS[task]) if moment is None else moment
        # A few steps are needed for all of it anew, and one for what came lately.
        time_ = self._rng.randint(1, 3) if task == "reembed" and chosen in _MOMENTS["work"] else 1
        given = Assignment(self._path, model, task, chosen, time_, self._manner)
        process = self._context.Process(target=work, args=(given, self.made), daemon=True)
        process.start()
        return process, chosen

    async def _ended(self, process: BaseProcess, moment: str) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while process.is_alive():
            if time.monotonic() > deadline:
                process.kill()
                raise Wrong(
                    f"nothing that lacks a vector is given to anyone, or what should die {moment} does not"
                )
            await asyncio.sleep(0.005)
        if process.exitcode == -signal.SIGKILL:
            self.struck[moment] += 1
        elif process.exitcode != 0:
            raise Wrong(f"what makes vectors left with {process.exitcode}")

    # ── what a reader sees ────────────────────────────────────────────────────────────────────────

    async def _look(self, book: Book) -> None:
        """Check that every visible vector is correct and of the active set, and that a new active
        set is complete.
        """
        self.looks += 1
        for owner in _OWNERS:
            for _, delta in await book.engine.since(owner, WHOLE, lambda shelf: None):
                active = [one.embedding.name for one in EMBEDDERS].index(delta.vectors)
                if active != self._active:
                    self._active, self._reembedding, self._whole = active, False, set(self._due)
                    self.switches += 1
                vectors = {UUID(bytes=row.id): row.vector for row in delta.rows}
                for id, record in (await book.engine.get(owner, WHOLE, list(vectors))).items():
                    right = _packed(active, record.passage_text() or "")
                    if vectors[id] not in (right, None):
                        raise Wrong(
                            f"{id} has a vector that is not of its text and {delta.vectors}"
                        )
                    if vectors[id] is None and id in self._whole:
                        raise Wrong(f"{delta.vectors} was switched to, and lacks {id}")

    async def _compare(self, book: Book) -> None:
        """Check that a cached and a new index give the same result, with either model."""
        types, now = PASSAGE_TYPES, utc_now()
        for owner, embedder in product(_OWNERS, EMBEDDERS):
            told = [
                await finder.find(
                    owner, WHOLE, _QUESTION, limit=20, types=types, only=Filter(types=types),
                    vector=embedder.of(_QUESTION), vectors=embedder.embedding.name, now=now,
                )
                for finder in (self._held, Recall(book.engine))
            ]  # fmt: skip
            held, anew = [[(hit.id, hit.score) for hit in recalled] for recalled in told]
            if held != anew:
                raise Wrong(
                    f"an index that was held scores {held[:2]}, and one that is made anew {anew[:2]}"
                )

    # ── the end ───────────────────────────────────────────────────────────────────────────────────

    async def _finish(self, book: Book) -> None:
        """Let the work be finished without kills, and check every vector against its text."""
        tasks: tuple[Task, ...] = ("reembed", "work") if self._reembedding else ("work",)
        for task in tasks:
            process, moment = self._start(task, "random")
            await self._ended(process, moment)
            await self._look(book)
        await self._compare(book)
        if lacking := await book.engine.lacking(EMBEDDERS[self._active].embedding, 1):
            raise Wrong(f"{lacking[0].id} lacks its vector when all is done")
        await judge_vectors(book, "when all is done")
        self.passages = len(self._there)
        # A killed process loses its current batch, and no more.
        if self.made.value > self._needed + self.struck.total() * STEP:
            raise Wrong(f"{self.made.value} vectors were made where {self._needed} were needed")


@lru_cache(maxsize=100_000)
def _packed(embedder: int, text: str) -> bytes:
    return pack_vector(EMBEDDERS[embedder].of(text))
