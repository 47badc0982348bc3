"""A process that makes vectors until it is killed at a chosen moment."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import memoranda
from memoranda.assembly import upkeep
from memoranda.embedding import VectorMaker
from memoranda.engines.sqlite import engine, vector_sets
from memoranda.model.values import utc_now
from memoranda.model.vectors import EMBED
from memoranda.storage.writes import RemoveSet
from memoranda.testing.embedder import StubEmbedder
from memoranda.worker import Worker
from proofs._book.mutants import replaced, rewritten
from proofs._book.opening import without_syncs

#: Length of a lease: how long a killed process's job stays locked.
LEASE_SECONDS = 0.2

#: Where a process ends, at its n-th time there; ``random``: whenever its starter likes.
Moment = Literal[
    "random",
    "before making",
    "made",
    "putting",
    "put",
    "before the switch",
    "switching",
    "switched",
]
#: ``work``: the job that makes missing vectors; ``reembed``: make all vectors again, then switch.
Task = Literal["work", "reembed"]
#: All but the first are controls.
Manner = Literal["careful", "passes some over", "switches first", "switches without a word"]

_MANNERS: dict[Manner, Callable[[], AbstractContextManager[object]]] = {
    "careful": nullcontext,
    "passes some over": partial(rewritten, vector_sets._through, "if first is None:", "if True:"),
    "switches first": partial(
        rewritten, VectorMaker.renew, "await self._vectors.begin_set(self.embedding)",
        "await self._vectors.begin_set(self.embedding); await self._vectors.switch_set(self.embedding)",
    ),
    "switches without a word": partial(replaced, "renew_shelves", "UPDATE shelves SET mark = mark + 1"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Assignment:
    """Task of a process: its model, its work, and the moment of its death."""

    path: Path
    model: str
    task: Task
    moment: Moment
    #: The process dies at this occurrence of the moment, counted from 1.
    time: int = 1
    manner: Manner = "careful"


class _Counting(StubEmbedder):
    """An embedder that counts the texts embedded by all processes together."""

    def __init__(self, model: str, strike: Callable[[str], None], made: Synchronized[int]) -> None:
        super().__init__(model)
        self._strike = strike
        self._made = made

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._strike("before making")
        found = await super().passages(texts)
        with self._made.get_lock():
            self._made.value += len(texts)
        self._strike("made")
        return found


def work(given: Assignment, made: Synchronized[int]) -> None:
    """Run such a process; return only if it finishes its task before it is killed."""
    logging.disable(logging.CRITICAL)
    come = 0

    def strike(here: str) -> None:
        nonlocal come
        come += given.moment == here
        if come >= given.time:
            os.kill(os.getpid(), signal.SIGKILL)

    with ExitStack() as stack:
        stack.enter_context(without_syncs(rewriting=False))
        stack.enter_context(_MANNERS[given.manner]())
        # Within the transactions, where some of it is written already.
        putting = _before(vector_sets._through, partial(strike, "putting"))
        stack.enter_context(patch.object(vector_sets, "_through", putting))
        switching = _before(vector_sets.WRITES[RemoveSet], partial(strike, "switching"))
        stack.enter_context(patch.dict(engine._WRITES, {RemoveSet: switching}))
        asyncio.run(_work(given, _Counting(given.model, strike, made), strike))


def _before(function: Any, strike: Callable[[], None]) -> Any:
    def struck(*given: Any) -> Any:
        strike()
        return function(*given)

    return struck


async def _work(given: Assignment, embedder: StubEmbedder, strike: Callable[[str], None]) -> None:
    async with memoranda.open(given.path, embed=embedder, worker=False) as book:
        put_vectors, switch_set = book.engine.put_vectors, book.engine.switch_set

        async def putting(*what: Any) -> int:
            put = await put_vectors(*what)
            strike("put")
            return put

        async def switching(*what: Any) -> bool:
            strike("before the switch")
            switched = await switch_set(*what)
            strike("switched")
            return switched

        with patch.multiple(book.engine, put_vectors=putting, switch_set=switching):
            maker = VectorMaker(book.engine, embedder)
            if given.task == "reembed":
                await maker.renew()
                return
            handlers = {EMBED: upkeep(book.engine, utc_now, maker)[EMBED]}
            worker = Worker(book.engine, handlers, utc_now, lease=LEASE_SECONDS)
            while await book.engine.lacking(embedder.embedding, 1):
                if not await worker.run_once():
                    # The dead process's lease has to expire.
                    await asyncio.sleep(LEASE_SECONDS / 4)
