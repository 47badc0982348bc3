"""Tests of the keys of a service at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoranda
from memoranda.access.key_check import KeyCheck
from memoranda.cli.exits import EXIT_CODES
from tests.cli.command_line import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.run("init")
    return shell


async def test_a_key_is_created_shown_once_rotated_and_revoked(
    shell: Shell, tmp_path: Path
) -> None:
    secret = shell.run("keys", "create", "laptop", "--role", "viewer", "--person", "ana").strip()
    assert secret.startswith("mem_")
    listed = shell.run("keys", "list")
    assert "laptop" in listed
    assert "own key of ana" in listed
    assert secret.split("_")[1] in listed
    assert secret.split("_", 2)[2] not in listed
    rotated = shell.json("keys", "rotate", "laptop", "--grace", "3600")
    assert "digest" not in rotated["key"]
    async with memoranda.open(tmp_path / "book.db") as book:
        check = KeyCheck(book)
        found = [await check.principal_of(one) for one in (secret, rotated["secret"])]
    assert [one is not None and (one.name, one.person) for one in found] == [("laptop", "ana")] * 2
    shell.run("keys", "revoke", "laptop")
    assert "there is no key" in shell.run("keys", "list")
    assert [key["name"] for key in shell.json("keys", "list", "--ended")["keys"]] == ["laptop"] * 2


def test_a_key_says_whom_it_opens_and_until_when(shell: Shell) -> None:
    shell.run(
        "keys", "create", "web", "--for-owner", "ana", "--for-owner", "ben", "--for-agent", "guide"
    )
    shell.run("keys", "create", "team", "--for-group", "shop", "--expires", "2999-01-01")
    shell.run("keys", "create", "boss", "--role", "admin")
    shell.run(
        "keys", "create", "prometheus", "--role", "viewer", "--for-owner", "nobody", "--metrics"
    )
    found = {key["name"]: key for key in shell.json("keys", "list")["keys"]}
    assert (found["web"]["owners"], found["web"]["agents"], found["web"]["groups"]) == (
        ["ana", "ben"],
        ["guide"],
        [],
    )
    assert [name for name, key in found.items() if key["metrics"]] == ["prometheus"]
    assert (found["web"]["role"], found["boss"]["role"]) == ("editor", "admin")
    assert (found["team"]["owners"], found["team"]["groups"]) == (None, ["shop"])
    listed = shell.run("keys", "list")
    assert "until 2999-01-01" in listed
    assert "owners: nobody; metrics" in listed
    assert "everything" in listed


def test_a_wrong_command_says_what_to_do(shell: Shell) -> None:
    assert "leave it out" in shell.run(
        "keys", "create", "boss", "--role", "admin", "--person", "ana", code=EXIT_CODES["invalid"]
    )
    assert "none called 'web'" in shell.run("keys", "revoke", "web", code=EXIT_CODES["not_found"])
    assert "none called 'web'" in shell.run("keys", "rotate", "web", code=EXIT_CODES["not_found"])
    assert "has passed" in shell.run(
        "keys", "create", "web", "--expires", "2001-01-01", code=EXIT_CODES["invalid"]
    )


def test_the_commands_of_the_page_about_the_service_run_as_they_stand(shell: Shell) -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "service.md").read_text("utf-8")
    lines = [
        line.removeprefix("$ memoranda ")
        for line in page.splitlines()
        if line.startswith("$ memoranda ")
    ]
    assert len(lines) >= 7
    for line in lines:
        shell.run(*line.split())
