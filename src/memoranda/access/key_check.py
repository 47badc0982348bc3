"""Checks the secret of a key: who holds it, and what it opens now."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Self
from uuid import UUID

from memoranda.access.principal import Principal
from memoranda.book import Book
from memoranda.book.nouns.keys import KEYS, digest_of, every_key
from memoranda.errors import MemorandaError
from memoranda.model.profiles import Key
from memoranda.model.records import WHOLE, Owner, OwnerKind
from memoranda.operations import Role

_log = logging.getLogger("memoranda.access")

#: A revocation made by another process takes effect after so many seconds at the latest, besides
#: the time of one read.
FRESH_SECONDS = 1.0
#: The last uses of keys are stored at most so often, and when the service ends.
USES_SECONDS = 60.0
#: A longer text is no secret of a key, and is not even digested.
_LONGEST_SECRET = 1024


@dataclass(slots=True)
class _Known:
    """The keys of a tenant as they were read last."""

    by_digest: dict[str, tuple[Key, Principal]] = field(default_factory=dict)
    #: The era and position of the ledger's last entry, and the number of keys: if both stay, so do
    #: the keys.
    mark: tuple[tuple[UUID, int] | None, int] | None = None
    read_at: float = -1e9


class KeyCheck:
    """Tells who holds a key of the book's tenant; it reads the book at most about once in a second.

    Unknown secrets are looked up in the book at once, one read at a time however many come.
    """

    def __init__(self, book: Book, clock: Callable[[], float] = time.monotonic) -> None:
        self._book = book
        self._tenant = Owner(tenant=book.tenant, kind=OwnerKind.TENANT, id=book.tenant)
        self._clock = clock
        self._known = _Known()
        self._reading = asyncio.Lock()
        #: How many reads have begun.
        self._reads = 0
        #: The last use of each key that is not stored yet.
        self._uses: dict[UUID, datetime] = {}
        self._stored_at = float("-inf")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.store_uses()

    async def principal_of(self, secret: str) -> Principal | None:
        """Return the holder of a key; None if there is no such key, or it has expired or been
        revoked.
        """
        if not secret or len(secret) > _LONGEST_SECRET:
            return None
        digest = digest_of(secret)
        if (
            self._clock() - self._known.read_at >= FRESH_SECONDS
            or digest not in self._known.by_digest
        ):
            await self._read(after=self._reads)
        key, principal = self._known.by_digest.get(digest, (None, None))
        if (
            key is None
            or not hmac.compare_digest(key.digest, digest)
            or not holds(key, self._book.door.clock())
        ):
            return None
        self._uses[key.id] = self._book.door.clock()
        return principal

    async def store_uses(self) -> None:
        """Store when each key was last used; if the book takes no writes now, the next call
        does.
        """
        uses, self._uses = self._uses, {}
        if not uses:
            return
        self._stored_at = self._clock()
        try:
            await self._book.engine.note_key_uses(uses)
        except MemorandaError as exc:
            self._uses = {**uses, **self._uses}
            _log.warning("the last uses of keys are stored later: %s", exc)

    async def _read(self, after: int) -> None:
        """Read the keys if they changed, unless more reads have begun than ``after``."""
        async with self._reading:
            if self._reads > after:
                return
            self._reads += 1
            begun = self._clock()
            mark = await self._mark()
            if mark != self._known.mark:
                keys = await every_key(self._book.engine, self._tenant)
                self._known.by_digest = {key.digest: (key, principal_of_key(key)) for key in keys}
                self._known.mark = mark
            self._known.read_at = begun
            if begun - self._stored_at >= USES_SECONDS:
                await self.store_uses()

    async def _mark(self) -> tuple[tuple[UUID, int] | None, int]:
        """Return a mark that every write and every erasure of a key changes."""
        engine, last = self._book.engine, None if self._known.mark is None else self._known.mark[0]
        count = await engine.count(self._tenant, WHOLE, KEYS)
        while True:
            # The last known entry is asked for again: it is missing if the tenant was erased as a
            # whole.
            newer = await engine.entries(self._tenant, 0 if last is None else last[1] - 1, 1000)
            newest = (newer[-1].era, newer[-1].position) if newer else None
            if newest == last or len(newer) < 1000:
                return newest, count
            last = newest


def holds(key: Key, now: datetime) -> bool:
    """True if a key opens the service at this moment."""
    ended = key.revoked_at is not None and key.revoked_at <= now
    return not ended and (key.expires_at is None or key.expires_at > now)


def principal_of_key(key: Key) -> Principal:
    """Return the principal that the holder of a key is."""
    owners, groups, agents = (
        None if names is None else frozenset(names)
        for names in (key.owners, key.groups, key.agents)
    )
    if key.opens is not None and key.opens.kind is not OwnerKind.TENANT:
        # A key of before there were roles names one owner, of any kind.
        only = {key.opens.kind: frozenset({key.opens.id})}
        owners, groups = (
            only.get(OwnerKind.USER, frozenset()),
            only.get(OwnerKind.GROUP, frozenset()),
        )
        agents = only.get(OwnerKind.AGENT, agents)
    return Principal(
        name=key.name,
        tenant=key.owner.tenant,
        role=limited_role(_role_of(key), owners, agents, groups, key.person),
        owners=owners,
        agents=agents,
        groups=groups,
        person=key.person,
        metrics=key.metrics,
        binding=binding_of("key", key.digest),
        key=key.id,
    )


def binding_of(kind: str, *parts: str) -> str:
    """Return a value that only this credential has, and from which the credential cannot be
    found.
    """
    return hashlib.sha256("\0".join(("binding", kind, *parts)).encode()).hexdigest()[:32]


def limited_role(role: Role, *named: object) -> Role:
    """Return the role of a credential that names owners, agents or groups, or None for each: one
    that names some is no admin, who may ask everything of everyone.
    """
    return role if all(one is None for one in named) else min(role, Role.EDITOR)


def _role_of(key: Key) -> Role:
    named = [
        Role[name.upper()]
        for name in (key.role, *key.roles)
        if name and name.upper() in Role.__members__
    ]
    return max(named, default=Role.VIEWER)
