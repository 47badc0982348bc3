"""What all records have: owner, audience, trust and version; the views of readers, and the limits of writers."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, ClassVar, Literal, Self, TypeVar
from uuid import UUID

from pydantic import Field, model_validator

from memoranda.errors import InvalidInput
from memoranda.model.values import Moment, Name, Value, canonical, slot_digest, utc_now

DEFAULT_TENANT = "default"


class OwnerKind(StrEnum):
    """The kinds of owner."""

    USER = "user"
    AGENT = "agent"
    GROUP = "group"
    TENANT = "tenant"


class Owner(Value):
    """The owner of records. Each owner has one ledger; erasure and isolation work by owner."""

    tenant: Name = DEFAULT_TENANT
    kind: OwnerKind = OwnerKind.USER
    id: Name

    def __str__(self) -> str:
        return self.id if self.kind is OwnerKind.USER else f"{self.kind.value} {self.id}"

    @property
    def parts(self) -> tuple[str, str, str]:
        """The owner as three separate column values."""
        return (self.tenant, self.kind.value, self.id)


class AudienceKind(StrEnum):
    """How widely a record may be read, among its owner's agents."""

    SELF = "self"
    GROUP = "group"
    GLOBAL = "global"


class Audience(Value):
    """The readers of a record: one agent, some groups, or all the owner's agents."""

    kind: AudienceKind
    agent: Name | None = None
    groups: tuple[Name, ...] = Field(default=(), max_length=100)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.kind is AudienceKind.SELF) != (self.agent is not None):
            raise ValueError("an audience of 'self' names its agent, and no other audience does")
        if (self.kind is AudienceKind.GROUP) != bool(self.groups):
            raise ValueError("an audience of 'group' names its groups, and no other audience does")
        if list(self.groups) != sorted(set(self.groups)):
            raise ValueError(
                "groups are given once each, in order; build the audience with Audience.of_groups"
            )
        return self

    @classmethod
    def of_agent(cls, agent: str) -> Audience:
        """Readable by this one agent."""
        return cls(kind=AudienceKind.SELF, agent=agent)

    @classmethod
    def of_groups(cls, groups: Iterable[str]) -> Audience:
        """Readable by the agents that are in one of these groups."""
        return cls(kind=AudienceKind.GROUP, groups=tuple(sorted(set(groups))))

    @classmethod
    def everyone(cls) -> Audience:
        """Readable by all the owner's agents."""
        return EVERYONE

    def readable_by(self, view: View) -> bool:
        """True if a view may read records with this audience."""
        if view.whole or self.kind is AudienceKind.GLOBAL:
            return True
        if view.agent is None:
            return False
        if self.kind is AudienceKind.SELF:
            return self.agent == view.agent
        return not set(self.groups).isdisjoint(view.groups)

    def within(self, wider: Audience, view: View) -> bool:
        """True if every reader of this audience is also a reader of ``wider``, as far as a view can tell.

        Which groups an agent is in only the agent's own view says; the owner decides for every agent.
        """
        if wider.kind is AudienceKind.GLOBAL:
            return True
        if self.kind is AudienceKind.SELF and wider.kind is AudienceKind.GROUP:
            return view.whole or (self.agent == view.agent and wider.readable_by(view))
        if wider.kind is AudienceKind.SELF:
            return self == wider
        return self.kind is AudienceKind.GROUP and set(self.groups) <= set(wider.groups)


EVERYONE = Audience(kind=AudienceKind.GLOBAL)


class View(Value):
    """As whom a reader looks: an agent with its groups, nobody in particular, or the person themselves."""

    agent: Name | None = None
    groups: tuple[Name, ...] = Field(default=(), max_length=100)
    #: The person's own view: everything that is theirs. It is asked for by name.
    whole: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.whole and (self.agent is not None or self.groups):
            raise ValueError("the owner's own view takes no agent and no groups")
        if self.groups and self.agent is None:
            raise ValueError("groups are an agent's; name the agent as well")
        return self


WHOLE = View(whole=True)


def narrowest(audiences: Iterable[Audience], view: View) -> Audience:
    """The audience that lies within all the given ones; refused where there is none."""
    found = EVERYONE
    for audience in audiences:
        if audience.within(found, view):
            found = audience
        elif not found.within(audience, view):
            raise InvalidInput(
                "sources: their audiences have no reader in common; name an audience that lies within each",
                field="sources",
            )
    return found


def owner_digest_parts(owner: Owner) -> bytes:
    """The owner as bytes to be digested; no two owners have the same."""
    return canonical(owner.parts)


class Trust(StrEnum):
    """The ways in, most trusted first."""

    OPERATOR = "operator"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    WEB = "web"


#: The ways in by which strangers speak.
STRANGERS = frozenset({Trust.TOOL, Trust.WEB})

_ORDER = {trust: place for place, trust in enumerate(Trust)}

#: What a message's role says about the way it came in.
TRUST_OF_ROLE = {
    "system": Trust.OPERATOR,
    "user": Trust.USER,
    "assistant": Trust.ASSISTANT,
    "tool": Trust.TOOL,
}


def lowest(trusts: Iterable[Trust]) -> Trust:
    """The least trusted of some ways in: what is derived from them deserves no more."""
    return max(trusts, key=_ORDER.__getitem__)


DEFAULT_KINDS = ("preference", "fact", "instruction", "context", "experience", "note")


class Limits(Value):
    """The limits of all writes; a tenant may set its own."""

    #: The kinds of memory that are kept; others are refused.
    kinds: tuple[Name, ...] = Field(default=DEFAULT_KINDS, min_length=1)
    key_length: int = Field(default=100, ge=1, le=255)
    content_length: int = Field(default=1000, ge=1, le=100_000)
    #: Characters of one message.
    message_length: int = Field(default=1_048_576, ge=1, le=16_777_216)
    #: Messages or statements in one call.
    batch: int = Field(default=1000, ge=1, le=100_000)
    #: Statements remembered in one run, or in one call where no run is named.
    writes_per_run: int = Field(default=10, ge=1)
    #: Active memories of one owner.
    memories_per_owner: int = Field(default=500, ge=1)
    #: At that number: ``reject`` the write, or ``evict`` the writing agent's own oldest memory that is not pinned.
    at_capacity: Literal["reject", "evict"] = "evict"
    #: From so many users a line of experience must stem before it serves others.
    experience_min_users: int = Field(default=3, ge=1, le=100)
    #: Characters of a tool call's output that an episode keeps.
    tool_output_length: int = Field(default=2000, ge=0, le=1_000_000)
    #: Tool calls that an episode keeps.
    tool_calls: int = Field(default=100, ge=0, le=10_000)
    #: Characters of tool calls beyond these limits that are stored in a separate record.
    overflow_length: int = Field(default=1_000_000, ge=0, le=16_777_216)


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
