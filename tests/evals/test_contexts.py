"""Tests of the evaluation of contexts: an answer is found in any spelling of its dates, also in a
set of one's own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.contexts import Answer, main

TALK: list[dict[str, Any]] = [
    {
        "sample_id": "conv-26",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "I went to the harbour yesterday."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "I bake bread."},
            ],
        },
        "observation": {"session_1_observation": {"Ben": [["Ben bakes bread.", "D1:2"]]}},
        "qa": [
            {"question": "When was Ana at the harbour?", "answer": "7 May 2023", "evidence": ["D1:1"], "category": 2},
            {"question": "What does Ben bake?", "answer": "cakes", "evidence": ["D1:2"], "category": 4},
            {"question": "Who bakes bread?", "answer": "Ana", "evidence": ["D1:2"], "category": 5},
        ],
    }
]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("7 May 2023", "- [2023-05-08 13:56, user] I went yesterday."),
        ("May 7th, 2023", "- [2023-05-09, fact, on 2023-05-07] Went there"),
        ("June 2023", "- [2023-06-10, fact] Went there"),
        ("2022", "- [2023-05-08, user] Last year I painted it."),
        ("The Friday before 15 July 2023", "- [2023-07-15, user] Last Friday we left."),
        ("April 2023", "- [received 2023-05-08, user] It was last month."),
        ("pottery classes", "- [2023-05-08, user] A class of pottery"),
    ],
)
def test_an_answer_stands_in_a_context_however_its_words_are_written(
    answer: str, text: str
) -> None:
    assert Answer(answer).stands_in(text)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("7 May 2023", "- [2023-05-08 13:56, user] I went."),
        ("June 2023", "- [2023-05-08, user] I went in June last year."),
        ("pottery, camping", "- [2023-05-08, user] A class of pottery"),
    ],
)
def test_an_answer_of_which_a_word_is_missing_does_not_stand(answer: str, text: str) -> None:
    assert not Answer(answer).stands_in(text)


def test_a_file_is_measured_raw_and_formed_and_stale_statements_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.json"
    turns = ["I live in Paris.", "I don't live in Paris anymore, I live in Lyon now."]
    item = {
        "id": "a",
        "language": "en",
        "turns": turns,
        "gone": [{"kind": "home", "value": "Paris"}],
    }
    own.write_text(json.dumps({"items": [item | {"expect": []}]}))
    monkeypatch.setattr("evals.contexts.SET", own)
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(TALK))
    assert main(["--data", str(file), "--budget", "500", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for way in ("raw", "formed"):
        figures = found["budgets"]["500"][way]
        assert (figures["questions"], figures["answered"]) == (2, 50.0)
        assert figures["categories"] == {"2": 100.0, "4": 0.0}
    assert found["budgets"]["500"]["raw"]["stale"] == 100.0
    assert found["budgets"]["500"]["formed"]["stale"] == 0.0
