"""Identifiers that Memoranda makes itself: UUIDs of version 7, in the order of their making."""

from __future__ import annotations

import os
import threading
import time
from datetime import datetime
from hashlib import blake2b
from uuid import UUID

#: Random bytes are drawn many at a time: each draw releases the interpreter lock, and taking it back makes a caller
#: wait for the thread that holds it.
_DRAWN = 8192


class _Maker:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._random = b""
        self._used = 0

    def make(self) -> UUID:
        # 48 bits of milliseconds and 12 bits of their fraction are one growing number.
        now = time.time_ns()
        stamp = (now // 1_000_000 << 12) | (now % 1_000_000 * 4096 // 1_000_000)
        with self._lock:
            self._last = stamp = max(stamp, self._last + 1)
            if self._used == len(self._random):
                self._random, self._used = os.urandom(_DRAWN), 0
            tail = self._random[self._used : self._used + 8]
            self._used += 8
        value = (stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64
        return UUID(int=value | 0b10 << 62 | int.from_bytes(tail, "big") >> 2)


_maker = _Maker()


def _begin_anew() -> None:
    """A forked process must not draw what its parent draws, nor wait for a lock that a lost thread holds."""
    global _maker
    _maker = _Maker()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def new_id() -> UUID:
    """A new identifier, greater than every one that this process made before."""
    return _maker.make()


def derived_id(at: datetime, identity: bytes) -> UUID:
    """Return an identifier that is the same whenever it is derived from the same time and identity."""
    tail = int.from_bytes(blake2b(identity, digest_size=10, person=b"derived id").digest(), "big")
    value = (int(at.timestamp() * 1000) & (1 << 48) - 1) << 80 | 0x7 << 76 | (tail >> 62 & 0xFFF) << 64
    return UUID(int=value | 0b10 << 62 | tail & (1 << 62) - 1)
