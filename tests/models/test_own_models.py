"""Models of one's own: down when they do not answer in time, and none of their errors' words stays
in the book.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memoranda.model.changes import JobState
from memoranda.model.language_models import ModelAnswer, ModelRequest
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import ScriptedModels
from tests.formation.books import TALK, jobs, known, notes, opened, settle


class Hanging(ScriptedModels):
    """Models that answer no request until they are mended, and ignore that they are cancelled."""

    def __init__(self) -> None:
        super().__init__(notes("Likes jazz"))
        self.mended = asyncio.Event()

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        while not self.mended.is_set():
            try:
                await self.mended.wait()
            except asyncio.CancelledError:
                continue
        return await super().ask(request)


async def test_models_that_hang_are_down_after_their_time_and_asked_again_later(
    tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_MODELS_TIMEOUT_SECONDS", "0.1")
    models = Hanging()
    async with asyncio.timeout(20), opened(tmp_path / "book.db", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        (job,) = await jobs(book)
        assert (job.state, job.tries) == (JobState.WAITING, 0)
        assert job.error == "scripted:scripted gave no answer within 0.1 s"
        models.mended.set()
        await settle(book, clock, 900)
        assert await known(book) == ["Likes jazz"] and await jobs(book) == []


async def test_an_exception_of_ones_own_models_is_stored_by_its_class_only(
    tmp_path: Path, clock: HandClock
) -> None:
    models = ScriptedModels(lambda request: KeyError(f"no answer for {request.content}"))
    path = tmp_path / "book.db"
    async with opened(path, clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        (job,) = await jobs(book)
        assert job.error == "ModelFailed: scripted:scripted raised KeyError"
        assert (job.state, job.tries) == (JobState.WAITING, 1)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ('{"notes": [NOTE]}', ["Likes jazz"]),
        ('Here it is:\n```json\n{"notes": [NOTE]}\n```', ["Likes jazz"]),
        ("None.", []),
    ],
)
async def test_ones_own_models_may_answer_with_a_text_alone(
    clock: HandClock, text: str, held: list[str]
) -> None:
    note = '{"content": "Likes jazz", "sources": [{"message": "m1"}]}'
    models = ScriptedModels(lambda request: ModelAnswer(text=text.replace("NOTE", note)))
    async with opened("memory://", clock, models) as book:
        await (await book.thread("ann", agent="guide")).append(TALK)
        await settle(book, clock)
        assert await known(book) == held
