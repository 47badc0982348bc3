"""The check of a book after a kill: every acknowledged operation is there, and each other one fully
or not at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from memoranda import Book, MemorandaError
from memoranda.door import pack_terms
from memoranda.model.ledger import Entry
from memoranda.model.messages import Episode
from memoranda.model.query import Filter
from memoranda.model.records import PASSAGE_TYPES, WHOLE, Owner, OwnerKind, Record, RecordType
from memoranda.paging import every_record
from memoranda.storage.decide.state import receipt_of
from proofs._kill.operations import AGENT, JOB, OWNERS, Operation, perform
from proofs._kill.writer import opened, spelled

#: The agent that learns from all owners.
HELPER = Owner(kind=OwnerKind.AGENT, id=AGENT)
#: Operations whose records contain the operation's texts.
_MAKING = frozenset({"append", "remember", "add"})


class Broken(Exception):
    """The book is wrong after a kill."""


class Lost(Broken):
    """An acknowledged write is not there."""


class Stored(NamedTuple):
    """Rows of a book's tables that the API does not show."""

    jobs: Sequence[Any]
    links: Sequence[Any]
    terms: Sequence[Any]
    orphans: Sequence[Any]


#: The same on every engine, in the order of ``Stored``.
QUERIES = (
    f"SELECT key FROM jobs WHERE kind = '{JOB}'",  # noqa: S608 - our own word
    "SELECT record, source FROM links WHERE length(part) = 0",
    "SELECT r.id, t.packed FROM terms AS t JOIN records AS r ON r.no = t.record",
    "SELECT record FROM versions WHERE record NOT IN (SELECT no FROM records)",
)


class Reckoning:
    """One book over many kills: the receipts, and the check of the book against them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Operations in the book, with the answers to their callers.
        self._kept: dict[str, tuple[Operation, dict[str, Any]]] = {}
        self.resent = 0
        #: Number of unanswered operations that had been committed.
        self.survived = 0

    @property
    def acknowledged(self) -> int:
        return len(self._kept)

    async def check(
        self, lately: Sequence[tuple[Operation, dict[str, Any] | None]], *, thorough: bool
    ) -> None:
        """Open the book after a kill, compare it with the receipts, and send unanswered operations
        again.
        """
        async with self.open() as book:
            unanswered = [operation for operation, answer in lately if answer is None]
            refused = [
                operation
                for operation, answer in lately
                if answer is not None and "refused" in answer
            ]
            for operation, answer in lately:
                if answer is not None and "told" in answer:
                    self._kept[operation.id] = (operation, answer)
            landed: dict[str, dict[str, Any]] = {}
            for operation in (*unanswered, *refused):
                if receipt := await book.records.operation(
                    operation.owner, operation.id, as_owner=True
                ):
                    landed[operation.id] = spelled(receipt)
            if wrong := [operation for operation in refused if operation.id in landed]:
                raise Broken(f"refused, and in the ledger all the same: {wrong[0]}")
            self.survived += len(landed)
            self._kept |= {op.id: (op, landed[op.id]) for op in unanswered if op.id in landed}
            await self._compare(book, thorough=thorough)
            await asyncio.gather(
                *(self._send_again(book, op, landed.get(op.id)) for op in unanswered)
            )

    async def _compare(self, book: Book, *, thorough: bool) -> None:
        entries = {owner: await _ledger(book, owner) for owner in OWNERS}
        records = {owner: await _records(book, owner) for owner in OWNERS}
        for operation, told in self._kept.values():
            _check_kept(operation, told, entries[operation.owner], records[operation.owner])
        for owner in OWNERS:
            ours = {
                told["position"]
                for operation, told in self._kept.values()
                if operation.owner == owner
            }
            if strangers := entries[owner].keys() - ours:
                raise Broken(
                    f"ledger positions of {owner} that no operation brought: {sorted(strangers)}"
                )
        if len({(op.owner, told["position"]) for op, told in self._kept.values()}) != len(
            self._kept
        ):
            raise Broken("two operations were told of the same ledger position")
        if faults := (await book.engine.verify()).faults:
            raise Broken(f"the ledger says: {faults[0]} ({len(faults)} faults)")
        lines = {
            (str(line.id), line.version)
            for withdrawn in (False, True)
            for line in await _lines(book, withdrawn=withdrawn)
        }
        taught = dict(
            sorted(
                (id, version)
                for _, told in self._kept.values()
                for _, type_, id, version in told["items"]
                if type_ == RecordType.EXPERIENCE
            )
        )
        if lines != set(taught.items()):
            raise Broken("lines and the operations that taught them do not come together")
        all_records = {id: record for found in records.values() for id, record in found.items()}
        self._check_stored(await self.stored(book, thorough), all_records, thorough)

    def open(self) -> AbstractAsyncContextManager[Book]:
        """Open the book."""
        return opened(self.path)

    async def stored(self, book: Book, thorough: bool) -> Stored:
        """Return the content of the tables; raise if they are damaged."""
        with contextlib.closing(
            sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)
        ) as tables:
            if (
                thorough
                and (verdict := tables.execute("PRAGMA integrity_check").fetchone()[0]) != "ok"
            ):
                raise Broken(f"the integrity check says: {verdict}")
            return Stored(*(tables.execute(query).fetchall() for query in QUERIES))

    def _check_stored(self, stored: Stored, records: dict[UUID, Record], thorough: bool) -> None:
        """Check that the tables have no rows that no operation of the ledger wrote."""
        jobs = {key for (key,) in stored.jobs}
        if jobs != {id for id, (operation, _) in self._kept.items() if operation.has_job}:
            raise Broken("jobs and the operations that brought them do not come together")
        links = {(UUID(bytes=a), UUID(bytes=b)) for a, b in stored.links}
        if links != {(id, source) for id, record in records.items() for source in record.links()}:
            raise Broken("links and the records that they are of do not come together")
        terms = {UUID(bytes=id): packed for id, packed in stored.terms}
        if terms.keys() != {id for id, record in records.items() if record.type in PASSAGE_TYPES}:
            raise Broken("terms and the passages that they are of do not come together")
        if stored.orphans:
            raise Broken(f"{len(stored.orphans)} versions of no record")
        if thorough and (
            wrong := [id for id, packed in terms.items() if pack_terms(records[id]) != packed]
        ):
            raise Broken(f"{len(wrong)} passages have other terms than their text")

    async def _send_again(
        self, book: Book, operation: Operation, landed: dict[str, Any] | None
    ) -> None:
        """Send the same request with the same id; check for one result, whether the kill came
        before or after it.
        """
        self.resent += 1
        try:
            receipt = await perform(book, operation)
        except MemorandaError as error:
            if landed or await book.records.operation(operation.owner, operation.id, as_owner=True):
                raise Broken(
                    f"{operation} is in the ledger and refused when sent again: {error}"
                ) from error
            return
        if landed and (landed != spelled(receipt) or not receipt.repeated):
            raise Broken(f"{operation} had landed as {landed}, and sent again gave {receipt}")
        again = await perform(book, operation)
        if spelled(again) != spelled(receipt):
            raise Broken(f"{operation} gave two results: {receipt} and {again}")
        self._kept[operation.id] = (operation, spelled(receipt))


def _check_kept(
    operation: Operation,
    told: dict[str, Any],
    entries: dict[int, Entry],
    records: dict[UUID, Record],
) -> None:
    entry = entries.get(told["position"])
    if entry is None:
        raise Lost(f"acknowledged, and not in the ledger: {operation}")
    own = [item for item in told["items"] if item[1] != RecordType.EXPERIENCE]
    told = {**told, "items": own}
    written = spelled(receipt_of(entry, Owner(id=operation.owner)))
    if any(written[part] != told[part] for part in written):
        raise Lost(f"{operation} was told {told}, and the ledger says {written}")
    texts = []
    for verb, type_, id, version in told["items"]:
        record = records.get(UUID(id))
        if record is None or record.version < version or record.type.value != type_:
            raise Lost(f"{type_} {id}, version {version} of {operation}: there is {record}")
        if (
            verb == "put"
            and record.version == version
            and getattr(record, "value", None) != operation.arguments["value"]
        ):
            raise Lost(f"{operation} stored {record!r}")
        if verb in _MAKING:
            texts.append(
                record.goal if isinstance(record, Episode) else getattr(record, "content", "")
            )
    if texts != operation.texts and not (told["ignored"] and not texts):
        raise Lost(f"{operation} reads {texts}")


async def _lines(book: Book, *, withdrawn: bool) -> list[Record]:
    wanted = Filter(types=frozenset({RecordType.EXPERIENCE}), withdrawn=withdrawn)
    return [one async for one in every_record(book.engine, HELPER, WHOLE, wanted)]


async def _ledger(book: Book, owner: str) -> dict[int, Entry]:
    found: dict[int, Entry] = {}
    while page := await book.records.ledger(owner, as_owner=True, after=len(found), limit=1000):
        found |= {entry.position: entry for entry in page}
    if list(found) != list(range(1, len(found) + 1)):
        raise Broken(f"the ledger of {owner} has gaps")
    return found


async def _records(book: Book, owner: str) -> dict[UUID, Record]:
    found: dict[UUID, Record] = {}
    cursor = None
    while True:
        page = await book.records.list(owner, as_owner=True, cursor=cursor, limit=1000)
        found |= {record.id: record for record in page.records}
        if (cursor := page.cursor) is None:
            break
    # Deleted items are in the tables, too.
    deleted = Filter(types=frozenset({RecordType.ITEM}), withdrawn=True)
    page = await book.engine.scan(Owner(id=owner), WHOLE, deleted, None, 10_000)
    return found | {record.id: record for record in page.records}
