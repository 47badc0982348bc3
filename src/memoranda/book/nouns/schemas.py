"""The verbs of a book over schemas, and over the documents that follow one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Unpack

from memoranda.book.input import Conditions, Who, as_text
from memoranda.book.nouns.named_records import Named
from memoranda.book.services import Services
from memoranda.book.verb_fields import SchemaFields, spelled_out
from memoranda.errors import InvalidInput
from memoranda.model.ledger import Receipt
from memoranda.model.memories import HELD
from memoranda.model.profiles import Schema
from memoranda.model.query import Page
from memoranda.model.records import Owner
from memoranda.operations import Part, Role, W, offer

_HOLDS_NO_USER = "schemas are the program's own; they hold nothing of a user"


@spelled_out
class Schemas(Named[Schema], Part[W]):
    """The tenant's schemas of profiles and notes, by name; a schema that cannot be used is
    refused.
    """

    def __init__(self, services: Services, listed: Callable[..., Awaitable[Page]]) -> None:
        super().__init__(services, Schema)
        self._listed = listed

    @offer(Role.VIEWER, "GET /v1/schemas/{name}", safe=_HOLDS_NO_USER)
    async def get(self, name: str) -> Schema | None:
        """Return the record of that name, or None."""
        return await self._get(name)

    @offer(Role.VIEWER, "GET /v1/schemas", safe=_HOLDS_NO_USER)
    async def list(self, limit: int = 1000) -> list[Schema]:
        """Return all records, in the order in which they were created."""
        return await self._list(limit)

    @offer(Role.ADMIN, "PUT /v1/schemas/{name}")
    async def put(
        self,
        name: str,
        *,
        new: bool = False,
        operation: str | None = None,
        **fields: Unpack[SchemaFields],
    ) -> Receipt:
        """Store a schema, or replace the one of that name, which ``new`` refuses; ``parameters``
        are a JSON Schema or a Pydantic class.
        """
        from memoranda.formation.schemas.definitions import checked_fields  # noqa: PLC0415

        kept = checked_fields(fields, as_text(name, "name"))
        self._check_keys(kept.get("parameters", {}))
        receipt = await self._put(name, kept, operation, new=new)
        self._services.bound.changed()
        return receipt

    @offer(Role.VIEWER, "GET /schemas/{name}/records")
    async def records(
        self,
        owner: str | Owner,
        name: str,
        *,
        only: Conditions | None = None,
        newest_first: bool = False,
        cursor: str | None = None,
        limit: int = 100,
        **who: Unpack[Who],
    ) -> Page:
        """Return a page of an owner's memories that hold an inserted document of this schema, as
        ``list`` does.

        Only active ones, unless ``only`` names statuses or another moment.
        """
        if only is not None and not isinstance(only, Mapping):
            raise InvalidInput("only: pass a mapping of conditions", field="only")
        given = dict(only or {})
        if (
            given.get("statuses") is None
            and given.get("as_of") is None
            and given.get("known_at") is None
        ):
            given["statuses"] = HELD
        given["schema"] = as_text(name, "name")
        return await self._listed(
            owner,
            types="memory",
            only=given,
            newest_first=newest_first,
            cursor=cursor,
            limit=limit,
            **who,
        )

    def _check_keys(self, parameters: Mapping[str, Any]) -> None:
        """Raise ``InvalidInput`` if a field is bound to a key that no memory of this tenant may
        have.
        """
        from memoranda.formation.schemas.bound_fields import KEYWORD, keys_of  # noqa: PLC0415

        most = self._services.door.limits.key_length
        for field, key in keys_of(parameters).items():
            if len(key) > most:
                at = f"parameters/properties/{field}/{KEYWORD}"
                raise InvalidInput(
                    f"{at}: has {len(key)} characters; a key has at most {most}", field=at
                )
