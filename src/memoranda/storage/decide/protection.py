"""Decides who reads a new statement, and which statements a change of lower trust leaves alone."""

from __future__ import annotations

from memoranda.errors import InvalidInput
from memoranda.model.changes import Remember
from memoranda.model.memories import Memory
from memoranda.model.records import EVERYONE, STRANGERS, Audience, Record, Trust, lowest, narrowest
from memoranda.storage.decide.state import BatchState
from memoranda.storage.decide.strangers import is_from_strangers
from memoranda.storage.questions import EntriesAt, PositionsTouching
from memoranda.storage.use_case import Deciding, ask


def protected(state: BatchState, memory: Memory, trust: Trust) -> Deciding[bool]:
    """True if a statement with this trust may not take the place of an active memory that the view may see.

    Lower trust leaves alone what an operator or the person wrote and what is pinned; strangers also leave alone
    what rests on the user's words.
    """
    view = state.batch.view
    if view.whole or not memory.active or not memory.audience.readable_by(view):
        return False
    if is_persons_field(memory) and trust is not Trust.OPERATOR:
        return True
    if lowest((memory.trust, trust)) is memory.trust:
        return False
    if memory.trust is Trust.OPERATOR or memory.pinned:
        return True
    if trust in STRANGERS and memory.trust is Trust.USER and memory.sources:
        return True
    return memory.agent is None and (yield from written_by_person(state, memory))


def is_persons_field(memory: Memory) -> bool:
    """True if a memory is what a person set in a profile: only people change it, whatever they say in a conversation."""
    return memory.pinned and memory.has_value and memory.trust is Trust.USER


def protected_from_act(state: BatchState, memory: Memory) -> Deciding[bool]:
    """True if a change that states nothing, such as a retraction, may not touch a memory; its author may."""
    agent = state.batch.view.agent
    own = agent is not None and memory.agent == agent
    if own and memory.trust is not Trust.OPERATOR and not is_persons_field(memory):
        return False
    # A program acts for the operator. What formation takes back, the user took back.
    trust = Trust.OPERATOR if agent is None else Trust.ASSISTANT
    return (yield from protected(state, memory, Trust.USER if state.batch.actor.kind == "system" else trust))


def written_by_person(state: BatchState, memory: Memory) -> Deciding[bool]:
    """True if the ledger says that the person wrote a memory."""
    if state.made(memory.id):
        return False
    positions = yield from ask(PositionsTouching((memory.id,)))
    first = (yield from ask(EntriesAt((min(positions),)))) if positions else []
    return any(entry.actor.kind == "owner" for entry in first)


def audience_of(state: BatchState, change: Remember, trust: Trust, grounds: list[Record]) -> Audience:
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
            "audience: it is wider than the audience of a source; choose a narrower one", field="audience"
        )
    return change.audience
