"""`./dev test --near` runs what a change is likely to break: what imports it, the nearest first,
and says what it left out.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tools.gate import near_tests
from tools.gate.changes import Change
from tools.gate.import_graph import read_graph
from tools.gate.near_tests import distances, file_seconds, select, with_readers

GRAPH = {
    "src/memoranda/words.py": set[str](),
    "src/memoranda/recall.py": {"src/memoranda/words.py"},
    "src/memoranda/book.py": {
        "src/memoranda/recall.py",
        "src/memoranda/other.py",
        "src/memoranda/third.py",
    },
    "tests/test_words.py": {"src/memoranda/words.py"},
    "tests/test_recall.py": {"src/memoranda/recall.py"},
    "tests/test_book.py": {"src/memoranda/book.py"},
    "tests/test_apart.py": {"src/memoranda/other.py"},
    "tests/frameworks/x/test_x.py": {"src/memoranda/words.py"},
}
WORDS = ["src/memoranda/words.py"]


def test_what_imports_the_change_is_chosen_the_nearest_first() -> None:
    chosen, left_out = select(WORDS, GRAPH, {})
    assert chosen == ["tests/test_words.py", "tests/test_recall.py", "tests/test_book.py"]
    assert left_out == []
    far = distances(WORDS, GRAPH)
    assert (
        far["tests/test_recall.py"] < far["tests/test_book.py"] and "tests/test_apart.py" not in far
    )


def test_what_does_not_fit_into_the_time_is_left_out_and_the_rest_may_still_fit() -> None:
    seconds = {"tests/test_words.py": 5.0, "tests/test_recall.py": 90.0, "tests/test_book.py": 4.0}
    chosen, left_out = select(WORDS, GRAPH, seconds, budget=10)
    assert (chosen, left_out) == (
        ["tests/test_words.py", "tests/test_book.py"],
        ["tests/test_recall.py"],
    )


def test_what_failed_before_and_what_was_edited_runs_whatever_it_takes() -> None:
    seconds = {"tests/test_apart.py": 500.0, "tests/test_recall.py": 500.0}
    changed = [*WORDS, "tests/test_recall.py", "tests/test_removed.py"]
    chosen, _ = select(
        changed, GRAPH, seconds, failed=["tests/test_apart.py", "tests/gone.py"], budget=10
    )
    assert chosen == ["tests/test_apart.py", "tests/test_recall.py"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    files = {
        "src/memoranda/__init__.py": "",
        "src/memoranda/model/__init__.py": "from .words import word",
        "src/memoranda/model/words.py": "def word():\n    from memoranda import late",
        "src/memoranda/late.py": "if True:\n    import memoranda.model.words as words",
        "src/memoranda/cli/__init__.py": "",
        "src/memoranda/cli/program.py": "from importlib import import_module\nimport_module(f'memoranda.cli.{name}')",
        "src/memoranda/cli/list.py": "",
        "tests/conftest.py": "",
        "tests/cli/conftest.py": "",
        "tests/cli/test_list.py": "from memoranda.cli import program\nPAGE = 'docs/cli.md'\ndef test_a(): ...\ndef test_b(): ...",
        "tests/test_late.py": "patch('memoranda.late')",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_graph_has_every_import_also_those_that_are_not_at_the_top(checkout: Path) -> None:
    graph = read_graph(checkout)
    package = "src/memoranda"
    assert graph[f"{package}/model/__init__.py"] == {f"{package}/model/words.py"}
    assert f"{package}/late.py" in graph[f"{package}/model/words.py"]
    assert graph[f"{package}/late.py"] == {f"{package}/model/words.py"}


def test_modules_that_are_imported_by_name_and_fixtures_count(checkout: Path) -> None:
    graph = read_graph(checkout)
    assert "src/memoranda/cli/list.py" in graph["src/memoranda/cli/program.py"]
    assert {"tests/conftest.py", "tests/cli/conftest.py"} <= graph["tests/cli/test_list.py"]
    assert "src/memoranda/late.py" in graph["tests/test_late.py"]


def test_a_page_is_near_to_the_tests_that_name_it(checkout: Path) -> None:
    graph = with_readers(["docs/cli.md"], read_graph(checkout), checkout)
    assert select(["docs/cli.md"], graph, {}).chosen == ["tests/cli/test_list.py"]


def test_durations_are_those_of_the_last_run_or_estimated(checkout: Path) -> None:
    cache = checkout / ".pytest_cache/v/memoranda/durations"
    cache.parent.mkdir(parents=True)
    cache.write_text(
        json.dumps({"tests/test_late.py::test_a": 2.0, "tests/test_late.py::test_b": 1.5})
    )
    found = file_seconds(read_graph(checkout), checkout)
    assert found["tests/test_late.py"] == 3.5
    assert found["tests/cli/test_list.py"] == 2 * near_tests.UNKNOWN_SECONDS


def test_the_command_says_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[list[str]] = []

    class Done:
        returncode = 1

    def run(command: list[str], *, timeout: float, **_: object) -> Done:
        started.append(command)
        if "--hang" in command:
            raise subprocess.TimeoutExpired(command, timeout)
        return Done()

    monkeypatch.setattr(near_tests, "read_latest", lambda: Change("abc", "main", frozenset(WORDS)))
    monkeypatch.setattr(near_tests, "read_graph", lambda: GRAPH)
    monkeypatch.setattr(near_tests, "_cached", lambda *_: {})
    monkeypatch.setattr(subprocess, "run", run)
    seconds = {"tests/test_words.py": 5.0, "tests/test_recall.py": 900.0, "tests/test_book.py": 4.0}
    monkeypatch.setattr(near_tests, "file_seconds", lambda _: seconds)
    assert near_tests.main(["-x"]) == 1
    assert started[0][-3:] == ["-x", "tests/test_words.py", "tests/test_book.py"]
    said = capsys.readouterr().out
    assert "changed since main: 1 file\n" in said
    assert (
        "left out: 1 file of tests, about 900 s of work, the nearest is tests/test_recall.py"
        in said
    )
    assert near_tests.main(["--hang"]) == 1
    assert "a test that had started did not end" in capsys.readouterr().out
