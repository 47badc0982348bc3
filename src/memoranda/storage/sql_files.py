"""A reader of the files of named SQL statements in an engine's folder."""

from __future__ import annotations

import re
from importlib.resources import files


def named_statements(package: str, *paths: str) -> dict[str, str]:
    """Return the statements of some files by their names, without comments and in the order of the
    files.
    """
    text = "\n".join(files(package).joinpath(*path.split("/")).read_text("utf-8") for path in paths)
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = [line for line in body.splitlines() if not line.startswith("--")]
        assert name not in found, name
        found[name] = "\n".join(lines).strip()
    return found
