"""The evaluation of recall: its figures are those of the definitions, and its keys are where they
are looked for.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.corpora import load
from evals.measures import Ranked, summary
from evals.retrieval import MODES, compared, main, measure
from memoranda import MemorandaError

TALK = {
    "speaker_a": "Ana",
    "speaker_b": "Bo",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ana", "dia_id": "D1:1", "text": "I keep bees on the roof."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "My sister plays the cello."},
    ],
}
QUESTIONS = [
    {"question": "Who keeps bees on a roof?", "evidence": ["D1:1"], "category": 4},
    {"question": "Who plays the cello?", "evidence": ["D1:2"], "category": 5},
    {"question": "Who left?", "evidence": [], "category": 1},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.json"
    path.write_text(json.dumps([{"sample_id": "odd/name", "qa": QUESTIONS, "conversation": TALK}]))
    return path


def test_recall_is_the_share_of_what_answers() -> None:
    ranked = Ranked(["a", "b", "c", "d", "e", "f"], [10] * 6, frozenset({"b", "f"}))
    found = summary([ranked])
    assert (found["r5"], found["r10"], found["all10"], found["mrr"]) == (50.0, 100.0, 100.0, 50.0)
    assert ranked.within(25) == 0.5


def test_means_over_no_question_are_none_and_not_nought() -> None:
    assert summary([])["n"] == 0
    assert summary([])["r10"] is None


def test_the_headline_is_at_the_top_of_the_json(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(data), "--json", "--mode", "words"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cats_1_4"]["n"], found["cats_1_4"]["r5"], found["cats_1_4"]["r10"]) == (
        1,
        100.0,
        100.0,
    )
    assert found["cats_1_4_tuned_on"]["r10"] is None
    assert (found["adversarial"]["n"], found["all_five"]["n"]) == (1, 2)
    assert found["left_out"] == {"questions without evidence": 1}
    assert set(found["modes"]) == {"words", "all types"}


def test_the_table_shows_what_was_left_out(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(data), "--mode", "words"]) == 0
    assert "2 questions asked; left out: 1 questions without evidence" in capsys.readouterr().out


def test_a_wrong_file_ends_plainly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--data", str(tmp_path / "none.json")])
    assert ended.value.code == 2
    assert "cannot be read" in capsys.readouterr().err


async def test_an_arm_that_cannot_be_measured_is_refused(data: Path) -> None:
    with pytest.raises(MemorandaError, match="no meaning to measure: words alone were asked for"):
        await measure(load(data), MODES, embed=None)


async def test_the_same_turns_in_another_order_are_another_ranking(data: Path) -> None:
    one = await measure(load(data), ["words"], embed=None)
    again = await measure(load(data), ["words"], embed=None)
    assert compared(one, again) == {"rankings": 4, "rankings_identical": 4}
    again["words"][0].ranked.found.reverse()  # type: ignore[attr-defined]
    again["words"][1].ranked.found.clear()  # type: ignore[attr-defined]
    assert compared(one, again)["rankings_identical"] == 4 - sum(
        len(answered.ranked.found) > least
        for answered, least in zip(one["words"], (1, 0), strict=True)
    )


def test_an_engine_that_is_no_server_is_refused(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(data), "--mode", "words", "--engine", "memory://"])
    assert "engine: give the address" in capsys.readouterr().err
