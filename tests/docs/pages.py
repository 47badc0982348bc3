"""The pages that people write, and the blocks of code in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: What is made from the code has no examples.
PAGES = [
    ROOT / "README.md",
    *sorted(
        page for page in DOCS.rglob("*.md") if page.parent.name not in {"reference", "decisions"}
    ),
]
_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>[^\n]+) -->\n)?^```(?P<form>python|console)\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A block of Python or of commands, and why no test of pages runs it; empty if one does."""

    form: str
    code: str
    why: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in their order."""
    for found in _BLOCK.finditer(page.read_text("utf-8")):
        yield Block(found["form"], found["code"], found["why"] or "")


def name_of(page: Path) -> str:
    """Return a page's path below the checkout."""
    return page.relative_to(ROOT).as_posix()
