"""Decides which statements a change of lower trust leaves alone."""

from __future__ import annotations

from memoranda.model.memories import Memory
from memoranda.model.records import STRANGERS, Trust, lowest
from memoranda.storage.decide.state import BatchState
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
    if lowest((memory.trust, trust)) is memory.trust:
        return False
    if memory.trust is Trust.OPERATOR or memory.pinned:
        return True
    if trust in STRANGERS and memory.trust is Trust.USER and memory.sources:
        return True
    return memory.agent is None and (yield from written_by_person(state, memory))


def protected_from_act(state: BatchState, memory: Memory) -> Deciding[bool]:
    """True if a change that states nothing, such as a retraction, may not touch a memory; its author may."""
    agent = state.batch.view.agent
    own = agent is not None and memory.agent == agent
    if own and memory.trust is not Trust.OPERATOR:
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
