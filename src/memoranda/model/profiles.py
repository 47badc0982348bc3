"""Profiles with the sources of their fields; and the schemas, agents and service keys of a
tenant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias
from uuid import UUID

from pydantic import Field, model_validator

from memoranda.model.records import WIDEST_FIRST, Owner, OwnerKind, Record, RecordType, past_of
from memoranda.model.redactions import escaped
from memoranda.model.unlisted import Unlisted, with_earlier
from memoranda.model.values import Document, Moment, Name, Text, comparable

#: The sources of a value: for a list that is not empty, one entry for each item; for any other
#: value, one entry. An empty entry means that people or programs set the value.
Grounds: TypeAlias = tuple[tuple[UUID, ...], ...]


def places(value: Any) -> int:
    """Return how many source entries a value has: one for each item if it is a list, else one."""
    return len(value) if isinstance(value, (list, tuple)) and value else 1


def all_of(grounds: Mapping[str, Grounds]) -> tuple[UUID, ...]:
    """Return the source records of a profile document, each once."""
    return joined(source for entries in grounds.values() for entry in entries for source in entry)


def joined(sources: Iterable[UUID]) -> tuple[UUID, ...]:
    """Return each source once, in the order given."""
    return tuple(dict.fromkeys(sources))


def of_change(before: Any, held: Grounds, after: Any, given: Grounds) -> Grounds:
    """Return the sources of a value that replaces another, given those of each place; an item that
    stays keeps its own.

    A part of an object may be unchanged, so a changed object keeps its earlier sources and gets the
    new ones.
    """
    if comparable(before) == comparable(after):
        return _more(held, given[0]) if not isinstance(after, (list, tuple)) else held
    if not isinstance(after, (list, tuple)) or not after:
        kept = held[0] if isinstance(before, dict) and isinstance(after, dict) else ()
        return (joined((*kept, *given[0])),)
    earlier = (
        [*zip(before, held, strict=True)] if isinstance(before, (list, tuple)) and before else []
    )
    return _of_items(earlier, after, given)


def _of_items(
    earlier: list[tuple[Any, tuple[UUID, ...]]], after: Sequence[Any], given: Grounds
) -> Grounds:
    waiting: dict[Any, list[int]] = {}
    for place, (item, _) in enumerate(earlier):
        waiting.setdefault(comparable(item), []).append(place)
    matched = [found.pop(0) if (found := waiting.get(comparable(item))) else None for item in after]
    stayed = set(matched)
    entries: list[tuple[UUID, ...]] = []
    for place, (item, match, sources) in enumerate(zip(after, matched, given, strict=True)):
        if match is not None:
            entries.append(earlier[match][1])
        elif isinstance(item, dict) and place < len(earlier) and place not in stayed:
            was, entry = earlier[place]
            entries.append(joined((*(entry if isinstance(was, dict) else ()), *sources)))
        else:
            entries.append(sources)
    return tuple(entries)


def said_again(value: Any, held: Grounds, again: Any, given: Grounds) -> Grounds:
    """Return the sources of a value when it, or some of its items, was stated again; items without
    sources get none.
    """
    if not isinstance(value, (list, tuple)):
        return _more(held, given[0]) if comparable(value) == comparable(again) else held
    items = {comparable(item) for item in again} if isinstance(again, (list, tuple)) else set()
    if not value:
        return held
    return tuple(
        _more((entry,), sources)[0] if comparable(item) in items else entry
        for item, entry, sources in zip(value, held, given, strict=True)
    )


def _more(held: Grounds, sources: tuple[UUID, ...]) -> Grounds:
    return tuple(joined((*entry, *sources)) if entry else () for entry in held)


def without(
    value: Any, held: Grounds, gone_of: Callable[[Any], Container[UUID]]
) -> tuple[Any, Grounds] | None:
    """Return a value without the items that lost all their sources; None if nothing is left.

    ``gone_of`` returns the sources that an item lost.
    """
    items = value if isinstance(value, (list, tuple)) and value else [value]
    left = []
    for item, entry in zip(items, held, strict=True):
        gone = gone_of(item)
        left.append(tuple(source for source in entry if source not in gone))
    stays = [bool(now) or not was for was, now in zip(held, left, strict=True)]
    if all(stays):
        return value, tuple(left)
    if not any(stays):
        return None
    # Only a list has several entries.
    return (
        [item for item, kept in zip(value, stays, strict=True) if kept],
        tuple(entry for entry, kept in zip(left, stays, strict=True) if kept),
    )


#: One document that is patched, or ever new notes.
UpdateMode: TypeAlias = Literal["patch", "insert"]
#: When it is formed: once a thread has been silent for a while, only when it closes, or only on
#: request.
Trigger: TypeAlias = Literal["silence", "close", "request"]


#: What a key may do: read; read and write; everything.
KeyRole: TypeAlias = Literal["viewer", "editor", "admin"]


class ProfileDocument(Record):
    """One document about a user, under one schema."""

    type: ClassVar[RecordType] = RecordType.PROFILE

    #: 0 of a document that is not stored, because memories hold all that it shows.
    version: int = Field(default=1, ge=0)
    schema_name: Name = "Profile"
    #: The version of the schema that the body was last checked against; empty where none was
    #: configured.
    schema_hash: str = Field(default="", max_length=64)
    body: Document = Field(default_factory=dict)
    #: Fields that a person set; only people change them.
    pinned: tuple[Text, ...] = ()
    #: The sources of derived fields; fields that people or programs set are not listed.
    #: A value with more than eight lists some of them, and last the id of the group of the others.
    grounds: dict[Text, Grounds] = Field(default_factory=dict)
    #: The groups of sources that ``grounds`` does not list.
    unlisted: tuple[Unlisted, ...] = ()
    #: Sources that only earlier versions have.
    past: tuple[UUID, ...] = ()

    @model_validator(mode="after")
    def _fitting(self) -> ProfileDocument:
        for name, entries in self.grounds.items():
            if name not in self.body or len(entries) != places(self.body[name]) or not any(entries):
                raise ValueError(f"the sources of {name!r} do not fit the field")
        return self

    def identity(self) -> tuple[Any, ...] | None:
        """Return the schema's name with the audience: each audience has one document for a
        schema.
        """
        audience = self.audience
        return (self.schema_name, audience.kind.value, audience.agent, list(audience.groups))

    def rests_on(self) -> tuple[UUID, ...]:
        return joined((*self.stands_on(), *self.past))

    def stands_on(self) -> tuple[UUID, ...]:
        """Return the sources of all derived fields, each once."""
        return all_of(self.grounds)

    def grounds_of(self, name: str) -> Grounds:
        """Return a field's sources: one tuple for each item, empty if people or programs set the
        item.
        """
        return self.grounds.get(name) or ((),) * places(self.body.get(name))

    def following(self, earlier: Record) -> Any:
        return self.changed(
            past=past_of(self, earlier), unlisted=with_earlier(self.unlisted, earlier)
        )

    def without(self, gone_of: Callable[[Any], Container[UUID]]) -> ProfileDocument | None:
        """Return this document without fields that lost all their sources, and without earlier
        versions, or None.

        ``gone_of`` returns the sources that a value, or an item of a list, lost.
        """
        body, grounds = dict(self.body), dict(self.grounds)
        for name, entries in self.grounds.items():
            left = without(body[name], entries, gone_of)
            if left is None:
                del body[name], grounds[name]
            else:
                body[name], grounds[name] = left
                if not any(left[1]):
                    del grounds[name]
        if self.body and not body:
            return None
        standing = set(all_of(grounds))
        return self.model_copy(
            update={
                "body": body,
                "grounds": grounds,
                "unlisted": tuple(group for group in self.unlisted if group.id in standing),
                "pinned": tuple(name for name in self.pinned if name in body),
                "past": (),
            }
        )

    def without_places(self, pointers: Collection[str]) -> ProfileDocument | None:
        """Return this document without the values and items of lists at these JSON pointers, or
        None if nothing is left.
        """
        body, grounds = dict(self.body), dict(self.grounds)
        for name, value in self.body.items():
            at = f"/body/{escaped(name)}"
            if at in pointers or not isinstance(value, list):
                left: list[int] = [] if at in pointers else [0]
            else:
                left = [place for place in range(len(value)) if f"{at}/{place}" not in pointers]
            if not left and (value or at in pointers):
                del body[name]
                grounds.pop(name, None)
            elif isinstance(value, list) and len(left) < len(value):
                body[name] = [value[place] for place in left]
                entries = tuple(self.grounds_of(name)[place] for place in left)
                grounds[name] = entries
                if not any(entries):
                    del grounds[name]
        if not body:
            return None
        pinned = tuple(name for name in self.pinned if name in body)
        standing = set(all_of(grounds))
        unlisted = tuple(group for group in self.unlisted if group.id in standing)
        changed = {"body": body, "grounds": grounds, "pinned": pinned, "unlisted": unlisted}
        return self.model_copy(update=changed)


def by_field(documents: Iterable[ProfileDocument]) -> dict[tuple[str, str], ProfileDocument]:
    """Return for each schema and field the document from which it is read: one in which the person
    set it, else the agent's own, else a group's, else the global one.
    """
    found: dict[tuple[str, str], ProfileDocument] = {}
    for document in sorted(
        documents, key=lambda one: (WIDEST_FIRST.index(one.audience.kind), one.recorded_at)
    ):
        for field in document.body:
            place = document.schema_name, field
            wider = found.get(place)
            if wider is None or field in document.pinned or field not in wider.pinned:
                found[place] = document
    return found


class Schema(Record):
    """The schema of the documents or notes of one name."""

    type: ClassVar[RecordType] = RecordType.SCHEMA

    name: Name
    description: Text = Field(default="", max_length=100_000)
    parameters: Document = Field(default_factory=dict)
    update_mode: UpdateMode = "patch"
    instructions: Text = Field(default="", max_length=100_000)
    trigger: Trigger = "silence"
    #: The agents whose conversations are formed into it; all where none is named.
    agents: tuple[Name, ...] = ()

    def identity(self) -> tuple[Any, ...] | None:
        return (self.name,)


class Agent(Record):
    """An agent as its tenant knows it: a unique name and its settings."""

    type: ClassVar[RecordType] = RecordType.AGENT

    name: Name
    #: Plain text: what a provider calls its models changes too often to be checked here.
    model: Text = Field(default="", max_length=100_000)
    description: Text = Field(default="", max_length=100_000)
    system_prompt: Text = Field(default="", max_length=100_000)
    settings: Document = Field(default_factory=dict)

    def identity(self) -> tuple[Any, ...] | None:
        return (self.name,)


class Key(Record):
    """A key that opens a service; the book holds its digest, never the key."""

    type: ClassVar[RecordType] = RecordType.KEY

    name: Name
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    roles: tuple[Name, ...] = ()
    #: The one owner that it opens; every owner of the tenant where none is named.
    opens: Owner | None = None
    #: The part of the secret that may be shown, by which people tell keys apart; empty if the
    #: caller made the secret.
    prefix: str = Field(default="", max_length=32)
    #: viewer, editor or admin; None of a key that was stored before there were roles.
    role: KeyRole | None = None
    #: The users that it may name; None: every user of the tenant.
    owners: tuple[Name, ...] | None = None
    #: The agents as which it reads and writes; None: every agent.
    agents: tuple[Name, ...] | None = None
    #: The groups that it may name; None: every group.
    groups: tuple[Name, ...] | None = None
    #: The user whose own key this is.
    person: Name | None = None
    #: True if it reads the service's metrics and health; an admin's key does so anyway.
    metrics: bool = False
    expires_at: Moment | None = None
    #: When it ceases to open the service; a moment to come while a rotated key still holds.
    revoked_at: Moment | None = None

    def identity(self) -> tuple[Any, ...] | None:
        """Return the name; None once the key is revoked, so that a new key can take the name."""
        return None if self.revoked_at is not None else (self.name,)

    def names(self) -> frozenset[Owner]:
        """Return the users and groups that it names; their whole erasure takes their names out of
        it.
        """
        users = {*(self.owners or ()), *((self.person,) if self.person else ())}
        named = {OwnerKind.USER: users, OwnerKind.GROUP: {*(self.groups or ())}}
        found = {
            Owner(tenant=self.owner.tenant, kind=kind, id=id)
            for kind, ids in named.items()
            for id in ids
        }
        return frozenset(found if self.opens is None else found | {self.opens})

    def without_owner(self, owner: Owner) -> Key | None:
        """Return this key without an erased owner's name; None if it opens nothing then."""
        if owner == self.opens or (owner.kind is OwnerKind.USER and owner.id == self.person):
            return None
        field = "owners" if owner.kind is OwnerKind.USER else "groups"
        left = tuple(id for id in getattr(self, field) or () if id != owner.id)
        changed: Key = self.changed(**{field: left})
        return changed if changed.owners != () or changed.groups else None
