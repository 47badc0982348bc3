"""Scoring conversations: turns are said and formed one by one, and what is true at the end is
compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.conversations import main, same

ITEMS: list[dict[str, Any]] = [
    {"id": "a", "language": "en", "turns": ["I live in Oslo.", "I don't live in Oslo anymore."], "trap": None,
     "expect": [], "gone": [{"kind": "home", "value": "Oslo"}]},
    {"id": "b", "language": "en", "turns": ["I like jazz."], "trap": None,
     "expect": [{"kind": "likes", "value": "blues"}], "gone": [{"kind": "likes", "value": "jazz"}]},
    {"id": "c", "language": "de", "turns": ["Ich wohne in Kiel."], "trap": None,
     "expect": [{"kind": "moved", "value": "Kiel"}], "gone": []},
]  # fmt: skip


def test_values_compare_by_containment_and_names_by_either_word() -> None:
    assert same(("work", "UX designer at Google"), ("work", "designer"))
    assert same(("moved", "Kiel"), ("home", "Kiel"))
    assert same(("pet", "beagle Winston"), ("pet", "Winston, who snores"))
    assert same(("instruction", "Please always use metric"), ("instruction", "use metric"))
    assert not same(("likes", "jazz"), ("dislikes", "jazz"))
    assert not same(("likes", "jazz clubs"), ("likes", "night clubs"))


def test_what_is_right_missed_wrong_and_stale_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"items": ITEMS}))
    main(["--data", str(path), "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["all"] == {
        "expected": 2, "found": 2, "right": 1, "precision": 0.5, "recall": 0.5, "gone": 2, "stale": 1,
    }  # fmt: skip
    assert figures["languages"]["de"]["recall"] == 1 and figures["kinds"]["home"]["stale"] == 0
    main(["--data", str(path)])
    assert "missed" not in capsys.readouterr().out
    main(["--data", str(path), "--misses"])
    out = capsys.readouterr().out
    assert (
        "missed likes: blues" in out and "wrong  likes: jazz" in out and "stale  likes: jazz" in out
    )


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("[]")
    with pytest.raises(SystemExit):
        main(["--data", str(path)])
