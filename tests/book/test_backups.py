"""Backups: proven copies, reached by forgetting, restored without what was erased since."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Busy, Corrupt, InvalidInput, Owner, StorageError
from memoranda.assembly import open_engine
from memoranda.assembly.job_handlers import upkeep
from memoranda.book.admin.backup_files import Backups, Restored, restore
from memoranda.book.admin.erasure_notes import read_notes
from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda.model.ledger import Actor, Target
from memoranda.model.records import WHOLE
from memoranda.model.values import utc_now
from memoranda.storage import store
from memoranda.storage.use_cases.erasure import erase
from memoranda.worker import Worker

opened = partial(open_engine, create=False)


def found(folder: Path, text: str) -> set[str]:
    """The files that hold a text; scanned while no book in them is open."""
    return {path.name for path in folder.iterdir() if text.encode() in path.read_bytes()}


async def test_a_backup_is_proven_and_opens_as_a_book(book: memoranda.Book, tmp_path: Path) -> None:
    told = await book.remember("ana", "Plays the cello", agent="coach")
    findings = await book.admin.backup(tmp_path / "copy.db")
    assert (findings.records, findings.faults) == (1, ())
    async with memoranda.open(tmp_path / "copy.db") as copy:
        assert (await copy.records.get("ana", told.id, agent="coach")).id == told.id
    with pytest.raises(InvalidInput, match="target"):
        await book.admin.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db.erasures").read_text().count("\n") == 1


async def test_a_backup_that_was_cancelled_is_known_to_forgetting(
    book: memoranda.Book, tmp_path: Path
) -> None:
    told = await book.remember("ana", "Has a blue canary", agent="coach")

    def progress(done: int, total: int) -> None:
        making.cancel()

    making = asyncio.ensure_future(book.admin.backup(tmp_path / "copy.db", progress))
    await asyncio.wait([making])
    receipt = await book.forget("ana", told.id, agent="coach")
    assert [Path(path).name for path in receipt.still_in] == ["copy.db"]
    assert read_notes(tmp_path / "copy.db").erasures.records == (told.id,)


async def test_forgetting_names_backups_and_on_request_reaches_them(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = await book.remember("ana", "Has a blue canary", agent="coach")
        kept = await book.remember("ana", "Plays the cello", agent="coach")
        await book.admin.backup(tmp_path / "one.db")
        await book.admin.backup(tmp_path / "two.db")
        named = await book.forget("ana", told.id, agent="coach")
        assert {Path(path).name for path in named.still_in} == {"one.db", "two.db"}
    assert found(tmp_path, "canary") == {"one.db", "two.db"}
    async with memoranda.open(tmp_path / "book.db") as book:
        again = await book.remember("ana", "Has a blue canary, still", agent="coach")
        await book.admin.backup(tmp_path / "three.db")
        receipt = await book.forget("ana", again.id, agent="coach", backups=True)
        assert receipt.still_in == ()
    assert "three.db" not in found(tmp_path, "canary")
    async with memoranda.open(tmp_path / "three.db") as copy:
        assert (await copy.records.get("ana", kept.id, agent="coach")).id == kept.id


async def test_what_rests_on_it_in_another_agents_shelf_goes_from_the_backup_too(
    tmp_path: Path,
) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        thread = await book.thread("ana", agent="coach", audience="global")
        said = await thread.append("user", "I have a blue canary")
        await book.remember("ana", "Has a blue canary", agent="tutor", sources=[said.id])
        await book.admin.backup(tmp_path / "copy.db")
        receipt = await book.forget("ana", said.id, agent="coach", backups=True)
        assert receipt.still_in == ()
        # The receipt tells the coach nothing of what the tutor concluded.
        assert "memory" not in receipt.removed
        assert await book.records.count("ana", as_owner=True, types="memory") == 0
    assert found(tmp_path, "canary") == set()


async def test_forgetting_in_parallel_reaches_every_backup(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = [
            await book.remember("ana", f"Has canary {number}", agent="coach") for number in range(6)
        ]
        await book.admin.backup(tmp_path / "copy.db")
        receipts = await asyncio.gather(
            *(book.forget("ana", memory.id, agent="coach", backups=True) for memory in told)
        )
        assert all(receipt.still_in == () for receipt in receipts)
    assert found(tmp_path, "canary") == set()
    assert set(read_notes(tmp_path / "copy.db").erasures.records) == {memory.id for memory in told}


async def test_a_restored_backup_lacks_what_was_erased_since(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = await book.remember("ana", "Has a blue canary", agent="coach")
        kept = await book.remember("ana", "Plays the cello", agent="coach")
        await book.remember("ben", "Has a red canary", agent="coach")
        await book.admin.backup(tmp_path / "copy.db")
        await book.forget("ana", told.id, agent="coach")
        await book.forget("ben", everything=True, as_owner=True)
    done = await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())
    assert done == Restored(2, "")
    assert "restored.db" not in found(tmp_path, "canary")
    async with memoranda.open(tmp_path / "restored.db") as restored:
        assert (await restored.records.get("ana", kept.id, agent="coach")).id == kept.id
        assert [owner.id for owner in await restored.admin.owners()] == ["ana"]
    with pytest.raises(InvalidInput, match="target"):
        await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())


async def test_a_restore_that_is_interrupted_leaves_no_book_and_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        ids = [
            (await book.remember(who, "Has a blue canary", agent="coach")).id
            for who in ("ana", "ben")
        ]
        await book.admin.backup(tmp_path / "copy.db")
        for who, id in zip(("ana", "ben"), ids, strict=True):
            await book.forget(who, id, agent="coach")
    erased: list[str] = []

    def interrupted(target: Target, *rest: object) -> object:
        erased.append(target.owner.id)
        if len(erased) == 2:
            raise StorageError("no more")
        return erase(target, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "erase", interrupted)
    with pytest.raises(StorageError, match="no more"):
        await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())
    assert (erased, list(tmp_path.glob("restored*"))) == (["ana", "ben"], [])
    monkeypatch.undo()
    assert (
        await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())
    ).removed == 2
    assert "restored.db" not in found(tmp_path, "canary")


async def test_a_torn_note_neither_stops_a_restore_nor_swallows_the_next(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = await book.remember("ana", "Has a blue canary", agent="coach")
        await book.admin.backup(tmp_path / "copy.db")
        with (tmp_path / "copy.db.erasures").open("ab") as notes:
            notes.write(b'{"records": ["01')
        await book.forget("ana", told.id, agent="coach")
    assert read_notes(tmp_path / "copy.db").erasures.records == (told.id,)
    assert (
        await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())
    ).removed == 1


async def test_a_note_that_cannot_be_written_waits_with_the_erasure_done(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = await book.remember("ana", "Has a blue canary", agent="coach")
        await book.admin.backup(tmp_path / "copy.db")
        (tmp_path / "copy.db.erasures").unlink()
        (tmp_path / "copy.db.erasures").mkdir()
        receipt = await book.forget("ana", told.id, agent="coach")
        assert receipt.state == "complete"
        assert len(receipt.still_in) == 1
        (waiting,) = await book.engine.jobs(None, 10)
        assert waiting.kind == "note"
        assert str(told.id) in waiting.payload["records"]


async def test_a_book_in_use_is_no_backup_to_restore(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        await book.remember("ana", "Plays the cello", agent="coach")
        with pytest.raises(InvalidInput, match="in use"):
            await restore(opened, tmp_path / "book.db", tmp_path / "restored.db", at=utc_now())


async def test_a_note_that_a_crash_left_undone_is_done_by_the_worker(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = await book.remember("ana", "Has a blue canary", agent="coach")
        await book.admin.backup(tmp_path / "copy.db")
        # As far as the commit, and no further.
        await book.engine.erase(
            Target(Owner(id="ana"), WHOLE, Actor("owner"), (told.id,)), utc_now()
        )
        assert read_notes(tmp_path / "copy.db").erasures.records == ()
        await book.worker.drain()
    assert read_notes(tmp_path / "copy.db").erasures.records == (told.id,)


async def test_forgetting_and_restoring_open_nothing_to_others(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        async with memoranda.open(tmp_path / "book.db") as book:
            secret = await book.remember("ana", "the secret", agent="helper")
            await book.remember("ana", "the rest", agent="helper")
            await book.admin.backup(tmp_path / "copy.db")
            await book.forget("ana", secret.id, as_owner=True, backups=True)
        await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())
    finally:
        os.umask(umask)
    modes = {
        path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir() if path.is_file()
    }
    assert {name for name, mode in modes.items() if mode} == set()
    assert {"copy.db", "restored.db", "copy.db.erasures"} <= modes.keys()


async def test_a_book_stays_where_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    async with memoranda.open("book.db") as book:
        told = await book.remember("ana", "the secret", agent="helper")
        await book.admin.backup(Path("copy.db"))
        monkeypatch.chdir(tmp_path / "elsewhere")
        receipt = await book.forget("ana", told.id, as_owner=True, backups=True)
    assert (receipt.state, receipt.still_in) == ("complete", ())
    assert (
        b"the secret"
        not in (tmp_path / "book.db").read_bytes() + (tmp_path / "copy.db").read_bytes()
    )


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
async def test_a_backup_has_no_name_that_sqlite_removes(tmp_path: Path, suffix: str) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        await book.remember("ana", "likes tea", agent="helper")
        with pytest.raises(InvalidInput, match=r"another one|is there already"):
            await book.admin.backup(tmp_path / f"book.db{suffix}")
        with pytest.raises(InvalidInput, match="another one"):
            await book.admin.backup(tmp_path / f"other.db{suffix}")


async def test_a_copy_that_could_not_be_proven_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unproven(self: Backups, copy: Path) -> None:
        raise StorageError("it does not hold what its ledger says")

    monkeypatch.setattr(Backups, "prove", unproven)
    async with memoranda.open(tmp_path / "book.db") as book:
        await book.remember("ana", "likes tea", agent="helper")
        (tmp_path / "copy.db2").write_text("another file")
        with pytest.raises(StorageError):
            await book.admin.backup(tmp_path / "copy.db")
    assert sorted(path.name for path in tmp_path.glob("copy*")) == ["copy.db2"]


@pytest.mark.parametrize(
    "damage",
    [
        """UPDATE records SET body = replace(body, '"assistant"', '"assistanu"') WHERE type = 'memory'""",
        "UPDATE records SET body = '[' WHERE type = 'memory'",
        "UPDATE ledger SET body = '{\"l\":7}'",
    ],
)
async def test_what_cannot_be_read_is_told_as_damage(tmp_path: Path, damage: str) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        told = await book.remember("ana", "likes tea", agent="helper")
    with closing(sqlite3.connect(tmp_path / "book.db")) as connection:
        connection.execute(damage)
        connection.commit()
    async with memoranda.open(tmp_path / "book.db") as book:
        with pytest.raises(Corrupt, match="restore a backup"):
            await book.records.history("ana", told.id, agent="helper")
        assert (await book.forget("ana", everything=True, as_owner=True)).state == "complete"
        assert (await book.admin.verify(whole=True)).faults == ()


async def test_what_fails_after_forgetting_is_left_to_do_and_not_raised(
    book: memoranda.Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = await book.remember("ana", "Has a blue canary", agent="coach")
    await book.admin.backup(tmp_path / "copy.db")

    async def busy(*_: object) -> None:
        raise Busy("the book is held by another process")

    with monkeypatch.context() as patch:
        patch.setattr(book.engine, "lease", busy)
        patch.setattr(book.engine, "known_backups", busy)
        receipt = await book.forget("ana", told.id, agent="coach", backups=True)
    assert (receipt.ids, receipt.left_to_do.count("held by another process")) == ((told.id,), 2)
    again = await book.forget("ana", told.id, agent="coach", backups=True)
    assert (again.repeated, again.still_in, again.left_to_do) == ((told.id,), (), "")
    assert found(tmp_path, "canary") == set()


#: Forgets with the backups, and is killed while it rewrites one.
_KILLED = """
import asyncio, os, signal, sys
import memoranda
from memoranda.book.admin import backup_files

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with memoranda.open(sys.argv[1], embed=None) as book:
        backup_files._swap = die
        await book.forget("ana", sys.argv[2], agent="coach", backups=True)

asyncio.run(main())
"""


async def test_a_worker_clears_what_a_killed_rewriting_left_and_not_what_a_living_one_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "book.db"
    async with memoranda.open(path, embed=None) as book:
        told = await book.remember("ana", "Has a blue canary", agent="coach")
        await book.admin.backup(tmp_path / "copy.db")
        left = tmp_path / "copy.db.rewriting"
        killed = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", _KILLED, str(path), str(told.id)],
            check=False,
            timeout=60,
        )
        assert (killed.returncode, left.exists()) == (-signal.SIGKILL, True)
        (job,) = [job for job in await book.engine.jobs(None, 10) if job.kind == "rewrite"]
        later = utc_now() + timedelta(minutes=2)
        worker = Worker(book.engine, upkeep(book.engine, lambda: later), lambda: later)
        with (tmp_path / "copy.db.lock").open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            await worker.drain()
        assert left.exists()
        later += timedelta(minutes=2)
        await worker.drain()
        assert not left.exists()
        assert [one.kind for one in await book.engine.jobs(None, 10)] == []
        await book.forget("ana", told.id, agent="coach", backups=True)
        assert [one.kind for one in await book.engine.jobs(None, 10)] == []
    assert job.state == "leased"
    assert found(tmp_path, "canary") == set()


async def test_the_notes_beside_a_backup_are_not_written_through_a_link(
    book: memoranda.Book, tmp_path: Path
) -> None:
    told = await book.remember("ana", "Has a blue canary", agent="coach")
    for name in ("one.db", "two.db"):
        await book.admin.backup(tmp_path / name)
    other = tmp_path / "diary.txt"
    other.write_text("dear diary")
    notes = tmp_path / "one.db.erasures"
    notes.unlink()
    notes.symlink_to(other)
    receipt = await book.forget("ana", told.id, agent="coach")
    assert other.read_text() == "dear diary"
    assert "notes beside the backups" in receipt.left_to_do
    assert read_notes(tmp_path / "two.db").erasures.records == (told.id,)


@pytest.mark.parametrize("how", ["fails", "is cancelled"])
async def test_a_backup_that_ends_before_its_proof_leaves_no_file(
    book: memoranda.Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    await book.remember("ana", "Has a blue canary", agent="coach")
    before = {path.name for path in tmp_path.iterdir()}
    beside: list[set[str]] = []
    reached = asyncio.Event()

    async def prove(_: Backups, copy: Path) -> None:
        beside.append({path.name for path in tmp_path.iterdir()} - before)
        reached.set()
        if how == "fails":
            raise Busy("the book is held by another process")
        await asyncio.Event().wait()

    monkeypatch.setattr(Backups, "prove", prove)
    making = asyncio.ensure_future(book.admin.backup(tmp_path / "copy.db"))
    await reached.wait()
    making.cancel()
    with pytest.raises((Busy, asyncio.CancelledError)):
        await making
    assert "copy.db" not in beside[0]
    assert {path.name for path in tmp_path.iterdir()} == before


async def test_a_backup_is_whole_although_its_last_note_fails(
    book: memoranda.Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = await book.remember("ana", "Has a blue canary", agent="coach")
    engine = book.engine
    assert isinstance(engine, SqliteEngine)
    write = engine.write

    async def busy(*given: Any, **how: Any) -> object:
        if (tmp_path / "copy.db").exists():
            raise Busy("the book is held by another process")
        return await write(*given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "write", busy)
        assert (await book.admin.backup(tmp_path / "copy.db")).faults == ()
    receipt = await book.forget("ana", told.id, agent="coach", backups=True)
    assert receipt.still_in == ()
    assert found(tmp_path, "canary") == set()


async def test_profiles_threads_and_further_calls_lose_in_backups_what_they_lost_in_the_book(
    tmp_path: Path,
) -> None:
    """Backups of three moments: before the value was changed, as it was forgotten, and after."""
    limits = memoranda.Limits(tool_calls=1)
    calls = [
        {"tool": "look", "inputs": {}, "output": "nothing"},
        {"tool": "book", "inputs": {"doctor": "Quillfeather"}, "output": "booked"},
    ]
    path = tmp_path / "book.db"
    async with memoranda.open(path, embed=None, worker=False, limits=limits) as book:
        doctor = await book.remember("ana", "Her doctor is Quillfeather", key="doctor", agent="a")
        for moment in ("before", "then"):
            liked = ["chess", "visits to Quillfeather", "tea"][moment == "then" :]
            await book.profiles.patch("ana", {"liked": liked, "city": moment}, agent="a")
            thread = await book.thread("ana", name="chat", agent="a")
            await thread.set(title=f"Her doctor is Quillfeather ({moment})", tags=[moment])
            await book.episodes.record(
                "ana", goal=moment, outcome="succeeded", tool_calls=calls, agent="a"
            )
            await book.admin.backup(tmp_path / f"{moment}.db")
            await book.admin.backup(tmp_path / f"{moment}-rewritten.db")
        await book.profiles.patch("ana", {"city": "after"}, agent="a")
        hidden = await book.forgetting.hide("ana", ids=[doctor.id], as_owner=True)
        await book.admin.backup(tmp_path / "hidden.db")
        await book.forgetting.finish("ana", hidden.receipt, as_owner=True)
        plan = await book.forget("ana", doctor.id, as_owner=True, backups=True)
        assert plan.state == "complete"
        assert await book.profiles.get("ana", agent="a") == {"liked": ["tea"], "city": "after"}
    assert not {"book.db", "before-rewritten.db", "then-rewritten.db"} & found(
        tmp_path, "Quillfeather"
    )
    for moment, left in (
        # The list was another one then, so it goes whole.
        ("before", {"city": "before"}),
        ("then", {"city": "then"}),
        ("hidden", {"liked": ["tea"], "city": "after"}),
    ):
        await restore(opened, tmp_path / f"{moment}.db", tmp_path / "restored.db", at=utc_now())
        assert "restored.db" not in found(tmp_path, "Quillfeather")
        async with memoranda.open(tmp_path / "restored.db", embed=None, worker=False) as restored:
            assert await restored.profiles.get("ana", agent="a") == left
            (kept,) = (await restored.records.list("ana", types="thread", as_owner=True)).records
            assert "Quillfeather" not in repr(kept)
            assert (await restored.admin.verify(whole=True)).faults == ()
        (tmp_path / "restored.db").unlink()
