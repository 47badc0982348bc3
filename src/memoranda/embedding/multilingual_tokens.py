"""The tokens of multilingual-e5-small: pieces of words, chosen so that the sum of their scores is largest."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

#: The ids of a text's beginning, its end, and of what no piece has; ids up to the last one are no pieces of words.
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

    def __init__(self, pieces: Sequence[str], scores: Sequence[float], replaced: dict[int, str]) -> None:
        self._known = {
            piece: (scores[id], id) for id, piece in enumerate(pieces) if id > _UNKNOWN and piece != _MASK
        }
        self._replaced = replaced
        self._longest = max(map(len, self._known))
        self._unknown = min(scores) - _PENALTY

    def ids(self, text: str, most: int) -> list[int]:
        """Return a text's tokens with its beginning and end: at most this many, from the text's start."""
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
