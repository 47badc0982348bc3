"""Embeddings: the identity of an embedding model, its vectors as bytes, and the sets of vectors in
a book.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias
from urllib.parse import quote, unquote
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.errors import InvalidInput
from memoranda.model.changes import JobDraft

#: The kind of the job that computes missing vectors; its key is the set's name.
EMBED = "embed"

#: The largest dimension that a vector may have.
LARGEST_DIMENSION = 65_536

_SCALE_BYTES = 4
#: The largest number of a vector's dimensions as stored: one signed byte, without the lowest, so
#: that signs mirror.
_MOST = 127

#: The versions of records that were read; None: whichever they have.
Versions: TypeAlias = Mapping[UUID, int] | None


@dataclass(frozen=True)
class Embedding:
    """The identity of an embedding model. Only vectors of the same embedding can be compared."""

    provider: str
    model: str
    dimension: int
    #: What is put before every passage; empty where nothing is.
    prompt: str = ""

    def __post_init__(self) -> None:
        for field in ("provider", "model"):
            if not getattr(self, field):
                raise InvalidInput(
                    f"embedding.{field}: it is empty; name it", field=f"embedding.{field}"
                )
        if not 1 <= self.dimension <= LARGEST_DIMENSION:
            raise InvalidInput(
                f"embedding.dimension: {self.dimension} is not from 1 to {LARGEST_DIMENSION}",
                field="embedding.dimension",
            )

    @cached_property
    def name(self) -> str:
        """The unique name of this embedding in one line, such as ``local/all-MiniLM-L6-v2/384``."""
        line = f"{quote(self.provider, safe='')}/{quote(self.model, safe='/:@')}/{self.dimension}"
        return f"{line}#{quote(self.prompt, safe=' :')}" if self.prompt else line

    @classmethod
    def of_name(cls, name: str) -> Embedding:
        """Return the embedding with this name."""
        line, _, prompt = name.partition("#")
        path, _, dimension = line.rpartition("/")
        provider, _, model = path.partition("/")
        return cls(unquote(provider), unquote(model), int(dimension), unquote(prompt))

    @property
    def packed_bytes(self) -> int:
        """The number of bytes of a stored vector."""
        return self.dimension + _SCALE_BYTES


class SetState(StrEnum):
    """The states of a set of vectors."""

    #: Recall reads it.
    ACTIVE = "active"
    #: It is being filled, and becomes the active set later.
    MAKING = "making"


@dataclass(frozen=True, slots=True)
class VectorSet:
    """All vectors that one embedding made of a book's passages."""

    #: The embedding's.
    name: str
    dimension: int
    #: How many passages have their vector in it.
    count: int
    state: SetState


def embed_job(name: str) -> JobDraft:
    """Return the job that computes the missing vectors of a set."""
    return JobDraft(kind=EMBED, key=name)


def pack_vector(unit: NDArray[np.float32]) -> bytes:
    """Return a unit vector as it is stored: a little-endian float32 scale, then one signed byte for
    each dimension.
    """
    return pack_vectors(unit[np.newaxis])[0]


def pack_vectors(units: NDArray[np.float32]) -> list[bytes]:
    """Pack each row of an array as ``pack_vector`` packs one vector."""
    if units.ndim != 2 or not np.isfinite(units).all():
        raise InvalidInput(
            f"vectors: give rows of finite numbers, not an array of shape {units.shape}",
            field="vectors",
        )
    scales = (np.abs(units).max(axis=1, initial=0.0) / _MOST).astype("<f4")
    packed = np.zeros(len(units), dtype=_layout(units.shape[1]))
    packed["scale"] = scales
    # A vector of nothing but zeros has no scale to be divided by, and stays zeros.
    packed["numbers"] = np.rint(units / np.where(scales > 0, scales, 1)[:, np.newaxis])
    return [row.tobytes() for row in packed]


def unpack_vectors(packed: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Return scales, and an array with one row of numbers for each stored vector; scale times row
    is the vector.
    """
    dimension = len(packed[0]) - _SCALE_BYTES if packed else 0
    rows = np.frombuffer(b"".join(packed), dtype=_layout(dimension))
    return rows["scale"].astype(np.float32), np.ascontiguousarray(rows["numbers"])


def check_packed(embedding: Embedding, vectors: Iterable[bytes]) -> None:
    """Raise ``InvalidInput`` if a stored vector does not have the embedding's length."""
    for vector in vectors:
        if len(vector) != embedding.packed_bytes:
            raise InvalidInput(
                f"vectors: one has {len(vector)} bytes, and {embedding.name} makes {embedding.packed_bytes}; "
                "pack what this embedding made",
                field="vectors",
            )


def _layout(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("scale", "<f4"), ("numbers", "i1", (dimension,))])
