"""Tests of the figures about reading times."""

from __future__ import annotations

import json
from typing import Any

from evals import times

PHRASES: list[dict[str, Any]] = [
    {
        "id": "a",
        "half": "dev",
        "language": "en",
        "role": "happened",
        "words": "yesterday",
        "first": "2026-09-08",
    },
    {
        "id": "b",
        "half": "dev",
        "language": "en",
        "role": "happened",
        "words": "yesterday",
        "first": "2026-09-07",
    },
    {
        "id": "c",
        "half": "dev",
        "language": "en",
        "role": "happened",
        "words": "a while ago",
        "first": "2026-09-07",
    },
    {
        "id": "d",
        "half": "held",
        "language": "de",
        "role": "valid_from",
        "words": "bald",
        "first": None,
    },
    {
        "id": "e",
        "half": "held",
        "language": "de",
        "role": "valid_from",
        "words": "seit 2019",
        "first": None,
    },
]


def phrases(folder):
    path = folder / "times.jsonl"
    after = {"2026-09-08": "2026-09-09", "2026-09-07": "2026-09-08", None: None}
    lines = [
        json.dumps(one | {"said": "2026-09-09T14:20+00:00", "after": after[one["first"]]})
        for one in PHRASES
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_each_phrase_counts_as_right_wrong_or_not_read(tmp_path, capsys):
    times.main(["--data", str(phrases(tmp_path)), "--json"])

    figures = json.loads(capsys.readouterr().out)
    assert figures["all"] == {"phrases": 5, "right": 40.0, "wrong": 40.0, "not_read": 20.0}
    assert figures["language"]["de"] == {
        "phrases": 2,
        "right": 50.0,
        "wrong": 50.0,
        "not_read": 0.0,
    }
    assert set(figures["role"]) == {"happened", "valid_from"}


def test_one_half_is_measured_alone_and_its_misses_are_shown(tmp_path, capsys):
    times.main(["--data", str(phrases(tmp_path)), "--half", "held", "--misses"])

    shown = capsys.readouterr().out
    assert "wrong e de" in shown
    assert "wrong b" not in shown
