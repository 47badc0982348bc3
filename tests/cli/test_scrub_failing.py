"""A receipt of what is forgotten is told, whatever clearing the files comes to."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from memoranda.book.nouns.admin import Admin
from memoranda.cli.program import program
from memoranda.errors import Busy
from tests.cli.command_line import Shell, record_id


def test_a_receipt_is_told_when_the_files_cannot_be_cleared(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = record_id(shell.json("remember", "ana", "zqcanary", "--agent", "helper"))

    async def busy(self: Admin) -> None:
        raise Busy("another process held the book")

    monkeypatch.setattr(Admin, "scrub", busy)
    book = str(shell.folder / "book.db")
    words = ["forget", "ana", gone, "--as-owner", "--yes", "--scrub", "--json", "--book", book]
    done = CliRunner().invoke(program, words)
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["ids"], told["state"]) == ([gone], "pending")
    assert "another process" in told["pending_because"]


def test_backups_are_not_silently_left_out_where_nobody_is_named(shell: Shell) -> None:
    assert "--backups" in shell.run("forget", "--scrub", "--backups", code=2)
