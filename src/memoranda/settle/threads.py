"""What becomes of changes to threads, messages and episodes."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from memoranda.errors import Conflict, InvalidInput, NotFound, Stale
from memoranda.model.changes import (
    Append,
    CloseThread,
    MarkFormed,
    OpenThread,
    RecordEpisode,
    SetThread,
    SummariseThread,
)
from memoranda.model.episodes import Episode
from memoranda.model.ledger import Verb
from memoranda.model.messages import FINISHED, STATUS_STEPS, Thread, ThreadStatus
from memoranda.model.owner import Audience, narrowest
from memoranda.model.questions import Deciding
from memoranda.model.records import Record
from memoranda.model.trust import lowest
from memoranda.model.values import refused
from memoranda.settle.desk import Desk

_SETTABLE = frozenset({"title", "status", "state", "result", "tags"})


def open_thread(desk: Desk, change: OpenThread) -> Deciding[None]:
    """Begin a thread, unless its name is taken: then the one that has it is meant."""
    thread = change.thread
    if not thread.audience.readable_by(desk.batch.view):
        raise InvalidInput(
            "audience: this view would not see the thread; name one that it reads", field="audience"
        )
    held = yield from desk.holder(thread.slot())
    if held is None:
        desk.make(thread, Verb.OPEN)
    elif held.audience.readable_by(desk.batch.view):
        desk.ignore("present", held.id)
    else:
        raise Conflict(f"name: another thread of this owner is called {thread.name!r}; choose another name")


def append(desk: Desk, change: Append) -> Deciding[None]:
    """Add messages at a thread's end, with the thread's audience."""
    thread = change.thread
    end = yield from desk.end_of(thread)
    if end is None:
        raise NotFound(f"thread: no thread {thread} that this view may see")
    for message, terms in zip(change.messages, change.terms, strict=True):
        said = message.changed(
            owner=desk.batch.owner,
            thread=thread,
            seq=desk.next_place(thread, end),
            audience=end.audience,
            agent=desk.batch.view.agent or message.agent or end.agent,
            recorded_at=desk.batch.at,
        )
        desk.make(said, Verb.APPEND, terms=terms)


def set_thread(desk: Desk, change: SetThread) -> Deciding[None]:
    """Change a thread's standing."""
    thread = yield from desk.need(change.thread, Thread, "thread")
    yield from _set(desk, thread, dict(change.fields))


def _set(desk: Desk, thread: Thread, fields: dict[str, Any]) -> Deciding[None]:
    unknown = sorted(set(fields) - _SETTABLE)
    if unknown:
        raise InvalidInput(f"{unknown[0]}: a thread has no such field to set", field=unknown[0])
    status = fields.get("status")
    if status is not None and status != thread.status:
        try:
            status = ThreadStatus(status)
        except ValueError:
            names = ", ".join(each.value for each in ThreadStatus)
            raise InvalidInput(f"status: {status!r} is none of {names}", field="status") from None
        if status not in STATUS_STEPS[thread.status]:
            allowed = ", ".join(sorted(STATUS_STEPS[thread.status]))
            raise Conflict(f"status: a thread that is {thread.status} can become {allowed}; not {status}")
        fields["ended_at"] = desk.batch.at if status in FINISHED else None
    try:
        changed = Thread.model_validate({**_as_given(thread), **fields})
    except ValidationError as exc:
        raise refused(exc) from exc
    if changed == thread:
        desk.ignore("unchanged", thread.id)
    else:
        desk.put(changed, Verb.SET)
    yield from ()


def _as_given(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).model_fields}


def close(desk: Desk, change: CloseThread) -> Deciding[None]:
    """Finish a thread and keep its episode, both or neither."""
    thread = yield from desk.need(change.thread, Thread, "thread")
    fields: dict[str, Any] = {"status": change.status}
    if change.result is not None:
        fields["result"] = change.result
    yield from _set(desk, thread, fields)
    if change.episode is not None:
        episode = change.episode.changed(thread=thread.id, agent=change.episode.agent or thread.agent)
        yield from record_episode(desk, RecordEpisode(episode, change.terms, None, change.overflow))


def mark_formed(desk: Desk, change: MarkFormed) -> Deciding[None]:
    """Move a thread's watermark on; a batch that would move it back comes too late, and forms what was formed already."""
    thread: Thread = yield from desk.need(change.thread, Thread, "thread")
    end = yield from desk.end_of(thread.id)
    assert end is not None
    last = desk.tails.get(thread.id, end.tail)
    if not 0 <= change.through <= last:
        raise InvalidInput(
            f"through: {change.through}, and the thread ends at message {last}", field="through"
        )
    held = thread.formed_through
    if change.through < held or change.after not in (None, held):
        raise Stale(
            f"thread {thread.id} is formed through message {held} already; read it again, then decide"
        )
    if change.through == held:
        desk.ignore("unchanged", thread.id)
    else:
        verb = desk.verb_of(thread.id) or Verb.FORM
        desk.put(thread.changed(formed_through=change.through), verb)


def summarise(desk: Desk, change: SummariseThread) -> Deciding[None]:
    """Keep a newer summary of a thread; one that was built upon another than the one there is comes too late."""
    thread: Thread = yield from desk.need(change.thread, Thread, "thread")
    end = yield from desk.end_of(thread.id)
    assert end is not None
    last = desk.tails.get(thread.id, end.tail)
    if not 0 < change.through <= last:
        raise InvalidInput(
            f"through: {change.through}, and the thread ends at message {last}", field="through"
        )
    held = thread.summary_through
    if change.through < held or change.after != held:
        raise Stale(f"thread {thread.id} is summed up through message {held}; read it again, then decide")
    if not change.summary.strip():
        desk.ignore("empty", thread.id)
    elif (change.summary, change.through) == (thread.summary, held):
        desk.ignore("unchanged", thread.id)
    else:
        verb = desk.verb_of(thread.id) or Verb.FORM
        desk.put(thread.changed(summary=change.summary, summary_through=change.through), verb)


def record_episode(desk: Desk, change: RecordEpisode) -> Deciding[None]:
    """Keep an episode no wider, and no more trusted, than what it rests on."""
    episode: Episode = change.episode
    grounds: list[Record] = []
    for source in episode.rests_on():
        grounds.append((yield from desk.need(source, Record, "sources")))
    audience = narrowest((ground.audience for ground in grounds), desk.batch.view)
    if not grounds and episode.agent is not None:
        audience = Audience.of_agent(episode.agent)
    if change.audience is not None and not change.audience.readable_by(desk.batch.view):
        raise InvalidInput("audience: this view would not see it; name one that it reads", field="audience")
    if change.audience is not None and not grounds:
        audience = change.audience
    elif change.audience is not None:
        if not change.audience.within(audience, desk.batch.view):
            raise InvalidInput("audience: wider than what the episode rests on", field="audience")
        audience = change.audience
    trust = lowest([episode.trust, *(ground.trust for ground in grounds if hasattr(ground, "trust"))])
    desk.make(episode.changed(audience=audience, trust=trust), Verb.ADD, terms=change.terms)
    if change.overflow is not None:
        desk.make(change.overflow.changed(audience=audience, agent=episode.agent), Verb.ADD)
