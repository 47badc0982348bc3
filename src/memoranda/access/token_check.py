"""Checks a token of an identity provider (a JWT): who holds it, and what it opens."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import jwt

from memoranda.access.issuer_keys import IssuerKeys
from memoranda.access.key_check import binding_of, limited_role
from memoranda.access.principal import Principal
from memoranda.access.service_settings import ASYMMETRIC, ServiceSettings
from memoranda.model.records import DEFAULT_TENANT
from memoranda.model.values import NAME_LENGTH, text_fault
from memoranda.operations import Role

_log = logging.getLogger("memoranda.access")

#: A verified token is not verified again for so long, unless it expires sooner.
REMEMBERED_SECONDS = 60.0
_MOST_REMEMBERED = 10_000
_LONGEST_TOKEN = 16_384
#: A claim with this value, or a list that has it, opens all.
_ALL = "*"


def looks_like_token(secret: str) -> bool:
    """True if a credential has the form of a token."""
    return secret.count(".") == 2


class TokenCheck:
    """Tells who holds a token of the issuer that the settings name, for the tenant of one book."""

    def __init__(
        self,
        settings: ServiceSettings,
        tenant: str,
        clock: Callable[[], float] = time.monotonic,
        keys: IssuerKeys | None = None,
    ) -> None:
        self._settings = settings
        self._tenant = tenant
        self._clock = clock
        self._keys = IssuerKeys(settings.token_jwks, clock) if keys is None else keys
        self._algorithms = [name for name in settings.token_algorithms if name in ASYMMETRIC]
        #: Digest of a token → its holder, and until when it is taken without another check.
        self._verified: OrderedDict[bytes, tuple[Principal, float]] = OrderedDict()

    async def principal_of(self, token: str) -> Principal | None:
        """Return the holder of a token; None if it is not valid here and now. Raise ``Busy`` if it cannot be checked."""
        if not self._settings.takes_tokens or len(token) > _LONGEST_TOKEN:
            return None
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        known = self._verified.get(digest)
        if known is not None and self._clock() < known[1]:
            return known[0]
        try:
            claims = await self._claims(token)
            principal = self._principal(claims)
            lasts = int(claims["exp"]) + self._settings.token_skew_seconds - time.time()
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as exc:
            # The kind of fault alone: its text may quote the token.
            _log.info("a token was refused: %s", type(exc).__name__)
            self._verified.pop(digest, None)
            return None
        self._verified[digest] = principal, self._clock() + min(REMEMBERED_SECONDS, lasts)
        if len(self._verified) > _MOST_REMEMBERED:
            self._verified.popitem(last=False)
        return principal

    async def _claims(self, token: str) -> Mapping[str, Any]:
        """Verify a token's signature, issuer, audience and times; return its claims."""
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in self._algorithms:
            raise jwt.InvalidAlgorithmError("the algorithm is not among those that the settings allow")
        key = await self._keys.key_of(algorithm, header.get("kid"))
        if key is None:
            raise jwt.InvalidKeyError("the issuer has no such key")
        given = self._settings
        claims: Mapping[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            issuer=given.token_issuer,
            audience=given.token_audience,
            leeway=given.token_skew_seconds,
            options={"require": ["exp", "iss", "aud"]},
        )
        return claims

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        """Return the principal that verified claims describe; raise ValueError if they describe none of this tenant."""
        given = self._settings
        person = _name(claim(claims, given.token_person_claim))
        if _name(claim(claims, given.token_tenant_claim) or DEFAULT_TENANT) != self._tenant:
            raise ValueError("it is of another tenant")
        role = self._role(claim(claims, given.token_role_claim))
        owners = claim(claims, given.token_owners_claim)
        groups = claim(claims, given.token_groups_claim)
        agents = claim(claims, given.token_agents_claim)
        every = role is Role.ADMIN and owners is None
        opened = None if every else frozenset({person}) if owners is None else _names(owners)
        return Principal(
            name=person,
            tenant=self._tenant,
            role=limited_role(role, opened),
            owners=opened,
            agents=None if agents is None else _names(agents),
            groups=None if every else frozenset() if groups is None else _names(groups),
            person=person if opened is not None and person in opened else None,
            binding=binding_of("token", given.token_issuer, person),
        )

    def _role(self, named: Any) -> Role:
        """Return the highest role that a claim names, or else the settings' own."""
        words = named.split() if isinstance(named, str) else named if isinstance(named, list) else []
        known = [
            Role[word.upper()] for word in words if isinstance(word, str) and word.upper() in Role.__members__
        ]
        return max(known, default=Role.named(self._settings.token_role))


def claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim: the one of this whole name, or else the one at this path of names with dots; None if there is none."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > NAME_LENGTH or text_fault(value):
        raise ValueError("a name in it is none")
    return value


def _names(value: Any) -> frozenset[str] | None:
    """Return the names that a text or a list holds; None for ``*``, which opens all."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise TypeError("give a list of names")
    return None if _ALL in listed else frozenset(_name(one) for one in listed)
