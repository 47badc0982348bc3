"""Operation ids: recognise a repeated request and return its first receipt."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memoranda.errors import Erased, OperationReused
from memoranda.model.asking import Usage
from memoranda.model.changes import Batch
from memoranda.model.digests import keyed
from memoranda.model.ledger import USED, Entry, Receipt, ReceiptItem
from memoranda.model.owner import Owner, owner_digest_parts


@dataclass(frozen=True, slots=True)
class OperationDigests:
    """The digests of an operation id and its request; both are None if no id was given."""

    id: bytes | None
    request: bytes | None


def operation_digest(secret: bytes, owner: Owner, operation: str) -> bytes:
    """Return the keyed digest of an operation id, which reveals nothing without the book's secret."""
    return keyed(secret, "operation", owner_digest_parts(owner), operation.encode())


def operation_of(secret: bytes, batch: Batch) -> OperationDigests:
    """The digests of a batch's operation."""
    if batch.operation is None:
        return OperationDigests(None, None)
    return OperationDigests(
        operation_digest(secret, batch.owner, batch.operation), keyed(secret, "request", batch.request)
    )


def repeated(entry: Entry, owner: Owner, operation: OperationDigests, *, ended: bool) -> Receipt:
    """Return the first receipt of a repeated operation; raise an error if it may not be repeated."""
    if ended:
        raise Erased("this operation was applied before its owner was erased; it cannot be applied again")
    if entry.request != operation.request:
        raise OperationReused("this operation id belongs to another request; use a new id for a new request")
    if entry.lines and all(line.erased for line in entry.lines):
        raise Erased("what this operation wrote was forgotten; it cannot be written again")
    return receipt_of(entry, owner, repeated=True)


def receipt_of(entry: Entry, owner: Owner, *, repeated: bool = False) -> Receipt:
    """Return the receipt of an entry; it is the same for the first request and every repetition."""
    items = tuple(ReceiptItem(line.verb, line.type, line.id, line.after, line.erased) for line in entry.lines)
    used = Usage.model_validate(entry.note[USED]) if USED in entry.note else Usage()
    return Receipt(owner, entry.position, entry.at, items, entry.ignored, usage=used, repeated=repeated)


def refuse_old_era(wanted: UUID | None, era: UUID | None) -> None:
    """Refuse work that was begun before its owner was erased."""
    if wanted is not None and wanted != era:
        raise Erased(
            "this work began before its owner's records were erased; it is stopped. Begin again if it is still wanted"
        )
