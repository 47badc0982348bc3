"""The data about one owner in a book: the owner's own rows, and everything that is stored about the owner elsewhere."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memoranda.model.beside.service_records import ReadLine, Restriction
from memoranda.model.book_rows import OwnerPieces
from memoranda.model.language_models import Spent
from memoranda.model.records import Record


class Holding(NamedTuple):
    """A record of another owner, as far as it is about this one."""

    record: Record
    #: True if the erasure of the owner takes the record; False if it loses only its part about the owner.
    goes: bool
    #: The names of the fields that are about others, and are left out of an export.
    left_out: frozenset[str] = frozenset()


class AboutOwner(NamedTuple):
    """Everything that a book stores about one owner, read at one moment."""

    #: None if the book has no records of the owner.
    own: OwnerPieces | None
    #: Service keys that name the owner, and experience of agents that rests on the owner's records.
    held: tuple[Holding, ...]
    #: The last uses of those keys.
    key_uses: dict[UUID, datetime]
    restriction: Restriction | None
    #: Who read the owner's data, oldest first.
    reads: tuple[ReadLine, ...]
    spent: tuple[Spent, ...]
    #: The moments of whole erasures of the owner.
    erased: tuple[datetime, ...]
