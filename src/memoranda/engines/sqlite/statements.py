"""The named statements of ``queries.sql``, with lists of placeholders of any length."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def statements() -> dict[str, str]:
    """Every statement by its name."""
    text = files("memoranda.engines.sqlite").joinpath("queries.sql").read_text("utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = [line for line in body.splitlines() if not line.startswith("--")]
        found[name] = "\n".join(lines).strip()
    return found


@cache
def sql(name: str, **lists: int) -> str:
    """A statement, its lists (``ids=3``) written out as placeholders."""
    statement = statements()[name]
    for list_name, length in lists.items():
        statement = statement.replace("{" + list_name + "}", ",".join("?" * length))
    return statement
