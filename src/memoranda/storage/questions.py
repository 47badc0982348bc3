"""The questions that a decision asks of the store. An engine answers them inside its transaction."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from memoranda.model.ledger import Entry
from memoranda.model.memories import Memory
from memoranda.model.records import Audience, Record

A = TypeVar("A")


class Question(Generic[A]):
    """A question whose answer is an ``A``; it is about the owner of the batch unless its class says otherwise."""

    __slots__ = ()


#: A decision in progress: it yields questions, is sent answers, and returns ``A``.
Deciding = Generator[Question[Any], Any, A]


@dataclass(frozen=True, slots=True)
class Load(Question[dict[UUID, Record]]):
    """The current versions of these records; absent ones are left out."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Holders(Question[dict[bytes, Record]]):
    """The records that now have these unique keys or names, given as slots (their digests)."""

    slots: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ThreadEnd:
    """The facts about a thread that adding messages needs."""

    audience: Audience
    agent: str | None
    #: The last place that was ever given out in it.
    tail: int


@dataclass(frozen=True, slots=True)
class EndOf(Question[ThreadEnd | None]):
    """The end of a thread; None if there is no such thread, or if its creation was undone."""

    thread: UUID


@dataclass(frozen=True, slots=True)
class LastUserTurn(Question[int]):
    """The place (position in the thread) of a user's newest message in a thread; 0 if there is none."""

    thread: UUID


@dataclass(frozen=True, slots=True)
class CountActive(Question[int]):
    """The number of the owner's active memories."""


@dataclass(frozen=True, slots=True)
class OldestOwn(Question[list[Memory]]):
    """An agent's oldest active memories that are not pinned, oldest first."""

    agent: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class CountRun(Question[int]):
    """The number of statements that one run has written."""

    run: bytes


@dataclass(frozen=True, slots=True)
class RestingOn(Question[list[Record]]):
    """Every record, of any owner, that has one of these as a source."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class EntriesAt(Question[list[Entry]]):
    """The entries at these positions of the owner's ledger, in order."""

    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PositionsTouching(Question[list[int]]):
    """The positions of the ledger entries that changed one of these records, in order."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class VersionOf(Question[Record | None]):
    """One version of a record: the current one or an earlier one."""

    id: UUID
    version: int


@dataclass(frozen=True, slots=True)
class OtherHolders(Question[list[Record]]):
    """The tenant's service keys and its agents' experience: records of others that may name the owner."""


@dataclass(frozen=True, slots=True)
class ErasedAmong(Question[frozenset[UUID]]):
    """Those of the given ids whose records were erased from this book."""

    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Aged(Question[dict[UUID, UUID]]):
    """The messages that were removed because of their age, each with its thread."""


@dataclass(frozen=True, slots=True)
class PlaceTaken(Question[bool]):
    """True if a message has this place in a thread."""

    thread: UUID
    seq: int


@dataclass(frozen=True, slots=True)
class ErasedEras(Question[frozenset[UUID]]):
    """Those of the given eras (lifetimes of owners) that an erasure of the whole owner ended."""

    eras: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class InThread(Question[list[UUID]]):
    """The ids of a thread's messages, episodes and memories."""

    thread: UUID
