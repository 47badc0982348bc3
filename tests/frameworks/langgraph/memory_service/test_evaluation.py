"""The evaluation set of the memory service: the given answers pass it, and it notices what is
wrong.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from evals import memory_service


@pytest.fixture(autouse=True)
def _book_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MEMORANDA_BOOK", "MEMORY_MODEL"):
        monkeypatch.setenv(name, "")


def test_the_given_answers_fill_what_each_case_expects(capsys: pytest.CaptureFixture[str]) -> None:
    assert memory_service.main([]) == 0
    told = capsys.readouterr().out
    assert "no model was asked" in told and "6 of 6 right" in told


def test_a_missing_and_a_surplus_memory_are_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases: list[Any] = json.loads(memory_service.SET.read_text("utf-8"))
    cases[0]["sessions"][1]["answer"] = {}
    cases[1]["sessions"][1]["answer"].pop("patches")
    cases[2]["sessions"][0]["answer"] = {
        "notes": [{"content": "The weather is nice", "said": "Nice weather"}]
    }
    (tmp_path / "set.json").write_text(json.dumps(cases))
    assert memory_service.main(["--set", str(tmp_path / "set.json"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["right"] for one in found] == [False, False, False, True, True, True]
    assert found[0]["missing"] and found[1]["missing"] and found[1]["surplus"]
    assert (
        found[2]["surplus"] == [{"Note": {"content": "The weather is nice", "context": ""}}]
        or found[2]["left_out"]
    )


def test_a_model_is_chosen_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    found = asyncio.run(memory_service.run("demo", memory_service.SET))
    assert [one["calls"] > 0 for one in found] == [True] * 6 and not all(
        one["right"] for one in found
    )
