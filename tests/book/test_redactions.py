"""Words that were taken out of a message: gone from every file, and never brought back."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from uuid import UUID

import memoranda
from memoranda import Owner
from memoranda.assembly import open_engine
from memoranda.book.admin.backup_files import restore
from memoranda.model.ledger import Actor, ErasureReceipt, Target
from memoranda.model.records import WHOLE
from memoranda.model.redactions import Redaction
from memoranda.model.values import Span, utc_now

ANA = Owner(id="ana")
SAID = "Good morning. I keep a blue canary. I like tea."
WORDS = "I keep a blue canary. "


async def take_out(book: memoranda.Book, message: UUID, *, backups: bool = False) -> ErasureReceipt:
    start = SAID.index(WORDS)
    spans = (Span(start=start, end=start + len(WORDS)),)
    target = Target(ANA, WHOLE, Actor("owner", "ana"), redactions=(Redaction(message, spans, 1),))
    return await book.admin.backups.forget(target, backups=backups)


def found(folder: Path, text: str = "canary") -> set[str]:
    """Return the names of the files that contain a text; no book in them may be open."""
    return {path.name for path in folder.iterdir() if text.encode() in path.read_bytes()}


async def test_no_file_holds_words_that_were_taken_out(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        thread = await book.thread("ana", agent="coach")
        said = await thread.append("user", SAID)
        await book.admin.backup(tmp_path / "kept.db")
        await book.admin.backup(tmp_path / "rewritten.db")
        receipt = await take_out(book, said.id)
        assert {Path(path).name for path in receipt.still_in} == {"kept.db", "rewritten.db"}
    assert found(tmp_path) == {"kept.db", "rewritten.db"}
    async with memoranda.open(tmp_path / "book.db") as book:
        (message,) = (await book.records.list("ana", types="message", as_owner=True)).records
        assert message.passage_text() == SAID.replace(WORDS, "")


async def test_backups_are_rewritten_without_the_words(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        said = await (await book.thread("ana", agent="coach")).append("user", SAID)
        await book.admin.backup(tmp_path / "copy.db")
        receipt = await take_out(book, said.id, backups=True)
        assert receipt.still_in == ()
    assert found(tmp_path) == set()


async def test_a_restored_backup_lacks_the_words(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        thread = await book.thread("ana", agent="coach")
        said = await thread.append("user", SAID)
        await book.admin.backup(tmp_path / "copy.db")
        await take_out(book, said.id)
    assert "canary" not in (tmp_path / "copy.db.erasures").read_text("utf-8")
    opened = partial(open_engine, create=False)
    await restore(opened, tmp_path / "copy.db", tmp_path / "restored.db", at=utc_now())
    async with memoranda.open(tmp_path / "restored.db") as book:
        (message,) = (await book.records.list("ana", types="message", as_owner=True)).records
        assert message.passage_text() == SAID.replace(WORDS, "")
        assert (await book.admin.verify()).faults == ()
    assert "restored.db" not in found(tmp_path)


async def test_neither_an_import_nor_the_same_operation_brings_the_words_back(
    tmp_path: Path,
) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        thread = await book.thread("ana", agent="coach")
        said = await thread.append("user", SAID, operation="first")
        lines = [line async for line in book.admin.export("ana")]
        await take_out(book, said.id)
        report = await book.admin.import_(lines)
        assert report.errors == []
        again = await thread.append("user", SAID, operation="first")
        assert again.repeated
        (message,) = (await book.records.list("ana", types="message", as_owner=True)).records
        assert message.passage_text() == SAID.replace(WORDS, "")
    assert found(tmp_path) == set()


async def test_a_memory_that_tells_all_that_is_taken_out_goes_with_it(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "book.db") as book:
        said = await (await book.thread("ana")).append("user", SAID)
        whole = f"Said: {SAID}"
        for content in (whole, "Likes tea", "Keeps a canary"):
            await book.remember("ana", content, sources=[said.id])
        await take_out(book, said.id)
        left = (await book.records.list("ana", types="memory", as_owner=True)).records
        assert {one.passage_text() for one in left} == {"Likes tea"}
    assert found(tmp_path) == set()
