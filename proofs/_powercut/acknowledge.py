"""Marks that a workload makes while it is recorded, ordered among its writes."""

from __future__ import annotations

import os
from pathlib import Path

from proofs._powercut.record import MARKS


class Acknowledgements:
    """One mark a line: it is recorded when `mark` returns, after every operation that ended
    before.
    """

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder / MARKS, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def mark(self, text: str) -> None:
        os.write(self._descriptor, (text + "\n").encode())
