"""The reference: it is what the code says, and nothing in the code is missing from it."""

from __future__ import annotations

import re

import pytest

from memoranda import Limits
from memoranda.assembly.book_setup import SECTIONS
from memoranda.book.all_operations import OPERATIONS
from memoranda.cli.program import COMMANDS
from proofs.__main__ import names
from tests.docs.pages import DOCS
from tools.reference.__main__ import made
from tools.reference.settings_tables import CLASSES


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return made()


def test_the_pages_and_pictures_are_what_the_code_makes(pages: dict[str, str]) -> None:
    held = [*(DOCS / "reference").glob("*"), *(DOCS / "pictures").glob("*")]
    there = {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in held}
    differ = [name for name in {*pages, *there} if pages.get(name) != there.get(name)]
    assert differ == [], "run python -m tools.reference"


def test_every_setting_has_its_description_in_the_code(pages: dict[str, str]) -> None:
    assert CLASSES.keys() == SECTIONS
    for section, of in CLASSES.items():
        for name, field in of.model_fields.items():
            assert field.description and field.description.endswith("."), f"{section}.{name}"
            assert f"| `{section}.{name}` |" in pages["reference/settings.md"]


def test_every_operation_command_and_proof_is_there(pages: dict[str, str]) -> None:
    for name, one in OPERATIONS.items():
        called = name if one.of_thread else f"book.{name}"
        assert f"### {called}\n" in pages["reference/python.md"], name
        assert f"`{name.rstrip('_')}` | {one.role} |" in pages["reference/rest.md"], name
    for name in COMMANDS:
        assert f"## memoranda {name}\n" in pages["reference/cli.md"], name
    for name in names():
        assert f"| `{name}` |" in pages["reference/proofs.md"], name


def test_an_argument_is_shown_as_its_function_has_it(pages: dict[str, str]) -> None:
    told = pages["reference/python.md"]
    assert "book.experience.add(agent: str, field: str, line: str, *," in told
    made = told.partition("### book.keys.create\n")[2].partition("###")[0]
    assert "groups: Sequence[str] | None = None" in made
    assert "agent=None, groups=(), as_owner=False) -> ThreadHandle" in " ".join(told.split())


def test_options_that_a_command_has_beside_the_shared_ones_are_in_its_section(
    pages: dict[str, str],
) -> None:
    told = {one.partition("\n")[0]: one for one in pages["reference/cli.md"].split("## memoranda ")}
    assert "| `--for-group` NAME |" in told["keys create"]
    assert "| `--earlier` / `--no-earlier` |" in told["forget"]
    assert "`--group`" not in told["recall"]
    for kind in Limits().kinds:
        assert kind in told["remember"].partition("`--kind` KIND | ")[2].partition("|")[0]


def test_pictures_are_drawn_for_both_schemes_with_text_that_a_phone_shows(
    pages: dict[str, str],
) -> None:
    pictures = {name: text for name, text in pages.items() if name.startswith("pictures/")}
    light = [name for name in pictures if not name.endswith("-dark.svg")]
    assert len(light) >= 6 and len(pictures) == 2 * len(light)
    for name, text in pictures.items():
        assert re.search(r'viewBox="0 0 336 ', text) and 'font-size="13"' in text, name
        assert (
            'fill="#e6edf3"' in text if name.endswith("-dark.svg") else 'fill="#1b1f24"' in text
        ), name
