"""Identifiers that Commonplace makes itself: UUIDs of version 7, in the order of their making."""

from __future__ import annotations

import os
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = 0


def new_id() -> UUID:
    """A new identifier, greater than every one that this process made before."""
    global _last
    # 48 bits of milliseconds and 12 bits of sub-millisecond fraction are one growing number.
    now = time.time_ns()
    stamp = (now // 1_000_000 << 12) | (now % 1_000_000 * 4096 // 1_000_000)
    with _lock:
        _last = stamp = max(stamp, _last + 1)
    value = (stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64
    return UUID(int=value | 0b10 << 62 | int.from_bytes(os.urandom(8), "big") >> 2)
