"""The pages: their blocks run as they stand, their commands exist, and they keep to their form."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from memoranda.cli.program import program
from tests.cli.command_line import run_command
from tests.docs.pages import DOCS, PAGES, ROOT, blocks, name_of

#: Blocks that no test of pages runs, because they need a server, a provider or an installation;
#: each says why.
NOT_RUN = 20


def run_example(name: str, code: str) -> None:
    """Run an example as the main program of a fresh Python would, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        # Annotations of an example's classes are looked up in the module that the classes name.
        program = ModuleType("__main__")
        patch.setitem(sys.modules, "__main__", program)
        exec(compile(code, name, "exec"), vars(program))


def run_commands(folder: Path, code: str) -> None:
    """Run the commands of Memoranda in a block; lines that install or fetch something are for the
    reader alone.
    """
    for line in code.splitlines():
        if line.startswith("$ memoranda "):
            done = run_command(
                folder, *shlex.split(line.removeprefix("$ memoranda "), comments=True)
            )
            assert done.returncode == 0, (line, done.stdout, done.stderr)


@pytest.mark.works_by_itself
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(not one.why for one in blocks(page))], ids=name_of
)
def test_the_blocks_of_a_page_run_as_they_stand(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    # Commands without an address use the book of the folder, as a reader's do who has one.
    assert run_command(tmp_path, "init").returncode == 0
    for number, block in enumerate(blocks(page), 1):
        if block.why:
            continue
        if block.form == "python":
            run_example(f"{name_of(page)}-{number}", block.code)
        else:
            run_commands(tmp_path, block.code)


def test_blocks_that_do_not_run_are_few_and_say_why() -> None:
    left = [(name_of(page), block.why) for page in PAGES for block in blocks(page) if block.why]
    assert len(left) == NOT_RUN, left


@pytest.mark.works_by_itself
def test_the_first_example_leaves_what_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = (one.code for one in blocks(ROOT / "README.md") if one.form == "python")
    told = [line.partition("# ")[2] for line in example.splitlines() if "print(" in line]
    # Whoever tries it twice has the same book.
    for _ in range(2):
        run_example("README", example)
        assert capsys.readouterr().out.splitlines() == told


def _command(words: list[str]) -> click.Command:
    context = click.Context(program)
    found: click.Command | None = program.get_command(context, words[0])
    while isinstance(found, click.Group) and len(words) > 1 and not words[1].startswith("-"):
        words = words[1:]
        found = found.get_command(context, words[0])
    assert found is not None, f"there is no command {words[0]}"
    return found


def test_every_command_that_a_page_names_exists_with_its_options() -> None:
    faults = []
    for page in PAGES:
        for line in re.findall(
            r"`memoranda ((?:[a-z]|--)[^`]*)`", page.read_text("utf-8").replace("\n", " ")
        ):
            words = [word for word in re.split(r"\s+", line) if word]
            if words[0].startswith("--"):
                continue
            try:
                known = {
                    name
                    for one in _command(words).params
                    for name in (*one.opts, *one.secondary_opts)
                }
            except AssertionError as fault:
                faults.append(f"{name_of(page)}: {fault}")
                continue
            known |= {"--help", "--book", "--json"}
            faults += [
                f"{name_of(page)}: {line}: {word}"
                for word in words
                if word.startswith("--") and word not in known
            ]
    assert faults == []


def test_no_page_and_no_error_installs_the_product_from_an_index() -> None:
    """The name is somebody else's on an index of packages, so each install line names a checkout or
    a wheel.
    """
    texts = [
        *PAGES,
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "examples").rglob("*.py"),
        ROOT / "dev",
    ]
    bare = re.compile(r"(?:pip install|uv add|uv pip install)[^\n#]*[\s'\"]memoranda\b")
    assert [page.name for page in texts if bare.search(page.read_text("utf-8"))] == []


def test_the_glossary_is_short_and_defines_each_word_once() -> None:
    text = (DOCS / "glossary.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| **")]
    words = [word for row in rows for word in re.findall(r"\*\*(.+?)\*\*", row)]
    assert 0 < len(rows) <= 30
    assert len(words) == len(set(words))


def test_every_guide_and_start_page_leads_to_the_page_for_an_empty_memory() -> None:
    pages = [
        page
        for page in PAGES
        if page.parent.name in {"start", "guides"} and page.name != "install.md"
    ]
    assert [
        name_of(page) for page in pages if "it-remembers-nothing.md" not in page.read_text("utf-8")
    ] == ["docs/guides/it-remembers-nothing.md"]


def test_every_page_is_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    open_pages = [ROOT / "README.md"]
    while open_pages:
        page = open_pages.pop()
        if page in reached or page.suffix != ".md" or not page.is_file():
            continue
        reached.add(page)
        for target in re.findall(r"\]\(([^)#\s]+\.md)", page.read_text("utf-8")):
            if "://" not in target:
                open_pages.append((page.parent / target).resolve())
    assert [name_of(page) for page in sorted(DOCS.rglob("*.md")) if page not in reached] == []
