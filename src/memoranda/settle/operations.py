"""Operation ids: how a request that comes again is known, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.errors import Erased, OperationReused
from memoranda.model.changes import Batch
from memoranda.model.digests import keyed
from memoranda.model.ledger import Entry, Receipt, receipt_of
from memoranda.model.owner import Owner, owner_digest_parts


@dataclass(frozen=True, slots=True)
class Operation:
    """What the ledger keeps of an operation id and its request; both None where no id was given."""

    id: bytes | None
    request: bytes | None


def operation_digest(secret: bytes, owner: Owner, operation: str) -> bytes:
    """What the ledger keeps of an operation id; it tells nothing without the book's secret."""
    return keyed(secret, "operation", owner_digest_parts(owner), operation.encode())


def operation_of(secret: bytes, batch: Batch) -> Operation:
    """The digests of a batch's operation."""
    if batch.operation is None:
        return Operation(None, None)
    return Operation(
        operation_digest(secret, batch.owner, batch.operation), keyed(secret, "request", batch.request)
    )


def repeated(entry: Entry, owner: Owner, operation: Operation, *, ended: bool) -> Receipt:
    """The first receipt of an operation that was applied before; refused where it may not come again."""
    if ended:
        raise Erased("this operation was applied before its owner was erased; it does not come back")
    if entry.request != operation.request:
        raise OperationReused("this operation id belongs to another request; use a new id for a new request")
    if entry.lines and all(line.erased for line in entry.lines):
        raise Erased("what this operation wrote was forgotten; it does not come back")
    return receipt_of(entry, owner, repeated=True)
