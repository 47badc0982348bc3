"""The pictures of the documentation, drawn for light and dark pages; their text can be read on a
page of 360 pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

#: Units are pixels of a phone's page, so the text has its size there.
WIDTH = 336
SIZE = 13
_LINE = 18


class Palette(NamedTuple):
    """Colours of one scheme."""

    text: str
    quiet: str
    line: str
    plain: str
    blue: str
    green: str
    amber: str
    red: str


LIGHT = Palette(
    "#1b1f24", "#57606a", "#57606a", "#f6f8fa", "#dbeafe", "#dcfce7", "#fef3c7", "#fee2e2"
)
DARK = Palette(
    "#e6edf3", "#a9b4c0", "#a9b4c0", "#20262e", "#1e3a5f", "#14432a", "#4d3b0a", "#5c1f1f"
)


@dataclass
class Drawing:
    """A drawing that grows from shapes; colours are fields of a palette."""

    about: str
    shapes: list[Callable[[Palette], str]] = field(default_factory=list)
    height: float = 0

    def box(
        self,
        x: float,
        y: float,
        width: float,
        lines: Iterable[str],
        fill: str = "plain",
        *,
        dashed: bool = False,
    ) -> float:
        """Draw a box with lines of text in its middle; return its lower edge."""
        held = list(lines)
        height = _LINE * len(held) + 14
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.shapes.append(
            lambda one: (
                f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="{getattr(one, fill)}" '
                f'stroke="{one.line}"{dash}/>'
            )
        )
        for number, line in enumerate(held):
            self.text(
                x + width / 2, y + 20 + _LINE * number, line, bold=number == 0 and len(held) > 1
            )
        self.height = max(self.height, y + height)
        return y + height

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        anchor: str = "middle",
        bold: bool = False,
        quiet: bool = False,
    ) -> None:
        """Draw one line of text."""
        weight = ' font-weight="600"' if bold else ""
        self.shapes.append(
            lambda one: (
                f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{one.quiet if quiet else one.text}"{weight}>'
                f"{escape(words)}</text>"
            )
        )
        self.height = max(self.height, y + 6)

    def line(self, *points: tuple[float, float], arrow: bool = True, dashed: bool = False) -> None:
        """Draw a line through points, with an arrow at its end."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        end = ' marker-end="url(#tip)"' if arrow else ""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.shapes.append(
            lambda one: (
                f'<polyline points="{path}" fill="none" stroke="{one.line}" stroke-width="1.5"{end}{dash}/>'
            )
        )
        self.height = max(self.height, *(y for _, y in points))

    def bar(self, x: float, y: float, width: float, fill: str) -> None:
        """Draw a bar as high as a line of text."""
        self.shapes.append(
            lambda one: (
                f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="14" fill="{getattr(one, fill)}" stroke="{one.line}"/>'
            )
        )

    def svg(self, palette: Palette) -> str:
        """Return the drawing in one scheme."""
        height = self.height + 4
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
            f'font-family="system-ui, sans-serif" font-size="{SIZE}" role="img">'
        )
        tip = (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0 8 4 0 8z" fill="{palette.line}"/></marker></defs>'
        )
        body = "\n".join(shape(palette) for shape in self.shapes)
        return f"{head}\n<title>{escape(self.about)}</title>\n{tip}\n{body}\n</svg>\n"


def _steps(drawing: Drawing, steps: Iterable[tuple[list[str], str]], y: float = 4) -> float:
    """Draw boxes one below the other, joined by arrows."""
    last = None
    for lines, fill in steps:
        if last is not None:
            drawing.line((WIDTH / 2, last), (WIDTH / 2, last + 18))
            y = last + 19
        last = drawing.box(18, y, WIDTH - 36, lines, fill)
    return last or y


def readers() -> Drawing:
    """Owner, agents and audiences."""
    one = Drawing("Who reads which records of one owner")
    one.text(WIDTH / 2, 16, "Owner: Ana", bold=True)
    audience = [
        (["self of coach", "afraid of dogs"], "blue"),
        (["group blue", "in the blue team"], "amber"),
        (["global", "speaks Spanish"], "green"),
    ]
    y = 30.0
    edges = []
    for lines, fill in audience:
        lower = one.box(4, y, 132, lines, fill)
        edges.append((y + lower) / 2)
        y = lower + 16
    who = [
        ("agent coach", "in group blue"),
        ("agent tutor", "in group blue"),
        ("agent tutor", ""),
        ("the person", "as_owner=True"),
    ]
    reads = [(0, 1, 2), (1, 2), (2,), (0, 1, 2)]
    y = 30.0
    for (first, second), seen in zip(who, reads, strict=True):
        lines = [first, second] if second else [first]
        lower = one.box(206, y, 126, lines)
        middle = (y + lower) / 2
        for number, at in enumerate(seen):
            one.line((206, middle + 5 * (number - (len(seen) - 1) / 2)), (138, edges[at]))
        y = lower + 12
    return one


def write() -> Drawing:
    """The way of a write."""
    one = Drawing("The way of a write")
    lower = _steps(
        one,
        [
            (["the call", "remember, append, forget …"], "plain"),
            (["the door", "limits, words, digest"], "plain"),
            (["the decision", "questions inside one transaction"], "blue"),
            (["the commit", "records, ledger entry, jobs; fsync"], "blue"),
            (["the receipt", "now recall finds it by its words"], "green"),
        ],
    )
    one.text(WIDTH / 2, lower + 22, "a moment later, from a job:", quiet=True)
    one.box(4, lower + 32, 158, ["its vector", "recall by meaning"], "amber", dashed=True)
    one.box(174, lower + 32, 158, ["forming", "facts of a thread"], "amber", dashed=True)
    return one


def recall() -> Drawing:
    """A recall with its bars."""
    one = Drawing("A recall: the parts of each hit's score")
    lower = one.box(18, 4, WIDTH - 36, ["“What may I not eat?”"], "blue")
    one.line((WIDTH / 2, lower), (WIDTH / 2, lower + 18))
    lower = one.box(
        18, lower + 19, WIDTH - 36, ["what the view may see", "words, meaning, neighbours, time"]
    )
    one.line((WIDTH / 2, lower), (WIDTH / 2, lower + 18))
    y = lower + 38
    hits = [
        ("1  Is allergic to walnuts", (70, 110, 40, 26)),
        ("2  I am allergic to walnuts.", (80, 90, 40, 0)),
        ("3  What shall I cook?", (30, 50, 20, 0)),
    ]
    fills = ("amber", "green", "blue", "red")
    for words, amounts in hits:
        one.text(18, y, words, anchor="start")
        x = 18.0
        for amount, fill in zip(amounts, fills, strict=True):
            if amount:
                one.bar(x, y + 7, amount, fill)
            x += amount
        y += 44
    for number, (name, fill) in enumerate(
        zip(("words", "meaning", "its conversation", "strength"), fills, strict=True)
    ):
        x, at = (18, y + 2) if number % 2 == 0 else (178, y + 2)
        one.bar(x, at - 11, 14, fill)
        one.text(x + 20, at, name, anchor="start", quiet=True)
        y += 22 if number % 2 else 0
    one.height = y
    return one


def two_clocks() -> Drawing:
    """A fact's life with two clocks."""
    one = Drawing("A fact's life with two clocks")
    one.text(4, 16, "True in the world", anchor="start", bold=True)
    one.bar(4, 26, 150, "green")
    one.text(79, 56, "lives in Boston", quiet=True)
    one.bar(154, 26, 150, "blue")
    one.text(229, 56, "lives in Lisbon", quiet=True)
    one.line((4, 66), (330, 66))
    one.text(4, 82, "January", anchor="start", quiet=True)
    one.text(154, 82, "May", quiet=True)
    one.text(330, 82, "time", anchor="end", quiet=True)
    one.text(4, 118, "Known to the book", anchor="start", bold=True)
    one.bar(60, 128, 140, "green")
    one.text(130, 158, "Boston", quiet=True)
    one.bar(200, 128, 104, "blue")
    one.text(252, 158, "Lisbon", quiet=True)
    one.line((4, 168), (330, 168))
    for x, words in ((60, "she tells of Boston"), (200, "June: she tells of Lisbon")):
        one.line((x, 168), (x, 180), arrow=False)
        one.text(x, 194 if x < 100 else 210, words, quiet=True)
    one.text(4, 238, "as_of May: what was true then → Lisbon", anchor="start")
    one.text(4, 258, "known_at May: what it knew then → Boston", anchor="start")
    one.text(4, 278, "superseded: stays in the history", anchor="start")
    one.text(4, 298, "forgotten: gone from both", anchor="start")
    return one


def forgetting() -> Drawing:
    """What forgetting reaches."""
    one = Drawing("What forgetting reaches, and what it names")
    lower = one.box(18, 4, WIDTH - 36, ["forget “Is allergic to walnuts”"], "red")
    one.line((WIDTH / 2, lower), (WIDTH / 2, lower + 18))
    y = lower + 34
    one.text(4, y, "Gone in one commit", anchor="start", bold=True)
    left = [["the memory"], ["words in messages"], ["episodes"], ["summaries"], ["profile fields"]]
    right = [
        ["items and data"],
        ["words and vectors"],
        ["indexes, caches"],
        ["waiting jobs"],
        ["earlier versions"],
    ]
    y += 10
    for first, second in zip(left, right, strict=True):
        one.box(4, y, 160, first, "green")
        lower = one.box(172, y, 160, second, "green")
        y = lower + 6
    y += 18
    one.text(4, y, "Cleared then", anchor="start", bold=True)
    one.box(4, y + 10, 160, ["the book's files"], "amber")
    lower = one.box(172, y + 10, 160, ["its own backups"], "amber")
    y = lower + 24
    one.text(4, y, "Not reached; the receipt names it", anchor="start", bold=True)
    one.box(4, y + 10, 160, ["copies, snapshots"], "plain", dashed=True)
    one.box(172, y + 10, 160, ["a server's archives"], "plain", dashed=True)
    return one


def engines() -> Drawing:
    """One book on four engines."""
    one = Drawing("One book on four engines")
    lower = one.box(18, 4, WIDTH - 36, ["your program", "the same functions and answers"], "blue")
    y = lower + 40
    places = [
        (4, y, ["a file", "book.db"]),
        (192, y, ["PostgreSQL", "or MongoDB"]),
        (4, y + 74, ["memory", "memory://"]),
        (192, y + 74, ["a service", "https://…"]),
    ]
    one.line((74, lower), (74, y - 1))
    one.line((262, lower), (262, y - 1))
    one.line((168, lower), (168, y + 99), arrow=False)
    one.line((168, y + 99), (145, y + 99))
    one.line((168, y + 99), (191, y + 99))
    for x, at, lines in places:
        one.box(x, at, 140, lines, "green")
    one.text(WIDTH / 2, y + 146, "copy --switch moves a book between them", quiet=True)
    return one


DRAWN: Mapping[str, Callable[[], Drawing]] = {
    "readers": readers,
    "write": write,
    "recall": recall,
    "two-clocks": two_clocks,
    "forgetting": forgetting,
    "engines": engines,
}


def files() -> dict[str, str]:
    """Return each picture's file by its name."""
    made = {}
    for name, draw in DRAWN.items():
        made[f"{name}.svg"] = draw().svg(LIGHT)
        made[f"{name}-dark.svg"] = draw().svg(DARK)
    return made
