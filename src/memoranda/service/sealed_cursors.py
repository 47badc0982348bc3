"""Cursors on the wire: sealed, so that each continues only the page that made it, for the same credential."""

from __future__ import annotations

import base64
import binascii
import hmac
from hashlib import sha256
from typing import Any

from memoranda.access.principal import Principal
from memoranda.errors import InvalidInput

_SEAL = 16


def seal_cursor(principal: Principal, verb: str, owner: Any, cursor: str) -> str:
    """Return a cursor that only this credential can use, for the same verb and owner."""
    text = cursor.encode()
    return base64.urlsafe_b64encode(_seal(principal, verb, owner, text) + text).decode().rstrip("=")


def open_cursor(principal: Principal, verb: str, owner: Any, sealed: str) -> str:
    """Return the book's cursor; raise InvalidInput if this credential did not get it for this verb and owner."""
    try:
        whole = base64.b64decode(sealed + "=" * (-len(sealed) % 4), altchars=b"-_", validate=True)
        text = whole[_SEAL:]
        if hmac.compare_digest(whole[:_SEAL], _seal(principal, verb, owner, text)):
            return text.decode()
    except (binascii.Error, ValueError):
        pass
    raise InvalidInput(
        "cursor: it was not returned by a page of this request; begin without a cursor", field="cursor"
    )


def _seal(principal: Principal, verb: str, owner: Any, text: bytes) -> bytes:
    parts = "\0".join([principal.name, verb, repr(owner)]).encode()
    return hmac.digest(principal.binding.encode(), parts + b"\0" + text, sha256)[:_SEAL]
