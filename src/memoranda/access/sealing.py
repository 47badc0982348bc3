"""Seals texts that a credential gets and gives back, so that no other credential can use them."""

from __future__ import annotations

import base64
import binascii
import hmac
from hashlib import sha256
from typing import Any

from memoranda.access.principal import Principal

_SEAL = 16


def sealed(principal: Principal, what: str, owner: Any, text: str) -> str:
    """Return a text that only this credential can give back, for the same use and owner."""
    raw = text.encode()
    return base64.urlsafe_b64encode(_seal(principal, what, owner, raw) + raw).decode().rstrip("=")


def unsealed(principal: Principal, what: str, owner: Any, given: str) -> str | None:
    """Return the text; None if this credential did not get it for this use and owner."""
    try:
        whole = base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True)
        text = whole[_SEAL:]
        if hmac.compare_digest(whole[:_SEAL], _seal(principal, what, owner, text)):
            return text.decode()
    except (binascii.Error, ValueError):
        pass
    return None


def _seal(principal: Principal, what: str, owner: Any, text: bytes) -> bytes:
    parts = "\0".join([principal.name, what, repr(owner)]).encode()
    return hmac.digest(principal.binding.encode(), parts + b"\0" + text, sha256)[:_SEAL]
