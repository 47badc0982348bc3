"""The principal: who asks from outside the program, and what this credential opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from memoranda.model.records import Owner, OwnerKind
from memoranda.model.service_records import LOCAL, SELF
from memoranda.operations import Role
from memoranda.secrets.modes import SecretsMode


class GuardedBook(Protocol):
    """A book as somebody may use it."""

    @property
    def secrets(self) -> SecretsMode:
        """The mode in which the book treats secrets."""

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a verb."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of one credential, with the rights it gives."""

    name: str
    tenant: str
    role: Role
    #: The users that it may name; None: every user of the tenant.
    owners: frozenset[str] | None = None
    #: The agents as which it may read and write; None: every agent.
    agents: frozenset[str] | None = None
    #: The groups that it may name; None: every group.
    groups: frozenset[str] | None = None
    #: The user whose own credential this is: it may ask for everything of theirs with
    #: ``as_owner=True``.
    person: str | None = None
    #: True if it may see the service's metrics and health, as an admin may.
    metrics: bool = False
    #: A value that only this credential has: cursors and operation ids are bound to it.
    binding: str = ""
    #: The id of the stored key; None for a token and for a program on the same machine.
    key: UUID | None = None

    @property
    def is_limited(self) -> bool:
        """True if it opens some users or groups only, whatever its role."""
        return any(names is not None for names in (self.owners, self.groups, self.person))

    @property
    def is_admin(self) -> bool:
        """True if it may do everything in its tenant."""
        return self.role is Role.ADMIN and not self.is_limited and self.agents is None

    def noted_as(self, owner: Owner | None) -> str:
        """Return the name that lines about an owner note of this principal: a person's token has no
        name but theirs.
        """
        about_own = owner is not None and owner.kind is OwnerKind.USER and owner.id == self.person
        return SELF if self.key is None and about_own else self.name

    @property
    def sees_numbers(self) -> bool:
        """True if it may see numbers about the whole service."""
        return self.metrics or self.is_admin


def local_admin(tenant: str) -> Principal:
    """Return the principal of a program on the same machine, where no key is asked for."""
    return Principal(LOCAL, tenant, Role.ADMIN, binding="local")
