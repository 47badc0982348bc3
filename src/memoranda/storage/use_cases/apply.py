"""Applies a batch: recognises a repeated operation, decides the changes, and writes them with their
ledger entry, together with what it changes of other owners.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from memoranda.errors import NotAllowed
from memoranda.model.changes import Batch, Change, Import, JobDraft, Undo
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.ledger import (
    ALSO,
    HIDDEN,
    OPERATION,
    Actor,
    Entry,
    Receipt,
    ReceiptItem,
    also_of,
)
from memoranda.model.memories import searched_text
from memoranda.model.profiles import Key
from memoranda.model.records import Owner
from memoranda.model.values import new_id
from memoranda.storage.decide.batch import decide_batch
from memoranda.storage.decide.redaction import Redactable
from memoranda.storage.decide.state import (
    Decision,
    OperationDigests,
    Put,
    actors_operation,
    held_gain,
    item_gain,
    operation_of,
    receipt_of,
    refuse_old_era,
    repeated,
)
from memoranda.storage.questions import Applied, Base, ByOperation, EntriesAt, FindOwner, Secret
from memoranda.storage.rows import encode
from memoranda.storage.upkeep_questions import JobsAbout, OwnersOfRecords
from memoranda.storage.use_case import Deciding, ask
from memoranda.storage.use_cases.hidden_jobs import hidden_jobs
from memoranda.storage.use_cases.restriction_checks import while_restricted
from memoranda.storage.use_cases.vector_sets import new_terms
from memoranda.storage.writes import DropJobs, ForgetKept, PutJob, Reserve, Reword, StoreRecords
from memoranda.text.terms import RULE


def apply_batch(batch: Batch, new_era: UUID) -> Deciding[Receipt]:
    """Apply a batch; ``new_era`` is the id of the owner's era if the owner has none."""
    # Asked first, so that a repeated operation waits for the first one to end.
    base = yield from ask(Base(batch.owner))
    operation = None
    if batch.operation is not None:
        operation, found = yield from _applied(
            base.secret, batch.owner, batch.operation, batch.request, batch.actor
        )
        if found is not None:
            receipt = repeated(found.entry, batch.owner, operation, ended=found.ended)
            return (yield from _with_others(receipt, found.entry))
    refuse_old_era(batch.era, base.era)
    if base.restricted is not None:
        batch = while_restricted(base, batch)
    decision = yield from decide_batch(batch)
    others = [batch.also] if batch.also else (yield from _undone_too(batch, decision))
    nothing = Receipt(batch.owner, 0, batch.at, (), tuple(decision.ignored))
    if not decision.puts and not decision.jobs and operation is None and not others:
        # Nothing is stored, not even the name of a new owner.
        return nothing
    base.era = base.era or new_era
    # The ledger entry names the other owners.
    named = _named_by(decision.puts).union(owner for owner, _ in others)
    if any(isinstance(change, Import) for change in batch.changes):
        named |= yield from _owners_of_sources(decision.puts)
    for owner in sorted(named - {batch.owner}, key=lambda owner: owner.parts):
        yield Reserve(owner, base)
    # Asked before anything is written.
    reworded = yield from _reworded(decision.puts)
    kept = (yield from _answers_about(decision.puts)) if HIDDEN in decision.note else []
    # Most operations hide nothing and undo nothing.
    waiting, ended = (
        (yield from hidden_jobs(batch, decision, base.position + 1)) if decision.note else ([], [])
    )
    for draft in _once_each((*decision.jobs, *waiting)):
        yield PutJob(base, draft, batch.at)
    if ended:
        yield DropJobs(ended)
    # The questions after this are about other owners.
    also, items, ignored = [], list[ReceiptItem](), list(decision.ignored)
    for owner, changes in others:
        theirs = yield from apply_batch(batch.beside(owner, changes), new_id())
        also += [[owner.kind.value, owner.id, theirs.position]] if theirs.position else []
        items += theirs.items
        ignored += [replace(one, item=one.item + len(batch.changes)) for one in theirs.ignored]
    if not decision.puts and operation is None and not others:
        return nothing
    note = {**decision.note, ALSO: also} if also else decision.note
    rows = [encode(put.record, base.secret) for put in decision.puts]
    entry = Entry(
        batch.owner,
        base.era,
        base.position + 1,
        batch.at,
        batch.actor,
        decision.lines(row.hash for row in rows),
        tuple(ignored),
        note if operation is None else {**note, OPERATION: _hex(operation.portable)},
        None if operation is None else operation.id,
        None if operation is None else operation.request,
    )
    gain = sum(held_gain(put.before, put.record) for put in decision.puts)
    more = sum(item_gain(put.before, put.record) for put in decision.puts)
    yield StoreRecords(base, decision.puts, rows, entry, decision.tails, gain, more)
    if reworded:
        yield Reword(RULE, reworded, batch.at)
    if kept:
        yield ForgetKept(kept)
    receipt = receipt_of(entry, batch.owner)
    return replace(receipt, items=(*receipt.items, *items)) if items else receipt


def _undone_too(
    batch: Batch, decision: Decision
) -> Deciding[Sequence[tuple[Owner, tuple[Change, ...]]]]:
    """Return the changes that undo what the operations that this one undoes changed of other
    owners.
    """
    undoes = decision.note.get("undoes")
    entries = (yield from ask(EntriesAt(tuple(undoes)))) if undoes else ()
    found = [
        (owner, (Undo(position, applied_at=entry.at),))
        for entry in entries
        for owner, position in also_of(entry, batch.owner.tenant)
    ]
    allowed = all(change.others for change in batch.changes if isinstance(change, Undo))
    for owner, _ in found:
        if not allowed or batch.view.agent not in (None, owner.id):
            raise NotAllowed(
                f"position: the operation also taught {owner}, which serves all users; undo it with a credential that opens "
                "all of them, as that agent or without one"
            )
    return found


def _with_others(receipt: Receipt, entry: Entry) -> Deciding[Receipt]:
    """Return an operation's receipt with what it changed of other owners, as far as they are still
    there.
    """
    items = list(receipt.items)
    for owner, position in also_of(entry, receipt.owner.tenant):
        yield from ask(FindOwner(owner))
        for theirs in (yield from ask(EntriesAt((position,)))):
            # After an erasure of the owner the positions begin again.
            items += receipt_of(theirs, owner).items if theirs.at == entry.at else ()
    return replace(receipt, items=tuple(items))


def _reworded(puts: Iterable[Put]) -> Deciding[Sequence[tuple[Any, bytes]]]:
    """Return the new terms of passages whose words a batch changes, each with its engine's key."""
    changed = [
        put.record
        for put in puts
        if put.before is not None
        and isinstance(put.record, Redactable)
        and searched_text(put.before) != searched_text(put.record)
    ]
    return (yield from new_terms(changed)) if changed else ()


def _answers_about(puts: Iterable[Put]) -> Deciding[list[bytes]]:
    """Return the jobs that keep an answer of a model that was made from records which are hidden
    now.
    """
    ids = {put.record.id for put in puts}
    about = yield from ask(JobsAbout(tuple(ids)))
    raw = {id.bytes for id in ids}
    return sorted(
        job.id for job in about if job.kept is not None and not raw.isdisjoint(job.kept[0])
    )


def preview_batch(batch: Batch) -> Deciding[Receipt]:
    """Decide a batch and return the receipt of what it would do; nothing is written."""
    batch = while_restricted((yield from ask(FindOwner(batch.owner))), batch)
    decision = yield from decide_batch(batch)
    lines = decision.lines(b"" for _ in decision.puts)
    items = tuple(ReceiptItem(line.verb, line.type, line.id, line.after) for line in lines)
    return Receipt(batch.owner, 0, batch.at, items, tuple(decision.ignored), dry_run=True)


def _hex(digests: Iterable[bytes]) -> list[str]:
    return [digest.hex() for digest in digests]


def _named_by(puts: Iterable[Put]) -> set[Owner]:
    """Return the owners that records name: whose data experience was learnt from, and whom keys
    open.
    """
    found: set[Owner] = set()
    for put in puts:
        if isinstance(put.record, ExperienceLine):
            found.update(part.owner for part in put.record.evidence)
        elif isinstance(put.record, Key):
            found.update(put.record.names())
    return found


def _owners_of_sources(puts: Iterable[Put]) -> Deciding[set[Owner]]:
    """Return the owners of the sources of imported records; only an import may have sources of
    another owner.
    """
    ids = {id for put in puts for id in put.record.rests_on()} - {put.record.id for put in puts}
    return set((yield from ask(OwnersOfRecords(tuple(sorted(ids))))).values()) if ids else set()


def _once_each(drafts: Iterable[JobDraft]) -> Iterable[JobDraft]:
    """Join the drafts of one kind and key: the last one counts, and it insists if any of them
    does.
    """
    joined: dict[tuple[str, str], JobDraft] = {}
    for draft in drafts:
        earlier = joined.get((draft.kind, draft.key))
        insists = draft.insists or (earlier is not None and earlier.insists)
        joined[draft.kind, draft.key] = (
            draft if insists == draft.insists else replace(draft, insists=True)
        )
    return joined.values()


def _applied(
    secret: bytes, owner: Owner, operation: str, request: bytes, actor: Actor | None
) -> Deciding[tuple[OperationDigests, Applied | None]]:
    """Return the digests of an operation id as this actor uses it, and the entry that has them, if
    there is one.
    """
    digests = operation_of(secret, owner, operation, request)
    found = yield from ask(ByOperation(digests.id, digests.brought_id))
    if actor is None or found is None or found.ended or found.entry.actor == actor:
        return digests, found
    # An id is known to whoever used it, and to nobody else.
    digests = operation_of(secret, owner, actors_operation(operation, actor), request)
    return digests, (yield from ask(ByOperation(digests.id, digests.brought_id)))


def find_operation(
    owner: Owner, operation: str, by: Actor | None = None
) -> Deciding[Receipt | None]:
    """Return the receipt of an operation that was applied before; None if it never was, or its
    owner was erased.

    With ``by`` only an operation of this actor is found.
    """
    _, found = yield from _applied((yield from ask(Secret())), owner, operation, b"", by)
    if found is None or found.ended:
        return None
    return (yield from _with_others(receipt_of(found.entry, owner, repeated=True), found.entry))
