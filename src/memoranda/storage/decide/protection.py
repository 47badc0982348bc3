"""Decides who reads a new statement, which statements lower trust leaves alone, and if an external
id is taken.
"""

from __future__ import annotations

from memoranda.errors import Conflict, InvalidInput, NotAllowed
from memoranda.model.changes import Remember
from memoranda.model.ledger import Actor
from memoranda.model.memories import Memory, MemoryStatus
from memoranda.model.messages import Episode
from memoranda.model.records import (
    EVERYONE,
    STRANGERS,
    Audience,
    Record,
    Trust,
    external_link,
    lowest,
    narrowest,
)
from memoranda.storage.decide.state import BatchState
from memoranda.storage.decide.strangers import is_from_strangers
from memoranda.storage.questions import EntriesAt, PositionsTouching, RestingOn
from memoranda.storage.use_case import Deciding, ask


def protected(state: BatchState, memory: Memory, trust: Trust) -> Deciding[bool]:
    """True if a statement with this trust may not take the place of an active memory that the view
    may see.

    Lower trust leaves alone what an operator or the person wrote and what is pinned; strangers also
    leave alone what rests on the user's words.
    """
    view = state.batch.view
    if view.whole or not memory.active or not memory.audience.readable_by(view):
        return False
    if is_persons_field(memory) and trust is not Trust.OPERATOR:
        return True
    if (yield from is_pinned_against(state.batch.actor, memory)):
        return True
    if lowest((memory.trust, trust)) is memory.trust:
        return False
    if memory.trust is Trust.OPERATOR or memory.pinned:
        return True
    if trust in STRANGERS and memory.trust is Trust.USER and memory.sources:
        return True
    return memory.agent is None and (yield from written_by_person(state, memory))


def is_persons_field(memory: Memory) -> bool:
    """True if a memory is what a person set in a profile: only people change it, whatever they say
    in a conversation.
    """
    return memory.pinned and memory.has_value and memory.trust is Trust.USER


def protected_from_act(state: BatchState, memory: Memory) -> Deciding[bool]:
    """True if a change that states nothing, such as a retraction, may not touch a memory; its
    author may.
    """
    agent = state.batch.view.agent
    own = agent is not None and memory.agent == agent
    if own and memory.trust is not Trust.OPERATOR and not is_persons_field(memory):
        return (yield from is_pinned_against(state.batch.actor, memory))
    return (yield from protected(state, memory, trust_of_act(state)))


def trust_of_act(state: BatchState) -> Trust:
    """Return the trust of a change that states none."""
    # A program acts for the operator, as far as its credential goes. What formation takes back, the
    # user took back.
    if state.batch.actor.kind == "system":
        return Trust.USER
    return lowest(
        (
            Trust.OPERATOR if state.batch.view.agent is None else Trust.ASSISTANT,
            state.batch.actor.trust,
        )
    )


def refuse_trust(state: BatchState, stated: Trust, *, of_user: bool = False) -> None:
    """Raise ``NotAllowed`` if a record claims more trust than its writer's credential has.

    ``of_user``: it is what the user said, or rests on that, which an agent may pass on with the
    user's trust.
    """
    most = state.batch.actor.trust
    if of_user and most is Trust.ASSISTANT:
        most = Trust.USER
    if lowest((stated, most)) is not stated:
        raise NotAllowed(
            f"trust: this credential may not state {stated.value!r} here; state {most.value!r} or less, or leave it out"
        )


def is_pinned_against(actor: Actor, memory: Memory) -> Deciding[bool]:
    """True if the person wrote or changed a pinned memory, and the actor's credential is one of an
    agent.
    """
    if not memory.pinned or actor.trust is not Trust.ASSISTANT:
        return False
    positions = yield from ask(PositionsTouching((memory.id,)))
    entries = (yield from ask(EntriesAt(tuple(sorted(positions))))) if positions else []
    return any(entry.actor.kind == "owner" for entry in entries)


def written_by_person(state: BatchState, memory: Memory) -> Deciding[bool]:
    """True if the ledger says that the person wrote a memory."""
    if state.made(memory.id):
        return False
    positions = yield from ask(PositionsTouching((memory.id,)))
    first = (yield from ask(EntriesAt((min(positions),)))) if positions else []
    return any(entry.actor.kind == "owner" for entry in first)


def audience_of(
    state: BatchState, change: Remember, trust: Trust, grounds: list[Record]
) -> Audience:
    """Return the readers of a new statement: never more than those of each source."""
    widest = narrowest((ground.audience for ground in grounds), state.batch.view)
    if change.audience is None and change.common is not None:
        strange = trust in STRANGERS or any(map(is_from_strangers, grounds))
        follows = not strange and change.common.within(widest, state.batch.view)
        if follows or change.memory.agent is None:
            return change.common
        return Audience.of_agent(change.memory.agent)
    if change.audience is None:
        if grounds:
            return widest
        return EVERYONE if change.memory.agent is None else Audience.of_agent(change.memory.agent)
    if not change.audience.readable_by(state.batch.view):
        raise InvalidInput(
            "audience: this view could not read it; choose an audience that includes this view",
            field="audience",
        )
    if not change.audience.within(widest, state.batch.view):
        raise InvalidInput(
            "audience: it is wider than the audience of a source; choose a narrower one",
            field="audience",
        )
    return change.audience


def external_id_of(record: Record) -> str | None:
    """Return the caller's own id of a record; None if it has none, or if its creation was
    undone.
    """
    if not isinstance(record, (Memory, Episode)) or record.withdrawn:
        return None
    undone = isinstance(record, Memory) and record.status is MemoryStatus.UNDONE
    return None if undone else record.external_id


def external_holder(state: BatchState, record: Record) -> Deciding[Record | None]:
    """Return the other record of this type and audience that has the same external id; None if
    there is none.
    """
    own = external_id_of(record)
    if own is None:
        return None
    written = {put.record.id: put.record for put in state.puts()}
    stored = yield from ask(RestingOn((external_link(state.batch.owner, record.type, own),)))
    there = {other.id: other for other in stored if other.owner == state.batch.owner} | written
    for id, other in there.items():
        same = (other.type, external_id_of(other), other.audience) == (
            record.type,
            own,
            record.audience,
        )
        if same and id != record.id:
            return other
    return None


def refuse_taken(state: BatchState, record: Record, at: str = "external_id") -> Deciding[None]:
    """Raise ``Conflict`` if another record of this type and audience has the same external id."""
    other = yield from external_holder(state, record)
    if other is None:
        return
    named = (
        f"{other.type.value} {other.id}"
        if other.audience.readable_by(state.batch.view)
        else "another record"
    )
    raise Conflict(
        f"{at}: {named} has the external id {external_id_of(record)!r} there; choose another one, or correct that record"
    )


def check_external_ids(state: BatchState) -> Deciding[None]:
    """Raise ``Conflict`` if a record that this batch writes has an external id that another record
    has now.
    """
    for put in state.puts():
        yield from refuse_taken(state, put.record, "position")
