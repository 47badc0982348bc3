"""Tests of the audit of reads: what is noted, when it is stored, and what it never holds."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

import memoranda
from memoranda import Book, InvalidInput, NotFound
from memoranda.access import read_audit
from memoranda.access.guard import Guard
from memoranda.access.key_check import FRESH_SECONDS, USES_SECONDS, KeyCheck
from memoranda.access.principal import Principal, local_admin
from memoranda.access.read_audit import MOST_WAITING, ReadAudit
from memoranda.errors import StorageError
from memoranda.model.records import Owner
from memoranda.model.service_records import SELF, ReadNote
from memoranda.model.values import new_id
from memoranda.operations import Role
from memoranda.testing.clock import HandClock

ANN, BEN = Owner(id="ann"), Owner(id="ben")
WEB = Principal(
    "web", "default", Role.EDITOR, owners=frozenset({"ann", "ben"}), person="ann", key=new_id()
)


async def told(book: Book, owner: str | None = None) -> list[tuple[str, str, str]]:
    return [
        (line.principal, line.verb, line.surface) for line in (await book.admin.reads(owner)).lines
    ]


async def test_the_guard_notes_who_asked_what_about_whom_and_by_which_surface(book: Book) -> None:
    await book.remember("ann", "likes tea")
    audit = ReadAudit(book)
    guard = Guard(book, WEB, "mcp", audit)
    await guard.call("recall", owner="ann", query="What does she drink?")
    await guard.call("records.list", owner="ben")
    await guard.call("remember", owner="ann", content="likes cake")
    with pytest.raises(NotFound):
        await guard.call("records.list", owner="carl")
    await audit.flush()
    assert await told(book, "ann") == [("web", "recall", "mcp")]
    assert await told(book, "ben") == [("web", "records.list", "mcp")]
    assert len(await told(book)) == 2


async def test_no_content_and_no_owner_is_stored(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book, ReadAudit(book) as audit:
        guard = Guard(book, local_admin("default"), "rest", audit)
        await guard.call("recall", owner="annabella", query="xylophones")
        await audit.flush()
        (line,) = (await book.admin.reads()).lines
        assert "annabella" not in repr(line)
        assert len(line.owner) >= 32
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"local" in stored
    assert b"annabella" not in stored
    assert b"xylophones" not in stored


async def test_the_same_read_within_a_batch_is_one_line(book: Book) -> None:
    audit = ReadAudit(book)
    for _ in range(2):
        for _ in range(5):
            audit.note(WEB, "recall", ANN, "rest")
        audit.note(WEB, "recall", None, "rest")
        await audit.flush()
    assert await told(book) == [("web", "recall", "rest")] * 4
    assert len(await told(book, "ann")) == 2
    # What is about the whole tenant has no owner's digest.
    assert sum(line.owner == "" for line in (await book.admin.reads()).lines) == 2


async def test_a_person_who_reads_their_own_with_a_token_is_not_named(book: Book) -> None:
    audit = ReadAudit(book)
    ann = Principal("ann", "default", Role.EDITOR, owners=frozenset({"ann", "ben"}), person="ann")
    audit.note(ann, "recall", ANN, "rest")
    audit.note(ann, "recall", BEN, "rest")
    await audit.flush()
    assert await told(book, "ann") == [(SELF, "recall", "rest")]
    assert await told(book, "ben") == [("ann", "recall", "rest")]


async def test_a_whole_erasure_leaves_its_own_line_and_the_lines_before_it(book: Book) -> None:
    audit = ReadAudit(book)
    guard = Guard(book, local_admin("default"), "rest", audit)
    await book.remember("ann", "likes tea")
    await guard.call("records.list", owner="ann")
    await guard.call("forget", owner="ann", everything=True, as_owner=True, dry_run=True)
    await audit.flush()
    assert [verb for _, verb, _ in await told(book, "ann")] == ["records.list"]
    await guard.call("forget", owner="ann", everything=True, as_owner=True)
    await audit.flush()
    assert [verb for _, verb, _ in await told(book, "ann")] == ["records.list", "forget everything"]


async def test_lines_are_stored_by_themselves_and_when_the_service_ends(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_audit, "BATCH_SECONDS", 0.0)
    stored = asyncio.Event()
    note_reads = book.engine.note_reads

    async def noting(lines: list[ReadNote]) -> None:
        await note_reads(lines)
        stored.set()

    monkeypatch.setattr(book.engine, "note_reads", noting)
    async with ReadAudit(book) as audit:
        audit.note(WEB, "recall", ANN, "rest")
        await stored.wait()
        assert len(await told(book)) == 1
        monkeypatch.setattr(read_audit, "BATCH_SECONDS", 3600.0)
        audit.note(WEB, "records.list", ANN, "rest")
    assert [verb for _, verb, _ in await told(book)] == ["recall", "records.list"]


def test_a_batch_and_its_storing_take_less_than_a_second() -> None:
    assert read_audit.BATCH_SECONDS <= 0.5


async def test_lines_wait_while_the_book_takes_no_writes(
    book: Book, caplog: pytest.LogCaptureFixture
) -> None:
    audit = ReadAudit(book)
    audit.note(WEB, "recall", ANN, "rest")
    with patch.object(book.engine, "note_reads", side_effect=StorageError("the disk is away")):
        await audit.flush()
        audit.note(WEB, "records.list", ANN, "rest")
        await audit.flush()
        assert "are stored later" in caplog.text
        await audit.close()
        assert "2 lines about reads were lost" in caplog.text
    await audit.flush()
    assert [verb for _, verb, _ in await told(book)] == ["recall", "records.list"]


async def test_what_waits_is_bounded_and_what_is_given_up_is_counted(book: Book) -> None:
    audit = ReadAudit(book)
    for n in range(MOST_WAITING + 3):
        audit.note(WEB, f"verb {n}", ANN, "rest")
    assert audit.lost == 3


async def test_lines_are_deleted_after_their_days(book: Book, clock: HandClock) -> None:
    audit = ReadAudit(book, days=30)
    audit.note(WEB, "recall", ANN, "rest")
    await audit.flush()
    clock.advance(days=29)
    audit.note(WEB, "records.list", ANN, "rest")
    await audit.flush()
    assert await audit.drop_old() == 0
    clock.advance(days=2)
    assert await audit.drop_old() == 1
    assert await told(book) == [("web", "records.list", "rest")]
    assert await ReadAudit(book, days=0).drop_old() == 0


async def test_a_service_that_starts_deletes_the_lines_past_their_days(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.get_running_loop().create_future()

    async def dropping(tenant: str, before: datetime) -> int:
        asked.set_result((tenant, book.door.clock() - before))
        return 0

    monkeypatch.setattr(book.engine, "drop_reads", dropping)
    async with ReadAudit(book, days=30):
        tenant, ago = await asked
    assert (tenant, ago.days) == ("default", 30)


async def test_lines_are_listed_since_a_moment_and_page_by_page(
    book: Book, clock: HandClock
) -> None:
    audit = ReadAudit(book)
    for n in range(5):
        audit.note(WEB, f"verb {n}", ANN, "rest")
        clock.advance(hours=1)
    await audit.flush()
    first = await book.admin.reads("ann", limit=2)
    rest = await book.admin.reads("ann", limit=10, cursor=first.cursor)
    assert [line.verb for line in (*first.lines, *rest.lines)] == [f"verb {n}" for n in range(5)]
    late = await book.admin.reads(since=first.lines[1].at + timedelta(minutes=30))
    assert [line.verb for line in late.lines] == ["verb 2", "verb 3", "verb 4"]
    with pytest.raises(InvalidInput, match="since"):
        await book.admin.reads(since="yesterday")  # type: ignore[arg-type]


_KILLED = """
import asyncio, sys, memoranda
from memoranda.access.principal import local_admin
from memoranda.access.read_audit import ReadAudit
from memoranda.model.service_records import ReadNote
from memoranda.model.records import Owner
from memoranda.model.values import new_id

async def main():
    async with memoranda.open(sys.argv[1], worker=False, embed=None) as book, ReadAudit(book) as audit:
        store = book.engine.note_reads
        async def storing(lines):
            await store(lines)
            # The lines of the next batch are noted, and are not stored when the process dies.
            audit.note(local_admin("default"), "the last", Owner(id="ann"), "rest")
            print("stored", flush=True)
        book.engine.note_reads = storing
        for n in range(100):
            audit.note(local_admin("default"), f"verb {n}", Owner(id="ann"), "rest")
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="it needs SIGKILL")
def test_a_kill_loses_the_last_batch_and_nothing_before(tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stored\n"
        process.send_signal(signal.SIGKILL)
    with memoranda.open_sync(path, worker=False) as book:
        verbs = [line.verb for line in book.admin.reads(limit=1000).lines]
    assert verbs[:100] == [f"verb {n}" for n in range(100)]


async def test_the_last_use_of_a_key_is_stored_once_in_a_minute_and_at_the_end(
    book: Book, clock: HandClock
) -> None:
    new = await book.keys.create("web", role="viewer")
    seconds = [0.0]
    async with KeyCheck(book, lambda: seconds[0]) as check:
        assert await book.keys.uses() == {}
        with patch.object(book.engine, "note_key_uses", wraps=book.engine.note_key_uses) as noted:
            for _ in range(5):
                assert await check.principal_of(new.secret) is not None
                seconds[0] += FRESH_SECONDS
            assert noted.call_count == 1
            seconds[0] += USES_SECONDS
            assert await check.principal_of(new.secret) is not None
            assert noted.call_count == 2
        clock.advance(hours=1)
        last = clock.now
        assert await check.principal_of(new.secret) is not None
    assert (await book.keys.uses())[new.key.id] > last


async def test_a_key_opens_while_its_use_cannot_be_stored(
    book: Book, caplog: pytest.LogCaptureFixture
) -> None:
    new = await book.keys.create("web", role="viewer")
    seconds = [0.0]
    check = KeyCheck(book, lambda: seconds[0])
    with patch.object(book.engine, "note_key_uses", side_effect=StorageError("the disk is full")):
        for _ in range(3):
            assert await check.principal_of(new.secret) is not None
            seconds[0] += USES_SECONDS
    assert "are stored later" in caplog.text
    await check.store_uses()
    assert new.key.id in await book.keys.uses()
