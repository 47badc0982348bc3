"""Owners of records, audiences that may read them, and views of readers."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from memoranda.errors import InvalidInput
from memoranda.model.values import Name, Value, canonical

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
