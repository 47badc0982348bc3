"""Embedding: vectors of texts by the local model or a provider's, or the reason why there are none."""

from memoranda.embedding.cache import CachedEmbedder
from memoranda.embedding.finding import AUTO, EmbeddingSettings, NoEmbedder, find
from memoranda.embedding.local import LocalEmbedder
from memoranda.embedding.making import VectorMaker
from memoranda.embedding.remote import RemoteEmbedder

__all__ = [
    "AUTO",
    "CachedEmbedder",
    "EmbeddingSettings",
    "LocalEmbedder",
    "NoEmbedder",
    "RemoteEmbedder",
    "VectorMaker",
    "find",
]
