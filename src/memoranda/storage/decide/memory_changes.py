"""Decides changes to memories: keys, supersession, trust and audiences."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import ValidationError

from memoranda.errors import Conflict, InvalidInput, NotAllowed
from memoranda.model.changes import (
    Amend,
    ChangeAudience,
    Confirm,
    Remember,
    Retract,
    Supersede,
)
from memoranda.model.ledger import Verb
from memoranda.model.memories import Memory, MemoryStatus, quotes_of
from memoranda.model.messages import Episode, Message, Thread
from memoranda.model.records import Record, Trust, lowest
from memoranda.model.unlisted import MOST_LISTED
from memoranda.model.values import canonical, refused, request_digest
from memoranda.storage.decide.capacity import has_room
from memoranda.storage.decide.protection import (
    audience_of,
    protected,
    protected_from_act,
    refuse_taken,
    refuse_trust,
)
from memoranda.storage.decide.source_lists import (
    some_at_a_time,
    sources_among,
    unlisted_sources,
    with_short_list,
)
from memoranda.storage.decide.source_retraction import narrow_with
from memoranda.storage.decide.state import BatchState
from memoranda.storage.questions import LastUserTurn, RestingOn
from memoranda.storage.use_case import Deciding, ask
from memoranda.text.scripts import comparable_text

_AMENDABLE = frozenset(
    {"pinned", "tags", "applies_when", "valid_from", "valid_to", "happened", "expires_at"}
)


class Pair(NamedTuple):
    """A supersession to apply: the newer memory, the one it replaces, and the change that asks for
    it.
    """

    item: int
    winner: UUID
    loser: UUID


def remember(state: BatchState, change: Remember) -> Deciding[list[Pair]]:
    """Store a statement; returns the supersessions to apply when all the batch's statements are
    stored.
    """
    memory = change.memory
    for place in change.unknown:
        state.ignore("unknown", field=place)
    grounds: list[Record] = []
    yield from state.fetch(memory.sources)
    for source in memory.sources:
        ground = yield from state.need(source, Record, "sources")
        grounds.append(ground)
    of_user = any(isinstance(ground, Message) and ground.role == "user" for ground in grounds)
    refuse_trust(state, memory.trust, of_user=of_user)
    if memory.thread is not None:
        thread = yield from state.need(memory.thread, Thread, "thread")
        grounds = grounds or [thread]
    trust = lowest([memory.trust, *(g.trust for g in grounds if hasattr(g, "trust"))])
    memory = memory.changed(
        audience=audience_of(state, change, trust, grounds), trust=trust, recorded_at=state.batch.at
    )
    if memory.external_id is not None:
        yield from refuse_taken(state, memory)
    if memory.expires_at is None and state.batch.limits.kind_days:
        memory = memory.changed(expires_at=state.batch.limits.expiry(memory.kind, state.batch.at))
    if memory.sources and (yield from _refused_before(memory)):
        state.ignore("not_formed_again")
        return []
    run = yield from _run_digest(memory, change.run)
    losers = list(memory.supersedes)
    holder = yield from state.holder(memory)
    if holder is not None and holder.id not in losers:
        losers.append(holder.id)
    kept: list[UUID] = []
    yield from state.fetch(losers)
    for loser in losers:
        if (yield from _is_protected(state, loser, memory.trust)):
            kept.append(loser)
    if change.field and (yield from _field_stays(state, change, memory, kept)):
        return []
    disputes = kept[0] if kept else None
    if (
        isinstance(holder, Memory)
        and holder.agent is not None
        and memory.agent is not None
        and not kept
    ):
        # The key keeps the agent that wrote it first as its author; the ledger names who wrote this
        # statement.
        memory = memory.changed(agent=holder.agent)
    if len(memory.sources) > MOST_LISTED:
        memory = yield from with_short_list(state, memory)
    state.make(
        memory.changed(supersedes=(), disputes=disputes), Verb.REMEMBER, terms=change.terms, run=run
    )
    if disputes is None:
        return [Pair(state.item, memory.id, loser) for loser in losers]
    for loser in losers:
        state.ignore("protected" if loser in kept else "disputed", loser)
    return []


def _field_stays(
    state: BatchState, change: Remember, memory: Memory, kept: list[UUID]
) -> Deciding[bool]:
    """True if a profile field stays as it is: it has this value already, or a person pinned it."""
    holder = yield from state.holder(memory)
    if kept:
        protected_by = state.current(kept[0])
        pinned = isinstance(protected_by, Memory) and protected_by.pinned
        state.ignore("pinned" if pinned else "protected", kept[0], change.field)
        return True
    same = (
        isinstance(holder, Memory) and holder.data == memory.data and holder.pinned == memory.pinned
    )
    if same and holder is not None and set(memory.supersedes) <= {holder.id}:
        state.ignore("unchanged", holder.id, change.field)
        if (
            isinstance(holder, Memory)
            and holder.archived
            and (yield from has_room(state, holder.agent))
        ):
            state.put(holder.changed(archived=False, reason=""), Verb.RESTORE)
        return True
    return False


def supersede(state: BatchState, change: Supersede) -> Deciding[list[Pair]]:
    """Return the supersession to apply; none if the winner has too little trust to replace the
    other.
    """
    yield from state.fetch((change.winner, change.loser))
    winner = yield from state.find(change.winner)
    if isinstance(winner, Memory):
        trust = lowest((winner.trust, state.batch.actor.trust))
        if (yield from _is_protected(state, change.loser, trust)):
            state.ignore("protected", change.loser)
            return []
    return [Pair(state.item, change.winner, change.loser)]


def _is_protected(state: BatchState, loser: UUID, trust: Trust) -> Deciding[bool]:
    memory = yield from state.find(loser)
    return isinstance(memory, Memory) and (yield from protected(state, memory, trust))


def _refused_before(memory: Memory) -> Deciding[bool]:
    """True if the same statement from one of the same sources was retracted or undone before."""
    said = comparable_text(memory.content)
    for other in (yield from ask(RestingOn(memory.sources))):
        if (
            isinstance(other, Memory)
            and other.owner == memory.owner
            and other.status in (MemoryStatus.RETRACTED, MemoryStatus.UNDONE)
            and comparable_text(other.content) == said
        ):
            return True
    return False


def _run_digest(memory: Memory, run: str | None) -> Deciding[bytes | None]:
    """Return the digest of the run in which a memory is written; None if this call is all of it."""
    if run is not None:
        return request_digest(canonical(["run", run]))
    if memory.thread is None:
        return None
    turn = yield from ask(LastUserTurn(memory.thread))
    return request_digest(canonical(["turn", str(memory.thread), turn]))


def supersede_all(state: BatchState, pairs: list[Pair]) -> Deciding[None]:
    """Apply all supersessions: in a circle the newest memory wins, and impossible ones are reported
    as ignored.
    """
    yield from state.fetch(id for pair in pairs for id in (pair.winner, pair.loser))
    wanted: list[Pair] = []
    for pair in pairs:
        state.item = pair.item
        code = _obstacle(state, pair)
        if code is None:
            wanted.append(pair)
        else:
            state.ignore(code, pair.loser)
    for pair in _without_circles(state, wanted):
        state.item = pair.item
        loser = state.current(pair.loser)
        if isinstance(loser, Memory) and loser.active:
            yield from _end(state, pair)
        else:
            state.ignore("superseded", pair.loser)


def _obstacle(state: BatchState, pair: Pair) -> str | None:
    if pair.winner == pair.loser:
        return "self"
    winner, loser = state.current(pair.winner), state.current(pair.loser)
    if not isinstance(winner, Memory) or not isinstance(loser, Memory):
        return "unknown"
    if not state.made(winner.id):
        if not winner.audience.readable_by(state.batch.view):
            return "unknown"
        if not winner.active:
            return "cycle" if winner.superseded_by == loser.id else "retracted"
    own_key = loser.slot() is not None and loser.slot() == winner.slot()
    if not own_key and not loser.audience.readable_by(state.batch.view):
        return "unknown"
    if loser.status is MemoryStatus.SUPERSEDED:
        return "superseded"
    if (
        loser.active
        and not own_key
        and not loser.audience.within(winner.audience, state.batch.view)
    ):
        return "readers"  # who reads the old one alone would be left with neither
    return None if loser.active else "retracted"


def _without_circles(state: BatchState, pairs: list[Pair]) -> list[Pair]:
    beaten: dict[UUID, set[UUID]] = {}
    for pair in pairs:
        beaten.setdefault(pair.winner, set()).add(pair.loser)
    kept: list[Pair] = []
    for pair in pairs:
        circle = _circle(beaten, pair)
        if circle and pair.loser == max(circle, key=lambda id: _age(state, id)):
            state.item = pair.item
            state.ignore("cycle", pair.loser)
        else:
            kept.append(pair)
    return kept


def _circle(beaten: dict[UUID, set[UUID]], pair: Pair) -> set[UUID]:
    """Return the memories on a path of supersessions from the loser back to the winner; empty if
    there is none.
    """
    reached = _reach(beaten, pair.loser)
    return (
        {id for id in reached if pair.winner in _reach(beaten, id)}
        if pair.winner in reached
        else set()
    )


def _reach(beaten: dict[UUID, set[UUID]], start: UUID) -> set[UUID]:
    seen = {start}
    waiting = [start]
    while waiting:
        for loser in beaten.get(waiting.pop(), ()):
            if loser not in seen:
                seen.add(loser)
                waiting.append(loser)
    return seen


def _age(state: BatchState, id: UUID) -> tuple[datetime, UUID]:
    memory = state.current(id)
    assert isinstance(memory, Memory)
    return (memory.observed_at, id)


def _end(state: BatchState, pair: Pair) -> Deciding[None]:
    """End the loser of a supersession, at the moment from which the winner holds."""
    winner, loser = state.current(pair.winner), state.current(pair.loser)
    assert isinstance(winner, Memory) and isinstance(loser, Memory)
    end = winner.valid_from or winner.observed_at
    if loser.valid_from is not None:
        end = max(end, loser.valid_from)
    if loser.valid_to is not None:
        end = min(end, loser.valid_to)
    said = loser.valid_to_granularity if end == loser.valid_to else None
    ended = loser.changed(
        status=MemoryStatus.SUPERSEDED,
        superseded_by=winner.id,
        valid_to=end,
        valid_to_granularity=said,
    )
    state.put(ended, Verb.SUPERSEDE)
    if loser.id not in winner.supersedes:
        won = winner.changed(supersedes=(*winner.supersedes, loser.id))
        state.put((yield from _settled(state, won, loser.id)), Verb.SUPERSEDE)


def _settled(state: BatchState, winner: Memory, loser: UUID) -> Deciding[Memory]:
    """Return a memory that is disputed no more if it has replaced what it disputes, and no other
    memory has its key.
    """
    if winner.disputes != loser:
        return winner
    undisputed: Memory = winner.changed(disputes=None)
    return winner if (yield from state.holder(undisputed)) is not None else undisputed


def confirm(state: BatchState, change: Confirm) -> Deciding[None]:
    """Record that a memory was stated again, and add the sources that state it."""
    memory: Memory = yield from state.need(change.memory, Memory, "memory")
    known = (yield from sources_among(state, memory, change.sources)) if memory.sources else ()
    added = tuple(source for source in dict.fromkeys(change.sources) if source not in known)
    yield from state.fetch(added)
    for source in added:
        ground = yield from state.need(source, Record, "sources")
        if not memory.audience.within(ground.audience, state.batch.view):
            raise InvalidInput(
                "sources: the memory has a wider audience than this source; narrow it first, or leave the source out",
                field="sources",
            )
    if not memory.active:
        state.ignore("retracted", memory.id)
        return
    sources = memory.sources + added
    quotes = quotes_of((*memory.quotes, *change.quotes), sources)
    again = memory.changed(confirmations=memory.confirmations + 1, sources=sources, quotes=quotes)
    if memory.archived and (yield from has_room(state, memory.agent)):
        again = again.changed(archived=False, reason="")
    later = state.batch.limits.expiry(memory.kind, state.batch.at)
    if memory.expires_at is not None and later is not None and later > memory.expires_at:
        again = again.changed(expires_at=later)
    if again.disputes is not None:
        yield from state.fetch((again.disputes,))
        disputed = state.current(again.disputes)
        if not isinstance(disputed, Memory) or disputed.withdrawn or not disputed.active:
            # What it contradicts does not stand any more.
            again = yield from _settled(state, again, again.disputes)
    state.put((yield from with_short_list(state, again)), Verb.CONFIRM)


def retract(state: BatchState, change: Retract) -> Deciding[None]:
    """Retract a memory."""
    memory: Memory = yield from state.need(change.memory, Memory, "memory")
    if not memory.active:
        state.ignore(
            "superseded" if memory.status is MemoryStatus.SUPERSEDED else "retracted", memory.id
        )
        return
    if (yield from protected_from_act(state, memory)):
        state.ignore("protected", memory.id)
        return
    state.put(memory.changed(status=MemoryStatus.RETRACTED, reason=change.reason), Verb.RETRACT)


def amend(state: BatchState, change: Amend) -> Deciding[None]:
    """Change a memory's fields other than its content, or when an episode expires."""
    if isinstance((yield from state.find(change.memory)), Episode):
        yield from _amend_episode(state, change)
        return
    memory: Memory = yield from state.need(change.memory, Memory, "memory")
    # Upkeep gives a memory the value of the field that it holds.
    also = {"data"} if state.batch.actor.kind == "system" else set()
    unknown = sorted(set(change.fields) - _AMENDABLE - also)
    if unknown:
        raise InvalidInput(
            f"{unknown[0]}: this field cannot be amended; remember a new statement that supersedes this one",
            field=unknown[0],
        )
    given: dict[str, Any] = {name: getattr(memory, name) for name in Memory.model_fields}
    given |= {
        f"{name}_granularity": None for name in ("valid_from", "valid_to") if name in change.fields
    }
    try:
        changed = Memory.model_validate({**given, **change.fields})
    except ValidationError as exc:
        raise refused(exc) from exc
    if changed == memory:
        state.ignore("unchanged", memory.id)
    elif (yield from protected_from_act(state, memory)):
        state.ignore("protected", memory.id)
    else:
        state.put(changed, Verb.AMEND)


def _amend_episode(state: BatchState, change: Amend) -> Deciding[None]:
    episode: Episode = yield from state.need(change.memory, Episode, "episode")
    if set(change.fields) != {"expires_at"}:
        raise InvalidInput("fields: of an episode, expires_at alone can be amended", field="fields")
    try:
        given = {name: getattr(episode, name) for name in Episode.model_fields}
        changed = Episode.model_validate({**given, **change.fields})
    except ValidationError as exc:
        raise refused(exc) from exc
    if changed == episode:
        state.ignore("unchanged", episode.id)
    else:
        state.put(changed, Verb.AMEND)


def change_audience(state: BatchState, change: ChangeAudience) -> Deciding[None]:
    """Change the audience of a memory; it may not be wider than the audiences of its sources."""
    memory: Memory = yield from state.need(change.memory, Memory, "memory")
    for some in some_at_a_time(
        (*memory.stands_on(), *(yield from unlisted_sources(state, memory)))
    ):
        yield from state.fetch(some)
        for source in some:
            ground = state.current(source)
            if ground is not None and not change.audience.within(ground.audience, state.batch.view):
                raise InvalidInput(
                    "audience: it is wider than the audience of a source; choose a narrower one",
                    field="audience",
                )
    if not change.audience.readable_by(state.batch.view):
        raise InvalidInput(
            "audience: this view could not read it any more; use as_owner=True", field="audience"
        )
    if change.audience == memory.audience:
        state.ignore("unchanged", memory.id)
        return
    view = state.batch.view
    if not (
        view.whole or memory.agent == view.agent or memory.audience.within(change.audience, view)
    ):
        raise NotAllowed(
            f"audience: memory {memory.id} is not this agent's own, and would lose readers; only its author or the "
            "owner's view (as_owner=True) may do that"
        )
    if (yield from protected_from_act(state, memory)):
        state.ignore("protected", memory.id)
        return
    changed = memory.changed(audience=change.audience)
    holder = yield from state.holder(changed)
    if holder is not None and holder.id != memory.id:
        raise Conflict(
            f"audience: memory {holder.id} holds the key {memory.key!r} there; supersede it or change the key"
        )
    if changed.external_id is not None:
        yield from refuse_taken(state, changed, "audience")
    yield from narrow_with(state, memory, change.audience)
    state.put(changed, Verb.SHARE)
