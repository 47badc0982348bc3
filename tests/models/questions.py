"""The one question that tests of models ask, and a good answer to it."""

from __future__ import annotations

from typing import Any

from commonplace.model.asking import ModelRequest

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
