"""Decides changes to threads, messages and episodes; shortens an episode's long tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterable
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
)
from memoranda.model.ledger import Verb
from memoranda.model.messages import (
    FINISHED,
    STATUS_STEPS,
    Episode,
    KeepTaskSummary,
    Message,
    Overflow,
    SummariseThread,
    Thread,
    ThreadStatus,
    ToolCall,
    WholeCall,
)
from memoranda.model.records import Audience, Limits, Record, lowest, narrowest
from memoranda.model.values import expired, moment, new_id, refused
from memoranda.storage.decide.protection import refuse_taken, refuse_trust
from memoranda.storage.decide.state import BatchState
from memoranda.storage.use_case import Deciding


def cut(episode: Episode, limits: Limits) -> tuple[Episode, Overflow | None]:
    """Shorten an episode's tool calls to the limits; returns it with the omitted calls, if there
    are any.
    """
    calls = episode.tool_calls
    kept = tuple(_cut_call(call, limits.tool_output_length) for call in calls[: limits.tool_calls])
    short = [
        place for place, call in enumerate(calls) if place >= len(kept) or kept[place] is not call
    ]
    if not short:
        return episode, None
    omitted = episode.calls_omitted + len(calls) - len(kept)
    smaller = episode.model_copy(update={"tool_calls": kept, "calls_omitted": omitted})
    whole = _within(
        (WholeCall(place=place, call=calls[place]) for place in short), limits.overflow_length
    )
    if not whole:
        return smaller, None
    overflow = Overflow(
        id=new_id(),
        owner=episode.owner,
        episode=episode.id,
        calls=tuple(whole),
        calls_omitted=len(short) - len(whole),
        recorded_at=episode.recorded_at,
    )
    return smaller, overflow


def _within(calls: Iterable[WholeCall], length: int) -> list[WholeCall]:
    """Return the first calls that fit into a length; the last one is cut to the remaining
    length.
    """
    found: list[WholeCall] = []
    left = length
    for whole in calls:
        size = (
            len(_written(whole.call.inputs)) + len(_shown(whole.call.output)) + len(whole.call.tool)
        )
        if size <= left:
            found.append(whole)
            left -= size
            continue
        part = (left - len(whole.call.tool)) // 2
        if part > 0:
            found.append(whole.model_copy(update={"call": _cut_call(whole.call, part)}))
        break
    return found


def _cut_call(call: ToolCall, limit: int) -> ToolCall:
    inputs, output, gone = call.inputs, call.output, call.cut
    written = _written(inputs)
    if len(written) > limit:
        inputs, gone = written[:limit], gone + len(written) - limit
    shown = _shown(output)
    if len(shown) > limit:
        output, gone = shown[:limit], gone + len(shown) - limit
    if gone == call.cut:
        return call
    return call.model_copy(update={"inputs": inputs, "output": output, "cut": gone})


def _written(inputs: object) -> str:
    return "" if inputs is None else json.dumps(inputs, ensure_ascii=False)


def _shown(output: object) -> str:
    return output if isinstance(output, str) else _written(output)


_SETTABLE = frozenset({"title", "status", "state", "result", "tags"})


def open_thread(state: BatchState, change: OpenThread) -> Deciding[None]:
    """Begin a thread; if its name exists already, the existing thread is used."""
    thread = change.thread
    if not thread.audience.readable_by(state.batch.view):
        raise InvalidInput(
            "audience: this view could not read the thread; choose an audience that includes this view",
            field="audience",
        )
    held = yield from state.holder(thread)
    if held is not None and expired(held, state.batch.at):
        # Its name is free for another thread.
        state.put(held.changed(name=None), Verb.SET)
        held = None
    if held is None:
        state.make(thread, Verb.OPEN)
    elif held.audience.readable_by(state.batch.view):
        state.ignore("present", held.id)
    else:
        raise Conflict(
            f"name: another thread of this owner is called {thread.name!r}; choose another name"
        )


def append(state: BatchState, change: Append) -> Deciding[None]:
    """Add messages at the end of a thread; they get the thread's audience."""
    thread = change.thread
    end = yield from state.end_of(thread)
    if end is None:
        raise NotFound(f"thread: no thread {thread} that this view may see")
    ends = None if end.expires is None else moment(end.expires)
    if ends is not None and ends <= state.batch.at:
        raise NotFound(f"thread: {thread} has expired; open another one")
    for message, terms in zip(change.messages, change.terms, strict=True):
        refuse_trust(state, message.trust, of_user=message.role == "user")
        said = message.changed(
            owner=state.batch.owner,
            thread=thread,
            seq=state.next_place(thread, end),
            audience=end.audience,
            agent=state.batch.view.agent or message.agent or end.agent,
            recorded_at=state.batch.at,
            expires_at=ends,
        )
        state.make(said, Verb.APPEND, terms=terms)


def set_thread(state: BatchState, change: SetThread) -> Deciding[None]:
    """Change a thread's status and its other settable fields."""
    thread = yield from state.need(change.thread, Thread, "thread")
    yield from _set(state, thread, dict(change.fields))


def _set(state: BatchState, thread: Thread, fields: dict[str, Any]) -> Deciding[None]:
    unknown = sorted(set(fields) - _SETTABLE)
    if unknown:
        raise InvalidInput(f"{unknown[0]}: this field of a thread cannot be set", field=unknown[0])
    if "title" in fields and fields["title"] != thread.title:
        fields["title_through"] = 0
    status = fields.get("status")
    if status is not None and status != thread.status:
        try:
            status = ThreadStatus(status)
        except ValueError:
            names = ", ".join(each.value for each in ThreadStatus)
            raise InvalidInput(f"status: {status!r} is none of {names}", field="status") from None
        if status not in STATUS_STEPS[thread.status]:
            allowed = ", ".join(sorted(STATUS_STEPS[thread.status]))
            raise Conflict(
                f"status: a thread that is {thread.status} can become {allowed}; not {status}"
            )
        fields["ended_at"] = state.batch.at if status in FINISHED else None
    try:
        changed = Thread.model_validate({**_as_given(thread), **fields})
    except ValidationError as exc:
        raise refused(exc) from exc
    if changed == thread:
        state.ignore("unchanged", thread.id)
    else:
        state.put(changed, Verb.SET)
    yield from ()


def _as_given(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).model_fields}


def close(state: BatchState, change: CloseThread) -> Deciding[None]:
    """Finish a thread and store its episode, both or neither."""
    thread = yield from state.need(change.thread, Thread, "thread")
    fields: dict[str, Any] = {"status": change.status}
    if change.result is not None:
        fields["result"] = change.result
    yield from _set(state, thread, fields)
    if change.episode is not None:
        episode = change.episode.changed(
            thread=thread.id, agent=change.episode.agent or thread.agent
        )
        yield from record_episode(
            state, RecordEpisode(episode, change.terms, None, change.overflow)
        )


def mark_formed(state: BatchState, change: MarkFormed) -> Deciding[None]:
    """Mark messages as formed (turned into facts); raise ``Stale`` if they are marked already."""
    thread: Thread = yield from state.need(change.thread, Thread, "thread")
    end = yield from state.end_of(thread.id)
    assert end is not None
    last = state.tails.get(thread.id, end.tail)
    if not 0 <= change.through <= last:
        raise InvalidInput(
            f"through: {change.through} is beyond the thread's last message; give at most {last}",
            field="through",
        )
    held = thread.formed_through
    if change.through < held or change.after not in (None, held):
        raise Stale(
            f"thread {thread.id} is already formed up to message {held}; read it again, then decide"
        )
    if change.through == held:
        state.ignore("unchanged", thread.id)
    else:
        verb = state.verb_of(thread.id) or Verb.FORM
        titled = change.title and not thread.title
        named = {"title": change.title, "title_through": change.through} if titled else {}
        state.put(
            thread.changed(formed_through=change.through, prepared=change.prepared, **named),
            verb,
        )


def summarise(state: BatchState, change: SummariseThread) -> Deciding[None]:
    """Store a newer summary of a thread; raise ``Stale`` if it was made from another summary than
    the current one.
    """
    thread: Thread = yield from state.need(change.thread, Thread, "thread")
    end = yield from state.end_of(thread.id)
    assert end is not None
    last = state.tails.get(thread.id, end.tail)
    if not 0 < change.through <= last:
        raise InvalidInput(
            f"through: {change.through} is beyond the thread's last message; give at most {last}",
            field="through",
        )
    held = thread.summary_through
    if change.through < held or change.after != held:
        raise Stale(
            f"thread {thread.id} is already summarised up to message {held}; read it again, then decide"
        )
    if not change.summary.strip():
        state.ignore("empty", thread.id)
    elif (change.summary, change.through) == (thread.summary, held):
        state.ignore("unchanged", thread.id)
    else:
        verb = state.verb_of(thread.id) or Verb.FORM
        state.put(thread.changed(summary=change.summary, summary_through=change.through), verb)


def keep_task_summary(state: BatchState, change: KeepTaskSummary) -> Deciding[None]:
    """Store a thread's summary on demand; raise ``NotFound`` if a message that it was made from is
    gone.
    """
    thread: Thread = yield from state.need(change.thread, Thread, "thread")
    yield from state.fetch(change.messages)
    for message in change.messages:
        yield from state.need(message, Message, "messages")
    held = thread.task_summary
    if held is not None and held.through >= change.summary.through:
        state.ignore("unchanged", thread.id)
    else:
        verb = state.verb_of(thread.id) or Verb.FORM
        state.put(thread.changed(task_summary=change.summary), verb)


def record_episode(state: BatchState, change: RecordEpisode) -> Deciding[None]:
    """Store an episode with an audience no wider, and unless its trust was judged, a trust no
    higher than its sources'.
    """
    episode: Episode = change.episode
    refuse_trust(state, episode.trust)
    grounds: list[Record] = []
    yield from state.fetch(episode.rests_on())
    for source in episode.rests_on():
        grounds.append((yield from state.need(source, Record, "sources")))
    audience = narrowest((ground.audience for ground in grounds), state.batch.view)
    if not grounds and episode.agent is not None:
        audience = Audience.of_agent(episode.agent)
    if change.audience is not None and not change.audience.readable_by(state.batch.view):
        raise InvalidInput(
            "audience: this view could not read it; choose an audience that includes this view",
            field="audience",
        )
    if change.audience is not None and not grounds:
        audience = change.audience
    elif change.audience is not None:
        if not change.audience.within(audience, state.batch.view):
            raise InvalidInput(
                "audience: it is wider than the audience of a source; choose a narrower one",
                field="audience",
            )
        audience = change.audience
    limiting = () if change.judged else grounds
    trust = lowest(
        [episode.trust, *(ground.trust for ground in limiting if hasattr(ground, "trust"))]
    )
    made = episode.changed(audience=audience, trust=trust)
    if made.external_id is not None:
        yield from refuse_taken(state, made)
    state.make(made, Verb.ADD, terms=change.terms)
    if change.overflow is not None:
        state.make(change.overflow.changed(audience=audience, agent=episode.agent), Verb.ADD)
