"""The examples of the agent SDKs run as they stand, without a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def run(name: str, folder: Path) -> str:
    around = {
        variable: value for variable, value in os.environ.items() if "API_KEY" not in variable
    }
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), str(folder / "book.db")],
        cwd=folder,
        env={**around, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_openai_example_shows_the_model_on_friday_what_was_said_on_monday(
    tmp_path: Path,
) -> None:
    told = run("openai_agents_session.py", tmp_path)
    assert "(the model was shown 1 items; the session has 2)" in told
    assert told.endswith("No walnuts.\n(the model was shown 2 items; the session has 2)\n")


def test_the_claude_example_stores_a_transcript_once_and_erases_it(tmp_path: Path) -> None:
    assert (
        run("claude_agent_store.py", tmp_path) == "session-1 Login 2\nFix the login page\nNone 0\n"
    )


def test_the_adk_example_finds_in_the_second_session_what_the_first_said(tmp_path: Path) -> None:
    assert (
        "I keep bees on the roof."
        in run("google_adk_memory.py", tmp_path).partition("Where are")[2]
    )
