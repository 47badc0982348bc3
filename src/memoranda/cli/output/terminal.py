"""Text on a terminal: its width, its line breaks, harmless control characters, and the process's
own streams.
"""

from __future__ import annotations

import contextlib
import os
import sys
import unicodedata
from collections.abc import Iterator
from typing import TextIO

import click

#: Categories that ``str.isprintable`` refuses although they do nothing to a terminal: spaces,
#: private use, unassigned.
_HARMLESS = frozenset({"Zs", "Co", "Cn"})
#: Zero-width joiners connect letters and emoji; some languages need them.
_JOINERS = "\u200c\u200d"


def takes_colour(stream: TextIO) -> bool:
    """True if the stream is a terminal and the user has not turned colour off."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def visible(text: str, kept: str = "") -> str:
    """Replace every control and format character that is not in ``kept`` by a visible sign."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in kept else _sign(character)
        for character in text
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


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, as in "1 owner" and "2 owners"; ``many`` is a plural that does
    not just add an s.
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def one_line(text: str) -> str:
    """Put the text on one line, with signs for its line breaks."""
    return visible(text.replace("\r\n", "\n").replace("\n", " ⏎ ").replace("\t", " "))


def width_of(text: str) -> int:
    """Return how many columns a visible text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def shortened(text: str, width: int) -> str:
    """Cut a visible text to a width, and mark the cut with an ellipsis."""
    return text if width_of(text) <= width else _head(text, width - 1).rstrip() + "…"


def _head(text: str, width: int) -> str:
    taken = 0
    for place, character in enumerate(text):
        taken += _width(character)
        if taken > width:
            return text[:place]
    return text


def lines_of(text: str, width: int | None) -> list[str]:
    """Return a text's lines with visible control characters, broken at ``width`` unless it is
    None.
    """
    shown = visible(text.replace("\r\n", "\n").replace("\t", "    "), kept="\n").split("\n")
    return shown if width is None else [part for line in shown for part in _broken(line, width)]


def _broken(line: str, width: int) -> Iterator[str]:
    """Break a line at spaces, or inside a word that is longer than the width."""
    width = max(width, 2)
    while width_of(line) > width:
        head = _head(line, width)
        space = head.rfind(" ") if line[len(head)] != " " else len(head)
        cut = space if space > 0 else len(head)
        yield line[:cut].rstrip()
        line = line[cut:].lstrip(" ")
    yield line


def open_missing_streams() -> None:
    """Open the null device in place of standard streams that the caller closed.

    Otherwise the next file that is opened takes the free descriptor. That file may be the book, and
    a message written to descriptor 2 would land in it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nowhere, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - it stays open
    for stream in (sys.stdout, sys.stderr):
        # Characters outside the terminal's encoding are escaped instead of ending the command.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def write(text: str | bytes, *, nl: bool = True) -> None:
    """Write a part of the answer, coloured if the terminal takes it; an error names standard
    output.
    """
    try:
        click.echo(text, nl=nl, color=takes_colour(sys.stdout))
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise OSError(exc.errno, exc.strerror, "standard output") from exc


def flush_or_discard(stream: TextIO) -> None:
    """Flush a stream; if that fails, send its buffer to the null device, so that the interpreter
    exits quietly.
    """
    try:
        stream.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
