"""Lists of records of all owners in one tenant, for the operator."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from memoranda.book.input import Conditions, as_cursor, as_filter, as_limit, as_types, owner_named
from memoranda.errors import InvalidInput
from memoranda.model.query import Page, Scan
from memoranda.model.records import WHOLE, Owner, Record, RecordType
from memoranda.model.service_records import ReadLines
from memoranda.operations import Part, Role, W, offer
from memoranda.ports import Engine

#: Records that one round trip may read, and owners that it may ask for.
_RECORDS: Final = 2_000
_OWNERS: Final = 64
#: Owners that one call visits; its cursor continues with the others.
_VISITED: Final = 5_000
_TASKS = frozenset({RecordType.THREAD, RecordType.EPISODE})

#: An owner's kind and id.
_Place = tuple[str, str]


class Admin(Part[W]):
    """The verbs of an operator: they read records of every owner of the tenant, of every audience. No agent gets this object."""

    def __init__(self, engine: Engine, tenant: str) -> None:
        self._engine = engine
        self._tenant = tenant

    @offer(Role.ADMIN, "GET /v1/records", command="list", title="list_records_of_all_owners")
    async def list(
        self,
        *,
        types: Iterable[str] | str | None = None,
        only: Conditions | None = None,
        newest_first: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page:
        """Return a page of the records of all owners, owner by owner; without ``types``, threads and episodes.

        It visits at most 5,000 owners: a page may be short, or empty, and still have a cursor for the next one.
        """
        wanted = as_types(types) or _TASKS
        filter = as_filter(wanted, only or {}, newest_first=newest_first)
        most, (after, inner) = as_limit(limit), _place_of(as_cursor(cursor))
        owners = sorted(await self._engine.owners(self._tenant), key=_key)
        left = [owner for owner in owners if _key(owner) >= after]
        if inner is not None and left and _key(left[0]) != after:
            # The owner within whose records the last page ended is gone.
            inner = None
        found: list[Record] = []
        at = 0
        while at < len(left) and len(found) < most and at < _VISITED:
            room = most - len(found)
            asked = left[at : at + max(1, min(_OWNERS, _RECORDS // room))]
            starts = [inner, *(None for _ in asked[1:])]
            pages = await self._engine.scans(
                [Scan(owner, WHOLE, filter, start, room) for owner, start in zip(asked, starts, strict=True)]
            )
            for page in pages:
                if len(found) + len(page.records) > most:
                    return Page(tuple(found), _cursor_of(left[at], inner))
                found += page.records
                inner = page.cursor
                if inner is not None:
                    return Page(tuple(found), _cursor_of(left[at], inner))
                at += 1
        return Page(tuple(found), _cursor_of(left[at], inner) if at < len(left) else None)

    @offer(Role.ADMIN, "GET /v1/reads", command="audit")
    async def reads(
        self,
        owner: str | Owner | None = None,
        *,
        since: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> ReadLines:
        """Return a page of the lines that a service noted about reads, oldest first: about one owner, or about anybody."""
        about = None if owner is None else owner_named(owner, self._tenant)
        if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
            raise InvalidInput("since: give a time with its zone", field="since")
        return await self._engine.reads(self._tenant, about, since, as_limit(limit), as_cursor(cursor))


def _key(owner: Owner) -> _Place:
    return owner.kind.value, owner.id


def _cursor_of(owner: Owner, inner: str | None) -> str:
    return urlsafe_b64encode(json.dumps([*_key(owner), inner]).encode()).decode()


def _place_of(cursor: str | None) -> tuple[_Place, str | None]:
    """Return the owner that a page begins with, and the cursor within that owner's records."""
    if cursor is None:
        return ("", ""), None
    try:
        kind, id, inner = json.loads(urlsafe_b64decode(cursor))
        if (
            not isinstance(kind, str)
            or not isinstance(id, str)
            or not (inner is None or isinstance(inner, str))
        ):
            raise TypeError
    except (ValueError, TypeError):
        raise InvalidInput(
            "cursor: it was not returned by a page; begin without a cursor", field="cursor"
        ) from None
    return (kind, id), inner
