"""Lines about reads, and last uses of keys: storing, reading and deleting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from memoranda.errors import InvalidInput
from memoranda.model.book_rows import ReadPiece
from memoranda.model.records import Owner
from memoranda.model.service_records import RESTRICTING, ReadLine, ReadLines, ReadNote
from memoranda.model.values import micros, moment, new_id, owner_digest
from memoranda.storage.questions import Secret
from memoranda.storage.service_questions import (
    DropReads,
    KeyUseRows,
    PutKeyUses,
    PutReads,
    ReadPieces,
)
from memoranda.storage.use_case import Deciding, ask

#: The length of a key of ``ReadPiece``: a moment and an id.
_KEY_BYTES = 24


def note_key_uses(uses: Mapping[UUID, datetime]) -> Deciding[None]:
    """Store uses of keys."""
    if uses:
        yield PutKeyUses(sorted((id.bytes, micros(at)) for id, at in uses.items()))
    yield from ()


def key_uses(ids: Sequence[UUID] | None) -> Deciding[dict[UUID, datetime]]:
    """Return the last uses of these keys, or of all."""
    asked = None if ids is None else tuple(id.bytes for id in ids)
    return {UUID(bytes=id): moment(at) for id, at in (yield from ask(KeyUseRows(asked)))}


def with_ids(notes: Sequence[ReadNote]) -> list[tuple[UUID, ReadNote]]:
    """Return notes with the ids of their lines, so that storing them again adds nothing."""
    return [(new_id(), note) for note in notes]


def note_reads(notes: Sequence[tuple[UUID, ReadNote]]) -> Deciding[None]:
    """Append lines about reads."""
    secret = yield from ask(Secret())
    pieces = [
        ReadPiece(
            micros(note.at),
            id.bytes,
            note.tenant,
            b"" if note.owner is None else owner_digest(secret, note.owner.parts),
            note.principal,
            note.verb,
            note.surface,
        )
        for id, note in notes
    ]
    if pieces:
        yield PutReads(pieces)


def reads(
    tenant: str, owner: Owner | None, since: datetime | None, limit: int, cursor: str | None
) -> Deciding[ReadLines]:
    """Return a page of lines about reads."""
    secret = yield from ask(Secret())
    digest = None if owner is None else owner_digest(secret, owner.parts)
    start = max(_start_of(cursor), (0 if since is None else max(micros(since), 0), b""))
    found = yield from ask(ReadPieces(tenant, digest, *start, limit + 1))
    page = found[:limit]
    return ReadLines(tuple(map(_line_of, page)), page[-1].key.hex() if len(found) > limit else None)


def _start_of(cursor: str | None) -> tuple[int, bytes]:
    if cursor is None:
        return 0, b""
    try:
        key = bytes.fromhex(cursor)
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise InvalidInput("cursor: it is not one that a page of reads returned", field="cursor")
    return int.from_bytes(key[:8], "big"), key[8:]


def _line_of(piece: ReadPiece) -> ReadLine:
    at, id, tenant, owner, *names = piece
    return ReadLine(UUID(bytes=id), moment(at), tenant, owner.hex(), *names)


def drop_reads(tenant: str, before: datetime) -> Deciding[int]:
    """Delete a tenant's lines about reads from before a moment, but none about restrictions;
    returns how many there are.
    """
    found = 0
    start, until = (0, b""), micros(before)
    while page := (yield from ask(ReadPieces(tenant, None, *start, 1000))):
        old = [piece for piece in page if piece.at < until]
        found += sum(piece.verb not in RESTRICTING for piece in old)
        start = (page[-1].at, page[-1].id)
        if len(old) < len(page):
            break
    if found:
        yield DropReads(tenant, until)
    return found
