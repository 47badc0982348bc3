"""Processes that read what others have just written: no acknowledged write is missing."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import memoranda
from memoranda import MemorandaError
from proofs._processes.together import AGENT, OWNER, Wrong, fork, made_thread

RECALLS = 1000
READERS = 4


def reads(path: Path, seed: int) -> str:
    """Let one process write and another one read at once."""
    rng = random.Random(seed)
    asyncio.run(made_thread(path))
    recalls = 0
    with _readers(path) as readers:
        for step in range(RECALLS):
            word = f"zq{step:05}qz"
            writer = rng.randrange(READERS)
            others = [number for number in range(READERS) if number != writer]
            id = _ask(readers[writer], ("write", word, rng.random() < 0.5))
            for reader in others if step % 10 == 0 else [rng.choice(others)]:
                found = _ask(readers[reader], ("recall", word, False))
                recalls += 1
                # Its neighbours in the thread may come after it.
                if found[:1] != [id]:
                    raise Wrong(
                        f"step {step}: process {writer} wrote {id}, and process {reader} found {found}"
                    )
    return f"{RECALLS} writes of {READERS} processes, {recalls} recalls by others, none stale"


@contextmanager
def _readers(path: Path) -> Iterator[list[Connection]]:
    pipes = [fork.Pipe() for _ in range(READERS)]
    running = [
        fork.Process(target=_serve, args=(theirs, path, number), daemon=True)
        for number, (_, theirs) in enumerate(pipes)
    ]
    for process in running:
        process.start()
    try:
        yield [ours for ours, _ in pipes]
        for ours, _ in pipes:
            ours.send(("end", "", False))
        for process in running:
            process.join(30)
    finally:
        for process in running:
            process.kill()
            process.join()


def _ask(connection: Connection, question: tuple[str, str, bool]) -> Any:
    connection.send(question)
    answer = connection.recv()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _serve(connection: Connection, path: Path, number: int) -> None:
    async def serve() -> None:
        async with memoranda.open(path) as book:
            thread = await book.thread(OWNER, name=f"of {number}", agent=AGENT)
            while (asked := connection.recv())[0] != "end":
                verb, word, remembers = asked
                try:
                    if verb == "recall":
                        hits = await book.recall(OWNER, f"what about {word}", agent=AGENT)
                        connection.send([str(hit.id) for hit in hits])
                    elif remembers:
                        receipt = await book.remember(OWNER, f"likes {word} a lot", agent=AGENT)
                        connection.send(str(receipt.id))
                    else:
                        receipt = await thread.append("user", f"they spoke of {word} and tea")
                        connection.send(str(receipt.id))
                except MemorandaError as error:
                    connection.send(error)

    asyncio.run(serve())
