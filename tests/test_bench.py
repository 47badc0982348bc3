"""The bench runs, and prints a row for everything that it promises to measure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import MEASUREMENTS, main, measure
from bench.figures import TINY, Place, Row, percentile, table
from bench.text import Talk

#: What each measurement's rows are called, in part.
ROWS = {
    "append": [
        "16 tasks, 16 owners",
        "16 tasks, one owner",
        "CPU of an append",
        "commits of an append",
        "2 processes",
    ],
    "batches": ["append ten messages"],
    "remember": ["a new statement", "under a key that is held"],
    "recall": ["warm, 30 passages", "cold, 30 passages", "index in memory"],
    "open": ["import", "open", "first recall"],
    "size": ["file, with operation ids", "file, without operation ids", "share of the ledger"],
    "owners": ["warm, 2 owners", "warm, 4 owners", "growth from 2 to 4 owners", "not read before"],
}


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_measurement_prints_each_of_its_rows(name: str, tmp_path: Path):
    said: list[str] = []
    rows = measure([name], Place(tmp_path, TINY), said.append)[name]
    assert all(row.value > 0 for row in rows)
    assert [part for part in ROWS[name] if part not in said[0]] == []
    assert list(tmp_path.iterdir()) == []


def test_as_json_it_is_one_object_with_the_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["--quick", "--json", "--folder", str(tmp_path), "batches"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"processor", "python", "sqlite", "fsync", "load"} <= told["machine"].keys()
    assert [row["unit"] for row in told["measured"]["batches"]] == ["ms"]


def test_an_unknown_measurement_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["sped"])
    assert "there are append, batches" in capsys.readouterr().err


def test_a_missed_target_stands_out():
    assert "≤ 1 MISSED" in table("speed", [Row("recall", 2.0, "ms", target=1.0)])
    assert "MISSED" not in table("speed", [Row("recall", 1.0, "ms", target=1.0)])


@pytest.mark.parametrize(("share", "value"), [(0.5, 50), (0.95, 95), (0.99, 99), (1.0, 100)])
def test_percentiles_are_samples(share: float, value: int):
    assert percentile([float(number) for number in range(100, 0, -1)], share) == value


def test_the_same_seed_makes_the_same_talk_of_the_length_asked_for():
    one, two = Talk(7), Talk(7)
    assert [one.passage() for _ in range(20)] == [two.passage() for _ in range(20)]
    assert {len(one.characters(500)) for _ in range(20)} == {500}
    assert all(5 <= len(one.question(one.characters(300)).split()) <= 8 for _ in range(50))
