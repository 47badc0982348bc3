"""The lines of an export: how they are read one by one, and what the first one says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from memoranda.errors import InvalidInput, MemorandaError
from memoranda.storage.export.digests import DIGEST


async def each_line(lines: Iterable[str] | AsyncIterable[str]) -> AsyncIterator[str]:
    """Yield an export's lines from an iterable, asynchronous or not."""
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield line
    elif isinstance(lines, Iterable) and not isinstance(lines, (str, bytes)):
        for line in lines:
            yield line
    else:
        raise InvalidInput("lines: give the lines of an export, one by one", field="lines")


def parsed_line(text: object) -> dict[str, Any] | str:
    """Parse one line of an export; return the parsed line, or a text that says why it is invalid."""
    if not isinstance(text, str):
        return "no text"
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as exc:
        return f"no JSON: {exc}"
    if not isinstance(line, dict) or not isinstance(line.get("line"), str):
        return "not a line of an export"
    return line


#: What the first line of an export says that it is.
FORMAT = "memoranda export"
FORMAT_VERSION = 1
#: What exports of development builds said.
_DEVELOPMENT_FORMATS = ("memoranda", "commonplace")


#: What the first line of an export says where secrets are masked.
FOR_READING = {"masked": True, "note": "for reading only: secrets are masked, and it cannot be imported"}


def refuse_file(reason: str) -> NoReturn:
    """Raise InvalidInput: the file is no export that can be imported."""
    raise InvalidInput(f"file: {reason}", field="file")


def check_head(text: object) -> dict[str, Any]:
    """Return the first line of an export; raise InvalidInput if it is of something else, or was made for reading only."""
    head = parsed_line(text)
    if isinstance(head, str) or head["line"] != "head":
        refuse_file("its first line is not that of a Memoranda export; give a file that `export` wrote")
    if head.get("format") in _DEVELOPMENT_FORMATS:
        refuse_file("it is an export of a development build, which no release reads")
    if head.get("format") != FORMAT:
        refuse_file("its first line is not that of a Memoranda export; give a file that `export` wrote")
    if head.get("version") != FORMAT_VERSION:
        refuse_file(f"export format {head.get('version')}; this program reads up to {FORMAT_VERSION}")
    if head.get("masked"):
        refuse_file(
            "this export is for reading only: masks stand in place of secrets, and an import would store the masks; give an export "
            "that was made without --masked (masked=True)"
        )
    return head


@dataclass(slots=True)
class OwnerPart:
    """The lines of an export about one owner, read so far."""

    number: int
    lines: list[dict[str, Any]]
    #: The number of each line in the file.
    numbers: list[int]
    #: The digest of each line; None if it has none.
    digests: list[str | None]
    #: A line of it could not be read, and was reported: nothing of this owner is taken in.
    refused: bool = False

    def add(self, number: int, line: dict[str, Any]) -> None:
        """Add a line of the export."""
        if not self.refused:
            digest = line.pop(DIGEST, None)
            self.digests.append(digest if isinstance(digest, str) else None)
            self.lines.append(line)
            self.numbers.append(number)

    def refuse(self) -> None:
        """Skip this owner, and free the lines that were read."""
        self.refused = True
        self.lines.clear()
        self.numbers.clear()
        self.digests.clear()

    def fault(self, exc: MemorandaError) -> tuple[int, str]:
        """Return the number of the faulty line in the export, and what is wrong with it."""
        item = exc.item if isinstance(exc, InvalidInput) and exc.item is not None else 0
        return self.numbers[item], str(exc).removeprefix(f"line {item + 1}: ")
