"""Digests: identities of fixed size, and keyed digests that reveal nothing without the book's secret."""

from __future__ import annotations

from hashlib import blake2b

SIZE = 16


def slot_digest(identity: bytes) -> bytes:
    """The digest under which an owner's one holder of an identity is found."""
    return blake2b(identity, digest_size=SIZE, person=b"slot").digest()


def request_digest(request: bytes) -> bytes:
    """The digest by which the same request is known again."""
    return blake2b(request, digest_size=SIZE, person=b"request").digest()


def schema_digest(parameters: bytes) -> str:
    """Return the digest of a schema's parameters."""
    return blake2b(parameters, digest_size=SIZE, person=b"schema").hexdigest()


def keyed(secret: bytes, purpose: str, *parts: bytes) -> bytes:
    """A digest under the book's secret; the parts cannot run into each other."""
    state = blake2b(digest_size=SIZE, key=secret, person=purpose.encode()[:16])
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()
