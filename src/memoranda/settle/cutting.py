"""Shortens an episode's tool calls, and keeps the full ones in a separate record."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memoranda.model.episodes import Episode, Overflow, ToolCall, WholeCall
from memoranda.model.ids import new_id
from memoranda.model.trust import Limits


def cut(episode: Episode, limits: Limits) -> tuple[Episode, Overflow | None]:
    """An episode with as many calls, and as much of each, as it keeps; and what had to be left out, if anything had."""
    calls = episode.tool_calls
    kept = tuple(_cut_call(call, limits.tool_output_length) for call in calls[: limits.tool_calls])
    short = [place for place, call in enumerate(calls) if place >= len(kept) or kept[place] is not call]
    if not short:
        return episode, None
    omitted = episode.calls_omitted + len(calls) - len(kept)
    smaller = episode.model_copy(update={"tool_calls": kept, "calls_omitted": omitted})
    whole = _within((WholeCall(place=place, call=calls[place]) for place in short), limits.overflow_length)
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
    """The first of these that fit, the last of them cut to what is left."""
    found: list[WholeCall] = []
    left = length
    for whole in calls:
        size = len(_written(whole.call.inputs)) + len(whole.call.output) + len(whole.call.tool)
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
    if len(output) > limit:
        output, gone = output[:limit], gone + len(output) - limit
    if gone == call.cut:
        return call
    return call.model_copy(update={"inputs": inputs, "output": output, "cut": gone})


def _written(inputs: object) -> str:
    return "" if inputs is None else json.dumps(inputs, ensure_ascii=False)
