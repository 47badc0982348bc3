"""Clearing a book's own files from the shell."""

from __future__ import annotations

from tests.cli.command_line import Shell, record_id


def test_a_forgetting_clears_the_books_files_where_that_is_asked_for(shell: Shell) -> None:
    gone = record_id(shell.json("remember", "ana", "zqcanary", "--agent", "helper"))
    told = shell.json("forget", "ana", gone, "--as-owner", "--yes", "--scrub")
    assert (told["state"], told["pending_because"]) == ("complete", "")
    assert b"zqcanary" not in (shell.folder / "book.db").read_bytes()


def test_clearing_alone_needs_no_owner_and_forgets_nothing(shell: Shell) -> None:
    shell.run("remember", "ana", "Likes tea", "--agent", "helper")
    assert shell.json("forget", "--scrub") == {"state": "complete", "pending_because": ""}
    assert "complete" in shell.run("forget", "--scrub")
    assert "Likes tea" in shell.run("list", "ana", "--agent", "helper")


def test_clearing_is_no_way_to_forget_all_of_an_owner_by_mistake(shell: Shell) -> None:
    assert "--everything" in shell.run("forget", "ana", "--scrub", "--yes", code=2)
    assert "OWNER" in shell.run("forget", "--everything", "--scrub", "--yes", code=2)
    assert "OWNER" in shell.run("forget", "--yes", code=2)
