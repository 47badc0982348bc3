"""The lines of an export, one by one, as they come."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any

from memoranda.errors import InvalidInput


async def each_line(lines: Iterable[str] | AsyncIterable[str]) -> AsyncIterator[str]:
    """Each of the lines, wherever they come from."""
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield line
    elif isinstance(lines, Iterable) and not isinstance(lines, (str, bytes)):
        for line in lines:
            yield line
    else:
        raise InvalidInput("lines: give the lines of an export, one by one", field="lines")


def parsed_line(text: object) -> dict[str, Any] | str:
    """The line, or what is wrong with it."""
    if not isinstance(text, str):
        return "no text"
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as exc:
        return f"no JSON: {exc}"
    if not isinstance(line, dict) or not isinstance(line.get("line"), str):
        return "not a line of an export"
    return line
