"""A provider's embedder, through any embedding model of PydanticAI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from importlib import import_module
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import EmbedderDown, EmbeddingFailed, InvalidInput, installing
from memoranda.model.vectors import Embedding
from memoranda.text.scripts import wellformed

Floats = NDArray[np.float32]
T = TypeVar("T")
Purpose = Literal["query", "document"]

#: Characters of a text that are sent: providers refuse texts of more than about 8,000 tokens.
LONGEST_CHARACTERS = 8_000
#: Texts in one request.
BATCH = 64
#: A refused text is sent again at half its length, down to this one.
_SHORTEST_CHARACTERS = 500
#: Sent instead of an empty text, which providers refuse.
_NOTHING = "."
#: Sent to find out the dimension.
_PROBE = "How long is a vector?"


class RemoteEmbedder:
    """Asks a provider in batches, normalises the vectors, and raises the same errors for all
    providers.
    """

    def __init__(
        self, model: Any, dimension: int, *, seconds: float = 10.0, pause: float = 5.0
    ) -> None:
        self._embedder = _embedder(model)
        self._model = _resolved(self._embedder)
        self.embedding = Embedding(self._model.system, self._model.model_name, dimension)
        #: The longest time for one request, in seconds.
        self._seconds = seconds
        #: For so many seconds after a failure no question is sent: recall by words does not wait
        #: for a provider.
        self._pause = pause
        self._down_until = float("-inf")

    @classmethod
    async def open(
        cls, model: Any, dimension: int | None = None, *, seconds: float = 10.0
    ) -> RemoteEmbedder:
        """Open an embedder for this model; without ``dimension`` the provider is asked for it."""
        dimension = dimension or _asked_for(_embedder(model))
        if dimension is None:
            trial = cls(model, 1, seconds=seconds)
            dimension = len((await trial._ask([_PROBE], "query"))[0])
        return cls(model, dimension, seconds=seconds)

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Return one unit vector a row, in the order of the texts."""
        found = [np.empty((0, self.embedding.dimension), dtype=np.float32)]
        sent = [_sendable(text) for text in texts]
        for start in range(0, len(sent), BATCH):
            found.append(await self._vectors(sent[start : start + BATCH], "document"))
        return np.concatenate(found)

    async def query(self, text: str) -> Floats:
        """Return a question's unit vector."""
        if asyncio.get_running_loop().time() < self._down_until:
            raise EmbedderDown(
                f"{self.embedding.name} did not answer a moment ago; it will be asked again after a short pause"
            )
        found: Floats = (await self._vectors([_sendable(text)], "query"))[0]
        return found

    async def close(self) -> None:
        """Do nothing: the model owns its connections."""

    async def _vectors(self, texts: list[str], purpose: Purpose) -> Floats:
        """Return unit vectors. If a provider refuses one text, the others still get theirs."""
        try:
            made = await self._ask(texts, purpose)
        except _Refused as exc:
            if len(texts) > 1:
                half = len(texts) // 2
                first = await self._vectors(texts[:half], purpose)
                return np.concatenate([first, await self._vectors(texts[half:], purpose)])
            return await self._vectors([self._milder(texts[0], purpose, exc)], purpose)
        return self._units(made, len(texts))

    def _milder(self, text: str, purpose: Purpose, refusal: _Refused) -> str:
        """Return what to send instead of a refused text: half of it, and in the end a
        placeholder.
        """
        if len(text) > _SHORTEST_CHARACTERS:
            return text[: len(text) // 2]
        if purpose == "document" and text != _NOTHING:
            # Recall can still find the passage by its words.
            return _NOTHING
        raise EmbeddingFailed(f"{self.embedding.name} refuses the text: {refusal}") from refusal

    def _units(self, made: Sequence[Sequence[float]], count: int) -> Floats:
        lengths = {len(vector) for vector in made}
        if len(made) != count or lengths != {self.embedding.dimension}:
            raise EmbeddingFailed(
                f"{self.embedding.name} returned {len(made)} vectors of {sorted(lengths)} numbers for {count} texts; "
                "if the model has changed, open the book with the new model's dimension"
            )
        # As float64: the square of a large number may exceed float32.
        vectors = np.asarray(made, dtype=np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(norms).all() and norms.all()):
            raise EmbeddingFailed(
                f"{self.embedding.name} returned a vector of zeros or one with numbers that are not finite; "
                "choose another model if this happens again"
            )
        units: Floats = (vectors / norms).astype(np.float32)
        return units

    async def _ask(self, texts: list[str], purpose: Purpose) -> Sequence[Sequence[float]]:
        name = self._model.model_name
        faults = _pydantic_ai("exceptions")
        try:
            answer = await _within(self._seconds, self._embedder.embed(texts, input_type=purpose))
        except (
            faults.ModelAuthenticationError,
            faults.ModelNotFoundError,
            faults.UserError,
        ) as exc:
            raise EmbeddingFailed(f"{name} cannot be used: {exc}") from exc
        except faults.ModelRequestRejectedError as exc:
            raise _Refused(str(exc)) from exc
        except TimeoutError as exc:
            raise self._down(f"{name} did not answer within {self._seconds:g} s") from exc
        except (faults.AgentRunError, OSError) as exc:
            raise self._down(f"{name} did not answer: {exc}") from exc
        vectors: Sequence[Sequence[float]] = answer.embeddings
        return vectors

    def _down(self, message: str) -> EmbedderDown:
        self._down_until = asyncio.get_running_loop().time() + self._pause
        return EmbedderDown(message)


class _Refused(EmbeddingFailed):
    """The provider refuses this request; it may accept another text."""


async def _within(seconds: float, work: Awaitable[T]) -> T:
    async with asyncio.timeout(seconds):
        return await work


def _sendable(text: str) -> str:
    sent = wellformed(text[:LONGEST_CHARACTERS])
    return _NOTHING if not sent or sent.isspace() else sent


def _pydantic_ai(room: str) -> Any:
    """Import a module of PydanticAI when it is needed: the import takes more than a second."""
    try:
        return import_module(f"pydantic_ai.{room}")
    except ImportError as exc:
        raise InvalidInput(
            f"embed: a provider's model needs PydanticAI ({exc}); install it with: {installing('models')}",
            field="embed",
        ) from exc


def _embedder(model: Any) -> Any:
    """Return PydanticAI's embedder for a model or its name, such as
    ``openai:text-embedding-3-small``.
    """
    of = _pydantic_ai("embeddings")
    if isinstance(model, of.Embedder):
        return model
    if isinstance(model, (str, of.EmbeddingModel)):
        return of.Embedder(model)
    raise InvalidInput(
        f"embed: {type(model).__name__} is not an embedding model of PydanticAI; pass its name, such as "
        "openai:text-embedding-3-small, an EmbeddingModel or an Embedder",
        field="embed",
    )


def _resolved(embedder: Any) -> Any:
    """Return the model itself; it may need a library or a key that is missing."""
    try:
        return _pydantic_ai("embeddings").infer_embedding_model(embedder.model)
    except (ImportError, ValueError, _pydantic_ai("exceptions").UserError) as exc:
        raise InvalidInput(f"embed: {embedder.model} cannot be used: {exc}", field="embed") from exc


def _asked_for(embedder: Any) -> int | None:
    """Return the dimension that the model's own settings ask for."""
    for settings in (
        getattr(embedder, "_settings", None),
        getattr(embedder.model, "settings", None),
    ):
        if settings and (dimension := settings.get("dimensions")):
            return int(dimension)
    return None
