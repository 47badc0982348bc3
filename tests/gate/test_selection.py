"""`./dev test` and `./dev prove --changed` leave out only what no change can have broken, and say
so.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from proofs import __main__ as proofs
from tools.gate import import_graph, selection
from tools.gate.changes import Change

WISH = proofs.Wish(seed=1, count=None, ci=True, limit=10)


@pytest.fixture(autouse=True, scope="module")
def graph() -> Iterator[None]:
    """Read the imports once."""
    found = import_graph.read_graph()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_graph, "read_graph", lambda: found)
        yield


def planned(*paths: str, base: str = "abc") -> dict[str, int | None]:
    """Return the count of each proof that would run; None is the whole count of CI."""
    plans = proofs.planned(proofs.names(), WISH, Change(base, "main", frozenset(paths)))
    return {name: wish.count for name, wish in plans.items()}


def test_where_no_landed_commit_is_known_every_proof_runs_at_its_whole_count() -> None:
    assert planned(base="") == dict.fromkeys(proofs.names())


@pytest.mark.parametrize("path", [".ci/run", "proofs/__main__.py", "tools/gate/changes.py"])
def test_what_decides_about_runs_makes_every_proof_run(path: str) -> None:
    assert planned(path) == dict.fromkeys(proofs.names())


def test_the_proofs_of_promises_always_run_and_the_others_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = planned("docs/using.md")
    assert [*counts] == sorted(proofs.ALWAYS)
    assert (counts["kill"], counts["power_cut"], counts["isolation"]) == (100, 120, 20_000)
    said = capsys.readouterr().out
    assert "moving: left out, no path that it covers changed since main\n" in said
    assert "kill: at a fifth of its count" in said
    assert len(said.splitlines()) == len(proofs.names())


def test_a_proof_runs_whole_where_a_path_that_it_covers_changed() -> None:
    counts = planned("src/memoranda/access/key_check.py")
    assert counts["service_isolation"] is None and counts["service_kill"] is None
    assert counts["kill"] == 100 and "moving" not in counts


def test_a_proof_runs_whole_where_what_it_is_made_of_changed() -> None:
    assert planned("proofs/drain.py")["drain"] is None
    counts = planned("proofs/_kill/marks.py")
    assert counts["kill"] is None and counts["isolation"] == 20_000


@pytest.fixture
def given(
    dev: ModuleType, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> list[list[str]]:
    monkeypatch.setattr(dev, "ensure", lambda _: None)
    return started


def change(monkeypatch: pytest.MonkeyPatch, *paths: str, base: str = "abc") -> None:
    monkeypatch.setattr(selection, "read_change", lambda: Change(base, "main", frozenset(paths)))


@pytest.mark.parametrize(
    "path",
    [
        "src/memoranda/storage/one.py",
        "src/memoranda/engines/x.py",
        "tests/engines/pair.py",
        "pyproject.toml",
    ],
)
def test_the_suites_run_again_where_their_code_changed(
    path: str, dev: ModuleType, given: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(monkeypatch, path)
    dev.test([])
    assert "not again" not in given[0]


def test_the_suites_do_not_run_again_without_a_reason_and_that_is_said(
    dev: ModuleType,
    given: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change(monkeypatch, "src/memoranda/text/words.py")
    dev.test(["-k", "tea"])
    assert given[0][-4:] == ["-m", "not again", "-k", "tea"]
    assert "without the tests marked again" in capsys.readouterr().out


def test_they_run_where_nobody_knows_what_changed_and_where_they_are_asked_for(
    dev: ModuleType, given: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(monkeypatch, base="")
    dev.test([])
    change(monkeypatch)
    dev.test(["--all"])
    dev.test(["tests/engines/test_postgres.py"])
    assert [command for command in given if {"not again", "--all"} & {*command}] == []
