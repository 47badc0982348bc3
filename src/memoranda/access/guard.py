"""The one wrapper that every call from outside goes through: it checks the principal's rights, then asks the book."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from memoranda.access.principal import Principal, Role
from memoranda.access.verb_table import BY_NAME, Verb
from memoranda.book import Book
from memoranda.errors import InvalidInput, NotAllowed, NotFound
from memoranda.model.beside.service_records import CALLER, Caller
from memoranda.model.records import Audience, AudienceKind, Owner, OwnerKind

#: Verbs about all that is stored of a person.
_OF_THE_PERSON = {
    "export": "an export",
    "restrict": "restricting what is done with a person's data",
}
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

    async def call(self, name: str, /, **arguments: Any) -> Any:
        """Check the rights of the principal, call the verb of this name, and return its result."""
        verb, given = self._checked(name, arguments)
        if verb.of_thread:
            who = {word: given.pop(word) for word in ("agent", "groups", "view") if word in given}
            handle = await self.book.thread(given.pop("owner"), id=given.pop("thread"), **who)
            return await getattr(handle, name.partition(".")[2])(**given)
        before = CALLER.set(Caller(self.principal.noted_as(given.get("owner")), self._surface))
        try:
            result = await self._method(name)(**given)
        finally:
            CALLER.reset(before)
        if self._audit is not None and given.get("everything") and not given.get("dry_run"):
            # Nothing else is left of an owner who was erased as a whole.
            self._audit.note(self.principal, "forget everything", given.get("owner"), self._surface)
        if name == "agents.list" and self.principal.agents is not None and self.principal.role < Role.ADMIN:
            return [agent for agent in result if agent.name in self.principal.agents]
        return result

    def stream(self, name: str, /, **arguments: Any) -> AsyncIterator[str]:
        """Check the rights of the principal, and return the lines that the verb of this name yields."""
        _, given = self._checked(name, arguments)
        lines: AsyncIterator[str] = self._method(name)(**given)
        return lines

    def _method(self, name: str) -> Callable[..., Any]:
        found: Any = self.book
        for part in name.split("."):
            found = getattr(found, part)
        method: Callable[..., Any] = found
        return method

    def _checked(self, name: str, arguments: dict[str, Any]) -> tuple[Verb, dict[str, Any]]:
        verb, given, principal = BY_NAME[name], dict(arguments), self.principal
        if principal.role < verb.role:
            raise NotAllowed(
                f"{name}: it needs the role {verb.role}, and {principal.name!r} is {principal.role}"
            )
        if principal.tenant != self.book.tenant:
            raise NotFound("there is nothing here for this credential")
        owner = self._owner_of(verb, given)
        if principal.role < Role.ADMIN or principal.owners is not None:
            self._check_reach(verb, owner, given)
        if self._audit is not None and verb.reads:
            self._audit.note(principal, name, owner, self._surface)
        return verb, given

    def _owner_of(self, verb: Verb, given: dict[str, Any]) -> Owner | None:
        """Return whom the verb is about, and put the owner into the arguments in the book's form."""
        word = "for_user" if verb.name == "experience.list" else "owner"
        named = given.get(word)
        if named is None:
            return None
        owner = named if isinstance(named, Owner) else _user(self.book.tenant, named)
        given[word] = owner
        return owner

    def _check_reach(self, verb: Verb, owner: Owner | None, given: dict[str, Any]) -> None:
        principal = self.principal
        if owner is not None:
            if not _opens(principal, owner):
                raise NotFound(f"there is no owner {owner} for this credential")
        elif "owner" in given or not verb.name.startswith(
            ("agents.", "experience.", "schemas.", "who_forms")
        ):
            raise NotAllowed(
                f"{verb.name}: without an owner it is about the whole book, and needs the role admin"
            )
        is_person = owner is not None and owner.kind is OwnerKind.USER and principal.person == owner.id
        if given.get("view") == "owner" and not is_person:
            raise NotAllowed("view: the owner's own view needs the person's or an administrator's credential")
        if not is_person and (verb.name in _OF_THE_PERSON or any(given.get(word) for word in _WHOLE)):
            wanted = _OF_THE_PERSON.get(verb.name, "erasing everything, or from backups,")
            raise NotAllowed(f"{verb.name}: {wanted} needs the person's or an administrator's credential")
        self._check_readers(verb, given)
        self._check_audience(given.get("audience"))
        if verb.name.startswith("experience.") and verb.role > Role.VIEWER:
            self._check_evidence(given.get("evidence") or {})

    def _check_readers(self, verb: Verb, given: dict[str, Any]) -> None:
        """Raise NotFound if the call names an agent or a group that the principal may not name."""
        principal = self.principal
        agents = {one for one in (given.get("agent"), *_spoken_to(given)) if isinstance(one, str)}
        if verb.name.startswith("agents.") and "name" in given:
            agents.add(given["name"])
        if principal.agents is not None and not agents <= principal.agents:
            raise NotFound(f"there is no agent {min(agents - principal.agents)!r} for this credential")
        groups = given.get("groups") or ()
        if principal.groups is not None and not set(groups) <= principal.groups:
            raise NotFound("groups: at least one of them is not there for this credential")

    def _check_audience(self, audience: Any) -> None:
        """Raise NotFound if an audience names an agent or a group that the principal may not name."""
        principal = self.principal
        if not isinstance(audience, Audience):
            return  # a kind such as "group" means the caller's own agent and groups, which are checked
        of_agent = audience.kind is AudienceKind.SELF
        names = {audience.agent or ""} if of_agent else set(audience.groups)
        allowed = principal.agents if of_agent else principal.groups
        if names and allowed is not None and not names <= allowed:
            raise NotFound("audience: it names readers that are not there for this credential")

    def _check_evidence(self, evidence: Any) -> None:
        if not isinstance(evidence, dict):
            return
        if not all(_opens(self.principal, _user(self.book.tenant, owner)) for owner in evidence):
            raise NotFound("evidence: at least one of the users is not there for this credential")


def _spoken_to(given: dict[str, Any]) -> list[Any]:
    """Return the agents that the messages of an append name."""
    messages = given.get("role_or_messages")
    found = [messages] if isinstance(messages, dict) else messages
    return [one.get("agent") for one in found if isinstance(one, dict)] if isinstance(found, list) else []


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
            return principal.agents is not None and owner.id in principal.agents
    return False
