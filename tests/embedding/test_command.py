"""``memoranda weights``, as people and scripts run it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from memoranda.cli.commands import setup_commands as command
from memoranda.cli.program import program
from memoranda.embedding import model_files


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without the weights."""
    monkeypatch.setattr(model_files, "PACKAGE", "no_such_weights_package")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(program, ["weights", *words])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def test_it_shows_where_the_model_is(weights_folder: Path) -> None:
    shown = json.loads(run("show", "--json"))
    assert shown["usable"] and Path(shown["used"]["folder"]) == weights_folder
    assert all(shown["libraries"].values())
    assert f"{weights_folder}: complete" in run("show").replace("\n", "")


def test_it_says_what_to_run_where_nothing_is(bare: Path) -> None:
    shown = json.loads(run("show", "--json", code=1))
    assert not shown["usable"] and shown["used"] is None
    assert "memoranda weights install" in run("show", code=1)


def test_files_of_another_model_are_shown_as_unfit(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in (model_files.TENSORS, model_files.TOKENIZER):
        with (tmp_path / file.name).open("wb") as out:
            out.truncate(file.size)
    monkeypatch.setenv("MEMORANDA_EMBEDDING_WEIGHTS", str(tmp_path))
    (look,) = json.loads(run("show", "--json", code=1))["places"]
    assert look["place"] == "given" and "SHA-256" in look["wrong"]


def test_what_is_there_is_not_installed_again(
    weights_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "install", lambda target: pytest.fail("the installer ran"))
    assert json.loads(run("install", "--json")) == {
        "folder": str(weights_folder),
        "installed": False,
    }


def test_it_installs_into_the_cache(
    weights_folder: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = bare / ".cache" / "memoranda" / "weights"
    code = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); p.parent.mkdir(parents=True); p.symlink_to(sys.argv[2])"
    line = [
        sys.executable,
        "-c",
        code,
        str(target / model_files.PACKAGE / "model"),
        str(weights_folder),
    ]
    monkeypatch.setattr(model_files, "command", lambda into: line if into == target else [])
    told = json.loads(run("install", "--cache", "--json"))
    assert told["installed"] and Path(told["folder"]).resolve() == weights_folder.resolve()


def test_an_installer_that_fails_is_told_with_what_it_said(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = [sys.executable, "-c", "print('no such release'); raise SystemExit(3)"]
    monkeypatch.setattr(model_files, "command", lambda into: failing)
    assert "no such release" in run("install", code=15)


def test_a_package_without_the_published_files_is_not_taken(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "command", lambda into: [sys.executable, "-c", ""])
    assert "damaged or incomplete" in run("install", code=15)
