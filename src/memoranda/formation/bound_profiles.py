"""Reads of profiles: stored documents, joined with the memories that hold their bound fields."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memoranda.formation.schemas.bound_fields import (
    NOTHING,
    HasBoundFields,
    counts,
    has_stored,
    value_of,
    with_bound_fields,
)
from memoranda.model.drafts import WantedSchema
from memoranda.model.memories import HELD, STANDING, Memory, MemoryStatus
from memoranda.model.messages import Thread
from memoranda.model.profiles import ProfileDocument, Schema
from memoranda.model.query import Filter, Scan
from memoranda.model.records import (
    WHOLE,
    Audience,
    Owner,
    OwnerKind,
    Record,
    RecordType,
    View,
    those_of,
)
from memoranda.ports import Records

# The rules of schemas are imported with the first profile that is read: most programs open a book
# without one.
if TYPE_CHECKING:
    from memoranda.formation.schemas.definitions import FormationSchema

#: Other processes may change a schema: schemas are read again after so long.
_KNOWN_SECONDS: Final = 30.0
_MOST: Final = 1000
_PROFILES: Final = Filter(types=frozenset({RecordType.PROFILE}))
_MEMORY: Final = frozenset({RecordType.MEMORY})
_ENDED: Final = frozenset(status.value for status in MemoryStatus) - HELD


def keyed(schemas: Mapping[str, HasBoundFields]) -> Filter:
    """Return the filter of the active memories that may hold a bound field of these schemas."""
    keys = frozenset(key for schema in schemas.values() for key in schema.keys.values())
    return Filter(types=_MEMORY, statuses=STANDING, keys=keys, newest_first=True)


def bound_by(schema: str, known: Schema | None) -> dict[str, FormationSchema]:
    """Return a schema by its name, if fields of its documents are bound to keys; ``known`` is the
    tenant's, if it has one.
    """
    from memoranda.formation.schemas.definitions import bound_schemas  # noqa: PLC0415

    found = bound_schemas([] if known is None else [known])
    return {schema: found[schema]} if schema in found else {}


class BoundProfiles:
    """Reads the profiles of a tenant's owners with the values of their bound fields."""

    def __init__(self, records: Records, tenant: str) -> None:
        self._records = records
        self._tenant = Owner(tenant=tenant, kind=OwnerKind.TENANT, id=tenant)
        self._known: dict[str, FormationSchema] | None = None
        self._read_at = 0.0

    def changed(self) -> None:
        """Forget the schemas that were read, because they may have changed."""
        self._known = None

    async def schemas(self) -> dict[str, FormationSchema]:
        """Return the tenant's schemas with bound fields, as they were at most half a minute ago."""
        from memoranda.formation.schemas.definitions import bound_schemas  # noqa: PLC0415

        now = time.monotonic()
        if self._known is None or now - self._read_at >= _KNOWN_SECONDS:
            only = Filter(types=frozenset({RecordType.SCHEMA}))
            page = await self._records.scan(self._tenant, WHOLE, only, None, _MOST)
            self._known, self._read_at = bound_schemas(those_of(Schema, page.records)), now
        return self._known

    async def of_owner(
        self,
        owner: Owner,
        view: View,
        now: datetime,
        *,
        schemas: Mapping[str, HasBoundFields] | None = None,
        into: Audience | None = None,
        texts: bool = True,
    ) -> list[ProfileDocument]:
        """Return the profile documents that a view sees; with ``into`` those of this audience,
        which get all bound fields.
        """
        bound: Mapping[str, HasBoundFields] = await self.schemas() if schemas is None else schemas
        asked = [
            Scan(owner, view, _PROFILES, None, _MOST),
            Scan(owner, view, keyed(bound), None, _MOST),
        ]
        stored, *held = await self._records.scans(asked if bound else asked[:1])
        documents = those_of(ProfileDocument, stored)
        keyed_ones = [record for page in held for record in page]
        joined = await self.joined(
            owner, view, documents, keyed_ones, now, schemas=bound, into=into, texts=texts
        )
        return joined if into is None else [one for one in joined if one.audience == into]

    async def of_thread(
        self, thread: Thread, view: View, schemas: Iterable[WantedSchema], now: datetime
    ) -> tuple[ProfileDocument, ...]:
        """Return the profiles with a thread's audience, one for each schema, with the values that
        memories hold.

        The content of a memory is not read as a value: a name such as "Is called Ana" would name
        the owner.
        """
        from memoranda.formation.schemas.definitions import schema_of  # noqa: PLC0415

        bound = {one.name: one for one in map(schema_of, schemas) if one.keys}
        shared = await self.of_owner(
            thread.owner, view, now, schemas=bound, into=thread.audience, texts=False
        )
        return tuple({document.schema_name: document for document in shared}.values())

    async def silent(
        self,
        owner: Owner,
        view: View,
        now: datetime,
        *,
        schemas: Mapping[str, FormationSchema] | None = None,
    ) -> list[tuple[str, Memory]]:
        """Return the memories that have the key of a bound field and no value that fits it, each
        with the field.
        """
        bound = await self.schemas() if schemas is None else schemas
        if not bound:
            return []
        held = those_of(Memory, await self._records.scan(owner, view, keyed(bound), None, _MOST))
        return [
            (name, memory)
            for schema in bound.values()
            for name, key in schema.keys.items()
            for memory in held
            if memory.key == key
            and counts(memory, now)
            and value_of(schema, name, memory) is NOTHING
        ]

    async def joined(
        self,
        owner: Owner,
        view: View,
        documents: Sequence[ProfileDocument],
        held: Sequence[Record],
        now: datetime,
        *,
        schemas: Mapping[str, HasBoundFields],
        into: Audience | None = None,
        texts: bool = True,
    ) -> list[ProfileDocument]:
        """Return documents with the values of their bound fields, from the records that ``keyed``
        selects.
        """
        memories = those_of(Memory, held)
        if has_stored(documents, schemas):
            # Stored before its schema bound it: a field ends with the memory from the same sources.
            ended = Filter(
                types=_MEMORY, statuses=_ENDED, keys=keyed(schemas).keys, newest_first=True
            )
            memories += those_of(Memory, await self._records.scan(owner, view, ended, None, _MOST))
        return with_bound_fields(
            owner, documents, memories, schemas.values(), now, into=into, texts=texts
        )
