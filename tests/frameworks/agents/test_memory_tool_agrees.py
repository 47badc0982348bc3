"""Random commands get the same answers from the files of a book as from Anthropic's own tool on a
disk.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

import memoranda
from memoranda.integrations.anthropic_memory import MemorandaMemoryTool, MemoryFiles, Scope

TEXTS = ("", "one", "one\ntwo\n", "a\r\nb\r\n", "x\n\n\nx", "ü 太郎\n", "\n", "one one")


def path_of(dice: random.Random) -> str:
    folders = dice.choices(("d", "e", ".h"), weights=(6, 3, 1), k=dice.randrange(3))
    odd = dice.random()
    if odd < 0.04:
        return dice.choice(
            ("/memories", "/memories/", "/memories/..", "/other/f", "/memories/d/../../x", "")
        )
    return "/".join(
        ("/memories", *folders, dice.choice(("f", "g", ".s", "../f" if odd > 0.9 else "f")))
    )


def command_of(dice: random.Random) -> dict[str, Any]:
    name = dice.choice(
        ("view", "view", "create", "create", "str_replace", "insert", "delete", "rename")
    )
    path = path_of(dice)
    if name in ("view", "delete", "rename") and dice.random() < 0.4:
        path = dice.choice(("/memories", "/memories/d", "/memories/d/e", "/memories/e"))
    given: dict[str, Any] = {"command": name, "path": path}
    if name == "view" and dice.random() < 0.3:
        given["view_range"] = [dice.randrange(-1, 4), dice.choice((-1, 1, 2, 9))]
    if name == "create":
        given["file_text"] = dice.choice(TEXTS)
    if name == "str_replace":
        given |= {"old_str": dice.choice(("one", "x", "\n", "太")), "new_str": dice.choice(TEXTS)}
    if name == "insert":
        given |= {"insert_line": dice.randrange(-1, 4), "insert_text": dice.choice(TEXTS)}
    if name == "rename":
        given = {"command": name, "old_path": path, "new_path": path_of(dice)}
    return given


def comparable(text: Any) -> Any:
    """Return an answer without the sizes of folders: a book's are the sums of their files."""
    if not str(text).startswith("Here're the files"):
        return text
    head, _, *rows = str(text).split("\n")
    return [head, *(row.partition("\t")[2] if row.endswith("/") else row for row in rows)]


def without_empty_folders(root: Path) -> None:
    """Remove folders without files, which a book does not have."""
    for folder, _, _ in os.walk(root, topdown=False):
        if folder != str(root) and not os.listdir(folder):
            Path(folder).rmdir()


@pytest.mark.parametrize("seed", range(4))
async def test_random_commands_are_answered_as_by_anthropics_own_tool(
    seed: int, tmp_path: Path
) -> None:
    dice = random.Random(seed)
    theirs, failures = BetaLocalFilesystemMemoryTool(str(tmp_path)), 0
    async with memoranda.open("memory://") as book:
        ours = MemorandaMemoryTool(MemoryFiles(book, Scope("ada", "writer")))
        for _ in range(250):
            command = command_of(dice)
            try:
                expected = comparable(theirs.call(command))
            except ToolError as error:
                expected, failures = (str(error),), failures + 1
            except OSError:
                # A file where a folder is needed, or a folder moved into itself: theirs names no
                # text for it.
                expected, failures = None, failures + 1
            without_empty_folders(theirs.memory_root)
            try:
                answer: Any = comparable(await ours.call(command))
            except ToolError as error:
                answer = (str(error),) if expected is not None else None
            assert answer == expected, command
    assert 20 < failures < 200
