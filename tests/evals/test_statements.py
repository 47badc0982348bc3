"""Scoring statements: values compare in one form, and the held half shows figures alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.statements import main, report, same_value, score

ITEMS: list[dict[str, Any]] = [
    {
        "text": "I live in Oslo.",
        "expect": [{"kind": "home", "value": "Oslo"}],
        "trap": None,
        "split": "dev",
    },
    {
        "text": "I like jazz.",
        "expect": [{"kind": "likes", "value": "blues"}],
        "trap": None,
        "split": "dev",
    },
    {"text": "I own a zither, said no one.", "expect": [], "trap": "sarcasm", "split": "dev"},
    {"text": "I own a drum.", "expect": [], "trap": "other", "split": "held"},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"items": ITEMS}))
    return path


def test_values_compare_without_case_article_and_punctuation() -> None:
    assert same_value("The 9th of August.") == same_value("9th of august")
    assert same_value("my  low-salt") == same_value("Low salt")
    assert same_value("mum’s name") == same_value("mum's name") != same_value("mum name")


def test_what_is_right_missed_and_wrong_is_counted() -> None:
    figures = report(score(item for item in ITEMS if item["split"] == "dev"), "dev")
    assert figures["all"] == {
        "expected": 2, "found": 2, "right": 1, "precision": 0.5, "recall": 0.5, "f1": 0.5,
    }  # fmt: skip
    assert figures["kinds"]["home"]["f1"] == 1
    assert figures["traps"] == {"sarcasm": {"texts": 1, "fell_for": 0}}


def test_misses_are_shown_for_dev(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--data", str(data)])
    out = capsys.readouterr().out
    assert "missed likes: blues" in out and "wrong  likes: jazz" in out and "drum" not in out


def test_no_text_of_the_held_half_is_shown(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--data", str(data), "--half", "held"])
    out = capsys.readouterr().out
    assert "drum" not in out and "other" in out
    main(["--data", str(data), "--half", "held", "--json"])
    assert json.loads(capsys.readouterr().out)["traps"] == {"other": {"texts": 1, "fell_for": 1}}


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("[]")
    with pytest.raises(SystemExit):
        main(["--data", str(path)])


def test_the_dev_half_of_our_own_set_stays_understood(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--json"])
    figures = json.loads(capsys.readouterr().out)["all"]
    assert figures["precision"] >= 0.95 and figures["recall"] >= 0.9
