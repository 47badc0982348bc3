"""Books opened for proofs that are not about the disk: as the product opens them, but without syncs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from commonplace import assembly
from commonplace.engines.sqlite import engine as sqlite_engine
from commonplace.engines.sqlite.engine import SqliteEngine
from commonplace.ports import Engine


async def _open_engine(address: str | Path, *, create: bool = True, read_only: bool = False) -> Engine:
    return await SqliteEngine.open(Path(address), create=create, read_only=read_only, synchronous="OFF")


@contextmanager
def without_syncs(*, rewriting: bool = True) -> Iterator[None]:
    """Open every book without syncs; without ``rewriting`` erasures leave the clearing of the file to a worker."""
    at_once = sqlite_engine.SCRUB_AT_ONCE_BYTES if rewriting else -1
    with (
        patch.object(assembly, "open_engine", _open_engine),
        patch.object(os, "fsync", lambda descriptor: None),
        patch.object(sqlite_engine, "SCRUB_AT_ONCE_BYTES", at_once),
    ):
        yield
