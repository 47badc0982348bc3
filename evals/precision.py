"""Compares the local model in float32 and in int8: ranking and speed of both, ``--data PATH [--json]``.

The quantized graphs are made by onnxruntime's own tool, which needs onnx beside the extra ``embed``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals.corpora import TUNED_ON, Corpus, load
from evals.measuring import resident
from evals.retrieval import MODES, SET_NAMES, SETS, measure, report
from memoranda.embedding.local_model import (
    DIMENSION,
    LONGEST_TOKENS,
    Floats,
    batches,
    initialisers,
    processors,
)
from memoranda.embedding.model_files import TOKENIZER, content, places, tensors
from memoranda.model.vectors import Embedding

FLOAT = "float32"
#: What is quantized, as onnxruntime's tool is told. Without a word, the table of words is quantized too.
QUANTIZED: dict[str, dict[str, Any]] = {
    "int8, a scale for each matrix": {},
    "int8, a scale for each column": {"per_channel": True},
    "int8, the table of words in float32": {
        "per_channel": True,
        "op_types_to_quantize": ["MatMul", "Attention"],
    },
}
#: Twelve tokens, the two that stand for beginning and end among them.
QUESTION = "when did my sister say that she would move away"
#: About forty tokens.
PASSAGE = (
    "{} of us talked for an hour about the garden behind the old house, and she told me that the plum trees "
    "were cut down last spring because their roots had lifted the stones of the path."
)
PASSAGES = 64
ROUNDS = 200
#: Processes for each graph, in turn, so that a busy moment does not meet one of them alone; the best one counts.
TURNS = 3
#: Texts whose vectors are made alone, and again among others.
ALONE = 100


class Graph:
    """An embedder like the product's own, from a graph with its weights inside."""

    def __init__(self, graph: Path, folder: Path) -> None:
        self.embedding = Embedding("evaluated", graph.stem, DIMENSION)
        self._tokenizer = import_module("tokenizers").Tokenizer.from_str(content(folder, TOKENIZER).decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST_TOKENS)
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.enable_cpu_mem_arena = False
        options.intra_op_num_threads = processors()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])

    def tokens(self, text: str) -> list[int]:
        """Return a text's tokens."""
        found: list[int] = self._tokenizer.encode(text).ids
        return found

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector per row, in batches like the product's."""
        encoded = [self.tokens(text) for text in texts]
        found = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for group in batches(encoded):
            lengths = np.array([len(encoded[place]) for place in group])
            mask = (np.arange(lengths.max()) < lengths[:, np.newaxis]).astype(np.int32)
            ids = np.zeros_like(mask)
            for row, place in enumerate(group):
                ids[row, : len(encoded[place])] = encoded[place]
            found[group] = self._session.run(None, {"ids": ids, "mask": mask})[0]
        return found

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector per row, in the order of the texts."""
        return self.vectors(texts)

    async def query(self, text: str) -> Floats:
        """Return a question's unit vector."""
        found: Floats = self.vectors([text])[0]
        return found

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def weights_folder() -> Path:
    """Return the folder of the model's published files."""
    found = next((place.folder for place in places() if place.folder and not place.problem()), None)
    if found is None:
        raise SystemExit("the model's weights are not installed; run: memoranda weights install")
    return found


def make_graphs(into: Path, folder: Path) -> dict[str, tuple[Path, float]]:
    """Make the graph in float32 and quantized; return each with the seconds that this took."""
    onnx, drawing = import_module("onnx"), import_module("tools.embedding_graph")
    quantization = import_module("onnxruntime.quantization")
    began = time.perf_counter()
    model = drawing.draw()
    del model.graph.initializer[:]
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(array, name) for name, array in initialisers(tensors(folder)).items()
    )
    exact = into / "float32.onnx"
    onnx.save(model, exact)
    made = {FLOAT: (exact, time.perf_counter() - began)}
    for number, (name, how) in enumerate(QUANTIZED.items(), 1):
        began, path = time.perf_counter(), into / f"int8-{number}.onnx"
        # The tool cannot see through fused operators what type comes out of them.
        types = {"DefaultTensorType": onnx.TensorProto.FLOAT}
        quantization.quantize_dynamic(
            exact, path, weight_type=quantization.QuantType.QInt8, extra_options=types, **how
        )
        made[name] = (path, time.perf_counter() - began)
    return made


def speed(graph: Path, folder: Path) -> dict[str, float]:
    """Measure in one process the time to load a graph, for a question, and for a batch."""
    before, began = resident(), time.perf_counter()
    embedder = Graph(graph, folder)
    embedder.vectors([QUESTION])
    loaded = time.perf_counter() - began
    texts = [PASSAGE.format(number) for number in range(PASSAGES)]
    held = resident()
    return {
        "load_seconds": loaded,
        "question_tokens": len(embedder.tokens(QUESTION)),
        "question_ms": _best_ms(lambda: embedder.vectors([QUESTION]), ROUNDS),
        "passage_tokens": len(embedder.tokens(texts[0])),
        "passages_a_second": 1000 * PASSAGES / _best_ms(lambda: embedder.vectors(texts), ROUNDS // 20),
        "resident_mb": 0.0 if held is None or before is None else (held - before) / 1e6,
    }


def _best_ms(work: Callable[[], Any], rounds: int) -> float:
    """Return the least of many times, which is the one without other work on the processor."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return 1000 * min(taken)


def speeds(graphs: Sequence[Path], folder: Path) -> list[dict[str, float]]:
    """Return the best speed of each graph, in processes of its own."""
    taken = [[_in_a_process(graph, folder) for graph in graphs] for _ in range(TURNS)]
    best = {"passages_a_second": max}
    return [
        {what: best.get(what, min)(each[what] for each in of_one) for what in of_one[0]}
        for of_one in zip(*taken, strict=True)
    ]


def _in_a_process(graph: Path, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "evals.precision", "--speed-of", str(graph), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


async def ranking(graph: Path, folder: Path, corpora: Sequence[Corpus]) -> dict[str, dict[str, Any]]:
    """Return each corpus's main figures by meaning only and by the blend."""
    found = {}
    embedder = Graph(graph, folder)
    for corpus in corpora:
        modes = report(corpus, await measure(corpus, MODES, embed=embedder))["modes"]
        found[corpus.name] = {
            mode: {cut: modes[mode][cut] for cut in ("r5", "r10", "ndcg10")} for mode in ("meaning", "hybrid")
        }
    return found


def compared(corpora: Sequence[Corpus], *, ranked: bool = True) -> list[dict[str, Any]]:
    """Return one row for each graph, float32 first."""
    folder = weights_folder()
    asked = [
        question.text for corpus in corpora for one in corpus.conversations for question in one.questions
    ]
    rows = []
    with tempfile.TemporaryDirectory() as work:
        graphs = make_graphs(Path(work), folder)
        exact = Graph(graphs[FLOAT][0], folder).vectors(asked)
        fast = speeds([graph for graph, _ in graphs.values()], folder)
        for (name, (graph, seconds)), speed_ in zip(graphs.items(), fast, strict=True):
            made = Graph(graph, folder)
            together = made.vectors(asked)
            alone = np.concatenate([made.vectors([text]) for text in asked[:ALONE]])
            rows.append(
                {
                    "precision": name,
                    "made_in_seconds": seconds,
                    "file_mb": graph.stat().st_size / 1e6,
                    "likeness": _likeness(exact, together),
                    "likeness_alone_and_among_others": _likeness(alone, together[:ALONE]),
                    "speed": speed_,
                    "ranking": asyncio.run(ranking(graph, folder, corpora)) if ranked else {},
                }
            )
    return rows


def _likeness(one: Floats, other: Floats) -> dict[str, float]:
    cosines = (one * other).sum(axis=1)
    return {"mean": float(cosines.mean()), "least": float(cosines.min())}


def lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the comparison as tables for people."""
    told = []
    for row in rows:
        like, among = row["likeness"], row["likeness_alone_and_among_others"]
        told.append(
            f"{row['precision']}: file {row['file_mb']:.0f} MB, made in {row['made_in_seconds']:.1f} s, "
            f"likeness {like['mean']:.4f} (least {like['least']:.4f}), "
            f"of a text alone and among others {among['mean']:.4f} (least {among['least']:.4f})"
        )
        took = row["speed"]
        told.append(
            f"  load {took['load_seconds']:.2f} s, resident {took['resident_mb']:.0f} MB, question of "
            f"{took['question_tokens']} tokens {took['question_ms']:.2f} ms, "
            f"{took['passages_a_second']:.0f} passages of {took['passage_tokens']} tokens a second"
        )
        for corpus, modes in row["ranking"].items():
            shown = "; ".join(
                f"{mode} " + ", ".join(f"{cut} {figure}" for cut, figure in cuts.items())
                for mode, cuts in modes.items()
            )
            told.append(f"  {corpus}: {shown}")
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or measure one graph's speed for the process that compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="LoCoMo's file; only what may be tuned on is used")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of tables")
    parser.add_argument("--no-ranking", action="store_true", help="speed and likeness alone")
    parser.add_argument("--speed-of", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.speed_of:
        sys.stdout.write(json.dumps(speed(*given.speed_of)) + "\n")
        return 0
    corpora = [load(SETS / f"{name}.json") for name in SET_NAMES]
    if given.data is not None:
        found = load(given.data)
        tuning = tuple(one for one in found.conversations if one.id in TUNED_ON)
        corpora.insert(0, replace(found, conversations=tuning))
    rows = compared(corpora, ranked=not given.no_ranking)
    sys.stdout.write((json.dumps(rows) if given.json else "\n".join(lines(rows))) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
