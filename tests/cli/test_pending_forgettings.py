"""Tests of the command line for facts that a model has hidden: list, count, erase and undo."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda import open_sync
from tests.cli.command_line import Shell


def hidden(place: Path) -> int:
    with open_sync(place, embed=None) as book:
        kept = book.remember("ana", "Lives in Lisbon", key="home", agent="coach")
        return book.forgetting.hide("ana", kept.id, agent="coach").receipt.position


def test_what_is_hidden_is_listed_counted_and_erased_in_a_shell(
    shell: Shell, tmp_path: Path
) -> None:
    position = hidden(tmp_path / "book.db")
    listed = shell.run("about", "ana", "--as-owner")
    assert "hidden until somebody decides: 1 record and 0 parts of others, by coach" in listed
    assert f"position {position}" in listed and "Lisbon" not in listed
    report = shell.run("doctor")
    assert "1 forgetting is hidden until somebody decides" in report
    assert "memoranda forget OWNER --finish POSITION" in report

    done = shell.run("forget", "ana", "--finish", str(position), "--as-owner", "--yes")
    assert "erased for ana" in done
    assert "hidden" not in shell.run("about", "ana", "--as-owner")
    assert "forgetting is hidden" not in shell.run("doctor")


def test_it_is_brought_back_in_a_shell(shell: Shell, tmp_path: Path) -> None:
    position = hidden(tmp_path / "book.db")
    shell.run("undo", "ana", str(position), "--as-owner")
    assert "Lives in Lisbon" in shell.run("list", "ana", "--as-owner")


@pytest.mark.parametrize("more", [["--dry-run"], ["--everything"]])
def test_finishing_names_a_position_and_nothing_else(
    shell: Shell, tmp_path: Path, more: list[str]
) -> None:
    position = hidden(tmp_path / "book.db")
    assert "--finish" in shell.run(
        "forget", "ana", "--finish", str(position), "--as-owner", *more, code=2
    )
