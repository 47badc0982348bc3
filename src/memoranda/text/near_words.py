"""Near words: English words of a similar meaning, from a table that ``tools/near_words.py``
computes.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

FILE: Final = Path(__file__).with_name("near_words.npz")


class _Table(NamedTuple):
    #: The hash of each word's term, ascending.
    hashes: NDArray[np.uint64]
    #: The near words of word ``i`` are ``near[starts[i]:starts[i + 1]]``, positions in ``hashes``,
    #: nearest first.
    starts: NDArray[np.uint32]
    near: NDArray[np.uint16]
    #: How near each one is, from 0 to 1.
    likeness: NDArray[np.float64]


@cache
def _table() -> _Table:
    with np.load(FILE) as stored:
        return _Table(stored["hashes"], stored["starts"], stored["near"], stored["cosines"] / 255)


@lru_cache(maxsize=4096)
def near_words(hashes: tuple[int, ...]) -> dict[int, float]:
    """Return the terms of words near a word, given as the hashes of its terms, each with how near
    it is, from 0 to 1.
    """
    table = _table()
    found: dict[int, float] = {}
    asked = np.array(hashes, dtype=np.uint64)
    rows = np.minimum(table.hashes.searchsorted(asked), len(table.hashes) - 1)
    for row in rows[table.hashes[rows] == asked].tolist():
        own = slice(int(table.starts[row]), int(table.starts[row + 1]))
        for near, likeness in zip(
            table.hashes[table.near[own]].tolist(), table.likeness[own].tolist(), strict=True
        ):
            found[near] = max(likeness, found.get(near, 0.0))
    return {near: likeness for near, likeness in found.items() if near not in hashes}
