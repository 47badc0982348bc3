"""The base class of verbs over records with a unique name: agents, schemas and keys."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

from pydantic import ValidationError

from memoranda.book.input import as_actor, as_flag, as_text
from memoranda.book.services import RecordVerbs, Services
from memoranda.book.verb_fields import spelled_out
from memoranda.door import check_operation
from memoranda.errors import Conflict, HasDependents, InvalidInput
from memoranda.model.changes import Expect, PutNamed, Undo
from memoranda.model.ledger import Receipt
from memoranda.model.profiles import Agent, Key, Schema
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, OwnerKind, Record, slot_of
from memoranda.model.values import new_id, refused

N = TypeVar("N", Agent, Schema, Key)


@spelled_out
class Named(RecordVerbs, Generic[N]):
    """The tenant's agents, schemas or keys, each under its unique name."""

    def __init__(self, services: Services, of: type[N]) -> None:
        super().__init__(services)
        self._of: type[N] = of
        #: Held from the reading of a name to its writing.
        self._putting = asyncio.Lock()

    @property
    def _tenant(self) -> Owner:
        return Owner(tenant=self._services.tenant, kind=OwnerKind.TENANT, id=self._services.tenant)

    async def _put(
        self,
        name: str,
        fields: Mapping[str, Any],
        operation: str | None,
        *,
        new: bool = False,
        patch: bool = False,
    ) -> Receipt:
        """Store a record under a unique name, or replace the one of that name.

        ``new`` refuses a name that is taken; ``patch`` keeps the fields of the record in place that
        are not given.
        """
        unknown = sorted(set(fields) - set(self._own))
        if unknown:
            raise InvalidInput(f"{unknown[0]}: unknown field", field=unknown[0])
        async with self._putting:
            return await self._put_now(
                name, fields, operation, new=as_flag(new, "new"), patch=patch
            )

    async def _put_now(
        self, name: str, fields: Mapping[str, Any], operation: str | None, *, new: bool, patch: bool
    ) -> Receipt:
        held = await self._get(name) if new or patch else None
        if new and held is not None and not await self._is_known(operation):
            raise self._taken(name)
        kept = (
            {}
            if held is None or not patch
            else {field: getattr(held, field) for field in self._own}
        )
        try:
            record = self._of(
                **{**kept, **fields, "id": new_id(), "owner": self._tenant, "name": name}
            )
        except ValidationError as exc:
            raise refused(exc) from exc
        receipt = await self._services.door.write(
            self._tenant,
            WHOLE,
            as_actor(WHOLE),
            [PutNamed(record)],
            # The empty mapping stands where other requests name the versions that they expect.
            request=["put", self._of.type.value, name, dict(fields), *(["new"] if new else []), {}],
            operation=operation,
            expect=Expect(versions={held.id: held.version})
            if kept and held is not None
            else Expect(),
        )
        if new and not receipt.repeated and record.id not in receipt.ids():
            # Another process took the name between the two calls: take this change back, unless it
            # was built upon.
            taking = [Undo(receipt.position, False)]
            with contextlib.suppress(HasDependents):
                await self._services.write(
                    self._tenant, WHOLE, taking, ["undo", receipt.position], None
                )
            raise self._taken(name)
        return receipt

    @property
    def _own(self) -> list[str]:
        return [
            field for field in self._of.model_fields if field not in {*Record.model_fields, "name"}
        ]

    def _taken(self, name: str) -> Conflict:
        return Conflict(
            f"name: {self._of.type.value} {name!r} exists; choose another name, or leave out new"
        )

    async def _is_known(self, operation: str | None) -> bool:
        """True if an operation of this id was applied; its repetition gets the first receipt."""
        if operation is None:
            return False
        named, by = check_operation(operation), as_actor(WHOLE)
        return await self._services.engine.find_operation(self._tenant, named, by) is not None

    async def _get(self, name: str) -> N | None:
        """Return the record of that name, or None."""
        slot = slot_of(self._of.type, as_text(name, "name"))
        only = Filter(types=frozenset({self._of.type}), slots=(slot,))
        found = await self._all(self._tenant, WHOLE, only, 1)
        return cast(N, found[0]) if found else None

    async def _list(self, limit: int) -> list[N]:
        """Return all records, in the order in which they were created."""
        return [
            cast(N, r)
            for r in await self._all(
                self._tenant, WHOLE, Filter(types=frozenset({self._of.type})), limit
            )
        ]
