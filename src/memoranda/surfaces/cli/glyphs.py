"""Text as a terminal shows it: how wide it is, where it breaks, and what of it must never act there."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from typing import TextIO

#: Categories whose characters are not "printable", and do nothing to a terminal: other spaces, private and new ones.
_HARMLESS = frozenset({"Zs", "Co", "Cn"})
#: They join letters and emoji, and are part of how some languages are written.
_JOINERS = "\u200c\u200d"


def takes_colour(stream: TextIO) -> bool:
    """Colour is for terminals whose user does not refuse it."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def visible(text: str, kept: str = "") -> str:
    """The text with a visible sign for every control and format character that is not ``kept``."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in kept else _sign(character) for character in text
    )


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character in _JOINERS or unicodedata.category(character) in _HARMLESS:
        return character
    return f"<U+{code:04X}>"


def one_line(text: str) -> str:
    """The text on one line, its line breaks as signs."""
    return visible(text.replace("\r\n", "\n").replace("\n", " ⏎ ").replace("\t", " "))


def cells(text: str) -> int:
    """How many columns a visible text takes."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def _cell(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def fitted(text: str, width: int) -> str:
    """A visible text cut to a width, with a sign where it was cut."""
    return text if cells(text) <= width else _head(text, width - 1).rstrip() + "…"


def _head(text: str, width: int) -> str:
    taken = 0
    for place, character in enumerate(text):
        taken += _cell(character)
        if taken > width:
            return text[:place]
    return text


def lines_of(text: str, width: int | None) -> list[str]:
    """A text's lines, control signs visible, broken to a width where there is one."""
    shown = visible(text.replace("\r\n", "\n").replace("\t", "    "), kept="\n").split("\n")
    return shown if width is None else [part for line in shown for part in _broken(line, width)]


def _broken(line: str, width: int) -> Iterator[str]:
    """At spaces where there are any, else wherever the width ends."""
    width = max(width, 2)
    while cells(line) > width:
        head = _head(line, width)
        space = head.rfind(" ") if line[len(head)] != " " else len(head)
        cut = space if space > 0 else len(head)
        yield line[:cut].rstrip()
        line = line[cut:].lstrip(" ")
    yield line
