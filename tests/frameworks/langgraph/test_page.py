"""The page about LangGraph: its program runs as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks


def test_the_program_of_the_page_finds_what_it_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = (one.code for one in blocks(DOCS / "start" / "langgraph.md") if one.form == "python")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "langgraph.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "Is allergic to walnuts\n"
