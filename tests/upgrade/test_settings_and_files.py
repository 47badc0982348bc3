"""Former names of settings and files are reported with the remedy; no empty book appears beside them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import InvalidInput, NotABook
from memoranda.embedding.model_files import cache_folder, places
from tests.cli.command_line import run_command
from tests.upgrade.old_books import FILE, put_file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_command(Path(), *words, **variables)


async def test_where_only_the_former_default_file_is_no_book_is_made_beside_it(folder: Path):
    put_file(folder / "commonplace.db")
    choices: list[dict[str, Any]] = [{}, {"create": False}, {"read_only": True}]
    for options in choices:
        with pytest.raises(NotABook, match=r"rename it to memoranda\.db"):
            async with memoranda.open(**options):
                pass
    assert [path.name for path in folder.iterdir()] == ["commonplace.db"]


def test_the_synchronous_face_makes_none_either(folder: Path):
    put_file(folder / "commonplace.db")
    with pytest.raises(NotABook, match="commonplace"):
        memoranda.open_sync()
    assert [path.name for path in folder.iterdir()] == ["commonplace.db"]


@pytest.mark.parametrize("words", ["init", "list --owners", "remember ana tea", "doctor", "verify"])
def test_the_command_line_makes_none_either(words: str, folder: Path):
    put_file(folder / "commonplace.db")
    told = shell(*words.split())
    assert told.returncode != 0
    assert "rename it to memoranda.db" in told.stderr
    assert [path.name for path in folder.iterdir()] == ["commonplace.db"]


async def test_the_former_file_opens_under_its_name_and_under_todays(folder: Path):
    path = put_file(folder / "commonplace.db")
    async with memoranda.open("commonplace.db", embed=None, worker=False) as book:
        assert (await book.get("ben", FILE.id("ben"), agent="helper")).id == FILE.id("ben")
    path.rename(folder / "memoranda.db")
    put_file(path)
    async with memoranda.open(embed=None, worker=False) as book:
        assert (await book.get("ben", FILE.id("ben"), agent="helper")).id == FILE.id("ben")


@pytest.mark.parametrize(
    "variable",
    [
        "COMMONPLACE_LIMITS_BATCH",
        "COMMONPLACE_EMBEDDING_USE",
        "COMMONPLACE_RECALL_INDEX_BYTES",
        "COMMONPLACE_FORMING_ON",
        "COMMONPLACE_BUDGETS_OWNER_DAY",
        "COMMONPLACE_RETENTION_MESSAGES_DAYS",
        "COMMONPLACE_MODELS_TASKS",
    ],
)
async def test_a_setting_under_the_former_prefix_stops_an_opening(
    variable: str, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    # A setting may have been renamed besides.
    twin = variable.replace("COMMONPLACE", "MEMORANDA").replace("FORMING_ON", "FORMING_ENABLED")
    monkeypatch.delenv(twin, raising=False)
    monkeypatch.setenv(variable, "secret")
    with pytest.raises(InvalidInput, match=f"set {twin} instead") as refused:
        async with memoranda.open("book.db"):
            pass
    assert refused.value.field == variable
    assert "secret" not in str(refused.value)
    assert list(folder.iterdir()) == []


def test_a_variable_under_the_former_prefix_stops_the_command_line(folder: Path):
    told = shell("init", COMMONPLACE_BOOK="book.db")
    assert told.returncode != 0
    assert "set MEMORANDA_BOOK instead" in told.stderr
    assert list(folder.iterdir()) == []
    assert shell("init", COMMONPLACE_BOOK="old.db", MEMORANDA_BOOK="new.db").returncode == 0
    assert [path.name for path in folder.glob("*.db")] == ["new.db"]


async def test_a_variable_of_another_program_stops_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COMMONPLACE_HOME", "somewhere")
    monkeypatch.setenv("COMMONPLACE_LIMITS_BATCH", "7")
    monkeypatch.setenv("MEMORANDA_LIMITS_BATCH", "9")
    async with memoranda.open("book.db", embed=None, worker=False) as book:
        assert book is not None


def test_weights_in_the_former_cache_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(folder))
    former = folder / ".cache" / "commonplace" / "weights"
    former.mkdir(parents=True)
    (place,) = [place for place in places() if place.name == "cache"]
    assert place.folder is not None and place.folder.is_relative_to(former)
    today = cache_folder()
    assert today is not None
    today.mkdir(parents=True)
    (place,) = [place for place in places() if place.name == "cache"]
    assert place.folder is not None and place.folder.is_relative_to(today)
