"""Compares the local model in float32 and in int8: ranking and speed of both, ``--data PATH
[--json]``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals.corpora import TUNED_ON, Corpus, load
from evals.retrieval import MODES, SET_NAMES, SETS, measure, report
from memoranda.embedding import LocalEmbedder
from memoranda.embedding.local_model import DIMENSION, LocalModel, MiniLM, batches, processors
from memoranda.embedding.model_files import places
from memoranda.embedding.model_session import Precision
from memoranda.embedding.model_weights import Floats

#: The name of a model that is compared.
Name = TypeVar("Name", bound=str)
PRECISIONS: tuple[Precision, ...] = ("float32", "int8")

#: Twelve tokens, the two that stand for beginning and end among them.
QUESTION = "when did my sister say that she would move away"
#: About forty tokens.
PASSAGE = (
    "{} of us talked for an hour about the garden behind the old house, and she told me that the plum trees "
    "were cut down last spring because their roots had lifted the stones of the path."
)
PASSAGES = 64
#: Rounds in which each precision is timed once, in turn.
ROUNDS = 40
#: Texts whose vectors are made alone, and again among others.
ALONE = 100


def models() -> dict[Precision, MiniLM]:
    """Return the loaded model in each precision."""
    folder = next(
        (place.folder for place in places() if place.folder and not place.problem()), None
    )
    if folder is None:
        raise SystemExit("the model's weights are not installed; run: memoranda weights install")
    return {precision: MiniLM(folder, processors(), precision) for precision in PRECISIONS}


def vectors(model: LocalModel, texts: Sequence[str]) -> Floats:
    """Return one unit vector a row, in batches like the product's."""
    encoded = model.encode(texts)
    found = np.empty((len(texts), DIMENSION), dtype=np.float32)
    for group in batches(encoded):
        found[group] = model.vectors([encoded[place] for place in group])
    return found


def speeds(made: Mapping[Name, LocalModel]) -> dict[Name, dict[str, float]]:
    """Return the median times of a question and of a passage; the models take turns."""
    texts = [PASSAGE.format(number) for number in range(PASSAGES)]
    found: dict[Name, dict[str, float]] = {name: {} for name in made}
    for name, model in made.items():
        began = time.perf_counter()
        model.one(QUESTION)
        found[name]["load_seconds"] = time.perf_counter() - began
    asked: list[tuple[str, list[str]]] = [("question_ms", [QUESTION]), ("passage_ms", texts)]
    for figure, given in asked:
        taken: dict[Name, list[float]] = {name: [] for name in made}
        for _ in range(ROUNDS):
            for name, model in made.items():
                began = time.perf_counter()
                model.one(QUESTION) if given == [QUESTION] else vectors(model, given)
                taken[name].append(1000 * (time.perf_counter() - began) / len(given))
        for name, times in taken.items():
            found[name][figure] = median(times)
    return found


def compared(corpora: Sequence[Corpus], *, ranked: bool = True) -> list[dict[str, Any]]:
    """Return one row for each precision, float32 first."""
    made = models()
    asked = [
        question.text
        for corpus in corpora
        for one in corpus.conversations
        for question in one.questions
    ]
    fast = speeds(made)
    exact = vectors(made["float32"], asked)
    rows = []
    for name, model in made.items():
        together = vectors(model, asked)
        alone = np.stack([model.one(text) for text in asked[:ALONE]])
        rows.append(
            {
                "precision": name,
                "likeness": likeness(exact, together),
                "likeness_alone_and_among_others": likeness(alone, together[:ALONE]),
                "speed": fast[name],
                "ranking": asyncio.run(ranking(model.folder, name, corpora)) if ranked else {},
            }
        )
    return rows


async def ranking(
    folder: Path, precision: Precision, corpora: Sequence[Corpus]
) -> dict[str, dict[str, Any]]:
    """Return each corpus's main figures by meaning only and by the blend."""
    found = {}
    embedder = LocalEmbedder(folder, precision=precision)
    for corpus in corpora:
        modes = report(corpus, await measure(corpus, MODES, embed=embedder))["modes"]
        found[corpus.name] = {
            mode: {cut: modes[mode][cut] for cut in ("r5", "r10", "ndcg10")}
            for mode in ("meaning", "hybrid")
        }
    return found


def likeness(one: Floats, other: Floats) -> dict[str, float]:
    """Return the mean and the least cosine of two lists of unit vectors."""
    cosines = (one * other).sum(axis=1)
    return {"mean": float(cosines.mean()), "least": float(cosines.min())}


def lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the comparison as tables for people."""
    told = []
    for row in rows:
        like, among, took = row["likeness"], row["likeness_alone_and_among_others"], row["speed"]
        told.append(
            f"{row['precision']}: similarity to float32 {like['mean']:.4f} (least {like['least']:.4f}), of a text alone "
            f"to itself among others {among['mean']:.4f} (least {among['least']:.4f}); load {took['load_seconds']:.2f} s, "
            f"question {took['question_ms']:.2f} ms, {1000 / took['passage_ms']:.0f} passages a second"
        )
        for corpus, modes in row["ranking"].items():
            shown = "; ".join(
                f"{mode} " + ", ".join(f"{cut} {figure}" for cut, figure in cuts.items())
                for mode, cuts in modes.items()
            )
            told.append(f"  {corpus}: {shown}")
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the two precisions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, help="LoCoMo's file; only what may be tuned on is used"
    )
    parser.add_argument("--json", action="store_true", help="one JSON list instead of tables")
    parser.add_argument("--no-ranking", action="store_true", help="speed and similarity alone")
    given = parser.parse_args(arguments)
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
