"""Erases records, everything derived only from them, and what the book stores about them; or
everything of one owner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.errors import NotFound, Stale
from memoranda.model.changes import FINISH_FORGETTING, FORM, JobDraft
from memoranda.model.items import Item
from memoranda.model.ledger import (
    REDACTED,
    Actor,
    Entry,
    ErasureReceipt,
    Erasures,
    Line,
    SeenErasure,
    Target,
    Verb,
)
from memoranda.model.messages import Message
from memoranda.model.records import WHOLE, Owner, Record
from memoranda.model.redactions import Redaction, joined, load_redactions
from memoranda.model.values import keyed
from memoranda.storage.decide.erasure_plan import ErasurePlan, departure, plan_erasure
from memoranda.storage.decide.hide import plan_hidden
from memoranda.storage.decide.state import Put, held_gain, item_gain, load_erasable
from memoranda.storage.decide.wide_erasures import plan_ageing, plan_whole_erasure
from memoranda.storage.questions import Base, EntriesAfter, ErasedAmong, PositionsTouching, Secret
from memoranda.storage.rows import encode
from memoranda.storage.upkeep_questions import (
    AllRecords,
    Belongings,
    CountFilled,
    JobsAbout,
    OwnersOfEras,
    OwnersOfRecords,
    OwnJobs,
)
from memoranda.storage.use_case import Deciding, OwnerBase, Write, ask
from memoranda.storage.use_cases.costs import unname_spending
from memoranda.storage.use_cases.hidden_jobs import ended_jobs
from memoranda.storage.use_cases.restriction_checks import is_left_alone
from memoranda.storage.use_cases.vector_sets import new_terms
from memoranda.storage.writes import (
    BlankVersions,
    Bury,
    DropJobs,
    EndEra,
    ForgetKept,
    Leaving,
    PutJob,
    RemoveRecords,
    Reword,
    ScrubDigests,
    ScrubLedger,
    SilenceJobs,
    StoreRecords,
)
from memoranda.text.terms import RULE

#: Returns what an engine writes with an erasure, given its time and the erasure that earlier copies
#: of the book lack. That is empty for a removal by age, which copies need not repeat.
Upkeep = Callable[[Erasures, datetime], Sequence[Write]]

#: Ledger entries that are read at a time.
_ENTRIES = 1000


@dataclass(frozen=True, slots=True)
class _Loss:
    """The records that one owner loses by an erasure, and those that lose a source."""

    base: OwnerBase
    erased: dict[UUID, Record]
    stripped: dict[UUID, Record]
    #: The ledger entries that changed any of these; None: all that the owner has.
    positions: Sequence[int] | None
    #: Record → the pairs of a group of unlisted sources and a source that leaves it.
    unlinked: Mapping[UUID, Sequence[tuple[UUID, UUID]]]
    #: Those of ``stripped`` that lose words of their own.
    redacted: frozenset[UUID]
    #: The passages whose words change, each with its engine's key and its new terms.
    reworded: Sequence[tuple[Any, bytes]]


def erase(target: Target, at: datetime, upkeep: Upkeep) -> Deciding[ErasureReceipt]:
    """Erase a target, and all records that have no other source.

    Raise ``NotFound`` for an id that is not there for the view, unless its record was erased from
    this owner's ledger before.
    """
    base = yield from ask(Base(target.owner))
    if base.era is None or is_left_alone(base, target):
        _refuse_unknown(() if target.ageing or base.era is not None else target.ids)
        return ErasureReceipt(target.owner, at, {}, (), "planned" if target.dry_run else "complete")
    plan = yield from _plan(target)
    repeated: tuple[UUID, ...] = ()
    if plan.unknown and not target.ageing:
        before = yield from _erased_before(plan.unknown)
        repeated = tuple(id for id in dict.fromkeys(plan.unknown) if id in before)
        _refuse_unknown([id for id in plan.unknown if id not in before])
    removed: Counter[str] = Counter()
    seen = yield from _seen(base, target, plan)
    _refuse_unexpected(target, plan)
    if target.dry_run:
        removed.update(record.type.value for record in plan.doomed.values())
        removed.update(plan.parts())
    elif plan.doomed or plan.aged or plan.stripped or target.everything:
        removed = yield from _carry_out(base, target, plan, at, upkeep)
    return ErasureReceipt(
        owner=target.owner,
        at=at,
        removed=dict(+removed),
        seen=seen,
        kept=tuple(plan.stripped),
        state="planned" if target.dry_run else "complete",
        repeated=repeated,
        ids=tuple(plan.doomed),
        era=base.era if target.everything else None,
        superseded=tuple(plan.superseded),
        redacted=plan.redacted(),
        left=dict(plan.stripped) if target.dry_run else {},
    )


def _seen(base: OwnerBase, target: Target, plan: ErasurePlan) -> Deciding[SeenErasure | None]:
    """Return the part of the erasure that the target's view may see; None if that is all."""
    if target.view.whole:
        return None
    older = yield from load_erasable(plan.superseded)

    def those(records: dict[UUID, Record]) -> dict[UUID, Record]:
        return {
            id: record
            for id, record in records.items()
            if record.owner == target.owner and record.audience.readable_by(target.view)
        }

    part = replace(plan, doomed=those(plan.doomed), stripped=those(plan.stripped))
    superseded = tuple(those(older))
    whole = (len(plan.doomed), len(plan.stripped), len(plan.superseded))
    if whole == (len(part.doomed), len(part.stripped), len(superseded)):
        return None
    removed = Counter(record.type.value for record in part.doomed.values())
    yield from _loss(base, part, removed)
    yield from _jobs(part, (), removed, target.hidden)
    return SeenErasure(dict(+removed), tuple(part.stripped), tuple(part.doomed), superseded)


def _refuse_unexpected(target: Target, plan: ErasurePlan) -> None:
    """Raise ``Stale`` if other records would go than those that were shown, as far as the view may
    see them.
    """
    if target.expected is None:
        return
    visible = {
        id
        for id, record in plan.doomed.items()
        if target.view.whole
        or (record.owner == target.owner and record.audience.readable_by(target.view))
    }
    if visible != target.expected:
        changed = ", ".join(sorted(map(str, visible ^ target.expected)))
        raise Stale(
            f"plan: what was shown has changed since, and nothing was forgotten: {changed}; look again, then decide"
        )


def _erased_before(ids: Sequence[UUID]) -> Deciding[frozenset[UUID]]:
    """Return those of the ids whose records were erased from this owner's present ledger."""
    left = set((yield from ask(ErasedAmong(tuple(ids)))))
    found: set[UUID] = set()
    after = 0
    # Another owner's tombstones tell nothing here, so the owner's own ledger must name the id, too.
    while left and (entries := (yield from ask(EntriesAfter(after, _ENTRIES)))):
        erased = {line.id for entry in entries for line in entry.lines if line.erased} & left
        found |= erased
        left -= erased
        after = entries[-1].position
    return frozenset(found)


def _refuse_unknown(ids: Sequence[UUID]) -> None:
    if ids:
        named = ", ".join(str(id) for id in ids)
        raise NotFound(
            f"ids: this view sees no record {named}, and nothing was forgotten: check the owner and the ids, or name "
            "the agent that wrote it (the person sees everything with as_owner=True)"
        )


def _plan(target: Target) -> Deciding[ErasurePlan]:
    if target.everything:
        records = {record.id: record for record in (yield from ask(AllRecords()))}
        return (yield from plan_whole_erasure(target.owner, target.view, records))
    if target.ageing:
        return (yield from plan_ageing(target.view, target.ids))
    if target.hidden:
        return (yield from plan_hidden(target.view, target.actor, target.hidden))
    return (
        yield from plan_erasure(
            target.view, target.actor, target.ids, target.redactions, target.emptied
        )
    )


def _lacked_by_copies(era: UUID, target: Target, plan: ErasurePlan) -> Erasures:
    if target.ageing:
        return Erasures()
    if target.everything:
        return Erasures((era,))
    return Erasures((), (*plan.doomed, *plan.aged), plan.redacted())


def _carry_out(
    base: OwnerBase, target: Target, plan: ErasurePlan, at: datetime, upkeep: Upkeep
) -> Deciding[Counter[str]]:
    """Write what each owner loses, the target's owner first; returns how many rows are removed of
    each kind.
    """
    assert base.era is not None
    removed = Counter(record.type.value for record in plan.doomed.values())
    removed.update(plan.parts())
    own = yield from _loss(base, plan, removed, whole=target.everything)
    own_jobs = (yield from ask(OwnJobs())) if target.everything else ()
    jobs = yield from _jobs(plan, own_jobs, removed, target.hidden)
    # Agents who had learnt from these records, and tenants with keys.
    owners = {record.owner for record in (*plan.doomed.values(), *plan.stripped.values())} - {
        target.owner
    }
    others = []
    for owner in sorted(owners, key=lambda owner: owner.parts):
        others.append((yield from _loss((yield from ask(Base(owner))), plan, removed)))
    if target.everything:
        removed["names on spending"] += yield from unname_spending(base)
    yield from _take_away(own, at)
    yield from _bury(base.secret, (*(() if target.ageing else plan.doomed), *plan.aged), at)
    yield from jobs
    for thread in plan.unsummarised:
        yield PutJob(base, JobDraft(FORM, str(thread), records=(thread,), keeps_payload=True), at)
    position = base.position + 1 + bool(own.stripped)
    yield StoreRecords(base, (), (), _entry(base.era, position, target, plan, removed, at))
    if target.everything:
        yield EndEra(base, at)
    yield from upkeep(_lacked_by_copies(base.era, target, plan), at)
    for other in others:
        yield from _take_away(other, at)
    return removed


def _loss(
    base: OwnerBase, plan: ErasurePlan, removed: Counter[str], *, whole: bool = False
) -> Deciding[_Loss]:
    erased, stripped = (
        {id: record for id, record in records.items() if record.owner == base.owner}
        for records in (plan.doomed, plan.stripped)
    )
    touched = (*erased, *stripped)
    positions = (yield from ask(PositionsTouching(touched))) if touched and not whole else ()
    removed["ledger contents"] += base.position if whole else len(positions)
    if erased:
        removed.update((yield from ask(Belongings(tuple(erased)))))
    if stripped:
        removed["versions"] += len(stripped) + (yield from ask(CountFilled(tuple(stripped))))
    unlinked = {id: plan.unlinked(record) for id, record in stripped.items()}
    redacted = [plan.removed[id] for id in stripped if id in plan.removed]
    reworded = yield from new_terms(one.left for one in redacted if one.is_found_by_others)
    # A message or an item loses nothing but words of its own.
    remade = {one.message for one in plan.remade}
    ids = frozenset(
        id
        for id, r in stripped.items()
        if id in plan.removed or id in remade or isinstance(r, Message | Item)
    )
    return _Loss(base, erased, stripped, None if whole else positions, unlinked, ids, reworded)


def _take_away(loss: _Loss, at: datetime) -> Deciding[None]:
    base = loss.base
    if loss.positions is None:
        yield ScrubLedger(base)
    elif loss.positions:
        yield ScrubDigests(
            base, tuple(loss.erased), tuple(loss.stripped), loss.positions, loss.redacted
        )
    if loss.stripped:
        yield from _strip(loss, at)
    if loss.erased:
        leaving = [Leaving(r.id, r.type, r.version, r.audience) for r in loss.erased.values()]
        gain = sum(held_gain(record, None) for record in loss.erased.values())
        items = sum(item_gain(record, None) for record in loss.erased.values())
        yield RemoveRecords(base, leaving, gain, items)


def _strip(loss: _Loss, at: datetime) -> Deciding[None]:
    """Store remaining records without erased sources, and empty their earlier versions, which may
    quote them.
    """
    base, records = loss.base, loss.stripped.values()
    puts = [
        Put(
            r.changed(version=r.version + 1, recorded_at=at),
            r,
            Verb.REDACT if r.id in loss.redacted else Verb.UNSOURCE,
            unlinked=loss.unlinked[r.id],
        )
        for r in records
    ]
    rows = [encode(put.record, base.secret) for put in puts]
    lines = tuple(
        Line(
            put.verb,
            put.record.type,
            put.record.id,
            put.record.version - 1,
            put.record.version,
            row.hash,
        )
        for put, row in zip(puts, rows, strict=True)
    )
    assert base.era is not None
    entry = Entry(None, base.era, base.position + 1, at, Actor("system"), lines)
    yield StoreRecords(base, puts, rows, entry, relink=True)
    yield BlankVersions(base, [record.id for record in records])
    if loss.reworded:
        yield Reword(RULE, loss.reworded, at)


def _entry(
    era: UUID, position: int, target: Target, plan: ErasurePlan, removed: Counter[str], at: datetime
) -> Entry:
    """Return the ledger entry of an erasure."""
    counted = {"removed": dict(+removed)}
    if target.everything:
        actor = Actor(target.actor.kind)
        return Entry(None, era, position, at, actor, (), note={**counted, "everything": True})
    lines, note = departure(plan, target.owner, ageing=target.ageing)
    return Entry(None, era, position, at, target.actor, lines, note={**counted, **note})


def _bury(secret: bytes, ids: Iterable[UUID], at: datetime) -> Deciding[None]:
    digests = [keyed(secret, "record", id.bytes) for id in ids]
    if digests:
        yield Bury(digests, at)


def _jobs(
    plan: ErasurePlan, own: Iterable[bytes], removed: Counter[str], finished: int
) -> Deciding[list[Write]]:
    """Return the deletion of jobs about erased records; jobs of a thread that loses some stay, and
    quote nothing.
    """
    erased = {id.bytes for id in plan.doomed}
    losing = {id.bytes for id in plan.losing_threads()}
    # Stripped records, too, were read whole before.
    read = erased | {id.bytes for id in plan.stripped}
    ids = tuple(UUID(bytes=id) for id in sorted(read | losing))
    about = (yield from ask(JobsAbout(ids))) if ids else []
    kept = {job.id for job in about if job.kept is not None and not read.isdisjoint(job.kept[0])}
    dropped = yield from ended_jobs(about, erased, finished)
    dropped |= {
        job.id
        for job in about
        if job.kind != FINISH_FORGETTING and not erased.isdisjoint(job.records)
    }
    gone = dropped.union(own)
    silent = {
        job.id
        for job in about
        if job.error
        and job.id not in gone
        and (job.id in kept or not losing.isdisjoint(job.records))
    }
    removed.update({"kept answers": len(kept), "jobs": len(gone), "errors of jobs": len(silent)})
    writes = ((ForgetKept, kept), (DropJobs, dropped), (SilenceJobs, silent))
    return [write(sorted(ids)) for write, ids in writes if ids]


def erased_by(
    eras: Iterable[UUID], entries: Iterable[tuple[Sequence[Line], Mapping[str, Any]]]
) -> Erasures:
    """Return the eras that were ended, and what entries of the ledger, by their lines and notes,
    say was erased.
    """
    records: dict[UUID, None] = {}
    redactions: list[Redaction] = []
    for lines, note in entries:
        records |= dict.fromkeys(line.id for line in lines if line.verb is Verb.ERASE)
        # An import may bring a note that no book wrote.
        with suppress(ValueError, TypeError, AttributeError):
            redactions += load_redactions(note.get(REDACTED, ()))
    left = tuple(one for one in joined(redactions) if one.message not in records)
    return Erasures(tuple(eras), tuple(records), left)


def lacking_erasures(past: Erasures) -> Deciding[list[Target]]:
    """Return the targets whose erasure from a copy removes what its original has erased, as far as
    the copy has it.
    """
    owners = yield from ask(OwnersOfEras(past.eras))
    erased, changed = frozenset(past.records), dict[UUID, list[Redaction]]()
    for one in past.redactions:
        if one.message not in erased:
            changed.setdefault(one.message, []).append(one)
    of = yield from ask(OwnersOfRecords((*past.records, *changed)))
    ids: dict[Owner, list[UUID]] = {}
    for id, owner in of.items():
        if owner not in owners:
            ids.setdefault(owner, []).append(id)
    system = Actor("system")
    whole = [Target(owner, WHOLE, system, everything=True) for owner in owners]
    return whole + [
        Target(
            owner,
            WHOLE,
            system,
            tuple(id for id in some if id not in changed),
            redactions=tuple(one for id in some for one in changed.get(id, ())),
        )
        for owner, some in ids.items()
    ]


def bury(ids: Iterable[UUID], at: datetime) -> Deciding[None]:
    """Store that these records were erased, so that they are never imported again, also those that
    were never here.
    """
    yield from _bury((yield from ask(Secret())), ids, at)
