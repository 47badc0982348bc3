"""Power cuts: every acknowledged write is there afterwards, whatever unsynced writes are lost."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import random
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

import memoranda
from memoranda import Book, MemorandaError, Receipt, ThreadHandle
from memoranda.assembly import engine_addresses
from memoranda.book.admin.erasure_notes import read_notes
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory
from memoranda.model.records import Record
from proofs._powercut.acknowledge import Acknowledgements
from proofs._powercut.build import CannotRecord
from proofs._powercut.drive import Lost, Missing, Outcome, judge, record

ABOUT = "after a power cut the book opens, is intact and contains every acknowledged write"
CI_COUNT = 600
FULL_COUNT = 5000
COVERS = "model storage door.py engines/sqlite"

#: Of the images, the share that each control is given.
_CONTROL_SHARE = 0.1
_LYING_SYNCS = 0.5

_OWNERS = ("ana", "bo")
_ROUNDS = 24
_BOOK = "book.db"
_BACKUP = "backup.db"


def run(count: int, seed: int) -> str:
    try:
        events = record("proofs.power_cut:workload", ["FULL", str(seed)])
    except CannotRecord as reason:
        if os.environ.get("CI") == "true":
            raise
        return f"skipped: {reason}"
    check = Check()
    outcome = judge(events, check, count, seed, keep=True)
    if outcome.losses:
        raise Lost(f"{len(outcome.losses)} of {count} images; " + "\n".join(outcome.losses[:5]))
    fewer = max(60, int(count * _CONTROL_SHARE))
    lying = judge(events, check, fewer, seed, lying_syncs=_LYING_SYNCS)
    off = judge(record("proofs.power_cut:workload", ["OFF", str(seed)]), check, fewer, seed)
    return (
        f"{outcome.images} images, {outcome.struck} with unsynced writes, 0 lost; "
        f"controls: no syncs {_caught(off)}, lying syncs {_caught(lying)}"
    )


def _caught(control: Outcome) -> str:
    if not control.missing:
        raise Lost(
            f"a control lost no write in {control.images} images: this proof would not notice a loss"
        )
    broken = len(control.losses) - control.missing
    return f"lose writes in {control.missing} and break {broken} of {control.images}"


# ── what is recorded ──────────────────────────────────────────────────────────────────────────────


def workload(folder: Path, synchronous: str, seed: str) -> None:
    """Use a book as an application does, and mark each write that returned."""

    async def opened(
        address: Path, *, create: bool = True, read_only: bool = False
    ) -> SqliteEngine:
        return await SqliteEngine.open(
            address, create=create, read_only=read_only, synchronous=synchronous
        )

    with patch.object(engine_addresses, "_open_engine", opened):
        asyncio.run(_Day(folder, random.Random(seed)).live())


class _Day:
    """Rounds of concurrent writes, so that they share commits, with erasures and reopenings between
    them.
    """

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self._folder = folder
        self._rng = rng
        self._said = Acknowledgements(folder)
        self._written = 0
        #: What may still be forgotten: id → the word that only this record holds.
        self._words: dict[str, dict[UUID, str]] = {owner: {} for owner in _OWNERS}

    async def live(self) -> None:
        done = 0
        for rounds in (1, 2, 7, _ROUNDS - 10):
            async with memoranda.open(self._folder / _BOOK) as book:
                threads = [await book.thread(owner, agent="helper") for owner in _OWNERS * 2]
                for number in range(done, done + rounds):
                    await self._round(book, threads, number)
            done += rounds

    async def _round(self, book: Book, threads: list[ThreadHandle], number: int) -> None:
        appends = [self._append(thread) for thread in threads for _ in range(2)]
        await asyncio.gather(*appends, *(self._remember(book, owner) for owner in _OWNERS))
        if number % 6 == 4:
            await self._forget(book, self._rng.choice(_OWNERS), backups=number > _ROUNDS // 2)
        if number == _ROUNDS // 3:
            await book.admin.backup(self._folder / _BACKUP)
            self._said.mark("backed-up")

    async def _append(self, thread: ThreadHandle) -> None:
        words = [self._word() for _ in range(self._rng.randint(1, 3))]
        receipt = await thread.append(
            [{"role": "user", "content": self._text(word)} for word in words]
        )
        self._acknowledge(thread.owner.id, receipt, words)

    async def _remember(self, book: Book, owner: str) -> None:
        """Write a statement; about half of them supersede an earlier one."""
        key = self._rng.choice((None, "drink", "town", None))
        word = self._word()
        receipt = await book.remember(owner, self._text(word, 120), key=key, agent="helper")
        self._acknowledge(owner, receipt, [word])

    async def _forget(self, book: Book, owner: str, *, backups: bool) -> None:
        ids = self._rng.sample(sorted(self._words[owner]), 2)
        words = [self._words[owner].pop(id) for id in ids]
        self._said.mark(f"forgetting {' '.join(map(str, ids))}")
        receipt = await book.forget(owner, ids, backups=backups, agent="helper")
        if receipt.state != "complete":
            raise Lost(
                f"an erasure that nothing stands in the way of is {receipt.state}: {receipt.pending_because}"
            )
        self._said.mark(f"forgotten {' '.join(map(str, ids))}")
        self._said.mark(f"{'cleared' if backups else 'unreadable'} {' '.join(words)}")

    def _acknowledge(self, owner: str, receipt: Receipt, words: list[str]) -> None:
        made = [item.id for item in receipt.items if item.verb in (Verb.APPEND, Verb.REMEMBER)]
        losers = [item.id for item in receipt.items if item.verb is Verb.SUPERSEDE]
        for id, word in zip(made, words, strict=True):
            self._said.mark(f"stored {id} {word}")
            # A winner stays: without it the loser would hold again.
            if not losers:
                self._words[owner][id] = word
        for id in losers:
            self._said.mark(f"superseded {id}")

    def _word(self) -> str:
        self._written += 1
        return f"zq{self._written:05}qz"

    def _text(self, word: str, most: int = 300) -> str:
        rest = " ".join(f"w{self._rng.randrange(3000)}" for _ in range(self._rng.randrange(most)))
        return f"{word} {rest}"


# ── what has to be there ──────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Said:
    """The promises of the marks before a cut."""

    #: Id → the word in it.
    stored: dict[str, str] = field(default_factory=dict)
    superseded: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    #: What was forgotten since the backup was made, so that a restore has to know of it.
    noted: set[str] = field(default_factory=set)
    #: Words that are in no file but backups; and that are in no file at all.
    unreadable: set[str] = field(default_factory=set)
    cleared: set[str] = field(default_factory=set)
    backed_up: bool = False

    @classmethod
    def of(cls, marks: tuple[str, ...]) -> _Said:
        said = cls()
        for mark in marks:
            match mark.split():
                case ["stored", id, word]:
                    said.stored[id] = word
                case ["superseded", id]:
                    said.superseded.add(id)
                case ["forgetting", *ids]:
                    # From here on these records may be there or not.
                    for id in ids:
                        said.stored.pop(id, None)
                        said.superseded.discard(id)
                case ["forgotten", *ids]:
                    said.forgotten.update(ids)
                    if said.backed_up:
                        said.noted.update(ids)
                case ["unreadable", *words]:
                    said.unreadable.update(words)
                case ["cleared", *words]:
                    said.cleared.update(words)
                case ["backed-up"]:
                    said.backed_up = True
                case other:
                    raise ValueError(f"no such mark: {other}")
        return said


class Check:
    """A check that judges one image after another."""

    def __init__(self) -> None:
        #: Digests of backups that were opened and proved: most images hold the same one.
        self._proved: set[bytes] = set()

    def __call__(self, folder: Path, marks: tuple[str, ...]) -> None:
        said = _Said.of(marks)
        _scan(folder, said)
        try:
            asyncio.run(_check_book(folder / _BOOK, said))
            if said.backed_up:
                self._check_backup(folder / _BACKUP, said)
        except (MemorandaError, sqlite3.Error) as error:
            raise Lost(f"it does not open: {error}") from error

    def _check_backup(self, backup: Path, said: _Said) -> None:
        try:
            noted = {str(id) for id in read_notes(backup).erasures.records}
        except ValueError as error:
            raise Lost(f"what was forgotten since the backup cannot be read: {error}") from error
        if unknown := said.noted - noted:
            raise Missing(f"a restore would bring back what was forgotten: {sorted(unknown)}")
        state = hashlib.sha256()
        for path in (backup, backup.with_name(f"{backup.name}-wal")):
            state.update(path.read_bytes() if path.exists() else b"no such file")
        if state.digest() not in self._proved:
            asyncio.run(_check_whole(backup))
            self._proved.add(state.digest())


def _scan(folder: Path, said: _Said) -> None:
    """Search the bytes of every file for forgotten data."""
    for path in folder.iterdir():
        gone = said.cleared if path.name.startswith(_BACKUP) else said.cleared | said.unreadable
        content = path.read_bytes()
        if found := [word for word in sorted(gone) if word.encode() in content]:
            raise Lost(f"forgotten, and still among the bytes of {path.name}: {', '.join(found)}")


async def _check_book(path: Path, said: _Said) -> None:
    records = await _check_whole(path)
    if missing := [id for id, word in said.stored.items() if word not in _text_of(records.get(id))]:
        raise Missing(
            f"acknowledged and not there: {len(missing)} of {len(said.stored)}, first {missing[0]}"
        )
    if current := [id for id in said.superseded if not _is_superseded(records[id])]:
        raise Missing(f"superseded, and not so there: {current}")
    if back := said.forgotten & records.keys():
        raise Lost(f"forgotten and there again: {sorted(back)}")


async def _check_whole(path: Path) -> dict[str, Record]:
    """Check that the book opens and that SQLite and the ledger find no error; return its records by
    id.
    """
    found: dict[str, Record] = {}
    async with memoranda.open(path) as book:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if verdict != "ok":
            raise Lost(f"the integrity check of {path.name} says: {verdict}")
        if faults := (await book.engine.verify()).faults:
            raise Lost(f"{path.name} is not as its ledger says: {faults[0]}")
        for owner in _OWNERS:
            cursor = None
            while True:
                page = await book.records.list(owner, as_owner=True, cursor=cursor, limit=500)
                found |= {str(record.id): record for record in page.records}
                if (cursor := page.cursor) is None:
                    break
    return found


def _text_of(record: Record | None) -> str:
    return "" if record is None else getattr(record, "content", "")


def _is_superseded(record: Record) -> bool:
    return isinstance(record, Memory) and record.superseded_by is not None
