"""Books whose threads are formed by a clock in hand and a model with a script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import memoranda
from memoranda.book import Book
from memoranda.model.changes import Job
from memoranda.model.language_models import ModelRequest
from memoranda.model.memories import Memory
from memoranda.testing.clock import HandClock
from memoranda.testing.scripted_models import Said, ScriptedModels, entries

TALK = [
    {"role": "user", "content": "I live in New York and I like jazz."},
    {"role": "assistant", "content": "Noted: New York, jazz."},
]


@asynccontextmanager
async def opened(
    where: Path | str, clock: HandClock, models: ScriptedModels | None = None, **more: Any
) -> AsyncIterator[Book]:
    async with memoranda.open(where, clock=clock, models=models, worker=False, **more) as book:
        yield book


def notes(*contents: str, **fields: Any) -> Callable[[ModelRequest], Said]:
    """Each of these as a note that rests on the first new message of a user's."""

    def say(request: ModelRequest) -> Said:
        first = next(
            name
            for name, (label, _) in entries(request).items()
            if name.startswith("m") and "user" in label and "context" not in label
        )
        return {
            "notes": [
                {"content": content, "sources": [{"message": first}], **fields}
                for content in contents
            ]
        }

    return say


async def known(book: Book, **more: Any) -> list[str]:
    page = await book.records.list(
        "ann", types="memory", only={"statuses": ["active"]}, as_owner=True, **more
    )
    return sorted(record.content for record in page.records if isinstance(record, Memory))


async def jobs(book: Book) -> list[Job]:
    return [job for job in await book.engine.jobs(None, 100) if job.kind == "form"]


async def settle(book: Book, clock: HandClock, seconds: float = 31) -> int:
    clock.advance(seconds=seconds)
    return await book.worker.drain()
