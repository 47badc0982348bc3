"""Erasure: forgotten data is nowhere in the folder and does not come back, and each step of the
erasure is needed.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from memoranda import NotFound, StorageError
from proofs._book.forgetting import Case
from proofs._book.omissions import OMISSIONS
from proofs._book.opening import without_syncs
from proofs._book.remains import Remains

ABOUT = "forgotten data is in no byte of the book, its log, backups and notes, and nothing brings it back"
CI_COUNT = 20
FULL_COUNT = 400
COVERS = (
    "model storage paging.py door.py engines/sqlite embedding recall formation language text book"
)

#: Small rows of the person's, among as many that grow. Of about a hundred one leaves a copy in a
#: gap of some page.
_FEW, _MANY = 40, 800
#: In one of so many books at least a copy stays, if the file is not rewritten.
_BOOKS = 4


class Undetected(Exception):
    """A step of the erasure was left out, and nothing was noticed."""


def run(count: int, seed: int) -> str:
    scanned = 0
    with without_syncs():
        for number in range(count):
            scanned += _case(f"{seed} {number}", rows=_MANY if number == 0 else _FEW)
        missed = [name for name in OMISSIONS if not _noticed(name, seed)]
        if missed:
            raise Undetected(f"left out, and nothing was noticed: {', '.join(missed)}")
    return (
        f"{count} books, 5 erasures each, {scanned} canaries found before and 0 after; "
        f"each of {len(OMISSIONS)} steps left out was noticed"
    )


def _noticed(omission: str, seed: int) -> bool:
    """Return True if a check shows that a step was left out; a copy in a page's gap is a matter of
    chance.
    """
    by_chance = omission == "rewriting the file"
    for number in range(_BOOKS if by_chance else 1):
        try:
            _case(
                f"{seed} {omission} {number}",
                OMISSIONS[omission](),
                rows=_MANY if by_chance else _FEW,
            )
        except (Remains, StorageError, NotFound):
            # The book's own check may be the first to notice: it refuses to restore or to keep such
            # a copy, or does not know an id as one that was forgotten before.
            return True
    return False


def _case(
    seed: str, omission: AbstractContextManager[object] | None = None, *, rows: int = _FEW
) -> int:
    folder = Path(tempfile.mkdtemp(prefix="memoranda-erasure-"))
    try:
        return asyncio.run(
            Case(folder, random.Random(seed), omission or nullcontext(), rows).prove()
        )
    finally:
        shutil.rmtree(folder)
