"""Jobs: work that a commit makes due. It is stored in the same commit and done by the worker that leases it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memoranda.errors import LimitReached
from memoranda.model.owner import Owner

#: The most that is kept with a job, in characters of JSON.
KEPT_LENGTH = 2_000_000
#: The most that is kept of why a job failed, or waits.
ERROR_LENGTH = 2000
#: The kind, and the key, of the upkeep that makes large shelves ready to be searched by their engine.
FOLLOW = "follow"
#: As many as are listed where one looks through all that there are, those that are due first.
MOST_JOBS = 100_000


class JobState(StrEnum):
    """The states of a job."""

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
    #: The records that it is about. Erasing one of them deletes the job. Work on a whole thread names the thread
    #: alone: it outlives the messages that are forgotten one by one, and reads what is left.
    records: tuple[UUID, ...] = ()
    #: Seconds from now until it is due.
    delay: float = 0.0
    #: Seconds after its first putting by which it is due however often it is put off.
    max_wait: float | None = None
    #: Where it waits already, for whatever reason, it waits no longer than this, and its attempts begin anew.
    insists: bool = False


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
    #: Times that it was leased since it last began anew; those that were postponed among them.
    attempts: int
    #: Times that it was put; a job put again while it runs runs once more.
    generation: int
    worker: str | None = None
    leased_until: datetime | None = None
    error: str = ""
    #: Times that it was given back unharmed, to wait.
    postponed: int = 0
    #: The payload that earlier work has stored with it; only ``lease`` returns it.
    kept: dict[str, Any] | None = None

    @property
    def tries(self) -> int:
        """The attempts that count."""
        return self.attempts - self.postponed


class Postponed(Exception):
    """Raised by a handler: the job cannot be done yet. It waits, and no attempt is counted."""

    def __init__(self, reason: str, *, until: datetime) -> None:
        super().__init__(reason)
        #: When it is tried again.
        self.until = until


class GivenUp(Exception):
    """Raised by who does a job: to try it again brings nothing; it waits among the dead letters for a person."""


def told(reason: str) -> str:
    """Why a job failed, or waits, as every engine can keep it."""
    # The reason may quote a model or a provider, so characters that no text may contain are replaced and surrogate halves joined.
    whole = reason.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole[:ERROR_LENGTH]


def kept_text(payload: Mapping[str, Any]) -> str:
    """Return a job's payload as ASCII JSON; raise TypeError if it is not JSON."""
    text = json.dumps(payload, separators=(",", ":"))
    if len(text) > KEPT_LENGTH:
        raise LimitReached(
            f"payload: {len(text)} characters of JSON; at most {KEPT_LENGTH} are kept with a job",
            field="payload",
        )
    return text
