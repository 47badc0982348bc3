"""JSON Lines as they come in: text in UTF-8, one object on a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from memoranda.errors import InvalidInput


def texts(stream: Iterable[bytes]) -> Iterator[str]:
    """The lines of a stream; what is no UTF-8 is refused by its line."""
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as exc:
            raise InvalidInput(
                f"line {number}: no UTF-8 at byte {exc.start}; convert the file", field="file"
            ) from exc


def objects(stream: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The objects of a stream; empty lines are passed over."""
    for number, line in enumerate(texts(stream), 1):
        if line.isspace() or not line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise InvalidInput(f"line {number}: no JSON: {exc}", field="file") from exc
        if not isinstance(value, dict):
            raise InvalidInput(f"line {number}: not an object; write one object on each line", field="file")
        yield value
