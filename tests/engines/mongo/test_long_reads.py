"""A read that takes longer than the server keeps a moment is of one moment for each owner, or says
what to raise.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("pymongo", reason="the driver is not installed: pymongo")

from memoranda.engines.mongo import engine as engines
from memoranda.engines.mongo.engine import MongoEngine
from memoranda.errors import StorageError
from memoranda.model.book_rows import PieceKind
from memoranda.ports import Engine
from memoranda.storage.upkeep_questions import PiecesAfter
from memoranda_conformance.builders import ANN, BEN, Pen
from tools.mongod import Mongod

#: With every change of storage or engines.
pytestmark = pytest.mark.again

#: Longer than the server keeps a moment here.
_LATE_SECONDS = 6.0


@pytest.fixture
async def engine() -> AsyncIterator[MongoEngine]:
    """A book on a server that keeps a moment for two seconds, while somebody writes."""
    with Mongod("--setParameter", "minSnapshotHistoryWindowInSeconds=2") as server:
        opened = await MongoEngine.open(server.at("book"))
        stop = asyncio.Event()

        async def write_on() -> None:
            pen = Pen(opened, BEN.model_copy(update={"id": "writes"}))
            while not stop.is_set():
                await pen.remember("tea")

        for owner in (ANN, BEN):
            await Pen(opened, owner).remember("here")
        writing = asyncio.create_task(write_on())
        yield opened
        stop.set()
        await writing
        await opened.close()


async def test_verify_takes_a_new_moment_for_each_owner(
    engine: MongoEngine, monkeypatch: pytest.MonkeyPatch
):
    answer = engines._ANSWERS[PiecesAfter]
    late: list[bytes] = []

    async def slowly(on: Any, question: Any) -> Any:
        found = await answer(on, question)
        if len(late) < 3 and question.kind is PieceKind.RECORD and len(found) < question.limit:
            # The last page of an owner; after the third one the book is asked for more.
            late.append(question.era)
            await asyncio.sleep(_LATE_SECONDS)
        return found

    monkeypatch.setitem(engines._ANSWERS, PiecesAfter, slowly)
    assert (await engine.verify()).faults == ()


async def test_a_backup_takes_a_new_moment_for_each_owner_and_an_owner_who_takes_longer_is_told(
    engine: MongoEngine,
):
    async def slowly(moment: Engine) -> None:
        for era in await moment.eras(b"", 10):
            await asyncio.sleep(_LATE_SECONDS)
            assert await moment.frame(era)

    await engine.at_one_moment(slowly)

    async def slower(moment: Engine) -> None:
        (era, *_) = await moment.eras(b"", 10)
        await moment.frame(era)
        await asyncio.sleep(_LATE_SECONDS)
        await moment.pieces(PieceKind.RECORD, era, b"", 10)

    with pytest.raises(StorageError, match="minSnapshotHistoryWindowInSeconds"):
        await engine.at_one_moment(slower)
