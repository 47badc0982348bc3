"""Language models without a provider: they answer from a script, and keep the questions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from memoranda.model.language_models import ModelAnswer, ModelRequest, Usage

#: What is said to one question: a value, a text that is none, an answer, or what goes wrong.
Said = Mapping[str, Any] | str | ModelAnswer | Exception
Script = Sequence[Said] | Callable[[ModelRequest], Said]

_ENTRY = re.compile(r"^- \[([mce]\d+),? ([^\]]*)\] ?(.*)$", re.MULTILINE)


class ScriptedModels:
    """Answers from a script in its order, then with its last answer; or with the result of a
    function.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self.asked: list[ModelRequest] = []
        self.closed = False

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer once."""
        place = len(self.asked)
        self.asked.append(request)
        script = self._script
        said = script(request) if callable(script) else script[min(place, len(script) - 1)]
        if isinstance(said, Exception):
            raise said
        if isinstance(said, ModelAnswer):
            return said
        usage = Usage(
            provider="scripted",
            model="scripted",
            calls=1,
            tokens_in=100,
            tokens_out=10,
            price=Decimal("0.001"),
        )
        if isinstance(said, str):
            return ModelAnswer(text=said, fault="the answer holds no JSON object", usage=usage)
        return ModelAnswer(text=json.dumps(said), value=dict(said), usage=usage)

    def named(self, task: str) -> str:
        """The name under which it is counted."""
        return "scripted:scripted"

    async def close(self) -> None:
        """Do nothing: there is no connection."""
        self.closed = True


def entries(request: ModelRequest) -> dict[str, tuple[str, str]]:
    """Return the entries of a question: handle → label and first line of its text."""
    return {found[1]: (found[2], found[3]) for found in _ENTRY.finditer(request.content)}


def handle(request: ModelRequest, text: str) -> str | None:
    """The handle of the first entry in which a text stands; None where it is not shown."""
    return next((name for name, (_, line) in entries(request).items() if text in line), None)
