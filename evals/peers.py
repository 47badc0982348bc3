"""Compares memories on the same corpus and the same vectors: ``--data PATH | --size N [--only NAME]
[--json]``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals.corpora import ADVERSARIAL, Corpus, Turn, load
from evals.measures import Ranked, summary
from evals.peer_sizes import sized_corpus, sized_vectors
from memoranda import MemorandaError
from memoranda.embedding import NoEmbedder, find

#: The compared memories, in this order: the name of the option, and the name in the table.
PEERS = {
    "memoranda": "Memoranda",
    "memoranda-meaning": "Memoranda, meaning alone",
    "langgraph": "LangGraph InMemoryStore",
    "langgraph-sqlite": "LangGraph AsyncSqliteStore",
    "lancedb": "LanceDB, hybrid",
    "chroma": "Chroma",
    "mem0": "mem0, raw add",
}
#: Memories that run in this environment.
OURS = frozenset({"memoranda", "memoranda-meaning"})
ROOT = Path(__file__).parent.parent
#: Time limit of one memory.
MINUTES = 30.0


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one memory, or the reason why there are none."""

    name: str
    version: str = ""
    #: The reason why there are no figures; empty if there are some.
    reason: str = ""
    #: A note for readers of the figures.
    note: str = ""
    r5: float | None = None
    r10: float | None = None
    mrr: float | None = None
    ndcg10: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    #: CPU time of all threads per question; on a busy machine it varies less than wall time.
    cpu_ms: float | None = None
    ingest_seconds: float | None = None
    disk_bytes: int | None = None
    memory_bytes: int | None = None


def document(turn: Turn) -> str:
    """Return the text that is embedded and that peers store: the speaker and the words."""
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def task_of(corpus: Corpus) -> dict[str, Any]:
    """Return the corpus in the form that every environment's process reads: one owner per
    conversation.
    """
    owners: list[dict[str, Any]] = []
    for number, conversation in enumerate(corpus.conversations, 1):
        turns = [
            {
                "id": turn.id,
                "session": turn.session,
                "at": "" if turn.at is None else turn.at.isoformat(),
                "role": turn.role,
                "text": document(turn),
                "message": message(turn),
            }
            for turn in conversation.turns
        ]
        questions = [each.text for each in conversation.questions if each.kind != ADVERSARIAL]
        owners.append({"name": f"owner-{number}", "turns": turns, "questions": questions})
    texts = {turn["text"] for owner in owners for turn in owner["turns"]}
    texts |= {question for owner in owners for question in owner["questions"]}
    return {"owners": owners, "texts": sorted(texts)}


def message(turn: Turn) -> dict[str, str]:
    """Return a turn as a message for Memoranda."""
    when = {} if turn.at is None else {"observed_at": turn.at.isoformat()}
    who = {} if turn.speaker is None else {"speaker": turn.speaker}
    return {"role": turn.role, "content": turn.text, **when, **who}


async def write_task(corpus: Corpus, exchange: Path, *, is_sized: bool = False) -> None:
    """Make every vector once, with the local model or at random, and write everything needed to a
    folder.
    """
    if is_sized:
        task = task_of(corpus)
        _write(exchange, task, sized_vectors(corpus, task))
        return
    embedder = await find()
    if isinstance(embedder, NoEmbedder):
        raise MemorandaError(f"there are no vectors to give: {embedder.reason}")
    task = task_of(corpus)
    vectors = await embedder.passages(task["texts"])
    await embedder.close()
    _write(exchange, task, vectors)


def _write(exchange: Path, task: dict[str, Any], vectors: NDArray[np.float32]) -> None:
    (exchange / "task.json").write_text(json.dumps(task), "utf-8")
    (exchange / "vectors.f32").write_bytes(np.asarray(vectors, dtype=np.float32).tobytes())


def python_of(name: str, given: Mapping[str, Path], folder: Path | None) -> Path | None:
    """Return the interpreter of a peer's environment: as given, or in the folder of
    environments.
    """
    if name in OURS:
        return Path(sys.executable)
    if name in given:
        return given[name]
    if folder is not None:
        for place in ("bin/python", "Scripts/python.exe"):
            if (found := folder / name / place).exists():
                return found
    return None


def run(
    name: str, python: Path | None, corpus: Corpus, exchange: Path, minutes: float = MINUTES
) -> Row:
    """Run one memory in a process of its own; a failure there is a row, too."""
    shown = PEERS[name]
    if python is None:
        return Row(shown, reason=f"not installed; give --environment {name}=PYTHON")
    paths = [
        str(ROOT),
        *([os.environ["PYTHONPATH"]] if name in OURS and "PYTHONPATH" in os.environ else []),
    ]
    try:
        done = subprocess.run(
            [str(python), "-m", "evals.peer_process", name, str(exchange)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            cwd=exchange,
            capture_output=True,
            text=True,
            timeout=60 * minutes,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Row(shown, reason=f"took longer than {minutes:g} minutes")
    except OSError as exc:
        return Row(shown, reason=f"{python} does not run: {exc.strerror or exc}")
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"ended with {done.returncode}"]
        return Row(shown, reason=f"failed: {last[0][:200]}")
    return row_of(shown, corpus, json.loads((exchange / f"{name}.json").read_text("utf-8")))


def row_of(shown: str, corpus: Corpus, answer: Mapping[str, Any]) -> Row:
    """Return the figures of one memory's answers."""
    if "missing" in answer:
        return Row(shown, reason=answer["missing"])
    asked = [
        question
        for conversation in corpus.conversations
        for question in conversation.questions
        if question.kind != ADVERSARIAL
    ]
    ranked = [
        Ranked(found, [0] * len(found), question.gold)
        for question, found in zip(asked, answer["found"], strict=True)
    ]
    figures = summary(ranked)
    taken = sorted(answer["milliseconds"])
    return Row(
        shown,
        answer["version"],
        note=answer["note"],
        r5=figures["r5"],
        r10=figures["r10"],
        mrr=figures["mrr"],
        ndcg10=figures["ndcg10"],
        p50_ms=_percentile(taken, 0.5),
        p95_ms=_percentile(taken, 0.95),
        cpu_ms=round(answer["cpu_milliseconds"] / len(taken), 2) if taken else None,
        ingest_seconds=round(answer["ingest_seconds"], 2),
        disk_bytes=answer["disk_bytes"],
        memory_bytes=answer["memory_bytes"],
    )


def _percentile(sorted_: Sequence[float], share: float) -> float | None:
    """Return a percentile that is one of the samples, never a mean of two."""
    return round(sorted_[min(len(sorted_) - 1, int(share * len(sorted_)))], 2) if sorted_ else None


def lines(rows: Sequence[Row]) -> list[str]:
    """Return the table as lines of text."""
    columns = (
        "R@5",
        "R@10",
        "MRR@10",
        "NDCG@10",
        "p50 ms",
        "p95 ms",
        "CPU ms",
        "ingest s",
        "disk MB",
        "memory MB",
    )
    told = [f"{'':<28}{'version':<14}" + "".join(f"{column:>10}" for column in columns)]
    for row in rows:
        head = f"{row.name:<28}{row.version:<14}"
        if row.reason:
            told.append(head + row.reason)
            continue
        quality = (row.r5, row.r10, row.mrr, row.ndcg10)
        times = (row.p50_ms, row.p95_ms, row.cpu_ms, row.ingest_seconds)
        sizes = tuple(
            None if held is None else round(held / 1e6, 1)
            for held in (row.disk_bytes, row.memory_bytes)
        )
        told.append(
            head
            + "".join(f"{'-' if cell is None else cell:>10}" for cell in (*quality, *times, *sizes))
        )
    return told + [f"{row.name}: {row.note}" for row in rows if row.note]


def compared(
    corpus: Corpus,
    names: Sequence[str],
    given: Mapping[str, Path],
    folder: Path | None,
    *,
    is_sized: bool = False,
    minutes: float = MINUTES,
) -> list[Row]:
    """Run all memories one after another, each in a process of its own."""
    with tempfile.TemporaryDirectory() as work:
        exchange = Path(work)
        asyncio.run(write_task(corpus, exchange, is_sized=is_sized))
        return [
            run(name, python_of(name, given, folder), corpus, exchange, minutes) for name in names
        ]


def environment(written: str) -> tuple[str, Path]:
    """Parse an option's ``NAME=PYTHON``."""
    name, equals, python = written.partition("=")
    if not equals or name not in PEERS.keys() - OURS:
        raise argparse.ArgumentTypeError(
            f"give NAME=PYTHON, NAME one of {', '.join(PEERS.keys() - OURS)}"
        )
    return name, Path(python)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    corpora = parser.add_mutually_exclusive_group(required=True)
    corpora.add_argument("--data", type=Path, help="LoCoMo's file, or a set of our own")
    corpora.add_argument(
        "--size", type=int, metavar="N", help="one owner with so many made-up passages"
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help="time limit of each memory")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--only", action="append", choices=PEERS, help="only these")
    parser.add_argument(
        "--environment",
        action="append",
        type=environment,
        default=[],
        metavar="NAME=PYTHON",
        help="the interpreter of the environment that a peer is installed in",
    )
    parser.add_argument(
        "--environments", type=Path, help="a folder with such environments, by their names"
    )
    given = parser.parse_args(arguments)
    names = [name for name in PEERS if given.only is None or name in given.only]
    try:
        is_sized = given.size is not None
        corpus = sized_corpus(given.size) if is_sized else load(given.data)
        rows = compared(
            corpus,
            names,
            dict(given.environment),
            given.environments,
            is_sized=is_sized,
            minutes=given.minutes,
        )
    except MemorandaError as exc:
        parser.error(str(exc))
    about = {"corpus": corpus.name, "sha256": corpus.sha256, "left_out": dict(corpus.left_out)}
    found = json.dumps({**about, "rows": [asdict(row) for row in rows]})
    sys.stdout.write((found if given.json else "\n".join(lines(rows))) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
