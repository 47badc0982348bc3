"""Two processes with the same file open: one writes or makes vectors, and the other reads at
once.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple

import memoranda
from memoranda import Book, Limits, MemorandaError
from memoranda.testing.embedder import StubEmbedder
from proofs._processes.together import Wrong, fork

OWNERS = tuple(f"owner {number}" for number in range(6))
#: Reembedding goes from one to the other, and back; a question's vector has as many numbers in
#: both.
EMBEDDERS = (StubEmbedder("one"), StubEmbedder("two"))
_LIMITS = Limits(writes_per_run=10**6, memories_per_agent=10**6)
#: So many words are spoken; few enough that others say them too.
_WORDS = 400
#: More than one owner ever has about one subject.
_ALL = 100
#: How many subjects of each owner are still spoken of.
_SUBJECTS = 25

Verb = Literal["say", "remember", "supersede", "retract", "undo", "forget"]
Mode = Literal["words", "hybrid", "meaning"]


class Asked(NamedTuple):
    """Task of a process."""

    verb: Verb | Literal["recall", "embed", "reopen", "reembed", "end"]
    owner: str = ""
    text: str = ""
    id: str = ""
    mode: Mode = "words"
    embedder: int = 0
    wait_for: Literal["stored", "embedded"] = "stored"


@contextmanager
def two_processes(path: Path) -> Iterator[tuple[Connection, Connection]]:
    """Start two processes that serve until the end."""
    pipes = [fork.Pipe() for _ in range(2)]
    running = [fork.Process(target=_serve, args=(theirs, path), daemon=True) for _, theirs in pipes]
    for process in running:
        process.start()
    for _, theirs in pipes:
        theirs.close()
    try:
        yield pipes[0][0], pipes[1][0]
        for ours, _ in pipes:
            ours.send(Asked("end"))
        for process in running:
            process.join(30)
    finally:
        for process in running:
            process.kill()
            process.join()


def ask(connection: Connection, asked: Asked) -> Any:
    """Let a process do something, and wait for it."""
    connection.send(asked)
    answer = connection.recv()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _serve(connection: Connection, path: Path) -> None:
    logging.disable(logging.CRITICAL)  # of reading with another model's vectors
    asyncio.run(_Process(path).serve(connection))


class _Process:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._book: Book

    async def _open(self, embedder: int) -> None:
        self._book = await memoranda.open(self._path, limits=_LIMITS, embed=EMBEDDERS[embedder])

    async def serve(self, connection: Connection) -> None:
        await self._open(0)
        # Read beside the loop, so that the book's own worker may make vectors at any time as well.
        while (asked := await asyncio.to_thread(connection.recv)).verb != "end":
            try:
                answer: object = await self._do(asked)
            except MemorandaError as error:
                answer = Wrong(f"{asked}: {type(error).__name__}: {error}")
            connection.send(answer)
        await self._book.close()

    async def _do(self, asked: Asked) -> Any:
        book = self._book
        match asked.verb:
            case "recall":
                hits = await book.recall(asked.owner, asked.text, limit=_ALL, mode=asked.mode)
                return [(str(hit.id), hit.record.passage_text()) for hit in hits]
            case "embed":
                return await book.admin.embed()
            case "reopen" | "reembed":
                await book.close()
                await self._open(asked.embedder)
                return await self._book.admin.reembed() if asked.verb == "reembed" else 0
            case "say":
                thread = await book.thread(asked.owner, name="talk")
                return _made(await thread.append("user", asked.text, wait_for=asked.wait_for))
            case "remember":
                return _made(await book.remember(asked.owner, asked.text, wait_for=asked.wait_for))
            case "supersede":
                made = await book.remember(
                    asked.owner, asked.text, supersedes=[asked.id], wait_for=asked.wait_for
                )
                return _made(made)
            case "retract":
                return _made(await book.memories.retract(asked.owner, asked.id, as_owner=True))
            case "undo":
                return _made(await book.undo(asked.owner, int(asked.id), as_owner=True))
            case _:
                await book.forget(asked.owner, asked.id, as_owner=True)
                return "", 0


def _made(receipt: memoranda.Receipt) -> tuple[str, int]:
    """Return the id of the record that a write made, and its position in the ledger."""
    return str(receipt.items[0].id), receipt.position


@dataclass(slots=True)
class Subject:
    """The statements about one subject."""

    owner: str
    word: str
    #: Id → text of active statements.
    held: dict[str, str] = field(default_factory=dict)
    #: What recall must not find any more.
    gone: set[str] = field(default_factory=set)
    #: The last retraction, which may be undone: position, id, text.
    retracted: tuple[int, str, str] | None = None
    #: Ids of statements; messages are neither superseded nor retracted.
    statements: set[str] = field(default_factory=set)


class Talk:
    """Chooses the writes, and knows what must be found."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._subjects: list[Subject] = []
        self._made = 0

    def next_write(self) -> tuple[Subject, Asked]:
        """Return the next write about a subject."""
        if len(self._subjects) < _SUBJECTS * len(OWNERS) or self._rng.random() < 0.3:
            self._made += 1
            self._subjects = self._subjects[-_SUBJECTS * len(OWNERS) :]
            self._subjects.append(Subject(self._rng.choice(OWNERS), f"zq{self._made:05}qz"))
        subject = (
            self._subjects[-1] if self._rng.random() < 0.3 else self._rng.choice(self._subjects)
        )
        text = " ".join([subject.word, *(f"word{self._rng.randrange(_WORDS)}" for _ in range(7))])
        held = sorted(subject.held.keys() & subject.statements)
        verb = self._rng.choice(self._verbs(subject, held))
        if verb == "undo":
            assert subject.retracted is not None
            return subject, Asked("undo", subject.owner, id=str(subject.retracted[0]))
        id = self._rng.choice(held or [""]) if verb in ("supersede", "retract", "forget") else ""
        return subject, Asked(verb, subject.owner, text, id)

    def _verbs(self, subject: Subject, held: Sequence[str]) -> list[Verb]:
        verbs: list[Verb] = ["say", "remember", "remember"]
        if held:
            verbs += ["supersede", "supersede", "supersede", "retract", "forget"]
        if subject.retracted is not None:
            verbs += ["undo", "undo", "undo", "undo"]
        return verbs

    def written(self, subject: Subject, asked: Asked, told: tuple[str, int]) -> None:
        """Update the expectations after a write."""
        id, position = told
        retracted, subject.retracted = subject.retracted, None
        match asked.verb:
            case "undo":
                assert retracted is not None
                subject.gone.discard(retracted[1])
                subject.held[retracted[1]] = retracted[2]
                return
            case "retract":
                subject.retracted = position, asked.id, subject.held[asked.id]
            case "say" | "remember" | "supersede":
                subject.held[id] = asked.text
                if asked.verb != "say":
                    subject.statements.add(id)
        if asked.id:
            del subject.held[asked.id]
            subject.gone.add(asked.id)
