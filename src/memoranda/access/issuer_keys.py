"""The public keys of the issuer of tokens: a JWKS that is read from an address or a file, and kept for a while."""

from __future__ import annotations

import asyncio
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

import jwt
from pydantic_core import from_json

from memoranda.errors import Busy

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
    """The keys of one issuer. They are read in a thread, by one request at a time; the others wait for it."""

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
        """Read the keys again, unless that was tried just now; keep the earlier ones for a day if it fails."""
        async with self._reading:
            now = self._clock()
            if now - self._tried_at >= LEAST_SECONDS:
                self._tried_at = now
                try:
                    self._keys = await asyncio.to_thread(read_keys, self._source)
                    self._read_at = now
                except (OSError, ValueError) as exc:
                    _log.warning(
                        "the keys of the tokens' issuer cannot be read from %s: %s", self._source, exc
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
    def http_error_302(self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any) -> NoReturn:
        raise OSError(f"it answers with a redirect ({code}), which is not followed: name the address itself")

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
    public = [one for one in keys if isinstance(one, dict) and one.get("kty") in {"RSA", "EC", "OKP"}]
    return tuple({name: value for name, value in one.items() if name != "d"} for one in public)
