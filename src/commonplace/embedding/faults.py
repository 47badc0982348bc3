"""What may keep texts from becoming vectors."""

from __future__ import annotations

from commonplace.errors import CommonplaceError


class EmbeddingFailed(CommonplaceError):
    """No vectors were made; what is stored is safe, and recall by words goes on."""


class EmbedderDown(EmbeddingFailed):
    """The provider of the embedding model did not answer, or was too busy: try again later."""


class WeightsUnfit(EmbeddingFailed):
    """The files of the local model are not those that this version knows."""
