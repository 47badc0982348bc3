"""Proof of a book against its ledger: every version against the line that wrote it, every line against the versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from commonplace.model.ledger import Line
from commonplace.model.owner import Audience
from commonplace.settle.codec import content_hash


class Written(NamedTuple):
    """One version as the book holds it."""

    #: The engine's own number of the owner's era.
    era: int
    id: UUID
    type: str
    version: int
    audience: Audience
    body: str
    hash: bytes


class Proof:
    """First takes the whole ledger, then every version, then tells what is missing."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._expected: dict[tuple[int, UUID], dict[int, bytes | None]] = {}

    def expect(self, era: int, lines: Iterable[Line]) -> None:
        """Take in what a ledger entry says was written."""
        for line in lines:
            if not line.erased:
                self._expected.setdefault((era, line.id), {})[line.after] = line.hash

    def check(self, written: Written) -> Iterator[str]:
        """Hold a version against the ledger."""
        name = f"{written.type} {written.id}, version {written.version}"
        if content_hash(self._secret, written.type, written.audience, written.body) != written.hash:
            yield f"{name}: its content is not what was written"
        lines = self._expected.get((written.era, written.id), {})
        if written.version not in lines:
            yield f"{name}: no ledger entry wrote it"
        elif lines.pop(written.version) not in (written.hash, None):
            yield f"{name}: the ledger tells of another content"

    def missing(self) -> Iterator[str]:
        """What the ledger tells of and nobody brought; a line without a digest tells of nothing any more."""
        for (_, id), versions in self._expected.items():
            for version, digest in versions.items():
                if digest is not None:
                    yield f"record {id}: version {version} is in the ledger and not in the book"
