"""Turns of a conversation as lines of a prompt: dated, with the speaker, and marked where a tool or
a page said it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from memoranda.formation.rules.replies import says_yes
from memoranda.model.messages import Message
from memoranda.model.records import STRANGERS, Trust
from memoranda.text.fence import fenced, in_brackets, in_quotes
from memoranda.text.origins import origin
from memoranda.text.token_count import Count, estimate

TIME: Final = "%Y-%m-%d, %A %H:%M"
#: Words of labels that no speaker's name may stand for.
_MARKS: Final = frozenset({"context", "feedback", "from", *(trust.value for trust in Trust)})
#: After so long a pause the time is written again above the next message.
_PAUSE: Final = timedelta(hours=1)
#: An assistant's turn of more tokens is shown as its first and its last ones; one that a user
#: answers in a word, up to more.
_WHOLE, _EDGE, _WHOLE_IF_ANSWERED = 80, 40, 400
#: An answer of at most so many words may speak of what the turn before it says.
_SHORT_ANSWER: Final = 8
#: Stands in a turn for what is not shown of it.
CUT: Final = "… (cut) …"
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


def label_of(message: Message, called: str | None = None) -> list[str]:
    """Return the parts of a message's label: role and speaker (or another name for them), a
    stranger's mark, feedback.
    """
    speaker = called or message.speaker
    label = origin(message, None if speaker is None else f"{message.role} {_name(speaker)}")
    return label if message.feedback is None else [*label, str(message.feedback)]


def _name(speaker: str) -> str:
    """Return a speaker's name for a label: as it is if it is one plain word, else in quotation
    marks.
    """
    return speaker if speaker.isalpha() and speaker.casefold() not in _MARKS else in_quotes(speaker)


def time_lines(said: datetime, told: datetime | None) -> list[str]:
    """Return the line that stands above a message of a new day or after a pause, and says when it
    was; else none.
    """
    if told is None or said.date() != told.date() or abs(said - told) > _PAUSE:
        return [f"## {said.strftime(TIME)}"]
    return []


def shown_turns(messages: Sequence[Message]) -> list[Message]:
    """Return messages as a prompt shows them: of an assistant's long turn only its beginning and
    its end.
    """
    found: list[Message] = []
    answer: str | None = None
    for message in reversed(messages):
        if message.role == "user":
            answer = message.content
        elif message.role == "assistant":
            if message.trust not in STRANGERS:
                message = _shown(message, answer)
            answer = None
        found.append(message)
    return found[::-1]


def _shown(message: Message, answer: str | None) -> Message:
    tokens, text = estimate(message.content), message.content
    short = answer is not None and (says_yes(answer) or len(answer.split()) <= _SHORT_ANSWER)
    if tokens <= (_WHOLE_IF_ANSWERED if short else _WHOLE):
        return message
    edge = len(text) * _EDGE // tokens
    parts = [*text[:edge].rsplit(maxsplit=1)[:1], CUT, *text[-edge:].split(maxsplit=1)[-1:]]
    return message.model_copy(update={"content": " ".join(parts)})


def tokens_cut(messages: Sequence[Message]) -> int:
    """Return the number of tokens of these messages that a prompt does not show."""
    pairs = zip(messages, shown_turns(messages), strict=True)
    return sum(
        estimate(one.content) - estimate(shown.content) for one, shown in pairs if one is not shown
    )


def dated_turns(messages: Sequence[Message], characters: int) -> str:
    """Return turns with their times and marks, each cut to so many characters."""
    lines: list[str] = []
    told: datetime | None = None
    for message in shown_turns(messages):
        if message.content:
            lines += time_lines(message.observed_at, told)
            told = message.observed_at
            lines.append(
                f"- [{in_brackets(' '.join(label_of(message)))}] {fenced(message.content[:characters])}"
            )
    return "\n".join(lines)


def newest_part(text: str, tokens: int, count: Count = estimate) -> str:
    """Return the end of a text that fits into so many tokens, from the beginning of a sentence; "…"
    stands before a cut one.
    """
    if count(text) <= tokens:
        return text
    starts = [found.end() for found in _SENTENCE_END.finditer(text)]
    kept = next((text[start:] for start in starts if count(text[start:]) < tokens), "")
    return f"… {kept}" if kept else ""
