"""Scoring talks without a model: answers, corrections, statements and traps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.rule_talks import main, tells


def talk(kind: str, *turns: str, **more: list[str]) -> dict[str, Any]:
    """A talk; turns of the assistant begin with a dash."""
    said = [["assistant", one[2:]] if one.startswith("- ") else ["user", one] for one in turns]
    return {"id": f"{kind}{len(turns[0])}", "kind": kind, "language": "en", "turns": said,
            "expect": [], "also": [], "gone": [], **more}  # fmt: skip


TALKS = [
    talk("answer", "- Where do you live?", "In Jena", expect=["live jena"]),
    talk("answer", "- And your shoe size?", "40", expect=["40"]),
    talk("correction", "I'm vegan.", "- Ok.", "that was a joke", gone=["vegan"]),
    talk("correction", "Grmbl.", "- Ok.", "that was a joke", gone=["vegan"]),
    talk("statement", "I like jazz and I live in Jena.", expect=["jazz"]),
    talk("trap", "Do I live in Jena?"),
    talk("trap", "I live in Jena."),
    talk("trap", "I'm vegan.", "- Ok.", "that was a joke", also=["vegan"]),
]


def test_right_and_wrong_talks_are_counted_by_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, TALKS)))
    main(["--data", str(path), "--shown"])
    out = capsys.readouterr().out.splitlines()
    assert out[:5] == [
        "answers 1/2",
        "corrections 1/2",
        "statements 0/1",
        "traps wrong 2/3",
        "memories right 2/4",
    ]
    assert len(out) == 10 and "'Grmbl. // Ok. // that was a joke'" in out[6]


def test_words_are_found_by_how_they_begin() -> None:
    assert tells("Is allergic to Walnuts", "allerg walnut") and tells(
        "Prefers tea", "like|prefer tea"
    )
    assert not tells("Likes teapots in Oslo", "tea boston") and not tells("Hannah", r"\banna\b")
