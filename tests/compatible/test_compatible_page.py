"""Every command on the page about other products' clients works."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.service.live_service import live_service

PAGE = Path(__file__).parents[2] / "docs" / "start" / "from-eddi.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_command_of_the_page_is_answered(tmp_path: Path) -> None:
    commands = re.findall(r"^\$ (curl .*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(commands) > 10
    with live_service(tmp_path / "book.db") as url:
        for command in commands:
            asked = command.replace("http://127.0.0.1:7411", url).replace(
                "curl ", "curl -sS --fail-with-body "
            )
            done = subprocess.run(
                asked, shell=True, capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
