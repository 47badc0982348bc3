"""The version of a build: that of its tag, else one that names its commit; hatchling asks for it.

`python tools/version.py` prints it, for a build of the image, whose context has no `.git`.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The version that this checkout leads to, in pyproject.toml.
BASE = re.compile(r'^base = "([\d.]+)"$', re.MULTILINE)


def version(root: Path = ROOT) -> str:
    """Return the version of what is built from this folder; it has one wherever the folder comes
    from.
    """
    base = BASE.search((root / "pyproject.toml").read_text("utf-8"))
    assert base, "pyproject.toml: [tool.hatch.version] has no base"
    if given := os.environ.get("MEMORANDA_BUILD_VERSION"):
        return given
    notes = root / "PKG-INFO"  # only a source archive has one
    if notes.exists() and (
        found := re.search(r"^Version: (\S+)$", notes.read_text("utf-8"), re.MULTILINE)
    ):
        return found[1]
    return _of_checkout(root, base[1]) or f"{base[1]}.dev0+unknown"


def _of_checkout(root: Path, base: str) -> str | None:
    """Return the version by git; None if the folder is no checkout of its own, or git is
    missing.
    """
    top, commit = (
        _git(root, "rev-parse", "--show-toplevel"),
        _git(root, "rev-parse", "--short=9", "HEAD"),
    )
    if not commit or not top or Path(os.fsdecode(top.strip())).resolve() != root.resolve():
        return None
    changes = _changes(root)
    if (
        not changes
        and f"v{base}".encode() in (_git(root, "tag", "--points-at", "HEAD") or b"").split()
    ):
        return base
    # A shallow clone cannot count its commits.
    shallow = (_git(root, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true"
    number = b"0" if shallow else (_git(root, "rev-list", "--count", "HEAD") or b"0").strip()
    return f"{base}.dev{number.decode()}+g{commit.strip().decode()}{changes}"


def _changes(root: Path) -> str:
    """Return a digest of what the folder has and its commit has not; empty if there is nothing."""
    new = (_git(root, "ls-files", "--others", "--exclude-standard", "-z") or b"").split(b"\0")[:-1]
    content = [_git(root, "diff", "--binary", "HEAD") or b""]
    for name in new:
        path = root / os.fsdecode(name)
        content += [name, path.read_bytes() if path.is_file() else b""]
    digest = hashlib.sha256(b"\0".join(content)).hexdigest()
    return f".d{digest[:9]}" if any(content) else ""


def _git(root: Path, *words: str) -> bytes | None:
    """Return what git prints; None if it cannot answer."""
    try:
        return subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


if __name__ == "__main__":
    print(version())
