"""Tests of talks formed with stored answers: the memories that an answer ends are ended, and no
others.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals import forming_trial

TALKS = Path(forming_trial.__file__).parent / "sets" / "forming_trial"


@pytest.fixture
def figures(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    # The command sets these for its own process.
    for name in ("MEMORANDA_EMBEDDING_USE", "MEMORANDA_FORMING_WINDOW_TOKENS"):
        monkeypatch.setenv(name, "")

    def run(answers: Path, talk: str = "support") -> dict[str, Any]:
        arguments = [str(TALKS / f"{talk}.json"), "--answers", str(answers), "--json"]
        assert forming_trial.main(arguments) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


def test_without_answers_nothing_is_held_and_each_question_is_named(
    tmp_path: Path, figures: Any
) -> None:
    found = figures(tmp_path)

    assert found["supersessions_applied"] == 0
    assert "01-notes" in found["unanswered"] and "Postgres 16" in found["missing_at_end"]


def test_a_trial_asks_one_question_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = [str(TALKS / "support.json"), "--answers", str(tmp_path), "--ask"]
    assert forming_trial.main(talk) == 3
    assert "write 01-notes.answer.txt" in capsys.readouterr().out
    assert [one.name for one in tmp_path.iterdir()] == ["01-notes.request.txt"]
    (tmp_path / "01-notes.answer.txt").write_text('{"notes": []}', "utf-8")
    assert forming_trial.main(talk) == 3
    assert "was taken" in capsys.readouterr().out
    assert forming_trial.main(talk) == 3
    assert "write 02-episode.answer.txt" in capsys.readouterr().out


def test_what_right_answers_end_is_ended_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert forming_trial.main(["--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert set(found["runs"]) == {
        f"{talk}/{run}" for talk in ("support", "stage") for run in ("one", "two", "three")
    }
    for name, run in found["runs"].items():
        assert run["ended_in_answers"] >= 12, name
        assert run["ended_and_refused"] == run["ended_and_not_named"] == [], name
        assert run["calls_again"] == 0, name
        assert name.startswith("stage") or run["stale_active"] == run["missing_at_end"] == [], name
    for sums in (found, found["apart"]):
        assert sums["supersessions_applied"] == sums["supersessions_right"] > 30
        assert sums["supersessions_wrong"] == 0
    assert (
        found["stale_active"] == found["gullible_kept_unmarked"] == found["gullible_as_user"] == 0
    )
    assert found["gullible"] == 78
