"""Time of an owner's recall in a book that grows by import to very many owners."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
from collections.abc import Iterator

import memoranda
from bench.crowding import anybody
from bench.figures import Address, Place, Row
from bench.machine import resident_bytes
from bench.shelves import ROOMY, STAND_IN, Question, ask, fill, lend_vectors
from bench.standin import StandIn
from bench.text import Talk

#: A warm recall may become at most this many times slower from the fewest owners to the most: file,
#: server.
GROWTH, GROWTH_ON_SERVER = 1.3, 1.5
#: Owners in one import.
_OWNERS = 25
_SENTENCES = 2


def scaling(place: Place) -> Iterator[Row]:
    """Measure one growing book at several sizes, with imported texts and the stand-in's vectors."""
    address = place.book("scaling")
    stand_in = StandIn(place.seed)
    warm = []
    have = 0
    for owners in place.scale.growth:
        yield _loaded(address, have, owners, place)
        yield asyncio.run(_lent(address, (owners - have) * place.scale.passages, stand_in))
        have = owners
        found = asyncio.run(anybody(address, owners, place, stand_in))
        warm.append(found[0])
        yield from found
        yield _size(address, owners, place)
        yield _held(address, owners, place)
    name = f"growth from {place.scale.growth[0]:,} to {place.scale.growth[-1]:,} owners, warm"
    yield Row(
        name, warm[-1].times(warm[0]), "x", target=GROWTH_ON_SERVER if place.engine else GROWTH
    )


def _loaded(address: Address, begin: int, end: int, place: Place) -> Row:
    """Import prepared owners in as many processes as there are cores."""
    cores = min(os.cpu_count() or 1, 8)
    work = [
        (address, first, min(first + _OWNERS, end), place) for first in range(begin, end, _OWNERS)
    ]
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        seconds = sum(pool.starmap(_import, work, chunksize=1))
    rate = (end - begin) * place.scale.passages / seconds
    return Row(
        f"import, up to {end:,} owners",
        rate,
        "a second",
        note=f"for each of {cores} processes at once",
    )


def _import(address: Address, begin: int, end: int, place: Place) -> float:
    """Import some owners; return the seconds that it took."""

    async def written() -> list[str]:
        lines: list[str] = []
        async with memoranda.open("memory://", embed=None, limits=ROOMY) as book:
            talk = Talk(place.seed + begin)
            for number in range(begin, end):
                await fill(book, f"user {number}", place.scale.passages, talk, _SENTENCES)
            for number in range(begin, end):
                part = [line async for line in book.admin.export(f"user {number}")]
                lines += part[1:-1] if lines else part[:-1]
        return [*lines, f'{{"line": "last", "owners": {end - begin}}}']

    async def brought() -> float:
        lines = await written()
        async with memoranda.open(address, embed=None, limits=ROOMY) as book:
            began = time.perf_counter()
            report = await book.admin.import_(lines)
            took = time.perf_counter() - began
        assert (report.adopted, report.errors) == (end - begin, []), report
        return took

    return asyncio.run(brought())


async def _lent(address: Address, count: int, stand_in: StandIn) -> Row:
    began = time.perf_counter()
    async with memoranda.open(address, embed=None) as book:
        await lend_vectors(book, stand_in)
    return Row(
        "  vectors put",
        count / (time.perf_counter() - began),
        "a second",
        note="made at the same time, by one process",
    )


def _size(address: Address, owners: int, place: Place) -> Row:
    """Return the book's bytes on the disk per passage, with its vectors and indexes."""

    async def taken() -> int:
        async with memoranda.open(address, embed=None) as book:
            return (await book.admin.facts()).bytes

    return Row(
        "  on the disk", asyncio.run(taken()) / (owners * place.scale.passages), "B a passage"
    )


def _held(address: Address, owners: int, place: Place) -> Row:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        growth = pool.apply(_hold, (address, min(owners, place.scale.samples), place.seed))
    name = "  memory of an owner who was read"
    if growth is None:
        return Row(name, None, "KiB", note="this system does not say")
    return Row(name, growth / 1024, "KiB", note=STAND_IN)


def _hold(address: Address, owners: int, seed: int) -> float | None:
    """Return the bytes by which a fresh process grows for each owner that it reads."""

    async def work() -> float | None:
        stand_in = StandIn(seed)
        question = Question("anything at all", await stand_in.query("anything at all"))
        async with memoranda.open(address, embed=stand_in) as book:
            for number in range(20):
                await ask(book, f"nobody {number}", question)
            before = resident_bytes()
            for number in range(owners):
                await ask(book, f"user {number}", question)
            after = resident_bytes()
        return None if before is None or after is None else (after - before) / owners

    return asyncio.run(work())
