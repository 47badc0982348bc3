"""The list of files that belong to the checkout."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Folders that are never part of the project; with git, `.gitignore` says the same.
_FOREIGN = {".git", ".venv", ".venv-frameworks", "__pycache__", "build", "dist"}


def files(root: Path) -> list[Path]:
    """Return every file that is tracked or may be committed, in a fixed order."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = None
    if (root / ".git").exists():
        listed = subprocess.run(command, cwd=root, check=False, capture_output=True)
    if listed is None or listed.returncode:
        return sorted(_walk(root))
    names = listed.stdout.decode().split("\0")
    return sorted({root / name for name in names if name and (root / name).is_file()})


def _walk(root: Path) -> list[Path]:
    found = []
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in _FOREIGN and not name.endswith("_cache")]
        found += [Path(folder, name) for name in names]
    return found
