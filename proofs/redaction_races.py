"""Races with the redaction of messages: words that are taken out stay out, whatever reads, writes
or forms at the same time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import memoranda
from memoranda import Book, Owner
from memoranda.assembly import open_engine
from memoranda.book.admin.backup_files import restore
from memoranda.book.nouns.threads import ThreadHandle
from memoranda.errors import Busy, Conflict, Erased, NotFound, Stale
from memoranda.formation import run as formation
from memoranda.model.changes import Hide
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.model.ledger import Actor, Target
from memoranda.model.records import WHOLE
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, utc_now
from memoranda.testing.embedder import StubEmbedder
from memoranda.testing.scripted_models import Said, ScriptedModels, entries
from proofs._book.mutants import rewritten
from proofs._book.opening import without_syncs
from proofs._server.own import OwnServer

ABOUT = (
    "no append, forming, import, backup or vector made while words are taken out brings them back"
)
#: Half of them on a server.
CI_COUNT = 40
FULL_COUNT = 1_000
COVERS = "model storage paging.py door.py engines embedding formation language text book"

#: Races in one book, and those that are run beside one another.
_BOOK, _AT_A_TIME = 10, 5
_LONGEST: Final = 0.03
_CONTROL_RACES = 60
#: How long the model thinks at most, and how long the words wait to be taken out while it does.
_THINKING, _WAITING = 0.2, 1.0
_ACTOR = Actor("owner")
#: What ends the words: they are erased, hidden, hidden and brought back, or hidden and erased.
_WAYS = ("erase", "hide", "undo", "finish")
#: What a race explains: somebody else was faster.
_LOST = (Erased, NotFound, Stale, Conflict, Busy)


class Returned(Exception):
    """Words that were taken out are there, or others are missing."""


def run(count: int, seed: int) -> str:
    logging.disable(logging.CRITICAL)
    rng, tally = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, OwnServer(fsync="off") as server:
        for start in range(0, count, _BOOK):
            on_server, by_model = start // _BOOK % 2 == 1, start // _BOOK % 4 < 2
            address = server.new_book() if on_server else str(Path(folder, f"{start}.db"))
            with nullcontext() if on_server else without_syncs(rewriting=False):
                size = min(_BOOK, count - start)
                tally += asyncio.run(
                    _Races(address, rng, on_server, by_model=by_model).run(start, size)
                )
        with without_syncs(rewriting=False):
            caught = _control(Path(folder), seed)
    return (
        f"{count} races, {tally['server']} of them on a server, nothing returned; {tally['formed']} formings and "
        f"{tally['asked']} questions to a model, {tally['lost']} actions were refused; control caught after {caught} races"
    )


def _control(folder: Path, seed: int) -> int:
    """Let forming expect nothing of the messages that it read; return after how many races that is
    noticed.
    """
    expecting = "versions={**read, "
    with rewritten(formation.FormationRunner._write, expecting, "versions={"):
        for start in range(0, _CONTROL_RACES, _BOOK):
            path, rng = (
                str(folder / f"control {start}.db"),
                random.Random(f"{seed} control {start}"),
            )
            try:
                races = _Races(path, rng, False, ways=("erase",), by_model=True, late=1.0)
                asyncio.run(races.run(start, _BOOK))
            except Returned:
                return start + _BOOK
    raise Returned(
        "forming that expects nothing of what it read brought nothing back: the races are too tame"
    )


class _Slow(ScriptedModels):
    """A model that quotes all that it reads, after a while: often only when the words that it read
    are out.
    """

    def __init__(self, rng: random.Random, races: dict[str, _Race], late: float) -> None:
        super().__init__(_quoting)
        self._rng = rng
        self._races = races
        self._late = late

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer with what was shown, however late it is."""
        for race in [race for secret, race in self._races.items() if secret in request.content]:
            race.asked.set()
            if self._rng.random() < self._late:
                with suppress(TimeoutError):
                    await asyncio.wait_for(race.done.wait(), _WAITING)
        await asyncio.sleep(self._rng.uniform(0, _THINKING))
        return await super().ask(request)


def _quoting(request: ModelRequest) -> Said:
    if request.task == "summary":
        return {"summary": request.content[-400:]}
    new = [
        (name, line)
        for name, (label, line) in entries(request).items()
        if name.startswith("m") and "context" not in label
    ]
    return {
        "notes": [
            {"content": f"Said: {line}", "sources": [{"message": name, "quote": line[:80]}]}
            for name, line in new
        ]
    }


@dataclass
class _Race:
    """One owner's talk, and the words that are taken out of it."""

    owner: Owner
    secret: str
    way: str
    thread: UUID = field(default_factory=lambda: UUID(int=0))
    said: tuple[UUID, ...] = ()
    texts: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    lines: tuple[str, ...] = ()
    #: When the words were out.
    out: float = float("inf")
    #: A model read the words; the words are out.
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def prepare(self, book: Book) -> None:
        """Say some things with the words, and export them."""
        thread = await book.thread(self.owner, name="talk", as_owner=True)
        self.thread = thread.id
        words = f"I live in {self.secret}. "
        self.texts = tuple(f"Good morning. {words}I like tea {number}." for number in range(2))
        self.spans = (Span(start=14, end=14 + len(words)),)
        drafts = [{"role": "user", "content": text, "native": {"raw": text}} for text in self.texts]
        self.said = (await thread.append(drafts, operation="first")).ids()
        self.lines = tuple([line async for line in book.admin.export(self.owner)])

    def redactions(self) -> tuple[Redaction, ...]:
        return tuple(Redaction(id, self.spans, 1) for id in self.said)

    async def take_out(self, book: Book) -> None:
        """Take the words out, in this race's way."""
        if self.way == "erase":
            target = Target(self.owner, WHOLE, _ACTOR, redactions=self.redactions())
            await book.admin.backups.forget(target, backups=False)
            self.out = time.monotonic()
            return
        change = Hide((), self.redactions())
        hid = await book.door.write(self.owner, WHOLE, _ACTOR, [change], request=None)
        if self.way != "undo":
            self.out = time.monotonic()
        if self.way == "undo":
            await book.undo(self.owner, hid.position, with_dependents=True, as_owner=True)
        if self.way == "finish":
            await book.admin.backups.forget(
                Target(self.owner, WHOLE, _ACTOR, hidden=hid.position), backups=False
            )

    async def look(self, book: Book) -> None:
        """Read; what was asked for after the words were out must not show them."""
        began = time.monotonic()
        shown = await self._shown(book)
        if began > self.out and self.secret in shown:
            raise Returned(f"{self.owner.id}, {self.way}: a read shows the words: {shown:.300}")

    async def _shown(self, book: Book) -> str:
        records = (await book.records.list(self.owner, limit=1000, as_owner=True)).records
        hits = await book.recall(self.owner, f"live in {self.secret}", as_owner=True, limit=100)
        context = await book.context(self.owner, "tea", as_owner=True, mark_used=False)
        told = [
            *(one.model_dump_json() for one in records),
            *(hit.text for hit in hits),
            context.text,
        ]
        return " ".join(told)

    async def judge(self, book: Book, when: str) -> None:
        """Check what is there, and that it is all."""
        shown = await self._shown(book)
        messages: list[Any] = [
            await book.records.get(self.owner, id, as_owner=True) for id in self.said
        ]
        whole = self.way == "undo"
        for message, text in zip(messages, self.texts, strict=True):
            left = text if whole else text.replace(f"I live in {self.secret}. ", "")
            if (message.content, message.native) != (left, {"raw": left}):
                raise Returned(
                    f"{when}: {self.owner.id}, {self.way}: a message reads {message!r:.300}"
                )
        if not whole and self.secret in shown:
            raise Returned(
                f"{when}: {self.owner.id}, {self.way}: the words are there: {_around(shown, self.secret)}"
            )
        exported = [line async for line in book.admin.export(self.owner)]
        if self.way in ("erase", "finish") and any(self.secret in line for line in exported):
            raise Returned(f"{when}: {self.owner.id}, {self.way}: an export holds the words")


def _around(text: str, word: str) -> str:
    at = text.index(word)
    return text[max(0, at - 300) : at + 100]


class _Races:
    """Races of some owners in one book, which is opened twice."""

    def __init__(
        self,
        address: str,
        rng: random.Random,
        on_server: bool,
        *,
        ways: tuple[str, ...] = _WAYS,
        by_model: bool = False,
        late: float = 0.5,
    ) -> None:
        self._address = address
        self._rng = rng
        self._on_server = on_server
        self._ways = ways
        self._by_model = by_model
        #: How often the model answers only after the words are out.
        self._late = late
        self._tally: Counter[str] = Counter()
        #: By their words.
        self._races: dict[str, _Race] = {}

    async def run(self, start: int, count: int) -> Counter[str]:
        async with self._opened() as book, self._opened() as other:
            for first in range(start, start + count, _AT_A_TIME):
                numbers = range(first, min(first + _AT_A_TIME, start + count))
                await self._together([self._drawn(number) for number in numbers], book, other)
        self._tally["server"] += count * self._on_server
        return self._tally

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Book]:
        models = _Slow(self._rng, self._races, self._late) if self._by_model else None
        async with memoranda.open(
            self._address, embed=StubEmbedder(), models=models, worker=False
        ) as book:
            yield book
        self._tally["asked"] += len(models.asked) if models else 0

    def _drawn(self, number: int) -> _Race:
        return _Race(
            Owner(id=f"race {number}"),
            f"Zs{self._rng.randrange(10**9)}town",
            self._rng.choice(self._ways),
        )

    async def _together(self, races: list[_Race], book: Book, other: Book) -> None:
        await asyncio.gather(*(race.prepare(book) for race in races))
        await asyncio.gather(
            *(self._delayed(act) for race in races for act in self._actions(race, book, other))
        )
        await self._judge(races, other, "after the race")
        for race in races:
            await other.admin.import_(race.lines)
            thread = ThreadHandle(book._services, race.owner, race.thread, WHOLE, None)
            drafts = [
                {"role": "user", "content": text, "native": {"raw": text}} for text in race.texts
            ]
            if not (await thread.append(drafts, operation="first")).repeated:
                raise Returned(f"{race.owner.id} said the words twice")
            await self._formed(race, other)
        await book.admin.embed()
        await self._judge(races, book, "later")
        if faults := (await book.admin.verify()).faults:
            raise Returned(f"verify says: {faults[0]}")

    async def _judge(self, races: list[_Race], book: Book, when: str) -> None:
        for race in races:
            await race.judge(book, when)

    def _actions(self, race: _Race, book: Book, other: Book) -> list[Any]:
        either = partial(self._rng.choice, (book, other))
        self._races[race.secret] = race
        found: list[Any] = [
            partial(self._take_out, race, book),
            partial(self._formed, race, either()),
        ]
        found += [partial(race.look, either()) for _ in range(2)]
        found += [
            partial(either().admin.import_, race.lines),
            partial(self._append, race, either()),
            other.admin.embed,
        ]
        found += [partial(self._exported, race, either())]
        if not self._on_server and self._rng.random() < 0.2:
            found.append(partial(self._backed_up, race, book))
        return found

    async def _take_out(self, race: _Race, book: Book) -> None:
        """Take the words out, mostly while a model reads them."""
        if self._by_model and self._rng.random() < 0.7:
            with suppress(TimeoutError):
                await asyncio.wait_for(race.asked.wait(), _WAITING)
        try:
            await race.take_out(book)
        except _LOST as error:
            raise Returned(f"{race.owner.id}, {race.way} was refused: {error}") from error
        finally:
            race.done.set()

    async def _delayed(self, act: Any) -> None:
        await asyncio.sleep(0.0 if self._rng.random() < 0.4 else self._rng.uniform(0, _LONGEST))
        try:
            await act()
        except _LOST:
            self._tally["lost"] += 1

    async def _formed(self, race: _Race, book: Book) -> None:
        await ThreadHandle(book._services, race.owner, race.thread, WHOLE, None).form()
        self._tally["formed"] += 1
        await book.worker.drain(limit=5)

    async def _append(self, race: _Race, book: Book) -> None:
        thread = ThreadHandle(book._services, race.owner, race.thread, WHOLE, None)
        await thread.append("user", "I like the garden.")

    async def _exported(self, race: _Race, book: Book) -> None:
        began = time.monotonic()
        lines = [line async for line in book.admin.export(race.owner)]
        if race.way == "erase" and began > race.out and any(race.secret in line for line in lines):
            raise Returned(f"{race.owner.id}: an export that began later holds the words")
        assert json.loads(lines[0])

    async def _backed_up(self, race: _Race, book: Book) -> None:
        """Back up, and restore when the words are gone: the notes beside the copy take them out."""
        copy = Path(f"{self._address}.{race.owner.id}.copy")
        await book.admin.backup(copy)
        if race.way != "erase":
            return
        await race.done.wait()
        restored = copy.with_suffix(".restored")
        await restore(partial(open_engine, create=False), copy, restored, at=utc_now())
        if race.secret.encode() in restored.read_bytes():
            raise Returned(f"{race.owner.id}: a restored backup holds the words")
