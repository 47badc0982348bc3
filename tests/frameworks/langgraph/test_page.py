"""The page about LangGraph: its program runs as it stands, and knows the second time what it was
told the first time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks


def test_the_program_of_the_page_knows_in_its_second_run_what_it_was_told_in_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = (
        one.code for one in blocks(DOCS / "start" / "langgraph.md") if one.form == "python"
    )
    monkeypatch.chdir(tmp_path)
    for told in ("I know nothing\n", "Is allergic to walnuts\n"):
        exec(compile(program, "langgraph.md", "exec"), {"__name__": "__main__"})
        assert capsys.readouterr().out == told
