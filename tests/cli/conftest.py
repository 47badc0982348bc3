"""The fixture that tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder with a book."""
    made = Shell(tmp_path)
    made.run("init")
    return made
