"""The verbs over keys that open a service; the book stores only digests of their secrets."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any, Literal, Unpack
from uuid import UUID

from pydantic import ValidationError

from memoranda.book.input import as_actor, as_flag, as_id, as_names, as_text, names_a_record
from memoranda.book.nouns.named_records import Named
from memoranda.book.verb_fields import KeyFields, spelled_out
from memoranda.errors import Conflict, InvalidInput, NotFound
from memoranda.first_use import dataclass
from memoranda.model.changes import Change, Expect, PutNamed, RevokeKey
from memoranda.model.ledger import Receipt
from memoranda.model.profiles import Key
from memoranda.model.query import Filter
from memoranda.model.records import WHOLE, Owner, RecordType, those_of
from memoranda.model.values import new_id, refused
from memoranda.operations import Part, Role, W, offer
from memoranda.paging import every_record
from memoranda.ports import Engine

#: Every secret begins so: people and scanners of secrets know it by that.
MARK = "mem"
_PREFIX_BYTES, _SECRET_BYTES = 4, 32
#: A rotated key's former secret holds at most so long.
_LONGEST_GRACE = 30 * 86_400.0
#: All keys of a tenant.
KEYS = Filter(types=frozenset({RecordType.KEY}))


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made, with its secret, which is shown this once."""

    key: Key
    secret: str = field(repr=False)
    receipt: Receipt


def digest_of(secret: str) -> str:
    """Return the digest under which the book knows a secret; a secret of 256 random bits needs no
    slow one.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


async def every_key(engine: Engine, tenant: Owner) -> list[Key]:
    """Return every key of a tenant: oldest first, also those that have ended."""
    return those_of(Key, [record async for record in every_record(engine, tenant, WHOLE, KEYS)])


@spelled_out
class Keys(Named[Key], Part[W]):
    """Keys that open a service; the book stores only their digests."""

    @offer(Role.ADMIN, "GET /v1/keys/{name}")
    async def get(self, name: str) -> Key | None:
        """Return the record of that name, or None."""
        return await self._get(name)

    @offer(Role.ADMIN, "GET /v1/keys", command="keys list")
    async def list(self, limit: int = 1000) -> list[Key]:
        """Return all records, in the order in which they were created."""
        return await self._list(limit)

    @offer(Role.ADMIN, "POST /v1/keys", command="keys create")
    async def create(
        self,
        name: str,
        *,
        role: Literal["viewer", "editor", "admin"],
        owners: Sequence[str] | None = None,
        agents: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
        person: str | None = None,
        metrics: bool = False,
        expires_at: datetime | None = None,
        operation: str | None = None,
    ) -> NewKey:
        """Make a key and return it with its secret, which the book does not store and cannot show
        again.

        ``owners``, ``agents`` and ``groups`` limit whom it may name; without ``owners`` every user
        of the tenant. A key with ``owners`` opens only the ``groups`` that are named. ``person`` is
        the user whose own key it is: it opens that user, and may read everything of theirs with
        ``as_owner=True``. With ``metrics`` it reads the service's metrics and health.
        """
        limits = {"owners": owners, "agents": agents, "groups": groups, "person": person}
        limited = next((one for one, given in limits.items() if given is not None), None)
        if role == "admin" and limited is not None:
            raise InvalidInput(
                f"{limited}: an admin's key opens everything; leave it out, or give the role editor",
                field=limited,
            )
        users = None if owners is None else as_names(owners, "owners")
        if person is not None:
            users = tuple(dict.fromkeys((as_text(person, "person"), *(users or ()))))
        fields = {
            "role": role,
            "owners": users,
            "agents": None if agents is None else as_names(agents, "agents"),
            "groups": as_names(groups, "groups")
            if groups is not None
            else None
            if users is None
            else (),
            "person": person,
            "metrics": as_flag(metrics, "metrics"),
            "expires_at": expires_at,
        }
        key, secret = self._drawn(name, fields)
        receipt = await self._store(
            [PutNamed(key)], ["create", "key", name, fields], operation, Expect()
        )
        return NewKey(key.changed(recorded_at=receipt.at), secret, receipt)

    @offer(Role.ADMIN, "POST /v1/keys/{name}/rotate", command="keys rotate")
    async def rotate(
        self: Keys,
        name: str,
        *,
        grace_seconds: float = 0.0,
        expires_at: datetime | None = None,
        operation: str | None = None,
    ) -> NewKey:
        """Give a key a new secret and return it; the former secret ends at once, or after
        ``grace_seconds``.
        """
        if not isinstance(grace_seconds, (int, float)) or not 0 <= grace_seconds <= _LONGEST_GRACE:
            raise InvalidInput(
                f"grace_seconds: give a number from 0 to {_LONGEST_GRACE:.0f}, not {grace_seconds!r}",
                field="grace_seconds",
            )
        request = [
            "rotate",
            "key",
            name,
            grace_seconds,
            None if expires_at is None else expires_at.isoformat(),
        ]
        held = await self.get(name)
        if held is None:
            raise NotFound(f"key: there is none called {name!r}; list them, or create it")
        given = (
            "roles",
            "opens",
            "role",
            "owners",
            "agents",
            "groups",
            "person",
            "metrics",
            "expires_at",
        )
        fields = {one: getattr(held, one) for one in given}
        key, secret = self._drawn(
            name, {**fields, **({} if expires_at is None else {"expires_at": expires_at})}
        )
        ends = self._services.door.clock() + timedelta(seconds=grace_seconds)
        changes: list[Change] = [RevokeKey(held.id, ends), PutNamed(key)]
        expect = Expect(versions={held.id: held.version})
        receipt = await self._store(changes, request, operation, expect)
        return NewKey(key.changed(recorded_at=receipt.at), secret, receipt)

    @offer(Role.ADMIN, "POST /v1/keys/{id}/revoke", final=True, command="keys revoke")
    async def revoke(self, id: UUID | str, *, operation: str | None = None) -> Receipt:
        """Revoke a key, by its id, or all of a name: it opens the service no more."""
        if not names_a_record(id):
            return await self._write(
                self._tenant, WHOLE, RevokeKey(as_id(id)), ["revoke", str(id)], operation
            )
        now = self._services.door.clock()
        named = [
            key for key in await every_key(self._services.engine, self._tenant) if key.name == id
        ]
        if not named:
            raise NotFound(f"key: there is none called {id!r}; list them with: memoranda keys list")
        # Those that a rotation left for a while, too.
        ending = [
            RevokeKey(key.id) for key in named if key.revoked_at is None or key.revoked_at > now
        ]
        changes = ending or [RevokeKey(named[-1].id)]
        return await self._services.write(
            self._tenant, WHOLE, changes, ["revoke", str(id)], operation
        )

    @offer(Role.ADMIN, "GET /v1/key-uses", command="keys list")
    async def uses(self) -> dict[UUID, datetime]:
        """Return when each key was last used, by its id; a service stores that once in a minute."""
        keys = await every_key(self._services.engine, self._tenant)
        return await self._services.engine.key_uses([key.id for key in keys])

    @offer(Role.ADMIN, "PUT /v1/keys/{name}")
    async def put(
        self, name: str, *, operation: str | None = None, **fields: Unpack[KeyFields]
    ) -> Receipt:
        """Store a key whose digest the caller made; a name that is in use is refused."""
        return await self._put(name, dict(fields), operation)

    def _drawn(self, name: str, fields: dict[str, Any]) -> tuple[Key, str]:
        """Return a key with these fields and a new secret."""
        prefix = secrets.token_hex(_PREFIX_BYTES)
        secret = f"{MARK}_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
        made = {"id": new_id(), "owner": self._tenant, "name": name, "digest": digest_of(secret)}
        try:
            key = Key(**{**fields, **made, "prefix": prefix})
        except ValidationError as exc:
            raise refused(exc) from exc
        if key.expires_at is not None and key.expires_at <= self._services.door.clock():
            raise InvalidInput(
                f"expires_at: {key.expires_at.isoformat()} has passed; give a time to come",
                field="expires_at",
            )
        return key, secret

    async def _store(
        self,
        changes: Sequence[Change],
        request: Sequence[Any],
        operation: str | None,
        expect: Expect,
    ) -> Receipt:
        receipt = await self._services.door.write(
            self._tenant,
            WHOLE,
            as_actor(WHOLE),
            changes,
            request=request,
            operation=operation,
            expect=expect,
        )
        if receipt.repeated:
            raise Conflict(
                f"operation: {operation!r} has made a key before, and its secret was shown then; rotate the key to get a new one"
            )
        return receipt
