"""Tests of the command ``copy``: its output for people and programs, and its exit codes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memoranda.assembly import open_engine
from memoranda.cli.exits import EXIT_CODES, USAGE
from memoranda.model.book_rows import Departure
from tests.cli.command_line import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.run("init")
    made.run("remember", "ann", "likes tea")
    return made


def test_a_copy_says_that_it_is_a_second_book_and_a_move_that_it_is_the_book(shell: Shell) -> None:
    told = shell.run("copy", "book.db", "second.db")
    assert "a second book" in told and "1 record," in told
    shell.run("remember", "ann", "likes cake")
    moved = shell.run("copy", "book.db", "there.db", "--switch")
    assert "moved to" in moved
    assert "the same on both sides: 1 owner, 2 records" in moved
    assert "there.db" in shell.run("remember", "ann", "late", code=EXIT_CODES["moved"])
    shell.run("remember", "ann", "goes on", "--book", "there.db")
    assert "has moved to" in shell.done("doctor", code=1).stdout
    assert "already" in shell.run("copy", "book.db", "there.db", "--switch")


def test_programs_get_the_counts_and_the_digest(shell: Shell) -> None:
    told = shell.json("copy", "book.db", "there.db", "--switch")
    assert (told["switched"], told["already"], told["owners"], told["records"]) == (
        True,
        False,
        1,
        1,
    )
    assert (told["entries"], len(told["digest"])) == (1, 32)


def test_a_book_in_memory_is_neither_copied_nor_copied_to(shell: Shell) -> None:
    shell.run("copy", "memory://", "there.db", code=USAGE)
    shell.run("copy", "book.db", "memory://", code=USAGE)
    assert not Path(shell.folder, "there.db").exists()


def test_a_copy_that_was_stopped_is_cancelled(shell: Shell) -> None:
    address = "postgresql://gone.example:5432/books"

    async def stopped() -> None:
        engine = await open_engine(shell.folder / "book.db")
        await engine.depart(Departure(address, whole=False, copy="stopped"), None)
        await engine.close()

    asyncio.run(stopped())
    assert "--cancel" in shell.run("remember", "ann", "not now", code=EXIT_CODES["moved"])
    shell.run("copy", "book.db", address, "--cancel", "--switch", code=USAGE)
    shell.run("copy", "book.db", "elsewhere.db", "--cancel", code=EXIT_CODES["conflict"])
    told = shell.run("copy", "book.db", "postgresql://ann:hush@gone.example/books", "--cancel")
    assert "can be written again" in told and "hush" not in told
    shell.run("remember", "ann", "goes on")
    asyncio.run(stopped())
    assert shell.json("copy", "book.db", address, "--cancel") == {"cancelled": True}


@pytest.mark.parametrize("password", ["pa[ss", "pa]ss", "pa℀ss"])
def test_a_password_that_is_not_written_as_addresses_want_it_is_shown_by_no_command(
    shell: Shell, password: str
) -> None:
    address = f"postgresql://ann:{password}@host/books"
    for words in (
        ("list", "ann", "--book", address),
        ("remember", "ann", "x", "--book", address),
        ("doctor", "--book", address),
        ("copy", "book.db", address),
        ("copy", address, "new.db"),
        ("restore", "book.db", "new.db", "--erasures", address),
    ):
        told = shell.run(*words, code=USAGE)
        assert "%5B" in told
        assert "ss" not in told.replace("address", "").replace("password", "")
