"""Restricted processing: it is set, lifted and read, and what it refuses is checked within each
write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memoranda.errors import Restricted
from memoranda.model.book_rows import ReadPiece, RestrictionRow
from memoranda.model.changes import Batch, Change, Hide, Import, JobState, RevokeKey, SetThread
from memoranda.model.ledger import Target
from memoranda.model.records import WITH_EXPIRED, Owner
from memoranda.model.service_records import Appends, ReadNote, Restriction
from memoranda.model.values import micros, moment, owner_digest
from memoranda.model.vectors import embed_job
from memoranda.storage.questions import FindOwner, Secret
from memoranda.storage.service_questions import (
    LiftRestriction,
    PutReads,
    PutRestrictions,
    RestrictionRows,
)
from memoranda.storage.upkeep_questions import JobAt, OwnJobs, Sets
from memoranda.storage.use_case import Deciding, OwnerBase, ask
from memoranda.storage.use_cases.jobs import given_back
from memoranda.storage.use_cases.read_lines import note_reads
from memoranda.storage.writes import PutJob

#: Changes that are made also while processing is restricted: what is forgotten first disappears,
#: and a key can be withdrawn.
_ALWAYS = (Hide, RevokeKey)
#: The line about a restriction, with its id.
Noted = Sequence[tuple[UUID, ReadNote]]


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


def restrict(
    owner: Owner, appends: Appends, note: Noted, since: datetime | None
) -> Deciding[Restriction]:
    """Restrict the processing of an owner's data, and take leases away from the owner's jobs; the
    first moment stays.

    ``since``: it comes with an import, which changes no restriction that is here.
    """
    base = yield from ask(FindOwner(owner))
    before = yield from restriction(owner)
    if before is not None and since is not None:
        return before
    made = Restriction((since or note[0][1].at) if before is None else before.at, appends)
    yield PutRestrictions(
        [(owner_digest(base.secret, owner.parts), micros(made.at), appends.value)]
    )
    yield from note_reads(note)
    if base.era is not None:
        for id in (yield from ask(OwnJobs())):
            row = yield from ask(JobAt(UUID(bytes=id)))
            if row is not None and row.piece.state == JobState.LEASED:
                # The worker finds that it lost the lease, so that the job is there when the
                # restriction is lifted.
                yield given_back(row)
    return made


def unrestrict(owner: Owner, note: Noted) -> Deciding[bool]:
    """Lift the restriction of an owner; False if there is none. Vectors that are missing are made
    again.
    """
    if (yield from restriction(owner)) is None:
        return False
    secret = yield from ask(Secret())
    yield LiftRestriction(owner_digest(secret, owner.parts))
    yield from note_reads(note)
    for found in (yield from ask(Sets())):
        yield PutJob(None, embed_job(found.set.name), note[0][1].at)
    return True


def adopt_restrictions(
    rows: Sequence[RestrictionRow], lines: Sequence[ReadPiece]
) -> Deciding[None]:
    """Add restrictions of another book, and the lines about them; those that are here stay."""
    here = {row[0] for row in (yield from ask(RestrictionRows(None)))}
    yield PutRestrictions([row for row in rows if row[0] not in here])
    yield PutReads(lines)


def while_restricted(base: OwnerBase, batch: Batch) -> Batch:
    """Return the batch as it may be stored; raise ``Restricted`` if the owner's processing is
    restricted and it may not.

    What is kept unread archives no memory: at a limit it is refused. An import is kept unread, with
    its waiting jobs.
    """
    if base.restricted is None or all(isinstance(change, _ALWAYS) for change in batch.changes):
        return batch
    kept = base.restricted is Appends.KEEP_UNREAD and batch.actor.kind != "system"
    # What an agent learns is read for others.
    kept = kept and batch.also is None
    if kept or all(map(_is_brought, batch.changes)):
        return replace(batch, limits=batch.limits.model_copy(update={"at_capacity": "reject"}))
    raise Restricted(
        "owner: the processing of this owner's data is restricted, and nothing new is stored; "
        "export and forget are possible, and unrestrict lifts it"
    )


def _is_brought(change: Change) -> bool:
    """True if a change is part of an import: a record that was stored elsewhere, or a thread that
    only gets a job.
    """
    return isinstance(change, Import) or (isinstance(change, SetThread) and not change.fields)


def is_left_alone(base: OwnerBase, target: Target) -> bool:
    """True if upkeep asks for this erasure, and the owner's processing is restricted."""
    by_upkeep = target.ageing or bool(target.hidden) or target.view == WITH_EXPIRED
    return base.restricted is not None and target.actor.kind == "system" and by_upkeep
