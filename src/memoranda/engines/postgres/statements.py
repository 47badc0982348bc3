"""The named statements of the files ``queries.sql``, with numbered parameters as the server needs them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

#: The files of statements, by the parts of their paths.
_FILES = (("queries.sql",), ("large", "queries.sql"))


class Statement(NamedTuple):
    """The text of a statement as sent, and the names of its parameters; empty if they are given by position."""

    text: str
    names: tuple[str, ...]

    def arguments(self, values: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """Return the values in the order of the parameters."""
        return [named[name] for name in self.names] if self.names else values


@lru_cache(maxsize=1)
def _texts() -> dict[str, str]:
    folder = files("memoranda.engines.postgres")
    text = "\n".join(folder.joinpath(*path).read_text("utf-8") for path in _FILES)
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = [line for line in body.splitlines() if not line.startswith("--")]
        assert name not in found, name
        found[name] = "\n".join(lines).strip()
    return found


def names() -> list[str]:
    """Return the names of all statements."""
    return list(_texts())


@lru_cache(maxsize=1024)
def statement(name: str, conditions: str = "") -> Statement:
    """Return a statement by its name.

    ``{conditions}`` in its text is replaced by ``conditions``, and ``{view}`` by the statement ``visible_shelves``.
    """
    texts = _texts()
    return numbered(
        texts[name].replace("{view}", texts["visible_shelves"]).replace("{conditions}", conditions)
    )


def numbered(text: str) -> Statement:
    """Replace the parameters ``?`` or ``:name`` of a text by numbers."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        name = found[1]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    named = re.sub(r'(?<![:"]):([a-z_]\w*)', number, text)
    if names:
        return Statement(named, tuple(names))
    places = iter(range(1, text.count("?") + 1))
    return Statement(re.sub(r"\?", lambda _: f"${next(places)}", text), ())
