"""Plans erasures that name no single record: of what is old, which leaves everything derived from
it, and of a whole owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoranda.errors import NotAllowed
from memoranda.model.experience_lines import ExperienceLine
from memoranda.model.messages import Episode, Message, Overflow, Thread
from memoranda.model.profiles import Key
from memoranda.model.records import Owner, Record, View
from memoranda.storage.damaged import Damaged
from memoranda.storage.decide.erasure_plan import ErasurePlan, spread
from memoranda.storage.decide.state import load_all
from memoranda.storage.questions import InThread, OtherHolders, RestingOn
from memoranda.storage.use_case import Deciding, ask


def plan_ageing(view: View, ids: tuple[UUID, ...]) -> Deciding[ErasurePlan]:
    """Plan the removal of old messages that are formed (turned into facts) already, of episodes,
    and of empty threads.

    What was derived from them stays.
    """
    if not view.whole:
        raise NotAllowed("only the owner's own view (as_owner=True) may remove messages by age")
    plan = ErasurePlan()
    records = yield from load_all(ids)
    said = {id: record for id, record in records.items() if isinstance(record, Message)}
    threads = yield from load_all(message.thread for message in said.values())
    overflows = yield from _overflows(
        [id for id, one in records.items() if isinstance(one, Episode)]
    )
    for id in dict.fromkeys(ids):
        if isinstance(records.get(id), Episode):
            plan.doomed |= {
                id: records[id],
                **{one.id: one for one in overflows if one.episode == id},
            }
            continue
        if isinstance(records.get(id), Thread) and not (yield from _has_messages(id)):
            plan.doomed[id] = records[id]
            continue
        message = said.get(id)
        thread = None if message is None else threads.get(message.thread)
        if message is None or not isinstance(thread, Thread) or message.seq > thread.formed_through:
            plan.unknown.append(id)
        else:
            plan.doomed[id] = message
    return plan


def _overflows(episodes: Sequence[UUID]) -> Deciding[list[Overflow]]:
    """Return the records that hold the further tool calls of these episodes."""
    resting = (yield from ask(RestingOn(tuple(episodes)))) if episodes else []
    return [one for one in resting if isinstance(one, Overflow)]


def _has_messages(thread: UUID) -> Deciding[bool]:
    ids = yield from ask(InThread(thread))
    return any(isinstance(one, Message) for one in (yield from load_all(ids)).values())


def plan_whole_erasure(
    owner: Owner, view: View, records: dict[UUID, Record]
) -> Deciding[ErasurePlan]:
    """Plan the erasure of a whole owner, including the owner's name in records of other owners."""
    if not view.whole:
        raise NotAllowed("only the owner's own view may forget everything; use as_owner=True")
    plan = ErasurePlan(doomed=dict(records))
    yield from spread(plan, [*plan.doomed])
    own = set(plan.doomed)
    for record in (yield from ask(OtherHolders())):
        _unname(plan, owner, record)
    yield from spread(plan, [id for id in plan.doomed if id not in own])
    return plan


def _unname(plan: ErasurePlan, owner: Owner, record: Record) -> None:
    """Remove an owner's name from a record of another owner."""
    # A damaged one may name the owner; nobody can use it.
    left_of_key = (
        record.without_owner(owner)
        if isinstance(record, Key) and owner in record.names()
        else record
    )
    if isinstance(record, Damaged) or left_of_key is None:
        plan.doomed[record.id] = record
    elif left_of_key is not record:
        plan.stripped[record.id] = left_of_key
    base = plan.stripped.get(record.id, record)
    if isinstance(base, ExperienceLine) and record.id not in plan.doomed:
        left = tuple(part for part in base.evidence if part.owner != owner)
        if base.evidence and not base.outlives(left):
            plan.stripped.pop(record.id, None)
            plan.doomed[record.id] = record
        elif len(left) < len(base.evidence):
            plan.stripped[record.id] = base.changed(evidence=left, past=())
