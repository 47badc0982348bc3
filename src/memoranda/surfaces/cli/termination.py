"""A request to end: SIGTERM does what Ctrl-C does, so that nothing half made is left."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Self


class Termination:
    """While it is entered, SIGTERM interrupts; ``asked`` tells it from Ctrl-C."""

    def __init__(self) -> None:
        self.asked = False
        self._held = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            # A caller that had it ignored meant so.
            self._held = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if self._held:
            signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._held:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        # Some senders, timeout(1) among them, signal twice: the second must not break off the clearing up.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.asked = True
        raise KeyboardInterrupt
