"""Open books with and without a model, killed at any moment: rules never form a thread that the
model should form.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import random
import re
import signal
import tempfile
import time
from collections import Counter
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any
from unittest.mock import patch

import memoranda
from memoranda import Book
from memoranda.assembly import book_setup, formation_setup
from memoranda.formation.rules import extract, may_take_back
from memoranda.formation.who_forms import WhoForms
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.model.messages import Message
from memoranda.model.records import Owner, RecordType
from memoranda.testing.embedder import StubEmbedder
from memoranda.testing.scripted_models import Said, ScriptedModels, entries
from memoranda.worker import Worker
from proofs import STARTS
from proofs._book.opening import without_syncs
from tests.comparison import all_records

ABOUT = "open books that work by themselves, with and without the model, killed at any moment: rules form no thread"
CI_COUNT = 40
FULL_COUNT = 1_000
COVERS = "model storage paging.py door.py engines/sqlite formation language worker.py assembly book"

#: What a user says.
SAID = "I like word{place} and I live in word{place}."
# Formation is loaded when it is first needed; every process that is forked here finds it so.
_LOADED = formation_setup.__name__
extract(SAID.format(place=0))
may_take_back(SAID.format(place=0))

_OWNERS = tuple(Owner(id=f"owner {number}") for number in range(4))
_WORD = re.compile(r"\bword\d+\b")
#: How long a process lives at most, most of them from when it has let users talk; and how many
#: turns there are.
_LIFE_SECONDS = 1.0
_TALKING = 0.8
_TURNS = 3
#: Short, so that the work of a killed process is soon free again.
_LEASE_SECONDS, _PAUSE_SECONDS = 1.0, 0.02
#: How long a process may take to start or to end, and the last one to finish one more job.
_PATIENCE_SECONDS = 120.0
#: How many kills a control is given.
_CONTROL = 12


class Misformed(Exception):
    """Rules formed a thread, or a message was formed not once but never or twice."""


class Undetected(Exception):
    """The control was not noticed."""


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="who-forms-") as folder:
        killed, formed = _killed(Path(folder) / "book.db", count, seed, careful=True)
        try:
            _killed(Path(folder) / "control.db", _CONTROL, seed, careful=False)
        except Misformed:
            pass
        else:
            raise Undetected(
                "nobody noticed a process that forms by rules whatever the book records"
            )
    shown = ", ".join(f"{number} {kind}" for kind, number in sorted(killed.items()))
    return f"{killed.total()} kills ({shown}), {formed} messages formed once by the model, 0 by rules and none that was forgotten; 1 control noticed"


def _killed(path: Path, kills: int, seed: int, *, careful: bool) -> tuple[Counter[str], int]:
    """Let processes of both kinds live beside each other and be killed; then let one with the model
    finish, and judge.
    """
    rng, killed, words = random.Random(seed), Counter[str](), 0
    with _made():
        asyncio.run(_begun(path))
    while killed.total() < kills:
        living: list[tuple[str, BaseProcess, Event]] = []
        for kind in ("with the model", "without the model"):
            words += _TURNS
            living.append((kind, *_started(path, kind == "with the model", words, careful=careful)))
        for kind, process, ready in rng.sample(living, len(living)):
            if rng.random() < _TALKING:
                ready.wait(_PATIENCE_SECONDS)
            time.sleep(rng.uniform(0.0, _LIFE_SECONDS))
            process.kill()
            process.join(_PATIENCE_SECONDS)
            if process.exitcode != -signal.SIGKILL:
                raise Misformed(f"a process {kind} left with {process.exitcode}")
            killed[kind] += 1
    with _made():
        return killed, asyncio.run(_judged(path))


def _started(path: Path, by_model: bool, words: int, *, careful: bool) -> tuple[BaseProcess, Event]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["proofs.who_forms"])
    ready = context.Event()
    process = context.Process(
        target=live, args=(path, by_model, words, careful, ready), daemon=True
    )
    process.start()
    return process, ready


# ── the processes ─────────────────────────────────────────────────────────────────────────────────


def _made() -> Any:
    """Open books as users do: each works by itself; but leases and pauses are short, and nobody
    waits for a silence.
    """
    vars(book_setup)["start_working"] = STARTS
    os.environ |= {"MEMORANDA_FORMING_IDLE_SECONDS": "0", "MEMORANDA_EMBEDDING_USE": "none"}
    made: Any = Worker.__init__
    made.__kwdefaults__["lease"] = _LEASE_SECONDS
    looks: Any = Worker.run
    looks.__defaults__ = (_PAUSE_SECONDS, 1)
    return without_syncs(rewriting=False)


def live(path: Path, by_model: bool, words: int, careful: bool, ready: Event) -> None:
    """Open the book as an application does, let users talk, and stay open until killed."""
    logging.disable(logging.CRITICAL)
    with _made():
        if careful:
            asyncio.run(_live(path, by_model, words, ready))
            return

        async def nothing(*_: object, **__: object) -> tuple[()]:
            return ()

        with patch.multiple(WhoForms, check=nothing, claim=nothing, left=nothing):
            asyncio.run(_live(path, by_model, words, ready))


async def _live(path: Path, by_model: bool, words: int, ready: Event) -> None:
    async with memoranda.open(
        path, models=ScriptedModels(said) if by_model else None, embed=StubEmbedder()
    ) as book:
        for place in range(words - _TURNS, words):
            await _talk(book, place)
        ready.set()
        # One of the turns is forgotten, perhaps while it is being formed.
        await asyncio.sleep(_LIFE_SECONDS * (words % 7) / 14)
        thread = await book.thread(_owner(words - 1), agent="guide", name=f"talk {words - 1}")
        await book.forget(_owner(words - 1), thread.id, as_owner=True)
        await asyncio.Event().wait()


async def _talk(book: Book, place: int) -> None:
    thread = await book.thread(_owner(place), agent="guide", name=f"talk {place}")
    await thread.append("user", SAID.format(place=place))


def _owner(place: int) -> Owner:
    return _OWNERS[place % len(_OWNERS)]


def said(request: ModelRequest) -> Said:
    """Return one note for each new turn; rules would say it in other words."""
    new = [
        (name, line)
        for name, (label, line) in entries(request).items()
        if name.startswith("m") and "context" not in label and _WORD.search(line)
    ]
    return {
        "notes": [
            {"content": f"The model read {_WORD.findall(line)[0]}", "sources": [{"message": name}]}
            for name, line in new
        ]
    }


# ── the end ───────────────────────────────────────────────────────────────────────────────────────


async def _begun(path: Path) -> None:
    """Make a book that the model has formed once, which records it."""
    async with memoranda.open(path, models=ScriptedModels(said), worker=False) as book:
        await book.jobs.form_with()


async def _judged(path: Path) -> int:
    """Let one process with the model finish, and compare what was said with what was formed."""
    async with memoranda.open(path, models=ScriptedModels(said), embed=StubEmbedder()) as book:
        fewest, until = 1_001, 0.0
        while left := [job for job in await book.engine.jobs(None, 1_000) if job.kind == "form"]:
            if dead := [job for job in left if job.state.value == "dead"]:
                raise Misformed(f"a thread was given up: {dead[0].error}")
            if len(left) < fewest:
                fewest, until = len(left), time.monotonic() + _PATIENCE_SECONDS
            if time.monotonic() > until:
                raise Misformed(f"{len(left)} threads are not formed, among them {left[0]}")
            await asyncio.sleep(_PAUSE_SECONDS)
        if await book.jobs.who_forms() != "scripted:scripted":
            raise Misformed(f"the book records {await book.jobs.who_forms()!r}")
        wanted, found = Counter[str](), Counter[str]()
        for owner in _OWNERS:
            for message in await all_records(book, owner, RecordType.MESSAGE):
                assert isinstance(message, Message)
                wanted.update(_WORD.findall(message.content)[:1])
            for memory in await all_records(book, owner, RecordType.MEMORY):
                assert isinstance(memory, Memory)
                if not memory.content.startswith("The model read"):
                    raise Misformed(f"rules formed {memory.content!r}")
                found.update(_WORD.findall(memory.content))
        if found != wanted:
            raise Misformed(
                f"{len(found - wanted)} messages were formed twice, {len(wanted - found)} not at all"
            )
        if faults := (await book.admin.verify(whole=True)).faults:
            raise Misformed(f"the ledger does not hold: {faults[0]}")
        return wanted.total()
