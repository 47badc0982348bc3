"""The one question that tests of models ask, a good answer to it, and how it is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from memoranda.model.language_models import ModelRequest
from memoranda.models import RemoteModels
from tests.fakes.model_server import ModelServer, Script

#: Longer than a good answer takes on a busy machine, in seconds.
LONG = 30.0

#: A word of the content that must be seen nowhere but in the request.
CANARY = "canary-7f3a"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"notes": {"type": "array", "items": {"type": "object"}}},
    "required": ["notes"],
}
GOOD = {"notes": [{"content": "likes blue", "messages": ["m1"]}]}


def question(**changes: Any) -> ModelRequest:
    return ModelRequest(
        **{
            "task": "form",
            "instructions": "You read talks, and note what is worth keeping.",
            "content": f"<talk>m1 user: {CANARY} likes blue</talk>",
            "answer_schema": SCHEMA,
            "largest": 500,
            **changes,
        }
    )


@asynccontextmanager
async def asking(
    server: ModelServer, name: str, script: Script, seconds: float = LONG, native: bool = False
) -> AsyncIterator[RemoteModels]:
    server.script = script
    models = RemoteModels(name, seconds=seconds, native=native)
    try:
        yield models
    finally:
        await models.close()


def assert_tells_nothing(error: BaseException) -> None:
    """Neither the error nor what hangs on it says what was sent."""
    assert CANARY not in repr(error)
    assert error.__cause__ is None and error.__context__ is None
