"""Compare the speed of this checkout with another one: ``python -m bench.against CHECKOUT [--pairs
N]``.

Each pair measures both checkouts one after the other, in turn which is first, each in a fresh
process of its own environment. For each figure it prints the median of the pairs' ratios with its
95 % interval, which is exact for any distribution: it is read from the order of the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: Passages in a shelf whose warm recall is measured.
SIZES = (100, 450, 1_000, 10_000, 100_000)
#: In a shelf of this size also a question is asked that is as long as a pasted text.
_LONG, _LONG_WORDS = 450, 100
DIMENSION = 384
_CALLS, _RECALLS, _FEW, _WARM = 300, 200, 40, 20
#: Words of the texts that the local model reads; most are one token.
_SPOKEN = """we met them again at the lake near an old mill and talked about last summer when my sister moved to another
town because her new work began in spring she likes the small house with its garden but misses friends who live far away so
they visit every month by train and bring books music or good bread""".split()
#: Texts that the local model turns into vectors.
_EMBEDDED, _ASKED = 256, 60
_WORDS = [f"word{number}" for number in range(5_000)]


class Figure(NamedTuple):
    """One figure in both checkouts, pair by pair."""

    name: str
    ratios: list[float]
    here: float
    there: float


def main(arguments: list[str] | None = None) -> int:
    """Measure in pairs and print the ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench.against", description=__doc__)
    parser.add_argument("checkout", type=Path, help="another checkout, with its .venv ready")
    parser.add_argument("--pairs", type=int, default=24, help="at least 6, for the interval")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--vectors", action="store_true", help="only the vectors of the local model")
    only.add_argument("--recall", action="store_true", help="only recall, without the local model")
    only.add_argument("--calls", action="store_true", help="only the CPU of each call")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--record", action="store_true", help="store the run for the page that shows it"
    )
    given = parser.parse_args(arguments)
    if given.pairs < 6:
        parser.error("--pairs: an interval needs at least 6")
    here = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory(prefix="memoranda-against-") as folder:
        task = next(
            (name for name in ("vectors", "recall", "calls") if getattr(given, name)), "measure"
        )
        sides = [
            (root, Path(folder) / name)
            for root, name in ((here, "here"), (given.checkout, "there"))
        ]
        for root, place in sides:
            place.mkdir()
            if task in ("measure", "recall"):
                run(root, place, "fill")
        found: list[tuple[dict[str, float], dict[str, float]]] = []
        for number in range(given.pairs):
            order = sides if number % 2 else sides[::-1]
            measured = {place.name: run(root, place, task) for root, place in order}
            found.append((measured["here"], measured["there"]))
            sys.stderr.write(f"pair {number + 1} of {given.pairs}\n")
    figures = compare(found)
    if given.json:
        sys.stdout.write(json.dumps([figure._asdict() for figure in figures], indent=1) + "\n")
    else:
        sys.stdout.write("\n".join(map(line, figures)) + "\n")
    if given.record:
        part = "" if task == "measure" else f" --{task}"
        write_down(figures, given.checkout, f"--pairs {given.pairs}{part}")
    return 0


def write_down(figures: Sequence[Figure], checkout: Path, options: str) -> None:
    """Store the figures for the page that shows them."""
    # The process of a checkout reads this file too, perhaps without these modules.
    from bench.machine import facts  # noqa: PLC0415
    from tools.checkout import git  # noqa: PLC0415
    from tools.recorded_runs import RECALL, record  # noqa: PLC0415

    other = git(checkout, "rev-parse", "--short=8", "HEAD")
    rows = [["", "here, ms", f"{other}, ms", "ratio", "95 % interval"]]
    for name, ratios, here, there in figures:
        low, high = interval(ratios)
        rows.append(
            [
                name,
                f"{here:.2f}",
                f"{there:.2f}",
                f"{statistics.median(ratios):.2f}",
                f"{low:.2f} to {high:.2f}",
            ]
        )
    machine = ", ".join(
        f"{name} {fact}" for name, fact in facts(Path.cwd()).items() if name != "folder"
    )
    record(
        "against",
        f"python -m bench.against CHECKOUT {options}",
        {"": rows},
        covers=RECALL,
        machine=machine,
    )


def run(root: Path, place: Path, task: str) -> dict[str, float]:
    """Run this file in a checkout's own environment; return what it measured."""
    packages = [path.parent.name for path in (root / "src").glob("*/__init__.py")]
    if len(packages) != 1:
        raise SystemExit(f"{root}: src/ should hold one package")
    python = root / ".venv" / "bin" / "python"
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    command = [str(python), str(Path(__file__).resolve()), "--child", packages[0], str(place), task]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def compare(found: Sequence[tuple[dict[str, float], dict[str, float]]]) -> list[Figure]:
    """Return every figure with its ratios, this checkout to the other."""
    return [
        Figure(
            name,
            [here[name] / there[name] for here, there in found],
            statistics.median(here[name] for here, _ in found),
            statistics.median(there[name] for _, there in found),
        )
        for name in found[0][0]
        if name in found[0][1]
    ]


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median, from the order of the values."""
    ordered, count = sorted(ratios), len(ratios)
    outside, rank = 0.0, 0
    while outside + math.comb(count, rank) / 2**count <= 0.025:
        outside += math.comb(count, rank) / 2**count
        rank += 1
    low = max(rank - 1, 0)
    return ordered[low], ordered[count - 1 - low]


def line(figure: Figure) -> str:
    """Return one figure as a line of text."""
    low, high = interval(figure.ratios)
    return (
        f"{figure.name:<32} {figure.here:8.3f} ms here {figure.there:8.3f} ms there   "
        f"ratio {statistics.median(figure.ratios):.3f} [{low:.3f}, {high:.3f}] of {len(figure.ratios)} pairs"
    )


# --- in the process of a checkout -----------------------------------------------------------------


class Stand:
    """An embedder whose vectors follow a text's words, made at once."""

    def __init__(self, embedding: Any) -> None:
        self.embedding = embedding

    async def passages(self, texts: Sequence[str]) -> Any:
        """Return one unit vector a row."""
        rows = []
        for text in texts:
            seed = int.from_bytes(
                hashlib.blake2b(text.split()[0].encode(), digest_size=4).digest(), "big"
            )
            rows.append(np.random.default_rng(seed).standard_normal(DIMENSION))
        vectors = np.array(rows, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    async def query(self, text: str) -> Any:
        """Return a question's vector."""
        return (await self.passages([text]))[0]

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class Asking(Stand):
    """The same, with questions embedded by the local model, as users wait for them."""

    def __init__(self, embedding: Any, local: Any) -> None:
        super().__init__(embedding)
        self._local = local

    async def query(self, text: str) -> Any:
        """Return a question's vector from the local model."""
        return await self._local.query(text)


def passage(rng: np.random.Generator) -> str:
    """Return one passage of thirty words."""
    return " ".join(_WORDS[int(number)] for number in rng.zipf(1.3, 30) % len(_WORDS))


async def fill(product: Any, place: Path) -> dict[str, float]:
    """Make the books whose recall is measured."""
    embedder = Stand(product.Embedding("stand-in", "against", DIMENSION))
    for size in SIZES:
        rng = np.random.default_rng(size)
        async with product.open(place / f"{size}.db", worker=False, embed=embedder) as book:
            for done in range(0, size, 500):
                thread = await book.thread("ana", agent="helper")
                count = min(size - done, 500)
                messages = [{"role": "user", "content": passage(rng)} for _ in range(count)]
                await thread.append(messages, wait_for="embedded")
    return {}


async def measure(product: Any, place: Path) -> dict[str, float]:
    """Return milliseconds of CPU for each call, and times of recall in each book, asked in each way."""
    local = await import_module(f"{product.__name__}.embedding").find()
    return (
        await calls(product, place)
        | await recall(product, place, local)
        | await embed(product, place)
    )


async def calls(product: Any, place: Path) -> dict[str, float]:
    """Return milliseconds of CPU for each of the calls of an application, in a book without
    vectors.
    """
    rng = np.random.default_rng(7)
    made: list[Any] = []
    with tempfile.TemporaryDirectory(dir=place) as folder:
        async with product.open(Path(folder) / "book.db", worker=False, embed=None) as book:
            thread = await book.thread("ana", agent="helper")

            async def append(text: str) -> None:
                await thread.append("user", text)

            async def remember(text: str) -> None:
                made.append((await book.remember("ana", text, agent="helper")).items[0].id)

            async def search(text: str) -> None:
                await book.recall("ana", text, agent="helper")

            async def context(text: str) -> None:
                await book.context("ana", text, agent="helper")

            async def forget(_: str) -> None:
                await book.forget("ana", [made.pop()], agent="helper")

            return {
                "CPU of an append": await cpu(append, [passage(rng) for _ in range(_CALLS)]),
                "CPU of a remember": await cpu(remember, [short(rng) for _ in range(_CALLS)]),
                "CPU of a recall": await cpu(search, [short(rng) for _ in range(_CALLS)]),
                "CPU of a context": await cpu(context, [short(rng) for _ in range(_CALLS)]),
                "CPU of a forget": await cpu(forget, [""] * (_CALLS // 6)),
            }


async def cpu(call: Callable[[str], Any], texts: Sequence[str]) -> float:
    """Return the milliseconds of CPU that a call takes once it is warm."""
    warm = len(texts) // 10
    for text in texts[:warm]:
        await call(text)
    began = time.process_time()
    for text in texts[warm:]:
        await call(text)
    return (time.process_time() - began) * 1000 / (len(texts) - warm)


async def recall(product: Any, place: Path, local: Any = None) -> dict[str, float]:
    """Return the median times of recall in each book, asked in each way: on the clock, and of the
    processor.
    """
    found: dict[str, float] = {}
    rng = np.random.default_rng(7)
    stand = Stand(product.Embedding("stand-in", "against", DIMENSION))
    ways = [("hybrid", stand), ("words", stand)]
    if hasattr(local, "query"):
        ways.append(("question embedded", Asking(stand.embedding, local)))
    for size in SIZES:
        recalls = _RECALLS if size < SIZES[-1] else _FEW
        for way, embedder in ways:
            async with product.open(place / f"{size}.db", worker=False, embed=embedder) as book:
                mode = "words" if way == "words" else "hybrid"
                times = [await ask(book, short(rng), mode) for _ in range(recalls + _WARM)]
                found |= medians(f"recall of {size:,}, {way}", times[_WARM:])
                if way == "hybrid":
                    found |= medians(f"cold recall of {size:,}", times[:1])
                if size == _LONG:
                    times = [await ask(book, long(rng), mode) for _ in range(recalls)]
                    found |= medians(f"{_LONG_WORDS} words in {size:,}, {way}", times)
    return found


def medians(name: str, times: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the medians of times on the clock and of the processor."""
    return {
        name: statistics.median(wall for wall, _ in times),
        f"{name}, CPU": statistics.median(cpu for _, cpu in times),
    }


def short(rng: np.random.Generator) -> str:
    """Return a question of six words."""
    return " ".join(passage(rng).split()[:6])


def long(rng: np.random.Generator) -> str:
    """Return a question as long as a pasted text."""
    words = " ".join(passage(rng) for _ in range(_LONG_WORDS // 30 + 1)).split()
    return " ".join(words[:_LONG_WORDS])


async def ask(book: Any, question: str, mode: str) -> tuple[float, float]:
    """Return the milliseconds of one recall, on the clock and of the processor."""
    began, busy = time.perf_counter(), time.process_time()
    await book.recall("ana", question, agent="helper", mode=mode)
    return (time.perf_counter() - began) * 1000, (time.process_time() - busy) * 1000


async def embed(product: Any, _place: Path) -> dict[str, float]:
    """Return milliseconds for a passage and for a question with the local model, nothing if it is
    not installed.
    """
    embedder = await import_module(f"{product.__name__}.embedding").find()
    if not hasattr(embedder, "passages"):
        return {}
    rng = np.random.default_rng(11)
    # Messages of 3 to 120 words, as in a talk.
    lengths = np.clip(rng.lognormal(3.2, 0.8, _EMBEDDED + _ASKED), 3, 120).astype(int)
    texts = [
        " ".join(_SPOKEN[int(one)] for one in rng.integers(len(_SPOKEN), size=count))
        for count in lengths
    ]
    await embedder.passages(texts[:8])
    began = time.perf_counter()
    await embedder.passages(texts[:_EMBEDDED])
    walls = [(time.perf_counter() - began) * 1000 / _EMBEDDED]
    for text in texts[_EMBEDDED:]:
        question = " ".join(text.split()[:10])
        began = time.perf_counter()
        await embedder.query(question)
        walls.append((time.perf_counter() - began) * 1000)
    return {"vector of a passage": walls[0], "vector of a question": statistics.median(walls[1:])}


def child(package: str, place: str, task: str) -> int:
    """Fill or measure in the environment of a checkout."""
    tasks: dict[str, Callable[[Any, Path], Any]] = {
        "fill": fill,
        "measure": measure,
        "recall": recall,
        "calls": calls,
        "vectors": embed,
    }
    sys.stdout.write(
        json.dumps(asyncio.run(tasks[task](import_module(package), Path(place)))) + "\n"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main())
