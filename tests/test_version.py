"""Builds can be told apart: each has a version that names its commit, and a newer one takes an
older one's place.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from importlib.metadata import metadata
from pathlib import Path

import pytest

import memoranda
from tests.docs.pages import ROOT
from tools import version as versions


def git(folder: Path, *words: str) -> str:
    names = {
        f"GIT_{who}_{what}": "x@y.z"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    command = ["git", "-C", str(folder), "-c", "commit.gpgsign=false", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **names}
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one commit that builds as ours does, and whose package prints one word."""
    folder = tmp_path / "checkout"
    (folder / "src" / "memoranda").mkdir(parents=True)
    (folder / "tools").mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "tools/version.py"):
        shutil.copy(ROOT / name, folder / name)
    (folder / ".gitignore").write_text("__pycache__\n/dist\n")
    (folder / "src" / "memoranda" / "__init__.py").write_text("WORD = 'first'\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "First")
    return folder


def test_a_build_names_the_number_of_its_commit_and_the_commit(checkout: Path):
    assert (
        versions.version(checkout)
        == f"0.1.0.dev1+g{git(checkout, 'rev-parse', '--short=9', 'HEAD')}"
    )


def test_a_changed_tree_has_a_version_of_its_own_for_each_change(checkout: Path):
    found = {versions.version(checkout)}
    for text in ("WORD = 'second'\n", "WORD = 'third'\n"):
        (checkout / "src" / "memoranda" / "__init__.py").write_text(text)
        found.add(versions.version(checkout))
    (checkout / "src" / "memoranda" / "new.py").write_text("\n")
    found.add(versions.version(checkout))
    assert len(found) == 4 and sum(".d" in one.partition("+")[2] for one in found) == 3


def test_the_commit_of_the_tag_has_the_version_of_the_tag(checkout: Path):
    git(checkout, "tag", "v0.1.0")
    assert versions.version(checkout) == "0.1.0"
    (checkout / "README.md").write_text("changed")
    assert versions.version(checkout).startswith("0.1.0.dev1+g")


def test_a_shallow_clone_counts_no_commits(checkout: Path, tmp_path: Path):
    git(checkout, "commit", "--quiet", "--allow-empty", "-m", "Second")
    git(tmp_path, "clone", "--quiet", "--depth", "1", checkout.as_uri(), "shallow")
    assert re.fullmatch(r"0\.1\.0\.dev0\+g[0-9a-f]{9}", versions.version(tmp_path / "shallow"))


def test_a_folder_without_git_is_unknown_even_within_another_checkout(checkout: Path, monkeypatch):
    inner = checkout / "inner"
    inner.mkdir()
    shutil.copy(ROOT / "pyproject.toml", inner)
    assert versions.version(inner) == "0.1.0.dev0+unknown"
    monkeypatch.setenv("PATH", "/nonexistent")
    assert versions.version(checkout) == "0.1.0.dev0+unknown"


def test_an_archive_and_a_builder_are_told_their_version(checkout: Path, monkeypatch):
    (checkout / "PKG-INFO").write_text(
        "Metadata-Version: 2.4\nName: memoranda\nVersion: 0.1.0.dev7+gabc\n"
    )
    assert versions.version(checkout) == "0.1.0.dev7+gabc"
    monkeypatch.setenv("MEMORANDA_BUILD_VERSION", "0.1.0.dev8+gdef")
    assert versions.version(checkout) == "0.1.0.dev8+gdef"


def test_a_wheel_of_a_later_commit_takes_the_place_of_an_earlier_one(
    checkout: Path, tmp_path: Path
):
    place = tmp_path / "environment"
    venv.create(place, with_pip=False)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    for word in ("first", "second"):
        if word == "second":
            (checkout / "src" / "memoranda" / "__init__.py").write_text("WORD = 'second'\n")
            git(checkout, "commit", "--quiet", "--all", "-m", "Second")
        dist = tmp_path / word
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)]
        subprocess.run(build, cwd=checkout, check=True, capture_output=True)
        (wheel,) = dist.glob("*.whl")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(python),
            "install",
            "--quiet",
            "--no-deps",
        ]
        subprocess.run(
            [*pip, "--disable-pip-version-check", str(wheel)], check=True, capture_output=True
        )
        shown = "import memoranda, importlib.metadata as m; print(memoranda.WORD, m.version('memoranda'))"
        done = subprocess.run(
            [python, "-I", "-c", shown], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [word, versions.version(checkout)]


def test_the_program_its_metadata_and_doctor_agree(tmp_path: Path):
    book = ["--book", str(tmp_path / "book.db")]

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "memoranda", *book, *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path
        ).stdout

    run("init")
    assert run("--version").split() == ["memoranda", metadata("memoranda")["Version"]]
    (found,) = (line for line in run("doctor").splitlines() if line.split()[:1] == ["program"])
    assert (
        memoranda.__version__ == metadata("memoranda")["Version"] and memoranda.__version__ in found
    )
    assert "editable" in found  # ./dev installs this checkout so
