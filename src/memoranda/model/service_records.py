"""What a book keeps beside the owners' records: restrictions, uses of keys, lines about reads; and
all that it stores about one owner.
"""

from __future__ import annotations

from contextvars import ContextVar
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from memoranda.first_use import dataclass
from memoranda.model.book_rows import OwnerPieces
from memoranda.model.language_models import Spent
from memoranda.model.records import Owner, Record, Trust

#: The name that is noted of persons who read what is theirs with a token, which has no name but
#: theirs.
SELF = "the person"
#: The name that is noted of programs on the book's own machine.
LOCAL = "local"
#: Verbs whose lines stay for good, among lines about reads that are deleted by age.
RESTRICTING = ("restrict", "unrestrict")


class Caller(NamedTuple):
    """A caller of the book's verbs: a name, the surface of the call, and the trust with which it
    acts at most.
    """

    name: str
    surface: str
    trust: Trust = Trust.OPERATOR
    #: False if it may only read.
    writes: bool = True
    #: False if it opens some users or groups only.
    opens_all: bool = True

    @property
    def holds_book(self) -> bool:
        """True if it is a program that holds the book itself, with every tenant in it."""
        return self.surface == LIBRARY.surface

    @property
    def makes_keys(self) -> bool:
        """False for who reached a service without a credential, and could lock everybody else
        out.
        """
        return self.holds_book or self.name != LOCAL


#: A program that holds the book itself.
LIBRARY = Caller(LOCAL, "library")
#: The caller of the present call; a guard sets it for its principal.
CALLER: ContextVar[Caller] = ContextVar("caller", default=LIBRARY)


class Appends(StrEnum):
    """The treatment of new content of an owner whose processing is restricted."""

    #: It is refused.
    REFUSE = "refuse"
    #: It is stored, and nothing reads it but the owner's own view.
    KEEP_UNREAD = "keep_unread"

    @classmethod
    def stored(cls, mode: str | None) -> Appends | None:
        """Return the value of a stored text; a text that nobody knows refuses everything."""
        if mode is None:
            return None
        return cls.KEEP_UNREAD if mode == cls.KEEP_UNREAD else cls.REFUSE


@dataclass(frozen=True, slots=True)
class Restriction:
    """A restriction of the processing of one owner's data."""

    #: The moment since which it holds.
    at: datetime
    appends: Appends


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A read that is to be noted: who asked what kind of thing about whom, when, by which surface;
    never content.
    """

    at: datetime
    tenant: str
    #: The owner whose data was read; None if it was a read about the whole tenant.
    owner: Owner | None
    principal: str
    verb: str
    surface: str


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A stored line about a read."""

    id: UUID
    at: datetime
    tenant: str
    #: The keyed digest of the owner in hex; empty if the read was about the whole tenant.
    owner: str
    principal: str
    verb: str
    surface: str


class ReadLines(NamedTuple):
    """A page of lines about reads, oldest first, and the cursor of the next page; None at the
    end.
    """

    lines: tuple[ReadLine, ...]
    cursor: str | None


class Holding(NamedTuple):
    """A record of another owner, as far as it is about this one."""

    record: Record
    #: True if the erasure of the owner takes the record; False if it loses only its part about the
    #: owner.
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
