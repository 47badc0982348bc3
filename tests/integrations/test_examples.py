"""The examples run as they stand; the one that needs a key says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    surroundings = {
        variable: value for variable, value in os.environ.items() if "API_KEY" not in variable
    }
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        cwd=folder,
        env={**surroundings, "PYTHONPATH": os.pathsep.join(sys.path)},
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_agent_knows_on_the_second_day_what_it_was_told_on_the_first(tmp_path: Path) -> None:
    first = run("remembering_agent.py", tmp_path, str(tmp_path / "book.db"))
    assert first.returncode == 0, first.stderr
    assert "I know nothing about you." in first.stdout
    assert first.stdout.count("fact] Keeps bees on the roof") == 1
    again = run("remembering_agent.py", tmp_path, str(tmp_path / "book.db"))
    assert again.stdout.startswith("> What do you know about me?\nI know about you:\n")
    assert run("remembering_agent.py", tmp_path).returncode == 0


def test_the_support_agent_does_not_try_again_what_failed(tmp_path: Path) -> None:
    done = run("support_agent.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Restarting failed last time" in done.stdout
    assert done.stdout.endswith("failed: restart_router\nsucceeded: no tools\n")


def test_the_applications_own_models_carry_over_what_another_process_learnt(tmp_path: Path) -> None:
    def task(*prompts: str) -> tuple[str, str]:
        """Run one task in a process of its own; return its prompt and the last answer."""
        done = run("learning_agent.py", tmp_path, str(tmp_path / "book.db"), *prompts)
        assert done.returncode == 0, done.stderr
        told, _, rest = done.stdout.partition("> ")
        *talk, ended = rest.splitlines()
        assert told.startswith("created: <agent_experience>")
        assert ended == f"completed: {2 * len(prompts)} messages"
        return told, talk[-1]

    told, answer = task("Recommend me a movie", "I prefer romance movies", "Another one, please")
    assert "<memories>" not in told and "<user_profile>" not in told
    assert answer == "How about this romance movie?"
    told, _ = task("I prefer action movies")
    assert '"interests":["romance movies"]' in told
    assert '"category":"preference","content":"Prefers romance movies"' in told
    assert '"heuristics":["Ask for the kind of movie before proposing one."]' in told
    told, answer = task("Recommend me a movie")
    # The memory was superseded, the profile was added to, and the lesson is there once.
    assert "Prefers action movies" in told and "Prefers romance movies" not in told
    assert '"interests":["romance movies","action movies"]' in told
    assert told.count("Ask for the kind of movie") == 1
    assert answer == "How about this action movie?"


@pytest.mark.parametrize("name", [(), ("anthropic:claude-sonnet-4-5",), ("nobody:nothing",)])
def test_without_a_key_or_a_client_the_example_says_what_is_missing(
    tmp_path: Path, name: tuple[str, ...]
) -> None:
    done = run("real_provider.py", tmp_path, *name)
    assert done.returncode == 2
    assert "cannot be used" in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_plain_tools_answer_what_a_model_calls(tmp_path: Path) -> None:
    done = run("plain_tools.py", tmp_path, str(tmp_path / "book.db"))
    assert done.returncode == 0, done.stderr
    assert "remember> Remembered: pets = Keeps bees on the roof [fact, self]\n" in done.stdout
    assert "explode> There is no tool" in done.stdout
    assert done.stdout.endswith("     1\tTwo hives.\n     2\t\n")


def test_every_example_is_run_by_a_test() -> None:
    tests = Path(__file__).parents[1]
    tested = "".join(
        path.read_text("utf-8")
        for path in (Path(__file__), *tests.glob("frameworks/*/test_examples.py"))
    )
    for path in EXAMPLES.glob("*.py"):
        assert path.name == "__init__.py" or f'"{path.name}"' in tested
