"""The wheel built from a checkout installs with its extras into an empty environment, and works as
the README says.
"""

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

from tests.docs.pages import ROOT, blocks

#: What each extra brings, as it is imported.
_BRINGS = {
    "embed": ("onnxruntime", "tokenizers"),
    "models": ("pydantic_ai",),
    "postgres": ("asyncpg",),
    "mongodb": ("pymongo",),
}


def run(*words: str | Path, folder: Path, code: int = 0) -> str:
    """Run a program that knows nothing of this checkout; returns what it printed."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "VIRTUAL_ENV"}
    }
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env=kept,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
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
        # Some Pythons that are supported have no filters; the archive is our own.
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(tmp_path)
    (unpacked,) = tmp_path.iterdir()
    assert {path.name for path in unpacked.iterdir()} >= {
        "dev",
        "docs",
        "proofs",
        "requirements.lock",
        "tests",
    }
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        tmp_path / "again",
        folder=unpacked,
    )
    assert in_wheel(wheel_in(tmp_path / "again")) == in_wheel(wheel_in(built))


def constraints(folder: Path) -> Path:
    """The locked versions as pip takes them for a wheel that has no hash."""
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    path = folder / "constraints.txt"
    path.write_text(
        "\n".join(re.findall(r"^[\w.-]+(?:\[[\w,-]+\])?==\S+(?: ;[^\\\n]*)?", lock, re.MULTILINE))
    )
    return path


def environment(place: Path, *wishes: str | Path, folder: Path) -> Path:
    """Make an environment in which only these wheels and what they need are installed; returns the
    folder of its programs.
    """
    venv.create(place, with_pip=False)
    bin = place / ("Scripts" if os.name == "nt" else "bin")
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        bin / "python",
        "install",
        "--quiet",
    ]
    pip += ["--no-compile", "--disable-pip-version-check", "-c", constraints(folder), *wishes]
    done = subprocess.run(
        list(map(str, pip)), cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(f"the wheels cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return bin


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment in which only the wheel and its extras are
    installed.
    """
    folder = tmp_path_factory.mktemp("empty")
    return environment(
        folder / "environment", f"{wheel_in(built)}[{','.join(_BRINGS)}]", folder=folder
    )


def test_the_package_is_all_that_an_empty_environment_needs(
    installed: Path, built: Path, tmp_path: Path
):
    for libraries in _BRINGS.values():
        for library in libraries:
            run(installed / "python", "-I", "-c", f"import {library}", folder=tmp_path)
    where = run(
        installed / "python",
        "-I",
        "-c",
        "import memoranda; print(memoranda.__file__)",
        folder=tmp_path,
    )
    assert Path(where.strip()).is_relative_to(installed.parent)
    version = wheel_in(built).name.split("-")[1]
    assert run(installed / "memoranda", "--version", folder=tmp_path).split() == [
        "memoranda",
        version,
    ]


#: A conversation of PydanticAI in a program of its own: what it is shown must have these words;
#: then the user says more.
_CONVERSATION = """
import asyncio, sys
import memoranda
from memoranda.integrations.pydantic_ai import Memoranda, Scope
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

agent_name, thread, question, *words = sys.argv[1:]
shown = []

def answer(messages, info):
    shown[:] = [str(messages)]
    return ModelResponse(parts=[TextPart("I see.")])

async def main():
    async with memoranda.open("book.db") as book:
        async with asyncio.timeout(60):
            # What an earlier program left is formed by this one, which asks for nothing.
            while any(job.kind == "form" for job in await book.engine.jobs(None, 10)):
                await asyncio.sleep(0.05)
        memory = Memoranda(book, Scope("ana", agent_name, thread=thread))
        await Agent(FunctionModel(answer), capabilities=[memory]).run(question)
        # What the profile says is not said again among the memories.
        known = shown[0].partition("<user_profile>")[2].partition("<episodes>")[0] or shown[0]
        missing = [word for word in words if word not in known]
        assert not missing, (missing, shown[0])
        await memory.close(await book.thread("ana", name=thread, agent=agent_name))

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("page", "agent", "word"),
    [
        ("README.md", "helper", "Boston"),
        ("docs/start/python.md", "coach", "walnuts"),
        ("docs/start/pydantic-ai.md", "coach", "walnuts"),
    ],
)
def test_a_page_that_is_followed_ends_in_a_conversation_that_knows_the_one_before(
    installed: Path, tmp_path: Path, page: str, agent: str, word: str
):
    followed = [one.code for one in blocks(ROOT / page) if one.form == "python" and not one.why]
    assert followed
    program = (installed / "python", "-I", "-W", "error", "-c")

    def converse(thread: str, question: str, *words: str) -> None:
        run(*program, _CONVERSATION, agent, thread, question, *words, folder=tmp_path)

    for number, code in enumerate(followed):
        run(*program, code, folder=tmp_path)
        if number == 0:
            converse("second", "I play the oboe. What do you know about me?", word)
            converse("third", "What do you know about me?", word, "oboe")
            said = run(installed / "memoranda", "doctor", "--book", "book.db", folder=tmp_path)
            assert re.search(r"formation +ok .*(threads? waits?|no thread waits)", said), said


#: Validates SQLite, and then an engine that loses the last record of each page, which the suite
#: notices.
_VALIDATION = """
from dataclasses import replace

from memoranda.engines.sqlite.engine import SqliteEngine
from memoranda_conformance import validate

assert not validate(lambda folder: SqliteEngine.open(folder / "book.db")).failures

class Forgetful(SqliteEngine):
    async def scan(self, *given):
        page = await super().scan(*given)
        return replace(page, records=page.records[:-1])

report = validate(lambda folder: Forgetful.open(folder / "book.db"), "-k", "test_a_scan_finds")
assert [name.partition(".")[2] for name in report.failures] == ["test_a_scan_finds_the_memories_that_cite_a_message"]
"""


def test_the_conformance_suite_validates_sqlite_where_only_the_two_wheels_are(
    built: Path, tmp_path: Path
):
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        tmp_path,
        folder=ROOT / "conformance",
    )
    place = tmp_path / "environment"
    bin = environment(place, wheel_in(built), wheel_in(tmp_path), folder=tmp_path)
    said = run(bin / "python", "-I", "-W", "error", "-c", _VALIDATION, folder=tmp_path)
    assert re.search(r"^ErasureSuite: \d+ passed$", said, re.MULTILINE), said
    assert re.search(r"^in all: \d{3} passed$", said, re.MULTILINE), said


def test_the_wheel_does_without_pytest(built: Path):
    with zipfile.ZipFile(wheel_in(built)) as opened:
        modules = [name for name in opened.namelist() if name.endswith(".py")]
        pytests = [
            name
            for name in modules
            if re.search(rb"^\s*(import|from) _?pytest", opened.read(name), re.MULTILINE)
        ]
    assert modules and not pytests
