"""Compares records with the ledger: every version with the ledger line that wrote it, and the other way round."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from memoranda.model.ledger import Line
from memoranda.model.messages import Message
from memoranda.model.records import Audience, Owner, Record
from memoranda.model.values import moment
from memoranda.storage.rows import CLASS_OF, StoredRow, content_hash, encode


class Written(NamedTuple):
    """One stored version of a record, with the ledger position that wrote it."""

    id: UUID
    type: str
    version: int
    #: The ledger position that is said to have written it.
    position: int
    audience: Audience
    #: Empty where the content went with one of its sources.
    body: str
    hash: bytes


class _Told(NamedTuple):
    position: int
    type: str
    hash: bytes | None


class Proof:
    """Verifies one owner: give it the whole ledger, then every version; then it reports the missing versions."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._told: dict[tuple[UUID, int], _Told] = {}

    def expect(self, position: int, lines: Iterable[Line]) -> None:
        """Add the lines of a ledger entry."""
        for line in lines:
            if not line.erased:
                self._told[line.id, line.after] = _Told(position, line.type, line.hash)

    def check(self, written: Written) -> Iterator[str]:
        """Compare a version with the ledger."""
        name = f"{written.type} {written.id}, version {written.version}"
        if written.body and self._hash(written) != written.hash:
            yield f"{name}: its content is not what was written"
        told = self._told.pop((written.id, written.version), None)
        if told is None or told.type != written.type:
            yield f"{name}: no ledger entry wrote it"
        elif told.position != written.position:
            yield f"{name}: ledger position {told.position} wrote it, and not {written.position}"
        elif told.hash != (written.hash if written.body else None):
            yield f"{name}: the ledger tells of another content"

    def missing(self) -> Iterator[str]:
        """Yield a fault for each version that the ledger lists and ``check`` was not given."""
        for id, version in self._told:
            yield f"record {id}: version {version} is in the ledger and not in the book"

    def _hash(self, written: Written) -> bytes:
        return content_hash(self._secret, written.type, written.audience, written.body)


def checked(
    type_: str, id: UUID, owner: Owner, audience: Audience, version: int, recorded_at: int, body: str
) -> Record:
    """Return the record of a row with every field checked; raise ValueError if the row is no record."""
    fields = json.loads(body)
    if type_ not in CLASS_OF or not isinstance(fields, dict):
        raise ValueError(f"the type {type_} is unknown, or the content is no JSON object")
    known = {
        "id": id,
        "owner": owner,
        "audience": audience,
        "version": version,
        "recorded_at": moment(recorded_at),
    }
    return CLASS_OF[type_].model_validate({**fields, **known})


def misplaced(row: StoredRow, record: Record, secret: bytes) -> Iterator[str]:
    """Yield the columns of a row that differ from the record's content."""
    meant = encode(record, secret)
    columns = ["slot", "kind", "status", "at", "valid_from", "valid_to", "facets"]
    if isinstance(record, Message):
        columns += ["thread", "seq"]
    for column in columns:
        if getattr(row, column) != getattr(meant, column):
            yield f"{row.type} {record.id}: its {column} stands otherwise than its content says"
