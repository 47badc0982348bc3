"""The table of the blend beside its best scorer: a loss beyond chance is named, and ends the command with its own code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals import retrieval
from evals.best_arm import TOGETHER, broken, table
from evals.measures import Ranked
from evals.retrieval import BROKEN, SETS, corpora_of, main


def _asked(right: int, wrong: int) -> list[Ranked]:
    """Return questions of which so many were answered by the first hit, and so many by none."""
    gold = frozenset({"a"})
    return [Ranked(["a"], [1], gold)] * right + [Ranked(["b"], [1], gold)] * wrong


def _modes(blend: int, words: int, meaning: int, asked: int = 100) -> dict[str, list[Ranked]]:
    each = {"hybrid": blend, "words": words, "meaning": meaning}
    return {mode: _asked(right, asked - right) for mode, right in each.items()}


def test_the_blend_is_compared_with_the_better_of_its_scorers() -> None:
    rows = table({"one": _modes(80, 70, 75)})
    assert rows == {
        "one": {
            "n": 100,
            "r5": {"points": 5.0, "low": 0.71, "high": 9.29},
            "r10": {"points": 5.0, "low": 0.71, "high": 9.29},
            "arm": "meaning",
        }
    }
    assert broken(rows) == []


def test_a_loss_within_chance_is_not_broken_and_one_beyond_it_is() -> None:
    assert broken(table({"one": _modes(78, 80, 10)})) == []
    losses = broken(table({"one": _modes(70, 80, 10)}))
    assert losses[0] == "one: r5 is -10.0 points beside the best scorer (-15.91 to -4.09)"
    assert len(losses) == 2


def test_all_corpora_together_may_not_lose_at_all() -> None:
    rows = table({"one": _modes(80, 80, 10), "two": _modes(79, 80, 10)})
    assert (rows[TOGETHER]["n"], rows[TOGETHER]["r10"]["points"]) == (200, -0.5)
    assert [loss.split(":")[0] for loss in broken(rows)] == [TOGETHER, TOGETHER]


def test_the_command_ends_with_a_code_of_its_own_where_it_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def lost(*_: object, **__: object) -> dict[str, object]:
        return {"blend_over_best_arm": table({"one": _modes(70, 80, 10)})}

    monkeypatch.setattr(retrieval, "measured", lost)
    assert main(["--data", str(SETS / "notes.json"), "--json"]) == BROKEN == 3
    said = capsys.readouterr()
    assert "one: r10 is -10.0 points" in said.err
    assert json.loads(said.out)["blend_over_best_arm"]["one"]["arm"] == "words"


def test_talks_are_the_open_halves() -> None:
    names = [corpus.name for corpus in corpora_of(SETS / "notes.json", sets=False, talks=True)]
    assert names[0] == "notes"
    assert "assistant_talks.open" in names
    assert not [name for name in names if "held" in name]
