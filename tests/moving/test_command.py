"""``copy`` at the command line: what people and programs are told, and how it ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memoranda.assembly import open_engine
from memoranda.model.moving import Departure
from memoranda.surfaces.cli.exits import EXIT_CODES, USAGE
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


def depart(shell: Shell, target: str, run: str = "stopped") -> None:
    """Leave the book as a run leaves it that is killed right then."""

    async def departed() -> None:
        engine = await open_engine(shell.folder / "book.db")
        await engine.depart(Departure(target, whole=False, copy="lost", run=run), None)
        await engine.close()

    asyncio.run(departed())


def test_a_place_that_is_lost_for_good_is_given_up_when_that_is_asked_for_and_confirmed(shell: Shell) -> None:
    address = "postgresql://gone.example:5432/books"
    depart(shell, address)
    assert "--give-up" in shell.run("remember", "ann", "not now", code=EXIT_CODES["moved"])
    assert "--yes" in shell.run("copy", "book.db", address, "--give-up", code=USAGE)
    shell.run("copy", "book.db", address, "--give-up", "--switch", "--yes", code=USAGE)
    shell.run("copy", "book.db", "elsewhere.db", "--give-up", "--yes", code=EXIT_CODES["conflict"])
    told = shell.run("copy", "book.db", "postgresql://ann:hush@gone.example/books", "--give-up", "--yes")
    assert "written again" in told and "hush" not in told
    shell.run("remember", "ann", "goes on")
    depart(shell, address, "again")
    assert shell.json("copy", "book.db", address, "--give-up", "--yes") == {"given_up": True}


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
