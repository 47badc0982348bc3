"""Secrets are hidden from models, masked on the disk, or kept, as the setting says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidInput
from memoranda.integrations.tools import Call, MemoryTools, Scope
from memoranda.model.memories import Memory
from memoranda.model.messages import Message

CARD = "4539 1488 0343 6467"
PASSWORD = "Tr0ub4dor&3"
SAID = f"My card is {CARD} and the wifi password is {PASSWORD}"
SHOWN = "My card is [hidden: card number] and the wifi password is [hidden: password]"
NATIVE = {"role": "user", "content": SAID, "args": {"password": PASSWORD}}


def on_disk(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


async def filled(book: memoranda.Book) -> Any:
    thread = await book.thread("ana", agent="guide", name="talk")
    await thread.append("user", SAID, native=NATIVE)
    await thread.append("assistant", "Noted, your card and wifi are safe.")
    await book.remember("ana", f"Wifi password: {PASSWORD}", key="wifi", agent="guide")
    return thread


async def test_recall_contexts_windows_and_tools_show_masks_by_default(
    book: memoranda.Book,
) -> None:
    thread = await filled(book)
    hits = await book.recall("ana", "card and wifi password", agent="guide")
    texts = [hit.text for hit in hits] + [
        one.record.passage_text() for hit in hits for one in hit.folded
    ]
    assert SHOWN in texts and "wifi: Wifi password: [hidden: password]" in texts
    context = await book.context("ana", "card and wifi password", thread=thread, agent="guide")
    window = await thread.window(1000)
    scope = Scope(owner="ana", agent="guide")
    tools = MemoryTools(book, scope)
    told = [
        await tools.recall(),
        await tools.search("wifi"),
        await tools.read_turns(Call("r", "c", thread), 1, 2),
    ]
    for text in (
        context.text,
        *(message.content for message in window.messages),
        *told,
        repr(hits),
    ):
        assert PASSWORD not in text and CARD not in text
    assert "[hidden: password]" in context.text and "[hidden: card number]" in told[2]


async def test_records_read_by_id_lists_native_forms_and_exports_stay_whole(
    book: memoranda.Book,
) -> None:
    thread = await filled(book)
    (first, _) = (await thread.messages()).records
    assert isinstance(first, Message) and first.content == SAID
    read = await book.records.get("ana", first.id, agent="guide")
    assert isinstance(read, Message) and read.content == SAID
    assert (await thread.window(1000)).messages[0].native == NATIVE
    (memory,) = (await book.records.list("ana", types="memory", agent="guide")).records
    assert isinstance(memory, Memory) and PASSWORD in memory.content
    assert any(PASSWORD in line for line in [line async for line in book.admin.export()])


async def test_an_old_book_is_covered_when_it_is_read(tmp_path: Path) -> None:
    async with memoranda.open(
        tmp_path / "book.db", secrets="keep", worker=False, embed=None
    ) as book:
        await filled(book)
        assert PASSWORD in (await book.recall("ana", "wifi", agent="guide"))[0].text
    async with memoranda.open(tmp_path / "book.db", worker=False, embed=None) as book:
        assert book.secrets == "hide"
        assert all(
            PASSWORD not in hit.text for hit in await book.recall("ana", "wifi", agent="guide")
        )


async def test_with_mask_a_secret_never_reaches_the_disk(tmp_path: Path) -> None:
    async with memoranda.open(
        tmp_path / "book.db", secrets="mask", worker=False, embed=None
    ) as book:
        thread = await filled(book)
        calls = [
            {
                "tool": "login",
                "inputs": {"user": "ana", "password": PASSWORD},
                "output": f"card {CARD}",
            }
        ]
        await book.episodes.record(
            "ana",
            goal=f"Log in with password {PASSWORD}",
            tool_calls=calls,
            outcome="succeeded",
            agent="guide",
        )
        await book.profiles.patch(
            "ana", {"home": "Rome", "occupation": f"password: {PASSWORD}"}, agent="guide"
        )
        await thread.set(title=f"Password is {PASSWORD}", state={"password": PASSWORD})
        await thread.close(result={"card": CARD}, episode={"goal": f"pay by card {CARD}"})
        (first, _) = (await thread.messages()).records
        assert isinstance(first, Message) and first.content == SHOWN
        assert first.native == {
            **NATIVE,
            "content": SHOWN,
            "args": {"password": "[hidden: password]"},
        }
        whole = "\n".join([line async for line in book.admin.export()])
    assert PASSWORD not in whole and CARD not in whole
    for held in on_disk(tmp_path):
        assert PASSWORD.encode() not in held and CARD.encode() not in held


async def test_with_mask_a_request_repeated_under_its_operation_is_the_same_request(
    tmp_path: Path,
) -> None:
    async with memoranda.open(
        tmp_path / "book.db", secrets="mask", worker=False, embed=None
    ) as book:
        first = await book.remember(
            "ana", f"Wifi password: {PASSWORD}", agent="guide", operation="one"
        )
        again = await book.remember(
            "ana", f"Wifi password: {PASSWORD}", agent="guide", operation="one"
        )
        assert again.repeated and again.items[0].id == first.items[0].id


async def test_with_mask_an_import_brings_masks_instead_of_secrets(tmp_path: Path) -> None:
    async with memoranda.open(tmp_path / "whole.db", worker=False, embed=None) as book:
        await filled(book)
        lines = [line async for line in book.admin.export()]
    folder = tmp_path / "masked"
    folder.mkdir()
    async with memoranda.open(folder / "book.db", secrets="mask", worker=False, embed=None) as book:
        report = await book.admin.import_(lines)
        assert not report.errors and report.records["message"] == 2 and report.adopted == 0
    assert all(PASSWORD.encode() not in held for held in on_disk(folder))


async def test_with_keep_everything_is_shown_as_it_was_said(tmp_path: Path) -> None:
    async with memoranda.open(
        tmp_path / "book.db", secrets="keep", worker=False, embed=None
    ) as book:
        thread = await filled(book)
        assert (await thread.window(1000)).messages[0].content == SAID
        assert PASSWORD in (await book.context("ana", "wifi password", agent="guide")).text


async def test_the_mode_is_a_setting_that_the_call_of_open_comes_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "memoranda.toml"
    settings.write_text('[secrets]\nmode = "mask"\n', "utf-8")
    async with memoranda.open("memory://", config=settings) as book:
        assert book.secrets == "mask"
    async with memoranda.open("memory://", config=settings, secrets="keep") as book:
        assert book.secrets == "keep"
    monkeypatch.setenv("MEMORANDA_SECRETS_MODE", "keep")
    async with memoranda.open("memory://") as book:
        assert book.secrets == "keep"
    with pytest.raises(InvalidInput, match="secrets: 'blank' is not one of hide, mask, keep"):
        await memoranda.open("memory://", secrets="blank")  # type: ignore[arg-type]


async def test_a_window_with_masks_stays_within_its_budget(book: memoranda.Book) -> None:
    thread = await book.thread("ana", agent="guide")
    for place in range(40):
        await thread.append("user", f"PIN is 482{place % 10}")
    window = await thread.window(200)
    assert window.tokens <= 200
    counted = await thread.window(200, count=len)
    assert sum(len(message.content) + 4 for message in counted.messages) == counted.tokens <= 200


async def test_items_are_masked_for_models_whole_for_programs_and_never_stored_with_mask(
    tmp_path: Path,
) -> None:
    value = {"note": f"My card is {CARD}", "wifi": {"password": PASSWORD}}
    for mode in ("hide", "mask"):
        path = tmp_path / f"{mode}.db"
        async with memoranda.open(path, embed=None, worker=False, secrets=mode) as book:
            await book.items.put("ana", ["notes"], "card", value)
            await book.items.put("ana", ["notes"], "password", PASSWORD)
            (hit,) = await book.recall("ana", "my card note", types="item")
            assert CARD not in str(hit.record) and "[hidden: card number]" in str(hit.record)
            (found,) = await book.items.search("ana", "my card note")
            read = await book.items.get("ana", ["notes"], "card")
            assert read is not None and found.record == read
            assert (read.value == value) is (mode == "hide")
            masked = [line async for line in book.admin.export("ana", masked=True)]
            assert not any(CARD in line or PASSWORD in line for line in masked)
    written = b"".join(one.read_bytes() for one in tmp_path.glob("mask.db*"))
    assert CARD.encode() not in written and PASSWORD.encode() not in written
