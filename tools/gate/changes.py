"""Files that differ from the last commit that landed; where that commit cannot be known, everything
counts as changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.checkout import ROOT, git

#: Names the commit that a change is made on, where a machine knows it: an ancestor of the commit
#: that is checked out. Without the product's prefix, because a book refuses variables with its
#: prefix that no setting has.
BASE_VARIABLE = "GATE_BASE"
#: The last commit that passed `.ci/run` in this repository; `.ci/run` writes it.
PASSED = "refs/gate/passed"
#: Branches that only hold what has landed.
LANDED = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/heads/main")
#: They decide what runs, and in which environment: a change in one of them is a change of
#: everything.
EVERYTHING = (
    ".ci",
    "dev",
    "pyproject.toml",
    "requirements.lock",
    "requirements-dev.lock",
    "tools/gate",
)


@dataclass(frozen=True)
class Change:
    """The changed files, and the commit since which they changed."""

    #: Empty if it is not known.
    base: str
    #: Says which commit that is, or why none is known.
    since: str
    #: Paths in the checkout; with an unknown base they mean nothing.
    paths: frozenset[str] = frozenset()

    def reason(self, covered: Iterable[str]) -> str:
        """Return why what covers these files and folders must run; an empty string if nothing asks
        for it.
        """
        if not self.base:
            return self.since
        under = (*EVERYTHING, *(path.removesuffix("/.").rstrip("/") for path in covered))
        found = sorted(path for path in self.paths if any(is_under(path, one) for one in under))
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        return f"{found[0]}{more} changed" if found else ""


def is_under(path: str, place: str) -> bool:
    """True if a path is this file, or lies in this folder."""
    return path == place or path.startswith(f"{place}/")


def read_change(root: Path = ROOT) -> Change:
    """Return what differs from the last landed commit, files that git does not know yet
    included.
    """
    base, since = _find_base(root)
    return _since(root, base, since) if base else Change("", since)


def read_latest(root: Path = ROOT) -> Change:
    """Return a change for a developer who runs what is near: what has not landed, else not been
    committed, else the last commit.
    """
    change = read_change(root)
    if change.base:
        return change
    change = _since(root, "HEAD", "the last commit")
    return change if change.paths else _since(root, "HEAD~1", "the commit before the last")


def _since(root: Path, base: str, since: str) -> Change:
    # With renames as a removal and an addition: what was moved away from a place has changed that
    # place.
    differing = git(root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base)
    unknown = git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if differing is None or unknown is None:
        return Change("", "git cannot tell what changed")
    return Change(
        base, since, frozenset(filter(None, [*differing.split("\0"), *unknown.split("\0")]))
    )


def _find_base(root: Path) -> tuple[str, str]:
    """Return the last landed commit with its description; without the commit, the reason why none
    is known.
    """
    head = git(root, "rev-parse", "--verify", "HEAD^{commit}")
    if head is None:
        return "", "there is no commit here, or no git"
    if git(root, "rev-parse", "--is-shallow-repository") != "false":
        return "", "this is a shallow clone"
    if given := os.environ.get(BASE_VARIABLE):
        commit = _ancestor(root, given)
        return (
            (commit, f"${BASE_VARIABLE}")
            if commit
            else ("", f"${BASE_VARIABLE} is no ancestor of HEAD")
        )
    bases = {}
    if passed := _ancestor(root, PASSED):
        bases[passed] = "the last commit that passed .ci/run"
    for branch in LANDED:
        common = git(root, "merge-base", "HEAD", branch)
        # On such a branch itself, it is just what this commit brings that may not have landed.
        if common and common != head:
            bases.setdefault(common, f"the last commit in common with {branch}")
    if not bases:
        return "", "no landed commit is known that this one follows"
    nearest = min(
        bases, key=lambda base: int(git(root, "rev-list", "--count", f"{base}..HEAD") or 0)
    )
    return nearest, bases[nearest]


def _ancestor(root: Path, name: str) -> str:
    """Return the commit of this name if HEAD follows it or is it; else an empty string."""
    commit = git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    follows = commit and git(root, "merge-base", "--is-ancestor", commit, "HEAD") is not None
    return commit if commit and follows else ""
