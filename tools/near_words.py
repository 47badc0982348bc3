"""Write the table of near words: ``python -m tools.near_words --write``.

The local embedding model is asked for the vectors of the English words that its tokenizer knows.
Two words are near if the cosine of their vectors is at least ``LEAST``; each word keeps its nearest
ones.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import numpy as np

from memoranda.embedding.local_model import DIMENSION, MiniLM, processors
from memoranda.embedding.model_files import TOKENIZER, content, places
from memoranda.text.near_words import FILE
from memoranda.text.terms import is_stop_word, term_hash, word_terms

#: The least cosine of near words, and the most near words that one word keeps.
LEAST, MOST = 0.55, 12
_SHORTEST = 3
_BATCH = 128


def vocabulary(model: MiniLM) -> dict[int, str]:
    """Return the hash of each English stem → its most frequent word in the tokenizer's
    vocabulary.
    """
    known = json.loads(content(model.folder, TOKENIZER))["model"]["vocab"]
    found: dict[int, str] = {}
    for word in sorted(known, key=known.__getitem__):
        if (
            word.isascii()
            and word.isalpha()
            and len(word) >= _SHORTEST
            and not is_stop_word(word, "en")
        ):
            found.setdefault(term_hash(word_terms(word, "en")[0]), word)
    return dict(sorted(found.items()))


def write() -> None:
    """Compute the table and write it."""
    folder = next(one.folder for one in places() if one.folder is not None and not one.problem())
    model = MiniLM(folder, processors())
    words = vocabulary(model)
    encoded = model.encode(list(words.values()))
    vectors = np.empty((len(encoded), DIMENSION), dtype=np.float32)
    for start in range(0, len(encoded), _BATCH):
        vectors[start : start + _BATCH] = model.vectors(encoded[start : start + _BATCH])
    counts, near, cosines = [], [], []
    for row, vector in enumerate(vectors):
        like = vectors @ vector
        like[row] = 0
        best = np.argsort(-like, kind="stable")[:MOST]
        best = best[like[best] >= LEAST]
        counts.append(len(best))
        near += best.tolist()
        cosines += np.minimum(255, np.rint(like[best] * 255)).tolist()
    np.savez_compressed(
        FILE,
        hashes=np.array(list(words), dtype=np.uint64),
        starts=np.cumsum([0, *counts]).astype(np.uint32),
        near=np.array(near, dtype=np.uint16),
        cosines=np.array(cosines, dtype=np.uint8),
    )
    print(f"{len(words):,} words, {len(near):,} pairs, {FILE.stat().st_size:,} bytes")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help="write the table")
    parser.parse_args(arguments)
    write()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
