"""Jobs: work that a commit makes due, kept in the same commit, done by whoever leases it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from commonplace.model.owner import Owner


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    LEASED = "leased"
    #: Given up after its last attempt, until someone replays it.
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class JobDraft:
    """Work to be put. One job waits for each (owner, kind, key): putting it again puts it off."""

    kind: str
    key: str
    payload: dict[str, Any] = field(default_factory=dict)
    #: The records that it is about; it goes with them when they are erased.
    records: tuple[UUID, ...] = ()
    #: Seconds from now until it is due.
    delay: float = 0.0
    #: Seconds after its first putting by which it is due however often it is put off.
    max_wait: float | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job as its worker sees it."""

    id: UUID
    kind: str
    key: str
    #: Whose work it is, in which era; None for the book's own upkeep.
    owner: Owner | None
    era: UUID | None
    payload: dict[str, Any]
    records: tuple[UUID, ...]
    state: JobState
    run_at: datetime
    first_at: datetime
    #: Times that it was leased.
    attempts: int
    #: Times that it was put; a job put again while it runs runs once more.
    generation: int
    worker: str | None = None
    leased_until: datetime | None = None
    error: str = ""
