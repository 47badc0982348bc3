"""The questions and writes about restricted processing, last uses of keys, and lines about reads,
for an engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoranda.first_use import dataclass
from memoranda.model.book_rows import KeyUseRow, ReadPiece, RestrictionRow
from memoranda.storage.use_case import Question, Write


@dataclass(frozen=True, slots=True)
class RestrictionRows(Question[list[RestrictionRow]]):
    """The restrictions of the owners with these digests, or of all owners, in the order of the
    digests.
    """

    digests: tuple[bytes, ...] | None


@dataclass(frozen=True, slots=True)
class KeyUseRows(Question[list[KeyUseRow]]):
    """The last uses of these keys, or of all keys, in the order of their ids."""

    ids: tuple[bytes, ...] | None


@dataclass(frozen=True, slots=True)
class ReadPieces(Question[list[ReadPiece]]):
    """The lines about reads of one tenant after a moment and an id, oldest first."""

    tenant: str
    #: The digest of an owner; None: about anybody.
    owner: bytes | None
    at: int
    id: bytes
    limit: int


@dataclass(frozen=True, slots=True)
class ErasuresOf(Question[list[int]]):
    """The moments at which the owner with this digest was erased as a whole, oldest first."""

    digest: bytes


@dataclass(frozen=True, slots=True)
class PutRestrictions(Write):
    """Store restrictions; each replaces the one with the same digest."""

    rows: Sequence[RestrictionRow]


@dataclass(frozen=True, slots=True)
class LiftRestriction(Write):
    """Delete the restriction with this digest."""

    digest: bytes


@dataclass(frozen=True, slots=True)
class PutKeyUses(Write):
    """Store uses of keys; of each key the latest counts."""

    rows: Sequence[KeyUseRow]


@dataclass(frozen=True, slots=True)
class PutReads(Write):
    """Store lines about reads, unless they are there."""

    pieces: Sequence[ReadPiece]


@dataclass(frozen=True, slots=True)
class DropReads(Write):
    """Delete a tenant's lines about reads before a moment; lines about restrictions stay."""

    tenant: str
    before: int
