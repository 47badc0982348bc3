"""A process that forms a book's threads until it is killed at a chosen step of the run."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import memoranda
from memoranda import Book
from memoranda.door import Door
from memoranda.formation.rules import extract
from memoranda.model.changes import AddExperience, MarkFormed, RecordEpisode
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.model.messages import SummariseThread
from memoranda.testing.scripted_models import Said, ScriptedModels, entries, handle
from proofs._book.opening import without_syncs, without_threads

#: Each step of a run, before it and after it; ``random``: whenever its starter likes.
Moment = Literal[
    "random",
    "before asking", "after asking",
    "before keeping", "after keeping",
    "before learning", "after learning",
    "before writing", "after writing",
    "before summing up", "after summing up",
    "before closing", "after closing",
    "before finishing", "after finishing",
]  # fmt: skip
#: Controls lose what was bought, or how far the thread is formed.
Manner = Literal["careful", "keeps nothing", "marks nothing"]

# Rules are laid out when they are first needed; every process that is forked here finds them so.
extract("I like tea. It helped.")

_WORD = re.compile(r"\bword\d+\b")
#: As small as it may be: a thread is read in several portions, and summed up soon.
PROMPT_TOKENS, WINDOW_TOKENS = 500, 150


@dataclass(frozen=True, slots=True)
class Fate:
    """The moment at which a process dies."""

    moment: Moment
    #: The time that it happens, counted from 1.
    time: int = 1


@dataclass(slots=True)
class Ticking:
    """A clock that advances by a millisecond with every reading."""

    now: datetime

    def __call__(self) -> datetime:
        """The time."""
        self.now += timedelta(milliseconds=1)
        return self.now


@dataclass(slots=True)
class _Doom:
    """Kills this process at the chosen moment, and records which answers were bought and which were
    stored.
    """

    fate: Fate
    log: int
    seen: int = 0
    #: What was bought and is not stored yet.
    words: str = ""
    _steps: dict[type, str] = field(
        default_factory=lambda: {
            AddExperience: "learning",
            MarkFormed: "writing",
            SummariseThread: "summing up",
            RecordEpisode: "closing",
        }
    )

    def strike(self, here: str) -> None:
        """Die here, if this is the chosen moment."""
        if here == self.fate.moment:
            self.seen += 1
            if self.seen >= self.fate.time:
                os.kill(os.getpid(), signal.SIGKILL)

    def note(self, event: str, what: str) -> None:
        """Write the moment to the disk, for the parent process to read."""
        os.write(self.log, f"{os.getpid()} {event} {what}\n".encode())

    async def around(
        self, step: str, work: Callable[[], Awaitable[Any]], *, stores: bool = False
    ) -> Any:
        """Run a step, and die before or after it if chosen."""
        self.strike(f"before {step}")
        done = await work()
        if stores:
            self.note("stored", self.words)
        self.strike(f"after {step}")
        return done

    def step(self, changes: Iterable[Any]) -> str:
        """Return the step that a write belongs to; moving a thread's watermark decides before its
        other changes.
        """
        sorts = {type(change) for change in changes}
        return next((name for sort, name in self._steps.items() if sort in sorts), "")


def work(
    path: Path,
    log: Path,
    start: datetime,
    later: timedelta,
    fate: Fate,
    manner: Manner,
    ready: Event | None = None,
) -> None:
    """Run a process that forms all due threads and then ends, unless it is killed. Its worker's
    clock is ahead, by which leases end.
    """
    logging.disable(logging.CRITICAL)
    doom = _Doom(fate, os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
    with without_syncs(rewriting=False), without_threads(), _doomed(doom, manner):
        asyncio.run(_work(path, start, later, doom, manner, ready))


async def _work(
    path: Path,
    start: datetime,
    later: timedelta,
    doom: _Doom,
    manner: Manner,
    ready: Event | None,
) -> None:
    async with forming(path, Ticking(start), _Careful(doom)) as book:
        worker: Any = book.worker
        worker._clock = Ticking(start + later)
        _watch(book, doom, manner)
        if ready is not None:
            ready.set()
        await book.worker.drain()


@asynccontextmanager
async def forming(path: Path, clock: Ticking, models: ScriptedModels | None) -> AsyncIterator[Book]:
    """Open a book that forms with these models, in small portions."""
    environment = {
        "MEMORANDA_FORMING_PROMPT_TOKENS": str(PROMPT_TOKENS),
        "MEMORANDA_FORMING_WINDOW_TOKENS": str(WINDOW_TOKENS),
    }
    with patch.dict(os.environ, environment):
        book = await memoranda.open(path, clock=clock, models=models, embed=None, worker=False)
    async with book:
        yield book


def _watch(book: Book, doom: _Doom, manner: Manner) -> None:
    engine: Any = book.engine
    keep, finish = engine.keep, engine.finish

    async def nothing(*given: Any) -> bool:
        return True

    chosen = nothing if manner == "keeps nothing" else keep

    async def kept(*given: Any) -> Any:
        return await doom.around("keeping", lambda: chosen(*given), stores=True)

    async def finished(job: Any) -> Any:
        return await doom.around("finishing", lambda: finish(job))

    engine.keep, engine.finish = kept, finished


@contextmanager
def _doomed(doom: _Doom, manner: Manner) -> Iterator[None]:
    """Route every write through the killer."""
    write = Door.write

    async def written(
        self: Door, owner: Any, view: Any, actor: Any, changes: Any, **more: Any
    ) -> Any:
        step = doom.step(changes)
        if manner == "marks nothing":
            changes = [one for one in changes if not isinstance(one, MarkFormed)]
            if not changes:
                return None
        stores = step == "summing up"
        return await doom.around(
            step, lambda: write(self, owner, view, actor, changes, **more), stores=stores
        )

    with patch.object(Door, "write", written):
        yield


# ── the model ─────────────────────────────────────────────────────────────────────────────────────


class _Careful(ScriptedModels):
    """A model that answers from its input only, so that every process gets the same answer."""

    def __init__(self, doom: _Doom) -> None:
        super().__init__(said)
        self._doom = doom

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer, and record the purpose: from here on the answer counts as paid for."""
        self._doom.strike("before asking")
        self._doom.words = " ".join(
            [_task(request), str(len(request.earlier)), *_asked_about(request)]
        )
        self._doom.note("asked", self._doom.words)
        answer = await super().ask(request)
        self._doom.strike("after asking")
        return answer


def _task(request: ModelRequest) -> str:
    """Return the purpose of a question; closing a thread reads its newest turns once more."""
    asked = request.content.rsplit("Fill:", 1)[-1]
    return "closing" if request.task != "summary" and "notes" not in asked else request.task


def _asked_about(request: ModelRequest) -> list[str]:
    """Return the words that name the turns that are read for the first time."""
    if request.task == "summary":
        return list(dict.fromkeys(_WORD.findall(request.content.partition("<turns>")[2])))
    return [word for _, line in _new(request) for word in _WORD.findall(line)[:1]]


def _new(request: ModelRequest) -> list[tuple[str, str]]:
    return [
        (name, line)
        for name, (label, line) in entries(request).items()
        if name.startswith("m") and "context" not in label
    ]


def said(request: ModelRequest) -> Said:
    """Return notes, repeats, a profile, lessons and an episode, each from the turn that asks for
    it.
    """
    if request.task == "summary":
        return {"summary": "Told: " + " ".join(dict.fromkeys(_WORD.findall(request.content)))}
    answer: dict[str, list[Any]] = {"notes": [], "repeats": [], "patches": [], "experience": []}
    operations: list[dict[str, Any]] = []
    sources: list[dict[str, str]] = []
    for name, line in _new(request):
        source = [{"message": name}]
        word = _WORD.findall(line)[0]
        if line.startswith("I said"):
            answer["notes"].append({"content": f"Said {word} today", "sources": source})
        elif line.startswith("I moved to"):
            answer["notes"].append(
                {"content": f"Moved to {word}", "key": "home", "sources": source}
            )
            # What is wrong at first is asked for once more, and that answer is kept too.
            path = "/home" if request.earlier else "/nowhere/at/all"
            operations.append({"op": "add", "path": path, "value": word})
            sources += source
        elif line.startswith("I still like"):
            liked = line.split()[3]
            known = handle(request, f"Likes {liked}")
            if known is not None and known.startswith("c"):
                answer["repeats"].append({"memory": known, "sources": source})
            else:
                answer["notes"].append({"content": f"Likes {liked}", "sources": source})
        elif line.startswith("It helped"):
            lesson = {"field": "heuristics", "line": f"Begin with {word}", "sources": source}
            answer["experience"].append(lesson)
    if operations:
        answer["patches"].append(
            {"schema": "Profile", "operations": operations, "sources": sources}
        )
    asked = request.content.rsplit("Fill:", 1)[1]
    if "episode" in asked and any("with an episode" in line for _, line in _new(request)):
        return {
            **answer,
            "episode": {"goal": f"Talk of {_asked_about(request)[0]}", "outcome": "succeeded"},
        }
    return answer
