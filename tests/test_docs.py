"""Tests of the documentation: its examples run, and it names every command, setting and error."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

import memoranda
from memoranda import EpisodeFields, ToolCallFields
from memoranda.access.service_settings import ServiceSettings
from memoranda.assembly import RecallSettings
from memoranda.book.admin.retention import Retention
from memoranda.embedding import EmbeddingSettings
from memoranda.formation.budget import Budgets
from memoranda.formation.formation_settings import FormingSettings
from memoranda.model.records import Limits
from memoranda.models import ModelsSettings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_EXAMPLE = re.compile(r"<!-- example -->\n```python\n(.*?)```", re.DOTALL)


def examples() -> list[tuple[str, str]]:
    return [
        (f"{page.name}-{number}", code)
        for page in PAGES
        for number, code in enumerate(_EXAMPLE.findall(page.read_text("utf-8")), 1)
    ]


def run_example(name: str, code: str) -> None:
    """Run an example as the main program of a fresh Python would, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        # Annotations of an example's classes are looked up in the module that the classes name.
        program = ModuleType("__main__")
        patch.setitem(sys.modules, "__main__", program)
        exec(compile(code, name, "exec"), vars(program))


@pytest.mark.works_by_itself
@pytest.mark.parametrize(("name", "code"), examples(), ids=[name for name, _ in examples()])
def test_every_example_runs_as_it_stands(
    name: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_example(name, code)


def test_every_python_block_of_the_readme_is_an_example() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert text.count("```python") == len(_EXAMPLE.findall(text)) > 0


@pytest.mark.works_by_itself
def test_the_first_example_ends_with_what_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # Whoever tries it twice has the same book.
    for _ in range(2):
        run_example(*examples()[0])
        said = capsys.readouterr().out.splitlines()
        assert sorted(said[-2:]) == ["fact Lives in Boston", "preference Eats vegetarian"]


def test_the_readme_and_the_evaluation_say_the_same_share_of_tokens() -> None:
    sends = re.search(r"it sends ([\d.]+) %", (ROOT / "README.md").read_text("utf-8"))
    measured = re.search(
        r"The input is \*\*([\d.]+) %\*\*", (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    )
    assert sends is not None and measured is not None and sends[1] == measured[1]


def test_no_page_and_no_error_installs_the_product_from_an_index() -> None:
    """The name is somebody else's on an index of packages, so each install line names a checkout or a wheel."""
    texts = [*PAGES, *(ROOT / "src").rglob("*.py"), *(ROOT / "examples").rglob("*.py"), ROOT / "dev"]
    bare = re.compile(r"(?:pip install|uv add|uv pip install)[^\n#]*[\s'\"]memoranda\b")
    assert [page.name for page in texts if bare.search(page.read_text("utf-8"))] == []


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "using.md").read_text("utf-8")
    own = (ROOT / "docs" / "embedding.md").read_text("utf-8")
    for section, of in (("limits", Limits), ("embedding", EmbeddingSettings), ("recall", RecallSettings)):
        for name in of.model_fields:
            assert f"`{section}.{name}`" in text, name
            assert section != "embedding" or f"`{section}.{name}`" in own, name


@pytest.mark.parametrize(
    ("section", "of", "page"),
    [
        ("forming", FormingSettings, "forming.md"),
        ("budgets", Budgets, "money.md"),
        ("models", ModelsSettings, "models.md"),
        ("retention", Retention, "grounds.md"),
        ("service", ServiceSettings, "security.md"),
    ],
)
def test_every_setting_of_a_page_is_documented(section: str, of: type[BaseModel], page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert [name for name in of.model_fields if f"{section}.{name}" not in text] == []


def test_the_fields_of_episodes_and_tool_calls_are_documented() -> None:
    page = (ROOT / "docs" / "experience.md").read_text("utf-8")
    tables = [table.split("\n\n")[0] for table in re.split(r"\| field[^|]*\| value", page)[1:]]
    for table, of in zip(tables, (EpisodeFields, ToolCallFields), strict=True):
        first_cells = "".join(line.split("|")[1] for line in table.split("\n")[2:])
        assert set(re.findall(r"`(\w+)`", first_cells)) == set(of.__annotations__)


def test_the_glossary_is_short_and_defines_each_word_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| **")]
    words = [word for row in rows for word in re.findall(r"\*\*(.+?)\*\*", row)]
    assert 0 < len(rows) <= 60
    assert len(words) == len(set(words))


def test_every_proof_is_documented() -> None:
    text = (ROOT / "docs" / "proofs.md").read_text("utf-8")
    for path in (ROOT / "proofs").glob("*.py"):
        if not path.name.startswith("_"):
            assert f"- **`{path.stem}`**: " in text, path.stem


def test_the_public_names_are_these() -> None:
    assert sorted(memoranda.__all__) == [
        "Audience",
        "Book",
        "Busy",
        "Conflict",
        "Context",
        "CopyReport",
        "Corrupt",
        "EmbedderDown",
        "Embedding",
        "EmbeddingFailed",
        "EpisodeFields",
        "Erased",
        "ErasureReceipt",
        "HasDependents",
        "Hit",
        "Hits",
        "InvalidInput",
        "Item",
        "ItemPut",
        "LimitReached",
        "Limits",
        "MemorandaError",
        "MissingHit",
        "Moved",
        "NotABook",
        "NotAllowed",
        "NotFound",
        "OperationReused",
        "OutcomeUnknown",
        "Owner",
        "Page",
        "ReadOnly",
        "Receipt",
        "Stale",
        "StorageError",
        "StorageFull",
        "SyncBook",
        "ThreadHandle",
        "ToolCallFields",
        "Trust",
        "UnfinishedCopy",
        "VersionMismatch",
        "View",
        "Why",
        "Window",
        "cancel_copy",
        "cancel_copy_sync",
        "copy",
        "copy_sync",
        "open",
        "open_sync",
    ]
