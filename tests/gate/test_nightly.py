"""`./dev nightly` runs every part once in a round, goes on where it was stopped, and begins with
what failed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.__main__ import names
from tools import recorded_runs
from tools.gate.nightly import go_on, main, parts

KNOWN = {name: [name] for name in ("check", "test", "proofs/kill")}


class Stopped(BaseException):
    """The end of the process in the middle of a part."""


class Runs:
    """Parts that end as they are told, in the order in which they ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failing: set[str] = set()
        self.stopping: set[str] = set()
        self.ran: list[str] = []

    def __call__(self, arguments: list[str], log: Path) -> bool:
        (name,) = arguments
        if name in self.stopping:
            raise Stopped
        self.ran.append(name)
        log.write_text(name)
        return name not in self.failing

    def start(self, *chosen: str) -> int:
        self.ran.clear()
        return go_on([*chosen], KNOWN, self.folder, self)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "cache")


def test_tables_that_are_older_than_the_code_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorded_runs, "old", lambda: iter(["recall: 3 files changed"]))
    assert main(["--list"]) == 0
    assert (
        "a table is older than what it measures: recall: 3 files changed\n"
        in capsys.readouterr().out
    )


def test_everything_is_a_part() -> None:
    found = parts()
    assert {"check", "test", "frameworks/langgraph"} <= found.keys()
    assert {f"proofs/{name}" for name in names()} <= found.keys()
    assert found["test"] == ["test", "--all"] and found["proofs/kill"] == ["prove", "kill"]


def test_a_round_goes_on_where_it_was_stopped(runs: Runs) -> None:
    runs.stopping = {"test"}
    with pytest.raises(Stopped):
        runs.start()
    runs.stopping = set()
    assert runs.start() == 0
    assert runs.ran == ["test", "proofs/kill"]


def test_what_failed_comes_first_and_what_passed_is_not_run_again(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.failing = {"proofs/kill"}
    assert runs.start() == 1
    assert "failed: proofs/kill" in capsys.readouterr().out
    runs.failing, runs.stopping = set(), {"check"}
    assert runs.start() == 0
    assert runs.ran == ["proofs/kill"]


def test_what_failed_comes_before_what_has_not_run(runs: Runs) -> None:
    runs.failing, runs.stopping = {"test"}, {"proofs/kill"}
    with pytest.raises(Stopped):
        runs.start()
    runs.failing = runs.stopping = set()
    runs.start()
    assert runs.ran == ["test", "proofs/kill"]


def test_after_a_round_without_a_failure_a_new_one_begins(runs: Runs) -> None:
    assert runs.start() == 0
    assert runs.start() == 0
    assert runs.ran == [*KNOWN]


def test_a_part_is_run_by_its_name_without_the_others(runs: Runs) -> None:
    assert runs.start("proofs/kill") == 0
    assert runs.ran == ["proofs/kill"]
    runs.start()
    assert runs.ran == ["check", "test"]
