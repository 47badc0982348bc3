"""What is built from a checkout can be installed with its extras where nothing else is, and does what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import memoranda
from tests.test_docs import ROOT, examples

#: What each extra brings, as it is imported.
_BRINGS = {"embed": ("onnxruntime", "tokenizers"), "models": ("pydantic_ai",), "postgres": ("asyncpg",)}


def run(*words: str | Path, folder: Path, code: int = 0) -> str:
    """Run a program that knows nothing of this checkout; returns what it printed."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        list(map(str, words)), cwd=folder, env=kept, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, folder=ROOT)
    return folder


def in_wheel(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


def wheel_in(folder: Path) -> Path:
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_has_all_of_the_package_and_nothing_else(built: Path):
    names = in_wheel(wheel_in(built))
    source = ROOT / "src"
    files = {
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    own = {name for name in names if ".dist-info/" not in name}
    assert own == files
    assert {name.rpartition("/")[2] for name in names - own} >= {"LICENSE", "NOTICE", "METADATA"}


def test_the_source_archive_builds_the_same_wheel(built: Path, tmp_path: Path):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert {path.name for path in unpacked.iterdir()} >= {
        "dev",
        "docs",
        "proofs",
        "requirements.lock",
        "tests",
    }
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "again", folder=unpacked)
    assert in_wheel(wheel_in(tmp_path / "again")) == in_wheel(wheel_in(built))


def constraints(folder: Path) -> Path:
    """The locked versions as pip takes them for a wheel that has no hash."""
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    path = folder / "constraints.txt"
    path.write_text(
        "\n".join(re.findall(r"^[\w.-]+(?:\[[\w,-]+\])?==\S+(?: ;[^\\\n]*)?", lock, re.MULTILINE))
    )
    return path


def test_the_readme_runs_where_only_the_wheel_and_its_extras_are_installed(built: Path, tmp_path: Path):
    place = tmp_path / "environment"
    venv.create(place, with_pip=False)
    bin = place / ("Scripts" if os.name == "nt" else "bin")
    wished = f"{wheel_in(built)}[{','.join(_BRINGS)}]"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        bin / "python",
        "install",
        "--quiet",
        "--no-compile",
    ]
    pip += ["--disable-pip-version-check", "-c", constraints(tmp_path), wished]
    done = subprocess.run(list(map(str, pip)), cwd=tmp_path, capture_output=True, text=True, check=False)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(f"the extras cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    for libraries in _BRINGS.values():
        for library in libraries:
            run(bin / "python", "-I", "-c", f"import {library}", folder=tmp_path)
    where = run(bin / "python", "-I", "-c", "import memoranda; print(memoranda.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(place)
    assert memoranda.__version__ in run(bin / "memoranda", "--version", folder=tmp_path)
    readme = [code for name, code in examples() if name.startswith("README")]
    assert readme
    for number, code in enumerate(readme):
        folder = tmp_path / f"example-{number}"
        folder.mkdir()
        run(bin / "python", "-I", "-W", "error", "-c", code, folder=folder)
