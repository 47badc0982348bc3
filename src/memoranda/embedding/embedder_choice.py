"""The choice of a book's embedder, or the reason why it has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from memoranda.embedding.local_model import LocalEmbedder, missing_libraries
from memoranda.embedding.maker import CachedEmbedder
from memoranda.embedding.model_files import places
from memoranda.embedding.model_session import Precision
from memoranda.embedding.multilingual_model import MULTILINGUAL_LIBRARIES, MultilingualEmbedder
from memoranda.embedding.multilingual_weights import WEIGHTS, weights_place
from memoranda.embedding.remote_embedder import RemoteEmbedder
from memoranda.errors import EmbeddingFailed, InvalidInput, installing
from memoranda.first_use import dataclass
from memoranda.model.values import Value
from memoranda.model.vectors import LARGEST_DIMENSION
from memoranda.ports import Embedder

#: The local model if it is installed, else none.
AUTO = "auto"
#: The setting for words alone.
NONE = "none"
#: The local model for several languages; a folder of that name is ./multilingual.
MULTILINGUAL = "multilingual"


class EmbeddingSettings(Value):
    """Settings of embedding, and of its cache."""

    use: str = Field(
        default="auto",
        min_length=1,
        description="The embedder: auto (the local model, if it is installed), multilingual, none, a folder with a model's files, or provider:model.",
    )
    weights: Path | None = Field(
        default=None,
        description="A folder with the files of the chosen local model; unset: the installed package, then the cache folder.",
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        le=256,
        description="Threads for a local model; unset: as many as the machine has, up to four.",
    )
    precision: Precision = Field(
        default="auto",
        description="What a local model computes in: int8, float32, or auto, which is int8 where this machine can.",
    )
    cache_bytes: int = Field(
        default=16_777_216, ge=0, description="Bytes of the cache of vectors, for each tenant."
    )
    dimension: int | None = Field(
        default=None,
        ge=1,
        le=LARGEST_DIMENSION,
        description="The dimension of a provider's vectors; unset: the provider is asked when the book opens.",
    )
    timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        le=86_400,
        allow_inf_nan=False,
        description="Longest time for one answer of a provider or of an embedder of your own.",
    )


@dataclass(frozen=True, slots=True)
class NoEmbedder:
    """There is no embedder: recall uses words alone."""

    reason: str
    #: True if words alone were asked for.
    asked: bool = False
    #: True if the settings name an embedder that cannot be used.
    failed: bool = False


async def find(
    choice: Any = AUTO, settings: EmbeddingSettings | None = None
) -> CachedEmbedder | NoEmbedder:
    """Return the chosen embedder with a cache for one tenant; nothing is downloaded.

    ``auto`` and None may return ``NoEmbedder``. For any other choice an error says what is missing.
    An embedder that only the settings name never fails to open: without it the book uses words
    alone.
    """
    chosen = settings or EmbeddingSettings()
    if isinstance(choice, str) and choice == AUTO:
        if chosen.use == NONE:
            return NoEmbedder("words alone were asked for", asked=True)
        try:
            return await _found(chosen.use, chosen)
        except (InvalidInput, EmbeddingFailed) as exc:
            return NoEmbedder(str(exc), failed=True)
    return await _found(choice, chosen)


async def _found(choice: Any, chosen: EmbeddingSettings) -> CachedEmbedder | NoEmbedder:
    if choice is None:
        return NoEmbedder("words alone were asked for", asked=True)
    if isinstance(choice, Embedder):
        # Our own embedders end by themselves; large batches of the local model may take longer.
        seconds = (
            None if isinstance(choice, (LocalEmbedder, RemoteEmbedder)) else chosen.timeout_seconds
        )
        return CachedEmbedder(choice, chosen.cache_bytes, closes=False, seconds=seconds)
    found: Embedder
    if isinstance(choice, str) and choice == AUTO:
        if (problem := _problem(chosen.weights)) and chosen.weights is None:
            return NoEmbedder(problem)
        found = _local(chosen.weights, chosen)
    elif choice == MULTILINGUAL:
        found = _multilingual(chosen)
    elif isinstance(choice, Path) or (
        isinstance(choice, str) and (":" not in choice or Path(choice).exists())
    ):
        if not Path(choice).is_dir():
            raise InvalidInput(
                f"embed: there is no folder {choice}; give a folder with a model's files, multilingual, provider:model or an "
                "embedder of your own",
                field="embed",
            )
        found = _local(Path(choice), chosen)
    else:
        found = await RemoteEmbedder.open(choice, chosen.dimension, seconds=chosen.timeout_seconds)
    return CachedEmbedder(found, chosen.cache_bytes)


def _local(folder: Path | None, chosen: EmbeddingSettings) -> LocalEmbedder:
    if problem := _problem(folder):
        raise InvalidInput(f"embed: {problem}", field="embed")
    whole = next(place.folder for place in places(folder) if place.folder and not place.problem())
    return LocalEmbedder(whole, threads=chosen.threads, precision=chosen.precision)


def _multilingual(chosen: EmbeddingSettings) -> MultilingualEmbedder:
    place = weights_place(chosen.weights)
    if place.folder is None or missing_libraries(MULTILINGUAL_LIBRARIES):
        raise InvalidInput(
            f"embed: the multilingual model is not installed; run: {installing(MULTILINGUAL)}",
            field="embed",
        )
    if problem := place.problem():
        raise InvalidInput(f"embed: {problem}; {WEIGHTS.cure}", field="embed")
    return MultilingualEmbedder(place.folder, threads=chosen.threads, precision=chosen.precision)


def _problem(folder: Path | None) -> str:
    """Say what the local model needs and how to get it; empty if it is complete."""
    if libraries := missing_libraries():
        return f"{' and '.join(libraries)} not installed; run: {installing('embed')}"
    problems = [place.problem() for place in places(folder)]
    if not all(problems):
        return ""
    if folder is not None:
        return problems[0]
    return "the model's weights are not installed; run: memoranda weights install"
