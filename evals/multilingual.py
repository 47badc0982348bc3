"""Compares the local models, MiniLM and the multilingual one: agreement with its package's engine,
ranking, and cost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:
    # When run as a file, Python does not know the package's folder yet.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals.corpora import ADVERSARIAL, TUNED_ON, Corpus, load
from evals.measures import summary
from evals.measuring import resident, size_of
from evals.precision import likeness, speeds
from evals.retrieval import MODES, SETS, Answered, measure
from evals.talk_shapes.shape_halves import load_file, write_file
from memoranda.embedding import LocalEmbedder, MultilingualEmbedder
from memoranda.embedding.local_model import LocalModel, MiniLM, processors
from memoranda.embedding.model_files import places
from memoranda.embedding.multilingual_model import PASSAGE, QUESTION, Multilingual
from memoranda.embedding.multilingual_weights import PACKAGE, weights_place
from tools.recorded_runs import RANKING, record

#: Texts of each language that are compared with the engine.
EACH = 34
#: The longest text that is compared, in characters: the engine reads longer ones in windows.
_LONGEST = 1200
TALKS = (
    "mixed_languages",
    "german_talks",
    "assistant_talks",
    "coding_sessions",
    "group_chats",
    "pasted_documents",
)

_COLUMNS = {"n": "questions", "r5": "R@5", "r10": "R@10", "mrr": "MRR"}

#: Sentences in languages that the corpora lack; texts are pairs of them.
_FRENCH = (
    "Ma sœur a déménagé à Lyon en mai parce qu’elle y a trouvé du travail.",
    "Le dentiste est fermé le mercredi après-midi.",
    "N’oublie pas d’arroser les plantes pendant mon absence !",
    "Le loyer augmente de 3,5 % chaque année en janvier.",
    "Où as-tu rangé les clés de la cave ?",
    "Notre fils est allergique aux noix, préviens la cantine.",
    "La réunion avec l’équipe est reportée au 14 septembre à 10 h 30.",
)
_DUTCH = (
    "Mijn zus is in mei naar Utrecht verhuisd, omdat ze daar werk vond.",
    "De tandarts is op woensdagmiddag gesloten.",
    "Vergeet niet de planten water te geven terwijl ik weg ben!",
    "De huur gaat elk jaar in januari met 3,5 % omhoog.",
    "Waar heb je de sleutels van de kelder gelegd?",
    "Onze zoon is allergisch voor noten, geef dat door aan school.",
    "De vergadering met het team is verzet naar 14 september om 10.30 uur.",
)


def folders() -> tuple[Path, Path]:
    """Return the folders of MiniLM and of the multilingual model."""
    one = next((place.folder for place in places() if place.folder and not place.problem()), None)
    other = weights_place()
    if one is None or other.folder is None or other.problem():
        raise SystemExit("both local models are needed; run: ./dev setup")
    return one, other.folder


# ── the package's engine ──────────────────────────────────────────────────────────────────────────


def texts_by_language(talks: dict[str, Corpus], notes: Corpus) -> dict[str, list[str]]:
    """Return texts in six languages, as many of each."""
    mixed = list(_turns(talks["mixed_languages"]))
    chosen: dict[str, Iterable[str]] = {
        "English": _turns(talks["assistant_talks"]),
        "Spanish": (text for text in mixed if any(mark in text for mark in "¿¡ñáéíóú")),
        "Chinese": (text for text in mixed if any("\u4e00" <= mark <= "\u9fff" for mark in text)),
        "German": (text for text in _turns(notes) if any(mark in text for mark in "äöüß")),
        "French": (" ".join(pair) for pair in permutations(_FRENCH, 2)),
        "Dutch": (" ".join(pair) for pair in permutations(_DUTCH, 2)),
    }
    short = {
        name: (text for text in texts if len(text) <= _LONGEST) for name, texts in chosen.items()
    }
    return {name: list(islice(texts, EACH)) for name, texts in short.items()}


def _turns(corpus: Corpus) -> Iterator[str]:
    return (turn.text for conversation in corpus.conversations for turn in conversation.turns)


def agreement(folder: Path, languages: dict[str, list[str]]) -> dict[str, dict[str, Any]]:
    """Return how near the vectors of our graphs are to those of the package's engine, by
    language.
    """
    engine = import_module(PACKAGE).E5()
    whole, small = (Multilingual(folder, processors(), name) for name in ("float32", "int8"))
    found = {}
    for language, texts in languages.items():
        figures: dict[str, Any] = {"texts": len(texts), "other_tokens": 0}
        made: dict[str, list[Any]] = {"engine": [], "float32": [], "int8": []}
        for kind in (QUESTION, PASSAGE):
            encoded = LocalModel.encode(whole, [kind + text for text in texts])
            asked = kind == QUESTION
            figures["other_tokens"] += sum(
                engine.token_count(text, asked) != len(ids)
                for text, ids in zip(texts, encoded, strict=True)
            )
            made["engine"] += [engine.encode(text, asked) for text in texts]
            made["float32"] += [LocalModel.vectors(whole, [ids])[0] for ids in encoded]
            made["int8"] += [LocalModel.vectors(small, [ids])[0] for ids in encoded]
        exact = np.stack(made["engine"])
        figures |= {name: likeness(exact, np.stack(made[name])) for name in ("float32", "int8")}
        found[language] = figures
    return found


# ── ranking ───────────────────────────────────────────────────────────────────────────────────────


def groups_of(path: Path) -> dict[str, str]:
    """Return the language of each question of a file; ``cross-language`` where the evidence is in
    another one.
    """
    found = {}
    for line in path.read_text("utf-8").splitlines():
        for each in json.loads(line)["questions"]:
            same = each["language"] == each["evidence_language"]
            found[each["question"]] = each["language"] if same else "cross-language"
    return found


async def ranking(
    embedder: LocalEmbedder, corpus: Corpus, groups: dict[str, str]
) -> dict[str, Any]:
    """Return R@5, R@10 and MRR in each mode, and of the blend by group."""
    answered = await measure(corpus, MODES, embed=embedder)
    found = {mode: _figures(answered[mode]) for mode in MODES}
    for group in sorted(set(groups.values())) if groups else ():
        asked = [one for one in answered["hybrid"] if groups.get(one.question.text) == group]
        found[f"hybrid, {group}"] = _figures(asked)
    return found


def _figures(answered: Iterable[Answered]) -> dict[str, Any]:
    figures = summary(one.ranked for one in answered)
    return {name: figures[name] for name in ("n", "r5", "r10", "mrr")}


# ── cost ──────────────────────────────────────────────────────────────────────────────────────────


def cost() -> dict[str, dict[str, float]]:
    """Return each model's times, in turn, and what it holds in memory and on disk."""
    one, other = folders()
    timed = speeds(
        {"minilm": MiniLM(one, processors()), "multilingual": Multilingual(other, processors())}
    )
    disk = {"minilm": size_of(one), "multilingual": size_of(other)}
    return {
        name: figures | {"disk_mb": disk[name] / 1e6} | _memory(name)
        for name, figures in timed.items()
    }


def _memory(name: str) -> dict[str, float]:
    """Return what a process of its own holds for a model, and the most while loading."""
    line = [sys.executable, "-m", "evals.multilingual", "--memory-of", name]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=SETS.parents[1])
    return dict(json.loads(done.stdout))


def memory_of(name: str) -> dict[str, float]:
    """Load a model in this process, and return by how much its memory grew."""
    one, other = folders()
    model = MiniLM(one, processors()) if name == "minilm" else Multilingual(other, processors())
    before, began = resident() or 0, time.perf_counter()
    model.one("hello")
    return {
        "first_question_seconds": time.perf_counter() - began,
        "memory_mb": ((resident() or 0) - before) / 1e6,
    }


# ── the whole ─────────────────────────────────────────────────────────────────────────────────────


def talks_in(folder: Path) -> dict[str, Path]:
    """Write the open halves of the talks, and return their files."""
    return {name: write_file(name, "open", folder) for name in TALKS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the two models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the open halves of evals/talk_shapes")
    parser.add_argument(
        "--data", type=Path, help="LoCoMo's file: ask it instead of the talks and notes"
    )
    parser.add_argument(
        "--part", action="append", choices=("agreement", "ranking", "cost"), help="only these"
    )
    parser.add_argument(
        "--record", action="store_true", help="store the rankings for the pages that show them"
    )
    parser.add_argument("--memory-of", choices=("minilm", "multilingual"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.memory_of:
        sys.stdout.write(json.dumps(memory_of(given.memory_of)))
        return 0
    if given.data is not None:
        ask_locomo(load(given.data))
        return 0
    parts = given.part or ["agreement", "ranking", "cost"]
    if "cost" in parts:
        _print("cost", cost())
    if parts == ["cost"]:
        return 0
    if given.out is None:
        parser.error("--out is missing: give a folder for the talks")
    given.out.mkdir(parents=True, exist_ok=True)
    files = talks_in(given.out)
    corpora = {name: load_file(path).corpus for name, path in files.items()}
    corpora["notes"] = load(SETS / "notes.json")
    one, other = folders()
    if "agreement" in parts:
        _print("agreement", agreement(other, texts_by_language(corpora, corpora["notes"])))
    rows: list[list[str]] = []
    if "ranking" in parts:
        for name, corpus in corpora.items():
            groups = groups_of(files[name]) if name == "mixed_languages" else {}
            for embedder in (LocalEmbedder(one), MultilingualEmbedder(other)):
                title, found = (
                    f"{name}, {embedder.embedding.model}",
                    asyncio.run(ranking(embedder, corpus, groups)),
                )
                _print(title, found)
                rows += [
                    [f"{title}, {row}", *(str(one[key]) for key in _COLUMNS)]
                    for row, one in found.items()
                ]
    if given.record and rows:
        command = "python -m evals.multilingual --out FOLDER --part ranking"
        record(
            "multilingual", command, {"talks": [["", *_COLUMNS.values()], *rows]}, covers=RANKING
        )
    return 0


def ask_locomo(corpus: Corpus) -> None:
    """Ask LoCoMo's conversations with both models; print the figures of all, and of those that
    nothing was tuned on.
    """
    for folder, made in zip(folders(), (LocalEmbedder, MultilingualEmbedder), strict=True):
        answered = asyncio.run(measure(corpus, MODES, embed=made(folder)))
        rows = {}
        for mode, every in answered.items():
            plain = [one for one in every if one.question.kind != ADVERSARIAL]
            rows[mode] = _figures(plain)
            rows[f"{mode}, not tuned on"] = _figures(
                one for one in plain if one.conversation not in TUNED_ON
            )
        _print(made.__name__, rows)


def _print(title: str, rows: dict[str, Any]) -> None:
    sys.stdout.write(
        "\n".join([title, *(f"  {name}: {json.dumps(row)}" for name, row in rows.items()), ""])
    )
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
