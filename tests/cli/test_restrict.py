"""The commands ``restrict`` and ``unrestrict``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.run("init")
    shell.run("remember", "ann", "likes green tea")
    return shell


def test_an_owner_is_restricted_shown_and_freed_again(shell: Shell) -> None:
    assert "not restricted" in shell.run("restrict", "ann", "--show")
    assert "new content is refused" in shell.run("restrict", "ann")
    assert shell.json("restrict", "ann", "--show")["appends"] == "refuse"
    assert "stored unread" in shell.run("restrict", "ann", "--keep-unread")
    assert "lifted" in shell.run("unrestrict", "ann")
    assert "was not restricted" in shell.run("unrestrict", "ann")
