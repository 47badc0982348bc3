"""LangChain's embeddings as the embedder of a book."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from langgraph.store.base import ensure_embeddings
from numpy.typing import NDArray

from memoranda.errors import EmbedderDown, InvalidInput
from memoranda.model.vectors import Embedding


class LangChainEmbedder:
    """An embedder for ``memoranda.open(embed=…)``: LangChain's ``Embeddings``, a function, or a
    name such as ``openai:…``.

    ``name`` tells models apart, because vectors of different models are never compared; without it,
    the class and its ``model`` do.
    """

    def __init__(self, embed: Any, dims: int, *, name: str | None = None) -> None:
        if type(dims) is not int:
            raise InvalidInput(
                f"index.dims: give the number of dimensions, not {dims!r}", field="index.dims"
            )
        self.embeddings = ensure_embeddings(embed)
        self._dimension = dims
        self._embedding = Embedding("langchain", name or _name_of(embed), dims)

    @property
    def embedding(self) -> Embedding:
        """The embedding of its vectors."""
        return self._embedding

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector of unit length for each text."""
        return self._units(await self._asked(self.embeddings.aembed_documents(list(texts))))

    async def query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        vector: NDArray[np.float32] = self._units(
            [await self._asked(self.embeddings.aembed_query(text))]
        )[0]
        return vector

    async def close(self) -> None:
        """Release nothing: the embeddings belong to the application."""

    async def _asked(self, answer: Any) -> Any:
        try:
            return await answer
        except Exception as exc:
            raise EmbedderDown(f"the embeddings of the store's index failed: {exc}") from exc

    def _units(self, vectors: Any) -> NDArray[np.float32]:
        rows = np.asarray(vectors, dtype=np.float32)
        if rows.ndim != 2 or rows.shape[1] != self._dimension:
            raise InvalidInput(
                f"index.dims: the embeddings have {rows.shape[-1] if rows.ndim else 0} dimensions, not {self._dimension}",
                field="index.dims",
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        # A vector without a direction gets one that says nothing: all texts like it are alike.
        rows = np.where(lengths > 0, rows, 1.0).astype(np.float32)
        units: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return units


def _name_of(embed: Any) -> str:
    if isinstance(embed, str):
        return embed
    kind = embed if hasattr(embed, "__qualname__") else type(embed)
    model = next(
        (str(found) for name in ("model", "model_name") if (found := getattr(embed, name, None))),
        "",
    )
    return f"{kind.__module__}.{kind.__qualname__}{f':{model}' if model else ''}"
