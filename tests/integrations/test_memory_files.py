"""The files of Anthropic's memory tool are items: its commands, with its texts, and what the book
adds to them.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

import memoranda
from memoranda.errors import InvalidInput, StorageError
from memoranda.integrations.memory_files import MemoryFiles, Scope

WRITER = Scope("ada", "writer")


def files(book: memoranda.Book, scope: Scope = WRITER) -> MemoryFiles:
    return MemoryFiles(book, scope)


async def do(
    book: memoranda.Book,
    command: str,
    *,
    scope: Scope = WRITER,
    operation: str | None = None,
    **given: Any,
) -> str:
    return await files(book, scope).run({"command": command, **given}, operation=operation)


async def create(book: memoranda.Book, path: str, text: str = "text", **more: Any) -> str:
    return await do(book, "create", path=f"/memories/{path}", file_text=text, **more)


async def content(book: memoranda.Book, path: str, **more: Any) -> str:
    shown = await do(book, "view", path=f"/memories/{path}", **more)
    return "\n".join(line.partition("\t")[2] for line in shown.split("\n")[1:])


async def refused(book: memoranda.Book, command: str, **given: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        await do(book, command, **given)
    return str(caught.value)


async def test_a_folder_shows_two_levels_with_sizes_and_no_hidden_files(
    book: memoranda.Book,
) -> None:
    assert await do(book, "view", path="/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n0B\t/memories"
    )
    await create(book, "notes.txt", "ü")
    await create(book, "writing/plan.md", "x" * 1536)
    await create(book, "writing/deep/er/one.md", "x" * 1024)
    await create(book, "writing/.secret", "hidden")
    await create(book, ".cache/file", "hidden")
    shown = await do(book, "view", path="/memories/")
    assert shown.split("\n")[1:] == [
        "2.5K\t/memories",
        "2B\t/memories/notes.txt",
        "2.5K\t/memories/writing/",
        "1K\t/memories/writing/deep/",
        "1.5K\t/memories/writing/plan.md",
    ]
    shown = await do(book, "view", path="/memories/writing")
    assert shown.split("\n")[2:] == [
        "1K\t/memories/writing/deep/",
        "1K\t/memories/writing/deep/er/",
        "1.5K\t/memories/writing/plan.md",
    ]


async def test_edits_answer_with_their_lines_and_say_where_they_cannot_be_made(
    book: memoranda.Book,
) -> None:
    await create(book, "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")
    edit: dict[str, Any] = {"path": "/memories/a.txt"}
    assert await do(book, "str_replace", **edit, old_str="four", new_str="4\n4b") == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     2\ttwo\n     3\tthree\n     4\t4\n     5\t4b\n     6\tfive"
    )
    assert await do(book, "str_replace", **edit, old_str="4b\n") != "", "new_str may be left out"
    await do(book, "insert", **edit, insert_line=0, insert_text="zero\n\n")
    assert await content(book, "a.txt") == "zero\none\ntwo\nthree\n4\nfive\nsix\n"
    assert "lines: 2, 3, 7, 9" not in await refused(
        book, "str_replace", **edit, old_str="o", new_str=""
    )
    assert "did not appear verbatim" in await refused(
        book, "str_replace", **edit, old_str="", new_str="x"
    )
    assert "[0, 7]" in await refused(book, "insert", **edit, insert_line=8, insert_text="x")
    assert "is not a file" in await refused(
        book, "insert", path="/memories", insert_line=0, insert_text="x"
    )
    for lines in ([1], ["a", "b"], [1, 2, 3]):
        assert "view_range" in await refused(book, "view", **edit, view_range=lines)
    assert (await do(book, "view", **edit, view_range=[6, -1])).endswith(
        "\n     6\tfive\n     7\tsix\n     8\t"
    )
    assert (await do(book, "view", **edit, view_range=None)).count("\n") == 8


async def test_files_and_folders_move_and_none_takes_the_place_of_another(
    book: memoranda.Book,
) -> None:
    for path in ("a/one", "a/b/two", "c"):
        await create(book, path, path)
    rename: dict[str, Any] = {"old_path": "/memories/a", "new_path": "/memories/d/e"}
    assert await do(book, "rename", **rename) == "Successfully renamed /memories/a to /memories/d/e"
    assert await content(book, "d/e/b/two") == "a/b/two"
    assert "does not exist" in await refused(book, "view", path="/memories/a")
    assert "already exists" in await refused(
        book, "rename", old_path="/memories/c", new_path="/memories/d"
    )
    assert "is inside" in await refused(
        book, "rename", old_path="/memories/d", new_path="/memories/d/x"
    )
    assert "is a file" in await refused(book, "create", path="/memories/c/x", file_text="")
    assert "already exists" in await refused(book, "create", path="/memories/d", file_text="")


async def test_a_deleted_folder_and_a_cleared_memory_come_back_with_an_undo(
    book: memoranda.Book,
) -> None:
    for path in ("a/one", "a/two", "b"):
        await create(book, path, path)
    await do(book, "delete", path="/memories/a", operation="d")
    assert "does not exist" in await refused(book, "view", path="/memories/a/one")
    receipt = await book.records.operation("ada", "d", agent="writer")
    assert receipt is not None
    await book.undo("ada", receipt.position, agent="writer")
    assert await content(book, "a/two") == "a/two"
    assert await files(book).clear_all_memory() == "All memory cleared"
    assert (await do(book, "view", path="/memories")).endswith("\n0B\t/memories")
    assert await files(book).clear_all_memory() == "All memory cleared"
    assert "itself" in await refused(book, "delete", path="/memories/x/..")


async def test_two_edits_at_once_both_stay_and_only_one_of_two_creations(
    book: memoranda.Book,
) -> None:
    await create(book, "a", "".join(f"<{n}>" for n in range(8)))
    edits = (
        do(book, "str_replace", path="/memories/a", old_str=f"<{n}>", new_str=f"[{n}]")
        for n in range(8)
    )
    await asyncio.gather(*edits)
    assert await content(book, "a") == "".join(f"[{n}]" for n in range(8))
    made = await asyncio.gather(
        *(create(book, "b", str(n)) for n in range(5)), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in made) == ["InvalidInput"] * 4 + ["str"]


async def test_a_repeated_call_changes_nothing_again_and_answers_as_the_first(
    book: memoranda.Book,
) -> None:
    calls: list[dict[str, Any]] = [
        {"command": "create", "path": "/memories/a", "file_text": "1\n2\n"},
        {"command": "insert", "path": "/memories/a", "insert_line": 2, "insert_text": "3"},
        {"command": "str_replace", "path": "/memories/a", "old_str": "2", "new_str": "two 2"},
        {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"},
        {"command": "delete", "path": "/memories/b"},
    ]
    for place, call in enumerate(calls):
        first = await files(book).run(call, operation=f"call {place}")
        assert await files(book).run(call, operation=f"call {place}") == first
    assert "does not exist" in await refused(book, "view", path="/memories/b")


async def test_each_agent_has_files_of_its_own_unless_the_scope_shares_them(
    book: memoranda.Book,
) -> None:
    other, shared = Scope("ada", "reader"), Scope("ada", "writer", audience="global")
    await create(book, "own", "mine")
    await create(book, "all", "ours", scope=shared)
    with pytest.raises(InvalidInput, match="does not exist"):
        await content(book, "own", scope=other)
    assert await content(book, "all", scope=other) == "ours"
    assert "does not exist" in await refused(
        book, "view", path="/memories/all", scope=Scope("ben", "writer")
    )
    await do(book, "str_replace", path="/memories/all", old_str="ours", new_str="still ours")
    assert await content(book, "all", scope=other) == "still ours", (
        "an edit leaves the readers as they are"
    )
    await do(book, "rename", old_path="/memories/all", new_path="/memories/everybody")
    assert await content(book, "everybody", scope=other) == "still ours"


async def test_what_a_file_says_is_recalled_and_secrets_are_shown_as_masks(
    book: memoranda.Book,
) -> None:
    await create(book, "a", "Ada keeps bees\npassword: hunter2forever")
    hits = await book.recall("ada", "bees", agent="writer")
    assert [hit.record.type.value for hit in hits] == ["item"]
    assert "hunter2forever" not in await do(book, "view", path="/memories/a")
    await do(book, "insert", path="/memories/a", insert_line=2, insert_text="more")
    item = await book.items.get("ada", ("memories",), "a", agent="writer")
    assert item is not None and "hunter2forever" in item.value


@pytest.mark.parametrize(
    "command",
    [
        {"command": "explode"},
        {},
        {"command": "view"},
        {"command": "view", "path": 3},
        {"command": "create", "path": "/memories/a"},
        {"command": "create", "path": "/memories", "file_text": ""},
        {"command": "create", "path": "/memoriesx/a", "file_text": ""},
        {"command": "create", "path": "/memories/../a", "file_text": ""},
        {"command": "create", "path": "/memories/a\x00", "file_text": ""},
        {"command": "create", "path": "/memories/a", "file_text": "\x00"},
        {"command": "create", "path": "/memories/a", "file_text": "x" * 1_100_000},
        {"command": "create", "path": f"/memories/{'a/' * 30}b", "file_text": ""},
        {"command": "insert", "path": "/memories/a", "insert_line": "1", "insert_text": ""},
        {"command": "str_replace", "path": "/memories/a", "old_str": "a", "new_str": 3},
        {"command": "view", "path": "/memories", "view_range": 3},
    ],
)
async def test_a_command_that_cannot_be_done_answers_with_an_error_and_changes_nothing(
    book: memoranda.Book, command: dict[str, Any]
) -> None:
    text, failed = await files(book).answer(command)
    assert failed and text
    assert await book.items.count("ada", agent="writer") == 0


async def test_a_book_that_is_down_is_told_to_the_model(
    book: memoranda.Book, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def down(*_: object, **__: object) -> None:
        raise StorageError("the disk is gone")

    monkeypatch.setattr(type(book.items), "get", down)
    with caplog.at_level(logging.WARNING, "memoranda.integrations"):
        answer = await files(book).answer({"command": "view", "path": "/memories/a"})
    assert answer == ("The memory cannot be reached now.", True)
    assert "the disk is gone" in caplog.text
