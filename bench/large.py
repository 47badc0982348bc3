"""Search of a large shelf on the server, compared with the same shelf in memory: time, memory and
agreement.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import memoranda
from bench import servers
from bench.figures import Address, Place, Row, Timed
from bench.machine import resident_bytes
from bench.shelves import STAND_IN, Question, ask, fill, lend_vectors, questions
from bench.standin import StandIn
from bench.text import Talk
from memoranda import Book
from memoranda.model.records import WHOLE, Owner
from memoranda.ports import SearchesLargeShelves
from memoranda.recall.recall import Recall

#: Target share of the ten best hits that the server's search must also find, in per cent.
OVERLAP = 95.0
_NEVER = 10**9
_MODES = ("hybrid", "words", "meaning")
#: Fresh processes that answer a first question in each way, and the questions that each answers
#: after it.
_PROCESSES, _LATER = 5, 20


def large(place: Place) -> Iterator[Row]:
    """Measure shelves of growing size; only on a server whose database has the extension
    ``vector``.
    """
    stand_in = StandIn(place.seed)
    for size in place.scale.shelves:
        path = place.book(f"large-{size}")
        made = asyncio.run(_make(path, size, place, stand_in))
        yield from made
        if made[-1].value is None:
            continue
        yield from _first(path, size, place.seed)
        yield from asyncio.run(_compare(path, size, place, stand_in))


async def _make(path: Address, size: int, place: Place, stand_in: StandIn) -> list[Row]:
    """Write the shelf and its vectors, and let the server index it; if it cannot, the last row says
    why.
    """
    name = f"recall: searched by its engine, {size:,} passages"
    async with memoranda.open(path, embed=stand_in, worker=False) as book:
        engine = book.engine
        if not isinstance(engine, SearchesLargeShelves):
            return [Row(name, None, "", note="this engine holds every shelf in the process")]
        writing, following = Timed(), Timed()
        engine.large_shelves.threshold = _NEVER
        with writing.once():
            await fill(book, "ann", size, Talk(place.seed))
            await lend_vectors(book, stand_in)
        engine.large_shelves.threshold = 1
        with following.once():
            await engine.large_shelves.update()
        rows = [
            writing.row(f"writing {size:,} passages with their vectors"),
            following.row(f"indexing the shelf of {size:,} passages on the server"),
        ]
        deltas = await book.engine.since(Owner(id="ann"), WHOLE, lambda _: None)
    if not any(delta.large for _, delta in deltas):
        return [Row(name, None, "", note="the extension is not created in this database")]
    taken = await servers.large_sizes(str(path))
    return [*rows, Row("  what these indexes take on the server", taken / size, "B a passage")]


@dataclass(frozen=True, slots=True)
class _Process:
    """Time and memory of a fresh process for its first question and for later ones."""

    #: Milliseconds.
    first: float
    later: list[float]
    #: Growth of the process in bytes, now and at its peak; None if the system does not say.
    growth: int | None
    peak: int | None
    #: Bytes of its indexes in memory.
    held: int


def _first(path: Address, size: int, seed: int) -> Iterator[Row]:
    """Measure fresh processes in turn: one lets the server search, the next reads the whole shelf
    first.
    """
    ways = {"searched by its engine": 1, "held": _NEVER}
    found: dict[str, list[_Process]] = {way: [] for way in ways}
    for number in range(_PROCESSES):
        for way, least in ways.items():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found[way].append(pool.apply(_answer, (path, seed, least, number)))
    for way, processes in found.items():
        note = f"{len(processes)} processes; {STAND_IN}"
        name = f"recall: {way}, {size:,} passages"
        yield Timed([one.first for one in processes]).row(f"{name}, a process's first", note=note)
        yield Timed([each for one in processes for each in one.later]).row(
            f"{name}, its next", note=note
        )
        for what, values in (
            ("growth of the process", [one.growth for one in processes]),
            ("the most it had grown", [one.peak for one in processes]),
            ("index in memory", [one.held for one in processes]),
        ):
            told = sorted(value for value in values if value is not None)
            if told:
                yield Row(f"  {what}", told[len(told) // 2] / 1e6, "MB")


def _answer(path: Address, seed: int, least: int, number: int) -> _Process:
    """Open the book, ask about somebody else so that all code is loaded, and ask what is
    measured.
    """

    async def work() -> _Process:
        stand_in, talk = StandIn(seed), Talk(seed + 2 + number)
        asked = []
        for _ in range(1 + _LATER):
            text = talk.question(talk.passage())
            asked.append(Question(text, await stand_in.query(text)))
        async with memoranda.open(path, embed=stand_in, worker=False) as book:
            engine, finder = book.engine, book.finder
            assert isinstance(engine, SearchesLargeShelves) and isinstance(finder, Recall)
            engine.large_shelves.threshold = least
            await ask(book, "nobody", asked[0])
            before = _forget_peak()
            walls = []
            growth = peak = None
            for question in asked:
                began = time.perf_counter()
                await ask(book, "ann", question)
                walls.append((time.perf_counter() - began) * 1000)
                if len(walls) == 1 and before is not None:
                    after, most = resident_bytes(), _peak_bytes()
                    growth = None if after is None else after - before
                    peak = None if most is None else most - before
            return _Process(walls[0], walls[1:], growth, peak, finder.cache.nbytes)

    return asyncio.run(work())


def _forget_peak() -> int | None:
    """Let the system count peak memory from now on; return the memory now, or None if it cannot."""
    try:
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    except OSError:
        return None
    return resident_bytes()


def _peak_bytes() -> int | None:
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return None
    return next(
        int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")
    )


async def _compare(path: Address, size: int, place: Place, stand_in: StandIn) -> list[Row]:
    """Ask the same questions in both ways, mode by mode; compare the times and the hits."""
    name = f"searched by its engine, {size:,} passages"
    async with memoranda.open(path, embed=stand_in, worker=False) as book:
        engine = book.engine
        assert isinstance(engine, SearchesLargeShelves)
        engine.large_shelves.threshold = _NEVER
        asked = await questions(book, "ann", stand_in, place)
        rows = []
        for mode in _MODES:
            rows += await _compared(book, engine, asked, mode, name)
        return rows


async def _compared(
    book: Book, engine: SearchesLargeShelves, asked: Sequence[Question], mode: str, name: str
) -> list[Row]:
    found: list[list[list[object]]] = []
    timed = []
    for least in (1, _NEVER):
        engine.large_shelves.threshold = least
        await ask(book, "ann", asked[0], mode=mode)
        one = Timed()
        hits = []
        for question in asked:
            with one.once():
                hits.append([hit.id for hit in await ask(book, "ann", question, mode=mode)])
        timed.append(one)
        found.append(hits)
    shares = [
        len({*ours} & {*theirs}) / max(1, len(theirs)) for ours, theirs in zip(*found, strict=True)
    ]
    return [
        timed[0].row(f"recall: {name}, {mode}", note=STAND_IN),
        timed[1].row(f"  the same, held, {mode}"),
        Row(
            f"  of the ten best, found, {mode}", 100 * sum(shares) / len(shares), "%", least=OVERLAP
        ),
    ]
