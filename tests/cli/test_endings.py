"""Tests of commands that fail: closed and full streams, signals, empty options, and errors in our
own code.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import run_command

#: Runs the program after a line of preparation, which stands in for what a test cannot bring about
#: from outside.
PREPARED = "import sys; {}; from memoranda.cli import main; main()"

needs_full_device = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="the system has no /dev/full"
)


class Shell:
    """Starts commands in a folder with a book."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "MEMORANDA_BOOK": "book.db", "NO_COLOR": "1"}
        self.environment.pop("MEMORANDA_DEBUG", None)

    def run(
        self, *words: str, before: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command here; in a process of its own if something is prepared there."""
        if not before:
            around = {"MEMORANDA_BOOK": "book.db", **environment}
            return run_command(self.folder, *words, **around)
        return subprocess.run(
            [sys.executable, "-c", PREPARED.format(before), *words],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def line(self, words: str, redirected: str) -> subprocess.CompletedProcess[str]:
        """Return a command with redirected streams."""
        return subprocess.run(
            f"exec {sys.executable} -m memoranda {words} {redirected}",
            shell=True,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def start(self, *words: str, before: str = "pass") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", PREPARED.format(before), *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def remember(self, content: str) -> str:
        told = self.run("remember", "ana", content, "--json")
        assert told.returncode == 0, told.stderr
        return str(json.loads(told.stdout)["items"][0]["id"])

    def remembered(self) -> str:
        return self.run("list", "ana", "--as-owner").stdout


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    assert made.run("init").returncode == 0
    return made


def is_one_error(told: str) -> bool:
    return told.startswith("error: ") and len(told.splitlines()) == 1


# ── forgetting that reaches backups later ─────────────────────────────────────────────────────────


def test_what_left_the_book_is_still_forgotten_from_its_backups(shell: Shell) -> None:
    canary = shell.remember("Has a blue canary")
    shell.run("backup", "copy.db")
    assert "--backups" in shell.run("forget", "ana", canary, "--as-owner", "--yes").stdout
    assert b"canary" in (shell.folder / "copy.db").read_bytes()
    again = shell.run("forget", "ana", canary, "--as-owner", "--backups", "--yes")
    assert again.returncode == 0, again.stderr
    assert b"canary" not in (shell.folder / "copy.db").read_bytes()
    said = again.stdout
    assert "forgotten for good" not in said
    assert f"forgotten before:\n  {canary}" in said
    assert (
        f"backups rewritten without everything that was ever erased:\n  {shell.folder / 'copy.db'}"
        in said
    )


def test_the_answer_for_programs_names_the_rewritten_backups(shell: Shell) -> None:
    canary = shell.remember("Has a blue canary")
    shell.run("backup", "copy.db")
    first = json.loads(shell.run("forget", "ana", canary, "--as-owner", "--yes", "--json").stdout)
    again = json.loads(
        shell.run("forget", "ana", canary, "--as-owner", "--backups", "--yes", "--json").stdout
    )
    assert (first["rewritten"], first["repeated"]) == ([], [])
    assert (again["rewritten"], again["repeated"]) == ([str(shell.folder / "copy.db")], [canary])


def test_what_is_nowhere_or_not_for_this_view_is_not_found_and_nothing_is_forgotten(
    shell: Shell,
) -> None:
    mine, there = shell.remember("Has a blue canary"), shell.remember("Keeps bees")
    nowhere = "0192f0c1-0000-7000-8000-000000000000"
    for wrong in (["ana", there, nowhere, "--as-owner"], ["ben", there, "--as-owner"]):
        done = shell.run("forget", *wrong, "--yes")
        assert done.returncode == 3, done.stderr
        assert "nothing was forgotten" in done.stderr
    assert "Keeps bees" in shell.remembered()
    assert shell.run("forget", "ana", mine, "--as-owner", "--yes").returncode == 0
    again = shell.run("forget", "ana", mine, "--yes")
    assert (again.returncode, "forgotten before" in again.stdout) == (0, True), again.stderr


# ── streams ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_does_not_keep_a_command_from_its_work(shell: Shell, closed: str) -> None:
    done = shell.line("remember ana 'Keeps bees'", closed)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Keeps bees" in shell.remembered()
    assert shell.line("get ana nonsense", closed).returncode == 3
    assert shell.run("verify").returncode == 0


@needs_full_device
@pytest.mark.parametrize("how", ["", "--json"])
def test_a_write_whose_answer_is_lost_is_told_as_done(shell: Shell, how: str) -> None:
    done = shell.line(f"remember ana 'Keeps bees' {how}", ">/dev/full")
    assert done.returncode == 14
    assert is_one_error(done.stderr)
    assert "the change is stored" in done.stderr
    assert "Keeps bees" in shell.remembered()
    assert shell.line("remember ana 'Keeps goats'", ">/dev/full 2>/dev/full").returncode == 14


@needs_full_device
def test_every_command_that_changes_something_says_that_it_is_done(shell: Shell) -> None:
    canary = shell.remember("Has a blue canary")
    for words in (
        "init --book other.db",
        "append ana user hello",
        "backup copy.db",
        "restore copy.db again.db",
        f"forget ana {canary} --as-owner --yes",
        "rebuild",
        "jobs run",
    ):
        assert shell.line(words, ">/dev/full").returncode == 14, words


@needs_full_device
def test_a_lost_answer_of_a_command_that_changed_nothing_is_a_storage_failure(shell: Shell) -> None:
    for words in ("list ana", "export"):
        done = shell.line(words, ">/dev/full")
        assert done.returncode == 7, words
        assert is_one_error(done.stderr)
        assert "standard output" in done.stderr
    assert is_one_error(shell.line("--help", ">/dev/full").stderr)


# ── empty options ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("option", ["--book", "--tenant", "--config"])
def test_an_empty_option_is_no_default(shell: Shell, option: str) -> None:
    shell.remember("Keeps bees")
    (shell.folder / "book.db").rename(shell.folder / "memoranda.db")
    everything = ("forget", "ana", "--everything", "--as-owner", "--yes")
    for words in ((*everything, option, ""), (option, "", *everything)):
        told = shell.run(*words, MEMORANDA_BOOK="memoranda.db")
        assert told.returncode == 2
        assert f"{option} is empty" in told.stderr
    assert b"Keeps bees" in (shell.folder / "memoranda.db").read_bytes()


def test_an_empty_variable_is_no_default(shell: Shell) -> None:
    told = shell.run("init", MEMORANDA_BOOK="")
    assert told.returncode == 2
    assert "$MEMORANDA_BOOK is empty" in told.stderr
    assert not (shell.folder / "memoranda.db").exists()
    assert shell.run("verify", "--book", "book.db", MEMORANDA_BOOK="").returncode == 0


# ── signals ───────────────────────────────────────────────────────────────────────────────────────

#: An export that says when it is in the middle, and then waits.
SLOW_EXPORT = """
import asyncio
from memoranda.book.nouns.admin import Admin
async def slow(self, owner=None, **how):
    yield "{}"
    print("waiting", flush=True)
    await asyncio.sleep(60)
Admin.export = slow
"""


def test_sigterm_leaves_no_half_an_export(shell: Shell) -> None:
    with shell.start("export", "--output", "out.jsonl", before=f"exec({SLOW_EXPORT!r})") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "waiting\n"
        assert (shell.folder / "out.jsonl.partial").exists()
        # As timeout(1) does, which signals the process and then its group.
        running.send_signal(signal.SIGTERM)
        running.send_signal(signal.SIGTERM)
        _, told = running.communicate(timeout=30)
    assert running.returncode == 143
    assert "error: terminated" in told
    assert "Traceback" not in told
    assert not list(shell.folder.glob("out.jsonl*"))


def test_sigterm_ends_a_command_that_waits_for_its_input(shell: Shell) -> None:
    os.mkfifo(shell.folder / "lines")
    # The pipe opens here only once the command has opened its other end.
    with (
        shell.start("append", "ana", "--file", "lines") as running,
        (shell.folder / "lines").open("w"),
    ):
        running.send_signal(signal.SIGTERM)
        _, told = running.communicate(timeout=30)
    assert running.returncode == 143
    assert "error: terminated" in told


# ── words ─────────────────────────────────────────────────────────────────────────────────────────


def test_messages_name_the_options_of_the_command_line(shell: Shell) -> None:
    told = shell.run("history", "ana")
    assert told.returncode == 5
    assert "--as-owner" in told.stderr
    assert "view=" not in told.stderr


#: The superuser may write everything, so refusal is played to it.
UNWRITABLE = "import os; real = os.access; os.access = lambda path, mode: not mode & os.W_OK and real(path, mode)"


def test_a_book_that_cannot_be_written_is_told_without_python(shell: Shell) -> None:
    told = shell.run("remember", "ana", "Keeps bees", before=UNWRITABLE)
    assert told.returncode == 9
    assert "let this user write the file" in told.stderr
    (shell.folder / "empty.db").touch()
    empty = shell.run("list", "ana", "--book", "empty.db", before=UNWRITABLE)
    assert empty.returncode == 12
    assert "memoranda init" in empty.stderr
    assert "read_only" not in told.stderr + empty.stderr


# ── faults of our own ─────────────────────────────────────────────────────────────────────────────

BROKEN = (
    "from memoranda.book.nouns.records import Records; Records.count = lambda *_, **__: {}['bee']"
)
BROKEN_ANSWER = (
    "import memoranda.cli.commands.write_commands as m; m.print_receipt = lambda *_: {}['bee']"
)


def test_a_fault_of_our_own_is_one_line_that_asks_to_report_it(shell: Shell) -> None:
    told = shell.run("list", "ana", "--count", before=BROKEN)
    assert told.returncode == 70
    assert is_one_error(told.stderr)
    assert "KeyError: 'bee'" in told.stderr
    assert "report it" in told.stderr


def test_its_traceback_is_shown_where_it_is_asked_for(shell: Shell) -> None:
    for told in (
        shell.run("list", "ana", "--count", before=BROKEN, MEMORANDA_DEBUG="1"),
        shell.run("list", "ana", "--count", "--debug", before=BROKEN),
    ):
        assert told.returncode == 70
        assert "Traceback" in told.stderr


def test_a_fault_in_the_answer_of_a_write_tells_that_the_write_is_kept(shell: Shell) -> None:
    told = shell.run("remember", "ana", "Keeps bees", before=BROKEN_ANSWER)
    assert told.returncode == 14
    assert "the change is stored" in told.stderr
    assert "Keeps bees" in shell.remembered()
