"""The evaluation of secrets counts turns with a wrong span, and secrets that are wholly covered."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evals.secrets import main, measure
from tools.checkout import ROOT

TURNS: list[dict[str, Any]] = [
    {"text": "my password is hunter2!", "secrets": [{"start": 15, "end": 23, "class": "password"}]},
    {"text": "the code word is swordfish", "secrets": [{"start": 17, "end": 26, "class": "password"}]},
    {"text": "passport X4821903", "secrets": [], "optional": [{"start": 9, "end": 17, "class": "passport"}]},
    {"text": "our PIN is 4821", "secrets": []},
]


def test_a_span_is_wrong_if_it_touches_neither_a_secret_nor_an_optional_span() -> None:
    found = measure(TURNS)
    assert (found["turns"], found["turns_marked_wrongly"], found["one_in"]) == (4, 1, 4.0)
    assert found["wrong"] == [TURNS[3]]


def test_a_secret_counts_where_it_is_wholly_covered() -> None:
    found = measure(TURNS)
    assert found["classes"] == {"password": {"secrets": 2, "covered": 0.5}}
    cut = [{"text": "my password is hunter2!", "secrets": [{"start": 12, "end": 23, "class": "password"}]}]
    assert measure(cut)["covered"] == 0.0


def test_the_figures_are_printed_as_json_without_any_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "turns.jsonl"
    data.write_text("\n".join(map(json.dumps, TURNS)), "utf-8")
    main(["--data", str(data), "--json"])
    printed = capsys.readouterr().out
    assert json.loads(printed)["secrets"] == 2 and "hunter2" not in printed


def test_the_script_runs_as_a_file_too(tmp_path: Path) -> None:
    data = tmp_path / "turns.jsonl"
    data.write_text(json.dumps(TURNS[0]), "utf-8")
    run = subprocess.run(
        [sys.executable, str(ROOT / "evals" / "secrets.py"), "--data", str(data)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "100.0% wholly covered" in run.stdout
