"""Restricted processing: it is set, lifted and read, and what it refuses is checked within each write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memoranda.errors import Restricted
from memoranda.model.beside.service_records import Appends, Restriction
from memoranda.model.changes import Batch, Hide, JobState, RevokeKey
from memoranda.model.ledger import Target
from memoranda.model.records import WITH_EXPIRED, Owner
from memoranda.model.values import micros, moment, owner_digest
from memoranda.model.vectors import embed_job
from memoranda.storage.questions import FindOwner, Secret
from memoranda.storage.service_questions import LiftRestriction, PutRestrictions, RestrictionRows
from memoranda.storage.upkeep_questions import JobAt, OwnJobs, Sets
from memoranda.storage.use_case import Deciding, OwnerBase, ask
from memoranda.storage.use_cases.jobs import given_back
from memoranda.storage.writes import PutJob

#: Changes that are made also while processing is restricted: what is forgotten first disappears, and a key can be withdrawn.
_ALWAYS = (Hide, RevokeKey)


def restriction(owner: Owner) -> Deciding[Restriction | None]:
    """Return the restriction of an owner; None if there is none."""
    return (yield from restrictions([owner]))[0]


def restrictions(owners: Sequence[Owner]) -> Deciding[list[Restriction | None]]:
    """Return the restriction of each owner, or None."""
    secret = yield from ask(Secret())
    digests = [owner_digest(secret, owner.parts) for owner in owners]
    found = {row[0]: row for row in (yield from ask(RestrictionRows(tuple(digests))))}
    return [_restriction_of(found[digest][1:]) if digest in found else None for digest in digests]


def _restriction_of(row: Sequence[object]) -> Restriction:
    at, mode = row
    return Restriction(moment(at), Appends.stored(str(mode)) or Appends.REFUSE)  # type: ignore[arg-type] # as stored


def restrict(owner: Owner, appends: Appends, at: datetime) -> Deciding[Restriction]:
    """Restrict the processing of an owner's data, and take leases away from the owner's jobs; the first moment stays."""
    base = yield from ask(FindOwner(owner))
    before = yield from restriction(owner)
    since = at if before is None else before.at
    yield PutRestrictions([(owner_digest(base.secret, owner.parts), micros(since), appends.value)])
    if base.era is not None:
        for id in (yield from ask(OwnJobs())):
            row = yield from ask(JobAt(UUID(bytes=id)))
            if row is not None and row.piece.state == JobState.LEASED:
                # The worker finds that it lost the lease, so that the job is there when the restriction is lifted.
                yield given_back(row)
    return Restriction(since, appends)


def unrestrict(owner: Owner, at: datetime) -> Deciding[bool]:
    """Lift the restriction of an owner; False if there is none. Vectors that are missing are made again."""
    if (yield from restriction(owner)) is None:
        return False
    secret = yield from ask(Secret())
    yield LiftRestriction(owner_digest(secret, owner.parts))
    for found in (yield from ask(Sets())):
        yield PutJob(None, embed_job(found.set.name), at)
    return True


def while_restricted(base: OwnerBase, batch: Batch) -> Batch:
    """Return the batch as it may be stored; raise ``Restricted`` if the owner's processing is restricted and it may not.

    What is kept unread evicts no memory: at a limit it is refused.
    """
    if base.restricted is None or all(isinstance(change, _ALWAYS) for change in batch.changes):
        return batch
    if base.restricted is Appends.KEEP_UNREAD and batch.actor.kind != "system":
        return replace(batch, limits=batch.limits.model_copy(update={"at_capacity": "reject"}))
    raise Restricted(
        "owner: the processing of this owner's data is restricted, and nothing new is stored; "
        "export and forget are possible, and unrestrict lifts it"
    )


def is_left_alone(base: OwnerBase, target: Target) -> bool:
    """True if upkeep asks for this erasure, and the owner's processing is restricted."""
    by_upkeep = target.ageing or bool(target.hidden) or target.view == WITH_EXPIRED
    return base.restricted is not None and target.actor.kind == "system" and by_upkeep
