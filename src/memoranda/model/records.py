"""The common fields of all records (owner, audience, trust, version); views of readers, and limits
of writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar
from uuid import UUID

from pydantic import Field, ValidationError, field_validator, model_validator

from memoranda.errors import InvalidInput
from memoranda.model import DEFAULT_TENANT as DEFAULT_TENANT
from memoranda.model.values import (
    EARLIEST,
    Moment,
    Name,
    Value,
    canonical,
    refused,
    shown,
    slot_digest,
    utc_now,
)


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
    """The kinds of audience: one agent, some groups, or all agents of the owner."""

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
        """Return the audience of one agent."""
        return cls(kind=AudienceKind.SELF, agent=agent)

    @classmethod
    def of_groups(cls, groups: Iterable[str]) -> Audience:
        """Return the audience of all agents that are in at least one of these groups."""
        return cls(kind=AudienceKind.GROUP, groups=tuple(sorted(set(groups))))

    @classmethod
    def everyone(cls) -> Audience:
        """Return the audience of all the owner's agents."""
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
        """True if every reader of this audience is also a reader of ``wider``, as far as a view can
        tell.

        Which groups an agent is in only the agent's own view says; the owner decides for every
        agent.
        """
        if wider.kind is AudienceKind.GLOBAL:
            return True
        if self.kind is AudienceKind.SELF and wider.kind is AudienceKind.GROUP:
            return view.whole or (self.agent == view.agent and wider.readable_by(view))
        if wider.kind is AudienceKind.SELF:
            return self == wider
        return self.kind is AudienceKind.GROUP and set(self.groups) <= set(wider.groups)


EVERYONE = Audience(kind=AudienceKind.GLOBAL)
#: The kinds of audience, the one with the most readers first.
WIDEST_FIRST = tuple(reversed(AudienceKind))


class View(Value):
    """The identity of a reader: an agent with its groups, a program without either, or the owner in
    person.
    """

    agent: Name | None = None
    groups: tuple[Name, ...] = Field(default=(), max_length=100)
    #: The person's own view: everything that is theirs. It is asked for by name.
    whole: bool = False
    #: The moment of the read: what had expired by then is not seen. None: the engine's present.
    at: Moment | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.whole and (self.agent is not None or self.groups):
            raise ValueError("the owner's own view has no agent and no groups; leave them out")
        if self.groups and self.agent is None:
            raise ValueError("groups are an agent's; name the agent as well")
        return self


WHOLE = View(whole=True)
#: The view of upkeep: everything, also what has expired and is not erased yet.
WITH_EXPIRED = View(whole=True, at=EARLIEST)


def with_expired(view: View) -> View:
    """Return the same view with what has expired."""
    return view.model_copy(update={"at": EARLIEST})


def narrowest(audiences: Iterable[Audience], view: View) -> Audience:
    """Return the audience that lies within all the given ones; raise ``InvalidInput`` if there is
    none.
    """
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
    """Return the owner as bytes for a digest; no two owners have the same."""
    return canonical(owner.parts)


class Trust(StrEnum):
    """The ways in which information came into the book, most trusted first."""

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
    """Return the lowest of several trust levels, which a record derived from such sources gets."""
    return max(trusts, key=_ORDER.__getitem__)


#: The kind of a memory that says what the assistant promised and has not done yet; it is valid
#: until it is due.
COMMITMENT = "commitment"
DEFAULT_KINDS = ("preference", "fact", "instruction", "context", "experience", "note", COMMITMENT)


#: The limits on the number of active memories: the fields of the errors that say that one is
#: reached.
CAPS = frozenset({"memories_per_agent", "memories_per_owner", "archived_per_owner"})


def days_by_kind(given: object) -> object:
    """Read also ``context=30, note=7``, as an environment gives it."""
    if isinstance(given, str):
        given = dict(part.strip().split("=", 1) for part in given.split(",") if "=" in part)
    return given


def checked_days(given: dict[str, float]) -> dict[str, float]:
    """Return days by kind; raise ValueError if some are out of bounds."""
    if not all(0 < days <= 100_000 for days in given.values()):
        raise ValueError("give days above 0, at most 100000, for each kind")
    return given


class Limits(Value):
    """The limits of all writes; a tenant may set its own."""

    if not TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None:
            """Check the limits; an unknown or impossible one raises ``InvalidInput``."""
            try:
                super().__init__(**fields)
            except ValidationError as exc:
                raise refused(exc, at="limits") from exc

        # Settings are validated as a whole, without this constructor.
        __init__.__pydantic_base_init__ = True

    kinds: tuple[Name, ...] = Field(
        default=DEFAULT_KINDS,
        min_length=1,
        description="The kinds of memory that are kept; others are refused.",
    )
    kind_days: dict[str, float] = Field(
        default_factory=dict,
        description="Days after which memories of a kind expire, counted from when they were last said, such as {context = 30}.",
    )
    thread_hours: float | None = Field(
        default=None,
        gt=0,
        le=1_000_000,
        description="Hours after which a new thread and its messages are out of every read; unset: they stay.",
    )
    key_length: int = Field(
        default=100, ge=1, le=255, description="Most characters of a memory's key."
    )
    content_length: int = Field(
        default=1000, ge=1, le=100_000, description="Most characters of a memory's content."
    )
    message_length: int = Field(
        default=1_048_576, ge=1, le=16_777_216, description="Most characters of one message."
    )
    batch: int = Field(
        default=1000, ge=1, le=100_000, description="Most messages or changes in one call."
    )
    writes_per_run: int = Field(
        default=10,
        ge=1,
        description="Most statements that one run, one turn of a thread, or one call without either may store.",
    )
    memories_per_agent: int = Field(
        default=5000,
        ge=1,
        description="Most active memories that one agent wrote for one owner; those that no agent wrote are counted apart.",
    )
    memories_per_owner: int | None = Field(
        default=None,
        ge=1,
        description="Most active memories of one owner, of all agents together; unset: no limit.",
    )
    items_per_owner: int = Field(
        default=100_000,
        ge=1,
        description="Most items of one owner; at this number new ones are refused.",
    )
    item_size: int = Field(
        default=1_048_576,
        ge=1,
        le=16_777_216,
        description="Most bytes of an item's value, as JSON in UTF-8.",
    )
    archived_per_owner: int = Field(
        default=100_000,
        ge=1,
        description="Most archived memories of one owner; at this number none is archived any more.",
    )
    at_capacity: Literal["evict_weakest", "evict_oldest", "reject"] = Field(
        default="evict_weakest",
        description="What happens at a limit of memories. evict_weakest: a write is refused, and what is formed archives the agent's weakest memories. evict_oldest: both archive the agent's oldest. reject: a write is refused, and forming waits.",
    )
    experience_min_users: int = Field(
        default=3,
        ge=1,
        le=100,
        description="Users from whom a line of experience must come before it serves other users.",
    )
    tool_output_length: int = Field(
        default=2000,
        ge=0,
        le=1_000_000,
        description="Characters of a tool call's input and output that an episode keeps.",
    )
    tool_calls: int = Field(
        default=100, ge=0, le=10_000, description="Tool calls that an episode keeps."
    )
    overflow_length: int = Field(
        default=1_000_000,
        ge=0,
        le=16_777_216,
        description="Characters of further tool calls that are stored beside the episode.",
    )

    @field_validator("kind_days", mode="before")
    @classmethod
    def _kinds_with_days(cls, given: object) -> object:
        return days_by_kind(given)

    @field_validator("kind_days")
    @classmethod
    def _some_days(cls, given: dict[str, float]) -> dict[str, float]:
        return checked_days(given)

    def thread_expiry(self, at: datetime) -> datetime | None:
        """Return when a thread expires that is opened at this moment; None if it does not."""
        return None if self.thread_hours is None else at + timedelta(hours=self.thread_hours)

    def expiry(self, kind: str, at: datetime) -> datetime | None:
        """Return when a memory of a kind expires that was said at this moment; None if it does
        not.
        """
        days = self.kind_days.get(kind)
        return None if days is None else at + timedelta(days=days)

    @field_validator("at_capacity", mode="before")
    @classmethod
    def _renamed(cls, given: object) -> object:
        if given == "evict":
            raise ValueError(
                "'evict' was renamed; write 'evict_oldest', or leave the setting out to keep what was written"
            )
        return given


class RecordType(StrEnum):
    """The types of record."""

    THREAD = "thread"
    MESSAGE = "message"
    EPISODE = "episode"
    OVERFLOW = "overflow"
    MEMORY = "memory"
    ITEM = "item"
    PROFILE = "profile"
    EXPERIENCE = "experience"
    AGENT = "agent"
    SCHEMA = "schema"
    KEY = "key"


#: The types that recall can return.
PASSAGE_TYPES = frozenset(
    {RecordType.MESSAGE, RecordType.MEMORY, RecordType.EPISODE, RecordType.ITEM}
)


def slot_of(type_: RecordType, *identity: Any) -> bytes:
    """Return a slot: the digest under which the record with a unique key or name is found."""
    return slot_digest(canonical([type_.value, *identity]))


def external_link(owner: Owner, type_: RecordType, external_id: str) -> UUID:
    """Return the id under which links find an owner's records of one type that have an external
    id.
    """
    return UUID(
        bytes=slot_digest(canonical(["external id", *owner.parts, type_.value, external_id])),
        version=5,
    )


R = TypeVar("R", bound="Record")


class Record(Value):
    """One version of one record. Its content is a value; the book holds which version is
    current.
    """

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
        """Return the values that must be unique among an owner's living records of this type, or
        None.
        """
        return None

    def slot(self) -> bytes | None:
        """Return the digest of the record's unique key or name; None if it has none."""
        parts = self.identity()
        return None if parts is None or self.withdrawn else slot_of(self.type, *parts)

    def rests_on(self) -> tuple[UUID, ...]:
        """Return the ids of the source records; if they are all erased, this record is erased
        too.
        """
        return ()

    def stands_on(self) -> tuple[UUID, ...]:
        """Return the ids of this version's sources; ``rests_on`` adds those of earlier versions,
        for erasure.
        """
        return self.rests_on()

    def links(self) -> tuple[UUID, ...]:
        """Return the ids that an engine links to this record: ``rests_on``, and the link of an
        external id, where it has one.
        """
        own = getattr(self, "external_id", None)
        link = () if own is None else (external_link(self.owner, self.type, own),)
        return (*self.rests_on(), *link)

    def following(self, earlier: Record) -> Any:
        """Return this record as the next version after ``earlier``; it keeps the sources of earlier
        versions.
        """
        return self

    def passage_text(self) -> str | None:
        """Return the text by which recall finds this record; None if recall does not search such
        records.
        """
        return None

    def __repr__(self) -> str:
        """Return the type, id, beginning of the text, and status on one line; ``model_dump`` has
        all fields.
        """
        named = (getattr(self, name, None) for name in ("title", "name", "line", "schema_name"))
        text = self.passage_text() or next(filter(None, named), "")
        status = "undone" if self.withdrawn else getattr(self, "status", None)
        parts = [type(self).__name__, str(self.id), *([shown(text)] if text else [])]
        return f"<{' '.join(parts)}{f', {status}' if status not in (None, 'active') else ''}>"

    def __str__(self) -> str:
        return repr(self)

    def changed(self, **fields: Any) -> Any:
        """Return a copy with some fields replaced; the values are not validated."""
        return self.model_copy(update=fields)


def past_of(record: Record, earlier: Record) -> tuple[UUID, ...]:
    """Return the sources that only earlier versions of a record have, after a new version is
    added.
    """
    now = set(record.stands_on())
    return tuple(
        dict.fromkeys(id for id in (*earlier.rests_on(), *record.rests_on()) if id not in now)
    )


def those_of(sort: type[R], records: Iterable[Record]) -> list[R]:
    """Return the records of one class, in their order."""
    return [record for record in records if isinstance(record, sort)]
