"""``copy`` at the command line: what people and programs are told, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.surfaces.cli.exits import EXIT_CODES, USAGE
from tests.surfaces.test_cli import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.run("init")
    made.run("remember", "ann", "likes tea")
    return made


def test_a_copy_says_that_the_book_goes_on_and_a_move_that_it_does_not(shell: Shell) -> None:
    told = shell.run("copy", "book.db", "there.db")
    assert "--switch" in told
    assert "1 records" in told
    assert "--switch" in shell.run("list", "ann", "--book", "there.db", code=EXIT_CODES["unfinished"])
    shell.run("remember", "ann", "likes cake")
    moved = shell.run("copy", "book.db", "there.db", "--switch")
    assert "moved to" in moved
    assert "the same on both sides: 1 owners, 2 records" in moved
    assert "there.db" in shell.run("remember", "ann", "late", code=EXIT_CODES["moved"])
    shell.run("remember", "ann", "goes on", "--book", "there.db")
    assert "has moved to" in shell.done("doctor", code=1).stdout
    assert "already" in shell.run("copy", "book.db", "there.db", "--switch")


def test_programs_get_the_counts_and_the_digest(shell: Shell) -> None:
    told = shell.json("copy", "book.db", "there.db", "--switch")
    assert (told["switched"], told["already"], told["owners"], told["records"]) == (True, False, 1, 1)
    assert (told["entries"], len(told["digest"])) == (1, 32)


def test_a_book_in_memory_is_neither_copied_nor_copied_to(shell: Shell) -> None:
    shell.run("copy", "memory://", "there.db", code=USAGE)
    shell.run("copy", "book.db", "memory://", code=USAGE)
    assert not Path(shell.folder, "there.db").exists()
