"""The pages about HTTP: their requests work as they stand, and they name every argument of a
turn.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from memoranda.service.v1_requests import TURN_CONTEXT
from tests.cli.command_line import run_command
from tests.service.live_service import live_service

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "start" / "http.md").read_text("utf-8")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_first_requests_work_as_they_stand(tmp_path: Path) -> None:
    block = PAGE.partition("<!-- requests -->\n```console\n")[2].partition("```")[0]
    commands = [line.removeprefix("$ ") for line in block.splitlines()]
    assert len(commands) == block.count("$ curl -s") > 5
    book = tmp_path / "book.db"
    for words in re.findall(r"^\$ memoranda (init|keys create .*)$", PAGE, re.MULTILINE):
        made = run_command(tmp_path, "--json", "--book", "book.db", *words.split())
        assert made.returncode == 0, made.stderr
    around = {"KEY": json.loads(made.stdout)["secret"], "PATH": "/usr/bin:/bin:/usr/local/bin"}
    answers = []
    with live_service(book) as url:
        for command in commands:
            answer = subprocess.run(
                ["/bin/sh", "-c", f"{command} --fail-with-body"],
                env={**around, "URL": url},
                capture_output=True,
                text=True,
                check=False,
            )
            assert answer.returncode == 0, command + answer.stdout + answer.stderr
            answers.append(json.loads(answer.stdout))
    assert answers[1]["hits"][0]["text"] == "I like green tea"
    assert len(answers[4]["records"]) >= 1 and answers[5]


def test_the_page_names_every_argument_of_the_context_of_a_turn() -> None:
    page = (DOCS / "reference" / "rest.md").read_text("utf-8")
    turns = page.partition("**Turns.**")[2].partition("\n- ")[0]
    assert {name for name in TURN_CONTEXT if f"`{name}`" not in turns} == set()
