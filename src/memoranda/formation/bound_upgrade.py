"""Brings bound fields that documents of an earlier version still hold over to the memories with their keys."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memoranda.door import Door
from memoranda.errors import InvalidInput, NotFound, Stale
from memoranda.formation.bound_profiles import BoundProfiles, keyed
from memoranda.formation.schemas.bound_fields import (
    NOTHING,
    HasBoundFields,
    counts,
    has_stored,
    holder_of,
    sentence_of,
    value_of,
)
from memoranda.model.changes import Amend, Change, Expect, PatchProfile, Remember
from memoranda.model.ledger import Actor
from memoranda.model.memories import Cardinality, Memory
from memoranda.model.profiles import ProfileDocument, all_of, joined
from memoranda.model.query import Filter, Scan
from memoranda.model.records import WHOLE, AudienceKind, Limits, Owner, Record, RecordType, Trust, those_of
from memoranda.model.values import comparable, new_id
from memoranda.ports import Records

_log = logging.getLogger("memoranda.profiles")
_ACTOR: Final = Actor("system", "bound fields")
#: In the note of the ledger's entry: how many fields became what.
BOUND: Final = "bound_fields"
_MOST: Final = 1000
_KIND: Final = "fact"


@dataclass(slots=True)
class _Plan:
    """The changes that bring one document over, and how many of its fields become what."""

    document: ProfileDocument
    changes: list[Change] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    versions: dict[UUID, int] = field(default_factory=dict)


async def bring_over(records: Records, door: Door, bound: BoundProfiles, owner: Owner) -> Counter[str]:
    """Make each bound field of an owner's stored documents one with the memory that has its key; return counts.

    ``one``: field and memory agreed; ``field``: the field took the memory's place, or there was none; ``memory``: the memory
    stands; ``ended``: the memory from the same sources had ended; ``left``: stays in the document for now. Each document is one
    operation, which is applied once.
    """
    schemas = await bound.schemas()
    total: Counter[str] = Counter()
    stored = await records.scan(owner, WHOLE, Filter(types=frozenset({RecordType.PROFILE})), None, _MOST)
    for document in those_of(ProfileDocument, stored):
        if not has_stored([document], schemas):
            continue
        schema = schemas[document.schema_name]
        memories = await _memories(records, owner, {schema.name: schema})
        sources = await _sources(records, document, schema)
        plan = _planned(document, schema, memories, sources, door.clock(), door.limits)
        if plan.gone and not await _written(door, plan):
            plan.counts = Counter(left=plan.counts.total())
        total += plan.counts
    if total:
        told = ", ".join(f"{name} {count}" for name, count in sorted(total.items()))
        _log.info("bound fields of %s in documents of an earlier version: %s", owner, told)
    return total


async def survey(records: Records, bound: BoundProfiles, owner: Owner, now: datetime) -> tuple[int, int]:
    """Return how many bound fields an owner's documents still hold, and how many memories have a key but no value for its field."""
    schemas = await bound.schemas()
    profiles = Filter(types=frozenset({RecordType.PROFILE}))
    asked = [Scan(owner, WHOLE, only, None, _MOST) for only in (profiles, keyed(schemas))]
    stored, held = await records.scans(asked)
    waiting = sum(
        len(document.body.keys() & schemas[document.schema_name].keys.keys())
        for document in those_of(ProfileDocument, stored)
        if document.schema_name in schemas
    )
    silent = sum(
        value_of(schema, name, memory) is NOTHING
        for schema in schemas.values()
        for name, key in schema.keys.items()
        for memory in those_of(Memory, held)
        if memory.key == key and counts(memory, now)
    )
    return waiting, silent


async def _memories(records: Records, owner: Owner, schemas: Mapping[str, HasBoundFields]) -> list[Memory]:
    only = Filter(types=frozenset({RecordType.MEMORY}), keys=keyed(schemas).keys, newest_first=True)
    return those_of(Memory, await records.scan(owner, WHOLE, only, None, _MOST))


async def _sources(
    records: Records, document: ProfileDocument, schema: HasBoundFields
) -> dict[str, tuple[UUID, ...] | None]:
    """Return the sources of each bound field that are still there; None if it had some and none is."""
    own = {name: document.grounds_of(name) for name in schema.keys if name in document.body}
    members: dict[UUID, list[UUID]] = {}
    if document.unlisted:
        for group, source in await records.unlisted(document.owner, WHOLE, document.id):
            members.setdefault(group, []).append(source)
    listed = {
        name: joined(one for id in all_of({name: grounds}) for one in members.get(id, [id]))
        for name, grounds in own.items()
    }
    wanted = joined(id for ids in listed.values() for id in ids)
    there: Mapping[UUID, Record] = await records.get(document.owner, WHOLE, wanted) if wanted else {}
    return {
        name: tuple(id for id in ids if id in there) or (None if ids else ()) for name, ids in listed.items()
    }


def _planned(
    document: ProfileDocument,
    schema: HasBoundFields,
    memories: Sequence[Memory],
    sources: Mapping[str, tuple[UUID, ...] | None],
    now: datetime,
    limits: Limits,
) -> _Plan:
    plan = _Plan(document, versions={document.id: document.version})
    near = [one for one in memories if one.audience == document.audience and one.subject is None]
    for name, found in sources.items():
        value, key = document.body[name], schema.keys[name]
        active = [one for one in near if one.key == key and one.active and one.disputes is None]
        holder = holder_of(schema, name, [document], near, now)
        same = next((one for one in active if _says(one, value)), None)
        by_field = holder is not None and holder.document is not None
        if value is None or holder is None:
            plan.counts["ended"] += 1
        elif same is not None and (by_field or holder.memory is same):
            plan.changes += _joined(same, value, pinned=name in document.pinned)
            plan.versions[same.id] = same.version
            plan.counts["one"] += 1
        elif not by_field:
            plan.counts["memory"] += 1
        elif found is None:
            # Its messages left by age: the document still names them, so that forgetting them removes the field.
            plan.counts["left"] += 1
            continue
        else:
            plan.changes.append(_memory(document, name, key, found, active, now, limits))
            plan.counts["field"] += 1
        plan.gone.append(name)
    return plan


def _says(memory: Memory, value: Any) -> bool:
    """True if a memory and a field agree: it has the value, or none of its own and the value in its words."""
    if memory.has_value:
        return comparable(memory.data["value"]) == comparable(value)
    return str(value).casefold() in memory.content.casefold()


def _joined(memory: Memory, value: Any, *, pinned: bool) -> Iterator[Change]:
    data = memory.data if isinstance(memory.data, dict) else {}
    if memory.has_value and (memory.pinned or not pinned):
        return
    yield Amend(memory.id, {"data": {**data, "value": value}, "pinned": memory.pinned or pinned})


def _memory(
    document: ProfileDocument,
    name: str,
    key: str,
    sources: tuple[UUID, ...],
    losers: Sequence[Memory],
    now: datetime,
    limits: Limits,
) -> Remember:
    own = document.audience.kind is AudienceKind.SELF
    memory = Memory(
        id=new_id(),
        owner=document.owner,
        audience=document.audience,
        kind=_KIND if _KIND in limits.kinds else limits.kinds[0],
        content=sentence_of(name, document.body[name])[: limits.content_length],
        key=key,
        cardinality=Cardinality.ONE,
        data={"value": document.body[name]},
        agent=document.audience.agent if own else None,
        observed_at=min(document.recorded_at, now),
        sources=sources,
        trust=Trust.USER,
        pinned=name in document.pinned,
        supersedes=tuple(one.id for one in losers)[:100],
    )
    return Remember(memory, audience=document.audience, run=str(memory.id))


async def _written(door: Door, plan: _Plan) -> bool:
    """Write the changes of a document; return False if they were refused."""
    document = plan.document
    leaving = PatchProfile(
        document.id, document.schema_name, document.audience, {}, tuple(plan.gone), pin=True
    )
    try:
        await door.write(
            document.owner,
            WHOLE,
            _ACTOR,
            [*plan.changes, leaving],
            request=[BOUND, str(document.id), document.version],
            operation=f"bound fields:{document.id}:{document.version}",
            expect=Expect(versions=plan.versions),
            note={BOUND: dict(plan.counts)},
        )
    except (InvalidInput, NotFound, Stale):
        return False
    return True
