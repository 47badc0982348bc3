"""Changes: the only way a record is written; values that say what is meant, not how it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.model.cited import Cited
from memoranda.model.episodes import Episode, Overflow
from memoranda.model.jobs import JobDraft
from memoranda.model.learning import AddEvidence as AddEvidence
from memoranda.model.learning import AddExperience as AddExperience
from memoranda.model.learning import ApproveExperience as ApproveExperience
from memoranda.model.learning import DoubtEvidence as DoubtEvidence
from memoranda.model.learning import RetireExperience as RetireExperience
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory
from memoranda.model.messages import Message, Thread, ThreadStatus
from memoranda.model.owner import Audience, Owner, View
from memoranda.model.profiles import Agent, Key, Schema
from memoranda.model.records import Record
from memoranda.model.trust import Limits


@dataclass(frozen=True, slots=True)
class OpenThread:
    """Begin a thread; where its name is taken already, the thread that has it is meant."""

    thread: Thread


@dataclass(frozen=True, slots=True)
class Append:
    """Add messages at a thread's end."""

    thread: UUID
    messages: tuple[Message, ...]
    #: Packed terms, one for each message; the door makes them.
    terms: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class SetThread:
    """Change a thread's standing; absent fields stay."""

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
    """Move a thread's watermark: it was formed up to a message's place; what came of it is in the same batch."""

    thread: UUID
    through: int
    #: The watermark that the caller built upon; None: any that is not beyond ``through``.
    after: int | None = None


@dataclass(frozen=True, slots=True)
class SummariseThread:
    """Put a newer summary of a thread's older turns in the place of the one there is."""

    thread: UUID
    summary: str
    #: The place of the last message that it covers.
    through: int
    #: The last place covered by the summary the caller read; 0 for none.
    after: int = 0


@dataclass(frozen=True, slots=True)
class RecordEpisode:
    """Keep the record of a finished run."""

    episode: Episode
    terms: bytes = b""
    audience: Audience | None = None
    #: What the door cut off.
    overflow: Overflow | None = None


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep a statement; it supersedes the memory with its key and the memories it names."""

    memory: Memory
    terms: bytes = b""
    #: None: as narrow as its sources, its thread, or its agent.
    audience: Audience | None = None
    #: The run that it is written in; None: the thread's current turn, or this call alone.
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Supersede:
    """Say that one memory takes another's place."""

    loser: UUID
    winner: UUID


@dataclass(frozen=True, slots=True)
class Confirm:
    """Say that a memory was said again."""

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
class RetractSource:
    """Mark a message or an episode as faulty: every statement derived only from it is retracted."""

    source: UUID
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Amend:
    """Change a memory's fields other than its content: pinned, tags, applies_when, valid_from, valid_to."""

    memory: UUID
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChangeAudience:
    """Let others read a memory."""

    memory: UUID
    audience: Audience


@dataclass(frozen=True, slots=True)
class PatchProfile:
    """Set and unset fields of a profile; it is made where it is not there yet."""

    id: UUID
    schema_name: str
    audience: Audience
    set: Mapping[str, Any]
    unset: tuple[str, ...] = ()
    #: A person's own edit: its fields win over what is derived.
    pin: bool = False
    schema_hash: str = ""
    #: The sources of the fields that it sets; none if people or programs set them.
    sources: tuple[UUID, ...] = ()
    #: What is there already and was said again by these sources: fields with their values, of a list with its items.
    again: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PutNamed:
    """Make or replace an agent, a schema or a key under its name."""

    record: Agent | Schema | Key


@dataclass(frozen=True, slots=True)
class RevokeKey:
    """End a key's service."""

    key: UUID


@dataclass(frozen=True, slots=True)
class Undo:
    """Reverse a whole operation, and with ``with_dependents`` the later changes that build on it."""

    position: int
    with_dependents: bool = False


@dataclass(frozen=True, slots=True)
class Import:
    """Bring in a record as it was elsewhere."""

    record: Record
    terms: bytes | None = None
    #: The era of its owner when it was exported.
    era: UUID | None = None


Change = (
    OpenThread
    | Append
    | SetThread
    | CloseThread
    | MarkFormed
    | SummariseThread
    | RecordEpisode
    | Remember
    | Supersede
    | Confirm
    | Retract
    | RetractSource
    | Amend
    | ChangeAudience
    | PatchProfile
    | AddExperience
    | AddEvidence
    | DoubtEvidence
    | ApproveExperience
    | RetireExperience
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
