"""The bench runs, and prints a row for everything that it promises to measure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bench.__main__ as bench_main
import memoranda
from bench import against, embedding, items
from bench.__main__ import MEASUREMENTS, main, measure
from bench.data_filtering import CONDITIONS
from bench.figures import TINY, Place, Row, table
from bench.filtering import conditions, make_mixed
from bench.standin import StandIn
from bench.text import Talk
from memoranda.embedding import NoEmbedder

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
    "remember": ["a new statement", "under an existing key"],
    "recall": [
        "warm, 30 passages ",
        "warm, 30 passages, words alone",
        "cold, 30 passages",
        "exact ten, 30 passages, words and meaning",
        "exact ten, 30 passages, meaning alone",
        "index in memory",
        "stand-in's texts and vectors",
    ],
    "filters": [
        "recall: warm, 200 passages, mixed, no condition",
        *(
            f"  {name}, a multiple"
            for name in "type kind status key subject thread agent tags".split()
        ),
        *(f"  {name}, a multiple" for name in "time trust valid_at as_of known_at".split()),
        "type, kind, agent, tags, trust, time, known_at, a multiple",
        *(
            f"  {verb}, {name}, a multiple"
            for verb in ("recall of ten hits", "list of a hundred", "count")
            for name in CONDITIONS
        ),
    ],
    "context": [
        "recall: warm, 62 hits, 200 passages",
        "context: 200 passages, its memories recorded as used",
        "context: 200 passages, mark_used=False",
        "with a thread's newest turns",
        "10 threads wait to be formed",
        "context, a multiple of recall",
        "context, p99 a multiple of p50",
    ],
    "large": ["searched by its engine"],
    "embedding": ["drain of the backlog", "vector of a question of 12 tokens"],
    "open": ["import", "open", "first recall"],
    "start": [
        "import memoranda",
        "memoranda --version",
        "memoranda --help",
        "open, remember, recall by words",
    ],
    "nights": [
        "60 memories, 15 archived",
        "60 memories, nothing to do",
        "300 memories, 75 archived",
    ],
    "size": ["file, with operation ids", "file, without operation ids", "share of the ledger"],
    "repeats": ["messages that say the same", "book, with the messages"],
    "owners": ["warm, 2 owners", "warm, 4 owners", "growth from 2 to 4 owners", "not read before"],
    "scaling": [
        "import, up to 2 owners",
        "vectors put",
        "on the disk",
        "memory of an owner",
        "growth from 2 to 4 owners",
    ],
    "crowd": ["warm, 2 owners", "warm, 4 owners", "growth from 2 to 4 owners", "words alone"],
    # Its rows need the environment that has LangGraph, whose tests run them.
    "items": ["LangGraph's stores"],
}


@pytest.mark.parametrize("name", [name for name in MEASUREMENTS if name not in ("service", "soak")])
def test_a_measurement_prints_each_of_its_rows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(items, "PYTHON", tmp_path / "none")
    said: list[str] = []
    rows = measure([name], Place(tmp_path, TINY), said.append)[name]
    assert all(row.note if row.value is None else row.value > 0 for row in rows)
    assert [part for part in ROWS[name] if part not in said[0]] == []
    assert list(tmp_path.iterdir()) == []


def test_a_soak_asks_every_verb_without_an_error_and_watches_the_process(tmp_path: Path):
    rows = {row.name.strip(): row for row in MEASUREMENTS["soak"](Place(tmp_path, TINY, seconds=4))}
    assert rows["errors"].value == 0
    assert not rows["largest write-ahead log"].missed
    assert all(
        rows[name].value
        for name in ("requests, 1 minutes", "memory in minute 1", "descriptors in minute 1")
    )


def test_as_json_it_is_one_object_with_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["--quick", "--json", "--folder", str(tmp_path), "batches"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"processor", "python", "sqlite", "fsync", "load"} <= told["machine"].keys()
    assert [row["unit"] for row in told["measured"]["batches"]] == ["ms"]


def test_shelves_of_a_size_that_is_asked_for_are_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["--quick", "--json", "--folder", str(tmp_path), "--passages", "7", "large"]) == 0
    rows = json.loads(capsys.readouterr().out)["measured"]["large"]
    assert [row["name"] for row in rows] == ["recall: searched by its engine, 7 passages"]


def test_an_unknown_measurement_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["sped"])
    assert "there are append, batches" in capsys.readouterr().err


def test_a_missed_target_stands_out():
    assert "≤ 1 MISSED" in table("speed", [Row("recall", 2.0, "ms", target=1.0)])
    assert "MISSED" not in table("speed", [Row("recall", 1.0, "ms", target=1.0)])
    assert "≥ 99.0 MISSED" in table("exact", [Row("ten", 98.9, "%", least=99.0)])
    assert "MISSED" not in table("exact", [Row("ten", 99.0, "%", least=99.0)])


def test_what_could_not_be_measured_says_so_and_why():
    row = Row(
        "drain", None, "passages/s", target=1.0, least=1.0, note="the weights are not installed"
    )
    told = table("embedding", [row])
    assert (
        "not measured" in told and "the weights are not installed" in told and "MISSED" not in told
    )
    assert row.as_json() == {
        "name": "drain",
        "unit": "passages/s",
        "target": 1.0,
        "least": 1.0,
        "note": "the weights are not installed",
    }


def test_without_the_local_model_every_row_that_needs_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def find() -> NoEmbedder:
        return NoEmbedder("no weights here")

    monkeypatch.setattr(embedding, "find", find)
    rows = list(embedding.embedding(Place(tmp_path, TINY)))
    assert len(rows) == 2 and all(
        row.value is None and row.note == "no weights here" for row in rows
    )


def test_what_takes_minutes_is_measured_only_where_it_is_named(monkeypatch: pytest.MonkeyPatch):
    measured: list[str] = []

    def measure(
        chosen: list[str], place: Place, say: Callable[[str], None]
    ) -> dict[str, list[Row]]:
        measured.extend(chosen)
        return {}

    monkeypatch.setattr(bench_main, "measure", measure)
    assert main(["--json"]) == 0
    long = ("crowd", "items", "large", "scaling", "service", "soak")
    assert measured == [name for name in MEASUREMENTS if name not in long]


async def test_the_stand_in_makes_the_same_unit_vectors_from_the_same_seed_and_others_from_another():
    texts = [Talk(3).passage() for _ in range(5)]
    one = await StandIn(1).passages(texts)
    assert one.shape == (5, 384) and np.allclose(np.linalg.norm(one, axis=1), 1, atol=1e-6)
    assert (await StandIn(1).passages(texts)).tobytes() == one.tobytes()
    assert (await StandIn(1).query(texts[2])).tobytes() == one[2].tobytes()
    assert not np.allclose(await StandIn(2).passages(texts), one)
    assert StandIn(1).embedding != StandIn(2).embedding


async def test_in_the_stand_ins_world_texts_with_words_in_common_are_near_each_other():
    talk = Talk(5)
    passages = [talk.passage() for _ in range(200)]
    questions = [talk.question(text) for text in passages]
    stand_in = StandIn(1)
    near = (await stand_in.passages(questions)) @ (await stand_in.passages(passages)).T
    own, others = np.diag(near), near[~np.eye(len(near), dtype=bool)]
    assert own.mean() > others.mean() + 3 * others.std() / 2
    # Joining words alone bring nothing together.
    common = await stand_in.passages(["it was for on with at", passages[0]])
    assert abs(float(common[0] @ common[1])) < 0.5


async def test_a_mixed_shelf_has_something_for_every_condition_and_something_that_it_shuts_out(
    tmp_path: Path,
):
    await make_mixed(tmp_path / "mixed.db", Place(tmp_path, replace(TINY, mixed=600)), StandIn(1))
    passages = {"types": ("message", "memory", "episode")}
    async with memoranda.open(tmp_path / "mixed.db", embed=None) as book:
        assert await book.engine.lacking(StandIn(1).embedding, 1) == []
        total = await book.records.count("ann", types=passages["types"], as_owner=True)
        threads = (await book.records.list("ann", types="thread", as_owner=True)).records
        for name, make in conditions(600, [thread.id for thread in threads]).items():
            made = [{**passages, **make(number)} for number in range(1, 12)]
            counts = [
                await book.records.count(
                    "ann", types=one["types"], only=one.get("only"), as_owner=True
                )
                for one in made
            ]
            assert max(counts) > 0 and min(counts) < total, name


def test_vectors_alone_are_compared_without_filling_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def run(_root: Path, _place: Path, task: str) -> dict[str, float]:
        asked.append(task)
        return {"vector of a passage": 2.0}

    monkeypatch.setattr(against, "run", run)
    assert against.main([str(tmp_path), "--vectors", "--pairs", "6"]) == 0
    assert asked == ["vectors"] * 12
    assert "ratio 1.000" in capsys.readouterr().out


def test_the_interval_of_a_median_ratio_is_read_from_the_order_of_the_ratios() -> None:
    # Of 24 values the 7th and the 18th hold the median in between with at least 95 %.
    assert against.interval([float(number) for number in range(24, 0, -1)]) == (7.0, 18.0)
    assert against.interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == (1.0, 6.0)


def test_two_checkouts_are_compared_pair_by_pair() -> None:
    figures = against.compare(
        [({"append": 2.0}, {"append": 1.0}), ({"append": 3.0}, {"append": 2.0})]
    )
    assert figures == [against.Figure("append", [2.0, 1.5], 2.5, 1.5)]


async def test_the_comparison_measures_each_call_and_recalls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(against, "SIZES", (500,))
    monkeypatch.setattr(against, "_LONG", 500)
    for count, few in (("_CALLS", 6), ("_RECALLS", 3), ("_FEW", 3)):
        monkeypatch.setattr(against, count, few)
    await against.fill(memoranda, tmp_path)
    measured = await against.measure(memoranda, tmp_path)
    # Only where the local model is installed.
    vectors = {"vector of a passage", "vector of a question"}
    recalls = ("recall of 500, hybrid", "recall of 500, words", "cold recall of 500")
    long = ("100 words in 500, hybrid", "100 words in 500, words")
    times = {f"{name}{unit}" for name in (*recalls, *long) for unit in ("", ", CPU")}
    assert {one for one in set(measured) - vectors if "embedded" not in one} == {
        *(
            f"CPU of {one}"
            for one in ("an append", "a remember", "a recall", "a context", "a forget")
        ),
        *times,
    }
    assert all(value > 0 for value in measured.values())


def test_an_unknown_engine_is_refused_with_an_address_as_an_example(
    capsys: pytest.CaptureFixture[str],
):
    with pytest.raises(SystemExit):
        main(["--engine", "mysql://books", "batches"])
    assert "no such engine: mysql://books; give an address" in capsys.readouterr().err


def test_several_engines_are_measured_one_after_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    asked = ["--quick", "--json", "--folder", str(tmp_path), "batches"]
    assert main([*asked, "--engine", "file", "--engine", "file"]) == 0
    one, other = json.loads(capsys.readouterr().out)
    assert one["measured"].keys() == other["measured"].keys() == {"batches"}
