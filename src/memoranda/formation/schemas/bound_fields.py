"""Fields of profiles that are bound to a key: the memory that has the key holds the field's
value.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

from memoranda.model.memories import Memory
from memoranda.model.profiles import ProfileDocument, all_of
from memoranda.model.records import WIDEST_FIRST, Audience, Owner, Trust
from memoranda.model.values import canonical, derived_id

if TYPE_CHECKING:
    from memoranda.formation.schemas.validation import Fault, Shape

#: The keyword of a field's JSON Schema that names the key.
KEYWORD: Final = "x-memoranda-key"
#: A field that shows nothing.
NOTHING: Final = object()
#: The version of a document that is not stored, because it has only bound fields.
UNSTORED: Final = 0
_TRUST: Final = (*Trust,)
_LONG_AGO: Final = datetime(2020, 1, 1, tzinfo=UTC)


class HasBoundFields(Protocol):
    """A schema whose fields may be bound to keys."""

    @property
    def name(self) -> str:
        """The name of the schema."""

    @property
    def keys(self) -> Mapping[str, str]:
        """The key of each bound field."""

    @property
    def shape(self) -> Shape:
        """The shape of its documents."""


def keys_of(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the key of each bound field of a document."""
    fields = parameters.get("properties")
    if not isinstance(fields, Mapping):
        return {}
    found = {
        name: field.get(KEYWORD) for name, field in fields.items() if isinstance(field, Mapping)
    }
    return {name: key for name, key in found.items() if isinstance(key, str)}


def with_keys(parameters: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """Return a JSON Schema whose fields of these names have these keys, unless they name a key, or
    null for none.
    """
    fields = parameters.get("properties")
    if not isinstance(fields, Mapping):
        return dict(parameters)
    taken = {field.get(KEYWORD) for field in fields.values() if isinstance(field, Mapping)}
    free = {name: key for name, key in keys.items() if key not in taken}
    bound = {
        name: {**field, KEYWORD: free[name]}
        if name in free
        and isinstance(field, Mapping)
        and KEYWORD not in field
        and "items" not in field
        else field
        for name, field in fields.items()
    }
    return {**parameters, "properties": bound}


def without_keys(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema without the keys of its fields."""
    fields = parameters.get("properties")
    if not isinstance(fields, Mapping):
        return dict(parameters)
    plain = {
        name: {word: given for word, given in field.items() if word != KEYWORD}
        if isinstance(field, Mapping)
        else field
        for name, field in fields.items()
    }
    return {**parameters, "properties": plain}


def sentence_of(field: str, value: Any) -> str:
    """Return a field's value as a statement, for a value that came without words of its own."""
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{field[:1].upper()}{field[1:].replace('_', ' ')}: {said}"


def faults_of(schema: HasBoundFields, field: str, value: Any) -> list[Fault]:
    """Return why a field may not have this value."""
    at = f"/{field}"
    return [
        fault
        for fault in schema.shape.faults({field: value})
        if fault.at == at or fault.at.startswith(f"{at}/")
    ]


def value_of(schema: HasBoundFields, field: str, memory: Memory, *, texts: bool = True) -> Any:
    """Return the value that a field shows of the memory that holds its key; ``NOTHING`` if the
    memory has none for it.

    Without a value of its own, a memory that always applies shows its content where the field may
    be such a text.
    """
    if memory.has_value and not faults_of(schema, field, memory.data["value"]):
        return memory.data["value"]
    said = texts and not memory.applies_when and not faults_of(schema, field, memory.content)
    return memory.content if said else NOTHING


def counts(memory: Memory, now: datetime) -> bool:
    """True if a memory may hold a field: active, about the owner, not disputed, and valid now."""
    return (
        memory.active
        and memory.disputes is None
        and memory.subject is None
        and memory.holds_at(now)
    )


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a field: a memory, or a document that had the field before its schema bound
    it.
    """

    value: Any
    audience: Audience
    pinned: bool
    trust: Trust
    at: datetime
    id: UUID
    memory: Memory | None = None
    #: The stored document that still has the field.
    document: ProfileDocument | None = None

    @property
    def rank(self) -> tuple[Any, ...]:
        """The sort key of holders: pinned, then higher trust, then the narrower audience, then the
        newer.
        """
        readers = (WIDEST_FIRST.index(self.audience.kind), -len(self.audience.groups))
        return (
            self.pinned,
            -_TRUST.index(self.trust),
            readers,
            self.at,
            self.memory is not None,
            self.id,
        )


def of_memory(schema: HasBoundFields, field: str, memory: Memory, *, texts: bool = True) -> Holder:
    """Return a memory as the holder of a field."""
    value = value_of(schema, field, memory, texts=texts)
    return Holder(
        value,
        memory.audience,
        memory.pinned,
        memory.trust,
        memory.observed_at,
        memory.id,
        memory=memory,
    )


def of_document(field: str, document: ProfileDocument, ended: Iterable[Memory]) -> Holder | None:
    """Return a stored document as the holder of a field; None if a memory from the same sources has
    ended since.
    """
    pinned, sources = field in document.pinned, {*all_of({field: document.grounds_of(field)})}
    if not pinned and any(not sources.isdisjoint(one.sources) for one in ended):
        return None
    at = max(map(_time_of, sources), default=document.recorded_at)
    return Holder(
        document.body[field],
        document.audience,
        pinned,
        Trust.USER,
        at,
        document.id,
        document=document,
    )


def _time_of(id: UUID) -> datetime:
    return datetime.fromtimestamp((id.int >> 80) / 1000, UTC)


def holder_of(
    schema: HasBoundFields,
    field: str,
    documents: Iterable[ProfileDocument],
    memories: Iterable[Memory],
    now: datetime,
    *,
    texts: bool = True,
) -> Holder | None:
    """Return the record that holds a field, or None."""
    keyed = [memory for memory in memories if memory.key == schema.keys[field]]
    holders = [of_memory(schema, field, one, texts=texts) for one in keyed if counts(one, now)]
    stored = (document for document in documents if field in document.body)
    ended = [one for one in keyed if not one.active]
    holders += filter(None, (of_document(field, document, ended) for document in stored))
    return max(holders, key=lambda holder: holder.rank, default=None)


def has_stored(documents: Iterable[ProfileDocument], schemas: Mapping[str, HasBoundFields]) -> bool:
    """True if a document still has a bound field itself."""
    return any(
        not document.body.keys().isdisjoint(schemas[document.schema_name].keys)
        for document in documents
        if document.schema_name in schemas
    )


def with_bound_fields(
    owner: Owner,
    documents: Sequence[ProfileDocument],
    memories: Collection[Memory],
    schemas: Iterable[HasBoundFields],
    now: datetime,
    *,
    into: Audience | None = None,
    texts: bool = True,
) -> list[ProfileDocument]:
    """Return profile documents whose bound fields have the values that memories say.

    A field stands in the document of those who read its memory, or in that of ``into``; a document
    that is not stored is made for it.
    """
    found = list(documents)
    for schema in schemas:
        own = [document for document in found if document.schema_name == schema.name]
        holders = {
            field: holder
            for field in schema.keys
            if (holder := holder_of(schema, field, own, memories, now, texts=texts)) is not None
        }
        shown = {field: one for field, one in holders.items() if one.value is not NOTHING}
        made = {document.audience: _without(document, schema.keys) for document in own}
        for field, holder in shown.items():
            readers = into or holder.audience
            document = made.get(readers) or unstored(owner, schema.name, readers)
            made[readers] = _with(document, field, holder, forming=not texts)
        found = [document for document in found if document.schema_name != schema.name] + [
            *made.values()
        ]
    return found


def _without(document: ProfileDocument, fields: Collection[str]) -> ProfileDocument:
    if document.body.keys().isdisjoint(fields):
        return document
    left: ProfileDocument = document.changed(
        body={name: value for name, value in document.body.items() if name not in fields},
        grounds={name: grounds for name, grounds in document.grounds.items() if name not in fields},
        pinned=tuple(name for name in document.pinned if name not in fields),
    )
    return left


def _with(
    document: ProfileDocument, field: str, holder: Holder, *, forming: bool = False
) -> ProfileDocument:
    grounds = dict(document.grounds)
    if holder.memory is not None:
        grounds[field] = ((holder.memory.id,),)
    elif not forming and holder.document is not None and field in holder.document.grounds:
        # Forming takes a bound field's source for the memory that holds it.
        grounds[field] = holder.document.grounds[field]
    stored = document.version != UNSTORED
    made: ProfileDocument = document.changed(
        body={**document.body, field: holder.value},
        grounds=grounds,
        pinned=tuple(sorted({*document.pinned, *([field] if holder.pinned else [])})),
        recorded_at=document.recorded_at if stored else max(document.recorded_at, holder.at),
    )
    return made


def unstored(owner: Owner, schema: str, audience: Audience) -> ProfileDocument:
    """Return an empty document that is not stored; its id is always the same."""
    said = [owner.tenant, owner.kind.value, owner.id, schema, audience.kind.value, audience.agent]
    made: ProfileDocument = ProfileDocument(
        id=derived_id(_LONG_AGO, canonical([*said, *audience.groups])),
        owner=owner,
        audience=audience,
        schema_name=schema,
        recorded_at=_LONG_AGO,
    ).changed(version=UNSTORED)
    return made
