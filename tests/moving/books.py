"""Books with a life behind them, and what two books have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import memoranda
from memoranda.assembly import open_engine
from memoranda.model.book_rows import Departure, PieceKind
from memoranda.ports import Engine
from memoranda_conformance.builders import ANN, BEN, SMALL, Pen, vectors_of
from memoranda_conformance.suites.copies import of_kind
from memoranda_conformance.suites.maintenance import a_full_life


async def make_book(address: str | Path) -> None:
    """A book of two people, with vectors, corrections, erasures and work that waits."""
    engine = await open_engine(address)
    await engine.begin_set(SMALL)
    await a_full_life(Pen(engine, ANN))
    ben = Pen(engine, BEN)
    await ben.remember("likes tea", key="drink")
    await ben.erase_all()
    memory = await ben.remember("likes gin", key="drink")
    await engine.put_vectors(SMALL, vectors_of(SMALL, memory))
    await engine.close()


async def content(engine: Engine) -> list[Any]:
    """Everything that a book holds, but for what is its engine's own."""
    found: list[Any] = [await engine.book_frame(), await of_kind(engine, PieceKind.STONE, b"", 100)]
    for era in await engine.eras(b"", 1000):
        found.append(await engine.frame(era))
        found += [
            await of_kind(engine, kind, era, 100) for kind in (PieceKind.RECORD, PieceKind.ENTRY)
        ]
    return found


async def assert_same(one: str | Path, two: str | Path) -> None:
    """Both hold the same, and each holds against its ledger; the second may be unfinished."""
    engines = [await open_engine(address, create=False, unfinished=True) for address in (one, two)]
    try:
        assert await content(engines[0]) == await content(engines[1])
        if (await engines[1].whereabouts()).arrival is None:
            assert [(await engine.verify()).faults for engine in engines] == [(), ()]
    finally:
        for engine in engines:
            await engine.close()


async def marked(source: str | Path, target: Path, *, copy: str = "stopped") -> None:
    """Mark a book as being copied, as a run that is killed right then leaves it."""
    engine = await open_engine(source)
    await engine.depart(Departure(str(target), whole=False, copy=copy), None)
    await engine.close()


async def said(
    address: str | Path, text: str, owner: str = "ann", *, tenant: str = "default", **how: Any
) -> memoranda.Receipt:
    """Remember something in a book that is opened for it alone."""
    async with memoranda.open(address, tenant=tenant, worker=False, embed=None) as book:
        return await book.remember(owner, text, **how)
