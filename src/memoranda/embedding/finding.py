"""Finds the embedder that a book shall have, or says why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from memoranda.embedding.cache import CachedEmbedder
from memoranda.embedding.local import LocalEmbedder
from memoranda.embedding.minilm import missing_libraries
from memoranda.embedding.remote import RemoteEmbedder
from memoranda.embedding.weights import places
from memoranda.errors import EmbeddingFailed, InvalidInput
from memoranda.model.values import Value
from memoranda.model.vectors import LARGEST_DIMENSION
from memoranda.ports import Embedder

#: The local model where it is there, else none.
AUTO = "auto"
#: Words alone, as the settings say it.
NONE = "none"


class EmbeddingSettings(Value):
    """How vectors are made, and how many are kept in memory."""

    #: What makes vectors where nobody says otherwise: ``auto``, ``none``, a folder, or ``provider:model``.
    use: str = Field(default="auto", min_length=1)
    #: A folder with the local model's files.
    weights: Path | None = None
    #: The processor's threads for the local model; as many as there are, up to four.
    threads: int | None = Field(default=None, ge=1, le=256)
    #: Memory for vectors that may be asked for again, of each tenant.
    cache_bytes: int = Field(default=16_777_216, ge=0)
    #: How many numbers a provider's vectors have; it is asked where nobody says.
    dimension: int | None = Field(default=None, ge=1, le=LARGEST_DIMENSION)
    #: The longest that a provider may take to answer.
    timeout_seconds: float = Field(default=10.0, gt=0, le=86_400, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class NoEmbedder:
    """There is no embedder: recall goes by words alone."""

    reason: str
    #: Words alone are what was wished for.
    asked: bool = False
    #: Settings name an embedder that is not there.
    failed: bool = False


async def find(wish: Any = AUTO, settings: EmbeddingSettings | None = None) -> CachedEmbedder | NoEmbedder:
    """The embedder that is wished for, with a cache of its own for one tenant; nothing is ever downloaded.

    ``auto`` and None may end in ``Missing``; whatever else is wished for is there, or an error says what it lacks.
    What settings name is no wish: where it is not there a book goes by words alone, for what was said comes first.
    """
    chosen = settings or EmbeddingSettings()
    if isinstance(wish, str) and wish == AUTO:
        if chosen.use == NONE:
            return NoEmbedder("words alone were asked for", asked=True)
        try:
            return await _found(chosen.use, chosen)
        except (InvalidInput, EmbeddingFailed) as exc:
            return NoEmbedder(str(exc), failed=True)
    return await _found(wish, chosen)


async def _found(wish: Any, chosen: EmbeddingSettings) -> CachedEmbedder | NoEmbedder:
    if wish is None:
        return NoEmbedder("words alone were asked for", asked=True)
    if isinstance(wish, Embedder):
        return CachedEmbedder(wish, chosen.cache_bytes, closes=False)
    found: Embedder
    if isinstance(wish, str) and wish == AUTO:
        if (problem := _lack(chosen.weights)) and chosen.weights is None:
            return NoEmbedder(problem)
        found = _local(chosen.weights, chosen)
    elif isinstance(wish, Path) or (isinstance(wish, str) and (":" not in wish or Path(wish).exists())):
        found = _local(Path(wish), chosen)
    else:
        found = await RemoteEmbedder.open(wish, chosen.dimension, seconds=chosen.timeout_seconds)
    return CachedEmbedder(found, chosen.cache_bytes)


def _local(folder: Path | None, chosen: EmbeddingSettings) -> LocalEmbedder:
    if problem := _lack(folder):
        raise InvalidInput(f"embed: {problem}", field="embed")
    whole = next(place.folder for place in places(folder) if place.folder and not place.problem())
    return LocalEmbedder(whole, threads=chosen.threads)


def _lack(folder: Path | None) -> str:
    """What the local model lacks, and what to do about it; empty where nothing is."""
    if libraries := missing_libraries():
        return f"{' and '.join(libraries)} not installed; run: pip install 'memoranda[embed]'"
    looked = places(folder)
    lacks = [place.problem() for place in looked]
    if not all(lacks):
        return ""
    if folder is not None:
        return lacks[0]
    return "the model's weights are not installed; run: memoranda weights install"
