"""The files that belong to the checkout, and what git says of it."""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Folders that are never part of the project; with git, `.gitignore` says the same.
_FOREIGN = {".git", ".venv", ".venv-frameworks", ".venv-docs", "__pycache__", "build", "dist"}


def git(root: Path, *words: str) -> str | None:
    """Return what git prints of a checkout, without the line's end; None if it fails or is not
    there.
    """
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout.decode(errors="surrogateescape").rstrip("\n")


def commit_of(root: Path, paths: Iterable[str]) -> str:
    """Return the commit of a checkout, and whether it has other changes in these paths."""
    changed = git(root, "status", "--porcelain", "--", *paths)
    return (git(root, "rev-parse", "--short=12", "HEAD") or "") + (
        " and changes" if changed else ""
    )


def why_old(root: Path, commit: str, paths: Iterable[str]) -> str:
    """Return why what ran at a commit is older than these paths; empty if it is not."""
    if git(root, "cat-file", "-t", commit) is None:
        return f"{commit} is no commit of this checkout"
    named = (git(root, "diff", "--name-only", commit, "--", *paths) or "").splitlines()
    changed = (path for path in named if not _only_looks_different(root, commit, path))
    return next((f"{path} changed since {commit}" for path in changed), "")


def _only_looks_different(root: Path, commit: str, path: str) -> bool:
    """True if a Python file differs from that of a commit in layout and comments alone."""
    if not path.endswith(".py") or not (root / path).is_file():
        return False
    before = git(root, "show", f"{commit}:{path}")
    return before is not None and meaning(before) == meaning((root / path).read_text())


def meaning(code: str) -> str:
    """Return what Python reads in code: without comments, line breaks, and spaces that only lay out
    a docstring.
    """
    tree = ast.parse(code)
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                match node.body:
                    case [ast.Expr(ast.Constant(str(text)) as docstring), *_]:
                        docstring.value = " ".join(text.split())
    return ast.dump(tree)


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
