"""Texts become vectors: by the local model, by a provider's, or by none, and then it says why."""

from commonplace.embedding.cache import Cached
from commonplace.embedding.finding import AUTO, EmbeddingSettings, Missing, find
from commonplace.embedding.local import LocalEmbedder
from commonplace.embedding.making import Maker
from commonplace.embedding.remote import RemoteEmbedder

__all__ = [
    "AUTO",
    "Cached",
    "EmbeddingSettings",
    "LocalEmbedder",
    "Maker",
    "Missing",
    "RemoteEmbedder",
    "find",
]
