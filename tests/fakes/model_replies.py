"""What a provider of language models may reply, from a good answer to none at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class Way(Enum):
    """How a reply is sent."""

    WHOLE = auto()
    #: Half of it, and then the connection is closed.
    HALF = auto()
    #: A byte now and then.
    DRIP = auto()
    #: Nothing, for as long as the caller waits.
    SILENT = auto()


@dataclass(frozen=True)
class Reply:
    """One reply to one request."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    way: Way = Way.WHOLE
    #: ``stop``, ``length`` or ``content_filter``.
    finish: str = "stop"
    refusal: str | None = None
    #: The provider's code for what went wrong.
    code: str = ""
    #: Tokens in, those of them from the cache, and tokens out; counted roughly where nobody says.
    tokens: tuple[int, int, int] | None = None
    #: Whether the reply says how many tokens were used.
    counted: bool = True
    #: Sent as it is, instead of an envelope around the text.
    raw: bytes | None = None
    #: Between two bytes of a drip.
    seconds: float = 0.05


def answer(value: Any, **more: Any) -> Reply:
    """A valid answer: a value as JSON, or a text as it is."""
    return Reply(
        text=value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), **more
    )


def in_prose(value: Any) -> Reply:
    """The answer in a fence, with talk before and after it."""
    return answer(
        f"Sure! Here is what I {{really}} found:\n\n```json\n{json.dumps(value, indent=2)}\n```\n\nAnything else?"
    )


def half_json(value: Any) -> Reply:
    """An answer that the limit of tokens cut off."""
    whole = json.dumps(value)
    return answer(whole[: len(whole) // 2 + 1], finish="length")


def invalid_json() -> Reply:
    """Something that looks like JSON and is none."""
    return answer('{"notes": [{"content": "one"}, oops], "more": None}')


def huge(size: int = 10_000_000) -> Reply:
    """A valid answer of that many bytes."""
    return answer({"notes": ["x" * size]})


def refusal() -> Reply:
    """The model declines, in the field that is meant for it."""
    return Reply(refusal="I cannot help with that.")


def unauthorized() -> Reply:
    """The key is not taken."""
    return Reply(status=401, code="invalid_api_key")


def too_many(retry_after: float | str | None = None) -> Reply:
    """Too many requests, with or without a word on when to come back."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Reply(status=429, headers=headers, code="rate_limit_exceeded")


def failing(status: int = 500, code: str = "", **more: Any) -> Reply:
    """An error of the server, or whatever else that status says."""
    return Reply(status=status, code=code, **more)


def silent() -> Reply:
    """No reply, ever."""
    return Reply(way=Way.SILENT)


def closing_half_way(value: Any) -> Reply:
    """The connection ends in the midst of a good answer."""
    return answer(value, way=Way.HALF)


def dripping(value: Any, seconds: float = 0.05) -> Reply:
    """A good answer, a byte at a time."""
    return answer(value, way=Way.DRIP, seconds=seconds)
