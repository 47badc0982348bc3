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


def test_what_finds_nothing_of_a_restricted_person_says_so_and_how_it_is_lifted(
    shell: Shell,
) -> None:
    shell.run("remember", "ann", "Likes tea", "--agent", "coach")
    shell.run("restrict", "ann", "--keep-unread")
    for command in (
        ("recall", "ann", "tea?", "--agent", "coach"),
        ("context", "ann", "tea?", "--agent", "coach"),
        ("about", "ann", "--as-owner"),
        ("doctor", "ann"),
    ):
        told = shell.run(*command)
        assert "restricted since" in told and "memoranda unrestrict ann" in told, command
        assert "no such records" not in told and "does it now" not in told


def test_a_blank_at_the_end_of_a_name_is_seen_in_the_list_of_owners(shell: Shell) -> None:
    shell.run("remember", "ann", "Likes tea")
    shell.run("remember", "ann ", "Likes rain")
    assert "'ann '" in shell.run("list", "--owners")
