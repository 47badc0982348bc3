"""Finds canaries in files byte by byte, in every spelling in which they may stand there."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_LETTERS = "abcdefghijklmnop"
_LENGTH = 14
_WORD = re.compile(rb"zq[a-p]{14}")
_WIDE = re.compile(rb"z\0q\0(?:[a-p]\0){14}")
_HEX = re.compile(rb"7a71(?:6[1-9a-f]|70){14}", re.IGNORECASE)


class Marks:
    """Makes canaries under labels, and tells the label of one that was found."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._labels: dict[str, str] = {}
        #: Longer texts that name the person, found in slices as well.
        self._names: dict[bytes, str] = {}

    def __call__(self, label: str) -> str:
        """A new canary."""
        word = "zq" + "".join(self._rng.choices(_LETTERS, k=_LENGTH))
        self._labels[word] = label
        return word

    def name(self, label: str) -> str:
        """A name that stands differently in JSON and in UTF-16, watched for in slices of 16 bytes."""
        name = f"Änne Müller-{''.join(self._rng.choices(_LETTERS, k=30))} straße"
        for spelling in (name.encode(), json.dumps(name)[1:-1].encode(), name.encode("utf-16-le")):
            for start in (*range(0, len(spelling) - 15, 16), len(spelling) - 16):
                self._names[spelling[start : start + 16]] = label
        self._names[name.encode().hex().encode()[:32]] = label
        return name

    def labels(self, part: str) -> set[str]:
        """All labels that begin with this word."""
        return {
            label for label in (*self._labels.values(), *self._names.values()) if label.split()[0] == part
        }

    def found_in(self, data: bytes) -> set[str]:
        """The labels of all canaries in some bytes."""
        words = {found.decode() for found in set(_WORD.findall(data))}
        words |= {found[::2].decode() for found in set(_WIDE.findall(data))}
        words |= {bytes.fromhex(found.decode()).decode() for found in set(_HEX.findall(data))}
        return {self._labels[word] for word in words if word in self._labels} | self._named(data)

    def _named(self, data: bytes) -> set[str]:
        return {label for needle, label in self._names.items() if needle in data}


def files_of(folder: Path) -> Iterator[Path]:
    """Every file in a folder."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def found_in(marks: Marks, paths: Iterable[Path]) -> dict[str, set[str]]:
    """For each file that holds canaries: their labels."""
    found = {path.name: marks.found_in(path.read_bytes()) for path in paths}
    return {name: labels for name, labels in found.items() if labels}
