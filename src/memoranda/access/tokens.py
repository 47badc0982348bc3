"""Tokens of an identity provider (JWT): the issuer's public keys, and the check of who holds a
token and what it opens.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

import jwt
from pydantic_core import from_json

from memoranda.access.key_check import binding_of, limited_role
from memoranda.access.principal import Principal
from memoranda.access.service_settings import ASYMMETRIC, ServiceSettings
from memoranda.errors import Busy
from memoranda.model.records import DEFAULT_TENANT
from memoranda.model.values import NAME_LENGTH, text_fault
from memoranda.operations import Role

_log = logging.getLogger("memoranda.access")

#: The keys are read again after so many seconds, so that one that the issuer withdrew ends.
FRESH_SECONDS = 600.0
#: An issuer that does not answer leaves the keys that were read last in force for so long.
_STALE_SECONDS = 86_400.0
#: An unknown key id reads them again, but not more often than this.
LEAST_SECONDS = 10.0
_TIMEOUT_SECONDS = 5.0
_MOST_BYTES = 1_048_576

#: The sort of key, and the curve where it must be one, that each algorithm works with.
_SUITS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", ())),
    "ES256": ("EC", ("P-256",)),
    "ES384": ("EC", ("P-384",)),
    "ES512": ("EC", ("P-521",)),
    "EdDSA": ("OKP", ("Ed25519", "Ed448")),
}


class IssuerKeys:
    """The keys of one issuer. They are read in a thread, by one request at a time; the others wait
    for it.
    """

    def __init__(self, source: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._keys: tuple[Mapping[str, Any], ...] = ()
        self._read_at = self._tried_at = float("-inf")
        self._reading = asyncio.Lock()

    async def key_of(self, algorithm: str, id: str | None) -> Any:
        """Return the public key for a token's algorithm and key id; None if the issuer has none."""
        if self._clock() - self._read_at >= FRESH_SECONDS:
            await self._read()
        found = self._find(algorithm, id)
        if found is None:
            await self._read()
            found = self._find(algorithm, id)
        return None if found is None else jwt.PyJWK(dict(found), algorithm).key

    def _find(self, algorithm: str, id: str | None) -> Mapping[str, Any] | None:
        suiting = [one for one in self._keys if _suits(one, algorithm)]
        if id is None:
            # Without an id, a key is not guessed.
            return suiting[0] if len(suiting) == 1 else None
        return next((one for one in suiting if one.get("kid") == id), None)

    async def _read(self) -> None:
        """Read the keys again, unless that was tried just now; keep the earlier ones for a day if
        it fails.
        """
        async with self._reading:
            now = self._clock()
            if now - self._tried_at >= LEAST_SECONDS:
                self._tried_at = now
                try:
                    self._keys = await asyncio.to_thread(read_keys, self._source)
                    self._read_at = now
                except (OSError, ValueError) as exc:
                    _log.warning(
                        "the keys of the tokens' issuer cannot be read from %s: %s",
                        self._source,
                        exc,
                    )
            if now - self._read_at > _STALE_SECONDS:
                self._keys = ()
                raise Busy(
                    f"tokens cannot be checked: the issuer's keys cannot be read from {self._source}; try again"
                )


def _suits(key: Mapping[str, Any], algorithm: str) -> bool:
    sort, curves = _SUITS[algorithm]
    named = key.get("alg", algorithm) == algorithm and key.get("use", "sig") == "sig"
    return named and key.get("kty") == sort and (not curves or key.get("crv") in curves)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def http_error_302(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any
    ) -> NoReturn:
        raise OSError(
            f"it answers with a redirect ({code}), which is not followed: name the address itself"
        )

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302  # type: ignore[assignment, unused-ignore]


_opener = urllib.request.build_opener(_NoRedirect)


def read_keys(source: str) -> tuple[Mapping[str, Any], ...]:
    """Read the public keys of a JWKS; raise OSError or ValueError if there is none."""
    if "://" in source:
        with _opener.open(source, timeout=_TIMEOUT_SECONDS) as answer:
            text = answer.read(_MOST_BYTES + 1)
    else:
        text = Path(source).read_bytes()
    if len(text) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES} bytes")
    found = from_json(text)
    keys = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(keys, list):
        raise ValueError('it is no JWKS: it has no list "keys"')
    public = [
        one for one in keys if isinstance(one, dict) and one.get("kty") in {"RSA", "EC", "OKP"}
    ]
    return tuple({name: value for name, value in one.items() if name != "d"} for one in public)


#: A verified token is not verified again for so long, unless it expires sooner.
REMEMBERED_SECONDS = 60.0
_MOST_REMEMBERED = 10_000
_LONGEST_TOKEN = 16_384
#: A claim with this value, or a list that has it, opens all.
_ALL = "*"


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
        """Return the holder of a token; None if it is not valid here and now. Raise ``Busy`` if it
        cannot be checked.
        """
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
            raise jwt.InvalidAlgorithmError(
                "the algorithm is not among those that the settings allow"
            )
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
        """Return the principal that verified claims describe; raise ValueError if they describe
        none of this tenant.
        """
        given = self._settings
        person = _name(claim(claims, given.token_person_claim))
        if _name(claim(claims, given.token_tenant_claim) or DEFAULT_TENANT) != self._tenant:
            raise ValueError("it is of another tenant")
        owners = claim(claims, given.token_owners_claim)
        groups = claim(claims, given.token_groups_claim)
        agents = claim(claims, given.token_agents_claim)
        role = limited_role(
            self._role(claim(claims, given.token_role_claim)), owners, groups, agents
        )
        every = role is Role.ADMIN
        opened = None if every else frozenset({person}) if owners is None else _names(owners)
        return Principal(
            name=person,
            tenant=self._tenant,
            role=role,
            owners=opened,
            agents=None if agents is None else _names(agents),
            groups=None if every else frozenset() if groups is None else _names(groups),
            person=person if opened is not None and person in opened else None,
            binding=binding_of("token", given.token_issuer, person),
        )

    def _role(self, named: Any) -> Role:
        """Return the highest role that a claim names, or else the settings' own."""
        words = (
            named.split() if isinstance(named, str) else named if isinstance(named, list) else []
        )
        known = [
            Role[word.upper()]
            for word in words
            if isinstance(word, str) and word.upper() in Role.__members__
        ]
        return max(known, default=Role.named(self._settings.token_role))


def claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim: the one of this whole name, or else the one at this path of names with dots;
    None if there is none.
    """
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _name(value: Any) -> str:
    if (
        not isinstance(value, str)
        or not value.strip()
        or len(value) > NAME_LENGTH
        or text_fault(value)
    ):
        raise ValueError("a name in it is none")
    return value


def _names(value: Any) -> frozenset[str] | None:
    """Return the names that a text or a list holds; None for ``*``, which opens all."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise TypeError("give a list of names")
    return None if _ALL in listed else frozenset(_name(one) for one in listed)
