"""Arguments of questions: their vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoranda.capabilities import MakesVectors
from memoranda.errors import InvalidInput


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
