"""The one wrapper that every call from outside goes through: it checks the principal's rights, then
asks the book.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import fields, is_dataclass, replace
from inspect import signature
from operator import is_
from typing import Any, Protocol

from memoranda.access.principal import Principal
from memoranda.book import Book
from memoranda.book.all_operations import OPERATIONS
from memoranda.errors import InvalidInput, NotAllowed, NotFound
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.profiles import Agent
from memoranda.model.records import Audience, AudienceKind, Owner, OwnerKind, Record, Trust
from memoranda.model.service_records import CALLER, Caller
from memoranda.operations import Operation, Role
from memoranda.secrets.modes import SecretsMode

#: Arguments of an erasure that reach beyond some records.
_WHOLE = ("everything", "backups")


class Audit(Protocol):
    """Takes a note of each read."""

    def note(self, principal: Principal, verb: str, owner: Owner | None, surface: str) -> None:
        """Note that a principal called a verb about an owner."""


class Guard:
    """A book as one principal may use it."""

    def __init__(
        self, book: Book, principal: Principal, surface: str = "rest", audit: Audit | None = None
    ) -> None:
        self.book = book
        self.principal = principal
        self._surface = surface
        self._audit = audit

    @property
    def secrets(self) -> SecretsMode:
        """The mode in which the book treats secrets."""
        return self.book.secrets

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """Check the rights of the principal, call the verb of this name, and return its result."""
        verb, owner, given = self._checked(name, arguments)
        before = CALLER.set(self._caller(owner, given))
        try:
            result = await self._asked(verb, given)
        finally:
            CALLER.reset(before)
        if self._audit is not None and given.get("everything") and not given.get("dry_run"):
            # Nothing else is left of an owner who was erased as a whole.
            self._audit.note(self.principal, "forget everything", owner, self._surface)
        if self.principal.is_admin or (owner is not None and owner.kind is not OwnerKind.AGENT):
            return result
        if name == "agents.list" and self.principal.agents is not None:
            result = [agent for agent in result if agent.name in self.principal.agents]
        return _with_each(result, self._shown)

    def stream(self, name: str, /, **arguments: Any) -> AsyncIterator[str]:
        """Check the rights of the principal, and return the lines that the verb of this name
        yields.
        """
        _, owner, given = self._checked(name, arguments)
        before = CALLER.set(self._caller(owner, given))
        try:
            lines: AsyncIterator[str] = self._method(name)(**given)
        finally:
            CALLER.reset(before)
        return lines

    def _caller(self, owner: Owner | None, given: dict[str, Any]) -> Caller:
        return Caller(
            self.principal.noted_as(owner),
            self._surface,
            self._most_trust(owner, given),
            writes=self.principal.role >= Role.EDITOR,
            opens_all=not self.principal.is_limited,
        )

    async def _asked(self, verb: Operation, given: dict[str, Any]) -> Any:
        if not verb.of_thread:
            return await self._method(verb.name)(**given)
        who = {word: given.pop(word) for word in ("agent", "groups", "as_owner") if word in given}
        handle = await self.book.thread(given.pop("owner"), id=given.pop("thread"), **who)
        return await getattr(handle, verb.name.partition(".")[2])(**given)

    def _shown(self, record: Record) -> Record:
        """Return a record of an agent or of the tenant as a credential that is no administrator's
        may see it.
        """
        shown: Record = record
        if isinstance(record, ExperienceLine):
            shown = record.changed(evidence=(), past=())
        elif isinstance(record, Agent) and record.name not in (self.principal.agents or ()):
            shown = record.changed(system_prompt="")
        return shown

    def _method(self, name: str) -> Callable[..., Any]:
        found: Any = self.book
        for part in name.split("."):
            found = getattr(found, part)
        method: Callable[..., Any] = found
        return method

    def _checked(
        self, name: str, arguments: dict[str, Any]
    ) -> tuple[Operation, Owner | None, dict[str, Any]]:
        verb, given, principal = OPERATIONS[name], dict(arguments), self.principal
        if principal.role < verb.role:
            raise NotAllowed(
                f"{name}: it needs the role {verb.role}, and {principal.name!r} is {principal.role}"
            )
        if principal.tenant != self.book.tenant:
            raise NotFound("there is nothing here for this credential")
        owner = self._owner_of(verb, given)
        if not principal.is_admin:
            self._check_reach(verb, owner, given)
        if self._audit is not None and verb.reads:
            self._audit.note(principal, name, owner, self._surface)
        return verb, owner, given

    def _owner_of(self, verb: Operation, given: dict[str, Any]) -> Owner | None:
        """Return whom the verb is about, and put the owner into the arguments in the book's
        form.
        """
        word = verb.owner_argument
        named = given.get(word)
        if named is None:
            return None
        owner = named if isinstance(named, Owner) else _user(self.book.tenant, named)
        given[word] = owner
        return owner

    def _check_reach(self, verb: Operation, owner: Owner | None, given: dict[str, Any]) -> None:
        principal = self.principal
        if owner is not None:
            if not _opens(principal, owner):
                raise NotFound(f"there is no owner {owner} for this credential")
        elif not verb.safe and (principal.is_limited or "agent" not in verb.in_path):
            # What agents learnt is of all users: a credential that opens all of them may ask about
            # its agents.
            hint = "" if verb.owner_argument == "owner" else f", or {verb.owner_argument}"
            raise NotAllowed(
                f"{verb.name}: without an owner it is about the whole book, and needs an administrator's credential{hint}"
            )
        if verb.role is Role.ADMIN:
            raise NotAllowed(
                f"{verb.name}: it needs an administrator's credential, which names no owners, agents or groups"
            )
        is_person = self._is_person(owner)
        if given.get("as_owner") and not is_person:
            raise NotAllowed(
                "as_owner: the owner's own view needs the person's or an administrator's credential"
            )
        if not is_person and (verb.of_the_person or any(given.get(word) for word in _WHOLE)):
            wanted = verb.of_the_person or "erasing everything, or from backups,"
            raise NotAllowed(
                f"{verb.name}: {wanted} needs the person's or an administrator's credential"
            )
        if principal.is_limited and any(given.get(word) for word in verb.for_all_users):
            named = " and ".join(verb.for_all_users)
            raise NotAllowed(
                f"{named}: it serves all users, and this credential opens only some of them"
            )
        self._check_readers(verb, given)
        self._check_audience(given.get("audience"))
        self._name_agent(verb, given)

    def _name_agent(self, verb: Operation, given: dict[str, Any]) -> None:
        """Let a credential for one agent act as that agent where a call names none; of several it
        must name one.
        """
        agents = self.principal.agents
        if agents is None or given.get("agent") is not None or given.get("as_owner"):
            return
        if verb.of_thread or "agent" in signature(self._method(verb.name)).parameters:
            if len(agents) != 1:
                named = ", ".join(sorted(agents)) or "none"
                raise InvalidInput(
                    f"agent: name one of this credential's agents: {named}", field="agent"
                )
            (given["agent"],) = agents

    def _is_person(self, owner: Owner | None) -> bool:
        return (
            owner is not None and owner.kind is OwnerKind.USER and self.principal.person == owner.id
        )

    def _most_trust(self, owner: Owner | None, given: dict[str, Any]) -> Trust:
        """Return the trust with which a call may act at most."""
        if self.principal.is_admin:
            return Trust.OPERATOR
        is_agents = self.principal.agents is not None or bool(_agents_in(given))
        return Trust.ASSISTANT if is_agents and not self._is_person(owner) else Trust.USER

    def _check_readers(self, verb: Operation, given: dict[str, Any]) -> None:
        """Raise NotFound if the call names an agent or a group that the principal may not name."""
        principal = self.principal
        agents = _agents_in(given) | {
            given[word] for word in verb.agent_arguments if given.get(word) is not None
        }
        if principal.agents is not None and not agents <= principal.agents:
            raise NotFound(
                f"there is no agent {min(agents - principal.agents)!r} for this credential"
            )
        groups = given.get("groups") or ()
        if principal.groups is not None and not set(groups) <= principal.groups:
            raise NotFound("groups: at least one of them is not there for this credential")

    def _check_audience(self, audience: Any) -> None:
        """Raise NotFound if an audience names an agent or a group that the principal may not
        name.
        """
        principal = self.principal
        if not isinstance(audience, Audience):
            # a kind such as "group" means the caller's own agent and groups, which are checked
            return
        of_agent = audience.kind is AudienceKind.SELF
        names = {audience.agent or ""} if of_agent else set(audience.groups)
        allowed = principal.agents if of_agent else principal.groups
        if names and allowed is not None and not names <= allowed:
            raise NotFound("audience: it names readers that are not there for this credential")


def _agents_in(given: dict[str, Any]) -> set[str]:
    """Return the agents that a call names: the one as which it is made, and those to which its
    messages were said.
    """
    messages = given.get("role_or_messages")
    found = messages if isinstance(messages, list | tuple) else [messages]
    named = (given.get("agent"), *(one.get("agent") for one in found if isinstance(one, dict)))
    return {one for one in named if isinstance(one, str)}


def _with_each(value: Any, change: Callable[[Record], Record]) -> Any:
    """Return a value with each record in it changed; where nothing changes, it is the same
    object.
    """
    if isinstance(value, Record):
        return change(value)
    if isinstance(value, list | tuple):
        made = [_with_each(one, change) for one in value]
        return value if all(map(is_, made, value)) else type(value)(made)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    held = {one.name: getattr(value, one.name) for one in fields(value)}
    changed = {name: _with_each(one, change) for name, one in held.items()}
    new = {name: one for name, one in changed.items() if one is not held[name]}
    return replace(value, **new) if new else value


def _user(tenant: str, name: Any) -> Owner:
    if not isinstance(name, str):
        raise InvalidInput(f"owner: give a name, not {type(name).__name__}", field="owner")
    try:
        return Owner(tenant=tenant, id=name)
    except ValueError:
        raise InvalidInput(
            "owner: a name has 1 to 255 characters, and no control character", field="owner"
        ) from None


def _opens(principal: Principal, owner: Owner) -> bool:
    """Return True if the principal may name this owner."""
    match owner.kind:
        case OwnerKind.USER:
            return principal.owners is None or owner.id in principal.owners
        case OwnerKind.GROUP:
            return principal.groups is not None and owner.id in principal.groups
        case OwnerKind.AGENT:
            # What agents learnt of all users belongs to them.
            return (
                not principal.is_limited
                and principal.agents is not None
                and owner.id in principal.agents
            )
    return False
