"""The entry of this server in the configuration file of a coding agent: made, written, and taken
back.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from memoranda.errors import InvalidInput

#: The file of each program, in the folder of a project.
FILES: Final = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json"}
_SERVERS: Final = "mcpServers"
_NAME: Final = "memoranda"
_CURE: Final = "mend it, or change it by hand (--install with --print shows the entry)"


def project_of(folder: Path) -> Path:
    """Return the top folder of the git checkout that a folder is in, or the folder itself."""
    place = folder.resolve()
    return next((one for one in (place, *place.parents) if (one / ".git").exists()), place)


def group_of(project: Path) -> str:
    """Return the name of a project's group: that of its folder."""
    if not project.name or not project.name.isprintable():
        raise InvalidInput(
            f"{str(project)!r}: its name cannot be that of a group; name one with --group"
        )
    return project.name


def entry_of(options: Sequence[str]) -> dict[str, Any]:
    """Return the entry that starts the server with these options."""
    return {"command": sys.executable, "args": ["-m", "memoranda", "mcp", *options]}


def shown_entry(entry: dict[str, Any]) -> str:
    """Return an entry as the text of a whole file."""
    return _text({_SERVERS: {_NAME: entry}}, _Form())


def install_entry(path: Path, entry: dict[str, Any]) -> None:
    """Write the entry into a file; everything else in it stays, also variables that an entry of
    before sets.
    """
    held, form = _read(path)
    before = held.setdefault(_SERVERS, {}).get(_NAME)
    kept = {"env": before["env"]} if isinstance(before, dict) and "env" in before else {}
    held[_SERVERS][_NAME] = {**entry, **kept}
    _write(path, _text(held, form))


def remove_entry(path: Path) -> bool:
    """Remove the entry from a file, and the file if nothing else is in it; False if there was no
    entry.
    """
    held, form = _read(path)
    if _NAME not in held.get(_SERVERS, {}):
        return False
    del held[_SERVERS][_NAME]
    if held == {_SERVERS: {}} and not path.is_symlink():
        path.unlink()
    else:
        _write(path, _text(held, form))
    return True


class _Form(NamedTuple):
    """How a file is written."""

    indent: str = "  "
    line_end: str = "\n"


def _read(path: Path) -> tuple[dict[str, Any], _Form]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}, _Form()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: it is no text in UTF-8; {_CURE}") from None
    try:
        held = json.loads(text, object_pairs_hook=_without_repeats) if text.strip() else {}
    except ValueError as exc:
        raise InvalidInput(
            f"{path}: it is no JSON, in which there are no comments either ({exc}), so nothing was changed; {_CURE}"
        ) from None
    if not isinstance(held, dict) or not isinstance(held.get(_SERVERS, {}), dict):
        raise InvalidInput(f"{path}: {_SERVERS} is no JSON object, so nothing was changed; {_CURE}")
    indent = re.match(r"\s*\{\s*?\n([ \t]+)", text)
    return held, _Form(indent[1] if indent else "  ", "\r\n" if "\r\n" in text else "\n")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise ValueError for one that has a key twice, of which one would be
    lost.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError(
            "an object has a key twice: " + ", ".join(json.dumps(key) for key, _ in pairs)
        )
    return made


def _text(held: dict[str, Any], form: _Form) -> str:
    text = json.dumps(held, indent=form.indent, ensure_ascii=False) + "\n"
    return text.replace("\n", form.line_end)


def _write(path: Path, text: str) -> None:
    """Replace a file in one step, so that a kill leaves the old one or the new one."""
    place = path.resolve()
    for needed in (place, place.parent):
        if needed.exists() and not os.access(needed, os.W_OK):
            raise PermissionError(
                errno.EACCES, "it may not be written, so nothing was changed", str(needed)
            )
    place.parent.mkdir(parents=True, exist_ok=True)
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
