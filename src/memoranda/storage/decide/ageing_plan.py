"""Plans the removal of records by their age, which leaves everything that was derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoranda.errors import NotAllowed
from memoranda.model.messages import Episode, Message, Overflow, Thread
from memoranda.model.records import View
from memoranda.storage.decide.erasure_plan import ErasurePlan
from memoranda.storage.decide.state import load_all
from memoranda.storage.questions import InThread, RestingOn
from memoranda.storage.use_case import Deciding, ask


def plan_ageing(view: View, ids: tuple[UUID, ...]) -> Deciding[ErasurePlan]:
    """Plan the removal of old messages that are formed (turned into facts) already, of episodes, and of empty threads.

    What was derived from them stays.
    """
    if not view.whole:
        raise NotAllowed("only the owner's own view (view='owner') may remove messages by age")
    plan = ErasurePlan()
    records = yield from load_all(ids)
    said = {id: record for id, record in records.items() if isinstance(record, Message)}
    threads = yield from load_all(message.thread for message in said.values())
    overflows = yield from _overflows([id for id, one in records.items() if isinstance(one, Episode)])
    for id in dict.fromkeys(ids):
        if isinstance(records.get(id), Episode):
            plan.doomed |= {id: records[id], **{one.id: one for one in overflows if one.episode == id}}
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
