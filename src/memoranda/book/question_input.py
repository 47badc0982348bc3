"""Arguments of questions: their modes and vectors, and the least confidence of a hit."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoranda.book.input import as_mode
from memoranda.capabilities import MakesVectors
from memoranda.errors import InvalidInput
from memoranda.model.records import RecordType
from memoranda.recall.hits import MOST_USED
from memoranda.recall.scoring.search import Mode

_WITHOUT_A_QUESTION = (Mode.RECENT, MOST_USED)


def as_mode_of_types(mode: Any, types: Set[RecordType]) -> str:
    """Check a mode of recall for these types of records and return it."""
    chosen = as_mode(mode)
    if chosen == MOST_USED and RecordType.MEMORY not in types:
        raise InvalidInput("types: most_used counts memories", field="types")
    return chosen


def as_vector(given: Any, maker: MakesVectors | None) -> NDArray[np.float32]:
    """Check the vector of a question and return it with length 1."""
    if maker is None:
        raise InvalidInput("vector: this book has no embedder, so vectors cannot be compared", field="vector")
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as exc:
        raise InvalidInput("vector: pass numbers", field="vector") from exc
    largest = float(np.abs(vector).max(initial=0.0))
    if 0 < largest < np.inf:
        # The squares of very large or very small numbers are not finite, or 0.
        vector = vector / largest
    length = float(np.linalg.norm(vector)) if vector.ndim == 1 and largest < np.inf else 0.0
    if vector.shape != (maker.embedding.dimension,) or not 0 < length < np.inf:
        raise InvalidInput(
            f"vector: pass {maker.embedding.dimension} finite numbers that are not all 0", field="vector"
        )
    return np.asarray(vector / length, dtype=np.float32)


def as_confidence(given: Any, mode: str) -> float | None:
    """Check the least confidence of a hit and return it; modes that ignore the question have none to compare."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
        raise InvalidInput("at_least: pass a number from 0 to 1", field="at_least")
    if mode in _WITHOUT_A_QUESTION:
        raise InvalidInput(
            f"at_least: {mode} ignores the question, so its hits have no confidence; choose another mode or leave it out",
            field="at_least",
        )
    return float(given)
