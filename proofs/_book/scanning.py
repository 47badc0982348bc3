"""Finds canaries in the bytes of files, in every encoding that may occur there."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoranda.model.vectors import pack_vector
from memoranda.testing.embedder import StubEmbedder

_LETTERS = "abcdefghijklmnop"
_LENGTH = 14
_WORD = re.compile(rb"zq[a-p]{14}")
_WIDE = re.compile(rb"z\0q\0(?:[a-p]\0){14}")
_HEX = re.compile(rb"7a71(?:6[1-9a-f]|70){14}", re.IGNORECASE)

#: A vector's largest numbers: every vector that is stored begins with them, and is so found among
#: other bytes.
_FIRST = (127, -127, 127, 127, -127, -127, 127, -127)
_SCALE_BYTES = 4
_VECTOR = re.compile(re.escape(np.array(_FIRST, dtype=np.int8).tobytes()) + b".{40}", re.DOTALL)


class Marks:
    """A maker of canaries with labels, which knows the label of a canary that was found."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._labels: dict[str, str] = {}
        #: Longer texts that name the person, found in slices as well.
        self._names: dict[bytes, str] = {}
        #: What was made of texts with canaries, as it is stored.
        self._vectors: dict[bytes, str] = {}

    def __call__(self, label: str) -> str:
        """Return a new canary."""
        word = "zq" + "".join(self._rng.choices(_LETTERS, k=_LENGTH))
        self._labels[word] = label
        return word

    def name(self, label: str) -> str:
        """Return a name that is encoded differently in JSON and in UTF-16; slices of 16 bytes are
        searched for.
        """
        name = f"Änne Müller-{''.join(self._rng.choices(_LETTERS, k=30))} straße"
        for spelling in (name.encode(), json.dumps(name)[1:-1].encode(), name.encode("utf-16-le")):
            for start in (*range(0, len(spelling) - 15, 16), len(spelling) - 16):
                self._names[spelling[start : start + 16]] = label
        self._names[name.encode().hex().encode()[:32]] = label
        return name

    def labels(self, part: str) -> set[str]:
        """Return all labels that begin with this word."""
        labels = (*self._labels.values(), *self._names.values(), *self._vectors.values())
        return {label for label in labels if label.split()[0] == part}

    def made(self, text: str, unit: NDArray[np.float32], by: str) -> None:
        """Register a text's vector, if the text has a canary."""
        for word in set(_WORD.findall(text.encode("utf-8", "replace"))):
            part = self._labels[word.decode()].split()[0]
            self._vectors[pack_vector(unit)[_SCALE_BYTES:]] = f"{part} vector by {by}"

    def found_in(self, data: bytes) -> set[str]:
        """Return the labels of all canaries in some bytes."""
        words = {found.decode() for found in set(_WORD.findall(data))}
        words |= {found[::2].decode() for found in set(_WIDE.findall(data))}
        words |= {bytes.fromhex(found.decode()).decode() for found in set(_HEX.findall(data))}
        vectors = {found for found in _VECTOR.findall(data) if found in self._vectors}
        labels = {self._labels[word] for word in words if word in self._labels} | self._named(data)
        return labels | {self._vectors[found] for found in vectors}

    def _named(self, data: bytes) -> set[str]:
        return {label for needle, label in self._names.items() if needle in data}


class Marking(StubEmbedder):
    """A maker of vectors that can be found in any bytes; it registers their marks."""

    def __init__(self, marks: Marks, model: str) -> None:
        super().__init__(model, len(_FIRST) + 40)
        self._marks = marks

    def of(self, text: str) -> NDArray[np.float32]:
        rest = super().of(text)[len(_FIRST) :]
        numbers = np.concatenate((np.sign(_FIRST) * np.abs(rest).max(), rest))
        unit: NDArray[np.float32] = (numbers / np.linalg.norm(numbers)).astype(np.float32)
        self._marks.made(text, unit, self.embedding.model)
        return unit


def files_of(folder: Path) -> Iterator[Path]:
    """Yield every file in a folder."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def found_in(marks: Marks, paths: Iterable[Path]) -> dict[str, set[str]]:
    """Return the labels of the canaries in each file that contains some."""
    found = {path.name: marks.found_in(path.read_bytes()) for path in paths}
    return {name: labels for name, labels in found.items() if labels}
