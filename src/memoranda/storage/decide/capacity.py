"""Makes room where a limit on the number of memories is reached: archives memories, or refuses the
write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from uuid import UUID

from memoranda.errors import LimitReached
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory
from memoranda.model.records import Trust
from memoranda.model.values import expired, micros, moment
from memoranda.storage.decide.protection import written_by_person
from memoranda.storage.decide.state import BatchState, held_gain
from memoranda.storage.questions import (
    CountActive,
    CountOwn,
    OldestOwn,
    OwnMemories,
    OwnMemory,
    WritersOfExpired,
)
from memoranda.storage.use_case import Deciding, ask


def make_room(
    state: BatchState, gains: Mapping[str | None, int], held: int, net: int
) -> Deciding[None]:
    """Archive as many memories as the limits ask, never more than the batch adds; raise
    ``LimitReached`` if they may not go.

    ``gains`` has the agents that get more active memories, and how many; ``held`` and ``net`` are
    the owner's count before the batch, and its change.
    """
    limits = state.batch.limits
    needed: dict[str | None, int] = {}
    refusals: dict[str | None, LimitReached] = {}
    # What has expired takes no place, although upkeep has not erased it yet.
    late = Counter((yield from ask(WritersOfExpired(micros(state.batch.at)))))
    held -= late.total()
    for agent, gain in gains.items():
        own = (
            0
            if held + gain <= limits.memories_per_agent
            else (yield from ask(CountOwn(agent))) - late[agent]
        )
        over = min(own + gain - limits.memories_per_agent, gain)
        if over > 0:
            needed[agent], refusals[agent] = over, _agent_refusal(state, agent, own, gain)
    if limits.memories_per_owner is not None and net > 0:
        over = min(held + net - limits.memories_per_owner, net) - sum(needed.values())
        if over > 0:
            # The agent that writes pays for the owner's limit, never another one.
            writer = list(gains)[-1]
            needed[writer] = needed.get(writer, 0) + over
            refusals.setdefault(writer, _owner_refusal(state, held, limits.memories_per_owner))
    busy = {put.record.id for put in state.puts()}
    for agent, count in needed.items():
        leaving = yield from _leaving(state, agent, count, busy, late[agent])
        if len(leaving) < count:
            raise refusals[agent]
        for memory in leaving:
            state.loaded[memory.id] = memory
            state.put(memory.changed(archived=True, reason="made room at the cap"), Verb.ARCHIVE)


def has_room(state: BatchState, agent: str | None) -> Deciding[bool]:
    """True if one more active memory of an agent needs no other to be archived."""
    limits, gain = (
        state.batch.limits,
        1 + sum(held_gain(put.before, put.record) for put in state.puts()),
    )
    held = (yield from ask(CountActive())) + gain
    if limits.memories_per_owner is not None and held > limits.memories_per_owner:
        return False
    return held <= limits.memories_per_agent or (
        (yield from ask(CountOwn(agent))) + gain <= limits.memories_per_agent
    )


def _is_formed(state: BatchState) -> bool:
    """True if formation writes this batch; a model's tool is a program."""
    return state.batch.actor.kind == "system"


def _leaving(
    state: BatchState, agent: str | None, count: int, busy: Set[UUID], late: int
) -> Deciding[list[Memory]]:
    """Return up to ``count`` of an agent's memories that make room; none where this batch may not
    archive any.
    """
    # Only a new memory archives others, those of the agent that writes: a correction of another
    # one's, an undo, a restore or an import needs free room.
    others = agent != state.batch.view.agent and not _is_formed(state)
    if others or not any(put.verb is Verb.REMEMBER for put in state.puts()):
        return []
    match state.batch.limits.at_capacity:
        case "evict_oldest":
            oldest = yield from ask(OldestOwn(agent, count + len(busy) + late))
            able = [
                one for one in oldest if one.id not in busy and not expired(one, state.batch.at)
            ]
            return able[:count]
        case "evict_weakest" if _is_formed(state):
            return (yield from _weakest(state, agent, count, busy))
        case _:
            return []


def _weakest(
    state: BatchState, agent: str | None, count: int, busy: Set[UUID]
) -> Deciding[list[Memory]]:
    """Return an agent's weakest memories that may make room, the least used and the oldest first
    among equals.
    """
    found = yield from ask(OwnMemories(agent))
    able = [one for one in found if one.id not in busy and _may_leave(one, agent)]

    def order(one: OwnMemory) -> tuple[float, int, int, UUID]:
        strength = one.use.strength_at(state.batch.at, moment(one.observed_at))
        return strength, one.use.count, one.recorded_at, one.id

    able.sort(key=order)
    yield from state.fetch(one.id for one in able[:count])
    leaving: list[Memory] = []
    for one in able:
        if len(leaving) == count:
            break
        yield from state.fetch((one.id,))
        memory = state.current(one.id)
        if not isinstance(memory, Memory) or expired(memory, state.batch.at):
            continue
        if agent is not None or not (yield from written_by_person(state, memory)):
            leaving.append(memory)
    return leaving


def _may_leave(one: OwnMemory, agent: str | None) -> bool:
    """True if what is formed may archive a memory: it is not pinned, an operator's, or a user's own
    fact with a key.
    """
    if (
        one.pinned
        or one.trust == Trust.OPERATOR
        or (one.key is not None and one.trust == Trust.USER)
    ):
        return False
    # What no agent wrote and no thread said, a person or a program wrote.
    return agent is not None or one.in_thread


def _agent_refusal(state: BatchState, agent: str | None, own: int, gain: int) -> LimitReached:
    cap = state.batch.limits.memories_per_agent
    who = "writers without an agent" if agent is None else f"agent {agent!r}"
    if gain > cap:
        return LimitReached(
            f"{gain} memories at once are more than {who} may have of this owner (limits.memories_per_agent = {cap}). "
            "Nothing was stored: raise the limit.",
            field="memories_per_agent",
        )
    found = f" ({own}/{cap}): {who} may not have more active memories of this owner"
    if agent != state.batch.view.agent and not _sees_all(state):
        found = f": another agent may not have more than {cap} active memories of this owner"
    return _refusal(state, found, "memories_per_agent")


def _owner_refusal(state: BatchState, held: int, cap: int) -> LimitReached:
    found = f" ({held}/{cap}): all agents together may not have more active memories of this owner"
    if not _sees_all(state):
        found = f": all agents together may not have more than {cap} active memories of this owner"
    return _refusal(state, found, "memories_per_owner")


def _refusal(state: BatchState, found: str, setting: str) -> LimitReached:
    why = ""
    if state.batch.limits.at_capacity == "evict_oldest":
        why = " Too few memories are the writing agent's own and not pinned."
    elif state.batch.limits.at_capacity == "evict_weakest" and _is_formed(state):
        why = " Too few of them may be archived: pinned ones, an operator's, and a user's own facts with a key stay."
    return LimitReached(
        f"Memory capacity reached{found} (limits.{setting}).{why} "
        "Nothing was stored: forget or retract some, or raise the limit.",
        field=setting,
    )


def _sees_all(state: BatchState) -> bool:
    """True if errors may give the numbers of all agents; an agent gets only its own."""
    return state.batch.view.whole or _is_formed(state)
