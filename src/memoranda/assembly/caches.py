"""Clears what this process remembers outside the engine, after an erasure."""

from __future__ import annotations

from collections.abc import Callable

from memoranda.embedding import CachedEmbedder, NoEmbedder
from memoranda.text.similarity import clear_similarity_caches
from memoranda.text.terms import forget_words


def cache_clearer(embedder: CachedEmbedder | NoEmbedder) -> Callable[[], None]:
    """Return a function that clears every cache outside the engine, called after an erasure."""

    def forget() -> None:
        forget_words()
        clear_similarity_caches()
        if not isinstance(embedder, NoEmbedder):
            embedder.clear()

    return forget
