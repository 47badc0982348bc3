"""Changes, the only way to write records; and jobs, the work that is done after a commit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memoranda.errors import LimitReached
from memoranda.first_use import dataclass
from memoranda.model.experience_lines import AddEvidence as AddEvidence
from memoranda.model.experience_lines import AddExperience as AddExperience
from memoranda.model.experience_lines import ApproveExperience as ApproveExperience
from memoranda.model.experience_lines import DoubtEvidence as DoubtEvidence
from memoranda.model.experience_lines import ExperienceChange
from memoranda.model.experience_lines import RetireExperience as RetireExperience
from memoranda.model.items import ItemChange
from memoranda.model.language_models import FormingRecord as FormingRecord
from memoranda.model.ledger import Actor
from memoranda.model.memories import Cited, Memory
from memoranda.model.messages import (
    Episode,
    KeepTaskSummary,
    Message,
    Overflow,
    PreparedEpisode,
    SummariseThread,
    Thread,
    ThreadStatus,
)
from memoranda.model.profiles import Agent, Key, Schema
from memoranda.model.records import WHOLE, Audience, Limits, Owner, Record, View
from memoranda.model.redactions import Redaction

#: The most that is kept with a job, in characters of JSON.
KEPT_LENGTH = 2_000_000
#: The most that is kept of why a job failed, or waits.
ERROR_LENGTH = 2000
#: The kind, and the key, of the upkeep that makes large shelves ready to be searched by their
#: engine.
FOLLOW = "follow"
#: Kinds of jobs: to form a thread, whose id is the key; to erase what the operation at a position
#: has hidden.
FORM = "form"
FINISH_FORGETTING = "finish_forgetting"
#: The kind, and the key, of the job that erases the rest of an owner of whom too much is there for
#: one commit.
ERASE_REST = "erase_rest"
#: To form a part of a thread that was set aside; the key is the thread's id and the numbers before
#: its first and of its last message.
FORM_LATE = "form_late"
#: The beginning of the reason why a thread waits that was read, but whose memories have no room.
NO_ROOM = "no room for what was formed"
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
    """A job to be added. At most one waits for each (owner, kind, key): adding it again postpones
    the waiting one.
    """

    kind: str
    key: str
    payload: dict[str, Any] = field(default_factory=dict)
    #: The records that it is about; erasing one deletes the job. Work on a whole thread names the
    #: thread alone, and reads what is left.
    records: tuple[UUID, ...] = ()
    #: Seconds from now until it is due; and after its first putting, by which it is due however
    #: often it is put off.
    delay: float = 0.0
    max_wait: float | None = None
    #: Where it waits already, for whatever reason: it waits no longer than this and its attempts
    #: begin anew; its payload stays.
    insists: bool = False
    keeps_payload: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the worker that does it sees it."""

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
        """The number of attempts that count as tries; postponed ones do not."""
        return self.attempts - self.postponed


def thread_of(job: Job) -> UUID:
    """Return the id of the thread that a forming job is about."""
    return UUID(job.key.partition(":")[0])


class Postponed(Exception):
    """Raised by a handler: the job cannot be done yet. It waits, and no attempt is counted."""

    def __init__(self, reason: str, *, until: datetime) -> None:
        super().__init__(reason)
        #: When it is tried again.
        self.until = until


class GivenUp(Exception):
    """Raised by a handler: retrying the job is useless. It is dead: not tried again until someone
    replays it.
    """


class UnusableReply(GivenUp):
    """Raised while a part of a thread is formed: a language model answered, and nothing of it can
    be used.
    """


def storable_reason(reason: str) -> str:
    """Return the reason why a job failed, or waits, as a text that every engine can store."""
    # The reason may quote a model or a provider, so characters that no text may contain are
    # replaced and surrogate halves joined.
    whole = (
        reason.replace("\x00", "\ufffd")
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
    )
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


@dataclass(frozen=True, slots=True)
class OpenThread:
    """Begin a thread; if its name exists already, the existing thread is used."""

    thread: Thread


@dataclass(frozen=True, slots=True)
class Append:
    """Add messages at the end of a thread."""

    thread: UUID
    messages: tuple[Message, ...]
    #: Packed terms, one for each message; the door makes them.
    terms: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class SetThread:
    """Change a thread's status, title or other settable fields; fields that are not given stay
    unchanged.
    """

    thread: UUID
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CloseThread:
    """Finish a thread, with the episode that records it, if there is one."""

    thread: UUID
    status: ThreadStatus
    result: Any = None
    episode: Episode | None = None
    terms: bytes = b""
    overflow: Overflow | None = None


@dataclass(frozen=True, slots=True)
class MarkFormed:
    """Record that a thread is formed (turned into facts) up to a message; these facts are in the
    same batch.
    """

    thread: UUID
    through: int
    #: The watermark that the caller built upon; None: any that is not beyond ``through``.
    after: int | None = None
    #: A title for the thread, if it has none.
    title: str = ""
    #: The episode to record if nothing more is said.
    prepared: PreparedEpisode | None = None


@dataclass(frozen=True, slots=True)
class RecordEpisode:
    """Store an episode: the record of an agent's finished run. Unless its trust was ``judged``, its
    sources limit it.
    """

    episode: Episode
    terms: bytes = b""
    audience: Audience | None = None
    overflow: Overflow | None = None
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Remember:
    """Store a statement as a memory; it supersedes the one with the same key and those it names,
    but for ``unknown`` names.
    """

    memory: Memory
    terms: bytes = b""
    #: None: as narrow as its sources or its thread; without either, its agent. Verbs of agents
    #: always name it.
    audience: Audience | None = None
    #: The run that it is written in; None: the thread's current turn, or this call alone.
    run: str | None = None
    #: Where the settings make statements common and the call names no audience: it follows, unless
    #: strangers said it.
    common: Audience | None = None
    #: The profile field that it sets: an equal value changes nothing, and what a person pinned
    #: stays.
    field: str = ""
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Supersede:
    """Record that one memory replaces another."""

    loser: UUID
    winner: UUID


@dataclass(frozen=True, slots=True)
class Confirm:
    """Record that a memory was stated again, with the sources that state it."""

    memory: UUID
    sources: tuple[UUID, ...] = ()
    #: Words of these sources.
    quotes: tuple[Cited, ...] = ()


@dataclass(frozen=True, slots=True)
class Retract:
    """Retract a memory."""

    memory: UUID
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Archive:
    """Archive a memory, unless it was changed since this version was read, or is protected."""

    memory: UUID
    version: int
    reason: str


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring an archived memory back to the lists of active ones."""

    memory: UUID


@dataclass(frozen=True, slots=True)
class RetractSource:
    """Mark a message or an episode as faulty: every statement derived only from it is retracted."""

    source: UUID
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Hide:
    """Take records and their dependents, and parts of records, out of every read; an undo restores
    them.
    """

    ids: tuple[UUID, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    #: Threads whose summaries and formed titles are emptied.
    emptied: tuple[UUID, ...] = ()
    #: Seconds after which it is erased unless it is undone; None: it stays hidden until somebody
    #: decides.
    finish_after: float | None = None


@dataclass(frozen=True, slots=True)
class Amend:
    """Change a memory's fields other than its content: pinned, tags, applies_when, valid_from,
    valid_to, happened, expires_at.
    """

    memory: UUID
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChangeAudience:
    """Change the readers of a memory."""

    memory: UUID
    audience: Audience


@dataclass(frozen=True, slots=True)
class PatchProfile:
    """Set and unset fields of a profile; the profile is created if there is none."""

    id: UUID
    schema_name: str
    audience: Audience
    set: Mapping[str, Any]
    unset: tuple[str, ...] = ()
    #: A person's own edit: its fields win over what is derived.
    pin: bool = False
    schema_hash: str = ""
    #: The sources of the fields that it sets, none if people or programs do; ``grounds`` has those
    #: of single fields and items.
    sources: tuple[UUID, ...] = ()
    #: What is there already and was said again by these sources: fields with their values, of a
    #: list with its items.
    again: Mapping[str, Any] = field(default_factory=dict)
    grounds: Mapping[str, tuple[tuple[UUID, ...], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PutNamed:
    """Create or replace an agent, a schema or a service key under its name."""

    record: Agent | Schema | Key


@dataclass(frozen=True, slots=True)
class RevokeKey:
    """Revoke a key, so that it opens the service no more: now, or from a moment to come."""

    key: UUID
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Undo:
    """Reverse a whole operation, and with ``with_dependents`` the later changes that build on
    it.
    """

    position: int
    with_dependents: bool = False
    #: Of an operation that was applied at this moment, each record by itself: what was changed or
    #: erased since stays, and is named.
    applied_at: datetime | None = None
    #: False: refuse an operation that also changed another owner's records.
    others: bool = True


@dataclass(frozen=True, slots=True)
class Import:
    """Import a record unchanged from another book or system."""

    record: Record
    terms: bytes | None = None
    #: The era of its owner when it was exported.
    era: UUID | None = None
    #: The sources of each group of unlisted ones.
    unlisted: Mapping[UUID, Sequence[UUID]] = field(default_factory=dict)


Change = (
    OpenThread
    | Append
    | SetThread
    | CloseThread
    | MarkFormed
    | SummariseThread
    | KeepTaskSummary
    | RecordEpisode
    | Remember
    | Supersede
    | Confirm
    | Retract
    | Archive
    | Restore
    | RetractSource
    | Hide
    | Amend
    | ChangeAudience
    | PatchProfile
    | ItemChange
    | ExperienceChange
    | PutNamed
    | RevokeKey
    | Undo
    | Import
)


@dataclass(frozen=True, slots=True)
class Expect:
    """The versions the caller has read; the batch is refused if they have changed."""

    #: Record id to the version that it must still have.
    versions: Mapping[UUID, int] = field(default_factory=dict)
    #: Thread id to the place of the last message that it must still have; 0 for none.
    last: Mapping[UUID, int] = field(default_factory=dict)


NOTHING_EXPECTED = Expect()


@dataclass(frozen=True, slots=True)
class Batch:
    """One operation: changes to one owner's records, all or none of which are applied."""

    owner: Owner
    view: View
    actor: Actor
    at: datetime
    changes: tuple[Change, ...]
    limits: Limits
    jobs: tuple[JobDraft, ...] = ()
    expect: Expect = NOTHING_EXPECTED
    #: The caller's id for this operation; the same id with the same request is applied once.
    operation: str | None = None
    #: Digest of the request as it was given.
    request: bytes = b""
    #: The era that the caller works for; None: whichever it is.
    era: UUID | None = None
    #: Facts that the ledger stores with the entry; never content.
    note: Mapping[str, Any] = field(default_factory=dict)
    #: Decide, and write nothing: the receipt says what would be done.
    dry_run: bool = False
    #: Changes to another owner's records, applied in the same transaction or not at all.
    also: tuple[Owner, tuple[Change, ...]] | None = None

    def beside(self, owner: Owner, changes: Iterable[Change]) -> Batch:
        """Return the same act's changes to what another owner has for all users."""
        return Batch(owner, WHOLE, self.actor, self.at, tuple(changes), self.limits)
