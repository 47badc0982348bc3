"""A book in which a person's data is forgotten part by part, with everything that might keep it or
bring it back.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import memoranda
from memoranda import Book, MemorandaError, assembly
from memoranda.book.admin.backup_files import restore
from memoranda.embedding import VectorMaker
from memoranda.embedding.maker import CachedEmbedder
from memoranda.errors import Erased, NotFound
from memoranda.model import changes as c
from memoranda.model.changes import Job
from memoranda.model.ledger import Actor, ErasureReceipt
from memoranda.model.memories import Memory
from memoranda.model.records import WHOLE, Limits
from memoranda.model.values import new_id
from memoranda.recall.recall import Recall
from memoranda.worker import Worker
from proofs._book.person import FORM, LATER_SECONDS, PARTS, Moving, Part, Person
from proofs._book.redacting import check_left, take_out
from proofs._book.remains import Remains, check_tables
from proofs._book.scanning import Marking, Marks, files_of, found_in

_LIMITS = Limits(content_length=100_000, writes_per_run=1000, memories_per_agent=100_000)


class Case:
    """A folder with a book, its backups and the leftovers of a killed erasure."""

    def __init__(
        self,
        folder: Path,
        rng: random.Random,
        forgetting: AbstractContextManager[object],
        rows: int,
    ) -> None:
        self._folder = folder
        self._rng = rng
        self._rows = rows
        self._forgetting = forgetting
        self._marks = Marks(rng)
        #: Recall reads the first one's vectors; the other one's set is always being made.
        self._embedders = Marking(self._marks, "read"), Marking(self._marks, "being made")
        self._clock = Moving()
        self._path = folder / "book.db"
        self._found = 0

    async def _open(self) -> Book:
        return await memoranda.open(
            self._path, limits=_LIMITS, clock=self._clock, embed=self._embedders[0], worker=False
        )

    async def _embed(self, book: Book) -> None:
        await book.admin.embed()
        await book.engine.begin_set(self._embedders[1].embedding)
        await VectorMaker(book.engine, self._embedders[1]).catch_up()

    async def prove(self) -> int:
        """Forget all four parts; return how many canaries there were before."""
        book, other = await self._open(), await self._open()
        try:
            person = Person(book, self._marks, self._rng, self._clock, self._rows)
            old, recent = self._folder / "old backup.db", self._folder / "recent backup.db"
            await book.admin.backup(self._folder / "first backup.db")
            await person.live()
            await self._embed(book)
            await book.admin.backup(old)
            exports = [await _all(book.admin.export()), await _all(book.admin.export(person.owner))]
            await book.admin.backup(recent)
            twin = await self._twin(recent, person)
            await person.live_on()
            # The leftovers of a killed erasure beside a backup.
            shutil.copyfile(recent, self._folder / f"{recent.name}.rewriting")
            (self._folder / f"{recent.name}.rewriting-wal").write_bytes(recent.read_bytes()[:8192])
            held = await self._lease(book)
            with self._forgetting:
                for part in person.parts.values():
                    await _warm(book, person)
                    await _warm(other, person)
                    await self._forget(book, person, part, old)
                    if part.name == "messages":
                        await self._finish_in_vain(book, held)
                    await self._check(book, other, person, part)
                    # Records made elsewhere in the same era are refused once the era has ended.
                    brought = [*exports, twin] if part.name == "owner" else exports
                    await self._bring_back(book, person, part, brought)
                await self._begin_anew(book, person, [*exports, twin])
        finally:
            await other.close()
            await book.close()
        self._scan(PARTS, "after closing")
        return self._found

    async def _twin(self, backup: Path, person: Person) -> list[str]:
        """Return the export of a copy that was used separately: records of the same era that the
        book never saw.
        """
        folder = Path(tempfile.mkdtemp(prefix="memoranda-twin-"))
        try:
            shutil.copyfile(backup, folder / "twin.db")
            async with memoranda.open(
                folder / "twin.db", limits=_LIMITS, clock=self._clock, embed=None
            ) as twin:
                await twin.remember(person.owner, f"Elsewhere: {self._marks('elsewhere')}")
                return await _all(twin.admin.export(person.owner))
        finally:
            shutil.rmtree(folder)

    # ── forgetting ────────────────────────────────────────────────────────────────────────────────

    async def _forget(self, book: Book, person: Person, part: Part, old: Path) -> None:
        self._look_before(part)
        if part.name in ("memory", "words", "thread"):
            first = await self._ask(book, person, part, backups=False)
            if not first.still_in:
                raise Remains("a receipt does not name the backups that still hold it")
            named = {Path(path).name for path in first.still_in}
            for name, labels in found_in(self._marks, files_of(self._folder)).items():
                if name not in named and any(label.split()[0] == part.name for label in labels):
                    raise Remains(
                        f"{name} still holds {part.name}, and the receipt does not name it"
                    )
            await self._restore(old, person, part)
        receipt = await self._ask(book, person, part, backups=True)
        if receipt.state != "complete" or receipt.still_in:
            raise Remains(
                f"{part.name}: {receipt.state} {receipt.pending_because}, held by {receipt.still_in}"
            )

    async def _ask(
        self, book: Book, person: Person, part: Part, *, backups: bool
    ) -> ErasureReceipt:
        if part.name == "owner":
            return await book.forget(person.owner, everything=True, backups=backups, as_owner=True)
        if part.redactions:
            return await take_out(book, person, part, backups=backups)
        if part.name == "agent":
            return await book.forget(
                person.owner, part.ids, backups=backups, agent=person.agent, groups=[person.group]
            )
        return await book.forget(person.owner, part.ids, backups=backups, as_owner=True)

    def _look_before(self, part: Part) -> None:
        """Run the control: before forgetting, the same scan finds every canary."""
        found = found_in(self._marks, files_of(self._folder))
        labels = {
            label for where in found.values() for label in where if label.split()[0] == part.name
        }
        missing = self._marks.labels(part.name) - labels - NEVER_STORED
        if missing:
            raise AssertionError(f"the scan does not find what is there: {sorted(missing)}")
        if not {"old backup.db", "recent backup.db"} <= found.keys():
            raise AssertionError("the backups hold nothing to be forgotten")
        self._found += len(labels)

    def _scan(self, gone: tuple[str, ...], when: str) -> None:
        for name, labels in found_in(self._marks, files_of(self._folder)).items():
            left = sorted(label for label in labels if label.split()[0] in gone)
            if left:
                raise Remains(f"{when}: {name} holds {left}")

    # ── checks afterwards ─────────────────────────────────────────────────────────────────────────

    async def _check(self, book: Book, other: Book, person: Person, part: Part) -> None:
        gone = tuple(person.parts)[: list(person.parts).index(part.name) + 1]
        self._scan(gone, f"after forgetting {part.name}")
        check_tables(self._path, part)
        await check_left(book, person, part)
        await self._check_indexes(book, other, person, part)
        if faults := (await book.admin.verify(whole=True)).faults:
            raise Remains(f"after forgetting {part.name} verify says: {faults[0]}")
        if part.name != "owner" and not found_in(self._marks, [self._path]):
            raise AssertionError("the whole life went with a part of it")

    async def _check_indexes(self, book: Book, other: Book, person: Person, part: Part) -> None:
        """Check that this book's index has none of it, and that another process's index drops it at
        the next read.
        """
        if isinstance(book.finder, Recall) and book.finder.shelves:
            raise Remains(f"the index of this book outlives {part.name}")
        if self._remembered(book):
            raise Remains(
                f"the embedder of this book remembers vectors of before {part.name} was forgotten"
            )
        question = "zq said water gardens"
        for reader in (book, other):
            # The first read drops what another process forgot; only the next question may be
            # cached.
            await reader.recall(person.owner, question, as_owner=True)
            hits = await reader.recall(person.owner, question, limit=1000, as_owner=True)
            if {hit.id for hit in hits} & {*part.ids, *part.derived}:
                raise Remains(f"recall finds what was forgotten with {part.name}")
            self._check_held(reader, part)
            if self._remembered(reader) > 1:
                raise Remains(
                    f"an embedder remembers more than the last question after {part.name} was forgotten"
                )

    def _remembered(self, book: Book) -> int:
        """Return how many vectors an embedder keeps in memory."""
        maker = book.embeddings.maker
        assert isinstance(maker, VectorMaker) and isinstance(maker.embedder, CachedEmbedder)
        return len(maker.embedder._entries)

    def _check_held(self, reader: Book, part: Part) -> None:
        """Check that an index has as many passages as the book has on the shelf."""
        assert isinstance(reader.finder, Recall)
        connection = sqlite3.connect(self._path)
        for shelf, index in reader.finder.cache._indexes.items():
            count = "SELECT count(*) FROM records AS r JOIN terms AS t ON t.record = r.no WHERE r.shelf = ?"
            there = connection.execute(count, (shelf,)).fetchone()[0]
            living = connection.execute("SELECT 1 FROM shelves WHERE no = ?", (shelf,)).fetchone()
            if living is not None and index.passages != there:
                raise Remains(
                    f"an index holds {index.passages} passages of {there} after forgetting {part.name}"
                )
        connection.close()

    # ── what might bring it back ──────────────────────────────────────────────────────────────────

    async def _lease(self, book: Book) -> Job:
        """Lease the job about messages, as a slow worker has it while they are forgotten."""
        self._clock.skip(LATER_SECONDS)
        job = await book.engine.lease([FORM], "slow", self._clock(), 1e9)
        assert job is not None
        return job

    async def _finish_in_vain(self, book: Book, job: Job) -> None:
        try:
            await _form(book, self._clock, job)
        except (Erased, NotFound):
            pass
        else:
            raise Remains("a job that was under way wrote down what was forgotten")
        if await book.engine.finish(job):
            raise Remains("a job about what was forgotten is still there")

    async def _bring_back(
        self, book: Book, person: Person, part: Part, exports: list[list[str]]
    ) -> None:
        for lines in exports:
            await book.admin.import_(lines)
        for operation, asked in part.operations:
            if not await _refused(self._replay(book, person, part, operation, asked)):
                raise Remains(f"a replay of {part.name} was not refused")
        for again in part.repeats:
            if not (await again()).repeated:
                raise Remains(f"what {part.name} was taken out of was said twice")
        self._clock.skip(2 * LATER_SECONDS)
        for job in await book.engine.jobs(None, 1000):
            if {*part.ids, *part.derived} & {*job.records}:
                await book.engine.replay(job.id, self._clock())
        worker = Worker(book.engine, {FORM: lambda job: _form(book, self._clock, job)}, self._clock)
        await worker.drain(limit=50)
        await self._embed(book)
        await book.engine.scrub()
        gone = tuple(person.parts)[: list(person.parts).index(part.name) + 1]
        self._scan(gone, f"after all that might bring {part.name} back")
        await check_left(book, person, part)
        if faults := (await book.admin.verify(whole=True)).faults:
            raise Remains(f"after all that might bring {part.name} back verify says: {faults[0]}")

    async def _replay(
        self, book: Book, person: Person, part: Part, operation: str, asked: Any
    ) -> object:
        if part.name == "messages":
            return await person.talk.append(asked, operation=operation)
        return await person.remember_again(operation, **asked)

    async def _restore(self, backup: Path, person: Person, part: Part) -> None:
        """Restore a backup that contains the data; check that the notes beside it remove the data
        again.
        """
        if part.name not in {
            label.split()[0] for label in self._marks.found_in(backup.read_bytes())
        }:
            raise AssertionError(f"{backup} holds nothing of {part.name}")
        target = self._folder / "restored.db"
        await restore(
            lambda path: assembly.open_engine(path, create=False), backup, target, at=self._clock()
        )
        labels = {label.split()[0] for label in self._marks.found_in(target.read_bytes())}
        for path in self._folder.glob("restored.db*"):
            path.unlink()
        if part.name in labels:
            raise Remains(f"a restored backup brings {part.name} back")

    async def _begin_anew(self, book: Book, person: Person, exports: list[list[str]]) -> None:
        """Check that the same person can begin again, empty, and that the old export brings
        nothing.
        """
        again = await book.remember(person.owner, "A new day.")
        for lines in exports:
            await book.admin.import_(lines)
        page = await book.records.list(person.owner, limit=1000, as_owner=True)
        if [record.id for record in page.records] != [again.id]:
            raise Remains(f"of the old era {len(page.records) - 1} records came back")
        await book.forget(person.owner, everything=True, as_owner=True, backups=True)


#: Canaries that the book never stores in any spelling: operation ids are kept as keyed digests.
NEVER_STORED = frozenset(f"{part} operation" for part in PARTS)


async def _form(book: Book, clock: Moving, job: Job) -> None:
    """Do a worker's job: remember the job's quote, with the job's records as sources."""
    assert job.owner is not None
    memory = Memory(
        id=new_id(), owner=job.owner, content=job.payload["text"], sources=job.records, observed_at=clock()
    )  # fmt: skip
    await book.door.write(
        job.owner, WHOLE, Actor("system"), [c.Remember(memory)], request=None, era=job.era, operation=f"job {job.id}"
    )  # fmt: skip


async def _warm(book: Book, person: Person) -> None:
    await book.recall(person.owner, "zq said water gardens", limit=50, as_owner=True)
    await book.recall(person.owner, "zq said", limit=50, agent=person.agent, groups=[person.group])


async def _refused(asking: Any) -> bool:
    try:
        await asking
    except (Erased, NotFound):
        return True
    except MemorandaError as error:
        raise Remains(f"a replay was answered with {error}") from error
    return False


async def _all(lines: Any) -> list[str]:
    return [line async for line in lines]
