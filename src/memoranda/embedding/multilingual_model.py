"""The multilingual local embedder: multilingual-e5-small, for books in several languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from memoranda.embedding.local_model import DIMENSION, Loaded, LocalEmbedder, LocalModel
from memoranda.embedding.model_session import AUTO, MULTILINGUAL, Precision, session_of
from memoranda.embedding.model_weights import Floats
from memoranda.embedding.multilingual_weights import WEIGHTS, WordTable, read_file
from memoranda.model.vectors import Embedding

#: The ids of a text's beginning, its end, and of what no piece has; ids up to the last one are no
#: pieces of words.
_BEGIN, _END, _UNKNOWN = 0, 2, 3
#: The last piece stands for a hidden word, and is no piece of words either.
_MASK = "<mask>"
#: What a word begins with.
_SPACE = "\u2581"
#: How far the score of an unknown character is below that of the rarest piece.
_PENALTY = 10.0
_NEVER = float("-inf")


class Pieces:
    """Splits texts into tokens. It remembers no word: a cache would outlive an erased text."""

    def __init__(
        self, pieces: Sequence[str], scores: Sequence[float], replaced: dict[int, str]
    ) -> None:
        self._known = {
            piece: (scores[id], id)
            for id, piece in enumerate(pieces)
            if id > _UNKNOWN and piece != _MASK
        }
        self._replaced = replaced
        self._longest = max(map(len, self._known))
        self._unknown = min(scores) - _PENALTY

    def ids(self, text: str, most: int) -> list[int]:
        """Return a text's tokens with its beginning and end: at most this many, from the text's
        start.
        """
        found = [_BEGIN]
        # Characters are replaced one by one, so that composed ones are made first.
        for word in normalize("NFC", text).translate(self._replaced).split(" "):
            if word:
                found += self._split(_SPACE + word)
            if len(found) >= most:
                break
        return [*found[: most - 1], _END]

    def _split(self, word: str) -> list[int]:
        """Return the pieces of a word with the best sum of scores."""
        end = len(word)
        best, chosen = [0.0] + [_NEVER] * end, [(0, _UNKNOWN)] * (end + 1)
        for start in range(end):
            so_far = best[start]
            for stop in range(start + 1, min(start + self._longest, end) + 1):
                if (found := self._known.get(word[start:stop])) and so_far + found[0] > best[stop]:
                    best[stop], chosen[stop] = so_far + found[0], (start, found[1])
            if so_far + self._unknown > best[start + 1]:
                best[start + 1], chosen[start + 1] = so_far + self._unknown, (start, _UNKNOWN)
        ids: list[int] = []
        while end:
            end, id = chosen[end]
            # Unknown characters side by side are one token.
            if not (id == _UNKNOWN and ids and ids[-1] == _UNKNOWN):
                ids.append(id)
        return ids[::-1]


#: The libraries that the model needs besides its file.
MULTILINGUAL_LIBRARIES = ("onnxruntime",)
#: What the model was trained to read before each question and passage.
QUESTION, PASSAGE = "query: ", "passage: "
#: Most tokens of a text that the model was trained on; the rest is ignored.
LONGEST_TOKENS = 512


class Multilingual(LocalModel):
    """multilingual-e5-small. All its vectors lie near an average, which is subtracted: otherwise
    all texts would be alike.
    """

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
