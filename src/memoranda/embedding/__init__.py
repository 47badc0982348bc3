"""Embedding: computes vectors of texts with a local model or a provider's, or says why there are
none.
"""

from memoranda.embedding.embedder_choice import AUTO, EmbeddingSettings, NoEmbedder, find
from memoranda.embedding.local_model import LocalEmbedder
from memoranda.embedding.maker import CachedEmbedder, VectorMaker
from memoranda.embedding.multilingual_model import MultilingualEmbedder
from memoranda.embedding.remote_embedder import RemoteEmbedder

__all__ = [
    "AUTO",
    "CachedEmbedder",
    "EmbeddingSettings",
    "LocalEmbedder",
    "MultilingualEmbedder",
    "NoEmbedder",
    "RemoteEmbedder",
    "VectorMaker",
    "find",
]
