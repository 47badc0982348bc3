"""The comparison with others: whatever one of them does or lacks, there is a row that says so."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals import peer_process
from evals.corpora import Conversation, Corpus, Question, Turn
from evals.peer_process import Given
from evals.peer_sizes import sized_corpus, sized_vectors
from evals.peers import PEERS, ROOT, Row, environment, lines, python_of, row_of, run, task_of

TURNS = (
    Turn("D1:1", 1, None, "Ana", "user", "I keep bees."),
    Turn("D1:2", 1, None, None, "assistant", "Since when?"),
)
QUESTIONS = (
    Question("What does Ana keep?", frozenset({"D1:1"}), "4"),
    Question("What does Bo keep?", frozenset({"D1:1"}), "5"),
    Question("Who asks?", frozenset({"D1:2"}), "1"),
)
CORPUS = Corpus("locomo", "", (Conversation("a", TURNS, QUESTIONS),), {})


def answered(**more: Any) -> dict[str, Any]:
    return {
        "version": "1.2",
        "note": "",
        "found": [["D1:1"], ["D1:1", "D1:2"]],
        "milliseconds": [4.0, 2.0],
        "cpu_milliseconds": 3.0,
        "ingest_seconds": 0.5,
        "disk_bytes": 2_000_000,
        "memory_bytes": None,
        **more,
    }


def test_a_task_holds_each_text_once_and_no_bait() -> None:
    task = task_of(CORPUS)
    assert task["owners"][0]["questions"] == ["What does Ana keep?", "Who asks?"]
    assert task["texts"] == ["Ana: I keep bees.", "Since when?", "What does Ana keep?", "Who asks?"]


def test_a_row_has_the_figures_of_what_was_answered() -> None:
    row = row_of("Chroma", CORPUS, answered())
    assert (row.r5, row.r10, row.mrr) == (100.0, 100.0, 75.0)
    assert (row.p50_ms, row.p95_ms, row.cpu_ms) == (4.0, 4.0, 1.5)
    assert lines([row])[1].split()[-3:] == ["0.5", "2.0", "-"]


def test_what_should_be_known_of_figures_stands_below_them() -> None:
    assert (
        lines([row_of("mem0", CORPUS, answered(note="by meaning alone"))])[-1]
        == "mem0: by meaning alone"
    )


def test_answers_to_fewer_questions_make_no_row() -> None:
    with pytest.raises(ValueError, match="zip"):
        row_of("Chroma", CORPUS, answered(found=[["D1:1"]]))


def test_a_peer_without_an_environment_is_a_row_that_says_so(tmp_path: Path) -> None:
    row = run("chroma", python_of("chroma", {}, tmp_path), CORPUS, tmp_path)
    assert row == Row("Chroma", reason="not installed; give --environment chroma=PYTHON")
    assert lines([row])[1].endswith(row.reason)


def test_a_peer_that_its_environment_lacks_is_a_row_that_says_so(tmp_path: Path) -> None:
    row = run("mem0", Path(sys.executable), CORPUS, tmp_path)
    assert row.reason == "mem0ai is not installed in this environment"


def test_a_peer_that_fails_is_a_row_with_its_last_word(tmp_path: Path) -> None:
    (tmp_path / "chromadb.py").write_text("raise RuntimeError('no disk left')")
    row = run("chroma", Path(sys.executable), CORPUS, tmp_path)
    assert row.reason == "failed: RuntimeError: no disk left"


def test_a_peer_that_takes_too_long_is_a_row_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "chromadb.py").write_text("import time; time.sleep(60)")
    row = run("chroma", Path(sys.executable), CORPUS, tmp_path, minutes=0.005)
    assert row.reason == "took longer than 0.005 minutes"


def test_an_interpreter_that_is_none_is_a_row_that_says_so(tmp_path: Path) -> None:
    row = run("langgraph", tmp_path / "python", CORPUS, tmp_path)
    assert "does not run: No such file" in row.reason


def test_an_environment_is_found_by_its_name_in_a_folder(tmp_path: Path) -> None:
    python = tmp_path / "chroma" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert python_of("chroma", {}, tmp_path) == python
    assert python_of("chroma", {"chroma": Path("other")}, tmp_path) == Path("other")
    assert python_of("mem0", {}, tmp_path) is None


@pytest.mark.parametrize("written", ["chroma", "nobody=python", "memoranda=python"])
def test_an_environment_of_nobody_is_refused(written: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="give NAME=PYTHON"):
        environment(written)


def test_memoranda_takes_the_given_vectors_and_answers_by_them(tmp_path: Path) -> None:
    task = task_of(CORPUS)
    numbers = array("f")
    for text in task["texts"]:
        numbers.extend([1.0, 0.0] if text in ("Ana: I keep bees.", "Who asks?") else [0.0, 1.0])
    (tmp_path / "task.json").write_text(json.dumps(task))
    (tmp_path / "vectors.f32").write_bytes(numbers.tobytes())
    row = run("memoranda-meaning", Path(sys.executable), CORPUS, tmp_path)
    assert (row.name, row.reason) == (PEERS["memoranda-meaning"], "")
    # The vectors say the opposite of the words: what answers has a cosine of 0, so it is not found.
    assert row.mrr == 0.0


async def test_every_question_is_asked_once_for_its_answer(tmp_path: Path) -> None:
    class Fixed:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def open(self, folder: Path, given: Given) -> None:
            self.given = given

        async def add(self, owner: str, turns: Sequence[Mapping[str, Any]]) -> None:
            assert [self.given.of(turn["text"]) for turn in turns] == [[1.0, 2.0], [3.0, 4.0]]

        async def ask(self, owner: str, question: str, vector: list[float]) -> list[str]:
            assert self.given.of(question) == vector
            self.asked.append(question)
            return [question]

        def note(self) -> str:
            return "fixed"

        async def close(self) -> None:
            (tmp_path / "kept").write_bytes(b"12345")

    owners = [{"name": "o", "turns": [{"text": "a"}, {"text": "b"}], "questions": ["c", "a"]}]
    given = Given(["a", "b", "c"], array("f", [1, 2, 3, 4, 5, 6]))
    store = Fixed()
    found = await peer_process.run(store, {"owners": owners}, given, tmp_path)
    assert found["found"] == [["c"], ["a"]]
    assert store.asked == ["c", "c", "a"]
    assert (found["disk_bytes"], found["note"], len(found["milliseconds"])) == (5, "fixed", 2)


def test_a_made_up_shelf_has_questions_whose_vectors_are_near_their_passages() -> None:
    corpus = sized_corpus(300)
    task = task_of(corpus)
    vectors = dict(zip(task["texts"], sized_vectors(corpus, task), strict=True))
    (conversation,) = corpus.conversations
    text_of = {turn.id: turn.text for turn in conversation.turns}
    assert (len(conversation.turns), len(conversation.questions)) == (300, 200)
    for question in conversation.questions[:20]:
        near = vectors[text_of[next(iter(question.gold))]]
        assert float(vectors[question.text] @ near) == pytest.approx(0.3, abs=0.15)
        assert float(np.linalg.norm(vectors[question.text])) == pytest.approx(1.0, abs=1e-3)


def test_an_environment_without_the_product_can_run_a_peer() -> None:
    program = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; from evals import peer_process"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
