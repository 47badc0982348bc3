"""The command line in this process, for tests of what commands do and print.

Signals, closed and full streams, terminals and the exit of a process need a process of their own;
`test_endings.py` has those.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from memoranda.cli.program import program


def run_command(
    folder: Path, *words: str, text: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, and return what a process of its own would have printed and left
    with.
    """

    def run() -> subprocess.CompletedProcess[str]:
        # Around the call alone: the folder and the variables are those of the whole process.
        with contextlib.chdir(folder):
            around = {"NO_COLOR": "1", "MEMORANDA_DEBUG": None, **variables}
            done = CliRunner(env=around).invoke(program, words, input=text)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception  # a traceback, in a process
        return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)

    # In a thread, because a command runs an event loop of its own, and some tests have one already.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


class Shell:
    """Runs commands in a folder, on `book.db` there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *words: str, text: str | None = None, code: int = 0) -> str:
        done = self.done(*words, text=text, code=code)
        return done.stdout if code == 0 else done.stderr

    def done(
        self, *words: str, text: str | None = None, code: int = 0
    ) -> subprocess.CompletedProcess[str]:
        done = run_command(self.folder, *words, text=text, MEMORANDA_BOOK="book.db")
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    def json(self, *words: str, text: str | None = None) -> Any:
        return json.loads(self.run(*words, "--json", text=text))


def record_id(receipt: Any) -> str:
    found = str(receipt.get("receipt", receipt)["items"][0]["id"])
    assert len(found) == 36
    return found
