"""What a command writes on: lines with a little colour for people, JSON for programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from memoranda.surfaces.cli.document import spelled
from memoranda.surfaces.cli.glyphs import cells, fitted, lines_of, one_line, takes_colour, visible
from memoranda.surfaces.cli.streams import put

#: A flexible column narrower than this goes below its row.
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


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    style: str = ""
    right: bool = False
    #: It takes what the others leave; at most one column does.
    flexible: bool = False


@dataclass(frozen=True, slots=True)
class Paper:
    """Where a command writes its answer."""

    json: bool = False
    #: Columns of the terminal; None where lines may be of any length.
    width: int | None = None
    colour: bool = False

    @classmethod
    def here(cls, *, json: bool) -> Paper:
        """Standard output as it is."""
        if not sys.stdout.isatty():
            return cls(json=json)
        return cls(json=json, width=shutil.get_terminal_size().columns, colour=takes_colour(sys.stdout))

    def ink(self, text: str, style: str) -> str:
        """The text in a style, where there is colour."""
        return click.style(text, **_STYLES[style]) if self.colour and style else text

    def say(self, text: str = "", style: str = "") -> None:
        """One line for people, or an empty one."""
        put(self.ink(visible(text), style), color=self.colour)

    def block(self, text: str, indent: str = "", style: str = "") -> None:
        """A text of any length, broken to the terminal."""
        width = None if self.width is None else self.width - cells(indent)
        for line in lines_of(text, width):
            put(indent + self.ink(line, style), color=self.colour)

    def pairs(self, pairs: Sequence[tuple[str, str]], indent: str = "  ") -> None:
        """Names and values under each other; empty values are left out."""
        shown = [(one_line(name), value) for name, value in pairs if value]
        broad = max((cells(name) for name, _ in shown), default=0)
        for name, value in shown:
            self.hung(indent + name + " " * (broad - cells(name)) + _GAP, value, lead_style="faint")

    def hung(self, lead: str, text: str, *, lead_style: str = "", style: str = "") -> None:
        """A text that hangs under the end of its lead."""
        width = None if self.width is None else max(self.width - cells(lead), _NARROWEST)
        first, *rest = lines_of(text, width)
        put(self.ink(lead, lead_style) + self.ink(first, style), color=self.colour)
        for line in rest:
            put(" " * cells(lead) + self.ink(line, style), color=self.colour)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """Rows under titles; a flexible column is cut to the terminal, or goes below its row."""
        shown = [[one_line(cell) for cell in row] for row in rows]
        widths = [
            max(cells(line[place]) for line in [[column.title for column in columns], *shown])
            for place, column in enumerate(columns)
        ]
        below = self._fit(columns, widths)
        self._row(columns, widths, [column.title for column in columns], below, heading=True)
        for row in shown:
            self._row(columns, widths, row, below)

    def _fit(self, columns: Sequence[Column], widths: list[int]) -> int | None:
        """Narrow the flexible column; its place, where it has to go below."""
        flexible = next((place for place, column in enumerate(columns) if column.flexible), None)
        if flexible is None or self.width is None:
            return None
        room = self.width - sum(widths) + widths[flexible] - len(_GAP) * (len(columns) - 1)
        if room >= min(widths[flexible], _NARROWEST):
            widths[flexible] = min(widths[flexible], room)
            return None
        return flexible

    def _row(
        self,
        columns: Sequence[Column],
        widths: Sequence[int],
        row: Sequence[str],
        below: int | None,
        *,
        heading: bool = False,
    ) -> None:
        parts = []
        for place, (column, width, cell) in enumerate(zip(columns, widths, row, strict=True)):
            if place == below:
                continue
            text = fitted(cell, width)
            pad = " " * (width - cells(text))
            inked = self.ink(text, "faint" if heading else column.style)
            parts.append(pad + inked if column.right else inked + pad)
        put(_GAP.join(parts).rstrip(), color=self.colour)
        if below is not None and not heading:
            assert self.width is not None
            put("    " + fitted(row[below], self.width - 4), color=self.colour)

    def document(self, value: Any) -> None:
        """One JSON document on a line of its own, in UTF-8 whatever the terminal's encoding."""
        put(spelled(value).encode() + b"\n", nl=False)
