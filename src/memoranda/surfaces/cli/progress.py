"""A progress bar on the error stream, for terminals only."""

from __future__ import annotations

import sys
import time
from typing import Self

#: Seconds between two drawings.
_PAUSE = 0.1
_BAR = 30


class Progress:
    """How far a long piece of work has come; call it with what is done and the total, 0 where nobody knows it."""

    def __init__(self, label: str, *, quiet: bool = False) -> None:
        self._label = label
        self._shown = sys.stderr.isatty() and not quiet
        self._drawn_at = 0.0
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._shown or now - self._drawn_at < _PAUSE:
            return
        self._drawn_at, self._drawn = now, True
        sys.stderr.write(f"\r\x1b[K{self._label} {self._picture(done, total)}")
        sys.stderr.flush()

    def _picture(self, done: int, total: int) -> str:
        if total <= 0:
            return f"{done:,}"
        part = min(done / total, 1.0)
        filled = round(part * _BAR)
        return f"[{'█' * filled}{'░' * (_BAR - filled)}] {part:4.0%}"
