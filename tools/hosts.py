"""Check that no file names a package registry or a path on somebody's machine, and no lock file
names a host.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tools.checkout import ROOT, files

# Each is written in two halves, so that this file does not find itself.
_REGISTRIES = [
    "pypi" + r"\.org",
    "pythonhosted" + r"\.org",
    "pypi" + r"\.python",
    "registry" + r"\.npmjs",
    "registry" + r"\.yarnpkg",
    "crates" + r"\.io",
    "proxy" + r"\.golang",
    "rubygems" + r"\.org",
    "repo1?" + r"\.maven",
    "conda" + r"\.anaconda",
]
_PLACES = [
    "/home" + r"/\w",
    "/Users" + r"/\w",
    "/" + r"root\b",
    "/work" + r"/\w",
    "/opt" + "/(?:pypi|wheels)",
]

_REGISTRY = re.compile("|".join(_REGISTRIES), re.IGNORECASE)
_PLACE = re.compile(r"(?<![\w./~$}-])(?:file://)?(?:" + "|".join(_PLACES) + ")")
_LOCK_HOST = re.compile(r"://|--(?:extra-)?index-url|--find-links")


def complaint(name: str, line: str) -> str | None:
    """Return the problem with one line of a file, or None."""
    if found := _REGISTRY.search(line):
        return f"names a package registry: {found[0]}"
    if found := _PLACE.search(line):
        return f"names a path on one machine: {found[0]}"
    if name.endswith(".lock") and (found := _LOCK_HOST.search(line)):
        return f"a lock file must not name a host: {found[0]}"
    return None


def problems(root: Path) -> list[str]:
    """Return a line of text for every line that must not be there."""
    said = []
    for path in files(root):
        content = path.read_bytes()
        if b"\0" in content:
            continue
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), 1):
            if wrong := complaint(name, line):
                said.append(f"{name}:{number}: {wrong}")
    return said


def main() -> int:
    """Check the whole checkout."""
    said = problems(ROOT)
    sys.stdout.write("".join(f"{line}\n" for line in said))
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
