"""Texts become vectors: by the local model, by a provider's, or by none, and then it says why."""

from memoranda.embedding.cache import Cached
from memoranda.embedding.finding import AUTO, EmbeddingSettings, Missing, find
from memoranda.embedding.local import LocalEmbedder
from memoranda.embedding.making import Maker
from memoranda.embedding.remote import RemoteEmbedder

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
