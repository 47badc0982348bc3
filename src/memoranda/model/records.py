"""The base of all records: id, owner, audience and version."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from pydantic import Field

from memoranda.model.digests import slot_digest
from memoranda.model.owner import EVERYONE, Audience, Owner
from memoranda.model.values import Moment, Value, canonical, utc_now


class RecordType(StrEnum):
    """The types of record."""

    THREAD = "thread"
    MESSAGE = "message"
    EPISODE = "episode"
    OVERFLOW = "overflow"
    MEMORY = "memory"
    PROFILE = "profile"
    EXPERIENCE = "experience"
    AGENT = "agent"
    SCHEMA = "schema"
    KEY = "key"


#: The types that recall can return.
PASSAGE_TYPES = frozenset({RecordType.MESSAGE, RecordType.MEMORY, RecordType.EPISODE})


def slot_of(type_: RecordType, *identity: Any) -> bytes:
    """The digest under which the holder of an identity is found."""
    return slot_digest(canonical([type_.value, *identity]))


R = TypeVar("R", bound="Record")


class Record(Value):
    """One version of one record. Its content is a value; the book holds which version is current."""

    type: ClassVar[RecordType]

    id: UUID
    owner: Owner
    audience: Audience = EVERYONE
    version: int = Field(default=1, ge=1)
    #: When the book learnt this version.
    recorded_at: Moment = Field(default_factory=utc_now)
    #: Its making was undone: it is not read any more, and an undo of the undo brings it back.
    withdrawn: bool = False

    def identity(self) -> tuple[Any, ...] | None:
        """Return the values that must be unique among an owner's living records of this type, or None."""
        return None

    def slot(self) -> bytes | None:
        """The identity as a digest of fixed size, or None."""
        parts = self.identity()
        return None if parts is None or self.withdrawn else slot_of(self.type, *parts)

    def rests_on(self) -> tuple[UUID, ...]:
        """Return the source records; if none of them is left, this record is erased too."""
        return ()

    def stands_on(self) -> tuple[UUID, ...]:
        """Return the sources of this version; ``rests_on`` adds those of earlier versions, which erasure follows too."""
        return self.rests_on()

    def following(self, earlier: Record) -> Any:
        """Return this record as the next version after ``earlier``; it keeps the sources of earlier versions."""
        return self

    def passage_text(self) -> str | None:
        """The text by which recall finds this record; None where it is no passage."""
        return None

    def changed(self, **fields: Any) -> Any:
        """This record with other fields; the caller gives valid values."""
        return self.model_copy(update=fields)


def past_of(record: Record, earlier: Record) -> tuple[UUID, ...]:
    """Return the sources that only earlier versions of a record have, after a new version is added."""
    now = set(record.stands_on())
    return tuple(dict.fromkeys(id for id in (*earlier.rests_on(), *record.rests_on()) if id not in now))


def those_of(sort: type[R], records: Iterable[Record]) -> list[R]:
    """The records of one sort, in their order."""
    return [record for record in records if isinstance(record, sort)]
