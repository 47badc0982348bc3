"""Keyed digests of an export's lines, by which an import notices that a line was changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoranda.model.values import canonical, keyed

#: The field of a line that has its digest.
DIGEST = "digest"


def key_name(secret: bytes) -> str:
    """Return a text by which a book recognises its own key; it does not reveal the key."""
    return keyed(secret, "export key").hex()


def line_digest(secret: bytes, era: str, line: Mapping[str, Any]) -> str:
    """Return the keyed digest of a line of this era's owner."""
    return keyed(secret, "export line", era.encode(), canonical(line)).hex()
