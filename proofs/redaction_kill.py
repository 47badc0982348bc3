"""Kills while words are taken out of messages, hidden, or erased after that: whole or not at all,
at every statement.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import tempfile
from contextlib import AbstractAsyncContextManager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, get_args
from unittest.mock import patch
from uuid import UUID

import memoranda
from memoranda import Book, Owner
from memoranda.assembly import engine_addresses
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.errors import MemorandaError
from memoranda.model.changes import Change, Hide, Remember
from memoranda.model.ledger import Actor, Target
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import SummariseThread
from memoranda.model.records import EVERYONE, WHOLE, RecordType
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, new_id, utc_now
from proofs._book.opening import without_syncs

ABOUT = "a process killed at any statement of a redaction leaves all of it or none, and the next one ends it"
CI_COUNT = 20
FULL_COUNT = 200
COVERS = "model storage paging.py door.py engines/sqlite book/admin"

Way = Literal["erase", "hide", "finish", "erase with backups"]

_ANA = Owner(id="ana")
_ACTOR = Actor("owner", "ana")
_WORDS = "I keep a zqcanary at home. "
_BEFORE, _AFTER = "Good morning. ", "I like tea."
_PATIENCE_SECONDS = 120.0
#: More statements than any of the ways has.
_NEVER = 100_000

_fork = multiprocessing.get_context("fork")


class Halved(Exception):
    """Part of a redaction is there, or words came back."""


class Judged(Halved):
    """The same, as a look at the book shows."""


def run(count: int, seed: int) -> str:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="redaction-kill-") as folder, without_syncs():
        trial = _Trial(Path(folder), rng)
        steps = {way: trial.counted(way) for way in get_args(Way)}
        landed = 0
        for number in range(count):
            way: Way = get_args(Way)[number % len(steps)]
            # Every statement in turn where there are enough kills, spread over all of them where
            # there are fewer.
            turns = max(1, count // len(steps))
            step = 1 + (number // len(steps)) * steps[way] // turns % steps[way]
            landed += trial.killed(way, step)
        trial.control()
    if count >= len(steps) and not 0 < landed < count:
        raise Halved(
            f"{landed} of {count} had been committed: the kills do not strike around the commit"
        )
    told = ", ".join(f"{way} {most}" for way, most in steps.items())
    return f"{count} kills at statements of {told}; {landed} after the commit, 0 in part; control caught"


class _Trial:
    def __init__(self, folder: Path, rng: random.Random) -> None:
        self._folder = folder
        self._rng = rng
        self._made = 0
        self._original = folder / "original"
        self._original.mkdir()
        self.position = 0
        self.messages = asyncio.run(self._live())

    async def _live(self) -> tuple[UUID, ...]:
        """Make the book that every kill begins with; each hiding that is to be finished is done in
        a copy.
        """
        async with _opened(self._original / "book.db") as book:
            thread = await book.thread(_ANA, name="talk", as_owner=True)
            said = [f"{_BEFORE}{_WORDS}{_AFTER}", f"{_AFTER} {_WORDS}{_BEFORE}"]
            ids = (
                await thread.append(
                    [{"role": "user", "content": text, "native": [text]} for text in said]
                )
            ).ids()
            quote = (Cited(message=ids[0], quote=_WORDS.strip()),)
            memory = Memory(
                id=new_id(), owner=_ANA, content="Has a zqcanary", sources=ids[:1], quotes=quote, observed_at=utc_now()
            )  # fmt: skip
            # It quotes the same sentences for another fact, and stays without the quote.
            whole = (Cited(message=ids[0], quote=said[0]),)
            tea = memory.changed(id=new_id(), content="Likes tea", quotes=whole)
            changes: list[Change] = [
                Remember(memory, audience=EVERYONE),
                Remember(tea, audience=EVERYONE),
                SummariseThread(thread.id, "Has a zqcanary.", 2),
            ]
            await book.door.write(_ANA, WHOLE, _ACTOR, changes, request=None)
            await book.remember(_ANA, "The neighbour stays.", as_owner=True)
            await book.admin.backup(self._original / "copy.db")
        return ids

    def counted(self, way: Way) -> int:
        """Return the number of statements of a way."""
        return self._fate(way, _NEVER)[1]

    def killed(self, way: Way, step: int, *, split: bool = False) -> bool:
        """Kill a process at a statement, judge the book, and end what was begun; True if it had
        been committed.
        """
        folder, _ = self._fate(way, step, split=split)
        try:
            return asyncio.run(self._judge(folder, way))
        finally:
            shutil.rmtree(folder)

    def control(self) -> None:
        """Check that a build that commits halfway is noticed."""
        for step in range(self.counted("erase") // 2, 1, -1):
            try:
                self.killed("erase", step, split=True)
            except (Judged, MemorandaError):
                return
        raise Halved("a build that commits half of it left nothing in part")

    def _fate(self, way: Way, step: int, *, split: bool = False) -> tuple[Path, int]:
        self._made += 1
        folder = self._folder / f"killed-{self._made}"
        ours, theirs = _fork.Pipe(duplex=False)
        shutil.copytree(self._original, folder)
        process = _fork.Process(
            target=_work, args=(theirs, folder, way, self.messages, step, split), daemon=True
        )
        process.start()
        theirs.close()
        process.join(_PATIENCE_SECONDS)
        if process.exitcode not in (0, -signal.SIGKILL):
            process.kill()
            raise Halved(f"{way}: the process ended with status {process.exitcode}")
        seen = 0
        while ours.poll():
            try:
                seen = ours.recv()
            except EOFError:
                break
        ours.close()
        return folder, seen

    async def _judge(self, folder: Path, way: Way) -> bool:
        async with _opened(folder / "book.db") as book:
            done = await self._check(book, folder, way)
            # What was begun is ended, or done again, by the next call.
            if way == "hide" and not done:
                await _carry_out(book, folder, "hide", self.messages)
            if way != "hide":
                await self._end(book, folder, way)
            await self._check_gone(book)
            if faults := (await book.admin.verify(whole=True)).faults:
                raise Judged(f"{way}: {faults[0]}")
        if way != "hide":
            backups = set() if way == "erase with backups" else {"copy.db"}
            for path in folder.rglob("*"):
                if path.is_file() and path.name not in backups and b"zqcanary" in path.read_bytes():
                    raise Judged(f"{way}: after all {path.name} holds the words")
        return done

    async def _end(self, book: Book, folder: Path, way: Way) -> None:
        target = Target(_ANA, WHOLE, _ACTOR, redactions=_redactions(self.messages, None))
        if way == "finish":
            target = Target(_ANA, WHOLE, _ACTOR, hidden=await _position(book))
        await book.admin.backups.forget(target, backups=way == "erase with backups")
        await book.admin.scrub()
        if way == "erase with backups":
            # A killed rewriting is finished by the worker that gets its job.
            await book.admin.backups.forget(target, backups=True)

    async def _check(self, book: Book, folder: Path, way: Way) -> bool:
        """Check that all or nothing was done; return which."""
        records = await _records(book)
        texts = [one.content for one in records if one.type is RecordType.MESSAGE]
        hits = await book.recall(_ANA, "zqcanary", mode="words", as_owner=True, limit=50)
        shown = " ".join([*(one.model_dump_json() for one in records), *(hit.text for hit in hits)])
        whole = sorted(f"{_BEFORE}{_WORDS}{_AFTER}|{_AFTER} {_WORDS}{_BEFORE}".split("|"))
        left = sorted(text.replace(_WORDS, "") for text in whole)
        told = shown.count("zqcanary")
        began = way == "finish"
        if sorted(texts) not in ([left] if began else [whole, left]):
            raise Judged(f"{way}: messages read {texts}")
        done = sorted(texts) == left
        if done != (told == 0) or (done and len(records) != 5) or (not done and len(records) != 6):
            raise Judged(f"{way}: {told} words are told by {len(records)} records")
        if began:
            entries = await book.records.ledger(_ANA, as_owner=True, limit=1000)
            done = any("redacted" in entry.note for entry in entries)
        kept = self._versions(folder)
        if began and kept and done:
            raise Judged(f"{way}: {kept} earlier versions hold the words after the commit")
        return done

    def _versions(self, folder: Path) -> int:
        connection = sqlite3.connect(folder / "book.db")
        try:
            held = "SELECT count(*) FROM versions WHERE instr(body, 'zqcanary')"
            return int(connection.execute(held).fetchone()[0])
        finally:
            connection.close()

    async def _check_gone(self, book: Book) -> None:
        records = await _records(book)
        shown = " ".join(one.model_dump_json() for one in records)
        tea = [
            one.quotes
            for one in records
            if one.type is RecordType.MEMORY and one.content == "Likes tea"
        ]
        if [[(one.message, one.quote) for one in quotes] for quotes in tea] != [
            [(self.messages[0], "")]
        ]:
            raise Judged(f"the memory of the other fact has the quotes {tea}")
        if "zqcanary" in shown or "The neighbour stays." not in shown:
            raise Judged(f"after all the book reads {shown:.500}")


async def _records(book: Book) -> list[Any]:
    return list((await book.records.list(_ANA, as_owner=True, limit=100)).records)


def _opened(path: Path) -> AbstractAsyncContextManager[Book]:
    return memoranda.open(path, embed=None, worker=False)


def _redactions(messages: tuple[UUID, ...], version: int | None = 1) -> tuple[Redaction, ...]:
    starts = (len(_BEFORE), len(_AFTER) + 1)
    return tuple(
        Redaction(id, (Span(start=start, end=start + len(_WORDS)), Span(start=start, end=start + len(_WORDS), path="/0")), version)
        for id, start in zip(messages, starts, strict=True)
    )  # fmt: skip


async def _position(book: Book) -> int:
    entries = await book.records.ledger(_ANA, as_owner=True, limit=1000)
    return next(entry.position for entry in entries if "hidden" in entry.note)


async def _carry_out(book: Book, folder: Path, way: Way, messages: tuple[UUID, ...]) -> None:
    if way == "hide":
        change = Hide((), _redactions(messages))
        await book.door.write(_ANA, WHOLE, _ACTOR, [change], request=None)
        return
    target = Target(_ANA, WHOLE, _ACTOR, redactions=_redactions(messages))
    if way == "finish":
        target = Target(_ANA, WHOLE, _ACTOR, hidden=await _position(book))
    await book.admin.backups.forget(target, backups=way == "erase with backups")


# ── the process that is killed ────────────────────────────────────────────────────────────────────


def _work(
    told: Connection, folder: Path, way: Way, messages: tuple[UUID, ...], step: int, split: bool
) -> None:
    asyncio.run(_redact(told, folder, way, messages, _Doom(step, told, split)))


async def _redact(
    told: Connection, folder: Path, way: Way, messages: tuple[UUID, ...], doom: _Doom
) -> None:
    if way == "finish":
        async with _opened(folder / "book.db") as book:
            await _carry_out(book, folder, "hide", messages)

    async def open_engine(
        address: Any, *, create: bool = True, read_only: bool = False
    ) -> SqliteEngine:
        return await SqliteEngine.open(
            Path(address),
            create=create,
            read_only=read_only,
            synchronous="OFF",
            connect=doom.connect,
        )

    with patch.object(engine_addresses, "_open_engine", open_engine):
        async with _opened(folder / "book.db") as book:
            doom.begins = True
            await _carry_out(book, folder, way, messages)
            doom.begins = False
    told.send(doom.seen)
    os._exit(0)


class _Doom:
    """Kills this process before its n-th statement that writes, begins or ends a write."""

    def __init__(self, step: int, told: Connection, split: bool) -> None:
        self._step = step
        #: The control: what was written so far is committed first.
        self.split = split
        self.begins = False
        self.seen = 0

    def connect(self, database: str, **options: Any) -> sqlite3.Connection:
        """Open a connection; one that writes is watched."""
        doom = self

        class Doomed(sqlite3.Connection):
            def execute(self, statement: str, parameters: Any = (), /) -> sqlite3.Cursor:
                if doom.is_due(statement):
                    if doom.split and self.in_transaction:
                        super().execute("COMMIT")
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().execute(statement, parameters)

        if "mode=rw" in database:
            options["factory"] = Doomed
        made: sqlite3.Connection = sqlite3.connect(database, **options)
        return made

    def is_due(self, statement: str) -> bool:
        """Count a statement; True if this is the one to die at."""
        if not self.begins or statement.startswith(("SELECT", "WITH")):
            return False
        self.seen += 1
        return self.seen >= self._step
