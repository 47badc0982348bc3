"""The printer of a command's answer: lines and tables with a little colour for people, JSON for
programs.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import click

from memoranda.cli.output.json_text import json_line
from memoranda.cli.output.terminal import lines_of, one_line, shortened, visible, width_of, write
from memoranda.model.quotations import Excerpt

#: A flexible column that would be narrower than this is printed below its row.
_NARROWEST = 28
_GAP = "  "

_STYLES: dict[str, dict[str, Any]] = {
    "": {},
    "strong": {"bold": True},
    "faint": {"dim": True},
    "title": {"bold": True, "fg": "cyan"},
    "good": {"fg": "green"},
    "warning": {"fg": "yellow"},
    "bad": {"fg": "red", "bold": True},
}

#: Characters of a text that a terminal shows, where it is one of several.
_LONG = 1000
#: Seconds between two drawings of a progress bar.
_PAUSE = 0.1
_BAR = 30


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    style: str = ""
    right: bool = False
    #: It takes the width that the others leave; only the last column of a table may.
    flexible: bool = False


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints the answer of one command on standard output."""

    json: bool = False
    #: Columns of the terminal; None if lines may be of any length.
    width: int | None = None

    @classmethod
    def for_stdout(cls, *, json: bool) -> Printer:
        """Return a printer for standard output, as wide as its terminal if it is one."""
        return cls(json, shutil.get_terminal_size().columns if sys.stdout.isatty() else None)

    def say(self, text: str = "", style: str = "") -> None:
        """Print one line."""
        write(_styled(visible(text), style))

    def block(self, text: str, indent: str = "", style: str = "") -> None:
        """Print a text of any length, broken at the terminal's width."""
        width = None if self.width is None else self.width - width_of(indent)
        for line in lines_of(text, width):
            write(indent + _styled(line, style))

    def begun(self, text: str, excerpt: Excerpt | None = None) -> str:
        """Return the excerpt, or the beginning, of a text that is too long for a terminal, and how
        much more there is.

        Other texts stay unchanged.
        """
        if self.width is None or len(text) <= _LONG:
            return text
        if excerpt is not None:
            return (
                f"{excerpt} ({len(text) - excerpt.end + excerpt.start:,} more characters: --full)"
            )
        return f"{text[:_LONG].rstrip()} … ({len(text) - _LONG:,} more characters: --full)"

    def pairs(self, pairs: Sequence[tuple[str, str]], indent: str = "  ") -> None:
        """Print names and values below each other, without the empty values."""
        shown = [(one_line(name), value) for name, value in pairs if value]
        broad = max((width_of(name) for name, _ in shown), default=0)
        for name, value in shown:
            self.labelled(
                indent + name + " " * (broad - width_of(name)) + _GAP, value, label_style="faint"
            )

    def labelled(self, label: str, text: str, *, label_style: str = "", style: str = "") -> None:
        """Print a text after a label; further lines are indented by the label's width."""
        width = None if self.width is None else max(self.width - width_of(label), _NARROWEST)
        first, *rest = lines_of(text, width)
        write(_styled(label, label_style) + _styled(first, style))
        for line in rest:
            write(" " * width_of(label) + _styled(line, style))

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """Print rows under titles; a flexible last column is cut to the terminal, or printed below
        its row.
        """
        cells = [
            [column.title for column in columns],
            *([one_line(cell) for cell in row] for row in rows),
        ]
        widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
        below = None
        if self.width is not None and columns[-1].flexible:
            room = self.width - sum(widths[:-1]) - len(_GAP) * (len(columns) - 1)
            if room < min(widths[-1], _NARROWEST):
                below = self.width - 4
            else:
                widths[-1] = min(widths[-1], room)
        for number, row in enumerate(cells):
            parts = [
                _cell(*each, heading=not number) for each in zip(columns, row, widths, strict=True)
            ]
            write(_GAP.join(parts if below is None else parts[:-1]).rstrip())
            if below is not None and number:
                write("    " + shortened(row[-1], below))

    def document(self, value: Any) -> None:
        """Print one JSON document on a line of its own, in UTF-8 whatever the terminal's encoding
        is.
        """
        write(json_line(value).encode() + b"\n", nl=False)


def _styled(text: str, style: str) -> str:
    return click.style(text, **_STYLES[style]) if style else text


def _cell(column: Column, cell: str, width: int, *, heading: bool) -> str:
    text = shortened(cell, width)
    pad = " " * (width - width_of(text))
    styled = _styled(text, "faint" if heading else column.style)
    return pad + styled if column.right else styled + pad


class Progress:
    """A progress bar on standard error, for terminals only.

    Call it with the work done and the total, which is 0 if it is unknown.
    """

    def __init__(self, label: str, *, quiet: bool = False) -> None:
        self._label = label
        self._shown = sys.stderr.isatty() and not quiet
        self._drawn_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn_at:
            self._draw("")

    def __call__(self, done: int, total: int) -> None:
        if self._shown and time.monotonic() - self._drawn_at >= _PAUSE:
            self._draw(f"{self._label} {_bar(done, total)}")

    def _draw(self, text: str) -> None:
        self._drawn_at = time.monotonic()
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _bar(done: int, total: int) -> str:
    if total <= 0:
        return f"{done:,}"
    part = min(done / total, 1.0)
    filled = round(part * _BAR)
    return f"[{'█' * filled}{'░' * (_BAR - filled)}] {part:4.0%}"
