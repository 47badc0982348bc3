"""Titles of threads, and summaries of the turns too old for a window, each continuing the previous
summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from memoranda.formation.extract.attribution import is_from_user
from memoranda.formation.privacy.withheld import NOT_KEPT, without_unwanted
from memoranda.formation.prompts import prompt_file
from memoranda.formation.prompts.turn_lines import dated_turns, newest_part, shown_turns
from memoranda.formation.rules import extract
from memoranda.model.language_models import ModelRequest
from memoranda.model.messages import Message
from memoranda.text.fence import fenced, one_line
from memoranda.text.token_count import estimate

TASK: Final = "summary"
#: The most tokens of a summary, and the most characters of a line that is copied from a message.
TOKENS: Final = 500
_LINE: Final = 160
#: The most characters of a title.
TITLE: Final = 80
#: Characters of a turn that are shown to the model.
_SHOWN: Final = 4_000
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
}


def oldest_within(messages: Sequence[Message], tokens: int) -> Sequence[Message]:
    """Return the oldest turns that fit into so many tokens, at least one."""
    room = tokens
    for place, message in enumerate(shown_turns(messages)):
        room -= estimate(message.content[:_SHOWN])
        if room < 0:
            return messages[: max(place, 1)]
    return messages


def newest_turns_within(messages: Sequence[Message], tokens: int) -> Sequence[Message]:
    """Return the newest turns that fit into so many tokens, at least one."""
    room, start = tokens, len(messages)
    for message in reversed(shown_turns(messages)):
        room -= estimate(message.content[:_SHOWN])
        if room < 0:
            break
        start -= 1
    return messages[min(start, len(messages) - 1) :]


def summary_and_turns(summary: str, messages: Sequence[Message]) -> str:
    """Return the summary so far and the turns after it, with their times and marks, as blocks of a
    prompt.
    """
    earlier = fenced(newest_part(summary, 4 * TOKENS)) if summary else "(none yet)"
    return f"<summary>\n{earlier}\n</summary>\n\n<turns>\n{dated_turns(messages, _SHOWN)}\n</turns>"


def summary_request(summary: str, messages: Sequence[Message]) -> ModelRequest:
    """Return the request to a model for a new summary."""
    content = summary_and_turns(summary, messages)
    instructions = prompt_file("summary").sections["task"]
    return ModelRequest(
        task=TASK,
        instructions=instructions,
        content=content,
        answer_schema=_SCHEMA,
        largest=4 * TOKENS,
    )


def summary_in(value: Any) -> str:
    """Return the summary in a model's answer; empty if there is none or it is too long."""
    text = value.get("summary") if isinstance(value, dict) else None
    if not isinstance(text, str):
        return ""
    text = text.replace("\x00", "").strip()
    return text if estimate(text) <= 4 * TOKENS else ""


def summary_by_rules(summary: str, messages: Sequence[Message]) -> str:
    """Summarise without a model: add for each new user turn what it states, or how it begins.

    If the lines exceed the limit, the oldest ones without a statement are dropped first, then the
    oldest.
    """
    lines = [line for line in summary.split("\n") if line]
    for message in messages:
        if is_from_user(message) and message.content != NOT_KEPT:
            lines += [line for line in _lines(message) if line not in lines]
    while lines and estimate("\n".join(lines)) > TOKENS:
        lines.pop(
            next((place for place, line in enumerate(lines) if line.startswith("- asked")), 0)
        )
    return "\n".join(lines)


def _lines(message: Message) -> list[str]:
    day = f"{message.observed_at:%Y-%m-%d}"
    stated = [f"- {day}: {one_line(one.content)[:_LINE]}" for one in extract(message.content)]
    return stated or [f"- asked {day}: {one_line(message.content)[:_LINE]}"]


def title_by_rules(messages: Sequence[Message]) -> str:
    """Return the beginning of the user's first turn as a title; empty if the user said nothing."""
    return next(
        (
            title_of(message.content)
            for message in without_unwanted(messages)
            if is_from_user(message) and message.content != NOT_KEPT
        ),
        "",
    )


def title_of(text: str) -> str:
    """Return a text as a title: one line, cut after a word."""
    line = one_line(text.replace("\x00", "")).strip()
    if len(line) <= TITLE:
        return line
    short = line[:TITLE]
    return (short.rsplit(" ", 1)[0] if " " in short else short).rstrip(" ,;:") + "…"
