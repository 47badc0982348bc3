"""Other processes that open the same book and work at the same time as this one."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

import memoranda
from proofs._book.opening import without_syncs
from proofs._book.racing import EMBEDDERS, Action, Outcome, perform


class Companions:
    """A group of processes, each with the current file open."""

    def __init__(self, number: int) -> None:
        # Never forked from a process that has threads.
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(number):
            here, there = context.Pipe()
            process = context.Process(target=_live, args=(there,), daemon=True)
            process.start()
            there.close()
            self._pipes.append(here)
            self._processes.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pipe in self._pipes:
            pipe.send(None)
        for process in self._processes:
            process.join(30)

    def __len__(self) -> int:
        return len(self._pipes)

    async def open(self, path: Path) -> None:
        """Open this book instead of the previous one."""
        await self._ask([path] * len(self))

    async def perform(self, parts: Sequence[Sequence[Action]]) -> list[Outcome]:
        """Let each process do its part, all at once; there must be one part per process."""
        return [outcome for outcomes in await self._ask(parts) for outcome in outcomes]

    async def _ask(self, questions: Sequence[object]) -> list[list[Outcome]]:
        for pipe, question in zip(self._pipes, questions, strict=True):
            pipe.send(question)
        answers = [await asyncio.to_thread(pipe.recv) for pipe in self._pipes]
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return answers


def _live(pipe: Connection) -> None:
    logging.disable(logging.CRITICAL)
    with without_syncs(rewriting=False):
        asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    book: memoranda.Book | None = None
    while (asked := await asyncio.to_thread(pipe.recv)) is not None:
        answer: object = []
        try:
            if isinstance(asked, Path):
                if book is not None:
                    await book.close()
                book = await memoranda.open(asked, embed=EMBEDDERS[0])
            else:
                assert book is not None
                answer = await asyncio.gather(*(perform(book, action) for action in asked))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where it was asked for
            answer = RuntimeError(f"{type(error).__name__}: {error}")
        pipe.send(answer)
    if book is not None:
        await book.close()
