"""The multilingual local embedder: multilingual-e5-small, for books in several languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoranda.embedding.local_model import DIMENSION, Loaded, LocalEmbedder, LocalModel
from memoranda.embedding.model_session import AUTO, MULTILINGUAL, Precision, session_of
from memoranda.embedding.model_weights import Floats
from memoranda.embedding.multilingual_tokens import Pieces
from memoranda.embedding.multilingual_weights import WEIGHTS, WordTable, read_file
from memoranda.model.vectors import Embedding

#: The libraries that the model needs besides its file.
MULTILINGUAL_LIBRARIES = ("onnxruntime",)
#: What the model was trained to read before each question and passage.
QUESTION, PASSAGE = "query: ", "passage: "
#: Most tokens of a text that the model was trained on; the rest is ignored.
LONGEST_TOKENS = 512


class Multilingual(LocalModel):
    """multilingual-e5-small. All its vectors lie near an average, which is subtracted: otherwise all texts would be alike."""

    def __init__(self, folder: Path, threads: int, precision: Precision = AUTO) -> None:
        super().__init__(folder, threads, precision)
        with np.load(MULTILINGUAL.ranges) as known:
            self._average: Floats = known["average"]

    def load(self) -> Loaded:
        """Read the model's file, and raise an error if it is not the published one."""
        file = read_file(self.folder)
        pieces, feed = Pieces(file.pieces, file.scores, file.replaced), Feeder(file.words)
        session = session_of(MULTILINGUAL, file.weights, feed, self.threads, self.precision)
        return Loaded(lambda text: pieces.ids(text, LONGEST_TOKENS), feed, session)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each passage."""
        return super().encode([PASSAGE + text for text in texts])

    def vectors(self, encoded: Sequence[list[int]]) -> Floats:
        """Return one unit vector a row, for passages of about the same length."""
        found: Floats = super().vectors(encoded) - self._average
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found

    def one(self, text: str) -> Floats:
        """Return the unit vector of one question."""
        found: Floats = self.vectors(super().encode([QUESTION + text]))[0]
        return found


class Feeder:
    """Makes the graph's inputs: the vectors of words stay outside it, in four bits."""

    def __init__(self, words: WordTable) -> None:
        self._words = words

    def __call__(self, ids: NDArray[np.int32], mask: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """Return the inputs for these tokens."""
        return {"words": self._words.vectors(ids), "mask": mask}


class MultilingualEmbedder(LocalEmbedder):
    """Makes vectors with multilingual-e5-small, as ``LocalEmbedder`` does with MiniLM."""

    embedding = Embedding("local", "multilingual-e5-small", DIMENSION)
    _kind = Multilingual
    _files = (WEIGHTS,)
