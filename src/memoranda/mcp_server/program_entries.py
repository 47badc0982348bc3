"""The entry of this server in the configuration file of a coding agent: made, written, and taken back."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from memoranda.errors import InvalidInput

#: The file of each program, in the folder of a project.
FILES: Final = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json"}
_SERVERS: Final = "mcpServers"
_NAME: Final = "memoranda"


def project_of(folder: Path) -> Path:
    """Return the top folder of the git checkout that a folder is in, or the folder itself."""
    place = folder.resolve()
    return next((one for one in (place, *place.parents) if (one / ".git").exists()), place)


def entry_of(program: str, project: Path, more: Sequence[str] = ()) -> dict[str, Any]:
    """Return the entry of a program: what it remembers is read by all agents of the project."""
    scope = ["--agent", program, "--group", project.name, "--audience", "group"]
    return {"command": sys.executable, "args": ["-m", "memoranda", "mcp", *scope, *more]}


def shown_entry(entry: dict[str, Any]) -> str:
    """Return an entry as the text of a whole file."""
    return _text({_SERVERS: {_NAME: entry}})


def install_entry(path: Path, entry: dict[str, Any]) -> None:
    """Write the entry into a file; everything else in it stays."""
    held = _read(path)
    held.setdefault(_SERVERS, {})[_NAME] = entry
    _write(path, _text(held))


def remove_entry(path: Path) -> bool:
    """Remove the entry from a file, and the file if nothing else is in it; False if there was no entry."""
    held = _read(path)
    if _NAME not in held.get(_SERVERS, {}):
        return False
    del held[_SERVERS][_NAME]
    if held == {_SERVERS: {}}:
        path.unlink()
    else:
        _write(path, _text(held))
    return True


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{path}: it is no text in UTF-8; mend it, or add the entry of --print by hand"
        ) from None
    try:
        held = json.loads(text) if text.strip() else {}
    except ValueError as exc:
        raise InvalidInput(
            f"{path}: it is no JSON ({exc}), so nothing was changed; mend it, or add the entry of --print by hand"
        ) from None
    if not isinstance(held, dict) or not isinstance(held.get(_SERVERS, {}), dict):
        raise InvalidInput(
            f"{path}: {_SERVERS} is no JSON object, so nothing was changed; mend it, or add the entry of --print by hand"
        )
    return held


def _text(held: dict[str, Any]) -> str:
    return json.dumps(held, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """Replace a file in one step, so that a kill leaves the old one or the new one."""
    place = path.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
